// The canonical bytes of retained versions are those of the files that were written once.

import Foundation
import Silo
import Testing

@Suite("Fixtures")
struct FixtureTests {
  private static func id(_ number: UInt8) -> UUID {
    UUID(uuid: (number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
  }

  private static let letters1 = [Letter.V1(id: 1, title: ""), Letter.V1(id: .min, title: "a\0é")]
  private static let letters2 = [Letter.V2(id: 7, title: "t", text: "some text")]
  private static let parcels1 = [
    Parcel.V1(id: id(1), grams: .min), Parcel.V1(id: id(2), grams: 0),
  ]
  private static let parcels2 = [
    Parcel.V2(
      id: id(3), grams: -1, note: nil, tags: ["b", "a", "c"],
      at: Date(timeIntervalSinceReferenceDate: -0.1), data: Data([0, 255])),
    Parcel.V2(id: id(4), grams: 0, note: "", tags: [], at: .distantPast, data: Data()),
  ]
  private static let visits1 = [
    Visit.V1(id: Place(list: "a/b", number: -1), priority: .middle, size: .great, done: false),
    Visit.V1(id: Place(list: "", number: 0), priority: .low),
  ]
  private static let visits2 = [
    Visit.V2(
      id: Place(list: "x", number: 1), guests: RelatedItems(ids: [3, 1, 2]),
      counts: ["b": 2, "a": 1], home: Address(street: "s", number: 5, tags: ["t"]))
  ]

  private static func file(_ name: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(name).txt")
  }

  private static func each(_ body: (_ name: String, _ check: Checked) throws -> Void) throws {
    try body("letters_v1", Checked(letters1))
    try body("letters_v2", Checked(letters2))
    try body("parcels_v1", Checked(parcels1))
    try body("parcels_v2", Checked(parcels2))
    try body("visits_v1", Checked(visits1))
    try body("visits_v2", Checked(visits2))
  }

  private struct Checked {
    let expect: (URL) throws -> Void
    let write: (URL) throws -> Void

    init<V: Persistable>(_ values: [V]) {
      expect = { try expectFixture(values, at: $0) }
      write = { try writeFixture(values, to: $0) }
    }
  }

  @Test("Retained versions are written and read as when their fixtures were made")
  func fixtures() throws {
    try Self.each { name, checked in try checked.expect(Self.file(name)) }
  }

  @Test("A fixture is never made again")
  func existing() throws {
    try Self.each { name, checked in
      #expect(throws: FixtureMismatch.self) { try checked.write(Self.file(name)) }
    }
  }

  @Test("A fixture is never replaced, wherever it is", arguments: ["plain", "a b", "ü", "50%20"])
  func places(name: String) throws {
    let directory = URL.temporaryDirectory.appending(path: "silo-\(UUID())/\(name)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appending(path: "letters.txt")
    try writeFixture(Self.letters1, to: file)
    let error = #expect(throws: FixtureMismatch.self) { try writeFixture(Self.letters2, to: file) }
    #expect(error?.path == file.path(percentEncoded: false))
    #expect(error?.recoverySuggestion?.contains("expectFixture") == true)
    try expectFixture(Self.letters1, at: file)
  }

  @Test("Other values, and another type, do not fit a fixture")
  func mismatches() throws {
    #expect(throws: FixtureMismatch.self) {
      try expectFixture([Letter.V1(id: 1, title: "x")], at: Self.file("letters_v1"))
    }
    #expect(throws: FixtureMismatch.self) {
      try expectFixture(
        [Letter.V1(id: 2, title: ""), Self.letters1[1]], at: Self.file("letters_v1"))
    }
    #expect(throws: FixtureMismatch.self) {
      try expectFixture(Self.letters2, at: Self.file("letters_v1"))
    }
  }
}
