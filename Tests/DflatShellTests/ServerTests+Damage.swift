// Servers with odd settings, and databases whose tables were changed by hand.

import DflatTestSupport
import Foundation
import PostgresTestSupport
import Testing

extension ServerTests {
  @Test(
    "What is stored is there, or is named, whatever was done to the library's tables by hand",
    arguments: [
      "DROP TABLE #._dflat_precedence", "TRUNCATE #._dflat_state", "DROP TABLE #._dflat_state",
      "DROP TABLE #._dflat_first_writes", "DROP TABLE #._dflat_commits", "DROP TABLE #._dflat_log",
      "DROP TABLE #._dflat_log_cut",
    ])
  func damagedTables(statement: String) throws {
    try withBlogOnServer { schema, address, file in
      _ = try psql(statement.replacing("#", with: schema))
      let whole = run(["export", file.path, "Post"])
      let found = run(["export", address, "Post"])
      let isNamed = found.status > 64 && found.errors.contains(schema)
      #expect(found.output == whole.output || isNamed, "\(found.status): \(found.errors)")
      let counted = run(["query", address, "Post", "--count"])
      #expect(counted.output == "3\n" || (isNamed && counted.status > 64), "\(counted)")
      // What is missing comes back before a program writes.
      let prepared = run(["prepare", address, "--yes"])
      #expect(prepared.status == 0, "\(prepared.errors)")
      #expect(run(["export", address, "Post"]).output == whole.output)
      let checked = run(["check", address])
      // The programs' numbers in the ledger cannot come back.
      let isLedger = checked.status == 1 && checked.output.contains("damagedLedger")
      #expect(
        statement.contains("_commits") ? isLedger : checked.status == 0, "\(checked.output)")
    }
  }

  @Test(
    "Settings of the server change neither what is stored nor what is found",
    arguments: ["standard_conforming_strings=off", "quote_all_identifiers=on"])
  func settings(setting: String) throws {
    try withBlogOnServer { schema, address, file in
      let name = "\(schema)_b"
      defer { _ = try? PlainConnection().run("DROP SCHEMA IF EXISTS \"\(name)\" CASCADE") }
      let other =
        try TestCluster.shared().url.setting(
          "options", to: "-c%20\(setting.replacing("=", with: "%3D"))") + "#\(name)"
      let copied = run(["copy", file.path, other, "--yes"])
      #expect(copied.status == 0, "\(copied.errors)")
      let damaged = try psql(
        "SELECT count(*) FROM \(name).dflat_schemas WHERE encode(sha256(schema), 'hex') <> digest")
      #expect(damaged == "0")
      #expect(run(["check", other]).output.contains("sound"), "\(run(["check", other]).output)")
      let plain = run(["export", try Self.address(name), "Post"])
      #expect(plain.output == run(["export", file.path, "Post"]).output)
      let script = run(["prepare", address, "--print"])
      #expect(!script.output.contains("'\\x"), "\(script.output)")
    }
  }

  @Test("Of two schemas of one second, the one counts that knows more")
  func sameSecond() throws {
    try withDatabase { schema, address in
      let folder = try makeTemporaryDirectory()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      for (number, more) in [(1, ""), (2, " extra: string; ")] {
        let path = "\(folder)/v\(number).fbs"
        try "table T { id: int (primary); a: string; \(more)} root_type T;".write(
          toFile: path, atomically: true, encoding: .utf8)
        let line = number == 1 ? #"{"id":1}"# : #"{"id":2,"extra":"x"}"#
        let stored = run(["import", address, "T", "-", "--schema", path, "--yes"], input: line)
        #expect(stored.status == 0, "\(stored.errors)")
      }
      _ = try psql("UPDATE \(schema).dflat_schemas SET date = '2026-01-01T00:00:00Z'")
      #expect(run(["export", address, "T"]).output.contains(#""extra":"x""#))
    }
  }

  @Test("A schema with another digest is not used, and what cannot be read is named")
  func unusableSchemas() throws {
    try withBlogOnServer { schema, address, _ in
      let kept = "\(schema).dflat_schemas"
      _ = try psql(
        "INSERT INTO \(kept) SELECT \"table\", 'ff', version, '9999', "
          + "(SELECT schema FROM \(kept) WHERE \"table\" LIKE 'dict%') FROM \(kept) "
          + "WHERE \"table\" = 'blog__post_v1_0'")
      let checked = run(["check", address])
      #expect(!checked.output.contains("wrongKey"), "\(checked.output)")
      #expect(run(["export", address, "Post"]).status == 0)
      // Without any that is whole, it has the name of its table.
      _ = try psql("DELETE FROM \(kept) WHERE \"table\" = 'blog__post_v1_0' AND digest <> 'ff'")
      let unknown = run(["export", address, "Post"])
      #expect(
        unknown.status == 64 && unknown.errors.contains("another digest"), "\(unknown.errors)")
      let role = schema.replacing("test", with: "role")
      _ = try psql("CREATE ROLE \(role) LOGIN")
      defer { _ = try? psql("DROP OWNED BY \(role); DROP ROLE \(role)") }
      _ = try psql(
        "GRANT USAGE ON SCHEMA \(schema) TO \(role); GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) "
          + "TO \(role); REVOKE SELECT ON \(kept) FROM \(role)")
      let refused = run(["export", try Self.address(schema, user: role), "Post"])
      #expect(
        refused.status == 64 && refused.errors.contains("the role may not read"),
        "\(refused.errors)")
    }
  }
}
