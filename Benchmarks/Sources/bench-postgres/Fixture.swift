// Fixture: the server, and what cases share.
//
// Each side of a run that writes gets tables of its own, in a PostgreSQL schema that Dflat lays out
// and fills; both sides of a case that reads use the same tables. Before a clock starts the server
// has made a checkpoint, so that the pages which both sides change are logged in the same way.

import Dflat
import Foundation
import PostgresDflat
import Synchronization

final class Fixture {
  /// The number of objects in the smaller and the larger table.
  let few: Int
  let many: Int
  let url: String
  private var samples: [Sample] = []
  private var schemas: [String] = []
  private var filled: [Int: String] = [:]
  private let admin: FloorConnection

  /// Settings of the server that are not its defaults. Nothing runs at times of its own choice.
  private static let settings = [
    "shared_buffers=256MB", "max_wal_size=4GB", "checkpoint_timeout=1h", "autovacuum=off",
    "max_pred_locks_per_transaction=512",
  ]

  init(few: Int, many: Int) throws {
    self.few = few
    self.many = many
    let existing = ProcessInfo.processInfo.environment["POSTGRES_URL"] ?? ""
    url =
      existing.isEmpty
      ? try ServerProcess(
        in: ServerProcess.newDirectory(), settings: Self.settings
      ).url : existing
    admin = try FloorConnection(url)
  }

  /// Removes all tables, which may be on a server that stays.
  func removeSchemas() {
    for schema in schemas { try? admin.execute("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") }
  }

  func samples(_ count: Int) -> [Sample] {
    if samples.count < count { samples = Sample.make(count) }
    return Array(samples.prefix(count))
  }

  // MARK: Tables

  /// Makes tables.
  /// - Parameter fill: Stores objects in them.
  /// - Returns: The name of their PostgreSQL schema.
  func schema(_ fill: (Store) throws -> Void) throws -> String {
    let name = "bench_\(ProcessInfo.processInfo.processIdentifier)_\(schemas.count)"
    schemas.append(name)
    let store = Store(url, name)
    try fill(store)
    try store.check()
    store.close()
    return name
  }

  /// Tables with the first samples. Must not be written.
  func filled(_ count: Int) throws -> String {
    if let name = filled[count] { return name }
    let samples = samples(count)
    let name = try schema { try $0.insert(samples) }
    try admin.execute("ANALYZE")
    filled[count] = name
    return name
  }

  func remove(_ schema: String) throws { try admin.execute("DROP SCHEMA \"\(schema)\" CASCADE") }

  /// Writes everything to the disk. A role that may not do this measures without it.
  func settle() { try? admin.execute("CHECKPOINT") }

  /// The content of a table: keys and bytes in the order of row ids.
  func contents(_ schema: String, _ table: String = "benchdoc") throws -> Checksum {
    var sum = Checksum()
    let select = try FloorStatement(
      admin, "SELECT pk0, p FROM \"\(schema)\".\(table) ORDER BY rowid", [])
    try select.run { rows in
      sum.add(rows.count)
      for row in 0..<rows.count {
        sum.add(rows.bytes(row, 0))
        for byte in rows.bytes(row, 1) { sum.add(byte) }
      }
    }
    return sum
  }
}

/// A workspace as a program uses it, which records errors.
final class Store: Sendable {
  let workspace: PostgresWorkspace
  private let failure: Failure

  private final class Failure: Sendable {
    let error = Mutex<(any Error)?>(nil)

    func note(_ error: any Error) { self.error.withLock { $0 = $0 ?? error } }
  }

  init(
    _ url: String, _ schema: String,
    _ configure: (inout PostgresWorkspace.Configuration) -> Void = { _ in }
  ) {
    let failure = Failure()
    self.failure = failure
    var configuration = PostgresWorkspace.Configuration()
    configuration.schema = schema
    configuration.onError = { failure.note($0) }
    configure(&configuration)
    workspace = PostgresWorkspace(url, configuration: configuration)
  }

  func fail(_ error: any Error) { failure.note(error) }

  /// Throws the first reported error.
  func check() throws {
    if let error = failure.error.withLock({ $0 }) { throw error }
  }

  func insert(_ samples: [Sample]) throws {
    try workspace.write(BenchDoc.self) { try $0.insert(contentsOf: samples.map(\.object)) }
  }

  func close() { workspace.shutdown() }
}

extension Sample {
  var object: BenchDoc {
    BenchDoc(
      title: title, pos: pos, color: color, content: content, tag: tag, priority: priority)
  }
}
