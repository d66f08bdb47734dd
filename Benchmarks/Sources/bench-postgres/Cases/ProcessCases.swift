// Cases with several processes.

import Dflat
import Foundation
import PostgresDflat

extension Fixture {
  /// Tables with counters at 0.
  func counters(_ count: Int) throws -> String {
    let text = String(repeating: "text of a counter ", count: 8)
    return try schema { store in
      try store.workspace.write(Counter.self) {
        _ = try $0.insert(
          contentsOf: (0..<count).map { Counter(number: Int64($0), count: 0, text: text) })
      }
    }
  }

  /// The sum of all counters.
  func sum(_ schema: String) throws -> Int64 {
    let store = Store(url, schema)
    defer { store.close() }
    return store.workspace.fetch(for: Counter.self).all().reduce(0) { $0 + $1.count }
  }
}

extension Case {
  static let workers = 4

  static let processes = Case(
    id: "pg-processes", title: "4 processes, disjoint keys, read and update, awaited; pgbench",
    goal: 1.25, sides: disjoint(.ours))

  static let threads = Case(
    id: "pg-processes-sync", title: "the same by the write that waits on the caller's thread",
    sides: disjoint(.synchronous))

  /// Each process reads and changes objects that no other one uses. The floor is pgbench with as
  /// many clients, a thread each, and a script of the same statements. Both are told as times for
  /// the same number of transactions, so a throughput of 0.8 is a ratio of 1.25.
  private static func disjoint(
    _ side: Worker.Side
  ) -> @Sendable (Fixture) throws -> (ours: Side, floor: Side) {
    { fixture in
      let count = fixture.few / 5
      let objects = fixture.few / 4
      return (
        ours: {
          let schema = try fixture.counters(workers * objects)
          fixture.settle()
          let nanoseconds = try Workers.run(
            (0..<workers).map {
              Worker(
                side, .disjoint, fixture.url, schema, number: $0, objects: objects, count: count)
            })
          return Outcome(nanoseconds: nanoseconds, checksum: try fixture.checkSum(schema))
        },
        floor: {
          let schema = try fixture.counters(workers * objects)
          fixture.settle()
          let nanoseconds = try PgBench.run(
            fixture.url, schema, objects: objects, clients: workers, count: count)
          try fixture.remove(schema)
          return Outcome(nanoseconds: nanoseconds, checksum: Checksum(Int64(workers * count)))
        }
      )
    }
  }

  /// All processes change the same ten objects. The floor is a hand-written program, which runs a
  /// refused transaction again after the same pauses.
  static let contended = Case(
    id: "pg-contended", title: "4 processes on 10 hot objects, read and update, with retries",
    goal: 1 / 0.9
  ) { fixture in
    let count = fixture.few / 10
    func side(_ side: Worker.Side) -> Side {
      {
        let schema = try fixture.counters(10)
        fixture.settle()
        let nanoseconds = try Workers.run(
          (0..<workers).map {
            Worker(side, .hot, fixture.url, schema, number: $0, objects: 10, count: count)
          })
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.checkSum(schema))
      }
    }
    return (ours: side(.ours), floor: side(.floor))
  }
}

extension Checksum {
  init(_ number: Int64) {
    self.init()
    add(number)
  }
}

extension Fixture {
  /// Whether no transaction was lost and none was applied twice.
  func checkSum(_ schema: String) throws -> Checksum {
    let sum = try sum(schema)
    try remove(schema)
    return Checksum(sum)
  }
}

/// PostgreSQL's own benchmark program.
enum PgBench {
  /// Runs read-and-update transactions on counters.
  /// - Returns: The time for them, without connecting.
  static func run(
    _ url: String, _ schema: String, objects: Int, clients: Int, count: Int
  ) throws -> UInt64 {
    var encoder = FloorEncoder()
    defer { encoder.free() }
    var text = String(repeating: "text of a counter ", count: 8)
    // The bytes of a row after some updates.
    let row = text.withUTF8 { text in
      encoder.encode(
        number: 1, count: 1, text: FloorBytes(start: text.baseAddress, count: text.count)
      ).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
    let lock = "hashtextextended('dflat listener \"\(schema)\"', 0)"
    // What Dflat sends in one message is a pipeline here.
    let script = """
      \\set number random(0, \(objects - 1)) + :client_id * \(objects)
      \\set seq random(1, 1000000000)
      \\startpipeline
      BEGIN ISOLATION LEVEL SERIALIZABLE;
      LOCK TABLE "\(schema)"._dflat_precedence IN ROW SHARE MODE;
      SELECT version FROM "\(schema)"._dflat_state;
      \\endpipeline
      SELECT rowid, p FROM "\(schema)".counter WHERE pk0 = :number \\gset
      UPDATE "\(schema)".counter SET p = '\\x\(row)' WHERE rowid = :rowid;
      \\startpipeline
      INSERT INTO "\(schema)"._dflat_log (workspace, tbl, ids) VALUES ('pgbench', 'counter', \
      ARRAY[:rowid]::bigint[]);
      SELECT CASE WHEN pg_try_advisory_lock(\(lock)) \
      THEN NOT pg_advisory_unlock(\(lock)) ELSE true END;
      INSERT INTO "\(schema)"._dflat_commits (workspace, seq) VALUES ('pgbench-' || :client_id::text, \
      :seq) ON CONFLICT (workspace) DO UPDATE SET seq = excluded.seq, at = now();
      COMMIT;
      \\endpipeline

      """
    let file = URL.temporaryDirectory.appending(path: "\(schema).sql")
    try Data(script.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(filePath: try ServerProcess.tool("pgbench"))
    process.arguments = [
      "-n", "-M", "prepared", "-c", "\(clients)", "-j", "\(clients)", "-t", "\(count)",
      "--max-tries=1000", "-f", file.path(percentEncoded: false), url,
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let lines = said.split(separator: "\n")
    guard process.terminationStatus == 0,
      lines.contains(where: {
        $0.hasSuffix("actually processed: \(clients * count)/\(clients * count)")
      }),
      let line = lines.first(where: { $0.hasPrefix("tps = ") }),
      let tps = Double(line.split(separator: " ")[2])
    else { throw Disagreement(description: "pgbench said '\(said)'") }
    return UInt64(Double(clients * count) / tps * 1e9)
  }
}
