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
        var map = SortedMap<Int, Int>()
        var model: [Int: Int] = [:]
        var copies: [(SortedMap<Int, Int>, [Int: Int])] = []
        let keys = random.pick([50, 1000, 100_000])
        for step in 0..<3000 {
          // Ascending keys fill nodes in another way.
          let key = random.oneIn(3) ? step + keys : Int.random(in: 0..<keys, using: &random)
          if random.oneIn(3) {
            #expect(map.remove(key) == model.removeValue(forKey: key))
          } else {
            #expect(map.set(key, step) == model.updateValue(step, forKey: key))
          }
          if random.oneIn(300) { copies.append((map, model)) }
        }
        copies.append((map, model))
        for (map, model) in copies { check(map, model, &random) }
      }
    }
  }

  private func check(
    _ map: SortedMap<Int, Int>, _ model: [Int: Int], _ random: inout SeededGenerator
  ) {
    map._checkInvariants()
    let keys = model.keys.sorted()
    #expect(map.count == keys.count && map.lastKey == keys.last)
    for key in keys.prefix(50) { #expect(map[key] == model[key]) }
    #expect(map[-1] == nil)
    let bound = Int.random(in: 0..<2000, using: &random)
    #expect(collect { map.forEach(after: { $0 < bound }, $0) } == keys.filter { $0 >= bound })
    #expect(
      collect { map.forEachReversed(before: { $0 > bound }, $0) }
        == keys.filter { $0 <= bound }.reversed())
    #expect(collect(limit: 3) { map.forEach($0) } == Array(keys.prefix(3)))
    #expect(collect(limit: 3) { map.forEachReversed($0) } == keys.suffix(3).reversed())
  }

  private func collect(limit: Int = .max, _ walk: ((Int, Int) -> Bool) -> Void) -> [Int] {
    var keys: [Int] = []
    walk { key, _ in
      keys.append(key)
      return keys.count < limit
    }
    return keys
  }
}
