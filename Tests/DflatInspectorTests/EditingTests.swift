// Changing objects in the page.

import Dflat
import DflatTestSupport
import DflatTools
import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat
import Testing

@testable import DflatInspector

@Suite("Changing objects in the inspector")
struct EditingTests {
  private static let type = "library__post"

  private func version(_ client: Client, _ row: String) throws -> String {
    try #require(
      try client.answer(["ask": "object", "type": Self.type, "row": row])["version"] as? String)
  }

  @Test("A draft is compared, and then committed as a transaction")
  func draft() throws {
    try withLibrary { library in
      try withInspector(library, allowsChanges: true) { client, _ in
        let json = try client.ask(["ask": "whole", "type": Self.type, "row": "2"]).text
        #expect(json.contains("\"likes\" : 40"), "\(json)")
        let before = try version(client, "2")
        let question: [String: Any] = [
          "type": Self.type, "row": "2", "version": before,
          "json": json.replacing("\"likes\" : 40", with: "\"likes\" : 44"),
        ]
        let draft = try client.answer(question.merging(["ask": "draft"]) { $1 })
        #expect(draft["isNew"] as? Bool == false && draft["isCurrent"] as? Bool == true)
        #expect(
          draft["changes"] as? [[String: String]]
            == [["name": "likes", "first": "40", "second": "44"]])
        #expect(try version(client, "2") == before)
        let done = try client.answer(question.merging(["ask": "commit"]) { $1 })
        #expect(done["row"] as? String == "2")
        #expect(try version(client, "2") != before)
        let file = try DataFile.open(library.path)
        defer { file.close() }
        #expect(try file.query("Post where likes = 44").objects.count == 1)
        #expect(try file.check().findings.allSatisfy { $0.severity == .note })
      }
    }
  }

  @Test("New objects are stored, and not over another one with their key")
  func newObject() throws {
    try withLibrary { library in
      try withInspector(library, allowsChanges: true) { client, _ in
        let new: [String: Any] = ["type": Self.type, "json": #"{"id":5,"title":"New"}"#]
        let draft = try client.answer(new.merging(["ask": "draft"]) { $1 })
        #expect(draft["isNew"] as? Bool == true)
        let row = try client.answer(new.merging(["ask": "commit"]) { $1 })["row"] as? String
        #expect(row == "4")
        let again = try client.ask(new.merging(["ask": "commit"]) { $1 })
        #expect(again.status == 409)
      }
    }
  }

  @Test("Nothing is stored if the object was changed, or deleted, meanwhile")
  func conflict() throws {
    try withLibrary { library in
      try withInspector(library, allowsChanges: true) { client, _ in
        let before = try version(client, "2")
        let mine = #"{"id":2,"title":"Mine","likes":40,"author":"ada"}"#
        let question: [String: Any] = [
          "ask": "commit", "type": Self.type, "row": "2", "version": before, "json": mine,
        ]
        try library.sqlite3(
          "UPDATE library__post SET p = (SELECT p FROM library__post WHERE rowid = 2) WHERE rowid = 2"
        )
        let file = try DataFile.openForChanges(library.path)
        defer { file.close() }
        let type = try file.type(named: "Post")
        let theirs = try file.draft(
          of: type, json: Data(#"{"id":2,"title":"Theirs","likes":40,"author":"ada"}"#.utf8))
        try file.commit(theirs, replacing: before)
        let refused = try client.ask(question)
        #expect(refused.status == 409)
        let conflict = try refused.json()
        #expect(
          conflict["changes"] as? [[String: String]]
            == [["name": "title", "first": "\"Theirs\"", "second": "\"Mine\""]])
        let now = try #require(conflict["version"] as? String)
        #expect(try client.ask(question.merging(["version": now]) { $1 }).status == 200)
        try library.sqlite3("DELETE FROM library__post WHERE rowid = 2")
        let deleted = try client.ask(question.merging(["version": now]) { $1 })
        #expect(deleted.status == 409 && deleted.text.contains("was deleted meanwhile"))
        #expect(throws: DraftConflict.self) { try file.commit(theirs, replacing: before) }
      }
    }
  }

  @Test("Wrong values are named, keys stay, and an inspector that only shows stores nothing")
  func refusals() throws {
    try withLibrary { library in
      try withInspector(library, allowsChanges: true) { client, _ in
        func problem(_ json: String, row: String? = "2") throws -> [String: Any] {
          var question: [String: Any] = ["ask": "draft", "type": Self.type, "json": json]
          if let row { question["row"] = row }
          let reply = try client.ask(question)
          #expect(reply.status == 400, "\(json): \(reply.text)")
          return try reply.json()
        }
        let wrong = [
          (#"{"id":2,"likes":"many"}"#, "field", "likes"),
          (#"{"id":2,"lkes":1}"#, "message", "Post has no such field: did you mean 'likes'?"),
          (#"{"id":3}"#, "message", "the key of an object cannot be changed"),
        ]
        for (json, name, text) in wrong {
          let problem = try problem(json)
          #expect(problem[name] as? String == text, "\(problem)")
        }
        let broken = try problem(#"{"id":2"#)["message"] as? String
        #expect(broken?.isEmpty == false)
      }
      try withInspector(library) { client, _ in
        for ask in ["draft", "commit"] {
          let reply = try client.ask(["ask": ask, "type": Self.type, "json": #"{"id":7}"#])
          #expect(reply.status == 403)
        }
      }
      let reading = try DataFile.open(library.path)
      defer { reading.close() }
      let draft = try reading.draft(
        of: try reading.type(named: "Post"), json: Data(#"{"id":7}"#.utf8))
      #expect(throws: ToolError.self) { try reading.commit(draft, replacing: nil) }
    }
  }

  @Test("An object with a text that is not UTF-8 is not edited: JSON would change it")
  func brokenText() throws {
    try withLibrary { library in
      try library.store("Post", #"{"id":60,"title":"AAAA","likes":1,"tags":["b"]}"#)
      let connection = try Connection(path: library.path)
      defer { try? connection.close() }
      func stored() throws -> [UInt8] {
        try #require(
          try connection.value("SELECT p FROM library__post WHERE rowid = 4")?.blob)
      }
      var bytes = try stored()
      let place = try #require(bytes.firstRange(of: Array("AAAA".utf8))).lowerBound
      bytes.replaceSubrange(place..<place + 2, with: [0xFF, 0xC0])
      try connection.execute(
        "UPDATE library__post SET p = ? WHERE rowid = 4", [.blob(bytes)])
      try withInspector(library, allowsChanges: true) { client, _ in
        let json = try client.ask(["ask": "whole", "type": Self.type, "row": "4"]).text
        let version = try version(client, "4")
        for ask in ["draft", "commit"] {
          let reply = try client.ask([
            "ask": ask, "type": Self.type, "row": "4", "version": version,
            "json": json.replacing("\"likes\" : 1", with: "\"likes\" : 2"),
          ])
          #expect(
            reply.status == 400 && reply.text.contains("'title' of this Post"), "\(reply.text)")
        }
      }
      #expect(try stored() == bytes)
    }
  }

  @Test("Any other object may be edited: its JSON says what it has")
  func everyValue() throws {
    try withLibrary { library in
      try library.store(
        "Post", #"{"id":60,"title":"\u0000\ufffd\u2028","place":{"lat":-0.0,"lon":"nan"}}"#)
      try withInspector(library, allowsChanges: true) { client, _ in
        for row in ["1", "2", "3", "4"] {
          let json = try client.ask(["ask": "whole", "type": Self.type, "row": row]).text
          let draft = try client.answer([
            "ask": "draft", "type": Self.type, "row": row, "version": try version(client, row),
            "json": json,
          ])
          #expect((draft["changes"] as? [Any])?.isEmpty == true, "\(draft)")
        }
      }
    }
  }

  @Test("A deletion is shown, and then committed if nothing has changed")
  func deletion() throws {
    try withLibrary { library in
      try withInspector(library) { client, _ in
        for ask in ["deletion", "delete"] {
          let reply = try client.ask(["ask": ask, "type": Self.type, "row": "2"])
          #expect(reply.status == 403)
        }
      }
      try withInspector(library, allowsChanges: true) { client, _ in
        let question: [String: Any] = ["type": Self.type, "row": "2"]
        func ask(_ ask: String, _ version: Any? = nil) throws -> Reply {
          var asked = question
          asked["ask"] = ask
          asked["version"] = version
          return try client.ask(asked)
        }
        let seen = try ask("deletion").json()
        #expect(seen["key"] as? [String] == ["2"] && (seen["effects"] as? [Any])?.isEmpty == true)
        #expect("\(seen["values"] ?? "")".contains("Bread"))
        #expect(try ask("delete").status == 400)
        try library.store("Post", #"{"id":2,"title":"Buns"}"#)
        let refused = try ask("delete", seen["version"])
        #expect(refused.status == 409 && refused.text.contains("nothing was deleted"))
        let now = try ask("deletion").json()["version"]
        #expect(try ask("delete", now).status == 200)
        #expect(try ask("delete", now).status == 404)
        #expect(
          try client.answer(["ask": "count", "type": Self.type])["rows"] as? Int == 2)
      }
    }
  }

  @Test("The observers of the program see what the page commits")
  func observers() throws {
    try withTemporaryFile { file in
      try file.store([post(1, likes: 3), post(2, likes: 5)])
      let inspector = try Inspector.start(file.dflat, allowsChanges: true)
      defer { inspector.stop() }
      let client = try Client(inspector)
      let seen = Mutex<[Int32]>([])
      let changed = DispatchSemaphore(value: 0)
      let subscription = file.dflat.subscribe(
        file.dflat.query(Post.self).where(Post.likes > 4)
      ) { result in
        seen.withLock { $0 = result.map(\.likes) }
        changed.signal()
      }
      let table = Post._schema.table
      let row = try #require(
        try client.answer(["ask": "find", "type": table, "key": ["s", "1"]])["row"] as? String)
      let object = try client.answer(["ask": "object", "type": table, "row": row])
      let json = try client.ask(["ask": "whole", "type": table, "row": row]).text
      let done = try client.ask([
        "ask": "commit", "type": table, "row": row,
        "version": try #require(object["version"] as? String),
        "json": json.replacing("\"likes\" : 3", with: "\"likes\" : 30"),
      ])
      #expect(done.status == 200, "\(done.text)")
      changed.expect("the notification")
      #expect(seen.withLock { $0 }.sorted() == [5, 30])
      subscription.cancel()
    }
  }
}
