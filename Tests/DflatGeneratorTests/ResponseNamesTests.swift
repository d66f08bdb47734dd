// Difficult names and rare types in GraphQL operations.

import DflatSchema
import Foundation
import GraphQLSchema
import Testing

@testable import DflatGenerator

@Suite("GraphQL responses: names and types")
struct ResponseNamesTests {
  @Test("Members have different names")
  func members() {
    #expect(ResponseNames.members(["foo_bar", "fooBar", "baz"]) == ["foo_bar", "fooBar", "baz"])
    #expect(ResponseNames.members(["self", "init", "type"]) == ["self_", "init_", "type"])
    #expect(ResponseNames.members(["A", "a_"], avoiding: ["a"]) == ["a_", "a__"])
  }

  @Test("Operations have different names")
  func operations() throws {
    let text = """
      query a_b { hero { id } }  query aB { hero { id } }  query Heroes { heroes { id } }
      query heroesQuery { heroes { id } }  query fleet { heroes { id } }
      """
    // An entity of the same name is another type.
    let schema = try GraphQL.run(
      "type HeroQuery { id: ID! }  type Query { hero: HeroQuery }", "query Hero { hero { id } }",
      "--entity HeroQuery --primary-key id")
    #expect(schema.files["HeroQuery__generated.swift"] != nil, "\(schema.files.keys)")
    let result = try StarWars.generate(text)
    let names = result.files.map(\.name).filter { !$0.hasPrefix("GraphQL") }
    for name in ["A_bQuery", "ABQuery", "HeroesQuery", "HeroesQuery_", "FleetQuery"] {
      #expect(names.contains("\(name)_generated.swift"), "\(names)")
    }
  }

  /// The lines of the document that the first operation sends.
  private func document(_ schema: String, _ operations: String) throws -> [String] {
    let run = try GraphQL.run(schema, operations, "--entity P --primary-key id")
    #expect(run.status == 0, "\(run.errors)")
    let text = try #require(run.files["AQuery_generated.swift"])
    let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    let first = try #require(lines.firstIndex { $0.hasPrefix("query A") })
    return Array(lines[first...].prefix { !$0.hasPrefix("\"\"\"") })
  }

  @Test("A document has what a server reads, and no variable without a use")
  func documents() throws {
    let schema = "type P { id: ID!  all(first: Int): [P]  name: String }  type Query { p: P }"
    let operations = """
      query A($wait: Boolean!, $key: String!, $if: Boolean!, $iff: Boolean!) {
        p {
          id
          all @stream(initialCount: 1, if: $wait) @connection(key: $key) { id }
          ... @defer(if: $wait, label: "later") { ...F @nonreactive }
        }
      }
      fragment F on P { name @include(if: $if) @skip(if: $iff) }
      """
    let lines = try document(schema, operations)
    #expect(lines[0] == "query A($if: Boolean!, $iff: Boolean!) {", "\(lines)")
    #expect(!lines.contains { $0.contains("@stream") || $0.contains("@connection") }, "\(lines)")
    #expect(
      lines.contains("all {") && lines.contains("... {") && lines.contains("...F"), "\(lines)")
    // A directive of the service has its name alone in common.
    let own = "directive @connection(key: String!) on FIELD\n" + schema
    let sent = try document(own, operations)
    #expect(sent[0].contains("$key: String!"), "\(sent)")
    #expect(sent.contains("all @connection(key: $key) {"), "\(sent)")
  }

  @Test(
    "Code with difficult names and rare types compiles without warnings",
    arguments: isLongRun ? Judge.Mode.allCases : [.mainActor])
  func compiles(mode: Judge.Mode) throws {
    try withTemporaryDirectory { directory in
      try write(into: directory)
      let complaints = try Judge.complaints(about: directory, mode)
      #expect(complaints == "", "\(complaints)")
    }
  }

  @Test("Code with difficult names and rare types works")
  func runs() throws {
    try withTemporaryDirectory { directory in
      try write(into: directory)
      try FileManager.default.copyItem(
        at: Place.programs.appending(path: "graphql-names.swift"),
        to: directory.appending(path: "main.swift"))
      let program = try Judge.buildProgram(
        in: directory, with: Place.modules("DflatGraphQL", "MemoryDflat"))
      let result = try Judge.run([program])
      #expect(result.output == "all is well\n")
    }
  }

  private func write(into directory: URL) throws {
    let schema = try #require(
      GraphQLSchema.Schema.read([GraphQLSource(path: "s", text: Self.schema)]).value)
    let read = Operations.read(
      [GraphQLSource(path: "o", text: Self.operations)], schema: schema)
    var options = GraphQLResponseOptions()
    options.scalars = ["When": "Date", "Any_": "GraphQLValue", "Tiny": "byte"]
    for (name, text) in [("Item", Self.item), ("Node", Self.node), ("Thing", Self.thing)] {
      let compiled = SchemaCompiler().compile(source: Array(text.utf8), path: "\(name).fbs")
      let said = compiled.diagnostics.map { $0.rendered() }.joined(separator: "\n")
      options.entities.append(
        GraphQLEntity(name: name, schema: try #require(compiled.schema, "\(said)")))
    }
    let result = GraphQLResponseGenerator(
      schema: schema, operations: try #require(read.value), options: options
    ).generate()
    #expect(result.diagnostics.map { $0.rendered() } == [])
    try StarWars.keep(result.files)
    let files = result.files + options.entities.flatMap { Generator($0.schema).generate() }
    for file in files {
      try file.text.write(
        to: directory.appending(path: file.name), atomically: false, encoding: .utf8)
    }
  }

  private static let schema = #"""
    scalar When
    scalar Any_
    scalar Tiny
    enum class_kind { default self none unknown foo_bar fooBar _ allCases Type }
    enum Data { a }
    enum String_ { a }
    interface Node { id: Int }
    type Item implements Node {
      id: Int
      item: Item
      items: [[Item]!]
      node: Node
      data: Item
      class: class_kind!
      classes: [[class_kind!]]
      status: Text
      default: String
      self: Boolean
      init: Float
      Type: Tiny
      type: Tiny
      values: When
      encoder: Any_
      hashValue: Int
      string: Text
      int: [Text!]!
      draft: String
      merge: String
      member: String
      selected: String
      key: ID
    }
    type Text { text: String  grid: [[[Int]]]  any: Any_ }
    type Other implements Node { id: Int  other: Text  parent: Node! }
    input in { in: in  in_: [in!] = []  class: class_kind! = default  self: Data  other: in }
    type Query { item(in: in): Item  node: Node!  nodes: [Node]  query: Item  text(a: String): Text  thing: Thing  count(of: [class_kind!]!): Int }
    type Thing { id: ID!  name: String }
    type Mutation { do(in: in!, class: class_kind! = self, string: String_): Text }
    """#

  private static let operations = #"""
    query item_query($in: in, $default: [class_kind!]! = [self], $self: Boolean! = true) {
      item(in: $in) {
        id item { id } items { id key } node { id } data { id init }
        class classes status { text } default self init Type type values encoder hashValue
        string { text } int { text grid any } draft merge member selected
      }
      query { id ... on Node { id ... on Item { default } } }
      text(a: "\"\"\"\\ \u00e9") { text @include(if: $self) }
      count(of: $default)
    }
    query Nodes($a: Boolean!, $b: Boolean!) {
      node { ... on Item { id default } ... on Other { id other { text @skip(if: $a) } parent { id } } }
      nodes { key: id ... on Item @include(if: $a) { id self class @skip(if: $b) } }
      item @include(if: $a) { id } item @skip(if: $b) { id default }
      again: item { id }
      __schema { types { name kind } }
    }
    query Things { thing { id name } }
    mutation Do($in: in!, $class: class_kind! = default) { do(in: $in, class: $class) { text } }
    """#

  private static let item = """
    namespace Item;
    table Row { values: [Plane]; }
    table Plane { values: [long]; }
    table Text { text: string; grid: [Row]; any: string; }
    table Items { values: [long]; }
    enum class_kind: int { default, self, none, unknown }
    table Classes { values: [class_kind]; }
    namespace;
    table Item {
      id: long (primary); item: long; items: [Item.Items]; data: string; class: Item.class_kind;
      classes: [Item.Classes]; status: Item.Text; default: string; self: bool; init: double;
      type: byte; hashValue: int; string: Item.Text; int: [Item.Text]; draft: string;
      merge: string; member: string; selected: string;
    }
    root_type Item;
    """

  private static let thing = "table Thing { id: long (primary); name: string; } root_type Thing;"

  private static let node = """
    namespace Node;
    table Text { text: string; }
    table Other { other: Text; parent: string; }
    table Item { default: string; self: bool; class: string; node: string; }
    union Subtype { Item, Other }
    namespace;
    table Node { id: string (primary); subtype: Node.Subtype; }
    root_type Node;
    """
}
