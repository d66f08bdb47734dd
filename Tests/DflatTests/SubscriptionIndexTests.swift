// The index of subscriptions: ranges, keys in the order of values, and the paths of a condition.

import DflatTestSupport
import Testing

@testable import Dflat

@Suite("Subscription index")
struct SubscriptionIndexTests {
  private final class Thing {
    let range: ClosedRange<UInt64>
    init(_ range: ClosedRange<UInt64>) { self.range = range }
  }

  @Test("Intervals that contain a key are found after any insertions and removals")
  func intervals() throws {
    withSeed { random in
      var index = IntervalIndex<Thing>()
      var things: [Thing] = []
      for step in 0..<(isLongRun ? 20_000 : 2000) {
        if random.oneIn(3), let place = things.indices.randomElement(using: &random) {
          let thing = things.remove(at: place)
          index.remove(thing.range, thing)
        } else {
          let low = UInt64.random(in: 0...300, using: &random)
          let high =
            random.oneIn(10) ? UInt64.max : low + UInt64.random(in: 0...40, using: &random)
          let thing = Thing((random.oneIn(10) ? 0 : low)...high)
          things.append(thing)
          index.insert(thing.range, thing)
        }
        #expect(index.count == things.count)
        guard step % 7 == 0 else { continue }
        for key in [0, UInt64.random(in: 0...350, using: &random), .max] {
          var found: [ObjectIdentifier] = []
          index.forEach(containing: key) { found.append(ObjectIdentifier($0)) }
          let expected = things.filter { $0.range.contains(key) }.map { ObjectIdentifier($0) }
          #expect(found.count == expected.count && Set(found) == Set(expected))
        }
      }
    }
  }

  @Test("Of several intervals of one element, the one that is named is removed")
  func intervalsOfOneElement() {
    // So many that they are not in the short list of new ones, and that few.
    for others in [0, 100] {
      var index = IntervalIndex<Thing>()
      let (first, second) = (Thing(0...0), Thing(0...0))
      let ranges: [ClosedRange<UInt64>] = [0...9, 0...90, 50...90]
      for thing in [first, second] { for range in ranges { index.insert(range, thing) } }
      let rest = (0..<others).map { Thing(UInt64($0) + 200...500) }
      for thing in rest { index.insert(thing.range, thing) }
      for range in ranges.reversed() {
        index.remove(range, first)
        for key in [5, 30, 70] as [UInt64] {
          var found: [ObjectIdentifier] = []
          index.forEach(containing: key) { found.append(ObjectIdentifier($0)) }
          let left = ranges.prefix { $0 != range }.count { $0.contains(key) }
          #expect(found.count { $0 == ObjectIdentifier(first) } == left)
          #expect(
            found.count { $0 == ObjectIdentifier(second) } == ranges.count { $0.contains(key) })
        }
      }
    }
  }

  @Test("Small sets are found under their keys after any insertions and removals")
  func keyTable() {
    withSeed { random in
      var table = KeyTable<Thing>()
      var things: [(key: UInt64, thing: Thing)] = []
      for step in 0..<(isLongRun ? 40_000 : 4000) {
        // Alternates between phases with mostly insertions and mostly removals.
        if random.oneIn(step / 500 % 2 == 0 ? 3 : 2), !things.isEmpty {
          let (key, thing) = things.remove(at: Int.random(in: things.indices, using: &random))
          table.remove(key, thing)
        } else {
          // Consecutive numbers, multiples of a power of two, and arbitrary numbers.
          let number = UInt64.random(in: 0...400, using: &random)
          let key = random.pick([number, number << 52, number &* 0x9E37_79B9_7F4A_7C15])
          let thing = Thing(0...0)
          things.append((key, thing))
          table.insert(key, thing)
        }
        #expect(table.isEmpty == things.isEmpty)
        guard step % 7 == 0 else { continue }
        let key = things.randomElement(using: &random)?.key ?? 1
        for key in [key, key + 1, 0] {
          var found: Set<ObjectIdentifier> = []
          table[key].forEach { #expect(found.insert(ObjectIdentifier($0)).inserted) }
          #expect(found == Set(things.filter { $0.key == key }.map { ObjectIdentifier($0.thing) }))
        }
        var all = 0
        table.forEach { _ in all += 1 }
        #expect(all == things.count)
      }
    }
  }

  @Test("Strings of all lengths have distinct hashes, wherever they differ")
  func textHash() {
    let hash = TextHash()
    func of(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { hash($0) } }
    var seen: Set<UInt64> = [of([])]
    for count in 1...40 {
      let zeros = [UInt8](repeating: 0, count: count)
      #expect(seen.insert(of(zeros)).inserted && of(zeros) == of(zeros))
      for place in 0..<count {
        var bytes = zeros
        bytes[place] = 1
        #expect(seen.insert(of(bytes)).inserted)
      }
    }
  }

  @Test("Keys have the order of their values")
  func keys() {
    let reals: [Double] = [
      -.infinity, -1e300, -1.5, -.leastNonzeroMagnitude, 0, .leastNonzeroMagnitude, 1, 1.5,
      .greatestFiniteMagnitude, .infinity,
    ]
    #expect(zip(reals, reals.dropFirst()).allSatisfy { OrderKey.key($0) < OrderKey.key($1) })
    #expect(OrderKey.key(-0.0) == OrderKey.key(0.0))
    let integers: [Int64] = [.min, -3, -1, 0, 1, 7, .max]
    #expect(
      zip(integers, integers.dropFirst()).allSatisfy {
        OrderKey.key($0, .int64) < OrderKey.key($1, .int64)
      })
    #expect(OrderKey.key(-1, .uint64) == .max && OrderKey.key(1, .uint64) == 1)
    let texts = ["", "a", "a\0", "ab", "abcdefgh", "b", "é"]
    func prefix(_ text: String) -> UInt64 { OrderKey.key(.string(text), .string) }
    #expect(zip(texts, texts.dropFirst()).allSatisfy { prefix($0) <= prefix($1) })
    #expect(prefix("abcdefghi") == prefix("abcdefgh") && prefix("b") > prefix("abcdefgh"))
  }

  private func paths<C: QueryExpression<Bool, Blog.Post>>(_ condition: C) -> AccessPath
    .CoveredValues?
  {
    AccessPath.covered(condition._node)
  }

  @Test("A condition is indexed under its narrowest part")
  func covers() throws {
    typealias Post = Blog.Post
    let key = try #require(paths(Post.site == "a" && Post.likes > 3))
    #expect(!key.isExact && key.paths.count == 1)
    guard case .equal(let field, .string("a")) = key.paths[0] else {
      Issue.record("\(key.paths)")
      return
    }
    #expect(field == Post.site.descriptor)
    let range = try #require(paths(Post.likes > 3 && Post.likes <= 10))
    guard range.isExact, case .range(_, let keys) = range.paths[0] else {
      Issue.record("\(range.paths)")
      return
    }
    #expect(keys == OrderKey.key(4, .int32)...OrderKey.key(10, .int32))
    // Fields that are not indexed also narrow.
    #expect(try #require(paths(Post.author.handle == "h")).isExact)
    #expect(try #require(paths(Post.likes == 1 || Post.number == 2)).paths.count == 2)
    #expect(try #require(paths(Post.likes.in([1, 2, 3]))).paths.count == 3)
    #expect(try #require(paths(Post.likes > 3 && Post.likes < 3)).paths.isEmpty)
    #expect(try #require(paths(Post.site > "abc")).isExact == false)
    #expect(paths(Post.likes != 1) == nil)
    #expect(paths(Post.likes + 1 == 2) == nil)
    #expect(paths(Post.likes == 1 || Post.likes + 1 == 2) == nil)
    #expect(AccessPath.covered(nil) == nil)
  }
}
