// The structs that Apollo's code generators make, one rule at a time.
//
// Each rule has an operation, and the properties that the generator's structs have for it: an
// initialiser that reads another property, or that takes a struct which is not there, does not
// compile.

import Foundation
import Testing

@testable import DflatGenerator

/// What Apollo's generator makes of an operation.
struct ApolloRule: CustomTestStringConvertible, Sendable {
  let name: String
  var isClassic = false
  var entity = "Being"
  /// What is selected of the entity.
  let selection: String
  var fragments = ""
  /// What is inside of `Data`.
  let data: String
  /// Structs of fragments.
  var beside = ""
  /// What the initialisers have to read.
  var reads: [String] = []
  /// Structs below `Data` from which the entity is made.
  var places: [String] = []

  var testDescription: String { (isClassic ? "classic: " : "") + name }
}

@Suite("Initialisers of entities from Apollo's structs")
struct ApolloRuleTests {
  static let schema = """
    interface Settled { home: Place }
    interface Being { id: ID!  name: String!  home: Place }
    type User implements Being & Settled {
      id: ID!  name: String!  age: Int!  home: Place  mood: Mood!  moods: [Mood]
      grid: [[Int!]]  born: Date!  places: [[Place!]!]  type: Type
    }
    type Bot implements Being { id: ID!  name: String!  home: Place }
    type Place { title: String!  size: Int! }
    enum Mood { HAPPY SAD }
    enum Type { A B }
    union Error = User | Place
    scalar Date
    union Thing = User | Bot | Place
    type Query { being: Being!  user: User!  thing: Thing! }
    """

  @Test(
    "read what the structs have",
    arguments: ApolloRule.modern + ApolloRule.narrowing + ApolloRule.objects + ApolloRule.classic
      + ApolloRule.variants)
  func rule(_ rule: ApolloRule) throws {
    try withTemporaryDirectory { directory in
      let client = rule.isClassic ? "apollo-classic" : "apollo"
      let field = rule.entity.lowercased()
      let variables = rule.selection.contains("$") ? "($a: Boolean!)" : ""
      try InitialiserTests().prepare(
        directory, "--entity \(rule.entity) --primary-key id --client \(client)", Self.schema,
        "query R\(variables) { \(field) { \(rule.selection) } }\n\(rule.fragments)")
      let program = directory.appending(path: "program")
      let uses = (["\(rule.entity)"] + rule.places.map { "\(rule.entity).\($0)" }).enumerated()
        .map { number, place in
          "func use\(number)(_ a: RQuery.Data.\(place)) -> \(rule.entity)? { \(rule.entity)(a) }"
        }
      try GraphQL.write(
        """
        import ApolloAPI
        public enum Mood: String, EnumType { case happy = "HAPPY", sad = "SAD" }
        public enum RQuery { public struct Data { \(rule.data) } }
        \(rule.beside)
        \(uses.joined(separator: "\n"))
        """.replacing("struct ", with: "public struct ").replacing("var ", with: "public var ")
          .replacing("public public", with: "public")
          .replacing("import", with: "public import"),
        to: program.appending(path: "Classes.swift"))
      let text = try text(
        of: program.appending(path: "\(rule.entity)_inits_generated.swift"))
      #expect(try Judge.complaints(about: program, .swift6) == "", "\(text)")
      for read in rule.reads { #expect(text.contains(read), "\(read): \(text)") }
    }
  }
}

extension ApolloRule {
  static let modern: [ApolloRule] =
    [
      ApolloRule(
        name: "a condition that its struct satisfies is none", entity: "User",
        selection: "id ... @include(if: $a) { name age @include(if: $a) }",
        data: """
          struct User {
            var id: String; var ifA: IfA?
            struct IfA { var id: String; var name: String; var age: Int }
          }
          """,
        reads: ["(obj.ifA?.age).map { Int64($0) }", "age: Int64(obj.age)"], places: ["IfA"]),
      ApolloRule(
        name: "a fragment under a condition is optional, and whole where the condition is true",
        entity: "User", selection: "id ...F @include(if: $a) ... @include(if: $a) { name }",
        fragments: "fragment F on User { age }",
        data: """
          struct User {
            var id: String; var ifA: IfA?
            struct Fragments { var f: F? }
            var fragments: Fragments
            struct IfA {
              var id: String; var name: String; var age: Int
              struct Fragments { var f: F }
              var fragments: Fragments
            }
          }
          """, beside: "struct F { var age: Int }",
        reads: ["(obj.fragments.f?.age).map", "age: Int64(obj.fragments.f.age)"], places: ["IfA"]),
      ApolloRule(
        name: "what is never included is not there", entity: "User",
        selection: """
          id age @include(if: false) ...F @skip(if: true) ... @skip(if: true) { mood }
          born @include(if: $a) @skip(if: $a) name @include(if: true)
          """,
        fragments: "fragment F on User { home { title } }",
        data: "struct User { var id: String; var name: String }",
        beside: """
          struct F { var home: Home?; struct Home { var title: String } }
          """,
        reads: ["self.init(id: obj.id, name: obj.name)"]),
      ApolloRule(
        name: "a field selected twice, once under a condition, has the rest in a narrower struct",
        entity: "User",
        selection: """
          id age age @include(if: $a) home { title } home @include(if: $a) { size }
          """,
        data: """
          struct User {
            var id: String; var age: Int; var home: Home?
            struct Home {
              var title: String; var ifA: IfA?
              struct IfA { var title: String; var size: Int }
            }
          }
          """,
        reads: ["age: Int64(obj.age)", "(obj.ifA?.size).map { Int64($0) }"]),
      ApolloRule(
        name: "the condition of a field is true in its objects", entity: "User",
        selection: "id home @include(if: $a) { title size @include(if: $a) }",
        data: """
          struct User {
            var id: String; var home: Home?
            struct Home { var title: String; var size: Int }
          }
          """,
        reads: ["size: Int64(obj.size)"]),
      ApolloRule(
        name: "a type case has structs of its own for objects of which it selects more",
        selection: "id home { title } ... on User { home { size } }",
        data: """
          struct Being {
            var __typename: String; var id: String; var home: Home?; var asUser: AsUser?
            struct Home { var title: String }
            struct AsUser {
              var __typename: String; var id: String; var home: Home?
              struct Home { var title: String; var size: Int }
            }
          }
          """,
        reads: ["init(_ obj: RQuery.Data.Being.AsUser.Home)"], places: ["AsUser"]),
      ApolloRule(
        name: "a type case that selects no more of an object has the struct around it",
        selection: "id home { title } ... on User { age }",
        data: """
          struct Being {
            var __typename: String; var id: String; var home: Home?; var asUser: AsUser?
            struct Home { var title: String }
            struct AsUser {
              public typealias Home = Being.Home
              var __typename: String; var id: String; var age: Int; var home: Home?
            }
          }
          """, places: ["AsUser"]),
      ApolloRule(
        name: "a type case has what another type case selects, under that one's name",
        selection: "id ... on Settled { home { title } } ... on User { age }",
        data: """
          struct Being {
            var __typename: String; var id: String; var asSettled: AsSettled?; var asUser: AsUser?
            struct AsSettled {
              var __typename: String; var id: String; var home: Home?
              struct Home { var title: String }
            }
            struct AsUser {
              public typealias Home = AsSettled.Home
              var __typename: String; var id: String; var age: Int; var home: Home?
            }
          }
          """, places: ["AsUser"]),
      ApolloRule(
        name: "a type case has a struct of its own where a fragment and the struct around it meet",
        selection: "id home { title } ...F ... on User { age }",
        fragments: "fragment F on Being { home { size } }",
        data: """
          struct Being {
            var __typename: String; var id: String; var home: Home?; var asUser: AsUser?
            struct Fragments { var f: F }
            var fragments: Fragments
            struct Home { var title: String; var size: Int }
            struct AsUser {
              var __typename: String; var id: String; var age: Int; var home: Home?
              struct Fragments { var f: F }
              var fragments: Fragments
              struct Home { var title: String; var size: Int }
            }
          }
          """,
        beside: """
          struct F { var __typename: String; var home: Home?; struct Home { var size: Int } }
          """, places: ["AsUser"]),
      ApolloRule(
        name: "what only a fragment selects is in the fragment's struct",
        selection: "id ...F ... on User { age }",
        fragments: "fragment F on Being { home { size } }",
        data: """
          struct Being {
            var __typename: String; var id: String; var asUser: AsUser?
            struct Fragments { var f: F }
            var fragments: Fragments
            struct AsUser {
              var __typename: String; var id: String; var age: Int
              struct Fragments { var f: F }
              var fragments: Fragments
            }
          }
          """,
        beside: """
          struct F { var __typename: String; var home: Home?; struct Home { var size: Int } }
          """,
        reads: ["obj.fragments.f.home"], places: ["AsUser"]),
      ApolloRule(
        name: "an object has nothing of what a fragment under a condition selects of it",
        entity: "User", selection: "id home { title } ...F @include(if: $a)",
        fragments: "fragment F on User { home { size } }",
        data: """
          struct User {
            var id: String; var home: Home?; var ifA: IfA?
            struct Home { var title: String }
            struct Fragments { var f: F? }
            var fragments: Fragments
            struct IfA {
              var id: String; var home: Home?
              struct Home { var title: String; var size: Int }
            }
          }
          """,
        beside: "struct F { var home: Home?; struct Home { var size: Int } }"),
      ApolloRule(
        name: "fragments of a type are in a type case, also under conditions",
        selection: "id ...G @include(if: $a) ...H",
        fragments: "fragment G on User { age } fragment H on Bot { name }",
        data: """
          struct Being {
            var __typename: String; var id: String
            var asUserIfA: AsUserIfA?; var asBot: AsBot?
            struct AsUserIfA {
              var __typename: String; var id: String; var age: Int
              struct Fragments { var g: G }
              var fragments: Fragments
            }
            struct AsBot {
              var __typename: String; var id: String; var name: String
              struct Fragments { var h: H }
              var fragments: Fragments
            }
          }
          """,
        beside: """
          struct G { var __typename: String; var age: Int }
          struct H { var __typename: String; var name: String }
          """,
        reads: ["(obj.asUserIfA?.fragments.g.age).map"]),
      ApolloRule(
        name: "a fragment on the type itself, or on a wider one, is no type case", entity: "User",
        selection:
          "... on User { age } ... { name } ... on Being { id ... on User { home { size } } }",
        data: """
          struct User {
            var id: String; var age: Int; var name: String; var home: Home?
            struct Home { var size: Int }
          }
          """),
      ApolloRule(
        name: "a union has type cases alone", entity: "Thing",
        selection: "... on User { id age } ... on Being { id name }",
        data: """
          struct Thing {
            var __typename: String; var asUser: AsUser?; var asBeing: AsBeing?
            struct AsUser { var __typename: String; var id: String; var age: Int; var name: String }
            struct AsBeing { var __typename: String; var id: String; var name: String }
          }
          """, places: ["AsUser"]),
      ApolloRule(
        name: "enums, custom scalars and lists of lists", entity: "User",
        selection: "__typename id mood moods grid born places { size }",
        data: """
          struct User {
            var __typename: String?; var id: String; var mood: GraphQLEnum<Mood>
            var moods: [GraphQLEnum<Mood>?]?; var grid: [[Int]?]?; var born: String
            var places: [[Place]]?
            struct Place { var size: Int }
          }
          """),
    ] + uncertain

  /// What a struct has under a condition, and a type case in it without one. Releases may differ in
  /// whether the property is optional.
  static let uncertain = ["String", "String?"].map { type in
    ApolloRule(
      name: "a field under a condition that a type case selects without one: \(type)",
      selection: "id name @include(if: $a) ... on User { name }",
      data: """
        struct Being {
          var __typename: String; var id: String; var name: String?; var asUser: AsUser?
          struct AsUser { var __typename: String; var id: String; var name: \(type) }
        }
        """, reads: ["Optional(obj.name).flatMap { $0 }"], places: ["AsUser"])
  }

  static let classic: [ApolloRule] = [
    ApolloRule(
      name: "a type case has everything that is selected around it", isClassic: true,
      selection: "id home { title } ... on User { age home { size } }",
      data: """
        struct Being {
          var __typename: String; var id: String; var home: Home?; var asUser: AsUser?
          struct Home { var title: String }
          struct AsUser {
            var __typename: String; var id: String; var age: Int; var home: Home?
            struct Home { var title: String; var size: Int }
          }
        }
        """, places: ["AsUser"]),
    ApolloRule(
      name: "a field under a condition is optional, unless it is selected without one, too",
      isClassic: true, entity: "User",
      selection: """
        id age @include(if: $a) name @skip(if: $a) name
        ... @include(if: $a) { born } ...F @include(if: $a)
        """,
      fragments: "fragment F on User { home { size } }",
      data: """
        struct User {
          var id: String; var age: Int?; var name: String; var born: String?
          struct Fragments { var f: F? }
          var fragments: Fragments
        }
        """, beside: "struct F { var home: Home?; struct Home { var size: Int } }",
      reads: ["obj.age.map { Int64($0) }", "name: obj.name"]),
    ApolloRule(
      name: "what is never included is not there", isClassic: true, entity: "User",
      selection: "id age @include(if: false) ... @skip(if: true) { mood } name @skip(if: false)",
      data: "struct User { var id: String; var name: String }"),
    ApolloRule(
      name: "a fragment of a type is optional in fragments", isClassic: true,
      selection: "id ...G ...F",
      fragments: "fragment G on User { age } fragment F on Being { home { size } }",
      data: """
        struct Being {
          var __typename: String; var id: String
          struct Fragments { var g: G?; var f: F }
          var fragments: Fragments
        }
        """,
      beside: """
        struct G { var __typename: String; var age: Int }
        struct F { var __typename: String; var home: Home?; struct Home { var size: Int } }
        """,
      reads: ["(obj.fragments.g?.age).map"]),
    ApolloRule(
      name: "a fragment on the type itself is no type case", isClassic: true, entity: "User",
      selection: "... on User { age } ... on Being { id }",
      data: "struct User { var id: String; var age: Int }"),
    ApolloRule(
      name: "a union has a type case for each type", isClassic: true, entity: "Thing",
      selection: "... on User { id age } ... on Bot { id name }",
      data: """
        struct Thing {
          var __typename: String; var asUser: AsUser?; var asBot: AsBot?
          struct AsUser { var __typename: String; var id: String; var age: Int }
          struct AsBot { var __typename: String; var id: String; var name: String }
        }
        """),
    ApolloRule(
      name: "enums, custom scalars and lists of lists", isClassic: true, entity: "User",
      selection: "id mood moods grid born places { size }",
      data: """
        struct User {
          var id: String; var mood: Mood; var moods: [Mood?]?; var grid: [[Int]?]?
          var born: String; var places: [[Place]]?
          struct Place { var size: Int }
        }
        """),
  ]
}
