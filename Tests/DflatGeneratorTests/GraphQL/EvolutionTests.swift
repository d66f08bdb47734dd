// `--evolve`: what is stored stays readable when the operations change.

import DflatSchema
import Foundation
import Testing

@Suite("Evolution of GraphQL entities")
struct EvolutionTests {
  private static let schema = """
    enum Kind { A B }
    interface Part { id: ID! }
    type Wheel implements Part { id: ID! size: Int }
    type Door implements Part { id: ID! color: String }
    type Car { id: ID!  name: String  kind: Kind  part: Part  age: Int  doors: [Door] }
    type Query { car: Car }
    """
  private static let options = "--entity Car --primary-key id --evolve"
  private static let file = "Car_generated.fbs"

  private func next(
    _ fields: String, after earlier: String? = nil, schema: String = Self.schema
  ) throws -> (text: String, errors: String) {
    let run = try GraphQL.run(
      schema, "query A { car { \(fields) } }", Self.options,
      earlier: earlier.map { [Self.file: $0] } ?? [:])
    #expect(run.status == 0, "\(run.errors)")
    let text = try #require(run.files[Self.file])
    #expect(try GraphQL.complaints(about: [Self.file: text]) == "")
    return (text, run.errors)
  }

  private func root(_ text: String) -> [String] {
    text.split(separator: "\n").drop { !$0.hasPrefix("table Car ") }
      .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// What `dflatc check` finds.
  private func changes(_ old: String, _ new: String) throws -> [SchemaChange] {
    func compile(_ text: String) throws -> Schema {
      try #require(SchemaCompiler().compile(source: Array(text.utf8), path: Self.file).schema)
    }
    return SchemaComparison(old: try compile(old), new: try compile(new)).changes
  }

  @Test("never returns to the version of an earlier table")
  func versions() throws {
    let whole = Self.schema.replacing("age: Int", with: "age: String")
    func version(_ text: String) throws -> Substring {
      try #require(text.firstMatch(of: /table Car \(v: "(\w+)"\)/)?.output.1)
    }
    let first = try next("id age").text
    let second = try next("id age name", after: first).text
    let third = try next("id age", after: second, schema: whole)
    let fourth = try next("id age", after: third.text)
    #expect(third.errors.contains("new version") && fourth.errors.contains("new version"))
    #expect(try version(second) == version(first))
    #expect(try Set([version(first), version(third.text), version(fourth.text)]).count == 3)
  }

  @Test("keeps slots and version, appends new fields, deprecates unused ones, restores them")
  func grows() throws {
    let first = try next("id name part { ... on Wheel { size } }").text
    let version = try #require(first.firstMatch(of: /table Car \(v: "(\w+)"\)/)?.output.1)
    #expect(
      root(first) == [
        "table Car (v: \"\(version)\") {", "id: string (id: 0, primary);", "name: string (id: 1);",
        "part: Car.Part (id: 2);", "}", "root_type Car;",
      ])
    #expect(try next("id name part { ... on Wheel { size } }", after: first).text == first)

    let second = try next("id age kind doors { color }", after: first).text
    #expect(
      root(second) == [
        "table Car (v: \"\(version)\") {", "id: string (id: 0, primary);",
        "name: string (id: 1, deprecated);", "part: Car.Part (id: 2, deprecated);",
        "age: long = null (id: 3);", "doors: [Car.Door] (id: 4);",
        "kind: Car.Kind = null (id: 5);", "}",
        "root_type Car;",
      ])
    // What the deprecated field needs is still there, with its union in the same slot.
    #expect(second.contains("union PartSubtype {\n  Wheel,\n  Door,\n}"))
    #expect(second.contains("subtype: PartSubtype (id: 2)"))

    let third = try next("id name", after: second).text
    #expect(root(third).contains("name: string (id: 1);"))
    #expect(root(third).contains("kind: Car.Kind = null (id: 5, deprecated);"))
    for (old, new) in [(first, second), (second, third)] {
      #expect(try changes(old, new).allSatisfy { $0.severity != .incompatible })
    }
    #expect(try next("id name", after: third).text == third)
  }

  @Test("appends values of enums and members of unions")
  func appendsChoices() throws {
    let first = try next("id kind part { ... on Wheel { size } }").text
    let schema = Self.schema.replacing("{ A B }", with: "{ C B }").replacing(
      "type Wheel", with: "type Mirror implements Part { id: ID! }\ntype Wheel")
    let second = try next(
      "id kind part { ... on Wheel { size } }", after: first, schema: schema
    ).text
    #expect(second.contains("enum Kind: int {\n  a,\n  b,\n  c,\n}"))
    #expect(second.contains("union PartSubtype {\n  Wheel,\n  Door,\n  Mirror,\n}"))
    #expect(try changes(first, second).allSatisfy { $0.severity != .incompatible })
  }

  @Test("keeps the indexes that were added by hand")
  func keepsAttributes() throws {
    let first = try next("id name").text.replacing(
      "name: string (id: 1)", with: "name: string (id: 1, indexed)")
    #expect(root(try next("id name age", after: first).text)[2] == "name: string (id: 1, indexed);")
  }

  @Test("gives a new version to what cannot be compatible, and says why")
  func renews() throws {
    let first = try next("id name age").text
    let (second, errors) = try next(
      "id name age", after: first, schema: Self.schema.replacing("age: Int", with: "age: String"))
    let versions = [first, second].map { root($0)[0] }
    #expect(versions[0] != versions[1])
    #expect(root(second)[1...2] == ["age: string (id: 0);", "id: string (id: 1, primary);"])
    #expect(
      errors.contains(
        "warning: 'Car' gets the new version \(versions[1].split(separator: "\"")[1]), and what is "
          + "stored stays behind: 'age' has changed its type from 'long' to 'string'"), "\(errors)")
  }

  @Test("gives a new version if what was added by hand has no meaning any more")
  func renewsByHand() throws {
    let first = try next("id name").text.replacing(
      "name: string (id: 1)", with: "name: string (id: 1, indexed)")
    let (second, errors) = try next(
      "id name", after: first, schema: Self.schema.replacing("name: String", with: "name: [Int]"))
    #expect(root(second).contains("name: [long] (id: 1);"))
    #expect(
      errors.contains("what is stored stays behind: 'name' cannot be indexed"), "\(errors)")
  }

  @Test("refuses an earlier schema that is broken, or of something else")
  func broken() throws {
    for (earlier, message) in [
      ("table Car {", "Car_generated.fbs:1:"),
      ("table Other { x: int; }", "Car_generated.fbs:1:1: error: the earlier schema has no table"),
    ] {
      let run = try GraphQL.run(
        Self.schema, "query A { car { id } }", Self.options, earlier: [Self.file: earlier])
      #expect(run.status == 1 && run.files == [Self.file: earlier])
      #expect(run.errors.contains(message), "\(run.errors)")
    }
  }

  @Test("reads the earlier schema in another folder if it is given")
  func otherFolder() throws {
    let first = try next("id name").text
    try withTemporaryDirectory { directory in
      try GraphQL.write(first, to: directory.appending(path: "committed/\(Self.file)"))
      try GraphQL.write(Self.schema, to: directory.appending(path: "schema.graphqls"))
      try GraphQL.write(
        "query A { car { id age } }", to: directory.appending(path: "a.graphql"))
      let run = try GraphQL.run(
        "--entity Car --primary-key id --evolve=\(directory.path())/committed", ["a.graphql"],
        schemas: ["schema.graphqls"], in: directory)
      #expect(run.files[Self.file]?.contains("name: string (id: 1, deprecated);") == true)
    }
  }
}
