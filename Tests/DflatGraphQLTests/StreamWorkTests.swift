// How much is decoded and stored of a response whose lists come element by element.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import Testing

@testable import DflatGraphQL

// They count in the same places.
@Suite("GraphQL: the work of long streams", .serialized, .endsSometime)
struct StreamWorkTests {
  private struct Part: GraphQLStorable, Codable, Hashable, Sendable {
    static let decoded = Mutex(0)
    static let stored = Mutex(0)
    var slug: String
    var title: String?
    enum CodingKeys: CodingKey { case slug, title }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      slug = try values.decode(String.self, forKey: .slug)
      title = try values.decodeIfPresent(String.self, forKey: .title)
      Self.decoded.withLock { $0 += 1 }
    }

    func _store(in merge: GraphQLMerge) throws {
      Self.stored.withLock { $0 += 1 }
      try merge.add(Press.Article.self, slug) { draft, rules in
        draft.slug = slug
        draft.code = Int32(slug.dropFirst()) ?? -1
        if rules.stores("title", title) { draft.title = title ?? "" }
      }
    }
  }

  private struct Whole: GraphQLStorable, Codable, Hashable, Sendable {
    var others: [Part]
    var items: [Part]
    func _store(in merge: GraphQLMerge) throws {
      try merge.store(others, "others")
      try merge.store(items, "items")
    }
  }

  /// The payloads of a list of some length, each for one element, which gets its title later.
  private func payloads(_ count: Int) -> [String] {
    let others = (1...count).map { #"{"slug": "a-\#($0)"}"# }.joined(separator: ", ")
    return [#"{"data": {"others": [\#(others)], "items": []}, "hasNext": true}"#]
      + (0..<count).map {
        #"{"path": ["items", \#($0)], "items": [{"slug": "s\#($0)"}], "hasNext": true}"#
      }
      + (0..<count).map {
        #"{"path": ["items", \#($0)], "data": {"title": "t\#($0)"}, "hasNext": \#($0 < count - 1)}"#
      }
  }

  @Test("is in proportion to the stream, and the whole is decoded when it is asked for")
  func work() throws {
    for count in [10, 40] {
      try withTemporaryWorkspace(.memory) { workspace in
        let dflat = workspace.dflat
        var decoder = GraphQLIncrementDecoder<Whole>()
        (Part.decoded.withLock { $0 = 0 }, Part.stored.withLock { $0 = 0 })
        var last: GraphQLIncrement<Whole>?
        for payload in payloads(count) {
          let increment = try #require(try decoder.decode(Data(payload.utf8)))
          _ = try dflat.write(Press.Article.self) { txn in try txn.store(increment) }
          last = increment
        }
        // Each element twice, and the list that no payload is about once.
        #expect(Part.decoded.withLock { $0 } == count + 2 * count)
        #expect(Part.stored.withLock { $0 } == count + 2 * count)
        let data = try #require(last?.response.data)
        #expect(data.items.map(\.title) == (0..<count).map { "t\($0)" })
        #expect(last?.response.data == data && last?.hasNext == false)
        let stored = dflat.fetch(for: Press.Article.self).all()
        #expect(Set(stored.map(\.title)) == Set(data.items.map { $0.title ?? "" } + [""]))
      }
    }
  }

  /// An article with a streamed list, beside a value that is no list for the operation.
  private struct Tagged: GraphQLStorable, Codable, Hashable, Sendable {
    struct Outline: Codable, Hashable, Sendable {
      var points: [Int]
      init(from decoder: any Decoder) throws {
        points = try [Int](from: decoder)
        if points.count < 5 { throw GraphQLError(message: "no outline") }
      }
    }
    var slug: String
    var tags: [String]
    var outline: Outline
    func _store(in merge: GraphQLMerge) throws {
      try merge.add(Press.Article.self, slug) { draft, rules in
        draft.slug = slug
        if rules.stores("tags") {
          draft.tags = rules["tags"].references(tags, draft.tags) { $0 }
        }
      }
    }
  }

  private struct TaggedQuery: GraphQLQuery {
    static let operationName = "Tagged"
    static let document = "query Tagged { article { slug tags @stream outline } }"
    var variables = GraphQLNoVariables()
    struct Data: GraphQLStorable, Codable, Hashable, Sendable {
      var article: Tagged
      func _store(in merge: GraphQLMerge) throws { try merge.store(article, "article") }
    }
  }

  @Test(
    "is that of one transaction for all payloads of a piece, after which the same is stored",
    arguments: [30, 1000, 10_000, .max])
  func pieces(size: Int) async throws {
    let count = 300
    let payloads =
      [
        #"{"data": {"article": {"slug": "a", "tags": [], "outline": [1, 2, 3, 4, 5]}}, "hasNext": true}"#
      ]
      + (0..<count).map {
        #"{"path": ["article", "tags", \#($0)], "items": ["t\#($0)"], "hasNext": \#($0 < count - 1)}"#
      }
    let body = payloads.map { "\r\n---\r\n\r\n\($0)" }.joined() + "\r\n-----"
    try await withTemporaryWorkspace(.memory) { workspace in
      let dflat = workspace.dflat
      var writes = 0
      let increments = TaggedQuery.increments(
        from: Chunks(body, every: size), contentType: "multipart/mixed; boundary=-")
      for try await increment in increments {
        _ = try await dflat.write(Press.Article.self) { txn in try txn.store(increment) }
        writes += 1
      }
      // Each payload alone where no piece has two of them.
      #expect(size == 30 ? writes == count + 1 : writes <= body.utf8.count / size + 1)
      #expect(
        dflat.fetch(for: Press.Article.self).all().map(\.tags) == [(0..<count).map { "t\($0)" }])
    }
  }

  @Test("is that of one decoding where the program asks for the whole, as often as it does")
  func wholes() throws {
    var decoder = GraphQLIncrementDecoder<Whole>()
    let increments = try payloads(3).compactMap { try decoder.decode(Data($0.utf8)) }
    let counts = increments.map { $0.response.data?.items.count }
    #expect(counts == [0, 1, 2, 3, 3, 3, 3])
    var changed = increments[3]
    changed.response.data?.items.removeFirst()
    #expect(changed != increments[3] && changed.response.data?.items.count == 2)
    #expect(changed.part == nil && increments[3].part != nil)
  }

  @Test("finds what is wrong in a part where it is in the whole")
  func mistakes() throws {
    var decoder = GraphQLIncrementDecoder<Whole>()
    for payload in payloads(3).prefix(4) { _ = try decoder.decode(Data(payload.utf8)) }
    let error = #expect(throws: GraphQLDecodingError.self) {
      try decoder.decode(Data(#"{"path": ["items", 3], "items": [{"slug": 7}]}"#.utf8))
    }
    #expect(error?.path == ["data", "items", 3, "slug"])
  }
}
