// Secondary indexes stay correct after all changes of the records, whichever program makes them.

import DflatTestSupport
import Empire
import Foundation
import LMDB
import Testing

@IndexKeyRecord(keyPrefix: 500, "city", "name")
@Index("age")
@Index("city", "age")
@Index("bytes", "score")
private struct Citizen: Equatable {
  let city: String
  let name: String
  var age: Int
  var bytes: Data
  var score: Double

  static func deserialize(
    with deserializer: consuming RecordDeserializer, version: IndexKeyRecordHash
  ) throws -> sending Citizen {
    guard version == OldCitizen.fieldsVersion else { throw unsupportedMigrationError(for: version) }
    let old = try OldCitizen.deserialize(with: deserializer)
    return Citizen(city: old.city, name: old.name, age: old.age + 100, bytes: Data(), score: 0)
  }
}

/// The old version, with an index by the same property. Migration changes the age.
@IndexKeyRecord(keyPrefix: 500, "city", "name")
@Index("age")
private struct OldCitizen: Equatable {
  let city: String
  let name: String
  var age: Int
}

/// The same records, in a type without the index.
@IndexKeyRecord(keyPrefix: 500, "city", "name")
private struct PlainCitizen {
  let city: String
  let name: String
  var age: Int
  var bytes: Data
  var score: Double
}

struct IndexTests {
  private func withStore(_ body: (Store, URL) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      try body(Store(database: try LockingDatabase(url: directory)), directory)
    }
  }

  private func citizen(_ name: String, _ age: Int, city: String = "A") -> Citizen {
    Citizen(
      city: city, name: name, age: age, bytes: Data([UInt8(truncatingIfNeeded: age), 0]),
      score: -Double(age))
  }

  /// The names of the databases in a directory, and the entries of the index database.
  private func contents(_ directory: URL) throws -> (names: [String], entries: [[UInt8]: Int]) {
    let environment = try Environment(url: directory, maxDatabases: 2, locking: false)
    return try Transaction.with(env: environment, readOnly: true) { transaction in
      var names: [String] = []
      for name in ["empiredb", "empireindexes"]
      where try transaction.openIfPresent(name: name) != nil { names.append(name) }
      var entries: [[UInt8]: Int] = [:]
      if let dbi = try transaction.openIfPresent(name: "empireindexes") {
        let start: [UInt8] = [2]
        try start.withUnsafeBytes { bytes in
          var cursor = try Cursor(
            transaction: transaction, dbi: dbi,
            query: LMDB.Query(comparison: .greaterOrEqual(nil), key: MDB_val(buffer: bytes)))
          while let (key, _) = try cursor.advance() {
            entries[Array(key.bufferPointer), default: 0] += 1
          }
        }
      }
      return (names, entries)
    }
  }

  @Test("An index supports every operator, in its own order, with ties in key order")
  func operators() throws {
    try withStore { store, _ in
      try store.withTransaction { context in
        for (name, age) in [("d", 41), ("a", 41), ("b", 33), ("c", -5)] {
          try context.insert(citizen(name, age))
        }
        try context.insert(citizen("e", 20, city: "B"))
      }
      func names(_ comparison: Empire.ComparisonOperator<Int>, limit: Int? = nil) throws -> String {
        try Citizen.select(in: store, limit: limit, age: comparison).map(\.name).joined()
      }
      #expect(try names(.greaterThan(20)) == "bad")
      #expect(try names(.greaterOrEqual(20)) == "ebad")
      #expect(try names(.lessThan(41)) == "bec")
      #expect(try names(.lessOrEqual(41)) == "dabec")
      #expect(try names(.range(20..<41)) == "eb")
      #expect(try names(.closedRange(20...41), limit: 3) == "eba")
      #expect(try names(.within([41, 7, -5, 41])) == "adcad")
      #expect(try names(.greaterThan(.min), limit: 0) == "")
      #expect(try Citizen.select(in: store, age: 33).map(\.name) == ["b"])
      #expect(
        try Citizen.select(in: store, city: "A", age: .lessThan(41)).map(\.name) == ["b", "c"])
      #expect(
        try Citizen.select(in: store, bytes: Data([41, 0]), score: .lessOrEqual(0)).count == 2)
      // Queries by key still work.
      #expect(try Citizen.select(in: store, city: "A").map(\.name) == ["a", "b", "c", "d"])
    }
  }

  @Test("After random changes every index has exactly the records' entries; read-only scans agree")
  func model() throws {
    try withStore { store, directory in
      try withSeed { random in
        var model: [String: Citizen] = [:]
        struct Rollback: Error {}
        func check() throws {
          let expected = model.values.sorted {
            ($0.age, $0.city, $0.name) < ($1.age, $1.city, $1.name)
          }
          #expect(
            try Citizen.select(in: store, age: .greaterOrEqual(.min)) == expected,
            "DFLAT_SEED=\(random.seed)")
          let low = Int.random(in: -3...3, using: &random)
          #expect(
            try Citizen.select(in: store, city: "B", age: .lessOrEqual(low))
              == expected.filter { $0.city == "B" && $0.age <= low }.reversed(),
            "DFLAT_SEED=\(random.seed)")
          #expect(try contents(directory).entries.values.reduce(0, +) == model.count * 3)
        }
        for _ in 0..<(isLongRun ? 300 : 40) {
          var next = model
          let fails = random.oneIn(4)
          let nested = random.oneIn(3)
          func change(_ context: TransactionContext) throws {
            for _ in 0..<Int.random(in: 1...6, using: &random) {
              let one = citizen(
                random.pick(["a", "b", "c"]), Int.random(in: -3...3, using: &random),
                city: random.pick(["A", "B"]))
              let key = one.city + one.name
              switch Int.random(in: 0...6, using: &random) {
              case 0...2:
                try context.insert(one)
                next[key] = one
              case 3:
                let changed = try context.update(of: Citizen.self, key: one.indexKey) {
                  $0.age += 1
                }
                next[key]?.age += 1
                #expect(changed == next[key])
              case 4 where next[key] != nil:
                try context.delete(one)
                next[key] = nil
              case 5:
                try context.delete(Citizen.query(city: one.city))
                next = next.filter { $0.value.city != one.city }
              case 6:
                let moved = try context.update(of: Citizen.self, key: one.indexKey) {
                  $0 = citizen("z", $0.age, city: $0.city)
                }
                if moved != nil {
                  next[one.city + "z"] = citizen("z", next[key]?.age ?? 0, city: one.city)
                  if key != one.city + "z" { next[key] = nil }
                }
              default: break
              }
            }
          }
          do {
            try store.withTransaction { context in
              if nested {
                let before = next
                do {
                  try store.withTransaction(parent: context) {
                    try change($0)
                    if random.oneIn(2) { throw Rollback() }
                  }
                } catch is Rollback { next = before }
              }
              try change(context)
              if fails { throw Rollback() }
            }
            model = next
          } catch is Rollback {}
          try check()
        }
        // Long lists also contain keys.
        try store.withTransaction { _ = try $0.deleteAll(of: Citizen.self) }
        model = [:]
        try check()
      }
    }
  }

  @Test(
    "The first writing query builds an index of existing records; a read-only one sorts instead")
  func building() throws {
    try withStore { store, directory in
      try store.withTransaction { context in
        for age in 0..<50 {
          try context.insert(
            PlainCitizen(city: "A", name: "n\(age)", age: 50 - age, bytes: Data(), score: 0))
        }
      }
      #expect(try contents(directory).names == ["empiredb"])
      // Writing does not build the index: the earlier records would be missing.
      try store.insert(citizen("new", 7))
      #expect(try contents(directory).entries.isEmpty)
      let expected = [7, 6, 5, 4, 3, 2, 1]
      try store.withTransaction(readOnly: true) { context in
        let sorted = try Citizen.select(in: context, limit: 8, age: .lessOrEqual(7))
        #expect(sorted.map(\.age) == [7] + expected && sorted.first?.name == "new")
      }
      #expect(try contents(directory).entries.isEmpty)
      let found = try Citizen.select(in: store, limit: 8, age: .lessOrEqual(7))
      #expect(found.map(\.age) == [7] + expected && found.first?.name == "new")
      #expect(try contents(directory).entries.values.reduce(0, +) == 51 * 3)
      // A store that is opened later maintains it.
      let other = Store(database: try LockingDatabase(url: directory))
      try other.delete(citizen("new", 0))
      #expect(try Citizen.select(in: store, age: 7).map(\.name) == ["n43"])
    }
  }

  @Test("A type without an index creates no second database")
  func noIndex() throws {
    try withStore { store, directory in
      try store.insert(Tree(name: "a"))
      #expect(try contents(directory).names == ["empiredb"])
    }
  }

  @Test(
    "Records from other writers are found: a program without indexes, a type without the index, another version"
  )
  func otherWriters() throws {
    try withTemporaryDirectory { directory in
      // Only one environment of the directory is open at a time, because the other program must
      // have the file to itself.
      func withStore<R>(_ body: (Store) throws -> R) throws -> R {
        try body(Store(database: try LockingDatabase(url: directory)))
      }
      func ages() throws -> [Int] {
        try withStore { store in
          let found = try Citizen.select(in: store, age: .greaterOrEqual(.min)).map(\.age)
          // The same query without the index.
          let sorted = try store.withTransaction(readOnly: true) {
            try $0.selectAll(of: Citizen.self).map(\.age)
          }.sorted()
          #expect(found == sorted)
          return found
        }
      }
      try withStore { store in
        for age in [3, 1, 2] { try store.insert(citizen("n\(age)", age)) }
      }
      #expect(try ages() == [1, 2, 3])

      // Writes like upstream Empire, which knows only one database.
      try Transaction.with(env: try Environment(url: directory, maxDatabases: 1)) { transaction in
        let dbi = try transaction.open(name: "empiredb")
        let start: [UInt8] = [0]
        let key = try start.withUnsafeBytes { bytes in
          var cursor = try Cursor(
            transaction: transaction, dbi: dbi,
            query: LMDB.Query(comparison: .greaterOrEqual(nil), key: MDB_val(buffer: bytes)))
          return try cursor.advance().map { Array($0.0.bufferPointer) } ?? []
        }
        try key.withUnsafeBytes { try transaction.delete(dbi: dbi, key: MDB_val(buffer: $0)) }
      }
      // A read-only transaction does not trust the index either.
      try withStore { store in
        try store.withTransaction(readOnly: true) { context throws in
          #expect(try Citizen.select(in: context, age: .greaterOrEqual(.min)).map(\.age) == [2, 3])
        }
      }
      #expect(try ages() == [2, 3])

      // A type without the index writes in the same transaction as one with it.
      try withStore { store in
        try store.withTransaction { context throws in
          try context.insert(citizen("n9", 9))
          try context.insert(
            PlainCitizen(city: "A", name: "n2", age: 20, bytes: Data(), score: 0))
          #expect(try Citizen.select(in: context, age: 20).count == 1)
          #expect(try Citizen.select(in: context, age: 2).isEmpty)
        }
      }
      #expect(try ages() == [3, 9, 20])

      // Another version with an index by the same property: its records are migrated before the
      // index is trusted.
      try withStore { try $0.insert(OldCitizen(city: "C", name: "old", age: 5)) }
      try withStore { store in
        try store.withTransaction(readOnly: true) { context throws in
          #expect(try Citizen.select(in: context, age: 105).map(\.name) == ["old"])
        }
      }
      #expect(try ages() == [3, 9, 20, 105])
      #expect(throws: StoreError.self) {
        try withStore { try OldCitizen.select(in: $0, age: 105) }
      }
    }
  }

  @Test(
    "Index changes of a nested transaction are visible to its parent, or rolled back",
    arguments: [true, false])
  func nestedRemovals(isKept: Bool) throws {
    struct Rollback: Error {}
    try withStore { store, directory in
      try store.withTransaction { outer in
        try outer.insert(citizen("a", 1))
        do {
          try store.withTransaction(parent: outer) { inner in
            // The type without the index removes it from the list.
            try inner.insert(
              PlainCitizen(city: "A", name: "b", age: 2, bytes: Data(), score: 0))
            if !isKept { throw Rollback() }
          }
        } catch is Rollback {}
        try outer.insert(citizen("a", 3))
        try outer.insert(citizen("c", 4))
      }
      #expect(
        try Citizen.select(in: store, age: .greaterThan(0)).map(\.age)
          == (isKept ? [2, 3, 4] : [3, 4]))
      #expect(try contents(directory).entries.values.reduce(0, +) == (isKept ? 9 : 6))
    }
  }

  @Test("A value that cannot be sorted is rejected and leaves the record and its entries unchanged")
  func refusals() throws {
    try withStore { store, directory in
      try store.insert(citizen("a", 1))
      let before = try contents(directory).entries
      try store.withTransaction { context in
        var long = citizen("a", 2)
        long.bytes = Data(repeating: 1, count: 600)
        #expect(throws: StoreError.keyBufferOverflow) { try context.insert(long) }
        var nan = citizen("a", 2)
        nan.score = .nan
        #expect(throws: SerializeError.notANumber) { try context.insert(nan) }
      }
      #expect(try contents(directory).entries == before)
      #expect(try Citizen.select(in: store, age: 1).count == 1)
      #expect(throws: StoreError.noActiveContext) {
        var kept: TransactionContext?
        try store.withTransaction { kept = $0 }
        _ = try Citizen.select(in: #require(kept), age: 1)
      }
    }
  }

  @Test("Shared commits maintain indexes, even if one of the transactions is rolled back")
  func sharedCommits() async throws {
    try await withTemporaryDirectory { directory in
      struct Rollback: Error {}
      let store = try BackgroundStore(url: directory)
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<200 {
          group.addTask {
            try? await store.withTransaction { context in
              try context.insert(
                Citizen(city: "A", name: "n\(number)", age: number % 7, bytes: Data(), score: 0))
              if number % 3 == 0 { throw Rollback() }
            }
          }
        }
      }
      let found = try await store.withTransaction { try Citizen.select(in: $0, age: 3).map(\.name) }
      let expected = (0..<200).filter { $0 % 7 == 3 && $0 % 3 != 0 }.map { "n\($0)" }.sorted()
      #expect(found == expected)
    }
  }
}
