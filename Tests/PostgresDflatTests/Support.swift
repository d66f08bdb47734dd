// What tests of the engine over a server share.

import CPostgres
import Dflat
import DflatTestSupport
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport

/// A connection of another program, for plain SQL.
final class PlainConnection {
  private let handle: OpaquePointer?

  init(_ url: String? = nil) throws {
    handle = PQconnectdb(try url ?? TestCluster.shared().url)
    if PQstatus(handle) != CONNECTION_OK {
      throw StorageError(.cannotOpen, message: String(cString: PQerrorMessage(handle)))
    }
    _ = PQexec(handle, "SET client_min_messages = warning")
  }

  deinit { PQfinish(handle) }

  /// Runs statements, and returns the rows of the last one as text.
  @discardableResult
  func run(_ sql: String) throws -> [[String?]] {
    let result = PQexec(handle, sql)
    defer { PQclear(result) }
    let status = PQresultStatus(result)
    guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
      throw StorageError(.other, message: String(cString: PQerrorMessage(handle)))
    }
    return (0..<PQntuples(result)).map { row in
      (0..<PQnfields(result)).map { column in
        PQgetisnull(result, row, column) != 0
          ? nil : String(cString: PQgetvalue(result, row, column))
      }
    }
  }

  /// The texts of the notifications that were committed before this call, on the channel that this
  /// connection listens to.
  func notifications(on channel: String) throws -> [String] {
    // Notifications come in the order of commits, so nothing is behind the own one.
    try run("NOTIFY \"\(channel)\", 'end'")
    var texts: [String] = []
    while texts.last != "end" {
      PQconsumeInput(handle)
      while let notification = PQnotifies(handle) {
        texts.append(String(cString: notification.pointee.extra))
        PQfreemem(notification)
      }
      if texts.last != "end" { try run("SELECT 1") }
    }
    return texts.dropLast()
  }
}

/// A name for a PostgreSQL schema that no other test uses.
func newSchema() -> String { "test_" + String(UInt64.random(in: 0...UInt64.max), radix: 36) }

/// Runs `body` with a PostgreSQL schema of its own, which is removed afterwards.
func withSchema<R>(_ body: (String) async throws -> R) async throws -> R {
  let schema = newSchema()
  defer {
    _ = try? PlainConnection().run("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE")
  }
  return try await body(schema)
}

/// Adds one to a counter, which is the length of a note's text.
func increment(_ key: UInt64, in dflat: some Workspace, attempts: Int = 200) async throws {
  try await dflat.write(Note.self, attempts: attempts) { txn in
    let old = try txn.fetch(for: Note.self).where(Note.key == key).first
    try txn.upsert(Note(key: key, text: (old?.text ?? "") + "x"))
  }
}
