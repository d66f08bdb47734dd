// Objects of responses: what follows from their one list of fields.

import DflatGraphQL
import Foundation
import Testing

@Suite("GraphQL: objects of responses")
struct ObjectTests {
  /// As it is generated, with a field of each kind.
  fileprivate struct Ship: GraphQLObject {
    var __typename = "Ship"
    var name = "a"
    var note: String? = "n"
    var crew = 1
    var guns: Int? = 2
    var mass = 1.5
    var length: Double? = 2.5
    var isFast = true
    var isNew: Bool? = false
    var tags = ["x"]
    var moods: [String?]? = [nil, "m"]
    var age: GraphQLNullable<Int> = 3
    var asTanker: Tanker? = Tanker()

    struct Tanker: GraphQLObject {
      var volume: Int? = 4

      func _visit(_ fields: inout GraphQLFieldVisitor, _ other: Self) {
        fields.optionalInt("volume", volume, other.volume)
      }
    }

    func _visit(_ fields: inout GraphQLFieldVisitor, _ other: Self) {
      fields.string("__typename", __typename, other.__typename)
      fields.string("name", name, other.name)
      fields.optionalString("note", note, other.note)
      fields.int("crew", crew, other.crew)
      fields.optionalInt("guns", guns, other.guns)
      fields.double("mass", mass, other.mass)
      fields.optionalDouble("length", length, other.length)
      fields.bool("isFast", isFast, other.isFast)
      fields.optionalBool("isNew", isNew, other.isNew)
      fields.value("tags", tags, other.tags)
      fields.optional("moods", moods, other.moods)
      fields.nullable("age", age, other.age)
      fields.view(asTanker, other.asTanker)
    }
  }

  private static let changes: [@Sendable (inout Ship) -> Void] = [
    { $0.name = "b" }, { $0.note = nil }, { $0.crew = 0 }, { $0.guns = nil }, { $0.mass = 0 },
    { $0.length = nil }, { $0.isFast = false }, { $0.isNew = nil }, { $0.tags = [] },
    { $0.moods = nil }, { $0.age = nil }, { $0.age = .absent }, { $0.asTanker = nil },
    { $0.asTanker?.volume = 5 },
    // Which views an object has depends on it, so it does not change alone.
    { $0.__typename = "Tanker" },
  ]

  @Test("are equal, with equal hashes, if every field is", arguments: changes.indices)
  func equality(index: Int) throws {
    var other = Ship()
    #expect(other == Ship() && other.hashValue == Ship().hashValue)
    Self.changes[index](&other)
    #expect(other != Ship() && other.hashValue != Ship().hashValue)
    #expect(Set([other, Ship(), other]).count == 2)
  }

  @Test("are encoded under their keys and decoded again", arguments: changes.indices.dropLast())
  func coding(index: Int) throws {
    var ship = Ship()
    Self.changes[index](&ship)
    let json = try JSONEncoder().encode(ship)
    #expect(try JSONDecoder().decode(Ship.self, from: json) == ship)
  }

  @Test("have no keys for what is nil or left out, and those of their views")
  func keys() throws {
    var ship = Ship()
    ship.note = nil
    ship.age = .absent
    let json = try JSONEncoder().encode(ship)
    let keys = try #require(JSONSerialization.jsonObject(with: json) as? [String: Any]).keys
    #expect(
      keys.sorted() == [
        "__typename", "crew", "guns", "isFast", "isNew", "length", "mass", "moods", "name", "tags",
        "volume",
      ])
    ship.age = .null
    let text = String(decoding: try JSONEncoder().encode(ship), as: UTF8.self)
    #expect(text.contains(#""age":null"#))
  }

  @Test("throw the error of a value that cannot be encoded")
  func errors() {
    var ship = Ship()
    ship.mass = .nan
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(ship) }
  }

  @Test("name the path of a value that has another type")
  func paths() throws {
    let json = #"{"__typename": "Ship", "name": 5}"#
    let error = #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Ship.self, from: Data(json.utf8))
    }
    guard case .typeMismatch(_, let context)? = error else { return #expect(Bool(false)) }
    #expect(context.codingPath.map(\.stringValue) == ["name"])
  }

  /// A custom scalar, which has its own mind about 0.
  fileprivate struct Rate: Codable, Hashable, Sendable {
    struct Refusal: Error {}
    var value: Int

    init(from decoder: any Decoder) throws {
      value = try decoder.singleValueContainer().decode(Int.self)
      if value == 0 { throw Refusal() }
      if value < 0 {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "less than 0"))
      }
    }
  }

  fileprivate struct Offer: GraphQLObject {
    var rates: [Rate]
    var best: Rate?
    var sizes: [[UInt8]?]
    var count: GraphQLNullable<Int>
    var names: [String]?

    func _visit(_ fields: inout GraphQLFieldVisitor, _ other: Self) {}
  }

  fileprivate struct Offers: GraphQLObject {
    var all: [Offer]

    func _visit(_ fields: inout GraphQLFieldVisitor, _ other: Self) {}
  }

  @Test(
    "name the path of a value that does not fit, whatever custom scalars accept",
    arguments: [
      (#""rates": [300, 3.5]"#, "rates[1]: the number 3.5 does not fit the field's type"),
      (#""rates": [300], "count": 1e30"#, "count: the number 1e30 does not fit the field's type"),
      (
        #""sizes": [[1], null, [2, 256]]"#,
        "sizes[2][1]: the number 256 does not fit the field's type"
      ),
      (#""best": -9.5"#, "best: the number -9.5 does not fit the field's type"),
      (#""best": 0"#, "best: Refusal()"), (#""rates": [7, 0, 2.5]"#, "rates[1]: Refusal()"),
      (#""best": -1"#, "best: less than 0"),
      (#""count": 1e400"#, "count: the number 1e400 is too large"),
      (#""names": ["a", "\ud800"]"#, #"names[1]: the text "\ud800" is no Unicode"#),
      (#""names": ["a", 7]"#, "names[1]: "), (#""rates": 7"#, "rates: "),
    ])
  func misfits(fields: String, message: String) throws {
    let json = #"{"data": {"all": [{"count": -700, "rates": [1000]}, {\#(fields)}]}}"#
    let error = #expect(throws: GraphQLDecodingError.self) {
      try GraphQLResponse<Offers>(json: Data(json.utf8))
    }
    #expect(error?.description.hasPrefix("data.all[1].\(message)") == true, "\(error as Any)")
  }
}

extension ObjectTests.Offers {
  init(from decoder: any Decoder) throws { all = try GraphQLFieldReader(decoder).value("all") }
}

extension ObjectTests.Offer {
  init(from decoder: any Decoder) throws {
    let fields = try GraphQLFieldReader(decoder)
    rates = try fields.optional("rates") ?? []
    best = try fields.optional("best")
    sizes = try fields.optional("sizes") ?? []
    count = try fields.nullable("count")
    names = try fields.optional("names")
  }
}

extension ObjectTests.Ship {
  init(from decoder: any Decoder) throws {
    let fields = try GraphQLFieldReader(decoder)
    __typename = try fields.string("__typename")
    name = try fields.string("name")
    note = try fields.optionalString("note")
    crew = try fields.int("crew")
    guns = try fields.optionalInt("guns")
    mass = try fields.double("mass")
    length = try fields.optionalDouble("length")
    isFast = try fields.bool("isFast")
    isNew = try fields.optionalBool("isNew")
    tags = try fields.value("tags")
    moods = try fields.optional("moods")
    age = try fields.nullable("age")
    asTanker = nil
    if __typename == "Ship" {
      let tanker = try Tanker(from: decoder)
      asTanker = tanker.volume == nil ? nil : tanker
    }
  }
}

extension ObjectTests.Ship.Tanker {
  init(from decoder: any Decoder) throws {
    volume = try GraphQLFieldReader(decoder).optionalInt("volume")
  }
}
