// Which keys of a page a stored list lacks.

import SeededRandom
import Testing

@testable import DflatGraphQL

@Suite("GraphQL: keys of a page that a list lacks")
struct MissingKeysTests {
  private func expected<Key: Hashable>(_ page: [Key], _ list: [Key]) -> [Key] {
    var seen = Set(list)
    return page.filter { seen.insert($0).inserted }
  }

  @Test("are found as sets find them: texts, also equal ones with different bytes, and numbers")
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
      #expect(page.missing(in: list) == expected(page, list), "\(page) \(list)")
      let (numbers, others) = (page.map(\.utf8.count), list.map(\.utf8.count))
      #expect(numbers.missing(in: others) == expected(numbers, others))
      #expect(
        numbers.map(Int64.init).missing(in: others.map(Int64.init))
          == expected(numbers, others).map(Int64.init))
    }
  }
}
