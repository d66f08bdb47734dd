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

  @Test(
    "The root of a subscription has no @skip and no @include, also in fragments",
    arguments: [
      ("a @skip(if: $x) { b }", 1), ("b @include(if: true)", 1), ("b @skip(if: false)", 1),
      ("b @skip(if: $x) @include(if: $x)", 2), ("... @include(if: $x) { b }", 1),
      ("... on Subscription { b @skip(if: $x) }", 1), ("...F", 1), ("...F @skip(if: $x)", 2),
      ("... on N { ...F }", 1), ("a { b @skip(if: $x) }", 0), ("a { ...F }", 0),
    ])
  func subscriptions(selection: String, errors: Int) throws {
    let schema = """
      interface N { a: N  b: Int }
      type Subscription implements N { a: N  b: Int }
      type Query { b: Int }
      """
    let text =
      "subscription S($x: Boolean!) { \(selection) } fragment F on N { b @include(if: $x) }"
    let found = try said(text, schema).filter { $0.hasPrefix("error: '@") }
    #expect(found.count == errors, "\(found)")
  }

  @Test("What a subscription selects by condition still counts as a field of its root")
  func conditionalFields() throws {
    let schema = "type Subscription { a: Int  b: Int }  type Query { a: Int }"
    let text = "subscription S($x: Boolean!) { a @skip(if: $x) b @skip(if: true) }"
    #expect(
      try said(text, schema) == [
        "error: '@skip' cannot stand at the root of a subscription",
        "error: a subscription has one field at its root",
        "error: '@skip' cannot stand at the root of a subscription",
      ])
  }

  @Test(
    "The default of an input field does not contain itself",
    arguments: [
      ("input I { i: I = {} }", "the default of 'I.i' contains itself"),
      (
        "input A { b: B = {} }  input B { x: Int  c: [C!] = [{x: 1}, {}] }  "
          + "input C { x: Int  a: A = {b: null}  d: A = {} }",
        "the default of 'A.b' contains itself, through 'B.c', 'C.d'"
      ),
      (
        "input A { b: B = {} }  input B { x: A = {}  a: A }",
        "the default of 'A.b' contains itself, through 'B.x'"
      ),
      (
        "input A { a: A = {a: null, b: {}}  b: B }  input B { x: A = {} }",
        "the default of 'A.a' contains itself, through 'B.x'"
      ),
    ])
  func defaultCycles(types: String, message: String) {
    let result = readSchema(types + "  type Query { a: Int }")
    #expect(result.value == nil)
    #expect(result.diagnostics.map(\.message) == [message])
  }

  @Test(
    "Defaults that end are accepted",
    arguments: [
      "input I { i: I = null }", "input I { i: I = {i: null} }", "input I { i: [I!] = [] }",
      "input A { b: B = {a: {b: null}} }  input B { a: A = {b: {a: {b: null}}} }",
      "input I { i: I  x: Int = 1 }", "input A { b: B = {} }  input B { a: A }",
    ])
  func defaults(types: String) {
    #expect(readSchema(types + "  type Query { a: Int }").diagnostics.isEmpty)
  }

  @Test(
    "A default of the wrong type is a warning, since services publish such schemas",
    arguments: [
      ("Int", "\"1\"", ["expected a value of type 'Int', found \"1\""]),
      ("Int", "3000000000", ["expected a value of type 'Int', found 3000000000"]),
      ("Int!", "null", ["expected a value of type 'Int!', found null"]),
      (
        "[Int!]", "[1, null, 2.5]",
        [
          "expected a value of type 'Int!', found null",
          "expected a value of type 'Int!', found 2.5",
        ]
      ),
      ("E", "C", ["the enum 'E' has no value 'C'"]),
      (
        "I", "{x: true, z: 1}",
        ["expected a value of type 'E', found true", "'I' has no field 'z'"]
      ),
      ("I", "{}", []), ("[E]", "B", []), ("Any", "[{a: 1}, B, 2.5]", []), ("Float", "1", []),
      ("ID", "7", []), ("Int", "null", []),
    ])
  func wrongDefaults(type: String, value: String, messages: [String]) {
    let types = "scalar Any  enum E { A B }  input I { x: E  y: Int }"
    for use in [
      "type Query { a(x: \(type) = \(value)): Int }",
      "input U { x: \(type) = \(value) }  type Query { a: Int }",
      "directive @d(x: \(type) = \(value)) on FIELD  type Query { a: Int }",
      "interface N { a(x: \(type) = \(value)): Int }  type Query { a: Int }",
    ] {
      let result = readSchema("\(types)  \(use)")
      #expect(result.value != nil)
      #expect(result.diagnostics.map(\.message) == messages)
      #expect(result.diagnostics.allSatisfy { $0.severity == .warning })
    }
  }

  @Test("Long chains of defaults are no danger")
  func longDefaults() {
    let count = 20_000
    var text = "type Query { a: Int }\n"
    for number in 0..<count { text += "input I\(number) { i: I\(number + 1) = {} }\n" }
    #expect(readSchema(text + "input I\(count) { x: Int }").diagnostics.isEmpty)
    #expect(readSchema(text + "input I\(count) { i: I0 = {} }").diagnostics.count == 1)
  }

  @Test("A deprecated field whose interface does not deprecate it is a warning")
  func deprecation() {
    let schema = """
      interface M { f: Int @deprecated }
      interface N { f: Int  g(x: Int): Int }
      type P implements N & M { f: Int @deprecated(reason: "old")  g(x: Int @deprecated): Int }
      type Query implements M { f: Int }
      """
    let result = readSchema(schema)
    #expect(result.value != nil)
    #expect(
      result.diagnostics.map { "\($0.severity): \($0.message)" }
        == ["warning: 'P.f' is deprecated, but 'N.f', which it implements, is not"])
  }

  @Test("A reason of @deprecated is not null, which earlier versions allowed, so it is a warning")
  func reason() {
    let result = readSchema("type Query { a: Int  b: Int @deprecated(reason: null) }")
    #expect(result.value?.queryType?.field(named: "b")?.deprecationReason == "No longer supported")
    #expect(
      result.diagnostics.map { "\($0.severity): \($0.message)" }
        == ["warning: the reason of '@deprecated' cannot be null"])
    let own = "directive @deprecated(reason: String) on FIELD_DEFINITION"
    #expect(
      readSchema("\(own) type Query { a: Int @deprecated(reason: null) }").diagnostics.isEmpty)
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
