// Worker: a process of several that work on one server at the same time.
//
// It connects, makes a transaction so that everything is prepared, says that it is ready, and
// begins when a line arrives. `Workers` starts them and measures from the line to the end of the
// last one.

import Dflat
import Foundation
import PostgresDflat

struct Worker {
  enum Side: String {
    case ours, synchronous, floor
  }

  /// Which counters a worker changes.
  enum Choice: String {
    /// A part of the table that no other worker uses.
    case disjoint
    /// A few that all use.
    case hot
  }

  var side: Side
  var choice: Choice
  var url: String
  var schema: String
  /// Its number among the workers, and how many objects it has, or all have.
  var number: Int
  var objects: Int
  /// The number of its transactions.
  var count: Int

  private static let first = "work"

  var arguments: [String] {
    [
      Self.first, side.rawValue, choice.rawValue, url, schema, "\(number)", "\(objects)",
      "\(count)",
    ]
  }

  init(
    _ side: Side, _ choice: Choice, _ url: String, _ schema: String, number: Int, objects: Int,
    count: Int
  ) {
    self.side = side
    self.choice = choice
    self.url = url
    self.schema = schema
    self.number = number
    self.objects = objects
    self.count = count
  }

  /// nil if the arguments are not those of a worker.
  init?(_ arguments: [String]) {
    guard arguments.count == 8, arguments[0] == Self.first, let side = Side(rawValue: arguments[1]),
      let choice = Choice(rawValue: arguments[2]), let number = Int(arguments[5]),
      let objects = Int(arguments[6]), let count = Int(arguments[7])
    else { return nil }
    self.init(
      side, choice, arguments[3], arguments[4], number: number, objects: objects, count: count)
  }

  /// The keys of its transactions.
  private var keys: [Int64] {
    var random = Random(seed: UInt64(number + 1))
    let start = choice == .disjoint ? number * objects : 0
    return (0..<count).map { _ in Int64(start + random.number(0...(objects - 1))) }
  }

  func run() async throws {
    switch side {
    case .ours: try await runOurs()
    case .synchronous: try await runSynchronously()
    case .floor: try runFloor()
    }
  }

  private func runOurs() async throws {
    let store = Store(url, schema)
    let workspace = store.workspace
    func change(_ key: Int64, by amount: Int64) async throws {
      try await workspace.write(Counter.self, attempts: 10_000) {
        try Self.change(key, by: amount, $0)
      }
    }
    let keys = keys
    try await change(keys[0], by: 0)
    Workers.awaitStart()
    for key in keys { try await change(key, by: 1) }
    try store.check()
    Workers.say("done")
    await workspace.shutdown()
  }

  private func runSynchronously() async throws {
    let store = Store(url, schema)
    let workspace = store.workspace
    func change(_ key: Int64, by amount: Int64) throws {
      try workspace.write(Counter.self, attempts: 10_000) {
        try Self.change(key, by: amount, $0)
      }
    }
    let keys = keys
    try change(keys[0], by: 0)
    Workers.awaitStart()
    for key in keys { try change(key, by: 1) }
    try store.check()
    Workers.say("done")
    await workspace.shutdown()
  }

  private static func change(
    _ key: Int64, by amount: Int64, _ transaction: WriteContext
  ) throws {
    let found = try transaction.fetch(for: Counter.self).where(Counter.number == key)
    guard let counter = found.first else {
      throw Disagreement(description: "there is no counter \(key)")
    }
    try transaction.update(counter) { $0.count += amount }
  }

  private func runFloor() throws {
    let writer = try FloorWriter(url, schema, "counter", key: FloorStatement.integer)
    let keys = keys
    Workers.awaitStart()
    for key in keys {
      var pauses = 0
      while true {
        do {
          try writer.increment(key: key)
          break
        } catch let error as FloorError where error.isConflict {
          try writer.connection.execute("ROLLBACK")
          // As Dflat's `RetryPauses`.
          pauses += 1
          if pauses > 1 { usleep(UInt32.random(in: 0...(1000 << UInt32(min(pauses - 1, 6))))) }
        }
      }
    }
    Workers.say("done")
  }
}

enum Workers {
  /// The worker's side: tells that it is ready, and waits for the others.
  static func awaitStart() {
    say("ready")
    _ = readLine()
  }

  static func say(_ word: String) {
    FileHandle.standardOutput.write(Data((word + "\n").utf8))
  }

  /// Runs workers at the same time.
  /// - Returns: The time from their start to the end of the last one.
  static func run(_ workers: [Worker]) throws -> UInt64 {
    let processes = try workers.map { worker in
      let (process, output) = try ChildProcess.make(worker.arguments)
      let input = Pipe()
      process.standardInput = input
      try process.run()
      return (process, input.fileHandleForWriting, output.fileHandleForReading)
    }
    func expect(_ word: String) throws {
      for (_, _, output) in processes {
        let said = String(decoding: output.availableData, as: UTF8.self)
        guard said == word + "\n" else {
          throw Disagreement(description: "a worker said '\(said)' instead of \(word)")
        }
      }
    }
    try expect("ready")
    let nanoseconds = try time {
      for (_, input, _) in processes { try input.write(contentsOf: Data("\n".utf8)) }
      try expect("done")
    }
    for (process, _, _) in processes {
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        throw Disagreement(description: "a worker has failed")
      }
    }
    return nanoseconds
  }
}
