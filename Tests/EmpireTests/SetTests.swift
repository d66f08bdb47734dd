// All records of a type and the results of queries: counting, deleting, iterating, changing; JSON
// lines.

import DflatTestSupport
import Empire
import Foundation
import Testing

@IndexKeyRecord("group", "name")
private struct Item: Equatable, Codable {
  let group: Int
  let name: String
  var price: Double
  var tags: [String]
}

@IndexKeyRecord(keyPrefix: 77, fieldsVersion: 1, "name")
private struct OldPart { let name: String }

@IndexKeyRecord(keyPrefix: 77, fieldsVersion: 2, "name")
private struct Part: Equatable {
  let name: String
  var count: Int

  static func deserialize(
    with deserializer: consuming RecordDeserializer, version: IndexKeyRecordHash
  ) throws -> sending Part {
    Part(name: try OldPart.deserialize(with: deserializer).name, count: 1)
  }
}

struct SetTests {
  private let items = (0..<30).map {
    Item(group: $0 / 10, name: "n\($0 % 10)", price: Double($0), tags: ["a\"b", "\($0)"])
  }

  private func withItems(_ body: (Store) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      try store.withTransaction { context in
        for item in items { try context.insert(item) }
        try context.insert(Tree(name: "another type"))
      }
      try body(store)
      #expect(try Tree.select(in: store, name: .greaterThan("")).count == 1)
    }
  }

  @Test("Counting, selecting and deleting by type and by query")
  func sets() throws {
    try withItems { store in
      try store.withTransaction { context throws in
        #expect(try context.count(of: Item.self) == 30)
        #expect(try context.count(Item.query(group: 1)) == 10)
        #expect(try context.count(Item.query(limit: 3, group: 1)) == 3)
        #expect(try context.selectAll(of: Item.self) == items)
        #expect(try context.selectAll(of: Item.self, limit: 2) == Array(items.prefix(2)))
        #expect(try context.selectAll(of: Item.self, limit: 0).isEmpty)
        let deleted = try context.delete(
          Item.query(group: 1, name: .range("n2"..<"n5")))
        #expect(deleted == 3)
        #expect(
          try context.selectAll(of: Item.self)
            == items.filter { $0.group != 1 || !("n2"..<"n5").contains($0.name) })
        let twice = try context.delete(
          Item.query(group: 0, name: .within(["n1", "n1"])))
        #expect(twice == 1)
        #expect(try context.deleteAll(of: Item.self) == 26)
        #expect(try context.count(of: Item.self) == 0)
      }
      #expect(throws: MDBError.permissionDenied) {
        try store.withTransaction(readOnly: true) { try $0.deleteAll(of: Item.self) }
      }
    }
  }

  @Test("Iterating over records and stopping early")
  func iterating() throws {
    try withItems { store in
      try store.withTransaction(readOnly: true) { context in
        var seen: [Item] = []
        try context.forEach(Item.query(group: .greaterOrEqual(1))) { item in
          seen.append(item)
          return seen.count < 4
        }
        #expect(seen == Array(items[10..<14]))
        var count = 0
        try context.forEach(of: Item.self) { _ in
          count += 1
          return true
        }
        #expect(count == 30)
      }
    }
  }

  @Test("Changing a record, including its key")
  func update() throws {
    try withItems { store in
      try store.withTransaction { context in
        let changed = try context.update(of: Item.self, key: Tuple(0, "n0")) { $0.price = 99 }
        #expect(changed?.price == 99)
        let moved = try context.update(of: Item.self, key: Tuple(0, "n0")) {
          $0 = Item(group: 9, name: $0.name, price: $0.price, tags: [])
        }
        #expect(moved?.group == 9)
        let absent = try context.update(of: Item.self, key: Tuple(0, "n0")) { _ in }
        #expect(absent == nil)
        let found: Item? = try context.select(key: Tuple(9, "n0"))
        #expect(found == moved)
        #expect(try context.count(of: Item.self) == 30)
      }
    }
  }

  @Test("Outdated records in whole types")
  func outdated() throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      try store.withTransaction { context throws in
        for name in ["a", "b"] { try context.insert(OldPart(name: name)) }
        try context.forEach(of: Part.self) { part in
          #expect(part.count == 1)
          return true
        }
        let updated = try context.update(of: Part.self, key: Tuple("a")) { $0.count = 5 }
        #expect(updated == Part(name: "a", count: 5))
        #expect(try context.selectAll(of: Part.self).map(\.count) == [5, 1])
        #expect(throws: StoreError.migrationUnsupported("OldPart", 1, 2)) {
          try context.selectAll(of: OldPart.self)
        }
      }
    }
  }

  @Test(
    "JSON lines are exported and imported; the error for an invalid line names it, and nothing changes"
  )
  func jsonLines() throws {
    try withItems { store in
      var lines: [Data] = []
      #expect(try store.exportJSONLines(of: Item.self, to: { lines.append($0) }) == 30)
      #expect(lines.allSatisfy { !$0.contains(10) })
      try store.deleteAll(of: Item.self)
      #expect(throws: JSONLineError.self) {
        try store.importJSONLines(of: Item.self, from: lines + [Data("{}".utf8)])
      }
      #expect(try store.count(of: Item.self) == 0)
      #expect(try store.importJSONLines(of: Item.self, from: lines + [Data()]) == 30)
      #expect(try store.selectAll(of: Item.self) == items)
    }
  }
}
