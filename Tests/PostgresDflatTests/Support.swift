// What tests of the engine over a server share.

import Dflat
import DflatTestSupport
import PostgresDflat
import PostgresTestSupport

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

/// Calls `body` with two workspaces, as of two programs, on one schema.
func withTwoWorkspaces(
  _ configure: (inout PostgresWorkspace.Configuration) -> Void = { _ in },
  _ body: (_ first: PostgresWorkspace, _ second: PostgresWorkspace, _ schema: String) async throws
    -> Void
) async throws {
  try await withSchema { schema in
    let first = postgresWorkspace(schema: schema, configure)
    let second = postgresWorkspace(schema: schema, configure)
    try await body(first, second, schema)
    await first.shutdown()
    await second.shutdown()
  }
}

/// Calls `body` with a role that may log in and nothing else, and its connection string. What it
/// owns in the end is removed.
func withNewRole(
  of schema: String, _ body: (_ url: String, _ role: String) async throws -> Void
) async throws {
  let role = schema.replacing("test", with: "role")
  let server = try PlainConnection()
  try server.run("CREATE ROLE \(role) LOGIN")
  let url = try TestCluster.shared().url.replacing("user=dflat", with: "user=\(role)")
  do { try await body(url, role) } catch {
    _ = try? server.run("DROP OWNED BY \(role) CASCADE; DROP ROLE \(role)")
    throw error
  }
  try server.run("DROP OWNED BY \(role) CASCADE; DROP ROLE \(role)")
}

/// Adds one to a counter, which is the length of a note's text.
func increment(_ key: UInt64, in dflat: some Workspace, attempts: Int = 200) async throws {
  try await dflat.write(Note.self, attempts: attempts) { txn in
    let old = try txn.fetch(for: Note.self).where(Note.key == key).first
    try txn.upsert(Note(key: key, text: (old?.text ?? "") + "x"))
  }
}

/// How often a workspace may try to connect to a server that refuses it, while it is asked twice.
///
/// Both calls try once each, and so do the connections that they had found lost. The listener's
/// tries become rarer: its pauses double from a tenth of a second to 30 seconds. On a busy machine
/// it has the time for more of them.
func mostTries(within time: Duration) -> Int {
  var (tries, last, pause) = (7, Duration.zero, Duration.milliseconds(100))
  while last + pause <= time {
    tries += 1
    last += pause
    pause = min(pause * 2, .seconds(30))
  }
  return tries
}
