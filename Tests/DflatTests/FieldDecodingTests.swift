// JSON of every kind of field: null, absent, of a wrong type, and out of range.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@Suite("Decoding of fields")
struct FieldDecodingTests {
  private typealias Item = Kit.Item

  enum Outcome: Equatable, Sendable {
    /// As if the field were absent.
    case absent
    case value
    case refused
  }

  /// A field, the text of its value, and what becomes of it.
  private static let cases: [(field: String, json: String, outcome: Outcome)] = {
    var cases: [(String, String, Outcome)] = []
    func add(_ field: String, _ outcome: Outcome, _ texts: String...) {
      for text in texts { cases.append((field, text, outcome)) }
    }
    for key in ["name", "serial"] { add(key, .refused, "null", "[]", "{}", "true") }
    add("name", .refused, "1")
    add("serial", .refused, "\"1\"", "-1", "18446744073709551616", "1.5")
    let integers: [(String, String, String, String)] = [
      ("tiny", "-128", "128", "-129"), ("small", "255", "256", "-1"),
      ("short_number", "-32768", "32768", "-32769"), ("port", "65535", "65536", "-1"),
      ("number", "-2147483648", "2147483648", "-2147483649"),
      ("count", "4294967295", "4294967296", "-1"),
      ("long_number", "-9223372036854775808", "9223372036854775808", "-9223372036854775809"),
      ("big", "18446744073709551615", "18446744073709551616", "-1"),
      ("maybe_number", "7", "2147483648", "-2147483649"),
      ("maybe_big", "7", "18446744073709551616", "-1"),
    ]
    for (field, good, high, low) in integers {
      add(field, .value, good)
      add(field, .absent, "null")
      add(field, .refused, high, low, "1.5", "1e300", "\"1\"", "true", "[]", "{}")
    }
    for field in ["flag", "plain_flag", "maybe_flag"] {
      add(field, .value, "true")
      add(field, .absent, "null")
      add(field, .refused, "1", "0", "\"true\"", "[]", "{}")
    }
    for field in ["single", "real", "maybe_real"] {
      add(field, .value, "0.25", "-3")
      add(field, .absent, "null")
      add(field, .refused, "1e400", "\"1\"", "true", "[]", "{}")
    }
    add("single", .refused, "1e300", "-1e300")
    add("real", .value, "1e300")
    for field in ["title", "word", "badge", "plain_title"] {
      add(field, .value, "\"text\"")
      add(field, .absent, "null")
      add(field, .refused, "1", "true", "[]", "{}")
    }
    for field in ["mood", "maybe_mood"] {
      add(field, .value, "\"Calm\"", "0", "-3")
      add(field, .absent, "null")
      add(field, .refused, "\"Sad\"", "128", "1.5", "true", "[]", "{}")
    }
    add("wide", .value, "\"Huge\"", "18446744073709551610")
    add("wide", .refused, "-1", "18446744073709551616", "\"\"")
    add("traits", .value, "\"Soft Fast\"", "5")
    add("traits", .refused, "\"Soft Slow\"", "256", "-1")
    add("point", .value, "{\"x\": 1, \"y\": 2}", "{\"x\": null, \"y\": 2}", "{}")
    add("point", .absent, "null")
    add("point", .refused, "1", "[]", "\"x\"", "{\"x\": 1e300}", "{\"y\": \"2\"}")
    add("box", .value, "{\"corner\": {\"x\": 1}, \"depth\": 3}", "{\"corner\": null}")
    add("box", .refused, "{\"depth\": 32768}", "{\"mood\": \"Sad\"}", "{\"corner\": []}")
    add("branch", .value, "{}", "{\"leaf\": {\"label\": \"l\"}}", "{\"leaf\": null}")
    add("branch", .absent, "null")
    add("branch", .refused, "1", "[]", "\"b\"", "{\"leaf\": []}", "{\"name\": 1}")
    for field in ["tags", "numbers", "leaves", "points"] {
      add(field, .absent, "null", "[]")
      add(field, .refused, "1", "\"t\"", "{}", "[true]", "[null]")
    }
    add("tags", .value, "[\"a\", \"\"]")
    add("numbers", .value, "[1, -1]")
    add("numbers", .refused, "[9223372036854775808]", "[1.5]")
    add("leaves", .value, "[{}, {\"label\": \"l\"}]")
    add("points", .value, "[{\"x\": 1}]")
    add("pet", .absent, "null")
    add("pet", .refused, "{}", "1")
    add("pet_type", .refused, "\"Cat\"", "1", "[]")
    add("pet_type", .absent, "null", "\"NONE\"")
    add("pets", .absent, "null")
    add("pets", .refused, "[{}]", "[]")
    add("pets_type", .absent, "null", "[]")
    add("pet\": {\"name\": \"c\"}, \"pet_type", .value, "\"Cat\"")
    add("pet\": {\"name\": \"c\"}, \"pet_type", .refused, "\"Bird\"", "null")
    add("pets\": [], \"pets_type", .absent, "[]")
    add("pets\": [{\"name\": \"c\"}], \"pets_type", .value, "[\"Cat\"]")
    add("pets\": [{\"name\": \"c\"}], \"pets_type", .refused, "[]", "[\"Cat\", \"Cat\"]", "[null]")
    add("unheard_of", .absent, "1", "null", "[]")
    return cases
  }()

  @Test("Every kind of field takes what it can have, and refuses everything else")
  func table() throws {
    let plain = Item(name: "n", serial: 7)
    for (field, json, outcome) in Self.cases {
      let key =
        (field == "name" ? "" : "\"name\": \"n\", ") + (field == "serial" ? "" : "\"serial\": 7, ")
      let text = "{\(key)\"\(field)\": \(json)}"
      let item: Item
      do { item = try JSONDecoder().decode(Item.self, from: Data(text.utf8)) } catch {
        #expect(error is DecodingError, "\(text): \(error)")
        #expect(outcome == .refused, "\(text)")
        continue
      }
      #expect(outcome == (item == plain ? .absent : .value), "\(text)")
      // What is decoded can be encoded, and read as the same.
      #expect(
        try JSONDecoder().decode(Item.self, from: JSONEncoder().encode(item)) == item, "\(text)")
      #expect(try Item(verifying: item.toData()) == item, "\(text)")
    }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Item.self, from: Data("{\"name\": \"n\"}".utf8))
    }
  }

  @Test("Nesting is decoded as deep as objects can be, and refused beyond")
  func nesting() throws {
    for levels in [1, 30, 62, 63, 64, 200, 400, 5000, 200_000] {
      let text =
        "{\"number\": 1, \"crate\": "
        + String(repeating: "{\"inner\": ", count: levels) + "{\"label\": \"x\"}"
        + String(repeating: "}", count: levels + 1)
      let isDecoded = try onSmallStack {
        do {
          let shelf = try JSONDecoder().decode(Kit.Shelf.self, from: Data(text.utf8))
          #expect(try Kit.Shelf(verifying: shelf.toData()) == shelf)
          #expect(shelf.description.contains("x") && shelf.hashValue == shelf.hashValue)
          #expect(
            try JSONDecoder().decode(Kit.Shelf.self, from: JSONEncoder().encode(shelf)) == shelf)
          return true
        } catch is DecodingError { return false }
      }
      // The root and the innermost crate are tables, too.
      #expect(isDecoded == (levels <= 62), "\(levels) levels")
    }
  }
}
