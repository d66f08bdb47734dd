// Responses and errors, without generated code.

import DflatGraphQL
import Foundation
import SeededRandom
import Testing

@Suite("GraphQL: responses")
struct ResponseTests {
  private func response(_ json: String) throws -> GraphQLResponse<ShipQuery.Data> {
    try ShipQuery.response(from: Data(json.utf8))
  }

  @Test("Data, errors and extensions are decoded, and encoded as they were")
  func decoding() throws {
    let json = """
      {"data": {"ship": null}, "errors": [{"message": "lost", "path": ["ship", 0, "name"],
       "locations": [{"line": 2, "column": 3}], "extensions": {"code": 7, "more": [1.5, null]}},
       {"message": "late"}], "extensions": {"cost": {"units": 12, "exact": false}}}
      """
    let response = try response(json)
    #expect(response.data == ShipQuery.Data(ship: nil) && response.errors.count == 2)
    let error = response.errors[0]
    #expect(error.path == ["ship", 0, "name"] && error.description == "ship[0].name: lost")
    #expect(error.locations == [.init(line: 2, column: 3)])
    #expect(error.extensions == ["code": .int(7), "more": .list([.double(1.5), .null])])
    #expect(String(graphQL: error.extensions["more"]) == "[1.5,null]")
    #expect(String(graphQL: GraphQLValue.string("a\"b")) == "a\"b")
    #expect(response.errors[1] == GraphQLError(message: "late"))
    #expect(
      response.extensions == ["cost": .object(["units": .int(12), "exact": .bool(false)])])
    let again = try GraphQLResponse<ShipQuery.Data>(json: JSONEncoder().encode(response))
    #expect(again == response)
  }

  @Test("A malformed error costs nothing but itself")
  func malformedErrors() throws {
    let answer = try response(
      """
      {"data": {"ship": {"name": "a"}}, "errors": [
        {"message": "a", "path": 3, "locations": [{"line": 1}], "extensions": []},
        {}, "text", {"code": 5, "path": ["ship"]}, null]}
      """)
    #expect(answer.data?.ship?.name == "a")
    #expect(
      answer.errors.map(\.message) == ["a", "{}", "text", #"{"code":5,"path":["ship"]}"#, "null"])
    #expect(answer.errors[0] == GraphQLError(message: "a") && answer.errors[3].path == ["ship"])
  }

  @Test(
    "Dates have the forms that services use",
    arguments: [
      ("2024-02-29T12:30:00Z", 0.0), ("2024-02-29T12:30:00.250Z", 0.25),
      ("2024-02-29T13:30:00+01:00", 0), ("2024-02-29T12:30:00", 0),
      ("2024-02-29T12:30:00.5", 0.5), ("2024-02-29T12:30:00.123456Z", 0.123456),
      ("2024-02-29", -45_000), ("2024-02-29 12:30:00Z", 0), ("2024-02-29t12:30:00z", 0),
      ("2024-02-29T12:30Z", 0), ("2024-02-29T14:30+02:00", 0), ("2024-02-29T10:00:00-0230", 0),
      ("2024-02-29 14:30:00 +02", 0), ("2024-02-29T12:30:00,678Z", 0.678),
      ("2024-02-29T24:00:00Z", 41_400), ("2024-02-29T12:29:60Z", 0),
      ("1969-12-31T23:59:59.5Z", -1_709_209_800.5), ("0000-03-01", -63_871_245_000),
    ])
  func dates(text: String, seconds: Double) throws {
    struct Day: Codable, Hashable, Sendable { var date: Date }
    let day = try #require(
      GraphQLResponse<Day>(json: Data(#"{"data": {"date": "\#(text)"}}"#.utf8)).data)
    let expected = Date(timeIntervalSince1970: 1_709_209_800 + seconds)
    #expect(abs(day.date.timeIntervalSince(expected)) < 0.002, "\(day.date)")
  }

  @Test(
    "A text that is no date is an error, also if its beginning is one",
    arguments: [
      "2024-02-30", "2023-02-29", "2024-13-01", "2024-00-10", "2024-02-29garbage",
      "2024-02-29T12:30:00junk", "2024-02-29T12:30:00Zjunk", "2024-02-29T99:99:99Z",
      "2024-02-29T24:00:01Z", "2024-02-29T12:30:00 ", "2024-02-29T12", "2024-2-29", "", "20240229",
      "2024-02-29T12:30:00+99:00", "2024-02-29T12:30:00.Z", "２０２４-02-29",
    ])
  func noDates(text: String) throws {
    struct Day: Codable, Hashable, Sendable { var date: Date }
    let error = #expect(throws: GraphQLDecodingError.self) {
      try GraphQLResponse<Day>(json: Data(#"{"data": {"date": "\#(text)"}}"#.utf8))
    }
    #expect(error?.reason == "\"\(text)\" is no date and time in the form of ISO 8601")
  }

  @Test("From 1583 on dates are what Foundation says, in any zone, and before they are themselves")
  func judgedDates() throws {
    var random = SeededGenerator(seed: testSeed())
    // From the first day of the year 0 to the last one of the year 9999.
    for day in stride(from: -719_528, to: 2_932_896, by: 97) {
      let seconds = day * 86_400 + Int.random(in: 0..<86_400, using: &random)
      let date = Date(timeIntervalSince1970: Double(seconds))
      let text = String(graphQL: date)
      try #require(Self.date(text) == date, "DFLAT_SEED=\(random.seed) \(text)")
      if seconds < -12_212_553_600 { continue }
      let minutes = Int.random(in: -720...720, using: &random)
      let zone = try #require(TimeZone(secondsFromGMT: minutes * 60))
      let style = Date.ISO8601FormatStyle(timeZoneSeparator: .colon, timeZone: zone)
      try #require(text == date.formatted(.iso8601), "DFLAT_SEED=\(random.seed)")
      let local = date.formatted(style)
      try #require(Self.date(local) == date, "DFLAT_SEED=\(random.seed) \(local)")
    }
    #expect(String(graphQL: Date(timeIntervalSince1970: -62_135_596_800)) == "0001-01-01T00:00:00Z")
    #expect(String(graphQL: Date(timeIntervalSince1970: 1e300)).isEmpty == false)
  }

  private static func date(_ text: String) -> Date? {
    struct Day: Codable, Hashable, Sendable { var date: Date }
    return try? GraphQLResponse<Day>(json: Data(#"{"data": {"date": "\#(text)"}}"#.utf8)).data?.date
  }

  @Test("A date is sent and stored with the milliseconds that it came with")
  func milliseconds() throws {
    struct Day: Codable, Hashable, Sendable { var date: Date }
    for number in 0..<1000 {
      let fraction = number == 0 ? "" : ".\(String(1000 + number).dropFirst())"
      let text = "2024-01-02T03:04:05\(fraction)Z"
      let json = Data(#"{"data": {"date": "\#(text)"}}"#.utf8)
      let day = try #require(GraphQLResponse<Day>(json: json).data)
      #expect(String(graphQL: day.date) == text)
    }
  }

  @Test(
    "A custom scalar without a type keeps the digits of a number",
    arguments: [
      ("18446744073709551615", "18446744073709551615"),
      ("12345678901234567890123", "12345678901234567890123"), ("-7", "-7"), ("0.1", "0.1"),
      ("1e300", "1e+300"), ("true", "true"), (#""1.10""#, "1.10"), (#"{"k":1}"#, #"{"k":1}"#),
    ])
  func digits(json: String, text: String) throws {
    #expect(
      try JSONDecoder().decode([GraphQLText].self, from: Data("[\(json)]".utf8))[0].text == text)
  }

  @Test("What is no decimal number is named")
  func noDecimal() throws {
    for json in ["true", "[]", #""x""#] {
      let error = #expect(throws: DecodingError.self) {
        try JSONDecoder().decode([GraphQLDecimal].self, from: Data("[\(json)]".utf8))
      }
      #expect("\(error as Any)".contains("is no decimal number"))
    }
  }

  @Test("A number that does not fit is named with its path")
  func numbers() throws {
    struct Size: Codable, Hashable, Sendable {
      var ratio: Double
      var width: Int
    }
    struct Sizes: Codable, Hashable, Sendable { var all: [Size] }
    for number in ["3.5", "1e40", "-99999999999999999999"] {
      let sizes = (0..<9).map { place in
        #"{"ratio": \#(place).5, "width": \#(place == 6 ? number : "1")}"#
      }
      let json = #"{"data": {"all": [\#(sizes.joined(separator: ", "))]}}"#
      let error = #expect(throws: GraphQLDecodingError.self) {
        try GraphQLResponse<Sizes>(json: Data(json.utf8))
      }
      #expect(error?.path == ["data", "all", 6, "width"], "\(error?.description ?? "")")
      #expect(error?.reason.hasSuffix("does not fit the field's type") == true)
    }
  }

  @Test("An integer that does not fit a small type is named with its path")
  func smallIntegers() throws {
    struct Small: Codable, Hashable, Sendable {
      var wide: [Int]
      var byte: UInt8?
      var short: Int16?
      var word: UInt32?
    }
    for (key, number) in [
      ("byte", "256"), ("byte", "-1"), ("short", "32768"), ("short", "-32769"), ("word", "-1"),
      ("word", "4294967296"),
    ] {
      let json = #"{"data": {"wide": [-1, 300, 9007199254740993], "\#(key)": \#(number)}}"#
      let error = #expect(throws: GraphQLDecodingError.self) {
        try GraphQLResponse<Small>(json: Data(json.utf8))
      }
      #expect(
        error?.description == "data.\(key): the number \(number) does not fit the field's type")
    }
  }

  @Test("A number or text that Swift does not have is named with its path")
  func unreadable() throws {
    struct Ship: Codable, Hashable, Sendable {
      var names: [String]
      var ratio: Double
    }
    struct Ships: Codable, Hashable, Sendable { var ship: Ship }
    func error(_ name: String, _ ratio: String) -> GraphQLDecodingError? {
      let json = #"{"data": {"ship": {"names": ["\ud83d\ude00", \#(name)], "ratio": \#(ratio)}}}"#
      do { _ = try GraphQLResponse<Ships>(json: Data(json.utf8)) } catch { return error }
      return nil
    }
    #expect(error(#""a""#, "1e300") == nil)
    let ratio = error(#""a""#, "-1e400")
    #expect(ratio?.description == "data.ship.ratio: the number -1e400 is too large")
    let name = error(#""\ud800""#, "1")
    #expect(name?.description == #"data.ship.names[1]: the text "\ud800" is no Unicode"#)
    #expect(error(#""a""#, "1]").map { $0.path.isEmpty } == true)
  }

  @Test("Data of an answer with errors are not given out as if all were well")
  func requiredData() throws {
    #expect(throws: GraphQLErrors(errors: [GraphQLError(message: "no")])) {
      try response(#"{"data": {"ship": null}, "errors": [{"message": "no"}]}"#).requireData()
    }
    #expect(throws: GraphQLErrors(errors: [])) {
      try response(#"{"data": null}"#).requireData()
    }
    #expect(try response(#"{"data": {"ship": null}}"#).requireData().ship == nil)
  }

  @Test(
    "What is wrong is told with its path",
    arguments: [
      (#"{"data": {"ship": {"name": 7}}}"#, "data.ship.name: "),
      (#"{"data": {"ship": {}}}"#, "data.ship.name: the response has no such key"),
      (#"{"data": {"ship": {"name": null}}}"#, "data.ship.name: "),
      (#"{"data": {"ship": [1]}}"#, "data.ship: "),
      (#"{"errors": 3}"#, "errors: "),
      (#"{"dat": {}}"#, "a response has the key data or the key errors"),
      ("[]", ""), ("", ""), ("{\"data\": ", ""),
    ])
  func wrongTypes(json: String, message: String) throws {
    let error = #expect(throws: GraphQLDecodingError.self) { try response(json) }
    #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
  }

  @Test("Deep nesting is an error, not the end of the process")
  func depth() throws {
    let depth = 200_000
    for (open, close) in [("[", "]"), (#"{"a": "#, "}")] {
      let value =
        String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
      #expect(throws: GraphQLDecodingError.self) {
        try response(#"{"data": null, "extensions": {"x": \#(value)}}"#)
      }
    }
  }
}

@Suite("GraphQL: requests")
struct RequestTests {
  @Test("One call makes a request, with the same bytes in every run")
  func request() throws {
    let query = ShipQuery(variables: .init(id: "3000", unit: nil))
    let request = try query.httpRequest()
    #expect(request.method == .post && request.parameters.isEmpty)
    #expect(request.headers["Content-Type"] == "application/json")
    let body = String(decoding: request.body ?? Data(), as: UTF8.self)
    #expect(
      body == #"{"operationName":"Ship","query":"query Ship { ship { name } }","#
        + #""variables":{"id":"3000","unit":null}}"#)
  }

  @Test("Null, nothing and a value are three things")
  func nullable() throws {
    func variables(_ variables: ShipQuery.Variables) throws -> String {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return String(decoding: try encoder.encode(variables), as: UTF8.self)
    }
    #expect(try variables(.init(id: "1")) == #"{"id":"1"}"#)
    #expect(try variables(.init(id: "1", unit: nil)) == #"{"id":"1","unit":null}"#)
    #expect(try variables(.init(id: "1", unit: "FOOT")) == #"{"id":"1","unit":"FOOT"}"#)
    #expect(try variables(.init(id: "1", unit: .init("FOOT"))) == #"{"id":"1","unit":"FOOT"}"#)
    #expect(GraphQLNullable(nil as Int?) == .null && GraphQLNullable<Int>.absent.value == nil)
    #expect(([1, 2] as GraphQLNullable<[Int]>).value == [1, 2])
    #expect((true as GraphQLNullable<Bool>).isIncluded && !GraphQLNullable<Bool>.absent.isIncluded)
    #expect((1.5 as GraphQLNullable<Double>).value == 1.5 && (3 as GraphQLNullable<Int>).value == 3)
  }

  @Test("An operation without variables sends an empty object")
  func noVariables() throws {
    #expect(String(decoding: try JSONEncoder().encode(GraphQLNoVariables()), as: UTF8.self) == "{}")
  }
}

/// What is generated for `query Ship($id: ID!, $unit: String) { ship { name } }`, in short.
private struct ShipQuery: GraphQLQuery {
  static let operationName = "Ship"
  static let document = "query Ship { ship { name } }"
  var variables: Variables

  struct Variables: Encodable, Hashable, Sendable {
    var id: String
    var unit: GraphQLNullable<String> = .absent
  }

  struct Data: Codable, Hashable, Sendable {
    var ship: Ship?

    struct Ship: Codable, Hashable, Sendable {
      var name: String
    }
  }
}
