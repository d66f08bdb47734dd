// Scalars that are stored as what they are, and enums that are stored as texts.

import DflatGenerator
import Foundation
import Testing

@Suite("Mapped scalars of GraphQL")
struct MappedScalarTests {
  private static let schema = """
    scalar DateTime
    scalar Instant
    scalar UUID
    scalar URI
    scalar Money
    scalar Cents
    scalar Text
    enum Genre { NOVEL POETRY }
    enum Mood { GLAD SAD }
    interface Work { id: ID!  published: DateTime }
    type Book {
      id: ID!  published: DateTime  seen: Instant!  stamps: [DateTime]  deep: [[DateTime!]]  uid: UUID
      uids: [UUID!]!  link: URI  price: Money  prices: [Money]  cost: Cents  raw: Text  rawID: Text  genre: Genre
      genres: [Genre!]  mood: Mood  plain: Mood  inner: Inner
    }
    type Song implements Work { id: ID!  published: DateTime }
    type Poem implements Work { id: ID!  published: DateTime }
    type Inner { published: DateTime!  genre: Genre! }
    type Query { book: Book  work: Work }
    """

  private static let operations = """
    query All {
      book {
        id published seen stamps deep uid uids link price prices cost raw rawID genre genres mood
        inner { published genre }
      }
    }
    query Works { work { id published } }
    """

  private static let settings = #"""
    {"graphql": {
      "schema": "s.graphqls", "entities": ["Book", "Work"], "primaryKey": "id", "evolve": false,
      "scalars": {
        "DateTime": {"type": "long", "swift": "Date"}, "Instant": "long:Date in microseconds",
        "UUID": {"type": "string", "swift": "UUID"}, "URI": "string:URL", "Money": "string:Decimal",
        "Cents": "long:Cents", "Text": "string", "Genre": "string:Genre", "Mood": {"type": "string"}
      }
    }}
    """#

  /// A type of the program, which reads what the server sends and says how it is stored.
  private static let cents = """
    public import Dflat

    public struct Cents: Codable, Hashable, OrderedStorableValue {
      public var count: Int64
      public init(stored: Int64) { count = stored }
      public var stored: Int64 { count }
      public static let unreadable = Cents(stored: 0)
      public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let value = Double(text) else {
          throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: text))
        }
        count = Int64((value * 100).rounded())
      }
      public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\\(Double(count) / 100)")
      }
    }
    """

  private static let program = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    let dflat = MemoryWorkspace()
    @MainActor func store(_ id: String, _ rest: String) throws -> Book {
      let json = #"{"data": {"book": {"id": "\#(id)", \#(rest)}}}"#
      let data = try AllQuery.response(from: Data(json.utf8)).requireData()
      _ = try dflat.write(Book.self) { txn in try txn.store(data) }
      let book = dflat.find(Book.self, id)!
      precondition(Book(data.book!) == book, "\(book)")
      return book
    }
    let book = try store("1", #"""
      "published": "2024-02-29T12:00:00+02:00", "seen": "2024-02-29T10:00:00.123456Z",
      "stamps": ["2024-02-29T10:00:00Z", null], "deep": [["1970-01-01T00:00:01Z"], null],
      "uid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "uids": ["6BA7B810-9DAD-11D1-80B4-00C04FD430C8"],
      "link": "https://example.com/a?b=c", "price": "12.50", "prices": [3, "0.10", null], "cost": "9.95",
      "raw": "2024-02-29T12:00:00.123456+02:00", "rawID": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
      "genre": "ESSAY", "genres": ["NOVEL", "DRAMA"], "mood": "ODD",
      "inner": {"published": "1970-01-01T00:00:02Z", "genre": "TRAGEDY"}
      """#)
    let noon = Date(timeIntervalSince1970: 1_709_200_800)
    precondition(book.published == noon, "\(book)")
    precondition(book.seen.map { abs($0.timeIntervalSince(noon) - 0.123456) < 1e-6 } == true, "\(book)")
    precondition(book.stamps == [noon] && book.deep.map(\.values) == [[Date(timeIntervalSince1970: 1)]], "\(book)")
    let uid = UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")!
    precondition(book.uid == uid && book.uids == [uid] && book.link == URL(string: "https://example.com/a?b=c"), "\(book)")
    precondition(book.price == Decimal(string: "12.5") && book.prices == [3, Decimal(string: "0.1")!], "\(book)")
    precondition(book.cost == Cents(stored: 995), "\(book)")
    // Where the program asks for text, it is the server's own.
    precondition(book.raw == "2024-02-29T12:00:00.123456+02:00", "\(book)")
    precondition(book.rawID == "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "\(book)")
    // An unknown value keeps its text.
    precondition(book.genre == .unknown("ESSAY") && book.genres == [.novel, .unknown("DRAMA")], "\(book)")
    precondition(book.mood == "ODD" && book.inner?.genre == .unknown("TRAGEDY"), "\(book)")
    _ = try dflat.write(Book.self) { txn in try txn.update(book) { $0.cost = nil } }
    precondition(dflat.find(Book.self, "1")!.genre?.rawValue == "ESSAY")
    // What the stored fields have in JSON, which other programs read.
    let json = String(decoding: try JSONEncoder().encode(book), as: UTF8.self)
    for text in [#""published":1709200800000"#, #""seen":1709200800123456"#, #""genre":"ESSAY""#, #""price":"12.5""#] {
      precondition(json.contains(text), json)
    }

    // Conditions and orders are by value.
    let other = try store("2", #"""
      "published": "2024-02-29T11:00:00Z", "seen": "2023-01-01T00:00:00Z", "stamps": null, "deep": null, "uid": null,
      "uids": [], "link": null, "price": 100, "prices": null, "cost": "10", "raw": null, "rawID": null,
      "genre": "POETRY", "genres": null, "mood": "SAD", "inner": null
      """#)
    precondition(other.uid == nil && other.link == nil && other.price == 100 && other.inner == nil, "\(other)")
    @MainActor func ids(_ condition: some QueryExpression<Bool, Book>) -> [String] {
      dflat.fetch(for: Book.self).where(condition, orderBy: [Book.id.ascending]).map(\.id)
    }
    precondition(ids(Book.published > noon) == ["2"] && ids(Book.published == noon) == ["1"])
    precondition(ids(Book.uid == uid) == ["1"] && ids(Book.price == Decimal(string: "12.50")!) == ["1"])
    precondition(ids(Book.cost < Cents(stored: 1000)) == [] && ids(Book.cost >= Cents(stored: 1000)) == ["2"])
    precondition(ids(Book.genre == .poetry) == ["2"] && ids(Book.genre == .unknown("ESSAY")) == ["1"])
    precondition(ids(Book.mood == "ODD") == ["1"])
    let byDate = dflat.fetch(for: Book.self).all(orderBy: [Book.published.descending]).map(\.id)
    precondition(byDate == ["2", "1"])

    // null is no date, and a field of all types of an interface has the type in conditions.
    _ = try dflat.write(Work.self) { txn in
      for (id, date) in [("1", "null"), ("2", #""1970-01-02T00:00:00-01:00""#)] {
        let json = #"{"data": {"work": {"__typename": "Song", "id": "\#(id)", "published": \#(date)}}}"#
        try txn.store(try WorksQuery.response(from: Data(json.utf8)).requireData())
      }
    }
    precondition(dflat.find(Work.self, "1")!.subtype == .song(.init(published: nil)))
    let late = dflat.fetch(for: Work.self).where(Work.published { $0 >= Date(timeIntervalSince1970: 90_000) })
    precondition(late.map(\.id) == ["2"], "\(late)")
    print("all is well")
    """####

  @Test("have their values in Swift, in conditions and in the storage")
  func stored() throws {
    try withTemporaryDirectory { directory in
      try GraphQL.write(Self.schema, to: directory.appending(path: "s.graphqls"))
      try GraphQL.write(Self.operations, to: directory.appending(path: "o.graphql"))
      try GraphQL.write(Self.settings, to: directory.appending(path: "dflat.json"))
      let run = try GraphQL.run(
        "--config \(directory.appending(path: "dflat.json").path())", ["o.graphql"], schemas: [],
        in: directory)
      #expect(run.status == 0 && run.errors == "", "\(run.errors)")
      let schema = try #require(run.files["Book_generated.fbs"])
      for line in [
        "published: long = null (swift: \"Date\");",
        "seen: long = null (swift: \"Date in microseconds\");",
        "stamps: [long] (swift: \"Date\");", "uid: string (swift: \"UUID\");",
        "genre: string (swift: \"Genre\");", "mood: string;", "raw: string;",
      ] {
        #expect(schema.contains("  \(line)\n"), "\(schema)")
      }
      #expect(!schema.contains("enum "))
      let program = directory.appending(path: "program")
      for (name, text) in run.files where name.hasSuffix(".swift") {
        try GraphQL.write(text, to: program.appending(path: name))
      }
      for entity in ["Book", "Work"] {
        try generate(directory.appending(path: "out/\(entity)_generated.fbs"), into: program)
      }
      try GraphQL.write(Self.cents, to: program.appending(path: "Cents.swift"))
      try GraphQL.write(Self.program, to: program.appending(path: "main.swift"))
      let result = try Judge.runProgram(
        in: program, with: Place.modules("DflatGraphQL", "MemoryDflat"))
      #expect(result.output == "all is well\n", "\(result.output)")
    }
  }

  private static let small = """
    scalar When
    enum Mood { GLAD SAD }
    type Thing { id: ID!  at: When  key: When!  mood: Mood }
    type Query { thing: Thing }
    """

  private static let reading = "query Q { thing { id at mood } }"

  private func run(_ options: String, earlier: String? = nil) throws -> GraphQLRun {
    try GraphQL.run(
      Self.small, Self.reading, "--entity Thing --primary-key id" + options,
      earlier: earlier.map { ["Thing_generated.fbs": $0] } ?? [:])
  }

  private func version(_ run: GraphQLRun) throws -> String {
    #expect(run.status == 0, "\(run.errors)")
    let text = try #require(run.files["Thing_generated.fbs"])
    return String(try #require(text.firstMatch(of: /table Thing \(v: "(\w+)"/)?.output.1))
  }

  @Test("each have a version of their own, and leave what had another form behind")
  func versions() throws {
    let mappings = [
      "", " --scalar When=long", " --scalar When=long:Date", " --scalar When=double:Date",
      " --scalar When=string:UUID", " --scalar Mood=string",
    ]
    for options in ["", " --evolve"] {
      #expect(try Set(mappings.map { try version(run($0 + options)) }).count == mappings.count)
    }
    // The same mapping goes on with the schema as it is.
    let first = try run(" --scalar When=long:Date --evolve")
    let text = try #require(first.files["Thing_generated.fbs"])
    let same = try run(" --scalar When=long:Date --evolve", earlier: text)
    #expect(same.files["Thing_generated.fbs"] == text && same.errors == "", "\(same.errors)")
    for mapping in [" --scalar When=long", "", " --scalar When=long:Duration"] {
      let other = try run(mapping + " --evolve", earlier: text)
      #expect(try version(other) != version(first))
      #expect(other.errors.contains("gets the new version"), "\(other.errors)")
    }
    // A text that the server has spelt is no UUID as it is stored.
    let plain = try #require(run(" --evolve").files["Thing_generated.fbs"])
    let mapped = try run(" --scalar When=string:UUID --evolve", earlier: plain)
    #expect(
      mapped.errors.contains(
        "'at' has changed its Swift type from that of its stored type to 'UUID'"),
      "\(mapped.errors)")
    for text in [text, plain] {
      #expect(try GraphQL.complaints(about: ["Thing_generated.fbs": text]) == "")
    }
  }

  @Test(
    "that cannot be are errors that say what to write",
    arguments: [
      (" --scalar Mood=long", "--scalar Mood: the values of an enum are stored as 'string'"),
      (" --scalar Mood=Date", "--scalar Mood: the values of an enum are stored as 'string'"),
      (
        " --scalar Mood=string:Moody",
        "'Mood' cannot be stored in this type: the enum is 'Mood' in Swift\n"
          + "    2 | enum Mood { GLAD SAD }\n      |      ^~~~\nnote: write --scalar Mood=string:Mood"
      ),
      (
        " --scalar When=long:Date --client apollo",
        "--scalar When=long:Date is for --client dflat; give the stored type alone"
      ),
      (
        " --scalar When=long:Date --primary-key Thing=key",
        "'key' cannot be in the primary key of 'Thing': 'When' is stored as 'long' and is 'Date'"
      ),
      (" --scalar When=string:Date", "Date"),
      (" --scalar When=long:date", "types of Swift such as Date"),
      (" --scalar When=lang:Date", "types of Swift such as Date"),
    ])
  func refused(options: String, message: String) throws {
    let run = try run(options)
    #expect(run.status != 0 && run.errors.contains(message), "\(run.errors)")
  }

  @Test(
    "of the configuration may be any type of Swift, or both types",
    arguments: [
      (#""[String: Int]""#, nil), (#""Shop::Price""#, nil), (#""long""#, nil),
      (#"{"type": "double", "swift": "Duration"}"#, nil),
      (#""lnog:Date""#, "'lnog:Date' is no type of a scalar"),
      (#"{"type": "lnog", "swift": "Date"}"#, "'lnog:Date' is no type of a scalar"),
      (#"{"type": "long", "Swift": "Date"}"#, "Swift"),
    ] as [(String, String?)])
  func settings(scalar: String, error: String?) throws {
    try withTemporaryDirectory { directory in
      try GraphQL.write(Self.small, to: directory.appending(path: "s.graphqls"))
      try GraphQL.write(Self.reading, to: directory.appending(path: "o.graphql"))
      let settings = directory.appending(path: "dflat.json")
      try GraphQL.write(
        """
        {"graphql": {"schema": "s.graphqls", "entities": ["Thing"], "primaryKey": "id",
          "scalars": {"When": \(scalar)}}}
        """, to: settings)
      let run = try GraphQL.run(
        "--config \(settings.path())", ["o.graphql"], schemas: [], in: directory)
      if let error {
        #expect(run.status != 0 && run.errors.contains(error), "\(run.errors)")
      } else {
        #expect(run.status == 0 && run.errors == "", "\(run.errors)")
      }
    }
  }
}
