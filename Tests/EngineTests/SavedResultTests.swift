// Results in files, which are read before a database is open.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@Suite("Saved results")
struct SavedResultTests {
  private func withFile(_ body: (URL) throws -> Void) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try body(URL(fileURLWithPath: directory + "/result"))
  }

  @Test("A result is read as it was saved", arguments: TestEngine.all)
  func roundTrip(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...50).map { post($0, likes: -$0, photo: "\($0)") })
      try withFile { file in
        let result = workspace.posts.all(orderBy: [Post.likes.ascending])
        try result.save(to: file)
        let read = try FetchedResult<Post>(contentsOf: file)
        #expect(read == result && read.first?._rowid == -1)
        try FetchedResult<Post>([]).save(to: file)
        #expect(try FetchedResult<Post>(contentsOf: file).isEmpty)
        let directory = file.deletingLastPathComponent().path
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 1)
        #expect(throws: CocoaError.self) {
          try FetchedResult<Post>(contentsOf: file.appendingPathExtension("x"))
        }
      }
      // What was read is found by its key.
      _ = try workspace.write([Post.self]) { _ in
        let request = Blog.PostChangeRequest.changeRequest(post(7))
        #expect(request?.likes == -7)
      }
    }
  }

  @Test("Objects of every kind")
  func items() throws {
    var random = SeededGenerator(seed: 21)
    let items = FetchedResult((0..<100).map { _ in RandomItems.item(&random) })
    try withFile { file in
      try items.save(to: file)
      #expect(try FetchedResult<Kit.Item>(contentsOf: file) == items)
    }
  }

  @Test("Other versions of the schema read the file, other types do not")
  func versions() throws {
    try withFile { file in
      let new = PRESS.Article(
        slug: "a", headline: "text", footnotes: [PRESS.Footnote(text: "note")], score: 1.5)
      try FetchedResult([new]).save(to: file)
      let old = try FetchedResult<Press.Article>(contentsOf: file)
      #expect(old.map(\.title) == ["text"])
      try old.save(to: file)
      #expect(try FetchedResult<PRESS.Article>(contentsOf: file).map(\.self) == [new])
      #expect(
        throws: SavedObjectsError.otherTable(
          expected: Post._schema.table, found: Press.Article._schema.table)
      ) { try FetchedResult<Post>(contentsOf: file) }
    }
  }

  @Test("A damaged file is an error, wherever it is damaged")
  func damaged() throws {
    try withFile { file in
      let posts = FetchedResult((1...5).map { post($0, likes: $0, link: "https://\($0)") })
      try posts.save(to: file)
      let data = try Data(contentsOf: file)
      var random = SeededGenerator(seed: 4)
      for place in 0..<data.count {
        var changed = data
        changed[place] ^= UInt8.random(in: 1...255, using: &random)
        try changed.write(to: file)
        #expect(throws: SavedObjectsError.self) { try FetchedResult<Post>(contentsOf: file) }
        try data.prefix(place).write(to: file)
        #expect(throws: SavedObjectsError.self) { try FetchedResult<Post>(contentsOf: file) }
      }
      try (data + [0]).write(to: file)
      #expect(throws: SavedObjectsError.self) { try FetchedResult<Post>(contentsOf: file) }
      try Data().write(to: file)
      #expect(throws: SavedObjectsError.otherFormat) { try FetchedResult<Post>(contentsOf: file) }
      try Data("SQLite format 3\0and more than a header has".utf8).write(to: file)
      #expect(throws: SavedObjectsError.otherFormat) { try FetchedResult<Post>(contentsOf: file) }
    }
  }
}
