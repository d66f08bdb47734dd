// What the generator for GraphQL operations refuses, and names that are difficult.

import Diagnostics
import DflatGenerator
import Foundation
import GraphQLSchema
import Testing

@Suite("GraphQL responses: diagnostics")
struct ResponseDiagnosticTests {
  /// What is said about operations on the Star Wars schema.
  private func said(_ operations: String) throws -> [String] {
    let result = try StarWars.generate(operations)
    #expect(result.files.isEmpty == result.diagnostics.contains { $0.severity == .error })
    return result.diagnostics.map { diagnostic in
      let position = diagnostic.position.map { "\($0.line):\($0.column): " } ?? ""
      return position + diagnostic.message
    }
  }

  private func missing(_ place: String, _ field: String, _ entity: String = "Character") -> String {
    "\(place): '\(field)' selects objects of the entity \(entity) without their key, so they are not "
      + "stored, and references to them stay as they are"
  }

  @Test("A warning tells which references are selected without their key")
  func missingKeys() throws {
    #expect(
      try said("query Q { hero { id friends { __typename } } }") == [missing("1:21", "friends")])
    #expect(
      try said("query Q { hero { id best: bestFriend { __typename } } }")
        == [missing("1:21", "best")])
  }

  @Test(
    "Where another field has the name of the key, that is added with an alias",
    arguments: [
      "query Q { hero { id: name } }", "query Q { star: hero { id: name } }",
      "query Q($a: Boolean!) { hero { ...F @skip(if: $a) } } fragment F on Human { id: name }",
      "query Q { search { ... on Human { id: name } } }",
    ])
  func takenKeys(operations: String) throws {
    #expect(try said(operations) == [])
  }

  @Test("What selects nothing of an entity, or its key under another name, is accepted")
  func acceptedKeys() throws {
    #expect(try said("query Q { hero { __typename } }") == [])
    #expect(try said("query Q { hero { key: id name } }") == [])
    #expect(try said("query Q { hero { ... { ... on Character { id } } name } }") == [])
    #expect(try said("query Q { search { ... on Starship { id name } } }") == [])
    #expect(try said("query Q($a: Boolean!) { hero @include(if: $a) { id name } }") == [])
    #expect(try said("query Q { hero { id @include(if: true) name } }") == [])
    // Whichever condition holds, the key is there.
    #expect(
      try said(
        """
        query Q($a: Boolean!, $b: Boolean!) {
          hero @include(if: $a) { id } hero @skip(if: $b) { id name }
        }
        """) == [])
  }

  @Test(
    "Another field cannot be called __typename where the type of the object is needed",
    arguments: [
      ("hero { __typename: id }", true), ("hero { __typename: id ... on Human { height } }", true),
      ("hero { ...F }", true), ("search { ... on Human { __typename: name id } }", true),
      ("hero { __typename type: __typename id }", false),
      ("human(id: 1) { __typename: id }", false),
    ])
  func typename(selection: String, isRefused: Bool) throws {
    let said = try said("query Q { \(selection) } fragment F on Human { __typename: id }")
    let message = "'__typename' is the type of this object, and cannot be another field of it"
    #expect(said.contains { $0.hasSuffix(message) } == isRefused, "\(said)")
  }

  @Test("A warning tells which selections overwrite each other because of their arguments")
  func arguments() throws {
    func overwriting(_ place: String, _ key: String) -> String {
      "\(place): '\(key)' and another selection have different arguments, and both are stored in "
        + "'height' of Human: the response that comes last counts"
    }
    let metres = "query A { human(id: 1) { id height } }"
    #expect(
      try said("\(metres) query B { human(id: 2) { id height(unit: FOOT) } }")
        == [overwriting("1:68", "height")])
    #expect(
      try said(
        "\(metres) query B($u: LengthUnit) { human(id: 2) { id ...F } } fragment F on Human { tall: height(unit: $u) }"
      )
        == [overwriting("1:115", "tall")])
    // The arguments of one selection, those that choose a page, and defaults make no difference.
    for other in [
      "query B { human(id: 2) { id height(unit: METER) } }",
      "query B { human(id: 2) { id tall: height(unit: FOOT) height } }",
      "query B { human(id: 2) { id height } } query C { hero { id ... on Human { height } } }",
      "query B { hero { id friendsConnection { totalCount } } } "
        + "query C { hero { id friendsConnection(first: 2, after: 3) { totalCount } } }",
    ] { #expect(try said("\(metres) \(other)") == [], "\(other)") }
    let units = ["$a", "$b"].map {
      "query Q\($0.dropFirst())(\($0): LengthUnit) { human(id: 2) { id height(unit: \($0)) } }"
    }
    #expect(try said(units.joined(separator: " ")) == [])
  }

  @Test("Operations without names are reported")
  func names() throws {
    #expect(
      try said("{ heroes { id } }") == [
        "1:1: no Swift is made for an operation without a name"
      ])
  }

  @Test("Fragments in a circle, and bombs of fragments, end with an error")
  func bombs() throws {
    let circle = try said(
      """
      query Q { hero { id ...A } } fragment A on Character { ...B } fragment B on Character { ...A }
      """)
    #expect(circle.count == 1 && circle[0].contains("spreads itself"), "\(circle)")
    let endless = try said(
      "query Q { hero { ...A } } fragment A on Character { id bestFriend { ...A } }")
    #expect(endless.count == 1 && endless[0].contains("spreads itself"), "\(endless)")
    // Each fragment selects the next one twice.
    var bomb = "query Q { hero { ...F0 } }\n"
    for index in 0..<40 {
      bomb +=
        "fragment F\(index) on Character { id a: bestFriend { ...F\(index + 1) } "
        + "b: bestFriend { ...F\(index + 1) } }\n"
    }
    bomb += "fragment F40 on Character { id }"
    let refused = try said(bomb)
    #expect(!refused.isEmpty && refused[0].contains("50000 selected objects"), "\(refused)")
    // As deep as is allowed.
    var deep = "query Q { hero { ...F0 } }\n"
    for index in 0..<98 {
      deep +=
        "fragment F\(index) on Character { id bestFriend { id a: bestFriend { "
        + "...F\(index + 1) } } }\n"
    }
    deep += "fragment F98 on Character { id name }"
    #expect(try said(deep) == [])
    // A long chain, which is harmless but for the stack.
    var chain = "query Q { hero { ...F0 } }\n"
    for index in 0..<10_000 { chain += "fragment F\(index) on Character { ...F\(index + 1) }\n" }
    chain += "fragment F10000 on Character { id }"
    let long = try said(chain)
    #expect(long.count == 1 && long[0].contains("200 deep"), "\(long)")
  }

  @Test("A key that the schema does not have is never advised")
  func impossibleKeys() throws {
    let run = try GraphQL.run(
      "type A { x: Int  a: A } type Query { a: A }", "query Q { a { x a { x } } }",
      "--entity A --primary-key id")
    #expect(run.status == 0 && !run.errors.contains("add 'id'"), "\(run.errors)")
    #expect(run.errors.contains("A has no field 'id': name one that identifies its objects"))
  }
}
