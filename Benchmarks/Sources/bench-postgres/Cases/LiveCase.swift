// From the commit in one process to the changed live result in another.
//
// This process commits, one transaction after another; a watcher, which is another process, tells
// when its result was changed. Both read the machine's clock, which is the same for all processes.
// The time begins when the commit was answered here. The floor's watcher waits for a notification,
// and reads the new entries of the log and their row.

import CPostgresFloor
import Dflat
import Foundation
import PostgresDflat

extension Case {
  static let live = Case(
    id: "pg-live", title: "from a commit to the changed live result in another process, median",
    limit: 5_000
  ) { fixture in
    let count = fixture.few / 50
    func median(_ watcher: Watcher, _ commit: () throws -> Void) throws -> UInt64 {
      var times: [Double] = []
      for number in 0...count {
        // The watcher is at rest again, as it mostly is.
        Thread.sleep(forTimeInterval: 0.002)
        try commit()
        let start = now()
        let (value, end) = try watcher.next()
        guard value == number + 1 else {
          throw Disagreement(description: "the watcher has seen \(value) instead of \(number + 1)")
        }
        if number > 0 { times.append(Double(max(0, end - start))) }
      }
      try watcher.end()
      return UInt64(bench_postgres.median(times))
    }
    return (
      ours: {
        let schema = try fixture.counters(100)
        let store = Store(fixture.url, schema)
        let watcher = try Watcher(.ours, fixture.url, schema)
        let nanoseconds = try median(watcher) {
          try store.workspace.write(Counter.self) {
            _ = try $0.update(Counter.self, keys: [1]) { $0.count += 1 }
          }
        }
        try store.check()
        store.close()
        defer { try? fixture.remove(schema) }
        return Outcome(
          nanoseconds: nanoseconds, checksum: try fixture.contents(schema, "counter"))
      },
      floor: {
        let schema = try fixture.counters(100)
        let writer = try FloorWriter(
          fixture.url, schema, "counter", key: FloorStatement.integer)
        let watcher = try Watcher(.floor, fixture.url, schema)
        let nanoseconds = try median(watcher) {
          try writer.increment(key: 1)
        }
        defer { try? fixture.remove(schema) }
        return Outcome(
          nanoseconds: nanoseconds, checksum: try fixture.contents(schema, "counter"))
      }
    )
  }
}

/// The machine's clock in nanoseconds.
private func now() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// A process that prints a counter and the time whenever the counter has changed.
final class Watcher {
  private static let first = "watch"
  private let process: Process
  private let input = Pipe()
  private let output: FileHandle

  /// Starts a watcher and waits until it watches.
  init(_ side: Worker.Side, _ url: String, _ schema: String) throws {
    let (process, output) = try ChildProcess.make([Self.first, side.rawValue, url, schema])
    self.process = process
    self.output = output.fileHandleForReading
    process.standardInput = input
    try process.run()
    guard try next().value == 0 else {
      throw Disagreement(description: "the watcher does not begin with 0")
    }
  }

  /// What it prints next.
  func next() throws -> (value: Int, time: Int) {
    let said = String(decoding: output.availableData, as: UTF8.self)
    let numbers = said.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    guard numbers.count == 2 else {
      throw Disagreement(description: "the watcher said '\(said)'")
    }
    return (numbers[0], numbers[1])
  }

  func end() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  // MARK: The started process

  /// Watches until standard input ends, if the arguments are those of a watcher.
  static func run(_ arguments: [String]) throws -> Bool {
    guard arguments.count == 4, arguments[0] == first,
      let side = Worker.Side(rawValue: arguments[1])
    else { return false }
    switch side {
    case .ours, .synchronous: try watch(arguments[2], arguments[3])
    case .floor: try watchByHand(arguments[2], arguments[3])
    }
    return true
  }

  private static func tell(_ value: Int64, _ time: Int) {
    FileHandle.standardOutput.write(Data("\(value) \(time)\n".utf8))
  }

  private static func watch(_ url: String, _ schema: String) throws {
    let store = Store(url, schema)
    let result = store.workspace.fetch(for: Counter.self).where(Counter.number == 1)
    let subscription = store.workspace.subscribe(fetchedResult: result) { counters in
      let time = now()
      tell(counters.first?.count ?? -1, time)
    }
    tell(result.first?.count ?? -1, now())
    _ = readLine()
    withExtendedLifetime(subscription) {}
    store.close()
    try store.check()
  }

  private static func watchByHand(_ url: String, _ schema: String) throws {
    let connection = try FloorConnection(url, .reading)
    try connection.execute(
      "LISTEN \"dflat \(schema)\"; "
        + "SELECT pg_advisory_lock_shared(hashtextextended('dflat listener \"\(schema)\"', 0))")
    let entries = try FloorStatement(
      connection, "SELECT n FROM \"\(schema)\"._dflat_log WHERE n > $1 ORDER BY n",
      [FloorStatement.integer])
    let select = try FloorStatement(
      connection, "SELECT rowid, p FROM \"\(schema)\".counter WHERE pk0 = $1",
      [FloorStatement.integer])
    var last: Int64 = 0
    func read() throws -> Int64 {
      entries.bind(0, last)
      try entries.run { rows in
        for row in 0..<rows.count { last = rows.int64(row, 0) }
      }
      select.bind(0, 1)
      return try select.run { rows in
        rows.bytes(0, 1).baseAddress.map { FloorReader(row: $0).counterCount } ?? -1
      }
    }
    tell(try read(), now())
    var sources = [
      pollfd(fd: PQsocket(connection.handle), events: Int16(POLLIN), revents: 0),
      pollfd(fd: 0, events: Int16(POLLIN), revents: 0),
    ]
    while true {
      poll(&sources, 2, -1)
      if sources[1].revents != 0 { return }
      PQconsumeInput(connection.handle)
      var isTold = false
      while let notification = PQnotifies(connection.handle) {
        PQfreemem(notification)
        isTold = true
      }
      if isTold { tell(try read(), now()) }
    }
  }
}
