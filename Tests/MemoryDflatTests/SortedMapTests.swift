// The map that everything in memory is kept in, against a dictionary.

import DflatTestSupport
import Testing

@testable import MemoryDflat

@Suite("Sorted maps")
struct SortedMapTests {
  @Test("A map is what a dictionary is, in the order of keys, and copies stay as they were")
  func model() {
    withSeed { random in
      for _ in 0..<(isLongRun ? 200 : 10) {
        var map = SortedMap<[Int]>()
        var model: [Int: Int] = [:]
        var copies: [(SortedMap<[Int]>, [Int: Int])] = []
        let keys = random.pick([50, 1000, 100_000])
        for step in 0..<3000 {
          // Ascending keys fill nodes in another way.
          let key = random.oneIn(3) ? step + keys : Int.random(in: 0..<keys, using: &random)
          if random.oneIn(3) {
            #expect(sortKey(key).withView { map.remove($0) }?[1] == model.removeValue(forKey: key))
          } else {
            let old = map.set(sortKey(key), [key, step])
            #expect(old?[1] == model.updateValue(step, forKey: key))
          }
          if random.oneIn(300) { copies.append((map, model)) }
        }
        copies.append((map, model))
        for (map, model) in copies { check(map, model, &random) }
      }
    }
  }

  /// Every third key has more than eight bytes.
  private func sortKey(_ key: Int) -> SortKey {
    KeyWriter.key { writer in
      writer.append(.integer(Int64(key)))
      if key.isMultiple(of: 3) { writer.append(.string("a longer one")) }
    }
  }

  private func check(
    _ map: SortedMap<[Int]>, _ model: [Int: Int], _ random: inout SeededGenerator
  ) {
    map._checkInvariants()
    let keys = model.keys.sorted()
    #expect(map.count == keys.count)
    for key in keys.prefix(50) {
      #expect(sortKey(key).withView { map.find($0) }?[1] == model[key])
    }
    #expect(sortKey(-1).withView { map.find($0) } == nil)
    let bounds = [0, 1].map { _ in Int.random(in: 0..<2000, using: &random) }.sorted()
    for (lower, upper) in [(nil, nil), (bounds[0], nil), (nil, bounds[1]), (bounds[0], bounds[1])] {
      let range = KeyRange(lower: lower.map(sortKey), upper: upper.map(sortKey))
      let within = keys.filter { $0 >= lower ?? .min && $0 < upper ?? .max }
      #expect(collect { map.forEach(in: range, $0) } == within)
      #expect(collect { map.forEach(in: range, descending: true, $0) } == within.reversed())
    }
    #expect(collect(limit: 3) { map.forEach($0) } == Array(keys.prefix(3)))
    #expect(collect(limit: 3) { map.forEach(descending: true, $0) } == keys.suffix(3).reversed())
  }

  private func collect(
    limit: Int = .max, _ walk: ((SortKey, [Int]) -> Bool) -> Void
  ) -> [Int] {
    var keys: [Int] = []
    walk { _, value in
      keys.append(value[0])
      return keys.count < limit
    }
    return keys
  }
}
