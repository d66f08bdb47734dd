// Names: back-ticks, spellings where something hides a type, and the cycles that need a box.

import DflatSchema
import Foundation
import Testing

@testable import DflatGenerator

@Suite("Names in generated code")
struct NamesTests {
  private func schema(_ source: String) throws -> Schema {
    let result = SchemaCompiler().compile(source: Array(source.utf8), path: "some.fbs")
    return try #require(
      result.schema, "\(result.diagnostics.map { $0.rendered() }.joined(separator: "\n"))")
  }

  private func generate(_ source: String) throws -> String {
    try Generator(schema(source)).generate().map(\.text).joined()
  }

  @Test("reserved words get back-ticks")
  func backticks() {
    for word in ["self", "init", "default", "Type", "Protocol", "Any", "_", "1st", "in"] {
      #expect(Identifier.escaped(word) == "`\(word)`")
    }
    for word in ["from", "table", "id", "set", "open_", "actor", "Post", "isPinned"] {
      #expect(Identifier.escaped(word) == word)
    }
  }

  @Test("a taken name gets underscores in front")
  func fresh() {
    #expect(Identifier.fresh("table", avoiding: []) == "table")
    #expect(Identifier.fresh("table", avoiding: ["table", "_table"]) == "__table")
  }

  @Test("library types are qualified where the schema or the module uses their name")
  func libraries() throws {
    let plain = TypeNames(schema: try schema("table A { x: int; }"), fileName: "a")
    #expect(plain.swift("Hasher") == "Hasher" && plain.dflat("EntitySchema") == "EntitySchema")
    // Many programs have a `Row` of their own, which this schema cannot know of.
    #expect(plain.dflat("Row") == "DflatRow" && plain.swift("String") == "String")
    let odd = TypeNames(
      schema: try schema("namespace Hasher;\ntable EntitySchema { CaseIterable: int; }"),
      fileName: "a")
    #expect(odd.swift("Hasher") == "Swift::Hasher")
    #expect(odd.dflat("EntitySchema") == "Dflat::EntitySchema")
    #expect(odd.swift("CaseIterable") == "Swift::CaseIterable")
    #expect(odd.runtime("TableReader") == "TableReader")
    let crowded = TypeNames(
      schema: try schema(
        """
        enum E: byte { URL, other }
        struct S { String: int; }
        table FlatBuffer { id: int (primary); odd: int; }
        table Named (swift_name: "Date") { x: int; }
        root_type FlatBuffer;
        """), fileName: "a", others: [["Row"], ["DflatField"]])
    #expect(crowded.foundation("URL") == "Foundation::URL")
    #expect(crowded.foundation("Date") == "Foundation::Date")
    #expect(crowded.swift("String") == "Swift::String" && crowded.swift("Int") == "Int")
    // The entity's builder has the name.
    #expect(crowded.runtime("FlatBufferBuilder") == "FlatBuffersRuntime::FlatBufferBuilder")
    #expect(crowded.dflat("Row") == "DflatRow" && crowded.dflat("Field") == "Dflat::DflatField")
  }

  @Test(
    "without conflicts nothing is qualified", arguments: ["everyday", "everything", "keys"])
  func unqualified(name: String) throws {
    let path = Place.schemas.appending(path: "\(name).fbs").path()
    let schema = try #require(SchemaCompiler().compile(file: path).schema)
    for file in Generator(schema).generate() {
      #expect(!file.text.contains("::"), "\(file.name)")
    }
  }

  @Test("types are spelled so that Swift finds them")
  func spellings() throws {
    let names = TypeNames(
      schema: try schema(
        """
        table Thing {}
        namespace Shop;
        table Shop {}
        table Thing {}
        table Part {}
        namespace Other;
        table Thing {}
        """), fileName: "my file")
    let inner = QualifiedName(namespace: ["Shop"], name: "Part")
    let global = QualifiedName(name: "Thing")
    #expect(names.type(inner, in: .init()) == "Shop.Part")
    // Inside the namespace its name means the table.
    #expect(names.type(inner, in: .init(namespace: ["Shop"])) == "Part")
    #expect(names.type(inner, in: .init(namespace: ["Other"])) == "Shop.Part")
    #expect(names.type(global, in: .init()) == "Thing")
    #expect(names.aliases == [])
    #expect(names.type(global, in: .init(namespace: ["Other"])) == "_my_file_Thing")
    #expect(names.aliases == [["Thing"]])
    // A member hides types from expressions only.
    let scope = TypeNames.Scope(members: ["Thing"])
    #expect(names.type(global, in: scope) == "Thing")
    #expect(names.expression(global, in: scope) == "_my_file_Thing")
  }

  @Test("fields and unions are boxed where a table contains itself, and only there")
  func circles() throws {
    let text = try generate(
      """
      union U { A, B }
      union Flat { C }
      table A { next: A; all: [A]; c: C; u: U; }
      table B { a: A; }
      table C { x: int; flat: [Flat]; }
      table Root { id: int (primary); parent: Root; a: A; }
      root_type Root;
      """)
    #expect(text.contains("private var _nextBox: Indirect<A?>"))
    #expect(text.contains("private var _aBox: Indirect<A?>"))
    #expect(text.contains("public nonisolated indirect enum U:"))
    #expect(text.contains("  public var c: C?"))
    #expect(text.contains("public nonisolated enum Flat:"))
    #expect(text.components(separatedBy: ": Indirect<").count == 3)
  }

  @Test("a deeply nested schema works")
  func deep() throws {
    let tables = (0..<5000).map { "table T\($0) { next: T\(($0 + 1) % 5000); }" }
    let text = try generate(tables.joined(separator: "\n"))
    #expect(text.components(separatedBy: ": Indirect<").count == 5001)
  }

  @Test("documentation comes from the schema, or otherwise states what the type does not")
  func documentation() throws {
    let text = try generate(
      """
      /// A note.
      ///
      /// With a second paragraph.
      table Note {
        /// Who wrote it.
        author: string;
        stars: int = 3 (indexed);
      }
      """)
    #expect(
      text.contains(
        "/// A note.\n///\n/// With a second paragraph.\npublic nonisolated struct Note"))
    #expect(text.contains("  /// Who wrote it.\n  public var author: String?"))
    #expect(
      text.contains("  /// `stars`: indexed, `3` if absent.\n  public var stars: Int32"))
  }

  @Test(
    "literals survive", arguments: ["\"\\\n\r\t", "\u{0}\u{202e}\u{301}", "ünï \u{1F600}", "#{}"])
  func strings(value: String) throws {
    let literal = Literal.string(value)
    #expect(literal.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202e })
    #expect(literal.hasPrefix("\"") && literal.hasSuffix("\""))
  }

  @Test("a long literal is scanned once, and broken after none of its own signs")
  func longLiterals() {
    let literal = Literal.string(String(repeating: " = \"\\ ?? { ", count: 50_000))
    var text = SourceText()
    text.statement("public var \(String(repeating: "x", count: 90)) = \(literal)")
    let lines = text.text.split(separator: "\n")
    #expect(lines.count == 2 && lines[0].hasSuffix("x =") && lines[1] == "  " + literal)
  }

  @Test("real literals are exact")
  func reals() {
    #expect(Literal.real(0.1, isFloat: false) == "0.1")
    #expect(Literal.real(Double(Float(0.1)), isFloat: true) == "0.1")
    #expect(Literal.real(1e300, isFloat: false) == "1e+300")
    #expect(Literal.real(-.infinity, isFloat: false) == "-.infinity")
    #expect(Literal.real(.nan, isFloat: true) == ".nan")
  }

  @Test("several aliases of one type are one member to queries")
  func aliases() throws {
    let text = try generate(
      "table A {}\nunion U { A, Again: A, Text: string, More: string }\ntable T { u: U; }")
    #expect(text.contains("-> DflatCondition<Root> { _match(1, 2) }"))
    #expect(text.contains("-> DflatReference<A, Root> { _member(1, 2) }"))
    #expect(text.contains("_stringMember(3, 4)"))
  }
}
