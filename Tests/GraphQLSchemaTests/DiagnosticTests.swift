// What is said about operations that do not fit their schema, word for word.

import GraphQLSchema
import Testing

@Suite("GraphQL: diagnostics")
struct DiagnosticTests {
  @Test("A misspelt field is underlined, and the right one is suggested")
  func field() throws {
    let schema = try schema(try Corpus.text("starwars.schema"))
    #expect(
      said("query Q {\n  hero { nme }\n}", schema) == """
        test.graphql:2:10: error: 'Character' has no field 'nme'
            2 |   hero { nme }
              |          ^~~
        note: did you mean 'name'?
        """)
  }

  @Test(
    "Hints say what to write",
    arguments: [
      ("{ hero { homePlanet } }", "'Human' has it: select it in '... on Human { … }'"),
      ("{ search { name } }", "'Human' has it: select it in '... on Human { … }'"),
      ("{ search { nothing } }", "only '__typename' can be selected of a union itself"),
      ("{ hero }", "write 'hero { … }' with the fields that are needed"),
      ("{ hero(episode: \"JEDI\") { id } }", "a value of an enum stands without quotes"),
      ("{ hero(episode: JEDY) { id } }", "did you mean 'JEDI'?"),
      ("{ hero(epsode: JEDI) { id } }", "did you mean 'episode'?"),
      ("{ reviews(episode: JEDI, first: 9999999999) { stars } }", "an Int has 32 bits"),
      ("{ hero { id @inclde(if: true) } }", "did you mean 'include'?"),
      (
        "query @skip(if: true) { hero { id } }",
        "it can stand at: FIELD, FRAGMENT_SPREAD, INLINE_FRAGMENT"
      ),
      ("query ($e: Episod) { hero(episode: $e) { id } }", "did you mean 'Episode'?"),
      ("{ hero { ...Nme } } fragment Name on Character { id }", "did you mean 'Name'?"),
      ("type A { b: Int } { hero { id } }", "move it into the schema"),
      ("{ hero { x: id x: name } }", "give one of them an alias"),
      ("{ hero { id @client } }", "if only a client or a gateway reads it, declare it"),
      ("query ($e: Episode) { hero(episode: $f) { id } }", "the operation is here"),
    ])
  func hints(text: String, hint: String) throws {
    let schema = try schema(try Corpus.text("starwars.schema"))
    #expect(said(text, schema).contains("note: " + hint))
  }

  @Test("A diagnostic knows the rule that is broken; a syntax error has none")
  func rules() throws {
    let schema = try schema("type Query { a: Int }")
    let wrong = Operations.read([GraphQLSource(path: "a", text: "{ b }")], schema: schema)
    #expect(wrong.diagnostics.map(\.rule) == ["FieldsOnCorrectType"])
    let broken = Operations.read([GraphQLSource(path: "a", text: "{ b")], schema: schema)
    #expect(broken.diagnostics.map(\.rule) == [nil])
  }

  @Test("Fragments may stand in other files, and errors name their own file")
  func files() throws {
    let schema = try schema("type Query { a: Int  b: Query }")
    let result = Operations.read(
      [
        GraphQLSource(path: "q.graphql", text: "query Q { b { ...F ...G } }"),
        GraphQLSource(path: "f.graphql", text: "fragment F on Query { a }"),
        GraphQLSource(path: "g.graphql", text: "fragment G on Query { a: b { a } }"),
      ], schema: schema)
    #expect(
      rendered(result.diagnostics).hasPrefix(
        "g.graphql:1:23: error: fields that are called 'a' in the response cannot be merged"))
    #expect(rendered(result.diagnostics).contains("f.graphql:1:23: note: the other is here"))
  }

  @Test("A file that cannot be read is an error with its name")
  func missingFile() {
    let result = Schema.load(files: ["missing.graphqls"])
    #expect(
      rendered(result.diagnostics)
        == "missing.graphqls:1:1: error: cannot read the file: it does not exist")
  }

  @Test(
    "Broken schemas: the place and what to do",
    arguments: [
      (
        "type Query implements Node { a: Int }\ninterface Node { id: ID! }",
        "1:6: error: 'Query' has no field 'id', which 'Node' demands"
      ),
      ("type Query { a: In }\ninput In { b: Int }", "1:17: error: expected a type of results"),
      ("type A { b: Int }", "call it 'Query', or name it: schema { query: … }"),
      ("input A { b: B! }\ninput B { a: A! }", "let one of the fields be null, or a list"),
      (
        "type Query { a: Int }\ntype Int { b: ID }",
        "2:6: error: 'Int' is built in, and it is a scalar"
      ),
      ("type Query { __a: Int }", "1:14: error: '__a' begins with '__'"),
      (
        "directive @a(x: I) on INPUT_OBJECT\ninput I @a { x: Int }",
        "1:11: error: the directive '@a' uses itself in its definition"
      ),
      ("schema { query: Q mutation: Q }\ntype Q { a: Int }", "is the type for queries already"),
    ])
  func schemas(text: String, message: String) {
    #expect(said(text).contains(message))
  }
}
