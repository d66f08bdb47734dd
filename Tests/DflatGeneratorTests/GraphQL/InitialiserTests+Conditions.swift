// Conditions beside the initialisers: those on the fields of an interface, and those on types,
// which narrow the structs that are read.

import Foundation
import Testing

@testable import DflatGenerator

extension InitialiserTests {
  @Test("come with conditions on the fields of an interface, which find the right objects")
  func conditions() throws {
    try withTemporaryDirectory { directory in
      try prepare(directory, "")
      try FileManager.default.copyItem(
        at: GraphQL.programs.appending(path: "conditions.swift"),
        to: directory.appending(path: "program/main.swift"))
      let result = try Judge.runProgram(
        in: directory.appending(path: "program"),
        with: Place.modules("DflatGraphQL", "MemoryDflat"))
      #expect(result.status == 0, "\(result.output)")
      #expect(result.output == "all is well\n")
    }
  }

  @Test(
    "come with conditions on fields of every type, also of interfaces below",
    arguments: [
      "--primary-key id", "",
    ])
  func conditionsOfEveryType(options: String) throws {
    let fields = """
      id: ID!  count: Int  ratio: Float  isOld: Boolean  kind: Kind  kinds: [Kind!]  notes: [Note]
      note: Note  grid: [[Int]]  inner: Inner  default: String  match: String  self: Item
      """
    let schema = """
      enum Kind { A B }
      interface Item { \(fields) }
      type One implements Item { \(fields) }
      type Two implements Item { \(fields) }
      type Note { text: String }
      union Inner = Three | Four
      type Three { text: String  kind: Kind }
      type Four { text: String  kind: Kind }
      type Query { item: Item }
      """
    let operations = """
      query A {
        item {
          id count ratio isOld kind kinds notes { text } note { text } grid default match
          self { id }
          inner { ... on Three { text kind } ... on Four { text kind } }
        }
      }
      """
    try withTemporaryDirectory { directory in
      try GraphQL.write(schema, to: directory.appending(path: "s.graphqls"))
      try GraphQL.write(operations, to: directory.appending(path: "a.graphql"))
      let run = try GraphQL.run(
        "--entity Item " + options, ["a.graphql"], schemas: ["s.graphqls"], in: directory)
      #expect(run.status == 0, "\(run.errors)")
      let program = directory.appending(path: "program")
      try FileManager.default.createDirectory(at: program, withIntermediateDirectories: true)
      try generate(directory.appending(path: "out/Item_generated.fbs"), into: program)
      let text = try #require(run.files["Item_fields_generated.swift"])
      try GraphQL.write(text, to: program.appending(path: "Fields.swift"))
      if !options.isEmpty {
        try GraphQL.write(
          """
          import Dflat

          func conditions() -> [Condition<Item>] {
            [
              Item.count { $0 > 1 }, Item.ratio { $0 < 2 }, Item.isOld { $0 == true }, Item.kind { $0 == .a },
              Item.kinds { $0.contains(.b) }, Item.notes { $0.any { $0.text == "" } },
              Item.note { $0.text == "" }, Item.inner { $0.kind { $0 == .a } },
              Item.default { $0 == "" }, Item.match { $0 == "" }, Item.`self` { $0 == "key" },
            ]
          }
          """, to: program.appending(path: "Use.swift"))
      }
      #expect(try Judge.complaints(about: program, .swift6) == "", "\(text)")
    }
  }

  // MARK: Conditions on types

  /// The narrower structs that Apollo makes of the operations below, without what the initialisers
  /// do not use.
  private static let narrower = """
    public var asItem: AsItem?
    public var asNote: AsNote?
    public struct AsItem {
      public var __typename: String
      public var id: Int
      public var name: String?
      public var other: Other?
      public struct Other { public var __typename: String; public var id: Int }
    }
    public struct AsNote {
      public var __typename: String
      public var id: Int
      public var text: String
    }
    """

  /// The classes of an operation.
  /// - Parameters:
  ///   - inside: What the struct of the outer condition has.
  ///   - beside: What stands beside it.
  private static func classes(inside: String = "", beside: String = "") -> String {
    """
    public enum SQuery {
      public struct Data {
        public struct Thing {
          public var __typename: String
          public var asNode: AsNode?
          public struct AsNode {
            public var __typename: String
            public var id: Int
            \(inside)
          }
          \(beside)
        }
      }
    }
    """
  }

  @Test("read what narrows inside of a narrowed struct of Apollo's")
  func nestedConditions() throws {
    try checkNarrowing(
      "apollo", classes: Self.classes(inside: Self.narrower),
      "thing { ... on Node { id ... on Item { name other { id } } ... on Note { text } } }",
      """
      func items(_ a: SQuery.Data.Thing.AsNode.AsItem, _ b: SQuery.Data.Thing) -> (Item, Thing?) {
        (Item(a), Thing(b))
      }
      """)
  }

  @Test("read what narrows inside of a condition of classic Apollo's, beside it")
  func flatConditions() throws {
    try checkNarrowing(
      "apollo-classic", classes: Self.classes(beside: Self.narrower),
      """
      thing {
        ... on Node {
          id
          ... on Item { ... { name } ... on Node { ... on Item { other { id } } } }
          ... on Labelled { ... on Node { ... on Note { text } } }
        }
      }
      """,
      """
      func items(_ a: SQuery.Data.Thing.AsItem, _ b: SQuery.Data.Thing) -> (Item, Thing?) {
        (Item(a), Thing(b))
      }
      """)
  }

  /// Compiles initialisers of items and of what is an item or a note, and looks for what they read.
  private func checkNarrowing(
    _ client: String, classes: String, _ selection: String, _ use: String
  ) throws {
    try withTemporaryDirectory { directory in
      try prepare(
        directory, "--entity Item --entity Thing --primary-key id --client \(client)", Self.wholes,
        "query S { \(selection) }")
      let program = directory.appending(path: "program")
      try GraphQL.write(classes, to: program.appending(path: "Classes.swift"))
      try GraphQL.write(use, to: program.appending(path: "Use.swift"))
      #expect(try Judge.complaints(about: program, .swift6) == "")
      let items = try text(of: program.appending(path: "Item_inits_generated.swift"))
      #expect(items.contains("name: obj.name, other: other"), "\(items)")
      let things = try text(of: program.appending(path: "Thing_inits_generated.swift"))
      #expect(things.contains("text: obj.text"), "\(things)")
    }
  }
}
