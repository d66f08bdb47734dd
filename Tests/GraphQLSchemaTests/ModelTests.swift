// Schemas and operations as data.

import Foundation
import GraphQLSchema
import Testing

@Suite("GraphQL: model")
struct ModelTests {
  private static let library = """
    "Everything."
    schema { query: Root mutation: Change }
    type Root { works(first: Int = 10): [Work!]!  search: Found }
    type Change { add(title: String!): Book }
    interface Node { id: ID! }
    interface Work implements Node { id: ID!  title: String! }
    type Book implements Work & Node { id: ID!  title: String!  pages: Int @deprecated(reason: "old") }
    type Album implements Work & Node { id: ID!  title: String!  tracks: [[String!]!]! }
    type Shop { name: String }
    union Found = Shop | Book
    enum Genre { NOVEL POETRY @deprecated }
    extend type Shop { genre: Genre }
    scalar Date @specifiedBy(url: "https://example.org/date")
    directive @mark(n: Int = 1) repeatable on FIELD | QUERY
    input Filter { text: String!  limit: Int = 3 }
    """

  private func check(_ schema: Schema) throws {
    #expect(schema.queryType?.name == "Root" && schema.mutationType?.name == "Change")
    #expect(schema.subscriptionType == nil)
    let work = try #require(schema.type(named: "Work"))
    let found = try #require(schema.type(named: "Found"))
    let book = try #require(schema.type(named: "Book"))
    #expect(schema.possibleTypes(of: work).map(\.name) == ["Book", "Album"])
    #expect(schema.possibleTypes(of: found).map(\.name) == ["Shop", "Book"])
    #expect(schema.possibleTypes(of: try #require(schema.type(named: "Node"))).count == 2)
    #expect(schema.overlap(work, found) && schema.isSubtype(book, of: work))
    #expect(
      schema.type(named: "Album")?.field(named: "tracks")?.type.description == "[[String!]!]!")
    #expect(schema.type(named: "Shop")?.fields.map(\.name) == ["name", "genre"])
    #expect(book.field(named: "pages")?.deprecationReason == "old")
    #expect(
      schema.type(named: "Genre")?.values.map(\.deprecationReason)
        == [nil, "No longer supported"])
    #expect(schema.type(named: "Date")?.specifiedByURL == "https://example.org/date")
    #expect(schema.directive(named: "mark")?.isRepeatable == true)
    #expect(schema.directive(named: "mark")?.locations == [.field, .query])
    let limit = try #require(schema.type(named: "Filter")?.inputField(named: "limit"))
    #expect(limit.defaultValue?.canonicalText == "3" && !limit.isRequired)
    #expect(schema.type(named: "Filter")?.inputField(named: "text")?.isRequired == true)
    #expect(schema.type(named: "String")?.isBuiltIn == true)
    let root = try #require(schema.queryType)
    #expect(schema.field(named: "__schema", in: root)?.type.description == "__Schema!")
    #expect(schema.field(named: "__schema", in: book) == nil)
    #expect(schema.field(named: "__typename", in: found)?.type.description == "String!")
  }

  @Test("A schema in GraphQL's language")
  func language() throws {
    let schema = try schema(Self.library)
    try check(schema)
    #expect(schema.description == "Everything.")
    #expect(schema.types.first?.name == "Root")
  }

  @Test("Extensions may stand in other files, before what they extend")
  func files() throws {
    let parts = Self.library.components(separatedBy: "extend type Shop")
    let result = Schema.read([
      GraphQLSource(path: "b", text: "extend type Shop { genre: Genre }"),
      GraphQLSource(path: "a", text: parts[0] + parts[1].drop { $0 != "\n" }),
    ])
    try check(try #require(result.value, "\(rendered(result.diagnostics))"))
  }

  @Test("Selections know their types")
  func selections() throws {
    let schema = try schema(Self.library)
    let operations = try operations(
      """
      query Q { all: works { ...W  ... on Book { pages } } search { __typename } }
      fragment W on Work { title }
      """, schema)
    let query = try #require(operations.operation(named: "Q"))
    #expect(operations.parentType(of: query.selectionSet)?.name == "Root")
    guard case .field(let works) = query.selectionSet.selections[0],
      let inner = works.selectionSet, case .fragmentSpread(let spread) = inner.selections[0],
      case .inlineFragment(let book) = inner.selections[1],
      case .field(let pages) = book.selectionSet.selections[0]
    else {
      Issue.record("the tree has another shape")
      return
    }
    #expect(works.responseKey == "all" && works.name.text == "works")
    #expect(operations.definition(of: works)?.type.description == "[Work!]!")
    #expect(operations.parentType(of: inner)?.name == "Work")
    #expect(operations.fragment(of: spread)?.typeCondition.text == "Work")
    #expect(operations.parentType(of: book.selectionSet)?.name == "Book")
    #expect(operations.type(of: pages)?.name == "Int")
  }

  @Test("An operation knows its text and the fragments that it needs")
  func document() throws {
    let schema = try schema("type Query { a: Int  b: Query }")
    let operations = try operations(
      """
      query Q { b { ...B } ...A }  fragment A on Query { a }
      query R { ...C }  fragment B on Query { ... { ...C } }  fragment C on Query { b { ...A } }
      """, schema)
    let query = try #require(operations.operation(named: "Q"))
    #expect(query.range.text == "query Q { b { ...B } ...A }")
    let fragments = operations.fragments(usedBy: query.selectionSet)
    #expect(fragments.map(\.name.text) == ["B", "C", "A"])
    #expect(fragments[2].range.text == "fragment A on Query { a }")
  }

  @Test("A misspelt type is an error with a hint")
  func unknownType() {
    #expect(
      said("type Query { a: Boook }\ntype Book { b: Int }") == """
        schema.graphqls:1:17: error: there is no type 'Boook'
            1 | type Query { a: Boook }
              |                 ^~~~~
        note: did you mean 'Book'?
        """)
  }

  static let introspectionText = """
    {"data": {"__schema": {"description": "D", "queryType": {"name": "Query"}, "mutationType": null,
     "types": [
      {"kind": "OBJECT", "name": "Query", "isOneOf": null, "new": [1e3, {}], "interfaces": [], "fields": [
        {"name": "a", "args": [{"name": "x", "defaultValue": "[1, {b: \\"c\\"}]",
          "type": {"kind": "LIST", "ofType": {"kind": "SCALAR", "name": "JSON", "ofType": null}}}],
         "type": {"kind": "NON_NULL", "ofType": {"kind": "ENUM", "name": "E"}},
         "isDeprecated": true, "deprecationReason": "no"}]},
      {"kind": "SCALAR", "name": "JSON", "specifiedByURL": "u"},
      {"kind": "OBJECT", "name": "__Type", "fields": 1},
      {"kind": "ENUM", "name": "E", "enumValues": [{"name": "V", "description": "\\u00e9"}]}],
     "directives": [{"name": "d", "locations": ["FIELD", "NEW_PLACE"], "args": []}]}}}
    """

  @Test("Introspection: also inside 'data', with members of newer servers")
  func introspection() throws {
    let schema = try schema(Self.introspectionText)
    let field = try #require(schema.queryType?.field(named: "a"))
    #expect(field.type.description == "E!" && field.deprecationReason == "no")
    #expect(field.arguments.first?.type.description == "[JSON]")
    #expect(field.arguments.first?.defaultValue?.canonicalText == #"[1, {b: "c"}]"#)
    #expect(schema.type(named: "JSON")?.specifiedByURL == "u")
    #expect(schema.type(named: "E")?.values.first?.description == "é")
    #expect(schema.types.map(\.name).prefix(3) == ["Query", "JSON", "E"])
    #expect(schema.description == "D")
  }

  @Test(
    "Broken introspection is an error with its place",
    arguments: [
      ("{}", "1:1: error: this JSON has no '__schema'"),
      (#"{"errors": [{"message": "go away"}]}"#, "note: the server answered: go away"),
      (#"{"__schema": {"types": [}}"#, "1:25: error: expected a JSON value, found '}'"),
      (#"{"__schema": {"types" []}}"#, "1:23: error: expected ':'"),
      (#"{"__schema": {"types": [] "a": 1}}"#, "expected '}' or ','"),
      (#"{"__schema": {"queryType": {"name": "Q"}, "types": [{"name": "Q"}]}}"#, "no known 'kind'"),
      (
        #"{"__schema": {"queryType": {"name": "Q"}, "types": []}}"#,
        "1:37: error: there is no type 'Q'"
      ),
      (
        #"{"__schema": {"queryType": {"name": "Q"}, "types": [{"kind": "OBJECT", "name": "Q", "fields": [{"name": "a", "type": {"kind": "LIST"}}]}]}}"#,
        "'ofType' is missing"
      ),
    ])
  func brokenIntrospection(text: String, message: String) {
    #expect(said(text).contains(message))
  }
}
