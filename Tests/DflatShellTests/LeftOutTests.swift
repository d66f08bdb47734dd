// Objects that cannot be read, and schemas that do not fit: nothing is left out without a word.

import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@testable import DflatShell

@Suite("What a command leaves out")
struct LeftOutTests {
  private static let schemas = [
    "note": "table Note { id: int (primary); d: double; } root_type Note;",
    "text": "table Note { id: int (primary); d: string; } root_type Note;",
    "key": "table Note { id: string (primary); d: double; } root_type Note;",
    "more": "table Note { id: int (primary); d: double; e: [int]; } root_type Note;",
    "author": "table Author { id: string (primary); name: string; } root_type Author;",
    "post": """
    include "author.fbs";
    table Post { id: int (primary); author: string (references: "Author"); }
    root_type Post;
    """,
  ]

  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (name, text) in Self.schemas {
      try text.write(toFile: "\(folder)/\(name).fbs", atomically: true, encoding: .utf8)
    }
    try body(folder)
  }

  private func store(_ type: String, _ lines: String, _ schema: String, in folder: String) throws
    -> (status: Int32, output: String, errors: String)
  {
    let input = "\(folder)/input.jsonl"
    try lines.write(toFile: input, atomically: true, encoding: .utf8)
    let result = run([
      "import", "\(folder)/test.db", type, input, "--schema", "\(folder)/\(schema).fbs", "--yes",
    ])
    return (result.status, result.output, result.errors)
  }

  @Test("An object that is damaged is named, and the status is 1")
  func damaged() throws {
    try withFolder { folder in
      let path = "\(folder)/test.db"
      let lines = "{\"id\":1,\"d\":1}\n{\"id\":2,\"d\":2}\n{\"id\":3,\"d\":3}"
      let stored = try store("Note", lines, "note", in: folder)
      #expect(stored.status == 0, "\(stored.errors)")
      let connection = try Connection(path: path)
      try connection.execute("UPDATE note SET p = x'0102030405060708' WHERE rowid = 2")
      try connection.close()
      let verbs = [
        ["export", path, "Note"], ["query", path, "Note"], ["get", path, "Note", "2"],
        ["copy", path, "\(folder)/copy.db", "--yes"], ["diff", path, "\(folder)/copy.db"],
        ["diff", "\(folder)/copy.db", path],
      ]
      for verb in verbs {
        let result = run(verb)
        #expect(result.status == 1, "\(verb): \(result.errors)")
        #expect(result.errors.contains("left out: corruptRow: table note, row 2"), "\(verb)")
        #expect(result.errors.contains("next: dflat check \(path)"), "\(verb)")
        #expect(!result.errors.contains("there is no Note"))
      }
      #expect(run(["export", "\(folder)/copy.db", "Note"]).status == 0)
    }
  }

  @Test("A schema that does not fit the stored objects is refused before anything is stored")
  func unfit() throws {
    try withFolder { folder in
      _ = try store("Note", #"{"id":1,"d":2.5}"#, "note", in: folder)
      let text = try store("Note", #"{"id":9,"d":"x"}"#, "text", in: folder)
      #expect(text.status == 65 && text.errors.contains("d is string, and double in the store"))
      let key = try store("Note", #"{"id":"9","d":1}"#, "key", in: folder)
      #expect(key.status == 65 && key.errors.contains("id is string, and int in the store"))
      let more = try store("Note", #"{"id":2,"d":1,"e":[7]}"#, "more", in: folder)
      #expect(more.status == 0, "\(more.errors)")
      let all = run(["export", "\(folder)/test.db", "Note"])
      #expect(all.status == 0 && all.output.split(separator: "\n").count == 2, "\(all.output)")
    }
  }

  @Test("References to a type of an included schema are kept")
  func references() throws {
    try withFolder { folder in
      _ = try store("Author", #"{"id":"a","name":"Ada"}"#, "author", in: folder)
      _ = try store("Post", #"{"id":1,"author":"a"}"#, "post", in: folder)
      let found = run(["query", "\(folder)/test.db", "Post where author.name = 'Ada'", "--count"])
      #expect(found.status == 0 && found.output == "1\n", "\(found.errors)")
    }
  }
}
