// Deleting one object by a tool, which follows the rules that the file keeps.

import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Silo
import Testing

@testable import DflatTools

private let schemas = [
  "author": """
  table Author { handle: string (primary); name: string; }
  root_type Author;
  """,
  "post": """
  include "author.fbs";
  table Post {
    id: long (primary);
    author: string (indexed, references: "Author", ondelete: "nullify");
  }
  root_type Post;
  """,
  "comment": """
  include "post.fbs";
  table Comment { id: long (primary); post: long (references: "Post", ondelete: "cascade"); }
  root_type Comment;
  """,
  "loan": """
  include "post.fbs";
  table Loan { id: long (primary); post: long (references: "Post", ondelete: "deny"); }
  root_type Loan;
  """,
  "place": """
  table Place { site: string (primary); number: int (primary); }
  root_type Place;
  """,
  "visit": """
  include "place.fbs";
  table Visit (references: "place: site, number -> Place ondelete cascade") {
    id: long (primary);
    site: string;
    number: int;
  }
  root_type Visit;
  """,
]

/// A file with authors, posts, comments, loans, places and visits.
private struct Rules {
  let directory: String
  var path: String { directory + "/rules.db" }

  func store(_ type: String, _ lines: String) throws {
    var job = try Import(
      into: path, type: type, schemas: schemas.keys.sorted().map { "\(directory)/\($0).fbs" })
    job.isOneTransaction = true
    var rest: Data? = Data(lines.utf8)
    let report = try job.run(reading: {
      defer { rest = nil }
      return rest
    })
    #expect(report.problems.isEmpty, "\(report.problems)")
  }
}

private func withRules(_ body: (Rules, DataFile) throws -> Void) throws {
  let directory = try makeTemporaryDirectory()
  defer { try? FileManager.default.removeItem(atPath: directory) }
  let rules = Rules(directory: directory)
  for (name, text) in schemas {
    try text.write(toFile: "\(directory)/\(name).fbs", atomically: true, encoding: .utf8)
  }
  try rules.store("Author", #"{"handle":"ada","name":"Ada"}"#)
  try rules.store(
    "Post", "{\"id\":1,\"author\":\"ada\"}\n{\"id\":2,\"author\":\"ada\"}\n{\"id\":3}")
  try rules.store("Comment", "{\"id\":1,\"post\":1}\n{\"id\":2,\"post\":1}\n{\"id\":3,\"post\":2}")
  try rules.store("Loan", #"{"id":1,"post":3}"#)
  try rules.store(
    "Place", "{\"site\":\"a\",\"number\":1}\n{\"site\":\"a\",\"number\":2}")
  try rules.store(
    "Visit",
    """
    {"id":1,"site":"a","number":1}
    {"id":2,"site":"a","number":2}
    {"id":3,"site":"b","number":1}
    """)
  // Nothing is given: the rules are those of the schemas that the file keeps.
  let file = try DataFile.openForChanges(rules.path)
  defer { file.close() }
  try body(rules, file)
}

extension DataFile {
  fileprivate func stored(_ name: String, _ key: String...) throws -> (StoredObject, StoredType) {
    let type = try type(named: name)
    return (try #require(try object(of: type, key: key)), type)
  }
}

@Suite("Deleting by a tool")
struct DeletingTests {
  @Test("What refers to an object is deleted or loses its key, as was said before")
  func rules() throws {
    try withRules { _, file in
      let (post, posts) = try file.stored("Post", "1")
      let deletion = try file.deletion(of: post, in: posts)
      #expect(deletion.effects == [.init(type: "Comment", deleted: 2, changed: 0)])
      #expect(try file.count("Post") == 3)
      try file.delete(post, in: posts, ifStill: deletion.version)
      #expect(try file.count("Post") == 2)
      #expect(try file.query("Comment").objects.map(\.key) == [["3"]])
      let (author, authors) = try file.stored("Author", "ada")
      let other = try file.deletion(of: author, in: authors)
      #expect(other.effects == [.init(type: "Post", deleted: 0, changed: 1)])
      try file.delete(author, in: authors, ifStill: other.version)
      #expect(try file.count("Author") == 0)
      #expect(try file.count("Post where author is null") == 2)
      #expect(try file.check().findings.allSatisfy { $0.severity == .note })
    }
  }

  @Test("An object that must not be deleted stays, and the one that refers to it is named")
  func denied() throws {
    try withRules { _, file in
      let (post, posts) = try file.stored("Post", "3")
      let error = #expect(throws: ToolError.self) { try file.deletion(of: post, in: posts) }
      #expect(error?.message.contains("post of Loan (id: 1) refers to it") == true, "\(error!)")
      #expect(throws: ToolError.self) { try file.delete(post, in: posts, ifStill: "") }
      #expect(try file.count("Post") == 3)
    }
  }

  @Test("References by several fields have rules, too")
  func compound() throws {
    try withRules { _, file in
      let (place, places) = try file.stored("Place", "a", "1")
      let deletion = try file.deletion(of: place, in: places)
      #expect(deletion.effects == [.init(type: "Visit", deleted: 1, changed: 0)])
      try file.delete(place, in: places, ifStill: deletion.version)
      #expect(try file.query("Visit").objects.map(\.key) == [["2"], ["3"]])
    }
  }

  @Test("Nothing is deleted if the object, or what refers to it, has changed")
  func conflicts() throws {
    try withRules { rules, file in
      let (post, posts) = try file.stored("Post", "1")
      let seen = try file.deletion(of: post, in: posts).version
      try rules.store("Comment", #"{"id":4,"post":1}"#)
      #expect(throws: DraftConflict.self) { try file.delete(post, in: posts, ifStill: seen) }
      let again = try file.deletion(of: post, in: posts)
      #expect(again.effects == [.init(type: "Comment", deleted: 3, changed: 0)])
      try rules.store("Post", #"{"id":1,"author":"eve"}"#)
      #expect(throws: DraftConflict.self) {
        try file.delete(post, in: posts, ifStill: again.version)
      }
      #expect(try file.count("Post") == 3)
      let last = try file.deletion(of: post, in: posts).version
      try file.delete(post, in: posts, ifStill: last)
      #expect(throws: DraftConflict.self) { try file.delete(post, in: posts, ifStill: last) }
      #expect(throws: DraftConflict.self) { try file.deletion(of: post, in: posts) }
    }
  }

  @Test("A file that was opened for reading, and a type with several versions, lose nothing")
  func refused() async throws {
    try withRules { rules, _ in
      let reading = try DataFile.open(rules.path)
      defer { reading.close() }
      let (post, posts) = try reading.stored("Post", "1")
      #expect(throws: ToolError.self) { try reading.deletion(of: post, in: posts) }
    }
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let workspace = SQLiteWorkspace(filePath: "\(directory)/test.db")
    try await Silos(in: workspace)[Chore.self].save(
      Chore(id: 7, title: "wash", done: true, tags: []))
    await workspace.shutdown()
    // An older version is in the same file, with values that a migration may still bring over.
    let connection = try Connection(path: "\(directory)/test.db")
    try connection.execute(StoredTables.mainTableStatement("chores_v1", keyTypes: ["INTEGER"]))
    try connection.close()
    let file = try DataFile.openForChanges("\(directory)/test.db")
    defer { file.close() }
    let type = try #require(file.types.first { $0.table == "chores_v2" })
    let chore = try #require(try file.object(of: type, key: ["7"]))
    let error = #expect(throws: ToolError.self) { try file.deletion(of: chore, in: type) }
    #expect(error?.message.contains("chores_v1") == true)
  }
}
