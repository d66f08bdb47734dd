// What the screens show, on a file that is known.

import DflatTestSupport
import DflatTools
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@testable import DflatInspector

@Suite("Screens of the inspector")
struct ScreensTests {
  /// The fields of an answer's object by their names.
  private func fields(_ value: Any?) throws -> [String: Any] {
    let object = try #require(value as? [String: Any])
    let pairs = try #require(object["$object"] as? [[Any]])
    return Dictionary(
      try pairs.map { (try #require($0[0] as? String), $0[1]) }, uniquingKeysWith: { $1 })
  }

  @Test("Types are shown with counts, fields, keys, indexes and the schema")
  func types() throws {
    try withLibrary { library in
      try withInspector(library) { client, _ in
        let answer = try client.answer(["ask": "types"])
        #expect(answer["path"] as? String == library.path)
        #expect(answer["allowsChanges"] as? Bool == false)
        let types = try #require(answer["types"] as? [[String: Any]])
        #expect(types.map { $0["name"] as? String } == ["Author", "Post"])
        #expect(types.map { $0["rows"] as? Int } == [2, 3])
        #expect(types.map { $0["rowsAreCounted"] as? Bool } == [true, true])
        #expect(types[1]["keyFields"] as? [String] == ["id"])
        let fields = try #require(types[1]["fields"] as? [[String: Any]])
        #expect(
          fields.map { "\($0["name"] ?? ""): \($0["type"] ?? "")" } == [
            "id: int64", "title: string", "status: Status", "likes: int32", "author: string",
            "reviewers: [string]", "place: Place", "attachment: Attachment", "tags: [string]",
            "comments: [Comment]",
          ])
        #expect(fields.filter { $0["isKey"] as? Bool == true }.count == 1)
        #expect(
          fields.filter { $0["isIndexed"] as? Bool == true }.map { $0["name"] as? String }
            == ["likes", "author"])
        #expect(
          fields.filter { $0["isSortable"] as? Bool == true }.map { $0["name"] as? String }
            == ["id", "title", "status", "likes", "author"])
        #expect(fields[5]["reference"] as? String == "library__author")
        #expect((types[1]["schema"] as? String)?.contains("table Post {") == true)
        #expect(
          try client.answer(["ask": "count", "type": "library__post"])["rows"] as? Int == 3)
      }
    }
  }

  @Test("Rows come by pages that neither repeat nor miss an object, whatever its key is")
  func rows() throws {
    try withLibrary { library in
      try library.store(posts: 100..<160)
      try withInspector(library) { client, _ in
        var keys: [String] = []
        var after: String?
        while true {
          var question: [String: Any] = ["ask": "rows", "type": "library__post", "limit": 7]
          if let after { question["after"] = after }
          let answer = try client.answer(question)
          let rows = try #require(answer["rows"] as? [[String: Any]])
          keys += rows.compactMap { ($0["key"] as? [String])?.first }
          after = rows.last?["row"] as? String
          if answer["isLast"] as? Bool == true { break }
        }
        #expect(keys == ["1", "2", "9223372036854775807"] + (100..<160).map { "\($0)" })
        let first = try client.answer(["ask": "rows", "type": "library__post", "limit": 1])
        let row = try #require((first["rows"] as? [[String: Any]])?.first)
        let values = try fields(row["values"])
        #expect(
          values["title"] as? String == "Tea" && values["attachment_type"] as? String == "Photo")
        #expect((row["version"] as? String)?.count == 64)
        let last = try client.answer(
          ["ask": "rows", "type": "library__post", "after": "2", "limit": 1])
        let greatest = try #require((last["rows"] as? [[String: Any]])?.first)
        #expect(
          try fields(greatest["values"])["id"] as? [String: String]
            == ["$number": "9223372036854775807"])
      }
    }
  }

  @Test("An object is shown whole, with what it refers to and what refers to it")
  func object() throws {
    try withLibrary { library in
      try withInspector(library) { client, _ in
        let row = try #require(
          try client.answer(["ask": "find", "type": "library__post", "key": ["1"]])["row"]
            as? String)
        let answer = try client.answer(["ask": "object", "type": "library__post", "row": row])
        let values = try fields(answer["values"])
        #expect(try fields(values["place"])["lat"] as? Double == 1.5)
        #expect(try fields(values["attachment"])["width"] as? Int == 640)
        #expect(values["tags"] as? [String] == ["x", "y"])
        let comment = try #require((values["comments"] as? [Any])?.first)
        #expect(try fields(comment)["author"] as? String == "alan")
        let references = try #require(answer["references"] as? [[String: Any]])
        #expect(references.map { $0["key"] as? String } == ["ada", "alan", "eve"])
        #expect(references.map { $0["row"] as? String != nil } == [true, true, false])
        let author = try #require(references[0]["row"] as? String)
        let target = try client.answer(["ask": "object", "type": "library__author", "row": author])
        let referrers = try #require(target["referrers"] as? [[String: String]])
        #expect(referrers.map { $0["field"] } == ["author", "reviewers"])
        func referring(by field: String, to row: String) throws -> [String: Any] {
          try client.answer([
            "ask": "referrers", "type": "library__author", "row": row, "from": "library__post",
            "field": field,
          ])
        }
        let posts = try referring(by: "author", to: author)
        #expect(
          (posts["objects"] as? [[String: Any]])?.compactMap { ($0["key"] as? [String])?[0] } == [
            "1", "2",
          ])
        #expect(posts["isIndexed"] as? Bool == true && posts["hasMore"] as? Bool == false)
        let reviewer = try #require(references[1]["row"] as? String)
        let reviewed = try referring(by: "reviewers", to: reviewer)
        #expect((reviewed["objects"] as? [Any])?.count == 1)
        #expect(reviewed["isIndexed"] as? Bool == false)
        let missing = try client.ask(["ask": "object", "type": "library__post", "row": "77"])
        #expect(missing.status == 404)
        #expect(try client.ask(["ask": "object", "type": "none", "row": "1"]).status == 404)
        #expect(
          try client.ask(["ask": "object", "type": "library__post", "row": "x"]).status == 400)
      }
    }
  }

  @Test("References without an index are looked for in large types only if that is wanted")
  func referrersOfLargeTypes() throws {
    try withLibrary { library in
      try library.store(posts: 100..<2200)
      try withInspector(library) { client, _ in
        var question: [String: Any] = [
          "ask": "referrers", "type": "library__author", "row": "2", "from": "library__post",
          "field": "reviewers",
        ]
        let first = try client.answer(question)
        #expect(first["isAnswered"] as? Bool == false)
        question["anyway"] = true
        let second = try client.answer(question)
        #expect((second["objects"] as? [Any])?.count == 1)
      }
    }
  }

  @Test("A query is shown with its plan and time, and an error with its place")
  func query() throws {
    try withLibrary { library in
      try library.store(posts: 100..<300)
      try withInspector(library) { client, _ in
        let answer = try client.answer(["ask": "query", "text": "Post where likes > 10"])
        #expect((answer["rows"] as? [Any])?.count == 2 && answer["hasMore"] as? Bool == false)
        #expect((answer["milliseconds"] as? Double ?? -1) >= 0)
        let plan = try #require(answer["plan"] as? [String: Any])
        #expect(plan["indexedFields"] as? [String] == ["likes"])
        #expect((plan["statement"] as? String)?.contains("library__post") == true)
        let all = try client.answer(["ask": "query", "text": "Post"])
        #expect((all["rows"] as? [Any])?.count == 100 && all["hasMore"] as? Bool == true)
        let some = try client.answer(["ask": "query", "text": "Post limit 100"])
        #expect((some["rows"] as? [Any])?.count == 100 && some["hasMore"] as? Bool == false)
        let wrong = try client.ask(["ask": "query", "text": "Post where title = '🍵' and lkes > 10"])
        #expect(wrong.status == 400)
        let problem = try wrong.json()
        // As JavaScript counts: the character outside of the basic plane has two units.
        #expect(problem["start"] as? Int == 28 && problem["end"] as? Int == 32)
        #expect(problem["hint"] as? String == "did you mean 'likes'?")
      }
    }
  }

  @Test("Health shows facts and hazards, and the findings of a check that runs beside the page")
  func health() throws {
    try withLibrary { library in
      try library.sqlite3("DROP TABLE library__post__f10")
      try withInspector(library) { client, _ in
        let before = try client.answer(["ask": "health"])
        let information = try #require(before["information"] as? [String: Any])
        #expect(information["journalMode"] as? String == "wal")
        #expect((before["check"] as? [String: Any])?["state"] as? String == "none")
        _ = try client.answer(["ask": "check"])
        var check: [String: Any] = [:]
        let end = ContinuousClock.now + .seconds(600)
        repeat {
          check = try client.answer(["ask": "health"])["check"] as? [String: Any] ?? [:]
        } while check["state"] as? String == "running" && .now < end
        #expect(check["state"] as? String == "done", "\(check)")
        #expect(check["nextStep"] as? String == "do nothing: the file is sound", "\(check)")
      }
    }
  }

  @Test("Objects without a schema are shown by the offsets of their fields")
  func withoutSchema() throws {
    try withLibrary { library in
      try library.sqlite3("DROP TABLE dflat_schemas")
      try withInspector(library) { client, _ in
        let types = try #require(
          try client.answer(["ask": "types"])["types"] as? [[String: Any]])
        #expect(types.map { $0["names"] as? String } == ["unknown", "unknown"])
        let rows = try client.answer(["ask": "rows", "type": "library__author", "limit": 1])
        #expect(rows["columns"] as? [String] == ["__pk0", "f4", "f6"])
        #expect(rows["isLast"] as? Bool == false)
        let object = try client.answer(["ask": "object", "type": "library__author", "row": "2"])
        #expect(try fields(object["values"])["f6"] as? String == "Alan")
      }
    }
  }

  @Test("Looking leaves no trace")
  func trace() throws {
    try withLibrary { library in
      let before = try FileManager.default.contentsOfDirectory(atPath: library.directory).sorted()
      try withInspector(library) { client, _ in
        for question in ["types", "health"] { _ = try client.answer(["ask": question]) }
        _ = try client.answer(["ask": "rows", "type": "library__post"])
        _ = try client.answer(["ask": "live", "since": -1])
        let now = try FileManager.default.contentsOfDirectory(atPath: library.directory).sorted()
        #expect(now == before)
      }
    }
  }
}
