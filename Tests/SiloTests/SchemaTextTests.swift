// The text of what a type stores, judged by flatc.

import Dflat
import DflatSchema
import DflatTestSupport
import Foundation
import Silo
import Testing

/// Names that are none, or something else, in the schema language.
@Persistable(version: 1, table: "odd", shape: "id:I table:S größe:I f8:I bool:B=true 語:Größe")
struct Odd: Identifiable, Hashable, Sendable {
  var id: Int
  var table: String
  var größe: Int
  var f8: Int
  var bool = true
  var 語: Größe
}

@PersistableValue(shape: "root_type:S=x list:[Größe]")
struct Größe: Hashable {
  var root_type = "x"
  var list: [Größe] = []
}

@Suite("Stored values as text in the schema language")
struct SchemaTextTests {
  /// What the values are after flatc has read their rows, written them as JSON, and has made rows
  /// of the JSON.
  private func throughJSON<V: Persistable>(
    _ values: [V], _ body: ([[String: Any]]) throws -> Void = { _ in }
  ) throws -> [V] {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let folder = URL(filePath: directory)
    try V.flatBuffersSchema.write(
      to: folder.appending(path: "s.fbs"), atomically: true, encoding: .utf8)
    for (index, value) in values.enumerated() {
      try Canonical(value).toData().write(to: folder.appending(path: "\(index).bin"))
    }
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.currentDirectoryURL = folder
    let flatc = "flatc --no-warnings"
    process.arguments = [
      "-ec",
      """
      \(flatc) --json --strict-json --raw-binary s.fbs -- *.bin
      mkdir back; \(flatc) --binary --raw-binary -o back s.fbs *.json
      """,
    ]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(V.flatBuffersSchema)")
    try body(
      values.indices.map { index in
        let data = try Data(contentsOf: folder.appending(path: "\(index).json"))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
      })
    return try values.indices.map { index in
      let data = try Data(contentsOf: folder.appending(path: "back/\(index).bin"))
      return try Canonical<V>(verifying: data).value()
    }
  }

  @Test("flatc reads every property of a value, and writes rows that are read as the value")
  func everything() throws {
    var random = SeededGenerator(seed: 7)
    let values = (0..<40).map { _ in
      var value = Everything.random(using: &random)
      // flatc writes real numbers with few digits.
      (value.real, value.double, value.ratio) = (0.5, -1024.25, 3)
      value.date = Date(timeIntervalSinceReferenceDate: -5)
      value.dates = [value.date]
      value.maybeDate = value.maybeDate.map { _ in value.date }
      value.contents = .list([.none, .text("é"), .place(latitude: 0.5, longitude: 1, name: nil)])
      value.maybeContents = nil
      return value
    }
    let again = try throughJSON(values) { objects in
      for (object, value) in zip(objects, values) {
        #expect(object["i8"] as? Int8 == value.i8 && object["u64"] as? UInt64 == value.u64)
        #expect(object["text"] as? String == value.text)
        #expect(object["numbers"] as? [Int] == value.numbers)
        #expect((object["address"] as? [String: Any])?["street"] as? String == value.address.street)
        #expect(object["maybeInt"] as? Int == value.maybeInt)
        #expect(object["uuid"] as? String == value.uuid.uuidString)
      }
    }
    #expect(again == values)
  }

  @Test("Ids of any form, relations and retained versions are read, too")
  func others() throws {
    let seats = [Seat(id: Place(list: "a/b", number: -1), guest: "g")]
    let card = Card(3, "text", tags: ["a", "b"], users: [5, 4])
    let letter = Letter.V1(id: 7, title: "t")
    #expect(try throughJSON(seats) == seats)
    #expect(try throughJSON([letter]) == [letter])
    let cards = try throughJSON([card]) { objects in
      #expect(objects[0]["tags"] as? [String] == ["a", "b"])
      #expect(objects[0]["users"] as? [Int] == [5, 4])
    }
    #expect(cards == [card])
  }

  @Test("Names that the schema language does not have get others")
  func names() throws {
    let odd = Odd(id: 1, table: "t", größe: 2, f8: 3, 語: Größe(list: [Größe(root_type: "y")]))
    let again = try throughJSON([odd]) { objects in
      #expect(objects[0]["table"] as? String == "t")
      #expect(objects[0]["f8"] as? Int == 2 && objects[0]["f82"] as? Int == 3)
    }
    #expect(again == [odd])
  }

  @Test("dflatc reads the text, and compares versions by it")
  func compared() throws {
    #expect(
      Leg.flatBuffersSchema == """
        attribute "primary";

        table Leg {
          id:string (primary);
          kilometres:int64 = null;
        }

        root_type Leg;

        """)
    for text in [
      Everything.flatBuffersSchema, Seat.flatBuffersSchema, Card.flatBuffersSchema,
      Odd.flatBuffersSchema,
    ] {
      let same = try compare(text, text)
      #expect(same.changes.isEmpty, "\(text)")
    }
    let changes = try compare(Parcel.V1.flatBuffersSchema, Parcel.V2.flatBuffersSchema)
    #expect(!changes.isCompatible && changes.changes.contains { "\($0)".contains("grams") })
  }

  private func compare(_ old: String, _ new: String) throws -> SchemaComparison {
    func schema(_ text: String) throws -> Schema {
      let result = SchemaCompiler().compile(source: Array(text.utf8), path: "s.fbs")
      return try #require(result.schema, "\(result.diagnostics)")
    }
    return try SchemaComparison(old: schema(old), new: schema(new))
  }
}
