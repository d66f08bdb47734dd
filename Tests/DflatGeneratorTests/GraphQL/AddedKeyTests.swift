// Keys that are added to documents: the documents stay valid, and have the keys in time.

import DflatGenerator
import Foundation
import GraphQLSchema
import Testing

@Suite("Keys that are added to documents")
struct AddedKeyTests {
  private static let schema = """
    interface Named { id: ID!  name: String  best: Named }
    type User implements Named { id: ID!  name: String  best: User!  age: Int  pet: Pet }
    type Dog { id: ID!  name: String  owner: User }
    type Cat { id: Int!  name: String  owner: User }
    union Pet = Dog | Cat
    type Query { user: User  users: [User]  pet: Pet  named: Named  dog: Dog  cat: Cat }
    """

  private static let options = "--entity User --entity Dog --entity Cat --primary-key id"

  /// The document of a query called Q, which is valid.
  private func document(_ operations: String, _ options: String = options) throws -> String {
    let run = try GraphQL.run(Self.schema, operations, options)
    #expect(run.status == 0 && !run.errors.contains("without their key"), "\(run.errors)")
    let text = try #require(run.files["QQuery_generated.swift"])
    let found = try #require(text.firstMatch(of: /(?s)static let document = """\n(.*?)\n *"""/))
    let document = String(found.output.1)
    let schema = try #require(
      GraphQLSchema.Schema.read([GraphQLSource(path: "s.graphqls", text: Self.schema)]).value)
    let read = Operations.read(
      [GraphQLSource(path: "sent.graphql", text: document)], schema: schema)
    #expect(read.value != nil, "\(document)\n\(read.diagnostics.map { $0.rendered() })")
    return document.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  @Test(
    "have an alias where another field has their name",
    arguments: [
      "query Q { user { id best { name } } ... on Query { user { best { id: age } } } }",
      "query Q { user { id ...A best { id: name } } } fragment A on User { best { age } }",
      "query Q { users { id best { name ... on User { id: age } } } }",
      "query Q { users { id ...A } } fragment A on User { best { name ...B } } fragment B on Named { id: name }",
    ])
  func aliases(operations: String) throws {
    #expect(try document(operations).contains("key_id: id"))
  }

  @Test("have an alias where the types of the key differ")
  func types() throws {
    let text = try document("query Q { pet { ... on Dog { name } ... on Cat { name } } }")
    #expect(
      text.contains("... on Dog { id }") && text.contains("... on Cat { key_id: id }"), "\(text)")
    let other = try document("query Q { pet { ... on Dog { name } ... on Cat { name id } } }")
    #expect(other.contains("... on Dog { key_id: id }"), "\(other)")
    let taken = try document(
      "query Q { pet { ... on Dog { key_id: name } ... on Cat { name id } } }")
    #expect(taken.contains("... on Dog { key_id2: id }"), "\(taken)")
  }

  @Test(
    "have their own name if only other operations have another field with it",
    arguments: [
      ("query Q { mine: cat { name } } query A { mine: dog { id name } }", "cat { id name"),
      (
        "query Q { pet { ... on Cat { name } } } query A { pet { ... on Dog { id } } }",
        "... on Cat { id }"
      ),
      // Both use a fragment, which is not about these objects.
      (
        """
        query Q { mine: cat { name } ...F } query A { mine: dog { id name } ...F }
        fragment F on Query { user { id } }
        """, "cat { id name"
      ),
      // The objects with a field of this name have another key in this operation.
      (
        """
        query Q { mine: cat { name } dog { ...F } } query A { mine: dog { ...F } }
        fragment F on Dog { id }
        """, "cat { id name"
      ),
    ])
  func otherOperations(operations: String, selection: String) throws {
    let document = try document(operations)
    #expect(document.contains(selection), "\(document)")
  }

  @Test(
    "have in fragments a name that is free in all operations",
    arguments: [
      """
      query Q { ...F } query A { ...F pet { ... on Dog { id } } }
      fragment F on Query { pet { ... on Cat { name } } }
      """,
      """
      query Q { ...F } query A { ...G pet { ...H } }
      fragment G on Query { ...F }
      fragment F on Query { pet { ... on Cat { name } } }
      fragment H on Pet { ... on Dog { id } }
      """,
    ])
  func fragments(operations: String) throws {
    let document = try document(operations)
    #expect(document.contains("... on Cat { key_id: id }"), "\(document)")
  }

  @Test("do not have to wait for a deferred fragment")
  func deferred() throws {
    let details = "fragment Details on User { id age }"
    for directive in ["@defer", "@defer(if: true)", "@defer(label: \"a\")"] {
      let text = "query Q { user { name ...Details \(directive) } } \(details)"
      #expect(try document(text, Self.options + " --incremental").contains("user { id name ..."))
      #expect(try !document(text).contains("user { id"))
    }
    let never = "query Q { user { name ... @defer(if: false) { id } } }"
    #expect(try document(never, Self.options + " --incremental").contains("user { name ..."))
  }

  private static let program = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    let dflat = MemoryWorkspace()
    let response = try QQuery.response(from: Data(#"""
      {"data": {"user": {"id": "1", "best": {"key_id": "2", "age": 7, "id": "name"}},
        "pet": {"__typename": "Cat", "key_id": 3, "name": "c"}}}
      """#.utf8))
    _ = try dflat.write(User.self, Dog.self, Cat.self) { try $0.store(response) }
    precondition(response.data!.user!.best.id == "name" && response.data!.user!.best.keyId == "2")
    precondition(dflat.find(User.self, "1")!.best == "2" && dflat.find(User.self, "2")!.age == 7)
    precondition(dflat.find(User.self, "2")!.name == "name" && dflat.fetch(for: Cat.self).all().map(\.name) == ["c"])
    print("all is well")
    """####

  @Test("are the keys that objects are stored by, also with an alias")
  func stored() throws {
    let output = try GraphQL.output(
      of: Self.program, Self.schema,
      """
      query Q {
        user { id ...A best { id: name } } pet { ... on Dog { name } ... on Cat { name } }
      }
      fragment A on User { best { age } }
      """, Self.options)
    #expect(output == "all is well\n", "\(output)")
  }
}
