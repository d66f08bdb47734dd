// What files of saved results hold, and files that are none.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@Suite("Files of results")
struct SavedResultTests {
  @Test("Objects of every kind")
  func items() throws {
    var random = SeededGenerator(seed: 21)
    let items = FetchedResult((0..<100).map { _ in RandomItems.item(&random) })
    try withTemporaryPath { file in
      try items.save(to: file)
      #expect(try FetchedResult<Kit.Item>(contentsOf: file) == items)
    }
  }

  @Test("Other versions of the schema read the file, other types do not")
  func versions() throws {
    try withTemporaryPath { file in
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
    try withTemporaryPath { file in
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
