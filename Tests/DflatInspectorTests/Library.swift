// A file with authors, and posts that refer to them.

import DflatTestSupport
import DflatTools
import Foundation
import SQLiteDflat
import Testing

@testable import DflatInspector

private let author = """
  namespace Library;
  table Author { handle: string (primary); name: string; }
  root_type Author;
  """

private let post = """
  include "author.fbs";
  namespace Library;
  enum Status: byte { Draft, Published }
  struct Place { lat: double; lon: double; }
  table Photo { path: string; width: int; }
  table Link { url: string; }
  union Attachment { Photo, Link }
  table Comment { author: string; likes: int; }
  table Post {
    id: long (primary);
    title: string;
    status: Status;
    likes: int (indexed);
    author: string (indexed, references: "Author");
    reviewers: [string] (references: "Author");
    place: Place;
    attachment: Attachment;
    tags: [string];
    comments: [Comment];
  }
  root_type Post;
  """

/// A file in a directory of its own.
struct Library {
  let directory: String
  var path: String { directory + "/library.db" }
  var schemas: [String] { [directory + "/post.fbs", directory + "/author.fbs"] }

  /// Stores objects from lines of JSON.
  func store(_ type: String, _ lines: String) throws {
    var job = try Import(into: path, type: type, schemas: schemas)
    job.isOneTransaction = true
    var rest: Data? = Data(lines.utf8)
    let report = try job.run(reading: {
      defer { rest = nil }
      return rest
    })
    #expect(report.problems.isEmpty, "\(report.problems)")
  }

  /// Stores posts that have a number and nothing else.
  func store(posts numbers: some Sequence<Int>) throws {
    try store("Post", numbers.map { "{\"id\":\($0),\"title\":\"title \($0)\"}\n" }.joined())
  }

  /// Changes the file by the command `sqlite3`, as another program.
  func sqlite3(_ sql: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["sqlite3", path, sql]
    process.standardOutput = Pipe()
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }
}

/// Calls `body` with a file of two authors and three posts.
func withLibrary<R>(_ body: (Library) throws -> R) throws -> R {
  let directory = try makeTemporaryDirectory()
  defer { try? FileManager.default.removeItem(atPath: directory) }
  let library = Library(directory: directory)
  for (name, text) in [("author", author), ("post", post)] {
    try text.write(toFile: "\(directory)/\(name).fbs", atomically: true, encoding: .utf8)
  }
  try library.store(
    "Author",
    """
    {"handle":"ada","name":"Ada"}
    {"handle":"alan","name":"Alan"}
    """)
  try library.store(
    "Post",
    """
    {"id":1,"title":"Tea","status":"Published","likes":12,"author":"ada","reviewers":["alan","eve"],\
    "place":{"lat":1.5,"lon":-2},"attachment_type":"Photo","attachment":{"path":"a.jpg","width":640},\
    "tags":["x","y"],"comments":[{"author":"alan","likes":3}]}
    {"id":2,"title":"Bread","likes":40,"author":"ada"}
    {"id":9223372036854775807,"title":"Salt","likes":7}
    """)
  return try body(library)
}

/// Calls `body` with a client of an inspector that shows the file.
func withInspector<R>(
  _ library: Library, allowsChanges: Bool = false, limits: HTTPLimits = HTTPLimits(),
  _ body: (Client, Inspector) throws -> R
) throws -> R {
  let file =
    try allowsChanges
    ? DataFile.openForChanges(library.path) : DataFile.open(library.path, readerLimit: 4)
  let inspector = try Inspector(file, allowsChanges: allowsChanges, limits: limits)
  defer { inspector.stop() }
  return try body(Client(inspector), inspector)
}
