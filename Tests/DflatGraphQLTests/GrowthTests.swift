// How the work of storing a response grows with the response, for each shape that one may have.

import Dflat
import DflatTestSupport
import Testing

@testable import DflatGraphQL

@Suite("GraphQL: storing", .endsSometime)
struct GrowthTests {
  /// An article as generated code stores it.
  private struct Part: GraphQLStorable {
    var slug: String
    var tags: [String] = []
    var people: [String] = []
    var fieldCount = 0

    func _store(in merge: GraphQLMerge) throws {
      try merge.add(Press.Article.self, slug) { draft, rules in
        draft.slug = slug
        // Each has another one, since it is unique.
        draft.code = slug.split(separator: "-").last.flatMap { Int32($0) } ?? -1
        for field in 0..<fieldCount where rules.stores("f\(field)", nil as Int?) {
          draft.title = "stored"
        }
        if rules.stores("tags") {
          draft.tags = rules["tags"].references(tags, draft.tags) { $0 }
        }
        if rules.stores("people") {
          draft.people = rules["people"].objects(people, draft.people, by: { $0.name }) {
            name, stored, rules in
            var person = stored ?? Press.Person()
            if rules.stores("name") { person.name = name }
            return person
          }
        }
      }
    }
  }

  private struct Whole: GraphQLStorable {
    var items: [Part]
    func _store(in merge: GraphQLMerge) throws { try merge.store(items, "items") }
  }

  private struct Response {
    var whole: Whole
    var errors: [GraphQLError] = []
    var pages: [GraphQLListPlace] = []
  }

  private static func error(_ path: GraphQLPathElement...) -> GraphQLError {
    GraphQLError(message: "no", path: path)
  }

  private static func texts(_ count: Int) -> [String] { (0..<count).map { "key-\($0)" } }

  private static func page(_ list: String) -> GraphQLListPlace {
    GraphQLListPlace(
      steps: [.key("items"), .elements, .key(list)], keys: nil, update: .append)
  }

  /// A response of some size for each shape. The article `list` has as many tags and people before.
  private static let shapes: [String: @Sendable (Int) -> Response] = [
    "different objects": { count in
      Response(whole: Whole(items: texts(count).map { Part(slug: $0) }))
    },
    "one object in many places": { count in
      Response(whole: Whole(items: (0..<count).map { _ in Part(slug: "one") }))
    },
    "long lists": { count in
      Response(whole: Whole(items: [Part(slug: "list", tags: texts(count), people: texts(count))]))
    },
    "pages of long lists": { count in
      let new = texts(count).map { "new-\($0)" }
      return Response(
        whole: Whole(items: [Part(slug: "list", tags: new, people: new)]),
        pages: [page("tags"), page("people")])
    },
    "pages that are stored already": { count in
      Response(
        whole: Whole(items: [Part(slug: "list", tags: texts(count), people: texts(count))]),
        pages: [page("tags"), page("people")])
    },
    "an error in each object": { count in
      Response(
        whole: Whole(items: texts(count).map { Part(slug: $0, fieldCount: 1) }),
        errors: (0..<count).map { error("items", .index($0), "f0") })
    },
    "many errors in one object": { count in
      Response(
        whole: Whole(items: [Part(slug: "one", fieldCount: count)]),
        errors: (0..<count).map { error("items", 0, .key("f\($0)")) })
    },
    "an error in each element of a list": { count in
      Response(
        whole: Whole(items: [Part(slug: "list", people: texts(count))]),
        errors: (0..<count).map { error("items", 0, "people", .index($0), "name") })
    },
    "errors in pages": { count in
      Response(
        whole: Whole(items: texts(count).map { Part(slug: $0, tags: ["a"]) }),
        errors: (0..<count).map { error("items", .index($0), "people") },
        pages: [page("tags")])
    },
  ]

  /// The processor time in which a response is stored.
  private func cost(of response: Response, before count: Int) throws -> UInt64 {
    try withTemporaryWorkspace(.memory) { workspace -> UInt64 in
      let dflat = workspace.dflat
      let list = Press.Article(
        slug: "list", people: Self.texts(count).map { Press.Person(name: $0) },
        tags: Self.texts(count), code: -2)
      try dflat.write(Press.Article.self) { txn -> Void in _ = try txn.upsert(list) }
      return try dflat.write(Press.Article.self) { txn -> UInt64 in
        let start = processorTime()
        let rules = MergeRuleNode.root(errors: response.errors, pages: response.pages)
        let merge = GraphQLMerge(rules)
        try response.whole._store(in: merge)
        _ = try merge.carryOut(in: txn)
        return processorTime() - start
      }
    }
  }

  @Test("takes time in proportion to the response", arguments: shapes.keys.sorted())
  func growth(shape: String) throws {
    let response = try #require(Self.shapes[shape])
    func cost(_ count: Int) throws -> UInt64 {
      let costs = try (0..<3).map { _ in try self.cost(of: response(count), before: count) }
      return costs.min() ?? 0
    }
    let (small, large) = (try cost(200), try cost(1600))
    // Eight times as much; squares would be 64 times as much.
    #expect(large < small * 24, "\(shape): \(small) ns, then \(large) ns")
  }
}
