// Conditions on the fields of an interface, beside the initialisers: they are compiled and run.

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
}
