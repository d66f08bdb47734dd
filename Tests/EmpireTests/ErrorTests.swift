// The messages of store errors: which record, property and key, and what to do.

import Empire
import Foundation
import Testing

@IndexKeyRecord("name", "born")
@Index("motto")
private struct Knight {
  let name: String
  let born: Date
  var motto: String
  var notes: [String]
}

/// The same records without the index.
@IndexKeyRecord(keyPrefix: 1_234, "name")
private struct Plain {
  let name: String
  var motto: String
}

@IndexKeyRecord(keyPrefix: 1_234, "name")
@Index("motto")
private struct Indexed {
  let name: String
  var motto: String
}

/// A value of any size, without its bytes.
private struct Huge: Serializable, Deserializable {
  var serializedSize: Int
  func validate(as form: SerializedForm) throws(SerializeError) {}
  func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {}
  static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Huge { Huge(serializedSize: 0) }
}

@IndexKeyRecord("id")
private struct Film {
  let id: Int
  var title: String
  var picture: Huge
}

struct ErrorTests {
  private let knight = Knight(
    name: "Ivo", born: Date(timeIntervalSince1970: 0), motto: "", notes: [])

  private func withStore(_ body: (Store) throws -> Void) throws {
    try withTemporaryDirectory { try body(try Store(url: $0)) }
  }

  /// Expects that a closure throws this error, and that its message contains the words and the
  /// advice.
  private func expect<E: LocalizedError & Equatable & CustomStringConvertible>(
    _ expected: E, _ words: String..., location: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
  ) {
    let error = #expect(throws: expected, sourceLocation: location) { try body() }
    guard let error else { return }
    for word in words {
      #expect(error.description.contains(word), "\(error)", sourceLocation: location)
    }
    expectAdvice(error, location)
  }

  /// Expects that the description of an error ends with its advice.
  private func expectAdvice<E: LocalizedError & CustomStringConvertible>(
    _ error: E, _ location: SourceLocation = #_sourceLocation
  ) {
    #expect(error.errorDescription == error.description, sourceLocation: location)
    let advice = error.recoverySuggestion ?? "?"
    #expect(error.description.hasSuffix("; \(advice)"), "\(error)", sourceLocation: location)
  }

  @Test("The error for a missing record names its key")
  func absence() throws {
    try withStore { store in
      expect(MDBError.recordNotFound, "there is no Tree with the key (\"Elm\")") {
        try store.delete(Tree(name: "Elm"))
      }
      expect(MDBError.recordNotFound, "no Triple with the key (1, 2, \"x\")") {
        try store.withTransaction {
          try $0.delete(recordType: Triple.self, key: Tuple(1, 2, "x"))
        }
      }
      expect(MDBError.recordNotFound, "no Tree with the key (\"Oak\")") {
        _ = try Tree.select(in: store, name: .within(["Oak"]))
      }
      expect(MDBError.recordNotFound, "no Tree with the key (\"Oak\")") {
        _ = try store.count(Tree.query(name: .within(["Oak"])))
      }
    }
  }

  @Test("The error for a key that is too long names record, property, size and limit")
  func longKeys() throws {
    try withStore { store in
      let long = String(repeating: "x", count: 600)
      let words = ["the key of Tree has 605 bytes", "511", "'name'"]
      func expectLong(_ body: () throws -> Void) {
        expect(StoreError.keyBufferOverflow, words[0], words[1], words[2]) { try body() }
      }
      expectLong { try store.insert(Tree(name: long)) }
      expectLong { try store.delete(Tree(name: long)) }
      expectLong { _ = try Tree.select(in: store, name: .lessThan(long)) }
      expectLong { let _: Tree? = try store.select(key: Tuple(long)) }
      expectLong { _ = try store.count(Tree.query(name: long)) }
      expect(StoreError.keyBufferOverflow, "the key of Triple", "'c'") {
        try store.insert(Triple(a: 1, b: 2, c: long))
      }
    }
  }

  @Test(
    "A value that is too long for an index is rejected on writing, whether or not the index is built"
  )
  func longIndexValues() throws {
    let long = String(repeating: "x", count: 600)
    try withStore { store in
      var wordy = knight
      wordy.motto = long
      expect(StoreError.keyBufferOverflow, "Knight by motto", "601 bytes", "502", "'motto'") {
        try store.insert(wordy)
      }
      expect(StoreError.keyBufferOverflow, "Knight by motto", "'motto'") {
        _ = try store.count(Knight.query(motto: long))
      }
    }
    try withStore { store in
      // A record of the type without the index is written first, so the index is incomplete for the
      // next one.
      try store.insert(Plain(name: "a", motto: "short"))
      expect(StoreError.keyBufferOverflow, "Indexed by motto", "'motto'") {
        try store.insert(Indexed(name: "b", motto: long))
      }
      #expect(try Indexed.select(in: store, motto: .greaterThan("")).map(\.name) == ["a"])
      // The error for a record that was stored before the index was added names its key.
      try store.insert(Plain(name: "c", motto: long))
      expect(StoreError.keyBufferOverflow, "the record with the key (\"c\")", "'motto'") {
        _ = try Indexed.select(in: store, motto: "short")
      }
    }
  }

  @Test("The error for a value that cannot be stored names its record and property")
  func refusedValues() throws {
    try withStore { store in
      expect(SerializeError.nulInString, "Tree.name: a string contains a NUL") {
        try store.insert(Tree(name: "a\0b"))
      }
      expect(SerializeError.nulInString, "Tree.name") { _ = try Tree.select(in: store, name: "\0") }
      expect(SerializeError.nulInString, "Knight.notes") {
        var knight = knight
        knight.notes = ["a", "\0"]
        try store.insert(knight)
      }
      expect(SerializeError.dateOutOfRange, "Knight.born") {
        try store.insert(
          Knight(name: "a", born: Date(timeIntervalSince1970: .infinity), motto: "", notes: []))
      }
      expect(SerializeError.nulInString, "Knight.motto") {
        _ = try store.count(Knight.query(motto: .lessThan("\0")))
      }
    }
  }

  @Test("The error for a missing directory names it")
  func missingDirectory() throws {
    try withTemporaryDirectory { directory in
      let missing = directory.appending(path: "none")
      for open in [
        { _ = try Store(url: missing) }, { _ = try LockingDatabase(path: missing.path()) },
        { _ = try BackgroundStore(url: missing) },
      ] as [() throws -> Void] {
        expect(
          MDBError.failure(2, ""), "No such file or directory", missing.path(),
          "create the directory first"
        ) { try open() }
      }
    }
  }

  @Test("The error for fields that are too long names record, key, property, size and limit")
  func longFields() throws {
    try withStore { store in
      for size in [Int(UInt32.max) - 3, Int(UInt32.max), .max / 2] {
        expect(
          StoreError.valueBufferOverflow, "the Film with the key (7)", "\(size + 2) bytes",
          "4294967291", "'picture'"
        ) { try store.insert(Film(id: 7, title: "a", picture: Huge(serializedSize: size))) }
      }
    }
  }

  @Test("An error of the storage names the directory")
  func storageErrors() throws {
    try withTemporaryDirectory { directory in
      let path = directory.path(percentEncoded: false)
      let store = Store(database: try Database(url: directory, mapSize: .fixed(1 << 16)))
      expect(MDBError.failure(-30792, ""), "MDB_MAP_FULL", path) {
        for number in 0..<10_000 { try store.insert(Tree(name: "\(number)")) }
      }
      try store.withTransaction(readOnly: true) { context in
        expect(MDBError.failure(Int(EINVAL), ""), "has no children", path) {
          try store.withTransaction(parent: context) { _ in }
        }
      }
      try store.withTransaction { context in
        expect(MDBError.failure(-30782, ""), path) {
          try store.withTransaction(parent: context, readOnly: true) { _ in }
        }
      }
    }
  }

  @Test("Every other store error has a message and advice")
  func otherErrors() throws {
    try withStore { store in
      expect(MDBError.permissionDenied, "read-only") {
        try store.withTransaction(readOnly: true) { try $0.insert(Tree(name: "a")) }
      }
    }
    let errors: [(StoreError, String)] = [
      (.noActiveContext, "after its transaction has ended"), (.noActiveStore, "another directory"),
      (.valueBufferOverflow, "4294967291"), (.indexDamaged, "empireindexes"),
      (.recordPrefixMismatch("Tree", 1, 2), "prefix 2, and Tree has 1"),
      (.migrationUnsupported("Tree", 1, 2), "version 2, which Tree cannot read"),
      (.migratedKeyTaken("Tree", stored: "(1)", migrated: "(2)"), "(1) cannot be migrated"),
      (.equalPrefixes("A.Tree", "B.Tree", 3), "A.Tree and B.Tree have the same prefix 3"),
      (.unreadableRecord("Tree", key: "(1)", reason: .invalidValue), "Tree with the key (1)"),
      (
        .surplusBytes("Tree", key: "(1)", count: 1),
        "Tree with the key (1) is stored with 1 surplus"
      ),
      (.keyBufferOverflow, "511"),
    ]
    for (error, words) in errors {
      #expect(error.description.contains(words), "\(error)")
      expectAdvice(error)
    }
    for error in [QueryError.limitInvalid(-1), .unsupportedQuery] { expectAdvice(error) }
    for error in [DeserializeError.invalidValue, .endOfBufferReached(3, 2)] { expectAdvice(error) }
    #expect(QueryError.limitInvalid(-1).description.contains("-1"))
    let cloud: [CloudKitJSONError] = [
      .missingField("f"), .wrongType("f", expected: "Int", found: "STRING"),
      .unknownType("f", "T"), .asset("f"), .unrepresentable("f", "UInt64"), .notANumber("f"),
      .recordTypeMismatch(expected: "f", found: "T"),
    ]
    for error in cloud {
      #expect(error.description.contains("f"))
      expectAdvice(error)
    }
    try withStore { store in
      let error = #expect(throws: JSONLineError.self) {
        try store.importJSONLines(of: Line.self, from: [Data("{\"text\":\"\\u0000\"}".utf8)])
      }
      #expect(
        error?.description.hasPrefix("line 1: Line.text: ") == true, "\(String(describing: error))")
      #expect(error?.recoverySuggestion == SerializeError.nulInString.recoverySuggestion)
      #expect(error?.description.components(separatedBy: "; ").count == 2)
    }
  }
}

@IndexKeyRecord("text")
private struct Line: Codable { let text: String }
