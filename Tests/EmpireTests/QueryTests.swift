// Queries: compared with a simple model, and situations that other implementations got wrong.

import DflatTestSupport
import Empire
import Foundation
import LMDB
import Testing

struct QueryTests {
  private func withTrees<R>(
    _ names: [String], _ body: (TransactionContext) throws -> R
  ) throws -> R {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      var result: R?
      try store.withTransaction { context throws in
        for name in names { try context.insert(Tree(name: name)) }
        result = try body(context)
      }
      return try #require(result)
    }
  }

  @Test("The lengths of keys do not affect results")
  func lengths() throws {
    try withTrees(["Ash", "Birch", "Elm", "Oak", "Yew"]) { context throws in
      func names(_ comparison: Empire.ComparisonOperator<String>) throws -> [String] {
        try Tree.select(in: context, name: comparison).map(\.name)
      }
      #expect(try names(.greaterThan("Ashen")) == ["Birch", "Elm", "Oak", "Yew"])
      #expect(try names(.lessThan("Yucca")) == ["Yew", "Oak", "Elm", "Birch", "Ash"])
      #expect(try names(.closedRange("A"..."Oak")) == ["Ash", "Birch", "Elm", "Oak"])
      #expect(try names(.range("Ash"..<"Oak")) == ["Ash", "Birch", "Elm"])
      #expect(try names(.lessThanOrEqual("Elm")) == ["Elm", "Birch", "Ash"])
      #expect(try names(.greaterThanOrEqual("Elm")) == ["Elm", "Oak", "Yew"])
    }
    try withTrees(["cart", "carton", "car"]) { context throws in
      #expect(try Tree.select(in: context, name: "cart").map(\.name) == ["cart"])
      #expect(try Tree.select(in: context, name: "ca").isEmpty)
    }
  }

  @Test("within looks up each value in turn; a complete key that does not exist is an error")
  func within() throws {
    try withTrees(["a", "b", "c"]) { context throws in
      func names(_ values: [String], limit: Int? = nil) throws -> [String] {
        try Tree.select(in: context, limit: limit, name: .within(values)).map(\.name)
      }
      #expect(try names(["c", "a", "c"]) == ["c", "a", "c"])
      #expect(try names([]) == [])
      #expect(throws: MDBError.recordNotFound) { try names(["a", "x"]) }
      // The missing key is beyond the limit and is not looked up.
      #expect(try names(["a", "x"], limit: 1) == ["a"])
      #expect(try names(["x"], limit: 0) == [])
      // Incomplete keys contribute the records that exist.
      try context.insert(Person(city: "A", name: "1", age: 1))
      try context.insert(Person(city: "A", name: "2", age: 1))
      try context.insert(Person(city: "B", name: "1", age: 1))
      let found = try Person.select(in: context, limit: 2, city: .within(["B", "none", "A"]))
      #expect(found.map { $0.city + $0.name } == ["B1", "A1"])
    }
  }

  @Test("Limits")
  func limits() throws {
    try withTrees(["a", "b", "c"]) { context throws in
      func names(_ limit: Int?, _ comparison: Empire.ComparisonOperator<String>) throws -> [String]
      {
        try Tree.select(in: context, limit: limit, name: comparison).map(\.name)
      }
      #expect(try names(2, .greaterThan("")) == ["a", "b"])
      #expect(try names(2, .lessThan("z")) == ["c", "b"])
      #expect(try names(9, .lessThan("z")).count == 3)
      #expect(try names(0, .lessThan("z")).isEmpty)
      #expect(try names(-1, .equals("a")).isEmpty)
    }
  }

  @Test(
    "Every operator on every component gives the result of a filter, beside records of other types")
  func model() throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      try withSeed { random in
        for _ in 0..<(isLongRun ? 100 : 8) {
          var triples: [Triple] = []
          for a in -2...2 {
            for b in [0, 1, 255, 256, UInt.max] where !random.oneIn(3) {
              for c in ["", "a", "aa", "b", "\u{FF}"] where !random.oneIn(3) {
                triples.append(Triple(a: a, b: b, c: c, note: random.oneIn(2) ? nil : c))
              }
            }
          }
          try store.withTransaction { context throws in
            // The keys of both types surround those of the queried type.
            for triple in triples.shuffled(using: &random) { try context.insert(triple) }
            try context.insert(Low(name: "x"))
            try context.insert(High(name: "x"))
            for _ in 0..<100 {
              let a = Int.random(in: -3...3, using: &random)
              let b = random.pick([0, 1, 2, 255, 256, UInt.max])
              let c = random.pick(["", "a", "aaa", "b", "\u{FF}", "c"])
              let limit = random.oneIn(3) ? Int.random(in: -1...4, using: &random) : nil
              let found: [Triple]
              let expected: [Triple]
              let question: String
              switch Int.random(in: 0...2, using: &random) {
              case 0:
                let (comparison, matches, descends) = Self.comparison(a, a + 2, &random)
                found = try Triple.select(in: context, limit: limit, a: comparison)
                expected = Self.pick(triples.filter { matches($0.a) }, descends, limit)
                question = "\(comparison)"
              case 1:
                let (comparison, matches, descends) = Self.comparison(b, .max, &random)
                found = try Triple.select(in: context, limit: limit, a: a, b: comparison)
                expected = Self.pick(triples.filter { $0.a == a && matches($0.b) }, descends, limit)
                question = "\(a), \(comparison)"
              default:
                let (comparison, matches, descends) = Self.comparison(c, "c", &random)
                found = try Triple.select(in: context, limit: limit, a: a, b: b, c: comparison)
                expected = Self.pick(
                  triples.filter { $0.a == a && $0.b == b && matches($0.c) }, descends, limit)
                question = "\(a), \(b), \(comparison)"
              }
              guard found == expected else {
                Issue.record(
                  "\(question), limit \(limit ?? -99) gave \(found), not \(expected), DFLAT_SEED=\(random.seed)"
                )
                throw Wrong()
              }
            }
            for triple in triples { try context.delete(triple) }
          }
        }
      }
    }
  }

  struct Wrong: Error {}

  private static func pick(_ triples: [Triple], _ descends: Bool, _ limit: Int?) -> [Triple] {
    Array((descends ? triples.reversed() : triples).prefix(max(0, limit ?? .max)))
  }

  private static func comparison<Value: IndexKeyComparable>(
    _ low: Value, _ high: Value, _ random: inout SeededGenerator
  ) -> (Empire.ComparisonOperator<Value>, (Value) -> Bool, descends: Bool) {
    switch Int.random(in: 0...6, using: &random) {
    case 0: (.greaterThan(low), { $0 > low }, false)
    case 1: (.greaterOrEqual(low), { $0 >= low }, false)
    case 2: (.lessThan(low), { $0 < low }, true)
    case 3: (.lessOrEqual(low), { $0 <= low }, true)
    case 4: (.range(low..<max(low, high)), { $0 >= low && $0 < max(low, high) }, false)
    case 5: (.closedRange(low...max(low, high)), { $0 >= low && $0 <= max(low, high) }, false)
    default: (.equals(low), { $0 == low }, false)
    }
  }
}

// Just below and just above the hash of "Triple".
@IndexKeyRecord(keyPrefix: 0xd2b0_b8dd, "name")
private struct Low { let name: String }
@IndexKeyRecord(keyPrefix: 0xd2b0_b8df, "name")
private struct High { let name: String }

struct NeighbourTests {
  @Test("The neighbours are neighbours")
  func prefixes() {
    #expect(Low.keyPrefix + 1 == Triple.keyPrefix && Triple.keyPrefix + 1 == High.keyPrefix)
  }
}
