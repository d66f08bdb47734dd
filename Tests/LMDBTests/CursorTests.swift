// Cursors, compared with a simple model: a sorted array and a filter.

import DflatTestSupport
import Foundation
import Testing

@testable import LMDB

struct CursorTests {
  enum Operator: CaseIterable {
    case greater, greaterOrEqual, less, lessOrEqual, range, closedRange
  }

  struct QueryCase {
    var comparison: Operator
    var start: [UInt8]
    var end: [UInt8]?
    var truncating = false
    var limit: Int?
  }

  private func run(
    _ queryCase: QueryCase, _ transaction: Transaction, _ dbi: MDB_dbi
  ) throws -> [[UInt8]] {
    try queryCase.start.withUnsafeBytes { start in
      try (queryCase.end ?? []).withUnsafeBytes { endBytes in
        let end = queryCase.end == nil ? nil : MDB_val(buffer: endBytes)
        let comparison: LMDB.ComparisonOperator =
          switch queryCase.comparison {
          case .greater: .greater(end)
          case .greaterOrEqual: .greaterOrEqual(end)
          case .less: .less(end)
          case .lessOrEqual: .lessOrEqual(end)
          case .range: .range(MDB_val(buffer: endBytes))
          case .closedRange: .closedRange(MDB_val(buffer: endBytes))
          }
        let cursor = try Cursor(
          transaction: transaction, dbi: dbi,
          query: Query(
            comparison: comparison, key: MDB_val(buffer: start), limit: queryCase.limit,
            truncating: queryCase.truncating))
        return cursor.map { Array($0.0.bufferPointer) }
      }
    }
  }

  /// -1, 0 or 1.
  private func compare(_ key: [UInt8], _ bound: [UInt8], _ truncating: Bool) -> Int {
    let key = truncating ? Array(key.prefix(bound.count)) : key
    return key == bound ? 0 : key.lexicographicallyPrecedes(bound) ? -1 : 1
  }

  private func model(_ queryCase: QueryCase, _ keys: [[UInt8]]) -> [[UInt8]] {
    let descends = [.less, .lessOrEqual].contains(queryCase.comparison)
    let found = keys.filter { key in
      let start = compare(key, queryCase.start, queryCase.truncating)
      let end =
        (queryCase.end
        ?? (queryCase.comparison == .range || queryCase.comparison == .closedRange ? [] : nil))
        .map { compare(key, $0, queryCase.truncating) }
      return switch queryCase.comparison {
      case .greater: start > 0 && (end ?? -1) <= 0
      case .greaterOrEqual, .closedRange: start >= 0 && (end ?? -1) <= 0
      case .range: start >= 0 && (end ?? -1) < 0
      case .less: start < 0 && (end ?? 1) >= 0
      case .lessOrEqual: start <= 0 && (end ?? 1) >= 0
      }
    }
    return Array((descends ? found.reversed() : found).prefix(max(0, queryCase.limit ?? .max)))
  }

  @Test("Every operator gives the result of a filter")
  func model() throws {
    try withTemporaryDirectory { directory in
      let environment = try Environment(url: directory, maxDatabases: 1)
      try withSeed { random in
        for _ in 0..<(isLongRun ? 200 : 20) {
          func bytes() -> [UInt8] {
            (0..<Int.random(in: 0...3, using: &random)).map { _ in random.pick([0, 1, 0x6B, 0xFF]) }
          }
          let keys = Set(
            (0..<Int.random(in: 0...30, using: &random)).map { _ in
              bytes() + [random.pick([0, 0xFF])]
            }
          )
          .sorted { $0.lexicographicallyPrecedes($1) }
          let transaction = try Transaction(env: environment)
          let dbi = try transaction.open(name: "a")
          for key in keys {
            try key.withUnsafeBytes {
              try transaction.set(dbi: dbi, keyBuffer: $0, valueBuffer: $0)
            }
          }
          for _ in 0..<200 {
            let queryCase = QueryCase(
              comparison: random.pick(Operator.allCases), start: bytes(),
              end: random.oneIn(3) ? nil : bytes(), truncating: random.oneIn(2),
              limit: random.oneIn(3) ? Int.random(in: 0...5, using: &random) : nil)
            let found = try run(queryCase, transaction, dbi)
            guard found == model(queryCase, keys) else {
              Issue.record("\(queryCase) over \(keys) gave \(found), DFLAT_SEED=\(random.seed)")
              return
            }
          }
          transaction.abort()
        }
      }
    }
  }

  @Test("The examples of the documentation")
  func examples() throws {
    try withTemporaryDirectory { directory in
      let environment = try Environment(url: directory, maxDatabases: 1)
      try Transaction.with(env: environment) { transaction in
        let dbi = try transaction.open(name: "a")
        for key in ["k", "ka", "kb", "m"] { try transaction.set(dbi: dbi, key: key, value: "") }
        func keys(_ comparison: Operator, _ start: String, _ end: String?, _ truncating: Bool)
          throws -> [String]
        {
          try run(
            QueryCase(
              comparison: comparison, start: Array(start.utf8), end: end.map { Array($0.utf8) },
              truncating: truncating), transaction, dbi
          ).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(try keys(.greaterOrEqual, "k", "k", false) == ["k"])
        #expect(try keys(.greaterOrEqual, "k", "k", true) == ["k", "ka", "kb"])
        #expect(try keys(.greater, "k", nil, false) == ["ka", "kb", "m"])
        #expect(try keys(.greater, "k", nil, true) == ["m"])
        #expect(try keys(.less, "l", nil, false) == ["kb", "ka", "k"])
        #expect(try keys(.lessOrEqual, "z", "ka", false) == ["m", "kb", "ka"])
      }
    }
  }

  @Test("The successor of a key is the smallest key above all that begin with it")
  func successors() {
    #expect(successor(of: [1, 2]) == [1, 3])
    #expect(successor(of: [1, 0xFF, 0xFF]) == [2])
    #expect(successor(of: [0xFF, 0xFF]) == nil)
    #expect(successor(of: []) == nil)
  }

  @Test("An error while a cursor advances is thrown, and is not mistaken for the end")
  func failingCursor() throws {
    try withTemporaryDirectory { directory in
      let environment = try Environment(
        url: directory, maxDatabases: 1, mapSize: .fixed(1 << 16))
      let result = Result<Void, any Error> {
        try Transaction.with(env: environment) { transaction in
          let dbi = try transaction.open(name: "a")
          for key in ["a", "b", "c"] { try transaction.set(dbi: dbi, key: key, value: "") }
          func cursor() throws -> Cursor {
            try "a".withMDBVal {
              try Cursor(
                transaction: transaction, dbi: dbi,
                query: Query(comparison: .greaterOrEqual(nil), key: $0))
            }
          }
          var (throwing, sequence) = (try cursor(), try cursor())
          #expect(try throwing.advance() != nil && sequence.next() != nil)
          // A full map makes the transaction fail.
          let large = String(repeating: "x", count: 1_000)
          #expect(throws: MDBError.self) {
            for number in 0..<1_000 {
              try transaction.set(dbi: dbi, key: "\(number)", value: large)
            }
          }
          #expect(throws: MDBError.self) { try throwing.advance() }
          #expect(sequence.next() == nil && sequence.error != nil)
        }
      }
      #expect(throws: MDBError.self) { try result.get() }
    }
  }
}
