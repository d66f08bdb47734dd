// All supported forms of @IndexKeyRecord, and the hashes.

import Dflat
public import Empire
import Foundation
import Testing

// Dflat and Empire in one file: `Bool: Comparable` is declared once.

@IndexKeyRecord("flag")
private struct Flagged { let flag: Bool }

@IndexKeyRecord(keyPrefix: 0x10, "name")
private struct Prefixed {
  let name: String
  let age: Int
}

@IndexKeyRecord(fieldsVersion: 0b11, "name")
private struct Versioned {
  let name: String
  let age: Int
}

@IndexKeyRecord(keyPrefix: 1_000, fieldsVersion: 0o17, "name")
private struct BothGiven { let name: String }

@IndexKeyRecord(validated: 184_032_582, "key")
private struct Validated {
  // Blanks, comments and default values do not change a hash.
  let name: String  // trailing
  var age: /* inner */ Int = 5
  let key: Int
  let date: Date /* behind */
}

/// The number is upstream's hash, with a blank or a comment around some types.
@IndexKeyRecord(validated: 3_352_468_315, "key")
private struct Spaced {
  let key: Int
  var number: Int /* behind */
  var list: /* before */ [String] = []  // behind
  var flag: Bool /* one */ = true
  var date: Date /* next to it */
}

private enum Outer {
  @IndexKeyRecord("id")
  struct Inner: Equatable { let id: Int }
}

@IndexKeyRecord("last", "first")
private struct Reordered: Equatable {
  let age: Int
  let first: String
  var middle: String?
  let last: String
}

@IndexKeyRecord("id")
private struct WithHelpers: Equatable {
  let id: Int

  #if DEBUG
    func dump() -> String { "\(id)" }
  #else
    func dump() -> String { "\(id)" }
  #endif

  static func deserialize(_ deserializer: inout Deserializer, count: Int) throws -> [Int] {
    try (0..<count).map { _ in try Int.unpack(with: &deserializer) }
  }
}

@IndexKeyRecord("limit", "context")
private struct Names: Equatable {
  let limit: Int
  let context: String
  let buffer: Int
  let deserializer: Int
  let store: Int
  let query: Int
  let `in`: Int
  let `default`: String
}

@IndexKeyRecord("a", "b")
private struct Bindings: Equatable {
  static let shared = 5
  let a, b: Int
  var c: Int = 1, d: [Int] = []
  var sum: Int { a + b }
  var halves: Int {
    get { c / 2 }
    set { c = newValue * 2 }
  }
  var observed: Int {
    didSet { c += 1 }
  }
  init(a: Int, b: Int, c: Int, d: [Int], observed: Int) {
    (self.a, self.b, self.c, self.d, self.observed) = (a, b, c, d, observed)
  }
}

@IndexKeyRecord("id")
private struct Album {
  let id: UUID
  var title: String
}

@IndexKeyRecord("album", "position")
private struct Track: Equatable {
  let album: Album.IndexKey
  let position: Int
  var title: String
}

/// A public record.
@IndexKeyRecord("id")
public struct Public: Sendable, Identifiable {
  /// Its identity.
  public let id: Int
  var name: String
}

/// Types that the compiler has to check, in all spellings.
@IndexKeyRecord("kind", "parent")
struct Relative: Equatable {
  enum Kind: UInt32, Serializable, Deserializable, IndexKeyComparable {
    case low, high
    static func < (lhs: Kind, rhs: Kind) -> Bool { lhs.rawValue < rhs.rawValue }
  }

  let kind: Self.Kind
  let parent: FormTests.Name
  var others: [Self.Kind]
  var first: Kind?
  var pair: Tuple<Int, Kind>

  static func deserialize(with data: Data, version: Int) -> Int { version }
}

/// Names with any characters, and types of Foundation and of the program.
@IndexKeyRecord("my key", "small", "amount", "wide")
@Index("2nd")
private struct Unusual: Equatable {
  struct Part: JSONSerializable, Equatable { var name: String }

  let `my key`: String
  let small: UInt8
  let amount: Decimal
  let wide: Int128
  var `a "site"`: URL?
  var `2nd`: Double = 1
  var parts: [Part]
}

@IndexKeyRecord("name")
struct Named { let name: String }
extension Named: Identifiable {}

struct FormTests {
  typealias Name = String

  @Test("Types may be spelled in any way, and the struct may have functions of similar names")
  func relativeTypes() throws {
    let record = Relative(
      kind: .high, parent: "p", others: [.low], first: nil, pair: Tuple(1, .high))
    try withStore { store in
      try store.insert(record)
      #expect(try Relative.select(in: store, kind: .greaterThan(.low)) == [record])
      #expect(try store.count(Relative.query(kind: .high, parent: "p")) == 1)
    }
  }

  @Test("Tags are the hashes of names and types, or explicit values")
  func tags() {
    #expect(Prefixed.keyPrefix == 16 && Prefixed.fieldsVersion == 610_305_871)
    #expect(Versioned.fieldsVersion == 3)
    #expect(BothGiven.keyPrefix == 1_000 && BothGiven.fieldsVersion == 15)
    #expect(Validated.fieldsVersion == 0x0AF8_1D46)
    #expect(Outer.Inner.keyPrefix == 2_708_448_579)
    // "Int,[String],Bool,Date", and both forms that upstream may have hashed.
    #expect(Spaced.fieldsVersion == 1_228_576_754)
    #expect(Spaced.equalFieldsVersions.contains(3_352_468_315))
    #expect(Spaced.equalFieldsVersions.contains(2_390_044_419))
    #expect(Outer.Inner.fieldsVersion == 0)
    #expect(Outer.Inner.Fields.self == Tuple<EmptyValue>.self)
  }

  @Test("The arguments' order determines the key, the declaration's order the initialiser")
  func order() throws {
    let record = Reordered(age: 1, first: "A", middle: nil, last: "Z")
    #expect(record.indexKey == Tuple("Z", "A"))
    #expect(record.fields == Tuple(1, nil))
    try withStore { store in
      try store.insert(record)
      #expect(try Reordered.select(in: store, last: "Z", first: .lessThan("B")) == [record])
      try store.withTransaction { try Reordered.delete(in: $0, last: "Z", first: "A") }
      #expect(try Reordered.select(in: store, last: "Z").isEmpty)
    }
  }

  @Test("Properties with names that the generated code also uses")
  func names() throws {
    let record = Names(
      limit: 1, context: "c", buffer: 2, deserializer: 3, store: 4, query: 5, in: 6, default: "7")
    try withStore { store in
      try store.insert(record)
      #expect(try Names.select(in: store, limit: 1) == [record])
      #expect(try Names.select(in: store, limit: nil, limit: .lessOrEqual(1)) == [record])
      #expect(try Names.select(in: store, limit: 1, context: "c") == [record])
    }
  }

  @Test("Names in backticks, narrow and wide integers, decimals, URLs and Codable types")
  func unusual() throws {
    let records = [
      Unusual(`my key`: "a", small: 255, amount: -1.5, wide: -1, `a "site"`: nil, parts: []),
      Unusual(
        `my key`: "a", small: 255, amount: 10, wide: .min, `a "site"`: URL(string: "a:b"),
        `2nd`: 2, parts: [Unusual.Part(name: "p")]),
    ]
    try withStore { store in
      for record in records.reversed() { try store.insert(record) }
      #expect(try Unusual.select(in: store, `my key`: "a") == records)
      #expect(
        try Unusual.select(in: store, `my key`: "a", small: 255, amount: .greaterThan(2))
          == [records[1]])
      #expect(try Unusual.select(in: store, `2nd`: .lessThan(2)) == [records[0]])
      try store.withTransaction {
        try Unusual.delete(in: $0, `my key`: "a", small: 255, amount: 10, wide: .min)
      }
      #expect(try store.selectAll(of: Unusual.self) == [records[0]])
    }
  }

  @Test("Several bindings, static, computed and observed properties")
  func bindings() throws {
    let record = Bindings(a: 1, b: 2, c: 3, d: [4], observed: 5)
    #expect(Bindings.Fields.self == Tuple<Int, [Int], Int>.self)
    try withStore { store in
      try store.insert(record)
      #expect(try Bindings.select(in: store, a: 1, b: 2) == [record])
    }
  }

  @Test("A property may be another record's key")
  func relationships() throws {
    let album = Album(id: UUID(), title: "a")
    let tracks = (0..<3).map { Track(album: album.indexKey, position: $0, title: "\($0)") }
    try withStore { store in
      try store.withTransaction { context in
        try context.insert(album)
        for track in tracks { try context.insert(track) }
        try context.insert(Track(album: Tuple(UUID()), position: 0, title: ""))
        #expect(try Track.select(in: context, album: album.indexKey) == tracks)
        #expect(try Track.select(in: context, album: album.indexKey, position: 1) == [tracks[1]])
        let home: Album? = try context.select(key: tracks[0].album)
        #expect(home?.title == "a")
      }
    }
  }

  @Test("An empty extension makes records Identifiable; Bool has one order")
  func conformances() {
    #expect(Named(name: "x").id == Tuple("x"))
    #expect(Public(id: 7, name: "").id == 7)
    #expect(false < true && Flagged(flag: false).indexKey < Flagged(flag: true).indexKey)
  }

  private func withStore(_ body: (Store) throws -> Void) throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "macros-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    try body(try Store(url: url))
  }
}
