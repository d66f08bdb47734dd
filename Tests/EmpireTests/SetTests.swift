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

// The tests of keys that Swift takes for equal, though their bytes differ.
@IndexKeyRecord("name", "part")
@Index("code")
private struct Word: Equatable {
  let name: String
  let part: Tuple<String, Date>
  var code: Int
  var text: String = ""
}

@IndexKeyRecord("id")
private struct Level: Codable {
  let id: Int
  var value: Double
  var rough: [Float]
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

  private static let composed = "\u{e9}"
  private static let decomposed = "e\u{301}"

  @Test(
    "A key that changes only to another normal form moves the record and its index entry",
    arguments: [(composed, decomposed, "a", "a"), ("a", "a", decomposed, composed)])
  func normalForms(_ name: String, _ newName: String, _ part: String, _ newPart: String) throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      let date = Date(timeIntervalSince1970: 1)
      try store.insert(Word(name: name, part: Tuple(part, date), code: 1))
      let moved = Word(name: newName, part: Tuple(newPart, date), code: 1)
      try store.update(of: Word.self, key: Tuple(name, Tuple(part, date))) { $0 = moved }
      let all = try store.selectAll(of: Word.self)
      #expect(all.map { Array($0.name.utf8) } == [Array(newName.utf8)])
      #expect(all.map { Array($0.part.elements.0.utf8) } == [Array(newPart.utf8)])
      #expect(try Word.select(in: store, code: 1).count == 1)
      let old: Word? = try store.select(key: Tuple(name, Tuple(part, date)))
      #expect(old == nil)
    }
  }

  @Test("A key whose value changes but not its bytes stays in its place")
  func equalBytes() throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      let (date, later) = (Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: 1.000_1))
      try store.insert(Word(name: "a", part: Tuple("b", date), code: 1))
      try store.update(of: Word.self, key: Tuple("a", Tuple("b", later))) {
        $0 = Word(name: "a", part: Tuple("b", later), code: 2)
      }
      #expect(try store.selectAll(of: Word.self).map(\.code) == [2])
      #expect(try Word.select(in: store, code: .greaterThan(0)).map(\.code) == [2])
    }
  }

  @Test("An update that cannot be stored leaves the record, also if its error is caught")
  func refusedUpdate() throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      let word = Word(name: "a", part: Tuple("b", Date(timeIntervalSince1970: 1)), code: 1)
      try store.insert(word)
      try store.withTransaction { context in
        for (name, text) in [(String(repeating: "x", count: 600), ""), ("b", "\0"), ("\0", "")] {
          #expect(throws: (any Error).self) {
            try context.update(of: Word.self, key: word.indexKey) {
              $0 = Word(name: name, part: word.part, code: 2, text: text)
            }
          }
        }
      }
      #expect(try store.selectAll(of: Word.self) == [word])
      #expect(try Word.select(in: store, code: .greaterThan(0)) == [word])
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

  @Test("JSON lines keep infinite numbers and NaN")
  func infiniteNumbers() throws {
    try withTemporaryDirectory { directory in
      let store = Store(database: try LockingDatabase(url: directory))
      let values = [Double.infinity, -.infinity, .nan, .greatestFiniteMagnitude, -0.0]
      try store.withTransaction { context in
        for (id, value) in values.enumerated() {
          try context.insert(Level(id: id, value: value, rough: [Float(value)]))
        }
      }
      func bits() throws -> [[UInt64]] {
        try store.selectAll(of: Level.self).map {
          [$0.value.bitPattern] + $0.rough.map { UInt64($0.bitPattern) }
        }
      }
      let before = try bits()
      var lines: [Data] = []
      try store.exportJSONLines(of: Level.self) { lines.append($0) }
      try store.deleteAll(of: Level.self)
      #expect(try store.importJSONLines(of: Level.self, from: lines) == values.count)
      #expect(try bits() == before)
    }
  }
}
