// Which values can be stored, which cannot, and their bytes.

import Empire
import Foundation
import LMDB
import Testing

@IndexKeyRecord("id")
private struct Note: Equatable {
  let id: Int
  var text: String
  var date: Date?
}

@IndexKeyRecord("bytes", "flag", "number")
private struct Blob: Equatable {
  let bytes: Data
  let flag: Bool
  let number: Int
  var content: Data
}

@IndexKeyRecord("date")
private struct Day: Equatable { let date: Date }

@IndexKeyRecord("temperature", "level")
private struct Reading: Equatable {
  let temperature: Double
  let level: Int16
  var tags: Set<String>
  var counts: [String: Int]
}

/// The later type migrates what the earlier one has stored, and reads a part of it.
@IndexKeyRecord(keyPrefix: 70, "id")
private struct Entry: Equatable {
  let id: Int
  var text: String
}

@IndexKeyRecord(keyPrefix: 71, fieldsVersion: 1, "id")
private struct Article: Equatable {
  let id: Int
  var title: String
  var body: String
}

/// A part of an article, by a version that is given by hand.
@IndexKeyRecord(keyPrefix: 71, fieldsVersion: 1, "id")
private struct Headline: Equatable {
  let id: Int
  var title: String
}

@IndexKeyRecord(keyPrefix: 70, fieldsVersion: 2, "id")
private struct LaterEntry: Equatable {
  let id: Int

  static func deserialize(
    with deserializer: consuming RecordDeserializer, version: IndexKeyRecordHash
  ) throws -> sending LaterEntry { try LaterEntry.deserialize(with: deserializer) }
}

@IndexKeyRecord("id")
private struct Device: Equatable {
  let id: Int
  var pings: Set<Date>
  var log: [Date: String]
}

/// The same bytes as those of a `Device`, which are not refused.
@IndexKeyRecord("id")
private struct OldDevice {
  static let later = Date(timeIntervalSince1970: 1_700_000_000.1232)
  static let stored = Date(timeIntervalSince1970: 1_700_000_000.123)

  let id: Int
  var pings: [Date]
  var log: [Tuple<Date, String>]
}

struct DataTests {
  private func withStore<R>(_ body: (Store, URL) throws -> R) throws -> R {
    try withTemporaryDirectory { try body(try Store(url: $0), $0) }
  }

  @Test("The bytes on disk follow the format")
  func format() throws {
    try withTemporaryDirectory { directory in
      try Store(url: directory).insert(PersonOfTheCheckValues.Person(name: "Al", age: 2))
      let files = try FileManager.default.contentsOfDirectory(atPath: directory.path())
      #expect(files == ["data.mdb"])
      let environment = try Environment(url: directory, maxDatabases: 1)
      try Transaction.with(env: environment, readOnly: true) { transaction in
        let dbi = try transaction.open(name: "empiredb")
        #expect(try transaction.count(dbi: dbi) == 1)
        var cursor = try "".withMDBVal {
          try Cursor(
            transaction: transaction, dbi: dbi,
            query: LMDB.Query(comparison: .greaterOrEqual(nil), key: $0))
        }
        let (key, value) = try #require(try cursor.advance())
        #expect(Array(key.bufferPointer) == [0xAB, 0x38, 0xE6, 0xD5, 0x41, 0x6C, 0x00])
        #expect(
          Array(value.bufferPointer) == [0x24, 0x60, 0x87, 0x4F, 0x80, 0, 0, 0, 0, 0, 0, 2])
      }
      let mode =
        try FileManager.default.attributesOfItem(
          atPath: directory.appending(path: "data.mdb").path())[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }

  @Test("A NUL or a date without milliseconds is rejected in records, lookups and queries")
  func unstorable() throws {
    try withStore { store, _ in
      try store.withTransaction { context in
        for text in ["\0", "a\0b"] {
          #expect(throws: SerializeError.nulInString) {
            try context.insert(Note(id: 1, text: text))
          }
          #expect(throws: SerializeError.nulInString) { try context.insert(Tree(name: text)) }
          #expect(throws: SerializeError.nulInString) {
            let _: Tree? = try context.select(key: Tree.IndexKey(text))
          }
          #expect(throws: SerializeError.nulInString) {
            try Tree.select(in: context, name: .greaterThan(text))
          }
          #expect(throws: SerializeError.nulInString) {
            try Tree.select(in: context, name: .within([text]))
          }
          #expect(throws: SerializeError.nulInString) {
            try Tree.select(in: context, limit: 0, name: .within(["a", text]))
          }
          #expect(throws: SerializeError.nulInString) {
            try Person.select(in: context, city: text, name: "")
          }
          #expect(throws: SerializeError.nulInString) { try Tree.delete(in: context, name: text) }
        }
        for seconds in [Double.nan, .infinity, 1e300] {
          let date = Date(timeIntervalSince1970: seconds)
          #expect(throws: SerializeError.dateOutOfRange) {
            try context.insert(Note(id: 1, text: "", date: date))
          }
          #expect(throws: SerializeError.dateOutOfRange) { try Day.select(in: context, date: date) }
          #expect(throws: SerializeError.dateOutOfRange) {
            try Day.select(in: context, date: .lessThan(date))
          }
        }
        #expect(throws: SerializeError.notANumber) {
          try Reading.select(in: context, temperature: .greaterThan(.nan))
        }
        #expect(throws: SerializeError.notANumber) {
          try Reading.select(in: context, temperature: .equals(.nan))
        }
        #expect(throws: SerializeError.notANumber) {
          try Reading.select(in: context, temperature: .nan)
        }
        let stored = try Note.select(in: context, id: .greaterOrEqual(.min))
        #expect(stored.isEmpty)
      }
    }
  }

  @Test("Keys up to 511 bytes, values beyond 32 KiB")
  func sizes() throws {
    try withStore { store, _ in
      // 4 bytes for the tag, 1 for the NUL.
      let longest = String(repeating: "x", count: 506)
      try store.withTransaction { context in
        try context.insert(Tree(name: longest))
        #expect(try Tree.select(in: context, name: longest).count == 1)
        let longer = longest + "x"
        #expect(throws: StoreError.keyBufferOverflow) { try context.insert(Tree(name: longer)) }
        #expect(throws: StoreError.keyBufferOverflow) { try Tree.select(in: context, name: longer) }
        #expect(throws: StoreError.keyBufferOverflow) {
          try Tree.select(in: context, name: .lessThan(longer))
        }
        #expect(throws: StoreError.keyBufferOverflow) {
          let _: Tree? = try context.select(key: Tuple(longer))
        }
        #expect(throws: StoreError.keyBufferOverflow) {
          try Triple.select(in: context, a: 1, b: 1, c: longest)
        }
        let large = Note(id: 1, text: String(repeating: "0123456789", count: 1_000_000))
        try context.insert(large)
        #expect(try Note.select(in: context, id: 1) == [large])
      }
    }
  }

  @Test("Data, Bool and the remaining types as keys")
  func keys() throws {
    try withStore { store, _ in
      try store.withTransaction { context in
        let all: [Data] = [[], [0], [0, 0], [0, 1], [1], [1, 0], [0xFF], [0xFF, 0]].map { Data($0) }
        for bytes in all.shuffled() {
          for flag in [true, false] {
            try context.insert(Blob(bytes: bytes, flag: flag, number: 7, content: bytes))
          }
        }
        let found = try Blob.select(in: context, bytes: .greaterOrEqual(Data()))
        #expect(found.map(\.bytes) == all.flatMap { [$0, $0] })
        #expect(found.map(\.flag) == all.flatMap { _ in [false, true] })
        #expect(try Blob.select(in: context, bytes: .range(Data([0])..<Data([1]))).count == 6)
        #expect(try Blob.select(in: context, bytes: Data([1]), flag: true, number: 7).count == 1)
        let one: Blob? = try context.select(key: Tuple(Data([0]), false, 7))
        #expect(one?.content == Data([0]))

        for temperature in [-1.5, 0, 1e10, -.infinity] as [Double] {
          try context.insert(
            Reading(temperature: temperature, level: -3, tags: ["b", "a"], counts: ["n": 1]))
        }
        let readings = try Reading.select(in: context, temperature: .lessThan(1))
        #expect(readings.map(\.temperature) == [0, -1.5, -.infinity])
        #expect(
          try Reading.select(in: context, temperature: -0.0, level: -3).first?.tags == ["a", "b"])
      }
    }
  }

  @Test("Surplus bytes behind a key or its fields are damage, except for a migration")
  func surplusBytes() throws {
    func withSurplus(
      _ key: [UInt8] = [], _ value: [UInt8] = [], _ body: (Store) throws -> Void
    ) throws {
      try withTemporaryDirectory { directory in
        try Store(url: directory).insert(Entry(id: 2, text: "b"))
        try rewrite(directory) {
          $0 += key
          $1 += value
        }
        try body(try Store(url: directory))
      }
    }
    for (key, value) in [([0, 1, 2], []), ([], [0]), ([1], [2, 3])] as [([UInt8], [UInt8])] {
      let damage = StoreError.surplusBytes("Entry", key: "(2)", count: key.count + value.count)
      try withSurplus(key, value) { store throws in
        #expect(throws: damage) { try store.selectAll(of: Entry.self) }
        #expect(throws: damage) { try Entry.select(in: store, id: .lessThan(3)) }
        // The key with surplus bytes is another one.
        let byKey = Result { try store.select(key: Tuple(2)) as Entry? }
        #expect(
          byKey.mapError { $0 as? StoreError ?? .indexDamaged }
            == (key.isEmpty ? .failure(damage) : .success(nil)))
        #expect(try store.delete(Entry.query(id: .greaterThan(1))) == 1)
        #expect(try store.selectAll(of: Entry.self) == [])
      }
    }
    for rest in [[], [9]] as [[UInt8]] {
      try withSurplus([], rest) { store throws in
        #expect(try store.selectAll(of: LaterEntry.self) == [LaterEntry(id: 2)])
        #expect(try store.select(key: Tuple(2)) == LaterEntry(id: 2))
      }
    }
  }

  @Test("Types with the same prefix and version share their records, and may read a part of them")
  func sharedRecords() throws {
    try withStore { store, _ in
      try store.insert(Article(id: 1, title: "a", body: "b"))
      #expect(try store.selectAll(of: Headline.self) == [Headline(id: 1, title: "a")])
      #expect(try store.select(key: Tuple(1)) == Headline(id: 1, title: "a"))
    }
  }

  @Test("A record whose set has dates in the same millisecond is stored and read")
  func nearDates() throws {
    try withStore { store, _ in
      let device = Device(id: 1, pings: [OldDevice.stored, OldDevice.later], log: [:])
      try store.insert(device)
      let read = Device(id: 1, pings: [OldDevice.stored], log: [:])
      #expect(try store.select(key: device.indexKey) == read)
      #expect(try Device.select(in: store, id: .greaterThan(0)) == [read])
      #expect(try store.update(of: Device.self, key: Tuple(1)) { $0.pings = [] }?.pings == [])
      #expect(throws: SerializeError.equalKeys) {
        try store.insert(
          Device(id: 1, pings: [], log: [OldDevice.stored: "a", OldDevice.later: "b"]))
      }
      #expect(try store.selectAll(of: Device.self).map(\.log) == [[:]])
    }
  }

  @Test("A record that an earlier version stored with equal elements is read")
  func storedNearDates() throws {
    try withTemporaryDirectory { directory in
      let dates = [OldDevice.stored, OldDevice.later]
      try Store(url: directory).insert(
        OldDevice(id: 1, pings: dates, log: dates.map { Tuple($0, $0 == dates[0] ? "a" : "b") }))
      try rewrite(directory) { key, value in
        key.replaceSubrange(..<4, with: Device.keyPrefix.bytes)
        value.replaceSubrange(..<4, with: Device.fieldsVersion.bytes)
      }
      let store = try Store(url: directory)
      let read = try #require(try store.select(key: Tuple(1)) as Device?)
      #expect(read.pings == [OldDevice.stored])
      #expect(read.log.keys.elementsEqual([OldDevice.stored]))
      #expect(try store.update(of: Device.self, key: Tuple(1)) { $0.log = [:] }?.log == [:])
    }
  }

  @Test("Damaged bytes in a file are reported as errors")
  func damage() throws {
    try withTemporaryDirectory { directory in
      try Store(url: directory).insert(Note(id: 1, text: "abc", date: .distantPast))
      func damage(_ change: (inout [UInt8]) -> Void) throws {
        try rewrite(directory) { _, value in change(&value) }
      }
      func damaged(_ reason: DeserializeError) -> StoreError {
        .unreadableRecord("Note", key: "(1)", reason: reason)
      }
      try damage { $0.removeLast() }
      #expect(throws: damaged(.endOfBufferReached(17, 16))) {
        let _: Note? = try Store(url: directory).select(key: Note.IndexKey(1))
      }
      try damage { $0[4] = 0xFF }
      #expect(throws: damaged(.invalidValue)) {
        try Note.select(in: try Store(url: directory), id: .greaterOrEqual(0))
      }
      try damage { $0 = [1] }
      #expect(throws: damaged(.endOfBufferReached(4, 1))) {
        let _: Note? = try Store(url: directory).select(key: Note.IndexKey(1))
      }
    }
  }
}

/// Replaces the first record of a directory that no store has open.
private func rewrite(
  _ directory: URL, _ change: (inout [UInt8], inout [UInt8]) -> Void
) throws {
  let environment = try Environment(url: directory, maxDatabases: 1)
  try Transaction.with(env: environment) { transaction in
    let dbi = try transaction.open(name: "empiredb")
    var cursor = try "".withMDBVal {
      try Cursor(
        transaction: transaction, dbi: dbi,
        query: LMDB.Query(comparison: .greaterOrEqual(nil), key: $0))
    }
    let (first, content) = try #require(try cursor.advance())
    var (key, value) = (Array(first.bufferPointer), Array(content.bufferPointer))
    try transaction.delete(dbi: dbi, key: first)
    change(&key, &value)
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes {
        try transaction.set(dbi: dbi, keyBuffer: key, valueBuffer: $0)
      }
    }
  }
}

extension IndexKeyRecordHash {
  /// As in a file.
  fileprivate var bytes: [UInt8] { Swift.withUnsafeBytes(of: bigEndian) { Array($0) } }
}

enum PersonOfTheCheckValues {
  // The type's name is part of the format; this is the tag of a top-level `Person`.
  @IndexKeyRecord(keyPrefix: 2_872_633_045, "name")
  struct Person {
    let name: String
    let age: Int
  }
}
