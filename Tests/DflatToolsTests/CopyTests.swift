// Copying objects from one file to another.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("A copy of objects")
struct CopyTests {
  @Test("All types and the dictionary are copied into a new file, and into one with objects")
  func copies() throws {
    try withTemporaryFile { file in
      try file.store((1...1200).map { post($0, likes: $0, photo: "p\($0)") })
      try file.dflat.write(Guild.Writer.self, Guild.Story.self) { txn in
        _ = try txn.insert(Guild.Writer(handle: "ada", name: "Ada"))
        _ = try txn.insert(Guild.Story(id: 1, writer: "ada", labels: ["new"]))
      }
      try file.dflat.write { context in
        var dictionary = context.dictionary
        dictionary["theme"] = "dark"
        dictionary["sizes", [Int].self] = [1, 2]
      }
      let target = file.path + ".copy"
      let data = try DataFile.open(file.path)
      defer { data.close() }
      var seen: [Int] = []
      let copied = try data.copy(to: target) { seen.append($0) }
      #expect(copied.map(\.type) == ["Post", "Story", "Writer", "dictionary"])
      #expect(copied.map(\.inserted) == [1200, 1, 1, 2])
      #expect(seen == seen.sorted() && seen.last == 1204)
      let other = TemporaryFile(path: target)
      #expect(
        other.posts.all().underlyingArray == file.posts.all().underlyingArray)
      #expect(other.dflat.dictionary["theme"] == "dark")
      #expect(other.dflat.dictionary["sizes", [Int].self] == [1, 2])
      #expect(try other.faults(complete: false) == [])
      try other.store([post(5000)])
      try other.change(1) { $0.likes = 77 }
      other.dflat.shutdown()
      let again = try data.copy(to: target, types: ["Post"])
      #expect(again.map(\.updated) == [1] && again.map(\.unchanged) == [1199])
      let end = TemporaryFile(path: target)
      #expect(end.posts.all().count == 1201)
      end.dflat.shutdown()
    }
  }

  @Test("A copy onto itself, into another key, or over a unique value is refused")
  func refusals() throws {
    try withTemporaryFile { file in
      try file.store([post(1, photo: "p")])
      try file.dflat.write(Guild.Writer.self) { _ = try $0.insert(Guild.Writer(handle: "bob")) }
      let data = try DataFile.open(file.path)
      defer { data.close() }
      let link = file.path + ".link"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file.path)
      let itself = #expect(throws: ToolError.self) { try data.copy(to: link) }
      #expect(itself?.description.contains("same file") == true)
      let target = file.path + ".copy"
      let other = TemporaryFile(path: target)
      try other.store([post(2, photo: "p")])
      other.dflat.shutdown()
      let unique = #expect(throws: ToolError.self) { try data.copy(to: target) }
      #expect(unique?.kind == .badData && unique?.description.contains("path") == true)
      #expect(unique?.description.contains("nothing is copied: change or") == true)
      let late = #expect(throws: ToolError.self) {
        try data.copy(to: target, types: ["Writer", "Post"])
      }
      #expect(late?.description.contains("copied are all of Writer: ") == true, "\(late as Any)")
      let schema = file.path + ".fbs"
      try """
      namespace Blog;
      table Post (v: "1.0") { site: string; number: int (primary); }
      root_type Post;
      """.write(toFile: schema, atomically: true, encoding: .utf8)
      let keyed = file.path + ".keyed"
      _ = try Import(into: keyed, type: "Post", schemas: [schema]).run(
        reading: portions(of: #"{"site":"s","number":1}"#))
      let key = #expect(throws: ToolError.self) { try data.copy(to: keyed) }
      #expect(key?.description.contains("another primary key") == true)
    }
  }

  @Test("Objects exchange unique values in a copy, also far from each other")
  func exchanges() throws {
    try withTemporaryFile { file in
      let count: Int32 = 1300
      func photo(_ number: Int32) -> String { "p\(number)" }
      try file.store((1...count).map { post($0, photo: photo($0)) })
      let target = file.path + ".copy"
      let data = try DataFile.open(file.path)
      defer { data.close() }
      let other = TemporaryFile(path: target)
      // A swap, a rotation of three, two that are far apart, and one that is only here.
      var photos = Dictionary(uniqueKeysWithValues: (1...count).map { ($0, photo($0)) })
      photos[1] = photo(2)
      photos[2] = photo(1)
      photos[10] = photo(11)
      photos[11] = photo(12)
      photos[12] = photo(10)
      photos[20] = photo(1250)
      photos[1250] = photo(20)
      try other.store(photos.keys.sorted().map { post($0, photo: photos[$0]) })
      try other.store([post(5000, photo: "other")])
      other.dflat.shutdown()
      let copied = try data.copy(to: target, types: ["Post"])
      #expect(copied.map(\.updated) == [7] && copied.map(\.unchanged) == [1293])
      #expect(copied.map(\.inserted) == [0])
      let end = TemporaryFile(path: target)
      var found: [Int32: String] = [:]
      for post in end.posts.all() {
        if case .photo(let photo)? = post.attachment { found[post.number] = photo.path }
      }
      #expect(found.removeValue(forKey: 5000) == "other")
      #expect(found == Dictionary(uniqueKeysWithValues: (1...count).map { ($0, photo($0)) }))
      #expect(try end.faults(complete: false) == [])
      end.dflat.shutdown()
    }
  }

  @Test("What only a newer schema knows is kept")
  func newerFields() throws {
    try withTemporaryFile { file in
      try file.dflat.write(PRESS.Article.self) { txn in
        _ = try txn.insert(
          PRESS.Article(slug: "a", headline: "new", rank: 9, editor: PRESS.Human(email: "a@b")))
      }
      let target = file.path + ".copy"
      let older = TemporaryFile(path: target)
      try older.dflat.write(Press.Article.self) { txn in
        _ = try txn.insert(Press.Article(slug: "a", title: "old", code: 1, votes: 1))
        _ = try txn.insert(Press.Article(slug: "b", title: "only here", code: 2, votes: 2))
      }
      older.dflat.shutdown()
      let data = try DataFile.open(file.path)
      let copied = try data.copy(to: target)
      data.close()
      #expect(copied.map(\.updated) == [1])
      let newer = TemporaryFile(path: target)
      let articles = newer.dflat.fetch(for: PRESS.Article.self).all()
      #expect(articles.map(\.headline) == ["new", "only here"])
      #expect(articles.first?.editor?.email == "a@b")
      newer.dflat.shutdown()
      // From the file with the newer schema into one that has only the older one.
      let oldest = file.path + ".oldest"
      let third = TemporaryFile(path: oldest)
      try third.dflat.write(Press.Article.self) {
        _ = try $0.insert(Press.Article(slug: "z", code: 3, votes: 3))
      }
      third.dflat.shutdown()
      let back = try DataFile.open(oldest)
      #expect(try back.copy(to: target).map(\.inserted) == [1])
      back.close()
      let end = TemporaryFile(path: target)
      #expect(end.dflat.fetch(for: PRESS.Article.self).all().count == 3)
      let found = end.dflat.fetch(for: PRESS.Article.self).where(PRESS.Article.headline == "new")
      #expect(found.map(\.rank) == [9])
      end.dflat.shutdown()
    }
  }

  @Test("A file to which an older program has written last is read with the newer schema")
  func olderLast() throws {
    try withTemporaryFile { file in
      try file.dflat.write(PRESS.Article.self) { txn in
        _ = try txn.insert(
          PRESS.Article(slug: "a", headline: "new", rank: 9, editor: PRESS.Human(email: "a@b")))
      }
      let older = TemporaryFile(path: file.path)
      try older.dflat.write(Press.Article.self) { txn in
        _ = try txn.insert(Press.Article(slug: "b", title: "old", code: 2, votes: 2))
      }
      older.dflat.shutdown()
      let data = try DataFile.open(file.path)
      defer { data.close() }
      let type = try #require(data.types.first)
      #expect(type.shapes.count == 2)
      #expect(try data.query("Article where headline = 'new' and rank = 9").objects.count == 1)
      let target = file.path + ".copy"
      #expect(try data.copy(to: target).map(\.inserted) == [2])
      let copy = TemporaryFile(path: target)
      let articles = copy.dflat.fetch(for: PRESS.Article.self).all()
      #expect(articles.map(\.editor?.email) == ["a@b", nil])
      copy.dflat.shutdown()
    }
  }
}
