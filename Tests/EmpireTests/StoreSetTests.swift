// The operations of stores on sets of records, each call in its own transaction.

import Empire
import Foundation
import Testing

@IndexKeyRecord("group", "number")
@Index("weight")
private struct Stone: Equatable, Sendable {
  let group: String
  let number: Int
  var weight: Int
}

struct StoreSetTests {
  private let stones = (0..<6).map {
    Stone(group: $0 < 4 ? "a" : "b", number: $0, weight: 10 - $0)
  }

  @Test("A store counts, reads, changes and deletes")
  func store() throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      for stone in stones { try store.insert(stone) }
      #expect(try store.count(of: Stone.self) == 6)
      #expect(try store.count(Stone.query(group: "a")) == 4)
      #expect(try store.count(Stone.query(weight: .lessThan(7))) == 2)
      #expect(try store.selectAll(of: Stone.self) == stones)
      #expect(try store.selectAll(limit: 2) == Array(stones.prefix(2)))
      #expect(try store.select(Stone.query(group: "a", number: .greaterThan(1))).count == 2)
      #expect(try store.select(.key(Tuple("b", 4))) == [stones[4]])
      let changed = try store.update(of: Stone.self, key: Tuple("a", 0)) { $0.weight = 1 }
      #expect(changed?.weight == 1)
      let absent = try store.update(of: Stone.self, key: Tuple("z", 0)) { $0.weight = 1 }
      #expect(absent == nil)
      #expect(try store.select(Stone.query(weight: 1)).map(\.number) == [0])
      var seen = 0
      try store.forEach(of: Stone.self) { _ in
        seen += 1
        return true
      }
      #expect(seen == 6)
      // Inside a transaction, a call is part of it.
      struct Rollback: Error {}
      #expect(throws: Rollback.self) {
        try store.withTransaction { _ in
          #expect(try store.deleteAll(of: Stone.self) == 6)
          #expect(try store.count(of: Stone.self) == 0)
          throw Rollback()
        }
      }
      #expect(try store.delete(Stone.query(group: "a")) == 4)
      #expect(try store.deleteAll(of: Stone.self) == 2)
    }
  }

  @Test("A background store has the same operations")
  func background() async throws {
    try await withTemporaryDirectory { directory in
      let store = try BackgroundStore(url: directory)
      for stone in stones { try await store.insert(stone) }
      #expect(try await store.count(of: Stone.self) == 6)
      #expect(try await store.count(Stone.query(group: "a")) == 4)
      #expect(try await store.select(Stone.query(weight: .lessThan(7))).map(\.number) == [4, 5])
      #expect(try await store.selectAll(of: Stone.self) == stones)
      let found: Stone? = try await store.select(key: Tuple("a", 1))
      #expect(found == stones[1])
      let changed = try await store.update(of: Stone.self, key: Tuple("a", 0)) { $0.weight = 1 }
      #expect(changed?.weight == 1)
      try await store.delete(stones[5])
      await #expect(throws: MDBError.recordNotFound) { try await store.delete(stones[5]) }
      #expect(try await store.delete(Stone.query(group: "a")) == 4)
      #expect(try await store.deleteAll(of: Stone.self) == 1)
    }
  }

  @Test("The error of an invalid set is thrown when the set is used")
  func invalidSets() throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      let set = Stone.query(group: "\0")
      #expect(throws: SerializeError.nulInString) { try store.count(set) }
      #expect(throws: SerializeError.nulInString) { try store.delete(set) }
      #expect(throws: SerializeError.nulInString) { try store.subscribe(to: set) { _ in } }
      #expect(throws: MDBError.recordNotFound) {
        try store.select(Stone.query(group: "a", number: .within([1])))
      }
      var kept: TransactionContext?
      try store.withTransaction { kept = $0 }
      #expect(throws: StoreError.noActiveContext) { try kept?.count(of: Stone.self) }
      #expect(throws: StoreError.noActiveContext) { try kept?.select(Stone.query(weight: 1)) }
    }
  }
}
