// The verbs on databases of a server, judged by psql.

import Dflat
import DflatServerTools
import DflatTestSupport
import DflatTools
import Foundation
import PostgresDflat
import PostgresTestSupport
import SQLiteDflat
import Testing

@testable import DflatShell

@Suite("The verbs on a server", .endsSometime)
struct ServerTests {
  /// A database for `body`: its PostgreSQL schema, and its address.
  func withDatabase<R>(
    _ body: (_ schema: String, _ address: String) throws -> R
  ) throws -> R {
    let schema = "test_" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    defer { _ = try? PlainConnection().run("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") }
    return try body(schema, try Self.address(schema))
  }

  static func address(_ schema: String, user: String = "dflat") throws -> String {
    try TestCluster.shared().url.replacing("user=dflat", with: "user=\(user)") + "#\(schema)"
  }

  /// The same with the objects of `withBlog`.
  func withBlogOnServer<R>(
    _ body: (_ schema: String, _ address: String, _ file: TemporaryFile) throws -> R
  ) throws -> R {
    try withDatabase { schema, address in
      try withBlog { file in
        let copied = run(["copy", file.path, address, "--yes"])
        #expect(copied.status == 0, "\(copied.errors)")
        return try body(schema, address, file)
      }
    }
  }

  @Test("A zero with a sign makes no finding on a server")
  func negativeZero() throws {
    try withDatabase { schema, address in
      let folder = try makeTemporaryDirectory()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let path = "\(folder)/z.fbs"
      try "table Z { id: int (primary); d: double (indexed); } root_type Z;".write(
        toFile: path, atomically: true, encoding: .utf8)
      let input = #"{"id":1,"d":-0.0}"#
      let stored = run(
        ["import", address, "Z", "-", "--schema", path, "--yes"], input: input)
      #expect(stored.status == 0, "\(stored.errors)")
      let checked = run(["check", address])
      #expect(checked.status == 0, "\(checked.output)")
    }
  }

  @Test("The name of a PostgreSQL schema is percent-encoded in an address")
  func encodedSchema() throws {
    try withBlog { file in
      let schema = "50% a#b/ü \(UInt32.random(in: 0...UInt32.max))"
      defer { _ = try? PlainConnection().run("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") }
      let encoded = schema.replacing("%", with: "%25").replacing("#", with: "%23")
        .replacing("/", with: "%2F").replacing("ü", with: "%C3%BC").replacing(" ", with: "%20")
      let address = try Self.address(encoded)
      let copied = run(["copy", file.path, address, "--yes"])
      #expect(copied.status == 0, "\(copied.errors)")
      #expect(
        try psql("SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema)'") == "1")
      // What is printed is an address of the same schema.
      let information = run(["info", address, "--json"])
      #expect(information.output.contains("#50%25"), "\(information.output)")
      #expect(information.output.contains("a%23b%2F"), "\(information.output)")
      let refused = run(["info", try Self.address("50%")])
      #expect(refused.status == 64 && refused.errors.contains("cannot be read"))
    }
  }

  /// Runs SQL by psql.
  func psql(_ sql: String) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["psql", "-d", try TestCluster.shared().url, "-XAtc", sql]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return text.trimmingCharacters(in: .newlines)
  }

  @Test("What verbs print about a server is what they print about a file with the same objects")
  func looking() throws {
    try withBlogOnServer { _, address, file in
      for arguments in [
        ["get", "Post", "notes", "1"], ["get", "Post", "s", "9"], ["export", "Post"],
        ["export", "Post", "--format", "csv"],
        ["query", "Post where likes > 10 and attachment is Photo"],
        ["query", "Post order by likes desc limit 2", "--json"],
        ["query", "Post where likes > 10", "--count"],
        ["query", "Post order by likes", "--select", "site, likes * 2"],
        ["query", "Post where lieks > 10"], ["dictionary"], ["dictionary", "get", "theme"],
        ["dictionary", "--json"], ["schema"], ["schema", "Post", "--json"], ["diff"],
      ] {
        func result(_ store: String) -> CommandResult {
          var call = arguments
          call.insert(store, at: 1)
          if arguments[0] == "diff" { call.append(file.path) }
          return run(call)
        }
        let (onServer, inFile) = (result(address), result(file.path))
        #expect(onServer.status == inFile.status, "\(arguments): \(onServer.errors)")
        #expect(onServer.output == inFile.output, "\(arguments)")
        #expect(onServer.errors == inFile.errors, "\(arguments)")
      }
      let plan = run(["query", address, "--explain", "Post where likes > 10"])
      #expect(plan.status == 0 && plan.output.contains("index: likes"), "\(plan.output)")
    }
  }

  @Test("info has types, rows, indexes and shapes; stats the sizes of tables and indexes")
  func information() throws {
    try withBlogOnServer { schema, address, _ in
      let text = run(["info", address])
      #expect(text.output.contains("PostgreSQL") && text.output.contains("on the server"))
      let counted = try JSONSerialization.jsonObject(
        with: Data(run(["info", address, "--count", "--json"]).output.utf8))
      let information = try #require(counted as? [String: Any])
      #expect(information["schema"] as? String == schema)
      #expect(information["dictionaryEntries"] as? Int == 2)
      let types = try #require(information["types"] as? [[String: Any]])
      #expect(types.map { $0["name"] as? String } == ["Post"])
      #expect(types[0]["rows"] as? Int == 3 && types[0]["names"] as? String == "kept")
      let indexes = try #require(types[0]["indexes"] as? [[String: Any]])
      #expect(!indexes.isEmpty && indexes.allSatisfy { $0["state"] as? String == "complete" })
      let stats = try JSONSerialization.jsonObject(
        with: Data(run(["stats", address, "--json"]).output.utf8))
      let uses = try #require(stats as? [[String: Any]])
      let sizes = uses.compactMap { $0["bytes"] as? Int }
      #expect(sizes.count == uses.count && sizes == sizes.sorted(by: >))
      let table = try #require(uses.first { $0["name"] as? String == Post._schema.table })
      let size = try psql("SELECT pg_table_size('\(schema).\"\(Post._schema.table)\"')")
      #expect((table["bytes"] as? Int).map(String.init) == size)
      #expect(table["type"] as? String == "Post")
    }
  }

  @Test("check has one form of report and the same statuses for servers and files")
  func checking() throws {
    try withBlogOnServer { schema, address, file in
      let sound = run(["check", address])
      #expect(sound.status == 0, "\(sound.output)\(sound.errors)")
      #expect(sound.output == "checked: Post\nnext: do nothing: the database is sound\n")
      let table = Post._schema.table
      try PlainConnection().run("UPDATE \(schema).\"\(table)\" SET f10 = 77 WHERE rowid = 1")
      let damaged = run(["check", address])
      #expect(damaged.status == 1)
      let start = "damage: wrongIndexRow: table \(table), row 1: the column f10 has another value"
      #expect(damaged.output.hasPrefix(start), "\(damaged.output)")
      #expect(damaged.output.contains("note: unloggedChange: table \(table), row 1: "))
      #expect(damaged.output.contains("next: UPDATE "))
      func keys(_ store: String) throws -> Set<String> {
        let text = run(["check", store, "--json"]).output
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return Set(try #require(json as? [String: Any]).keys)
      }
      let (onServer, inFile) = (try keys(address), try keys(file.path))
      #expect(onServer == inFile)
      let one = run(["check", address, "--limit", "1"])
      #expect(one.status == 1 && one.output.contains("there may be more: see --limit"))
      // Without the schemas, the form is checked, and with a given one all.
      try PlainConnection().run("DROP TABLE \(schema).dflat_schemas")
      let unnamed = run(["check", address])
      #expect(unnamed.output.contains("not checked, without a schema: \(table)"))
      let named = run(["check", address, "--schema", blogSchema])
      #expect(named.status == 1 && named.output.hasPrefix(start))
    }
  }

  @Test("Verbs that look need the right to SELECT only, and create nothing")
  func rights() throws {
    try withBlogOnServer { schema, address, file in
      let role = schema.replacing("test", with: "role")
      let server = try PlainConnection()
      try server.run(
        "CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA \(schema) TO \(role); "
          + "GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(role)")
      defer { _ = try? server.run("DROP OWNED BY \(role); DROP ROLE \(role)") }
      let reader = try Self.address(schema, user: role)
      let content = """
        SELECT string_agg(relname || relfilenode || coalesce(description, ''), ',' ORDER BY relname)
        FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
        LEFT JOIN pg_description ON objoid = pg_class.oid WHERE nspname = '\(schema)'
        """
      let before = try psql(content)
      for arguments in [
        ["info", reader], ["schema", reader], ["get", reader, "Post", "notes", "1"],
        ["query", reader, "Post where likes > 10"], ["export", reader, "Post"],
        ["dictionary", reader], ["stats", reader], ["check", reader], ["diff", reader, file.path],
        ["diff", file.path, reader], ["copy", reader, file.path + ".copy", "--yes"],
      ] {
        let result = run(arguments)
        #expect(result.status == 0, "\(arguments): \(result.errors)")
      }
      #expect(try psql(content) == before)
      let refused = run(["dictionary", reader, "set", "theme", "light", "--yes"])
      #expect(refused.status == 74, "\(refused.errors)")
      #expect(run(["dictionary", reader, "get", "theme"]).output == "dark\n")
      try server.run("REVOKE SELECT ON \(schema).dflat_schemas FROM \(role)")
      let unnamed = run(["query", reader, "\(Post._schema.table) limit 1", "--json"])
      #expect(unnamed.status == 0 && unnamed.output.contains("pk0"), "\(unnamed.errors)")
      let named = run(["export", reader, "Post", "--schema", blogSchema])
      #expect(named.output == run(["export", file.path, "Post"]).output, "\(named.errors)")
    }
  }

  @Test("Objects with every kind of field come back from a server as they were")
  func everyField() throws {
    try withDatabase { schema, address in
      try withTemporaryFile { file in
        var random = SeededGenerator(seed: 11)
        let items = (0..<120).map { _ in RandomItems.item(&random) }
        try file.dflat.write(Kit.Item.self) { for item in items { _ = try? $0.insert(item) } }
        #expect(run(["copy", file.path, address, "--yes"]).status == 0)
        let differences = run(["diff", file.path, address])
        #expect(differences.status == 0, "\(differences.output)")
        // Through JSON lines, and directly.
        let lines = file.path + ".jsonl"
        #expect(run(["export", address, "Item", "--output", lines]).status == 0)
        let schema = run(["schema", address, "Item"]).output
        try schema.write(toFile: file.path + ".fbs", atomically: true, encoding: .utf8)
        let imported = run([
          "import", file.path + ".imported", "Item", lines, "--schema", file.path + ".fbs", "--yes",
        ])
        #expect(imported.status == 0, "\(imported.errors)")
        let same = run(["diff", address, file.path + ".imported"])
        #expect(same.status == 0 && same.errors == "0 differences\n", "\(same.output)")
        #expect(run(["copy", address, file.path + ".copy", "--yes"]).status == 0)
        #expect(run(["diff", file.path + ".copy", file.path]).status == 0)
        try withDatabase { _, other in
          #expect(run(["copy", address, other, "--yes"]).status == 0)
          #expect(run(["diff", address, other]).status == 0)
          let again = run(["copy", address, other, "--yes", "--json"])
          #expect(
            again.output.contains(#""inserted" : 0"#) && again.output.contains(#""updated" : 0"#))
        }
      }
    }
  }

  @Test("Imports, changes of the dictionary and copies are seen by programs and by psql")
  func changing() throws {
    try withBlogOnServer { schema, address, file in
      let line = #"{"site":"s","number":77,"likes":5}"# + "\n"
      let tried = run(["import", address, "Post", "-", "--dry-run"], input: line)
      #expect(tried.output == "Post: 1 would be inserted, 0 would be updated, 0 unchanged\n")
      let count = "SELECT count(*) FROM \(schema).\"\(Post._schema.table)\""
      let before = try psql(count)
      #expect(before == "3")
      let stored = run(["import", address, "Post", "-", "--yes"], input: line)
      #expect(stored.output == "Post: 1 inserted, 0 updated, 0 unchanged\n", "\(stored.errors)")
      let after = try psql(count)
      #expect(after == "4")
      let one = run(["import", address, "Post", "-", "--yes", "--one-transaction"], input: line)
      #expect(one.output == "Post: 0 inserted, 0 updated, 1 unchanged\n", "\(one.errors)")
      let bad = run(["import", address, "Post", "-", "--yes"], input: "{\"nmber\":1}\n")
      #expect(bad.status == 65 && bad.errors.contains("did you mean 'number'?"))
      let difference = run(["diff", file.path, address])
      #expect(difference.status == 1 && difference.output == "+ Post s, 77\n")
      #expect(run(["dictionary", address, "set", "theme", "light", "--yes"]).status == 0)
      #expect(run(["dictionary", address, "get", "theme"]).output == "light\n")
      #expect(run(["dictionary", address, "remove", "theme", "--yes"]).status == 0)
      #expect(run(["dictionary", address, "get", "theme"]).status == 1)
    }
  }

  @Test("A database is no file, also if there is nothing in it yet")
  func newSchema() throws {
    try withDatabase { schema, address in
      let call = ["import", address, "Post", "-"]
      let unknown = run(call + ["--yes"])
      #expect(unknown.status == 66 && !unknown.errors.contains("file postgres"), "\(unknown)")
      #expect(unknown.errors.contains(schema) && unknown.errors.contains("--schema FILE.fbs"))
      let stored = run(
        call + ["--yes", "--schema", blogSchema], input: #"{"site":"s","number":1}"#)
      #expect(stored.status == 0 && !stored.errors.contains("file postgres"), "\(stored.errors)")
      #expect(stored.errors.contains("will be stored in the new PostgreSQL schema of "))
      let prepared = run(["prepare", address, "--yes"])
      #expect(prepared.errors.contains(" will be prepared for Post\n"), "\(prepared.errors)")
    }
  }

  @Test("What programs commit is printed as it happens")
  func watching() throws {
    try withBlogOnServer { schema, address, _ in
      let command = try RunningCommand(["watch", address, "Post"])
      #expect(command.nextError().contains("watching postgresql://"))
      let dflat = postgresWorkspace(schema: schema)
      try dflat.write(Post.self) { try $0.insert(post(50)) }
      #expect(command.nextLine() == "+ Post s, 50")
      command.interrupt()
      #expect(command.end().status == 0)
      dflat.shutdown()
    }
  }

  @Test("Verbs that are for files say what to use instead")
  func refusals() throws {
    for (arguments, hint) in [
      (["repair", "-o", "new.db"], "dump"),
      (["backup", "x"], "pg_dump"),
      (["restore", "x"], "pg_restore"), (["vacuum"], "VACUUM"),
    ] {
      var call = arguments
      call.insert("postgresql://localhost/a", at: 1)
      let result = run(call)
      #expect(result.status == 64 && result.errors.contains(hint), "\(result.errors)")
    }
    let restored = run(["restore", "x", "postgresql://localhost/a"])
    #expect(restored.status == 64 && restored.errors.contains("pg_restore"))
  }

  @Test("A server, a database or a schema that is not there has a status, and no password is shown")
  func missing() throws {
    try withDatabase { schema, address in
      let none = run(["info", address])
      #expect(none.status == 66 && none.errors.contains(schema), "\(none.errors)")
      let database = run(["info", address.replacing("/postgres?", with: "/nothing?")])
      #expect(database.status == 66 && database.errors.contains("nothing"), "\(database.errors)")
      let port = try TestCluster.freePort()
      let call = ["info", "postgresql://ada:se%40cret@127.0.0.1:\(port)/a?sslpassword=other"]
      let unreachable = run(call)
      #expect(unreachable.status == 74, "\(unreachable.errors)")
      #expect(unreachable.errors.split(separator: "\n").count <= 2, "\(unreachable.errors)")
      for address in ["postgresql://ada:sec/ret@host/a", "postgresql://a:sec%zz@h/a"] {
        let result = run(["info", address])
        #expect(result.status == 64 && !result.errors.contains("sec"), "\(result.errors)")
      }
      #expect(!unreachable.errors.contains("se@cret") && !unreachable.errors.contains("se%40cret"))
      let parsed = try StoreTarget.server(
        address.replacing("&user=", with: "&password=se%40cret&user="))
      #expect(!parsed.path.contains("cret") && parsed.path.contains("user=dflat"))
    }
  }
}
