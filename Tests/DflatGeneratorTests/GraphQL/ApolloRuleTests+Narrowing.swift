// The structs that Apollo's code generators make where fragments narrow objects, by types and
// conditions.

import Testing

@testable import DflatGenerator

extension ApolloRule {
  static let narrowing: [ApolloRule] = [
    ApolloRule(
      name: "a type case under a condition stands beside the one without",
      selection: "id ... on User { name } ... on User @include(if: $a) { age }",
      data: """
        struct Being {
          var __typename: String; var id: String
          var asUser: AsUser?; var asUserIfA: AsUserIfA?
          struct AsUser { var __typename: String; var id: String; var name: String }
          struct AsUserIfA {
            var __typename: String; var id: String; var name: String; var age: Int
          }
        }
        """,
      reads: ["self = .user(Being.User(obj))", "obj.asUser?.name", "(obj.asUserIfA?.age).map"],
      places: ["AsUser", "AsUserIfA"]),
    ApolloRule(
      name: "a condition is not in the type case beside it",
      selection: "id ... on User { name } ... @include(if: $a) { home { size } }",
      data: """
        struct Being {
          var __typename: String; var id: String; var asUser: AsUser?; var ifA: IfA?
          struct AsUser { var __typename: String; var id: String; var name: String }
          struct IfA {
            var __typename: String; var id: String; var home: Home?
            struct Home { var size: Int }
          }
        }
        """,
      reads: ["obj.asUser?.name", "obj.ifA?.home"], places: ["AsUser", "IfA"]),
    ApolloRule(
      name: "a type case under a condition inside of another type case",
      selection: """
        id ... on User { name } ... on Settled { home { size } ... on User @include(if: $a) { age } }
        """,
      data: """
        struct Being {
          var __typename: String; var id: String; var asUser: AsUser?; var asSettled: AsSettled?
          struct AsUser {
            typealias Home = AsSettled.Home
            var __typename: String; var id: String; var name: String; var home: Home?
          }
          struct AsSettled {
            var __typename: String; var id: String; var home: Home?; var asUserIfA: AsUserIfA?
            struct Home { var size: Int }
            struct AsUserIfA {
              typealias Home = AsSettled.Home
              var __typename: String; var id: String; var name: String; var age: Int
              var home: Home?
            }
          }
        }
        """.replacing("typealias", with: "public typealias"),
      reads: ["obj.asUser?.name", "(obj.asSettled?.asUserIfA?.age).map"], places: ["AsUser"]),
    ApolloRule(
      name: "conditions inside of a type case alone are read from it",
      selection: "id ... on User { name ... @include(if: $a) { age } }",
      data: """
        struct Being {
          var __typename: String; var id: String; var asUser: AsUser?
          struct AsUser {
            var __typename: String; var id: String; var name: String; var ifA: IfA?
            struct IfA { var __typename: String; var id: String; var name: String; var age: Int }
          }
        }
        """,
      reads: ["guard let object = obj.asUser", "(obj.ifA?.age).map"], places: ["AsUser.IfA"]),
    ApolloRule(
      name: "a fragment of a type under a condition is not in the type case beside it",
      selection: "id ... on User { name } ...G @include(if: $a)",
      fragments: "fragment G on User { age }",
      data: """
        struct Being {
          var __typename: String; var id: String
          var asUser: AsUser?; var asUserIfA: AsUserIfA?
          struct AsUser { var __typename: String; var id: String; var name: String }
          struct AsUserIfA {
            var __typename: String; var id: String; var name: String; var age: Int
            struct Fragments { var g: G }
            var fragments: Fragments
          }
        }
        """, beside: "struct G { var __typename: String; var age: Int }",
      reads: ["(obj.asUserIfA?.fragments.g.age).map"], places: ["AsUser", "AsUserIfA"]),
    ApolloRule(
      name: "a fragment is read from a type case also if one under a condition has it",
      selection: "id ... on User @include(if: $a) { name } ...G",
      fragments: "fragment G on User { age }",
      data: """
        struct Being {
          var __typename: String; var id: String
          var asUser: AsUser?; var asUserIfA: AsUserIfA?
          struct Fragments { var g: G }
          struct AsUserIfA {
            var __typename: String; var id: String; var name: String; var age: Int
            var fragments: Fragments
          }
          struct AsUser {
            var __typename: String; var id: String; var age: Int
            var fragments: Fragments
          }
        }
        """, beside: "struct G { var __typename: String; var age: Int }",
      reads: ["(obj.asUser?.fragments.g.age).map"], places: ["AsUser", "AsUserIfA"]),
    ApolloRule(
      name: "a wider type is in the name of a condition, the type itself is not", entity: "User",
      selection: """
        id ... on Being @include(if: $a) { name } ... on User @skip(if: $a) { age }
        ... on Settled { ... @include(if: $a) { home { size } } }
        """,
      data: """
        struct User {
          var id: String; var asBeingIfA: AsBeingIfA?; var ifNotA: IfNotA?
          var asSettledIfA: AsSettledIfA?
          struct AsBeingIfA {
            typealias Home = AsSettledIfA.Home
            var id: String; var name: String; var home: Home?
          }
          struct IfNotA { var id: String; var age: Int }
          struct AsSettledIfA {
            var id: String; var name: String; var home: Home?
            struct Home { var size: Int }
          }
        }
        """.replacing("typealias", with: "public typealias"),
      reads: ["obj.asBeingIfA?.name", "(obj.ifNotA?.age).map"], places: ["AsBeingIfA", "IfNotA"]),
    ApolloRule(
      name: "a type case has its condition in its name, also inside of that condition",
      selection: "id ... @include(if: $a) { name ... on User @include(if: $a) { age } }",
      data: """
        struct Being {
          var __typename: String; var id: String; var ifA: IfA?
          struct IfA {
            var __typename: String; var id: String; var name: String; var asUserIfA: AsUserIfA?
            struct AsUserIfA {
              var __typename: String; var id: String; var name: String; var age: Int
            }
          }
        }
        """, reads: ["(obj.ifA?.asUserIfA?.age).map"], places: ["IfA.AsUserIfA"]),
    ApolloRule(
      name: "names that Swift or Apollo has are not those of types",
      selection: "id ... on Error { ... on User { type } } ...Protocol",
      fragments: "fragment Protocol on Being { name }",
      data: """
        struct Being {
          var __typename: String; var id: String; var asError_Union: AsError_Union?
          struct Fragments { var `protocol`: Protocol_Fragment }
          var fragments: Fragments
          struct AsError_Union {
            var __typename: String; var id: String; var asUser: AsUser?
            struct Fragments { var `protocol`: Protocol_Fragment }
            var fragments: Fragments
            struct AsUser {
              var __typename: String; var id: String; var type: GraphQLEnum<Type_Enum>?
              struct Fragments { var `protocol`: Protocol_Fragment }
              var fragments: Fragments
            }
          }
        }
        """,
      beside: """
        public enum Type_Enum: String, EnumType { case a = "A", b = "B" }
        struct Protocol_Fragment { var __typename: String; var name: String }
        """, reads: ["obj.asError_Union?.asUser?.type"]),
  ]

  /// Structs of objects of which several places select something.
  static let objects: [ApolloRule] = [
    ApolloRule(
      name: "an object is read where most is selected of it",
      selection: """
        id home { title } ... on User { name } ... on User @include(if: $a) { home { size } }
        """,
      data: """
        struct Being {
          var __typename: String; var id: String; var home: Home?
          var asUser: AsUser?; var asUserIfA: AsUserIfA?
          struct Home { var title: String }
          struct AsUser {
            public typealias Home = Being.Home
            var __typename: String; var id: String; var name: String; var home: Home?
          }
          struct AsUserIfA {
            var __typename: String; var id: String; var name: String; var home: Home?
            struct Home { var title: String; var size: Int }
          }
        }
        """,
      reads: [
        """
              (obj.asUserIfA?.home).map { Being.Place($0) }
              ?? (obj.asUser?.home).map { Being.Place($0) } ?? obj.home.map { Being.Place($0) }
        """
      ]),
    ApolloRule(
      name: "an object of several fragments has what all of them select", entity: "User",
      selection: "id ...F ...G",
      fragments: "fragment F on User { home { title } } fragment G on Being { home { size } }",
      data: """
        struct User {
          var id: String; var home: Home?
          struct Fragments { var f: F; var g: G }
          var fragments: Fragments
          struct Home { var title: String; var size: Int }
        }
        """,
      beside: """
        struct F { var home: Home?; struct Home { var title: String } }
        struct G { var home: Home?; struct Home { var size: Int } }
        """, reads: ["self.init(size: Int64(obj.size), title: obj.title)"]),
    ApolloRule(
      name: "an object of a fragment under a condition has the rest where that is true",
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
            struct Fragments { var f: F }
            var fragments: Fragments
            struct Home { var title: String; var size: Int }
          }
        }
        """,
      beside: "struct F { var home: Home?; struct Home { var size: Int } }",
      reads: ["(obj.ifA?.home).map { User.Place($0) } ?? obj.home.map { User.Place($0) }"]),
  ]

  /// Classic structs, which are split by the types of objects.
  static let variants: [ApolloRule] = [
    ApolloRule(
      name: "a condition of several types is called after them", isClassic: true, entity: "Thing",
      selection: "... on Being { id name } ... on Place { title }",
      data: """
        struct Thing {
          var __typename: String; var asUserOrBot: AsUserOrBot?; var asPlace: AsPlace?
          struct AsUserOrBot { var __typename: String; var id: String; var name: String }
          struct AsPlace { var __typename: String; var title: String }
        }
        """, reads: ["obj.asUserOrBot?.id"]),
    ApolloRule(
      name: "a condition of several types is split by one of fewer", isClassic: true,
      entity: "Thing", selection: "... on Being { id name } ... on Settled { home { size } }",
      data: """
        struct Thing {
          var __typename: String; var asUser: AsUser?; var asBot: AsBot?
          struct AsUser {
            var __typename: String; var id: String; var name: String; var home: Home?
            struct Home { var __typename: String; var size: Int }
          }
          struct AsBot { var __typename: String; var id: String; var name: String }
        }
        """, reads: ["obj.asUser", "obj.asBot"]),
    ApolloRule(
      name: "a condition that all objects satisfy is none", isClassic: true,
      selection: "id ... on Thing { ... on Being { name } } ... on Settled { home { size } }",
      data: """
        struct Being {
          var __typename: String; var id: String; var name: String; var asUser: AsUser?
          struct AsUser {
            var __typename: String; var id: String; var name: String; var home: Home?
            struct Home { var size: Int }
          }
        }
        """, places: ["AsUser"]),
    ApolloRule(
      name: "a condition that selects nothing itself has no struct", isClassic: true,
      entity: "Thing", selection: "... on Being { ... on User { id name } ... on Bot { id } }",
      data: """
        struct Thing {
          var __typename: String; var asUser: AsUser?; var asBot: AsBot?
          struct AsUser { var __typename: String; var id: String; var name: String }
          struct AsBot { var __typename: String; var id: String }
        }
        """),
  ]
}

extension ApolloRuleTests {
  @Test("have classic names with types in the order in which graphql-js finds them")
  func order() throws {
    let run = try GraphQL.run(
      """
      interface Animal { id: ID! }
      interface Tame { name: String }
      type Ape implements Animal { id: ID! }
      type Bee implements Animal & Tame { id: ID!  name: String }
      type Cow implements Animal & Tame { id: ID!  name: String }
      type Dog implements Animal & Tame { id: ID!  name: String }
      type Farm { dog: Dog  animal: Animal }
      type Query { farm: Farm  cow: Cow }
      """, "query Q { farm { animal { id ... on Tame { name } } } }",
      "--entity Animal --primary-key id --client apollo-classic")
    let text = run.files["Animal_inits_generated.swift"] ?? ""
    #expect(text.contains("obj.asDogOrCowOrBee"), "\(run.errors)\(text)")
    #expect(text.contains("(_ obj: QQuery.Data.Farm.Animal.AsDogOrCowOrBee)"), "\(text)")
  }
}
