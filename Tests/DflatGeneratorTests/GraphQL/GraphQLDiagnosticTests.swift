// What `dflatc graphql` says about bad input.

import Foundation
import Testing

@testable import DflatGenerator

@Suite("Diagnostics of dflatc graphql")
struct GraphQLDiagnosticTests {
  private static let schema = """
    enum Case { A a }
    scalar Date
    type Item { id: ID!  list: [Int]  of: Case  other: Item  wrong: Item! }
    type Query { item: Item }
    """

  @Test(
    "name the place and what to do",
    arguments: [
      (
        "--entity Itm",
        "--entity Itm: the schema has no type of this name\nnote: did you mean 'Item'?"
      ),
      ("--entity Case", "schema.graphqls:1:6: error: 'Case' cannot be an entity: it has no fields"),
      (
        "--entity Item --scalar Dat=string",
        "--scalar Dat: the schema has no scalar of this name\nnote: did you mean 'Date'?"
      ),
      ("--entity Item --scalar Int=long", "--scalar Int: its stored type is fixed"),
      (
        "--entity Item --primary-key list",
        "schema.graphqls:3:22: error: 'list' cannot be the primary key of 'Item': it is '[Int]'"
      ),
      (
        "--entity Item --primary-key id --primary-key-type Int64",
        "schema.graphqls:3:13: error: the primary key 'id' is 'ID', which is stored as 'string', "
          + "not as 'long'"
      ),
      (
        "--entity Item --primary-key id",
        "schema.graphqls:1:15: error: 'Case' cannot be stored: 'A' and 'a' are the same in lower "
          + "case"
      ),
    ])
  func errors(options: String, message: String) throws {
    let run = try GraphQL.run(
      Self.schema, "query A { item { id list of } }", options)
    #expect(run.status == 1)
    #expect(run.errors.contains(message), "\(run.errors)")
    #expect(run.files.isEmpty)
  }

  @Test(
    "lead from what cannot be stored to the GraphQL schema",
    arguments: [
      ("row { Book item { pages } }", "schema.graphqls:2:12: note: it is made of this"),
      (
        "row { Book item { pages } }",
        "note: do not select the field, or make 'Book' an entity, which has its own schema"
      ),
      (
        "text { a }",
        "schema.graphqls:4:6: error: 'string' cannot be stored: FlatBuffers has a scalar of this name"
      ),
    ])
  func origins(selection: String, message: String) throws {
    let run = try GraphQL.run(
      """
      type Shelf { row: Row  text: string }
      type Row { Book: Int  item: Book }
      type Book { pages: Int }
      type string { a: Int }
      type Query { shelf: Shelf }
      """, "query A { shelf { \(selection) } }", "--entity Shelf")
    #expect(run.status == 1 && run.files.isEmpty)
    #expect(run.errors.contains(message), "\(run.errors)")
  }

  @Test("refuse fields that are the same in Swift")
  func names() throws {
    let run = try GraphQL.run(
      "type A { foo_bar: Int  fooBar: Int }\ntype Query { a: A }",
      "query A { a { foo_bar fooBar } }",
      "--entity A")
    #expect(run.status == 1 && run.files.isEmpty)
    #expect(
      run.errors.hasPrefix(
        "schema.graphqls:1:10: error: 'A' cannot be stored: 'fooBar' and 'foo_bar' are the same in"
      ), "\(run.errors)")
  }

  @Test("refuse unions of too many types")
  func members() throws {
    let types = (0..<256).map { "type T\($0) implements Node { id: ID! }" }.joined(separator: "\n")
    let run = try GraphQL.run(
      "interface Node { id: ID! }\ntype Query { node: Node }\n" + types,
      "query A { node { id } }", "--entity Node --primary-key id")
    #expect(run.status == 1 && run.files.isEmpty)
    #expect(
      run.errors.contains(
        "schema.graphqls:1:11: error: 'Node' cannot be stored: it has 256 types"), "\(run.errors)")
  }

  @Test("say which selection of another object lacks the key")
  func missingKeys() throws {
    let run = try GraphQL.run(
      Self.schema.replacing("A a", with: "A B"), "query A {\n  item { id other { list } }\n}",
      "--entity Item --primary-key id --client apollo")
    #expect(run.status == 0)
    #expect(
      run.errors.hasPrefix(
        """
        operations.graphql:2:13: warning: 'other' selects 'Item' without its key 'id', so this \
        reference to it stays empty
            2 |   item { id other { list } }
              |             ^~~~~
        note: add 'id' to this selection
        """), "\(run.errors)")
  }

  @Test("say which object of Apollo's is not read as a whole, and what makes it so")
  func separateConditions() throws {
    func errors(_ selection: String, _ fragments: String = "") throws -> String {
      let variables = ["$a", "$b"].filter(selection.contains).map { "\($0): Boolean!" }
      let run = try GraphQL.run(
        """
        type Hero { id: ID!  friend: Friend  friends: [Friend!]  best: Hero }
        type Friend { id: ID!  name: String  age: Int }
        type Query { hero: Hero }
        """,
        "query Q(\(variables.joined(separator: ", "))) { hero { id \(selection) } }\n\(fragments)",
        "--entity Hero --primary-key id --client apollo")
      #expect(run.status == 0)
      return run.errors
    }
    func two(_ field: String, _ one: String, _ other: String) -> String {
      "... @include(if: $a) { \(field) { \(one) } } ... @skip(if: $b) { \(field) { \(other) } }"
    }
    #expect(
      try errors(two("friends", "name", "age")).hasPrefix(
        """
        operations.graphql:1:111: warning: what 'friends' selects under @skip(if: $b) is not read if \
        @include(if: $a) selects 'friends', too: Apollo has no struct with both

        """))
    // The advice is one that helps.
    let spreads = "...A @include(if: $a) ...B @include(if: $b)"
    let fragments = "fragment A on Hero { friend { name } } fragment B on Hero { friend { age } }"
    let advice = "... @include(if: $a) { ... @include(if: $b) { friend { __typename } } }"
    let warning = try errors(spreads, fragments)
    #expect(warning.hasSuffix("note: add what has such a struct: '\(advice)'\n"), "\(warning)")
    #expect(try errors("\(spreads) \(advice)", fragments) == "")
    // There is one struct, no more in the second one, no second one, or a key alone that is stored.
    for selection in [
      "friend @include(if: $a) { name } friend @include(if: $b) { age }",
      two("friend", "name", "name"), two("friend", "name age", "age"),
      two("friend", "name", "age").replacing("$b", with: "$a").replacing("skip", with: "include"),
      two("friend", "name", "age").replacing("$b", with: "$a"),
      two("best", "id", "id friend { name }"),
      two("friend", "name", "age").replacing("} ...", with: "...") + " }",
    ] {
      #expect(try errors(selection) == "", "\(selection)")
    }
  }

  @Test("say which selection of one of several types lacks the key", arguments: ["id", ""])
  func missingKeysOfMembers(key: String) throws {
    let schema = """
      interface Being { id: ID!  name: String }
      type User implements Being { id: ID!  name: String  friend: Being }
      type Bot implements Being { id: ID!  name: String }
      type Query { user: User }
      """
    let run = try GraphQL.run(
      schema, "query A { user { id friend { ... on User { name \(key) } } } }",
      "--entity User --primary-key id --client apollo")
    #expect(run.status == 0)
    let warning = """
      operations.graphql:1:21: warning: 'friend' selects 'User' without its key 'id', so this \
      reference to it stays empty

      """
    #expect(run.errors.hasPrefix(warning) == key.isEmpty, "\(run.errors)")
    #expect(!key.isEmpty || run.errors.components(separatedBy: "warning:").count == 2)
    #expect(key.isEmpty || run.errors == "", "\(run.errors)")
  }

  @Test("say nothing of keys that are not selected: they are added")
  func addedKeys() throws {
    let schema = """
      interface Item { id: ID! }
      type Book implements Item { id: ID!  next: Item }
      type Disc implements Item { id: ID!  size: Int }
      type Query { item: Item  book: Book }
      """
    let operations = """
      query A { book { next { ... on Item { ...B } } } }
      query C { item { ... on Book { id } ... on Disc { size } } }
      query D { item { ... on Book { id } ... on Disc { id } } }
      fragment B on Item { id }
      """
    let run = try GraphQL.run(schema, operations, "--entity Item --primary-key id")
    #expect(run.status == 0 && run.errors == "", "\(run.errors)")
    for (name, property, key) in [
      ("A", "public var book: Book?", "\n      book {\n        id\n        next {\n"),
      ("C", "public var id: String?", "\n      item {\n        __typename\n        id\n"),
      ("C", "public var id: String\n", "... on Book {\n          id\n"),
      ("D", "public var id: String\n", "\n      item {\n        __typename\n        ... on Book {"),
    ] {
      let text = try #require(run.files["\(name)Query_generated.swift"])
      #expect(text.contains(property) && text.contains(key), "\(text)")
    }
  }

  @Test("ask about a key that looks like a mistake, and add it all the same")
  func misspeltKey() throws {
    func run(_ key: String) throws -> GraphQLRun {
      try GraphQL.run(
        "type Item { uuid: ID! }\ntype Query { a: Item }", "query A { a { uuid } }",
        "--entity Item --primary-key \(key)")
    }
    let misspelt = try run("uid")
    #expect(misspelt.status == 0)
    #expect(
      misspelt.errors.hasPrefix(
        "schema.graphqls:1:6: warning: 'Item' has no field 'uid': its objects get this key, and "
          + "responses cannot be stored"), "\(misspelt.errors)")
    #expect(misspelt.errors.contains("did you mean 'uuid'?"))
    #expect(misspelt.files["Item_generated.fbs"]?.contains("uid: string (primary);") == true)
    // A key of the program's own.
    let own = try run("rank")
    #expect(own.status == 0 && own.errors == "", "\(own.errors)")
  }

  @Test("refuse operations that have no class")
  func unnamed() throws {
    let run = try GraphQL.run(
      Self.schema.replacing("A a", with: "A B"), "{ item { id } }",
      "--entity Item --primary-key id --client apollo-classic")
    #expect(run.status == 1 && run.files.isEmpty)
    #expect(
      run.errors.hasPrefix(
        "operations.graphql:1:1: error: an operation without a name has no class in Apollo"))
  }

  @Test("are given for broken files, before anything is written")
  func broken() throws {
    for (schema, operations, message) in [
      ("type Query { a: Missing }", "query A { a }", "schema.graphqls:1:17: error: there is no"),
      ("type Query { a: Int", "query A { a }", "schema.graphqls:1:20: error: "),
      ("{\"data\": ", "query A { a }", "schema.graphqls:1:"),
      ("type Query { a: Int }", "query A { a ", "operations.graphql:1:"),
      (
        "type Query { a: Query }", "query A " + String(repeating: "{ a ", count: 100_000),
        "operations.graphql:1:"
      ),
    ] {
      let run = try GraphQL.run(schema, operations, "--entity Query")
      #expect(run.status == 1 && run.files.isEmpty)
      #expect(run.errors.hasPrefix(message), "\(run.errors.prefix(300))")
    }
  }

  @Test("say that no operation selects an entity")
  func unreached() throws {
    let run = try GraphQL.run(
      "type Item { id: ID! }\ntype Query { a: Int }", "query A { a }",
      "--entity Item --primary-key id --client apollo")
    #expect(run.status == 0 && run.errors == "warning: no operation selects 'Item'\n")
    #expect(run.files["Item_inits_generated.swift"] == nil)
  }

  @Test(
    "refuse command lines that make no sense",
    arguments: [
      ("-o x a.graphql", "-S FILE is missing"),
      ("-S s a.graphql", "-o DIR is missing"),
      ("-o x -S s --client apollo a.graphql", "--entity NAME is missing"),
      ("-o x -S s --entity A", "no file with operations is given"),
      ("-o x -S s --files 0 a.graphql", "--files needs a number from 1 to 1000, not '0'"),
      ("-o x -S s --entity A --entity A a.graphql", "--entity A is given twice"),
      ("-o x -S s --entity A --primary-key-type Int8 a.graphql", "needs --primary-key"),
      ("-o x -S s --entity A --primary-key b --primary-key-type Strin a", "did you mean 'String'?"),
      ("-o x -S s --entity A --scalar D a.graphql", "--scalar needs NAME=TYPE, not 'D'"),
      ("-o x -S s --entity A --scalar D=strin a.graphql", "did you mean 'string'?"),
      ("-o x -S s --entity A --client apolo a.graphql", "did you mean 'apollo'?"),
      ("-o x -S s --entitty A a.graphql", "has no option '--entitty'; did you mean '--entity'?"),
      ("-o x -S s --e A a.graphql", "'--e'; it could be --entity or --evolve"),
      ("-o x -S s --entity A --evolve --hash-versions a.graphql", "contradict each other"),
      ("-o x -S s --entity A --nonsense a.graphql", "has no option '--nonsense'"),
      ("-o x -S s --entity A --import Foo-bar a.graphql", "--import cannot be 'Foo-bar'"),
      ("-o x -S s --entity A --import A; a.graphql", "--import cannot be 'A;'"),
      ("-o x -S s --entity A --api-namespace 2A a.graphql", "--api-namespace cannot be '2A'"),
      ("-o x -S s --entity A --api-namespace A. a.graphql", "--api-namespace cannot be 'A.'"),
    ])
  func usage(arguments: String, message: String) {
    var errors = ""
    let command = CompilerCommand(output: { _ in }, errors: { errors += $0 })
    #expect(command.run(["graphql"] + arguments.split(separator: " ").map(String.init)) == 64)
    #expect(errors.hasPrefix("dflatc: error: ") && errors.contains(message), "\(errors)")
  }

  @Test(
    "refuse names that Swift would not read, also in the configuration",
    arguments: [
      ("\"imports\": [\"Foo\", \"Foo bar\"]", "\"imports\" cannot be \"Foo bar\""),
      ("\"apiNamespace\": \"My API\"", "\"apiNamespace\" cannot be \"My API\""),
      ("\"apiNamespace\": \"\"", "\"apiNamespace\" cannot be \"\""),
      ("\"apiNamespace\": \"Outer.API\", \"imports\": [\"Ä1\", \"_A.B\"]", ""),
    ])
  func names(setting: String, message: String) throws {
    try withTemporaryDirectory { directory in
      try GraphQL.write(Self.schema, to: directory.appending(path: "s.graphqls"))
      try GraphQL.write("query A { item { id } }", to: directory.appending(path: "o.graphql"))
      let file = directory.appending(path: "dflat.json")
      try GraphQL.write(
        "{\"graphql\": {\"schema\": \"s.graphqls\", \"entities\": [\"Item\"], \(setting)}}",
        to: file)
      let run = try GraphQL.run(
        "--config \(file.path())", ["o.graphql"], schemas: [], in: directory)
      #expect(run.status == (message.isEmpty ? 0 : 1), "\(run.errors)")
      #expect(
        message.isEmpty ? run.errors == "" : run.errors.hasPrefix("dflat.json: error: \(message)"),
        "\(run.errors)")
    }
  }
}
