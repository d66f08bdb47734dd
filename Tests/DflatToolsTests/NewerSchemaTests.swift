// Objects that a program with a newer schema has written: nothing of them is lost by a tool that
// does not know that schema.

import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@testable import DflatTools

@Suite("Objects of a newer schema")
struct NewerSchemaTests {
  private static let older = """
    enum Kind: byte { one, two }
    table Photo { url: string; }
    union Attachment { Photo }
    table Author { name: string; kind: Kind; }
    table Post {
      title: string (primary); likes: int; kind: Kind; attachment: Attachment;
      parts: [Attachment]; kinds: [Kind]; author: Author;
    }
    root_type Post;
    """
  private static let newer =
    older
    .replacing("one, two", with: "one, two, three").replacing(
      "kind: Kind; }", with: "kind: Kind; age: int; }"
    )
    .replacing(
      "union Attachment { Photo }",
      with: "table Video { url: string; }\nunion Attachment { Photo, Video }"
    )
    .replacing("author: Author;", with: "author: Author; extra: string;")

  /// Objects of the newer schema, the field that has what the older one does not know, and another
  /// value of this field.
  private static let cases: [(json: String, part: String, change: String)] = [
    (#"{"title":"1","kind":"three"}"#, "kind", #""kind":"two""#),
    (
      #"{"title":"2","attachment_type":"Video","attachment":{"url":"v"}}"#, "attachment",
      #""attachment_type":"Photo","attachment":{"url":"p"}"#
    ),
    (
      #"{"title":"3","parts_type":["Video","Photo"],"parts":[{"url":"v"},{"url":"p"}]}"#, "parts",
      #""parts_type":["Photo"],"parts":[{"url":"q"}]"#
    ),
    (#"{"title":"4","kinds":["three","one"]}"#, "kinds", #""kinds":["two"]"#),
    (
      #"{"title":"5","author":{"name":"a","kind":"three"}}"#, "author.kind",
      #""author":{"name":"b"}"#
    ),
    (#"{"title":"6","author":{"name":"a","age":9}}"#, "author.f8", #""author":{"name":"b"}"#),
    (#"{"title":"7","extra":"E"}"#, "f22", ""),
  ]

  /// Calls `body` with the paths of a file with the objects and without schemas, and of both
  /// schemas.
  private func withObjects(
    _ body: (_ path: String, _ newer: String, _ older: String) throws -> Void
  ) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let (newer, older) = ("\(directory)/newer.fbs", "\(directory)/older.fbs")
    try Self.newer.write(toFile: newer, atomically: true, encoding: .utf8)
    try Self.older.write(toFile: older, atomically: true, encoding: .utf8)
    let path = "\(directory)/t.db"
    let job = try Import(into: path, type: "Post", schemas: [newer])
    let lines = Self.cases.map { $0.json + "\n" }.joined()
    #expect(try job.run(reading: portions(of: lines)).problems.isEmpty)
    try forget(path)
    try body(path, newer, older)
  }

  /// Removes the schemas that the file keeps.
  private func forget(_ path: String) throws {
    let connection = try Connection(path: path)
    try connection.execute("DELETE FROM dflat_schemas")
    try connection.close()
  }

  private func lines(_ path: String, _ schema: String) throws -> [String] {
    let file = try DataFile.open(path, schemas: [schema])
    defer { file.close() }
    var data = Data()
    _ = try file.export(try file.type(named: "Post")) { data.append($0) }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test("An import over them keeps it, or refuses the line")
  func importing() throws {
    try withObjects { path, newer, older in
      let before = try lines(path, newer)
      for (index, object) in Self.cases.enumerated() where !object.change.isEmpty {
        for isDryRun in [true, false] {
          var job = try Import(into: path, type: "Post", schemas: [older])
          job.isDryRun = isDryRun
          let line = "{\"title\":\"\(index + 1)\",\(object.change)}"
          let problems = try job.run(reading: portions(of: line)).problems
          #expect(problems.count == 1, "\(line)")
          #expect(problems.first?.message.contains("'\(object.part)'") == true, "\(problems)")
        }
      }
      #expect(try lines(path, newer) == before)
      // Other fields.
      let file = try DataFile.open(path, schemas: [older])
      let all = try file.query("Post").objects.map { try $0.json() }
      file.close()
      let job = try Import(into: path, type: "Post", schemas: [older])
      let changed = all.map { String(decoding: $0, as: UTF8.self) }
        .map { $0.replacing("\"likes\":0", with: "\"likes\":7") }.joined(separator: "\n")
      let report = try job.run(reading: portions(of: changed))
      #expect(report.problems.isEmpty && report.updated == Self.cases.count)
      try forget(path)
      #expect(
        try lines(path, newer) == before.map { $0.replacing("\"likes\":0", with: "\"likes\":7") })
    }
  }

  @Test("A draft keeps it, or is refused")
  func drafts() throws {
    try withObjects { path, newer, older in
      let before = try lines(path, newer)
      let file = try DataFile.openForChanges(path, schemas: [older])
      let type = try file.type(named: "Post")
      for (index, object) in Self.cases.enumerated() {
        let stored = try #require(try file.object(of: type, key: ["\(index + 1)"]))
        if !object.change.isEmpty {
          let line = Data("{\"title\":\"\(index + 1)\",\(object.change)}".utf8)
          let error = #expect(throws: ToolError.self) { try file.draft(of: type, json: line) }
          #expect(error?.message.contains("'\(object.part)'") == true)
        }
        let json = String(decoding: try stored.json(), as: UTF8.self)
        let draft = try file.draft(
          of: type, json: Data(json.replacing("\"likes\":0", with: "\"likes\":7").utf8))
        #expect(draft.changes.map(\.name) == ["likes"])
        try file.commit(draft, replacing: stored.version)
      }
      file.close()
      try forget(path)
      #expect(
        try lines(path, newer) == before.map { $0.replacing("\"likes\":0", with: "\"likes\":7") })
    }
  }

  @Test("An export says what it leaves out, and a copy has it")
  func exporting() throws {
    try withObjects { path, newer, older in
      let copy = path + ".copy"
      let file = try DataFile.open(path, schemas: [older])
      var leftOut: [String] = []
      let type = try file.type(named: "Post")
      let count = try file.export(type, leavingOut: { leftOut.append($0) }) { _ in }
      #expect(count == Self.cases.count)
      #expect(
        leftOut == Self.cases.enumerated().map { "Post '\($0 + 1)': '\($1.part)'" })
      _ = try file.copy(to: copy)
      file.close()
      try forget(copy)
      #expect(try lines(copy, newer) == lines(path, newer))
    }
  }
}
