// Rows in memory by their keys, also where the hashes of different keys are equal.

import DflatTestSupport
import Testing

@testable import Dflat

@Suite("Rows by their keys")
struct RowsByKeyTests {
  /// Hashes of different keys differ, or all are equal.
  enum Hashes: CaseIterable {
    case different, equal

    var rows: RowsByKey {
      switch self {
      case .different: RowsByKey(Post._schema)
      case .equal: RowsByKey(Post._schema, hash: TextHash(multiplier: 0))
      }
    }
  }

  private func key(_ site: String, _ number: Int64) -> KeyValues {
    KeyValues(first: .string(site), rest: [.integer(number)])
  }

  @Test("Rows are found by all fields of their keys", arguments: Hashes.allCases)
  func compoundKeys(hashes: Hashes) {
    var rows = hashes.rows
    let sites = ["a", "b", "", "e\u{301}"]
    for site in sites {
      for number in [1, -1] as [Int32] { rows.insert(Post(site: site, number: number)._row) }
    }
    #expect(rows.count == 8 && rows.all.count == 8)
    for site in sites {
      for number in [1, -1] as [Int64] {
        let post = rows.row(key(site, number)).map { Post(_row: $0) }
        #expect(post?.site == site && post.map { Int64($0.number) } == number)
      }
      #expect(rows.row(key(site, 2)) == nil)
    }
    #expect(rows.row(key("\u{e9}", 1)) == nil, "texts are compared by their bytes")
  }

  @Test("Random changes leave what a dictionary has", arguments: Hashes.allCases)
  func randomChanges(hashes: Hashes) {
    var rows = hashes.rows
    var model: [Int32: Int32] = [:]
    var random = SeededGenerator(seed: 9)
    for likes in 0..<2000 as Range<Int32> {
      let number = Int32.random(in: 0..<12, using: &random)
      let post = Post(site: "s", number: number, likes: likes)
      if Bool.random(using: &random) {
        rows.insert(post._row)
        model[number] = likes
      } else {
        rows.remove(post._row)
        model[number] = nil
      }
      #expect(rows.count == model.count)
      for number in 0..<12 as Range<Int32> {
        let found = rows.row(key("s", Int64(number)))
        #expect(found.map { Post(_row: $0).likes } == model[number])
      }
    }
  }
}
