// Records that were stored by another version of their type.

import Empire
import Foundation
import Testing

@IndexKeyRecord(keyPrefix: 1, fieldsVersion: 1, "name")
private struct Old: Equatable {
  let name: String
  var age: Int
}

@IndexKeyRecord(keyPrefix: 1, fieldsVersion: 2, "name")
private struct New: Equatable {
  let name: String
  var age: Int
  var note: String

  static func deserialize(
    with deserializer: consuming RecordDeserializer, version: IndexKeyRecordHash
  ) throws -> sending New {
    guard version == Old.fieldsVersion else { throw unsupportedMigrationError(for: version) }
    let old = try Old.deserialize(with: deserializer)
    return New(name: old.name, age: old.age, note: "new")
  }
}

/// Migration moves every record up the alphabet.
@IndexKeyRecord(keyPrefix: 1, fieldsVersion: 3, "name")
private struct Moving: Equatable {
  let name: String

  static func deserialize(
    with deserializer: consuming RecordDeserializer, version: IndexKeyRecordHash
  ) throws -> sending Moving {
    let old = try Old.deserialize(with: deserializer)
    guard let scalar = old.name.unicodeScalars.first?.value, let next = Unicode.Scalar(scalar + 1)
    else { throw unsupportedMigrationError(for: version) }
    return Moving(name: String(Character(next)))
  }
}

/// Migration moves every record, and makes a text of one that cannot be stored.
@IndexKeyRecord(keyPrefix: 1, fieldsVersion: 5, "name")
private struct Spoilt: Equatable {
  let name: String
  var note: String

  static func deserialize(
    with deserializer: consuming RecordDeserializer, version: IndexKeyRecordHash
  ) throws -> sending Spoilt {
    let name = try Old.deserialize(with: deserializer).name
    return Spoilt(name: "new \(name)", note: name == "b" ? "\0" : "")
  }
}

/// Migration gives several old keys the same new one.
@IndexKeyRecord(keyPrefix: 1, fieldsVersion: 6, "name")
private struct Lowercased: Equatable {
  let name: String
  var note: String

  static func deserialize(
    with deserializer: consuming RecordDeserializer, version: IndexKeyRecordHash
  ) throws -> sending Lowercased {
    Lowercased(name: try Old.deserialize(with: deserializer).name.lowercased(), note: "old")
  }
}

@IndexKeyRecord(keyPrefix: 1, fieldsVersion: 4, "name")
private struct Ignorant: Equatable { let name: String }

/// As upstream stores `Member`: its hash is over "Int ", with the blank before the default value.
@IndexKeyRecord(keyPrefix: 2, fieldsVersion: 2_064_665_745, "name")
private struct WrittenByUpstream {
  let name: String
  var age: Int
}

@IndexKeyRecord(keyPrefix: 2, "name")
private struct Member: Equatable {
  let name: String
  var age: Int = 0
}

/// As upstream stores `Commented`: its hash is over "Int  ,String ", with the blanks that comments
/// follow.
@IndexKeyRecord(keyPrefix: 3, fieldsVersion: 237_509_298, "name")
private struct CommentedByUpstream {
  let name: String
  var age: Int
  var note: String
}

@IndexKeyRecord(keyPrefix: 3, "name")
private struct Commented: Equatable {
  let name: String
  var age: Int  // a comment
  var note: String /* another one */
}

struct MigrationTests {
  @Test("Upstream's version of fields with a default value is the same version")
  func upstreamVersion() throws {
    try withTemporaryDirectory { directory in
      let store = Store(database: try LockingDatabase(url: directory))
      try store.insert(WrittenByUpstream(name: "a", age: 41))
      let found: Member? = try store.select(key: Member.IndexKey("a"))
      #expect(found == Member(name: "a", age: 41))
      // It is not migrated: its owner still reads it.
      let left: WrittenByUpstream? = try store.select(key: WrittenByUpstream.IndexKey("a"))
      #expect(left?.age == 41)
      #expect(Member.fieldsVersion == 610_305_871)
    }
  }

  @Test("Upstream's version of fields with comments behind them is the same version")
  func commentedVersion() throws {
    try withTemporaryDirectory { directory in
      let store = Store(database: try LockingDatabase(url: directory))
      try store.insert(CommentedByUpstream(name: "a", age: 41, note: "n"))
      let found: Commented? = try store.select(key: Commented.IndexKey("a"))
      #expect(found == Commented(name: "a", age: 41, note: "n"))
    }
  }

  @Test("A record that is named twice is migrated once")
  func repeated() throws {
    try withOld(["a", "b"]) { store in
      let found = try New.select(in: store, name: .within(["a", "b", "a"]))
      #expect(found.map(\.name) == ["a", "b", "a"])
      #expect(found.allSatisfy { $0.note == "new" })
      #expect(try New.select(in: store, name: .within(["a"])).map(\.note) == ["new"])
    }
  }

  private func withOld<R>(_ names: [String], _ body: (Store) throws -> R) throws -> R {
    try withTemporaryDirectory { directory in
      let store = Store(database: try LockingDatabase(url: directory))
      try store.withTransaction { context in
        for name in names { try context.insert(Old(name: name, age: 1)) }
      }
      return try body(store)
    }
  }

  @Test("A single record is migrated when it is read, and stored")
  func single() throws {
    try withOld(["a", "b"]) { store in
      let new: New? = try store.select(key: New.IndexKey("a"))
      #expect(new?.note == "new")
      // Stored in the new version: the old type cannot read it.
      #expect(throws: StoreError.migrationUnsupported("Old", 1, 2)) {
        let _: Old? = try store.select(key: Old.IndexKey("a"))
      }
      let untouched: Old? = try store.select(key: Old.IndexKey("b"))
      #expect(untouched != nil)
    }
  }

  @Test("A read-only transaction returns the migrated record and writes nothing")
  func reading() throws {
    try withOld(["a"]) { store in
      try store.withTransaction(readOnly: true) { context in
        let new: New? = try context.select(key: New.IndexKey("a"))
        #expect(new?.note == "new")
        #expect(try New.select(in: context, name: .lessThan("z")).map(\.note) == ["new"])
        let again: New? = try store.select(key: New.IndexKey("a"))
        #expect(again?.note == "new")
      }
      let old: Old? = try store.select(key: Old.IndexKey("a"))
      #expect(old != nil)
    }
  }

  @Test("A query migrates many records, old and new mixed, each once and in place")
  func queries() throws {
    let names = (0..<500).map { "n\(1000 + $0)" }
    try withOld(names) { store in
      try store.withTransaction { context in
        try context.insert(New(name: "n1100", age: 5, note: "already"))
        let found = try New.select(in: context, name: .greaterThan("n1"))
        #expect(found.map(\.name) == names)
        #expect(found[100].note == "already")
        #expect(try New.select(in: context, name: .lessThan("z")).map(\.name) == names.reversed())
      }
      #expect(throws: StoreError.migrationUnsupported("Ignorant", 4, 2)) {
        try Ignorant.select(in: store, name: .greaterThan(""))
      }
    }
  }

  @Test("Migration may change keys, even to the keys of other migrated records")
  func moving() throws {
    try withOld(["a", "b", "c"]) { store in
      let found = try Moving.select(in: store, name: .closedRange("a"..."x"))
      #expect(found.map(\.name) == ["b", "c", "d"])
      let again = try Moving.select(in: store, name: .closedRange("a"..."x"))
      #expect(again.map(\.name) == ["b", "c", "d"])
    }
  }

  private static let taken = StoreError.migratedKeyTaken(
    "Lowercased", stored: "(\"A\")", migrated: "(\"a\")")

  @Test("A migrated record replaces no other one, however it is read")
  func takenKey() throws {
    try withOld(["A", "B"]) { store in
      let newer = Lowercased(name: "a", note: "newer")
      try store.insert(newer)
      let error = #expect(throws: Self.taken) {
        let _: Lowercased? = try store.select(key: Lowercased.IndexKey("A"))
      }
      #expect(error?.description.contains("(\"A\")") == true)
      try store.withTransaction { context in
        #expect(throws: Self.taken) { try context.selectAll(of: Lowercased.self) }
        #expect(throws: Self.taken) { try Lowercased.select(in: context, name: "A") }
        #expect(throws: Self.taken) {
          try context.update(of: Lowercased.self, key: Lowercased.IndexKey("A")) { $0.note = "" }
        }
      }
      // Nothing was changed, and all can be read.
      let all = [newer] + ["a", "b"].map { Lowercased(name: $0, note: "old") }
      try store.withTransaction(readOnly: true) { context throws in
        #expect(try context.selectAll(of: Lowercased.self).sorted { $0.note < $1.note } == all)
      }
      // Others are migrated as before, and so is this one when its key is free.
      #expect(try store.select(key: Lowercased.IndexKey("B")) == all[2])
      try store.delete(newer)
      #expect(try store.selectAll(of: Lowercased.self) == Array(all.dropFirst()))
    }
  }

  @Test("Two outdated records that would get one key are both kept")
  func sameKey() throws {
    try withOld(["A", "a"]) { store in
      #expect(throws: StoreError.self) { try store.selectAll(of: Lowercased.self) }
      #expect(throws: Self.taken) {
        let _: Lowercased? = try store.select(key: Lowercased.IndexKey("A"))
      }
      #expect(try store.selectAll(of: Old.self).map(\.name) == ["A", "a"])
      try store.withTransaction {
        try $0.delete(recordType: Lowercased.self, key: Lowercased.IndexKey("A"))
      }
      #expect(try store.selectAll(of: Lowercased.self).map(\.name) == ["a"])
    }
  }

  @Test("A record that moves to the key of one that moves as well is migrated together with it")
  func movingAlone() throws {
    try withOld(["a", "b"]) { store throws in
      #expect(throws: StoreError.migratedKeyTaken("Moving", stored: "(\"a\")", migrated: "(\"b\")"))
      {
        let _: Moving? = try store.select(key: Moving.IndexKey("a"))
      }
      #expect(try store.selectAll(of: Moving.self).map(\.name) == ["b", "c"])
    }
  }

  @Test("If a migrated record cannot be stored, nothing is changed, though the error is caught")
  func unstorable() throws {
    let names = ["a", "b", "c"]
    try withOld(names) { store in
      try store.withTransaction { context in
        #expect(throws: SerializeError.self) { try context.selectAll(of: Spoilt.self) }
        #expect(throws: SerializeError.self) {
          let _: Spoilt? = try context.select(key: Spoilt.IndexKey("b"))
        }
        #expect(throws: SerializeError.self) {
          try context.update(of: Spoilt.self, key: Spoilt.IndexKey("b")) { $0.note = "" }
        }
        try context.insert(Tree(name: "x"))
      }
      #expect(try store.selectAll(of: Old.self).map(\.name) == names)
      #expect(try store.count(of: Tree.self) == 1)
      #expect(try store.select(key: Spoilt.IndexKey("a")) == Spoilt(name: "new a", note: ""))
    }
  }

  @Test("A failing migration changes nothing")
  func failing() throws {
    try withOld(["a", "b"]) { store in
      #expect(throws: StoreError.migrationUnsupported("Ignorant", 4, 1)) {
        try Ignorant.select(in: store, name: .greaterThan(""))
      }
      let left = try Old.select(in: store, name: .greaterThan(""))
      #expect(left.count == 2)
    }
  }
}
