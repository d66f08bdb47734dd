// The page on a database of a server: it answers as it does about a file with the same objects.

import Dflat
import DflatServerTools
import DflatTestSupport
import DflatTools
import Foundation
import PostgresDflat
import PostgresTestSupport
import Testing

@testable import DflatInspector

private let post = "library__post"

@Suite("The inspector on a server", .endsSometime)
struct InspectedServerTests {
  /// A PostgreSQL schema with the objects of a library, which the inspector shows.
  private struct Database {
    let client: Client
    let address: String
    let library: Library

    /// Stores objects as another program does.
    func store(_ lines: String) throws {
      var job = try Import(into: .server(address), type: "Post", schemas: library.schemas)
      job.isOneTransaction = true
      var rest: Data? = Data(lines.utf8)
      let report = try job.run(reading: {
        defer { rest = nil }
        return rest
      })
      #expect(report.problems.isEmpty, "\(report.problems)")
    }

    func row(_ key: String) throws -> String {
      let found = try client.answer(["ask": "find", "type": post, "key": [key]])
      return try #require(found["row"] as? String)
    }

    func version(_ row: String) throws -> String {
      let object = try client.answer(["ask": "object", "type": post, "row": row])
      return try #require(object["version"] as? String)
    }
  }

  private func withDatabase<R>(
    allowsChanges: Bool = false, _ body: (Database) throws -> R
  ) throws -> R {
    let schema = "test_" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    defer { _ = try? PlainConnection().run("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE") }
    let address = try TestCluster.shared().url + "#\(schema)"
    return try withLibrary { library in
      let file = try DataFile.open(library.path)
      defer { file.close() }
      _ = try file.copy(into: .server(address))
      let store =
        try allowsChanges ? DataServer.openForChanges(address) : DataServer.open(address)
      let inspector = try Inspector.start(store, allowsChanges: allowsChanges)
      defer { inspector.stop() }
      return try body(
        Database(client: Client(inspector), address: address, library: library))
    }
  }

  @Test("Types, objects, references and queries are shown as those of a file")
  func screens() throws {
    try withDatabase { database in
      let client = database.client
      try withInspector(database.library) { ofFile, _ in
        /// Parts of an answer, as text. Row ids differ, so they are looked up by keys.
        func shown(_ client: Client, _ parts: [String], _ question: [String: Any]) throws -> String
        {
          var question = question
          if let key = question["row"] as? String {
            question["row"] = try client.answer(
              ["ask": "find", "type": post, "key": [key]])["row"]
          }
          let answer = try client.answer(question)
          return try parts.map { part in
            let value = try #require(answer[part], "\(question): \(part)")
            let bytes = try JSONSerialization.data(
              withJSONObject: [value], options: [.sortedKeys])
            return String(decoding: bytes, as: UTF8.self)
              .replacing(/"row":"\d+"/, with: "")
          }.joined(separator: "\n")
        }
        let questions: [(parts: [String], question: [String: Any])] = [
          (["rows"], ["ask": "count", "type": post]),
          (["columns", "isLast", "rows"], ["ask": "rows", "type": post]),
          (["columns", "isLast"], ["ask": "rows", "type": post, "limit": 2]),
          (
            ["key", "bytes", "version", "values", "references", "referrers"],
            ["ask": "object", "type": post, "row": "1"]
          ),
          (["rows", "columns"], ["ask": "query", "text": "Post where author.name = 'Ada'"]),
          (["rows", "hasMore"], ["ask": "query", "text": "Post where likes > 10 order by likes"]),
        ]
        for (parts, question) in questions {
          let onServer = try shown(client, parts, question)
          let inFile = try shown(ofFile, parts, question)
          #expect(onServer == inFile, "\(question)")
        }
      }
      let types = try client.answer(["ask": "types"])
      #expect((types["path"] as? String)?.hasPrefix("postgresql://") == true)
      let named = try #require(types["types"] as? [[String: Any]])
      #expect(named.map { $0["name"] as? String } == ["Author", "Post"])
      #expect(named.map { $0["rows"] as? Int } == [2, 3])
      let ada = try client.answer(["ask": "find", "type": "library__author", "key": ["ada"]])
      let referrers = try client.answer(
        [
          "ask": "referrers", "type": "library__author", "row": try #require(ada["row"]),
          "from": post, "field": "author",
        ])
      #expect((referrers["objects"] as? [[String: Any]])?.count == 2)
      #expect(referrers["isIndexed"] as? Bool == true)
      let query = try client.answer(["ask": "query", "text": "Post where likes > 10"])
      let plan = try #require(query["plan"] as? [String: Any])
      #expect(plan["indexedFields"] as? [String] == ["likes"], "\(plan)")
      let health = try client.answer(["ask": "health"])
      let information = try #require(health["information"] as? [String: Any])
      #expect((information["serverVersion"] as? String)?.isEmpty == false, "\(information)")
    }
  }

  @Test("A commit of another program arrives, with the object and what changed")
  func live() throws {
    try withDatabase { database in
      let start = try database.client.answer(["ask": "live", "since": -1])
      #expect(start["isFollowing"] as? Bool == true)
      try database.store(#"{"id":2,"title":"Bread","likes":41,"author":"ada"}"#)
      var answer: [String: Any] = [:]
      while (answer["last"] as? Int ?? 0) == 0 {
        answer = try database.client.answer(["ask": "live", "since": 0])
        try #require(answer["problem"] == nil, "\(answer)")
      }
      let events = try #require(answer["events"] as? [[String: Any]])
      let change = try #require((events.first?["changes"] as? [[String: Any]])?.first)
      #expect(change["kind"] as? String == "updated" && change["key"] as? [String] == ["2"])
      let fields = try #require(change["fields"] as? [[String: String]])
      #expect(fields == [["name": "likes", "old": "40", "new": "41"]])
    }
  }

  @Test("A draft is compared, stored in a transaction, and not over a newer object")
  func editing() throws {
    try withDatabase(allowsChanges: true) { database in
      let client = database.client
      let row = try database.row("2")
      let before = try database.version(row)
      let json = try client.ask(["ask": "whole", "type": post, "row": row]).text
      let question: [String: Any] = [
        "type": post, "row": row, "version": before,
        "json": json.replacing("\"likes\" : 40", with: "\"likes\" : 44"),
      ]
      let draft = try client.answer(question.merging(["ask": "draft"]) { $1 })
      #expect(
        draft["changes"] as? [[String: String]]
          == [["name": "likes", "first": "40", "second": "44"]])
      #expect(try database.version(row) == before)
      let done = try client.answer(question.merging(["ask": "commit"]) { $1 })
      #expect(done["row"] as? String == row)
      let found = try client.answer(["ask": "query", "text": "Post where likes = 44"])
      #expect((found["rows"] as? [Any])?.count == 1)
      let again = try client.ask(question.merging(["ask": "commit"]) { $1 })
      #expect(again.status == 409, "\(again.text)")
      try database.store(#"{"id":1,"title":"Coffee"}"#)
      let new: [String: Any] = ["ask": "commit", "type": post, "json": #"{"id":1}"#]
      #expect(try client.ask(new).status == 409)
      let seen = try client.answer(["ask": "deletion", "type": post, "row": row])
      let deletion: [String: Any] = [
        "ask": "delete", "type": post, "row": row, "version": try #require(seen["version"]),
      ]
      #expect(try client.ask(deletion).status == 200)
      #expect(try client.ask(deletion).status == 404)
    }
  }

  @Test("Without leave to change nothing is stored, and the address shows no password")
  func looking() throws {
    try withDatabase { database in
      let refused = try database.client.ask(
        ["ask": "commit", "type": post, "json": #"{"id":9}"#])
      #expect(refused.status == 403, "\(refused.text)")
      let parts = database.address.split(separator: "#")
      let secret =
        parts[0].contains("?") ? "\(parts[0])&password=hidden" : "\(parts[0])?password=hidden"
      let store = try DataServer.open("\(secret)#\(parts[1])")
      let inspector = try Inspector.start(store)
      defer { inspector.stop() }
      let client = try Client(inspector)
      for question in ["types", "health"] {
        let answer = try client.ask(["ask": question])
        #expect(answer.status == 200 && !answer.text.contains("hidden"), "\(answer.text)")
      }
      #expect(!inspector.path.contains("hidden"))
      let another = try DataServer.open(database.address)
      #expect(throws: ToolError.self) { try Inspector.start(another, allowsChanges: true) }
    }
  }
}
