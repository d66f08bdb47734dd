// How often objects in lists of lists are converted when they are merged into stored ones.

import DflatTestSupport
import Testing

@testable import DflatGraphQL

@Suite("GraphQL: lists in the elements of lists", .endsSometime)
struct NestedListTests {
  /// An object of a response, with a list of such objects.
  private final class Selected: Sendable {
    let id: String?
    let items: [Selected?]
    init(_ id: String?, _ items: [Selected?]) { (self.id, self.items) = (id, items) }

    /// Objects of some depth, and beside each what is said.
    static func nest(_ depth: Int, beside other: Selected?) -> Selected {
      Selected("\(depth)", depth == 0 ? [] : [nest(depth - 1, beside: other), other])
    }
  }

  /// What is stored of it, merged as generated code does it.
  private struct Stored: Equatable {
    var id: String?
    var items: [Stored] = []

    static func merged(
      _ stored: Stored?, _ selected: Selected, _ rules: GraphQLMergeRules, byKey: Bool,
      _ count: inout Int
    ) -> Stored? {
      count += 1
      guard rules.isWhole || selected.id != nil else { return stored }
      var merged = stored ?? Stored()
      merged.id = selected.id
      if rules.stores("items") {
        let (inner, before) = (rules["items"], merged.items)
        merged.items =
          byKey
          ? inner.objects(selected.items, before, by: { $0.id }) { selected, stored, rules in
            selected.flatMap { Self.merged(stored, $0, rules, byKey: byKey, &count) }
          }
          : inner.objects(selected.items, before) { selected, stored, rules in
            selected.flatMap { Self.merged(stored, $0, rules, byKey: byKey, &count) }
          }
      }
      return merged
    }
  }

  /// An error that is below the first elements of all lists.
  private static func error(_ depth: Int) -> GraphQLError {
    let way = (0..<depth).flatMap { _ in [.key("items"), .index(0)] as [GraphQLPathElement] }
    return GraphQLError(message: "no", path: way + [.key("other")])
  }

  @Test(
    "are converted once where they are new, and twice at each depth where they are merged",
    arguments: [true, false], [nil, "key", "no key"])
  func work(byKey: Bool, other: String?) {
    let other = other.map { Selected($0 == "key" ? "other" : nil, []) }
    for hasError in [false, true] {
      let counts = [6, 12].map { depth in
        let selected = Selected.nest(depth, beside: other)
        let rules = MergeRuleNode.root(errors: hasError ? [Self.error(depth)] : [], pages: [])
        var count = 0
        let stored = Stored.merged(
          nil, selected, GraphQLMergeRules(nil), byKey: byKey, &count)
        _ = Stored.merged(stored, selected, GraphQLMergeRules(rules), byKey: byKey, &count)
        return count
      }
      // Twice the depth. An element that is merged is converted before to find its key, with all
      // that is in it, so this may be four times as much; if lists doubled it, 64 times.
      #expect(counts[1] <= counts[0] * 4, "\(hasError): \(counts)")
    }
  }
}
