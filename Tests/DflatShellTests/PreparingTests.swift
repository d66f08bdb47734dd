// The verb prepare, judged by psql and by the server's catalog.

import Dflat
import DflatServerTools
import DflatTestSupport
import DflatTools
import Foundation
import PostgresDflat
import PostgresTestSupport
import Testing

@testable import DflatShell

@Suite("Preparing a database", .endsSometime)
struct PreparingTests {
  /// Calls `body` with two PostgreSQL schemas that do not exist, and a role without any rights.
  private func withSchemas(
    _ body: (_ first: String, _ second: String, _ role: String) async throws -> Void
  ) async throws {
    let name = "test_" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    let server = try PlainConnection()
    let role = "role_\(name)"
    try server.run("CREATE ROLE \(role) LOGIN")
    defer {
      for schema in ["\(name)_a", "\(name)_b"] {
        _ = try? PlainConnection().run("DROP SCHEMA IF EXISTS \(schema) CASCADE")
      }
      _ = try? PlainConnection().run("DROP OWNED BY \(role); DROP ROLE \(role)")
    }
    try await body("\(name)_a", "\(name)_b", role)
  }

  private func address(_ schema: String) throws -> String {
    try TestCluster.shared().url + "#\(schema)"
  }

  /// Runs a script by psql, which ends at the first error.
  private func psql(_ script: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "psql", "-d", try TestCluster.shared().url, "-Xq", "-v", "ON_ERROR_STOP=1", "-f", "-",
    ]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data(script.utf8))
    try input.fileHandleForWriting.close()
    _ = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  /// All that the catalog says of a PostgreSQL schema, and the rows of Dflat's own tables.
  private func catalog(_ schema: String) throws -> [String] {
    let server = try PlainConnection()
    let parts = [
      """
      SELECT c.relkind, c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
      a.attidentity, pg_get_expr(d.adbin, d.adrelid), col_description(c.oid, a.attnum), c.relacl,
      c.reloptions FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
      LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
      WHERE c.relnamespace = '\(schema)'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
      """,
      """
      SELECT pg_get_indexdef(indexrelid), indisvalid FROM pg_index JOIN pg_class AS c
      ON c.oid = indexrelid WHERE c.relnamespace = '\(schema)'::regnamespace
      """,
      """
      SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
      WHERE connamespace = '\(schema)'::regnamespace
      """,
      "SELECT nspacl FROM pg_namespace WHERE nspname = '\(schema)'",
      "SELECT * FROM \(schema)._dflat_columns",
      "SELECT \"table\", digest, version, schema FROM \(schema).dflat_schemas",
      "SELECT * FROM \(schema)._dflat_log_cut",
      "SELECT count(*), min(one::int) FROM \(schema)._dflat_state",
    ]
    return try parts.flatMap { sql in
      try server.run(sql).map { row in
        row.map { $0 ?? "NULL" }.joined(separator: " ").replacing(schema, with: "SCHEMA")
      }.sorted()
    }
  }

  @Test("What --print prints makes, run by psql, the catalog that prepare makes")
  func printed() async throws {
    try await withSchemas { first, second, role in
      let options = ["--schema", blogSchema, "--role", role]
      let prepared = run(["prepare", try address(first), "--yes"] + options)
      #expect(prepared.status == 0, "\(prepared.errors)")
      let grants = prepared.output.split(separator: "\n").filter { $0.hasPrefix("GRANT ") }
      #expect(!grants.isEmpty)
      try psql(grants.joined(separator: "\n"))
      let script = run(["prepare", try address(second), "--print"] + options)
      #expect(script.status == 0, "\(script.errors)")
      let none = try PlainConnection().run("SELECT to_regnamespace('\(second)')")
      #expect(none == [[nil]])
      try psql(script.output)
      #expect(try catalog(first) == catalog(second))
      #expect(run(["check", try address(second)]).status == 0)
      // Again, there is nothing to do.
      let before = try catalog(second)
      let again = run(["prepare", try address(second), "--print"] + options)
      #expect(again.output.split(separator: "\n").allSatisfy { $0.hasPrefix("GRANT ") })
      #expect(again.errors.contains("has all that the types need"))
      #expect(run(["prepare", try address(second), "--yes"] + options).status == 0)
      #expect(try catalog(second) == before)
      // A program has the same schema.
      let dflat = postgresWorkspace(schema: second)
      try await dflat.prepare(Post.self)
      await dflat.shutdown()
      let tables = try PlainConnection().run(
        "SELECT \"table\" FROM \(second).dflat_schemas ORDER BY 1")
      #expect(tables.filter { $0[0] == Post._schema.table }.count <= 2)
      let after = try catalog(second)
      let changed = after.filter { !before.contains($0) }
      #expect(changed.allSatisfy { $0.hasPrefix(Post._schema.table) }, "\(changed)")
    }
  }

  @Test("A role that has nothing but the printed rights reads and writes")
  func rights() async throws {
    try await withSchemas { first, second, role in
      let script = run([
        "prepare", try address(first), "--schema", blogSchema, "--print", "--role", role,
      ])
      try psql(script.output)
      var configuration = PostgresWorkspace.Configuration()
      configuration.schema = first
      let errors = ReportedErrors()
      configuration.onError = { errors.add($0) }
      let url = try TestCluster.shared().url.replacing("user=dflat", with: "user=\(role)")
      let dflat = try await PostgresWorkspace.open(url, configuration: configuration)
      try await dflat.write(Post.self) { txn in
        try txn.insert(contentsOf: (1...20).map { post($0, likes: $0) })
        txn.dictionary["count"] = 20
      }
      #expect(dflat.fetch(for: Post.self).where(Post.likes > 15).count == 5)
      try await dflat.indexesReady(for: Post.self)
      await dflat.shutdown()
      #expect(errors.take().isEmpty)
      let refused = run(["prepare", url + "#\(second)", "--schema", blogSchema, "--yes"])
      #expect(refused.status == 74, "\(refused.errors)")
    }
  }

  @Test("The types can be those of a file, of another database, or of the database itself")
  func sources() async throws {
    try await withSchemas { first, second, role in
      try withBlog { file in
        let fromFile = run(["prepare", try address(first), "--from", file.path, "--yes", "--json"])
        #expect(fromFile.status == 0, "\(fromFile.errors)")
        #expect(fromFile.output.contains("\"Post\""))
        let fromServer = run([
          "prepare", try address(second), "--from", try address(first), "--yes",
        ])
        #expect(fromServer.status == 0, "\(fromServer.errors)")
        #expect(try catalog(first) == catalog(second))
        let table = Post._schema.table
        // A missing index, and a column that a program of another version lacks.
        let server = try PlainConnection()
        #expect(run(["copy", file.path, try address(second), "--yes"]).status == 0)
        try server.run(
          "DROP TABLE \(second)._dflat_first_writes; ALTER TABLE \(second).\(table) DROP COLUMN f10; "
            + "DELETE FROM \(second)._dflat_columns WHERE tbl = '\(table)' AND col = 'f10'; "
            + "UPDATE \(second)._dflat_state SET version = version + 1")
        let printed = run(["prepare", try address(second), "--print"])
        #expect(printed.output.contains("ADD COLUMN IF NOT EXISTS"), "\(printed.output)")
        #expect(printed.output.contains("CREATE INDEX CONCURRENTLY"), "\(printed.output)")
        let again = run(["prepare", try address(second), "--yes"])
        #expect(again.status == 0, "\(again.errors)")
        #expect(run(["check", try address(second)]).status == 0)
        #expect(run(["diff", file.path, try address(second)]).status == 0)
        let marks = try server.run(
          "SELECT complete FROM \(second)._dflat_columns WHERE tbl = '\(table)' AND col = 'f10'")
        #expect(marks == [["t"]])
      }
    }
  }

  @Test(
    "Without types, for a file, or without an answer of a person nothing is done, and that is said")
  func refusals() async throws {
    try await withSchemas { first, _, _ in
      let none = run(["prepare", try address(first), "--yes"])
      #expect(none.status == 66 && none.errors.contains(first), "\(none.errors)")
      let asked = run(["prepare", try address(first), "--schema", blogSchema])
      #expect(asked.status == 64 && asked.errors.contains("--yes"), "\(asked.errors)")
      let denied = run(["prepare", try address(first), "--schema", blogSchema], answer: "n")
      #expect(denied.status == 1 && denied.errors.contains("nothing was changed"))
      let file = run(["prepare", "blog.db", "--yes"])
      #expect(file.status == 64 && file.errors.contains("works on servers"), "\(file.errors)")
      let there = try PlainConnection().run("SELECT to_regnamespace('\(first)')")
      #expect(there == [[nil]])
    }
  }

  @Test("Nothing is announced before the server has answered, and only statements are output")
  func announcements() async throws {
    try await withSchemas { first, _, role in
      let options = ["--schema", blogSchema, "--yes"]
      let nowhere = "postgresql:///postgres?host=/nowhere#\(first)"
      let lost = run(["prepare", nowhere] + options)
      #expect(lost.status != 0 && !lost.errors.contains("will be prepared"), "\(lost.errors)")
      let done = run(["prepare", try address(first), "--role", role] + options)
      #expect(done.errors.contains("will be prepared") && done.errors.contains("is ready for"))
      #expect(done.output.split(separator: "\n").allSatisfy { $0.hasPrefix("GRANT ") })
      try psql(done.output)
      #expect(run(["help", "prepare"]).output.contains("needed where there is no terminal"))
    }
  }

  @Test("What --print prints is only what is missing")
  func missing() async throws {
    try await withSchemas { first, _, _ in
      let options = [try address(first), "--schema", blogSchema]
      #expect(run(["prepare", "--yes"] + options).status == 0)
      let server = try PlainConnection()
      let whole = try catalog(first)
      let table = Post._schema.table
      for (damage, expected) in [
        ("DROP TABLE @._dflat_precedence", "_dflat_precedence"),
        ("DROP INDEX @._dflat_log_xid", "_dflat_log_xid"),
        ("DELETE FROM @._dflat_state", "_dflat_state"),
        ("DELETE FROM @.dflat_schemas", "INSERT INTO \"\(first)\".dflat_schemas"),
        ("DROP TABLE @.\(table)", "CREATE TABLE \"\(first)\".\"\(table)\""),
      ] {
        try server.run(damage.replacing("@", with: first))
        let printed = run(["prepare", "--print"] + options)
        #expect(printed.output.contains(expected), "\(printed.output)")
        for other in ["_dflat_commits", "CREATE SCHEMA"] {
          #expect(!printed.output.contains(other), "\(printed.output)")
        }
        try psql(printed.output)
        #expect(try catalog(first) == whole, "\(damage)")
      }
    }
  }
}
