// KillRun: a writer is killed at a random moment, again and again on one file. Each time the file
// must contain every transaction that was reported as committed, whole transactions only, and side
// tables that agree with the rows.

import DflatTestSupport
import Foundation
import SQLiteDflat

/// Kills of a ledger's writer.
public struct KillRun {
  private let directory: String
  private let command: String
  private let seed: UInt64
  private var random: SeededGenerator
  private var ledger: Ledger
  /// The expected content of the file, after the transactions in `numbers`.
  private var state: Ledger.State = [:]
  private var numbers = Array(repeating: 0, count: Ledger.streams)
  private var file = 0
  /// How many processes were killed.
  public private(set) var kills = 0
  /// How many transactions they reported as committed.
  public private(set) var acknowledged = 0
  /// How many of the kills came before the first commit.
  public private(set) var earlyKills = 0

  /// - Parameters:
  ///   - directory: An empty directory.
  ///   - command: The command that runs a writer.
  ///   - seed: The seed of all random numbers.
  public init(in directory: String, command: String, seed: UInt64) {
    self.directory = directory
    self.command = command
    self.seed = seed
    random = SeededGenerator(seed: seed)
    ledger = Ledger(seed: seed)
  }

  private var path: String { "\(directory)/kill-\(file).db" }

  /// One kill.
  /// - Returns: The violations.
  public mutating func kill() throws -> [String] {
    // Sometimes a new file is used, so that kills also happen while it is created.
    if random.oneIn(12) {
      for suffix in ["", "-wal", "-shm"] {
        let path = path + suffix
        if FileManager.default.fileExists(atPath: path) {
          try FileManager.default.removeItem(atPath: path)
        }
      }
      file += 1
      state = [:]
      numbers = numbers.map { _ in 0 }
      ledger = Ledger(seed: seed &+ UInt64(file))
    }
    let told = try runWriter()
    kills += 1
    acknowledged += told.count
    if told.isEmpty { earlyKills += 1 }
    return try check(told).map { "kill \(kills), DFLAT_SEED=\(seed), file \(file): \($0)" }
  }

  private mutating func runWriter() throws -> [Acknowledgement] {
    let isFull = random.oneIn(8)
    let child = try ChildProcess(
      command, ["worker", "kill", path, "\(seed &+ UInt64(file))", isFull ? "full" : "normal"])
    var bytes: [UInt8] = []
    if random.oneIn(4) {
      // After a random time: while it starts, opens, or creates the file.
      let deadline = ContinuousClock.now + .microseconds(Int.random(in: 0...25_000, using: &random))
      while ContinuousClock.now < deadline, let more = child.read(milliseconds: 1) {
        bytes += more
      }
    } else {
      // After a random number of commits.
      let wanted = 8 * Int.random(in: 1...120, using: &random)
      while bytes.count < wanted, let more = child.read(milliseconds: 10_000) {
        if more.isEmpty { break }
        bytes += more
      }
      let deadline = ContinuousClock.now + .microseconds(Int.random(in: 0...400, using: &random))
      while ContinuousClock.now < deadline {}
    }
    child.kill()
    while let more = child.read(milliseconds: 0), !more.isEmpty { bytes += more }
    return stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map { start in
      Acknowledgement(
        word: bytes[start..<(start + 8)].reversed().reduce(0) { $0 << 8 | UInt64($1) })
    }
  }

  private mutating func check(_ told: [Acknowledgement]) throws -> [String] {
    var faults: [String] = []
    let store = WorkspaceStore(path: path, isShared: false)
    let found = Ledger.state(of: store.dflat)
    for stream in 0..<Ledger.streams {
      let mine = told.filter { $0.stream == stream }.map(\.number)
      if zip(mine, mine.dropFirst()).contains(where: { $0 >= $1 }) {
        faults.append("stream \(stream) was reported out of order: \(mine)")
      }
      let last = Ledger.last(stream, in: found)
      if last < max(mine.last ?? 0, numbers[stream]) {
        faults.append(
          "stream \(stream) ends with \(last), though \(mine.last ?? numbers[stream]) was reported")
      }
      guard last >= numbers[stream], last - numbers[stream] < 1_000_000 else { continue }
      while numbers[stream] < last {
        numbers[stream] += 1
        ledger.apply(stream, numbers[stream], to: &state)
      }
    }
    if let difference = Ledger.difference(found, from: state) { faults.append(difference) }
    // Most of the next checks need the file as the kill has left it, so it is only sometimes
    // repaired.
    if random.oneIn(3) { faults += try fileFaults(path) }
    faults += goOn(store)
    faults += store.takeErrors()
    if random.oneIn(2) {
      store.close()
      faults += try fileFaults(path)
    }
    if !faults.isEmpty {
      // A violation found once would be found again.
      state = Ledger.state(of: WorkspaceStore(path: path, isShared: false).dflat)
      numbers = numbers.indices.map { Ledger.last($0, in: state) }
    }
    return faults
  }

  /// The file can be written, sometimes with the next transactions of the ledger.
  private mutating func goOn(_ store: WorkspaceStore) -> [String] {
    if !random.oneIn(3) { return [] }
    var faults: [String] = []
    for stream in 0..<Ledger.streams {
      let number = numbers[stream] + 1
      let (isCommitted, isInTime) = waitForCompletion {
        ledger.perform(stream, number, on: store.dflat, $0)
      }
      if !isInTime { faults.append("a transaction after the kill never completed") }
      if isCommitted == ledger.aborts(stream, number) {
        faults.append("transaction \(number) after the kill ended with \(isCommitted)")
      }
      if isCommitted {
        ledger.apply(stream, number, to: &state)
        numbers[stream] = number
      }
    }
    return faults
  }
}
