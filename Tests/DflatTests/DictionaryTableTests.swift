// The hash table of a dictionary: entries by keys.

import DflatTestSupport
import Testing

@testable import Dflat

@Suite("The hash table of a dictionary")
struct DictionaryTableTests {
  private let texts =
    ["", "a", "\u{0}", "é", "e\u{301}", "setting-1", "setting-2", "setting-12345678"]
    + ["setting-12345679"] + (0..<300).map { "a longer key, which differs at its end only: \($0)" }

  /// Keys whose hashes agree completely, in the bits of the tag, or in the bits of the bucket.
  private enum Hashes: CaseIterable {
    case ordinary, one, oneTag, oneHome
  }

  private func keys(_ hashes: Hashes) -> [DictionaryKey] {
    let hash = TextHash()
    return texts.enumerated().map { number, text in
      switch hashes {
      case .ordinary: DictionaryKey(text, hash)
      case .one: DictionaryKey(text, .max)
      case .oneTag: DictionaryKey(text, UInt64(number) << 54 | 7)
      case .oneHome: DictionaryKey(text, UInt64.max << 32 | UInt64(number))
      }
    }
  }

  @Test("Every key has its own entry, whatever the hashes are", arguments: Hashes.allCases)
  private func model(_ hashes: Hashes) {
    let keys = keys(hashes)
    withSeed { random in
      for _ in 0..<(isLongRun ? 200 : 5) {
        var table = DictionaryTable()
        // The number of the last change of each key. Keys are equal if their bytes are.
        var model = [Int64?](repeating: nil, count: keys.count)
        for step in 1..<500 as Range<Int64> {
          let number = Int.random(in: keys.indices, using: &random)
          let revision = table.revision
          let before = model
          if random.oneIn(100) {
            let removed = table.remove { $0.change < step - 100 }
            #expect(removed.count == model.count { $0 != nil })
            model = model.map { $0.map { $0 < step - 100 ? nil : $0 } ?? nil }
          } else {
            let index = table.findOrMake(keys[number])
            #expect((table[index].change < 0) == (model[number] == nil))
            #expect((table.revision == revision) == (model[number] != nil))
            table[index].change = step
            model[number] = step
          }
          // Equal revisions have the same keys.
          let isSame = model.map { $0 == nil } == before.map { $0 == nil }
          #expect(isSame || table.revision != revision)
          let other = Int.random(in: keys.indices, using: &random)
          let found = table.find(keys[other]).map { table[$0] }
          #expect(found?.change == model[other])
          #expect(found.map { $0.key == keys[other] } ?? true)
        }
        #expect(table.indices.count == model.count { $0 != nil })
      }
    }
  }

  @Test("Keys are equal if their bytes are")
  func equality() {
    let keys = keys(.one)
    for (left, leftKey) in keys.enumerated() {
      for (right, rightKey) in keys.prefix(12).enumerated() {
        #expect((leftKey == rightKey) == (left == right))
      }
    }
  }
}
