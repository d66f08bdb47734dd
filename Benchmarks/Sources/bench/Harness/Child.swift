// Child: a process that the program starts of itself, because what it measures needs one of its own.
//
//   bench memory WORK FILE     prints the peak memory of a piece of work; see PeakMemory
//   bench open SIDE FILE       prints how long opening a file took, to the first objects; see Opening
//   bench commit FILE          commits a change for each line that it reads; see OtherProcess
//   bench defaults SIDE COUNT  prints how long `fetch-under-write` took with SQLite's own settings

import Foundation

enum Child {
  case memory(PeakMemory.Work, String)
  case open(Opening.Side, String)
  case commit(String)
  case defaults(Opening.Side, objects: Int)

  /// nil if the arguments do not ask for a child.
  init?(_ arguments: [String]) throws {
    guard let name = arguments.first, ["memory", "open", "commit", "defaults"].contains(name) else {
      return nil
    }
    switch (name, arguments.count) {
    case ("memory", 3):
      guard let work = PeakMemory.Work(rawValue: arguments[1]) else { fallthrough }
      self = .memory(work, arguments[2])
    case ("open", 3):
      guard let side = Opening.Side(rawValue: arguments[1]) else { fallthrough }
      self = .open(side, arguments[2])
    case ("commit", 2): self = .commit(arguments[1])
    case ("defaults", 3):
      guard let side = Opening.Side(rawValue: arguments[1]), let objects = Int(arguments[2]) else {
        fallthrough
      }
      self = .defaults(side, objects: objects)
    default:
      throw UsageError(
        description:
          "usage: bench memory WORK FILE | open SIDE FILE | commit FILE | defaults SIDE COUNT")
    }
  }

  /// Whether SQLite's settings of the process are to stay as they are.
  var keepsDefaults: Bool {
    if case .defaults = self { true } else { false }
  }

  /// Does what the process was started for.
  func run() throws {
    switch self {
    case .memory(let work, let path): try PeakMemory.runProcess(work, path)
    case .open(let side, let path): try Opening.runProcess(side, path)
    case .commit(let path): try OtherProcess.runProcess(path)
    case .defaults(let side, let objects): try FetchUnderWriteProcess.run(side, objects)
    }
  }

  /// A process of this program, not started yet.
  static func process(_ arguments: [String]) throws -> (process: Process, output: Pipe) {
    guard let program = Bundle.main.executableURL else {
      throw UsageError(description: "the program does not know where it is")
    }
    let process = Process()
    process.executableURL = program.resolvingSymlinksInPath()
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    return (process, output)
  }

  /// Runs a child to its end.
  /// - Returns: The numbers that it has printed.
  static func numbers(_ arguments: [String]) throws -> [Int] {
    let (process, output) = try process(arguments)
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let numbers = text.split(whereSeparator: \.isWhitespace).map { Int($0) }
    guard process.terminationStatus == 0, !numbers.isEmpty, !numbers.contains(nil) else {
      throw Disagreement(
        description: "\(arguments.joined(separator: " ")): the process said '\(text)'")
    }
    return numbers.compactMap { $0 }
  }
}
