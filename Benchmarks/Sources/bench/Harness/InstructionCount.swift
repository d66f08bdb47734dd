// InstructionCount: how many instructions each side of a case takes.
//
// Each side runs in a process of its own under valgrind, twice; the second run is counted, in which
// statements are prepared and types are known. Counting is on where the clocks run: see `Counting`.
// Cases that start processes are counted in these, over both runs.
//
// A system call counts as one instruction, so neither side pays for what the kernel does: the disk,
// locks of files, and the waking of threads.
//
// What runs is a copy of the program without debug information. That of C files is in DWARF 5,
// which valgrind 3.19 may fail to read.

import Foundation
import Synchronization

struct InstructionCount {
  let id: String
  let title: String
  private(set) var instructions = 0
  private(set) var floorInstructions = 0
  /// Why they were not counted.
  private(set) var problem: String?
  /// Whether they could not be counted, though the case can be.
  private(set) var hasFailed = false
  /// The greatest acceptable ratio; nil if there is no goal.
  let goal: Double?

  var ratio: Double { Double(instructions) / Double(floorInstructions) }
  var missesGoal: Bool { problem == nil && goal.map { !(ratio <= $0) } ?? false }

  private static let runs = 2
  /// How long one side may take.
  private static let limitSeconds = 3600

  init(_ source: Case) {
    id = source.id
    title = source.title
    let hasGoal = source.floor == .handWritten && (source.goal ?? .infinity) <= 1.4
    goal = hasGoal ? 1.3 : nil
    problem = source.whyNotCounted
    if problem != nil { return }
    do {
      instructions = try Self.count(source.id, "profile")
      floorInstructions = try Self.count(source.id, "floor")
    } catch {
      problem = "\(error)"
      hasFailed = true
    }
  }

  /// The instructions of one run of a side.
  private static func count(_ id: String, _ side: String) throws -> Int {
    let files = FileManager.default
    let folder = files.temporaryDirectory.appendingPathComponent(
      "dflat-count-\(ProcessInfo.processInfo.processIdentifier)")
    try files.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? files.removeItem(at: folder) }
    let process = try valgrind(id, side, folder)
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    do { try process.run() } catch {
      throw Disagreement(description: "valgrind could not be started; install it: \(error)")
    }
    let isLate = Atomic(false)
    let limit = DispatchWorkItem {
      isLate.store(true, ordering: .releasing)
      process.terminate()
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(limitSeconds), execute: limit)
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    limit.cancel()
    if isLate.load(ordering: .acquiring) {
      throw Disagreement(description: "\(side) has not ended after \(limitSeconds / 60) minutes")
    }
    guard process.terminationStatus == 0 else {
      throw Disagreement(description: "\(side) has failed under valgrind: \(text.suffix(500))")
    }
    let own = "\(process.processIdentifier)"
    var last = 0
    var others = 0
    for name in try files.contentsOfDirectory(atPath: folder.path) where name.hasPrefix("count.") {
      let parts = name.split(separator: ".").map(String.init)
      let total = try total(of: folder.appendingPathComponent(name))
      if parts.count < 2 || parts[1] != own {
        others += total
      } else if parts.count > 2, parts[2] == "\(runs)" {
        last = total
      }
    }
    let count = last > 0 ? last : others / runs
    guard count > 0 else {
      throw Disagreement(description: "\(side) counted no instructions: \(text.suffix(500))")
    }
    return count
  }

  private static func valgrind(_ id: String, _ side: String, _ folder: URL) throws -> Process {
    let program = try programWithoutDebugInformation(in: folder)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      // Threads take turns: a thread that waits for another one in a loop would count the loop.
      "valgrind", "--tool=callgrind", "--instr-atstart=no", "--trace-children=yes",
      "--fair-sched=try",
      "--callgrind-out-file=\(folder.path)/count.%p",
      program.path, side,
    ]
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["CASES": id, "RUNS": "\(runs)"]) { $1 }
    return process
  }

  private static func programWithoutDebugInformation(in folder: URL) throws -> URL {
    guard let program = Bundle.main.executableURL else {
      throw Disagreement(description: "the program does not know where it is")
    }
    let copy = folder.appendingPathComponent("bench")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "objcopy", "--strip-debug", program.resolvingSymlinksInPath().path, copy.path,
    ]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Disagreement(
        description: "objcopy could not copy \(program.path); install binutils")
    }
    return copy
  }

  /// The sum in a file of callgrind.
  private static func total(of file: URL) throws -> Int {
    let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("totals:") }) else {
      return 0
    }
    return line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  }
}

extension Table {
  static func printInstructionHead() {
    print("instructions of one run, counted by callgrind; ratio = Dflat / floor")
    print(
      pad("case", 28) + right("Dflat", 16) + right("floor", 16) + right("ratio", 8)
        + right("goal", 7) + "   what")
  }

  static func printLine(_ count: InstructionCount) {
    if let problem = count.problem {
      print(pad(count.id, 28) + " not counted: " + problem)
      return
    }
    print(
      pad(count.id, 28) + right("\(count.instructions)", 16)
        + right("\(count.floorInstructions)", 16) + right(decimals(count.ratio, 2), 8)
        + right(count.goal.map { decimals($0, 2) } ?? "", 7) + (count.missesGoal ? " ! " : "   ")
        + count.title)
    fflush(nil)
  }

  static func printMissedGoals(_ counts: [InstructionCount]) {
    let failed = counts.filter { $0.problem != nil }.map(\.id)
    if !failed.isEmpty { print("Not counted, see above: \(failed.joined(separator: ", "))") }
    let missed = counts.filter(\.missesGoal).map { "\($0.id) (\(decimals($0.ratio, 2)))" }
    print(
      missed.isEmpty
        ? "Every goal in instructions is met."
        : "Goals in instructions missed: \(missed.joined(separator: ", "))")
  }
}

extension Results {
  private static let key = ", \"instructions\": "

  /// The lines of a file of results, without their commas; none if there is no file.
  private func lines(_ name: String) -> [String] {
    let text = (try? String(contentsOf: file(name), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map { $0.trimmingCharacters(in: [" ", ","]) }
      .filter { $0.hasPrefix("{") }
  }

  private static func start(_ id: String) -> String { "{\"id\": \"\(id)\"" }

  /// Adds counts to the results that a file has, one on each line. A case without a result gets a
  /// line with its counts alone.
  func add(_ count: InstructionCount, to name: String) throws {
    var lines = lines(name)
    let added =
      Self.key + "\(count.instructions), "
      + "\"floorInstructions\": \(count.floorInstructions), "
      + "\"instructionRatio\": \(decimals(count.ratio, 4))}"
    let start = Self.start(count.id)
    if let place = lines.firstIndex(where: { $0.hasPrefix(start + ",") }) {
      let kept = lines[place].components(separatedBy: Self.key)[0]
      lines[place] = (kept.hasSuffix("}") ? String(kept.dropLast()) : kept) + added
    } else {
      lines.append(start + added)
    }
    try Data(JSON.list(lines).utf8).write(to: file(name))
  }

  /// Results with the counts that a file has of the same cases.
  func withCounts(_ results: [String], of name: String) -> [String] {
    let known = lines(name)
    return results.map { result in
      let id = result.components(separatedBy: ",")[0]
      guard let line = known.first(where: { $0.hasPrefix(id + ",") }) else { return result }
      let parts = line.components(separatedBy: Self.key)
      return parts.count == 2 ? String(result.dropLast()) + Self.key + parts[1] : result
    }
  }
}
