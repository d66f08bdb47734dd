// What the specification of September 2025 has, and what services and clients add to it.

import GraphQLSchema
import Testing

@Suite("GraphQL: newer rules")
struct NewerRulesTests {
  private static let schema = """
    interface Node { id: ID! }
    type Person implements Node { id: ID!  name: String  friends(first: Int): [Person!] }
    input Way @oneOf { id: ID  name: String }
    type Query { person(by: Way): Person }
    """

  private func said(_ operations: String, _ schema: String = Self.schema) throws -> [String] {
    let model = try #require(readSchema(schema).value)
    return Operations.read([GraphQLSource(path: "a.graphql", text: operations)], schema: model)
      .diagnostics.map { "\($0.severity): \($0.message)" }
  }

  @Test("A value of an input object with @oneOf has exactly one field, which is not null")
  func oneOf() throws {
    #expect(try said("{ person(by: {id: 1}) { id } }") == [])
    #expect(try said("query A($id: ID!) { person(by: {id: $id}) { id } }") == [])
    for (value, count) in [("{}", 0), ("{id: 1, name: \"a\"}", 2)] {
      #expect(
        try said("{ person(by: \(value)) { id } }")
          == ["error: a value of 'Way' has exactly one field, and this one has \(count)"])
    }
    #expect(try said("{ person(by: {id: null}) { id } }").count == 1)
    #expect(
      try said("query A($id: ID) { person(by: {id: $id}) { id } }")
        == ["error: '$id' is of type 'ID', but 'ID!' is expected here"])
    let wrong = readSchema("input A @oneOf { a: Int!  b: Int = 3 }  type Query { a(a: A): Int }")
    #expect(wrong.diagnostics.count == 2 && wrong.value == nil)
    let json = """
      {"__schema": {"queryType": {"name": "Query"}, "directives": [], "types": [
        {"kind": "INPUT_OBJECT", "name": "A", "isOneOf": true, "inputFields": [
          {"name": "a", "type": {"kind": "SCALAR", "name": "Int"}}]},
        {"kind": "OBJECT", "name": "Query", "interfaces": [], "fields": [
          {"name": "a", "args": [], "type": {"kind": "SCALAR", "name": "Int"}}]}]}}
      """
    #expect(readSchema(json).value?.type(named: "A")?.isOneOf == true)
  }

  @Test("Operations, fragments and variables have descriptions")
  func descriptions() throws {
    #expect(
      try said(
        """
        "All." query A("Which one." $id: ID!) { person(by: {id: $id}) { ...P } }
        \"""
        A person.
        \"""
        fragment P on Person { id }
        """) == [])
    #expect(try said("\"x\" extend type Person { a: Int }").count == 1)
  }

  @Test("Directives of clients and of incremental answers are known, and a schema's own ones count")
  func directives() throws {
    #expect(
      try said(
        """
        query A @apollo_client_ios_localCacheMutation {
          person {
            id @nonreactive
            friends(first: 1) @connection(key: "f", filter: ["first"]) @stream(initialCount: 2) { id }
            ... @defer(label: "x", if: false) { name }
          }
        }
        """) == [])
    #expect(
      try said("{ person { id @client } }") == ["error: there is no directive '@client'"])
    let own = "directive @defer(later: Int!) on INLINE_FRAGMENT\n" + Self.schema
    #expect(try said("{ person { ... @defer(later: 1) { id } } }", own) == [])
    #expect(try said("{ person { ... @defer { id } } }", own).count == 1)
    let policies = """
      type Query @typePolicy(keyFields: "id") { a: Int @semanticNonNull }
      extend type Query @fieldPolicy(forField: "a", keyArgs: "b") @semanticNonNullField(name: "a")
      """
    #expect(readSchema(policies).diagnostics.isEmpty)
  }

  @Test("What a service or a program repeats or leaves over is a warning")
  func warnings() throws {
    #expect(
      try said("{ person { id } } fragment P on Person { id }")
        == ["warning: the fragment 'P' is not used"])
    let twice = readSchema(
      "type Query { a(b: Int = 1): Int!  c: Int  a(b: Int = 1): Int! }")
    #expect(twice.diagnostics.map(\.severity) == [.warning])
    #expect(twice.value?.type(named: "Query")?.fields.map(\.name) == ["a", "c"])
    for other in ["a(b: Int = 1): Int", "a(b: Int = 2): Int!", "a: Int!"] {
      let result = readSchema("type Query { a(b: Int = 1): Int!  \(other) }")
      #expect(result.value == nil, "\(other)")
    }
    let model = try #require(readSchema(Self.schema).value)
    func read(_ texts: [String]) -> GraphQLResult<Operations> {
      Operations.read(
        texts.enumerated().map { GraphQLSource(path: "\($0).graphql", text: $1) }, schema: model)
    }
    let some = read(["{ person { id } }", "# Later.\n"])
    #expect(some.value != nil)
    #expect(some.diagnostics.map(\.message) == ["this file has no definitions"])
    #expect(read(["", "# Later."]).value == nil)
  }
}
