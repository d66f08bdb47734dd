// Queries as text mean what typed conditions mean.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("Queries as text")
struct QueryTextTests {
  /// A file with items, and what a workspace knows of them.
  private func withItems<R>(
    _ items: [Kit.Item], _ body: (TemporaryFile, DataFile) throws -> R
  ) throws -> R {
    try withTemporaryFile { file in
      for item in items {
        _ = try file.write([Kit.Item.self]) { txn in
          _ = txn.try(submit: Kit.ItemChangeRequest.creationRequest(item))
        }
      }
      let data = try DataFile.open(file.path)
      defer { data.close() }
      return try body(file, data)
    }
  }

  /// The key of an item. Two spellings of one character are equal strings in Swift, so texts are
  /// compared as bytes.
  private struct Key: Hashable {
    private struct NoKey: Error {}

    private let name: [UInt8]
    private let serial: UInt64

    init(_ name: String, _ serial: UInt64) {
      self.name = Array(name.utf8)
      self.serial = serial
    }

    init(_ values: [String: JSONValue]) throws {
      guard case .string(let name)? = values["name"] else { throw NoKey() }
      switch values["serial"] {
      case .integer(let serial)?: self.init(name, UInt64(serial))
      case .unsigned(let serial)?: self.init(name, serial)
      default: throw NoKey()
      }
    }
  }

  @Test("A typed query that is printed as text has the same answer")
  func agreement() throws {
    let rounds = isLongRun ? 400 : 2
    try withSeed { random in
      var (asked, skipped) = (0, 0)
      for _ in 0..<rounds {
        var generator = random
        let items = (0..<60).map { _ in RandomItems.item(&generator) }
        try withItems(items) { file, data in
          let queries = Kit.Item.randomQueries()
          let ids = Dictionary(
            uniqueKeysWithValues: file.dflat.fetch(for: Kit.Item.self).all().map {
              (Key($0.name, $0.serial), $0._rowid)
            })
          for _ in 0..<100 {
            let query = queries.query(&generator)
            guard let text = query.text(of: Kit.Item._schema, named: "Item") else {
              skipped += 1
              continue
            }
            asked += 1
            let expected = query.fetch(file.dflat).map(\._rowid)
            let found = try data.query(text, selecting: "name, serial").objects.map {
              ids[try Key($0.values())]
            }
            #expect(found == expected.map(Optional.some), "DFLAT_SEED=\(random.seed): \(text)")
            if found != expected.map(Optional.some) { return }
            #expect(try data.count(text) == expected.count, "\(text)")
          }
        }
        random = generator
      }
      #expect(asked > skipped, "\(skipped) of \(asked + skipped) queries have no text")
    }
  }

  @Test(
    "The forms of a condition",
    arguments: [
      ("", 5), ("where likes > 10", 2), ("where likes > 10 and attachment is Photo", 1),
      ("where attachment is not null", 3), ("where attachment is null", 2),
      ("where not attachment is Photo", 4), ("where attachment is not Photo", 4),
      ("where attachment.Photo.path = 'p'", 1), ("where attachment.as(Photo).path == \"p\"", 1),
      ("where status = Draft", 1), ("where status in (Draft, Archived)", 2),
      ("where status not in ('Draft')", 4), ("where number between 2 and 3", 2),
      ("where number not between 2 and 3", 3), ("where author.handle like 'a%'", 1),
      ("where author.handle.caseInsensitive = 'ADA'", 1), ("where author is null", 4),
      ("where author = null", 4), ("where place.lat + 1 > 2.4", 1), ("where is_pinned", 1),
      ("where not is_pinned and likes >= 0", 4), ("where 'a' in tags", 1),
      ("where tags.contains('a')", 1), ("where tags.any { $0.hasPrefix('b') }", 1),
      ("where tags.count = 0", 4), ("where likes > 2.5", 3), ("where likes = 2.5", 0),
      ("where likes < 99999999999999999999999999", 5), ("where likes = 3000000000", 0),
      ("WHERE likes > 0 OR number = 1 ORDER BY number DESC LIMIT 2", 2),
      ("order by likes desc, number limit 3 offset 4", 1), ("where `number` = 1", 1),
      ("where abs(likes - 11) <= 1", 1), ("where attachment = Photo", 1),
      ("where attachment in (Photo, Link)", 3), ("where true", 5), ("where -likes < -10", 2),
    ])
  func forms(text: String, count: Int) throws {
    try withPosts { _, data in
      let found = try data.query("Post " + text).objects.count
      let counted = try data.count("Post " + text)
      #expect(found == count && counted == count, "\(text)")
    }
  }

  private func withPosts<R>(_ body: (TemporaryFile, DataFile) throws -> R) throws -> R {
    try withTemporaryFile { file in
      try file.store([
        post(1, likes: 11, photo: "p"), post(2, likes: 40, link: "https://a"),
        post(3, likes: 3, link: "https://b"),
        Post(
          site: "s", number: 4, status: .draft, place: Blog.Place(lat: 1.5, lon: 2),
          author: Blog.Author(handle: "ada", name: "Ada"), tags: ["a", "bc"], isPinned: true),
        Post(site: "s", number: 5, status: .archived),
      ])
      let data = try DataFile.open(file.path)
      defer { data.close() }
      return try body(file, data)
    }
  }

  @Test("A selection has values, with the names of enums")
  func selection() throws {
    try withPosts { _, data in
      let answer = try data.query(
        "Post order by number limit 2", selecting: "number, likes * 2, status, author.handle")
      #expect(answer.columns == ["number", "likes * 2", "status", "author.handle"])
      let lines = try answer.objects.map { String(decoding: try $0.json(), as: UTF8.self) }
      #expect(
        lines == [
          #"{"author.handle":null,"likes * 2":22,"number":1,"status":"Published"}"#,
          #"{"author.handle":null,"likes * 2":80,"number":2,"status":"Published"}"#,
        ])
    }
  }

  @Test("An explanation names the indexes that are used")
  func explanation() throws {
    try withPosts { file, data in
      let plan = try data.explain("Post where likes > 10 order by likes")
      #expect(plan.indexes == ["blog__post_v1_0__f10"])
      #expect(plan.rowByRow == nil)
      #expect(file.fileExists())
    }
  }

  @Test(
    "An error has its place and says what could be meant",
    arguments: [
      ("Post where lkes > 1", "no field 'lkes' in Post: did you mean 'likes'?", "lkes"),
      ("Pst where likes > 1", "did you mean 'Post'?", "Pst"),
      ("Post were likes > 1", "did you mean 'where'?", "were"),
      ("Post where likes > 'a'", "a whole number cannot be compared with this", "'a'"),
      ("Post where status = Drft", "no value 'Drft' in Status: did you mean 'Draft'?", "Drft"),
      ("Post where attachment is Poto", "did you mean 'Photo'?", "Poto"),
      ("Post where likes >", "a field or a value is missing at the end", ""),
      ("Post where likes > 1)", "is expected here", ")"),
      ("Post where (likes > 1", "')' is missing", ""),
      ("Post where 1 < likes < 3", "comparisons cannot be chained", "<"),
      ("Post where likes", "this is a whole number, and no condition", "likes"),
      ("Post where author.hndle = 'a'", "did you mean 'handle'?", "hndle"),
      ("Post where site = 'a", "the text has no end", "'a"),
      ("Post where site = \"\\q\"", "there is no such escape", "\\q"),
      ("Post where likes & 1", "'&' has no meaning here", "&"),
      ("Post where $0 = 1", "there is no element $0 here", "$0"),
      ("Post where foo(likes) = 1", "there is no function 'foo'", "foo"),
      ("Post limit x", "the limit is a whole number", "x"),
      ("Post where tags = 'a'", "a vector cannot be compared", "tags"),
      ("Post where likes + site > 1", "a text has no arithmetic", "site"),
      ("", "the name of a type is missing", ""),
    ])
  func errors(text: String, message: String, place: String) throws {
    try withPosts { _, data in
      do {
        _ = try data.query(text)
        Issue.record("no error: \(text)")
      } catch let error as QueryTextError {
        #expect(error.description.contains(message), "\(error)")
        let bytes = Array(text.utf8)
        #expect(String(decoding: bytes[error.range], as: UTF8.self) == place, "\(error)")
        #expect(error.description.contains("^"))
      }
    }
  }

  @Test("The caret stands below the place, also behind wide characters and on a second line")
  func caret() throws {
    let error = #expect(throws: QueryTextError.self) {
      try withPosts { _, data in try data.query("Post where\n\tsite = 'ä' and lkes > 1") }
    }
    #expect(
      error?.description
        == "no field 'lkes' in Post: did you mean 'likes'?\n   site = 'ä' and lkes > 1\n"
        + "                  ^~~~")
  }

  @Test("Any text is an error or a query, and never a crash")
  func anyText() throws {
    let words = [
      "Post", "where", "likes", "author", "tags", "attachment", "Photo", ".", "(", ")", "[", "]",
      "{", "}", ",", "=", "<", "and", "or", "not", "in", "is", "null", "between", "like", "order",
      "by", "limit", "1", "-", "+", "*", "'a'", "\"b\"", "$0", "any", "all", "status", "Draft", "%",
      "true", "as", "match", "contains", "hasPrefix", "count", "isNull", "site", "!", "`", "\u{0}",
      "9999999999999999999999", "1e400", "nan", ":", "escape", "search", "abs",
    ]
    try withPosts { _, data in
      try withSeed { random in
        for _ in 0..<(isLongRun ? 100_000 : 300) {
          let count = Int.random(in: 0..<20, using: &random)
          let text =
            (random.oneIn(4) ? "" : "Post where ")
            + (0..<count).map { _ in random.pick(words) }.joined(
              separator: random.oneIn(3) ? "" : " ")
          do { _ = try data.query(text) } catch is QueryTextError {}
        }
        for sign in ["(", "not ", "-", "!", "tags.any { "] {
          let text = "Post where " + String(repeating: sign, count: 20_000)
          #expect(throws: QueryTextError.self) { try data.query(text) }
        }
        for sign in [" + 1", ".a"] {
          let text = "Post where likes" + String(repeating: sign, count: 20_000)
          #expect(throws: QueryTextError.self) { try data.query(text) }
        }
        let long = (0..<1000).map { "number = \($0)" }.joined(separator: " or ")
        #expect(try data.count("Post where " + long) == 5)
      }
    }
  }

  @Test("What is nested as deeply as it may be takes little stack, and each part is looked at once")
  func deepTexts() throws {
    try withPosts { _, data in
      func nested(_ open: String, _ inner: String, _ close: String) -> String {
        String(repeating: open, count: 18) + inner + String(repeating: close, count: 18)
      }
      // If parts were looked at twice at each level, these would never end.
      let texts = [
        nested("(", "likes > 5", ")"), nested("not ", "isPinned", ""),
        nested("(", "likes between 0 and 90", ") between false and true"),
        "likes > " + nested("- ", "5", ""), "likes + " + nested("(", "1", " + 1)") + " > 5",
        nested("(", "likes in (1, 11)", ") = true"),
        "likes = " + nested("1 + (", "likes - 18", ")"),
        nested("tags.count > 0 or (", "likes > 5", ")"),
        "attachment" + String(repeating: ".as(Photo)", count: 18) + ".width > 0",
      ]
      let counts = try onSmallStack {
        texts.map { text -> Int? in try? data.count("Post where " + text) }
      }
      #expect(counts.count == texts.count && counts[0] == 2, "\(counts)")
    }
  }
}
