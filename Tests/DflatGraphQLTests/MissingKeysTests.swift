// Which keys of a page a stored list lacks.

import SeededRandom
import Testing

@testable import DflatGraphQL

@Suite("GraphQL: keys of a page that a list lacks")
struct MissingKeysTests {
  private func expected<Key, Mark: Hashable>(
    _ page: [Key], _ list: [Key], _ mark: (Key) -> Mark
  ) -> [Key] {
    var seen = Set(list.map(mark))
    return page.filter { seen.insert(mark($0)).inserted }
  }

  @Test("are found as sets find them: texts, which differ if their bytes differ, and numbers")
  func models() {
    var random = SeededGenerator(seed: testSeed())
    let parts = [
      "a", "b", "K", "\u{212A}", "e\u{301}", "\u{E9}", ";", "\u{37E}", "", "0123456789abcdef",
    ]
    for _ in 0..<2000 {
      func texts(_ parts: ArraySlice<String>) -> [String] {
        (0..<Int.random(in: 0...12, using: &random)).map { _ in
          (parts.randomElement(using: &random) ?? "") + (parts.randomElement(using: &random) ?? "")
        }
      }
      let (page, list) = (
        texts(parts[...]), texts(parts.prefix(Int.random(in: 1...10, using: &random)))
      )
      let missing = page.missing(in: list).map { Array($0.utf8) }
      #expect(
        missing == expected(page, list) { Array($0.utf8) }.map { Array($0.utf8) },
        "\(page) \(list)")
      let (numbers, others) = (page.map(\.utf8.count), list.map(\.utf8.count))
      #expect(numbers.missing(in: others) == expected(numbers, others) { $0 })
      #expect(
        numbers.map(Int64.init).missing(in: others.map(Int64.init))
          == expected(numbers, others) { $0 }.map(Int64.init))
    }
  }

  @Test("are compared as bytes in lists of objects, too")
  func elementKeys() {
    let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    #expect(GraphQLElementKey(composed) != GraphQLElementKey(decomposed))
    #expect(GraphQLElementKey(composed) == GraphQLElementKey(composed))
    let rules = MergeRuleNode()
    rules.setUpdate(.append)
    let merged: [String] = rules.merged([composed], [decomposed], by: { $0 }, keepsUnknown: false) {
      new, _, _ in new
    }
    #expect(merged.map { $0.unicodeScalars.count } == [2, 1])
  }
}
