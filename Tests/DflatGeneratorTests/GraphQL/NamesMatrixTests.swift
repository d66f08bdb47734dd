// Entities and operations may have any name: also those of types that generated code uses.

import DflatGenerator
import Foundation
import Testing

@Suite("Names of entities and operations")
struct NamesMatrixTests {
  /// Names of Swift, of the library, of operations, and of what generated code calls its own.
  private static let names = [
    "Root", "Target", "Int64", "Double", "Bool", "Array", "Optional", "Codable", "Hashable",
    "Sendable",
    "Encodable", "Encoder", "Decoder", "CodingKey", "Data", "Any", "Never", "Error", "Result",
    "Variables", "HeroQuery", "Hero", "GraphQLQuery", "GraphQLMerge", "GraphQLStorable",
    "GraphQLNullable", "GraphQLEnum", "GraphQLObject", "GraphQLList", "GraphQLLists",
    "GraphQLMergeRules", "GraphQLElementKey", "GraphQLFieldReader", "Type", "Protocol",
    "AnyHashable", "Draft", "Subtype", "Element", "Part", "Row", "MainActor", "Date", "filter",
  ]
  /// With a module's name, only those are told apart that it does not hide.
  private static let modules = ["Dflat", "DflatGraphQL", "Swift"]

  /// Every name is an entity, with a reference to the next one and an object without a key inside.
  private static func service(_ names: [String]) -> (schema: String, operations: String) {
    var types: [String] = []
    var fields: [String] = []
    var operations: [String] = []
    for (index, name) in names.enumerated() {
      let next = names[(index + 1) % names.count]
      types.append(
        """
        type \(name) { id: ID!  flag: Boolean  count: Int!  ratio: Float  mood: Mood  part: Piece
        next: \(next)  all: [\(next)]  tags: [String!]!  made: When  notes: [Note] }
        """)
      fields.append("f\(index): \(name)  l\(index)(like: Filter): [\(name)!]!")
      operations.append(
        """
        query \(name)($like: Filter) {
          f\(index) {
            id flag count ratio mood part { text } next { id flag } all { id } tags made notes { id text }
          }
          l\(index)(like: $like) { count next { ratio } }
          pick { ... on \(name) { id flag } }
        }
        """)
    }
    return (
      """
      scalar When
      enum Mood { GLAD SAD }
      interface Note { id: ID!  text: String }
      type Short implements Note { id: ID!  text: String }
      input Filter { text: String  more: Filter }
      type Piece { text: String }
      union Pick = \(names.joined(separator: " | "))
      \(types.joined(separator: "\n"))
      type Query { pick: Pick  \(fields.joined(separator: "\n")) }
      """, operations.joined(separator: "\n")
    )
  }

  private static func complaints(_ names: [String], _ mode: Judge.Mode) throws -> String {
    let (schema, operations) = service(names)
    return try withTemporaryDirectory { directory in
      try GraphQL.write(schema, to: directory.appending(path: "s.graphqls"))
      try GraphQL.write(operations, to: directory.appending(path: "o.graphql"))
      let options =
        names.map { "--entity \($0) " }.joined()
        + "--primary-key id --scalar When=Date --evolve"
      let run = try GraphQL.run(
        options, ["o.graphql"], schemas: ["s.graphqls"], in: directory)
      if run.status != 0 || run.errors != "" { return run.errors }
      let output = directory.appending(path: "out")
      var errors = ""
      let status = CompilerCommand(output: { _ in }, errors: { errors += $0 }).run(
        ["compile", "-o", output.path()]
          + run.files.keys.filter { $0.hasSuffix(".fbs") }.sorted()
          .map { output.appending(path: $0).path() })
      if status != 0 { return errors }
      return try Judge.complaints(about: output, mode)
    }
  }

  @Test("compile with each name alone", arguments: isLongRun ? names + modules : modules)
  func alone(name: String) throws {
    #expect(try Self.complaints([name, "Other"], .swift6) == "")
  }

  @Test(
    "compile with all names together", arguments: some([Judge.Mode.swift6, .mainActor], each: 2))
  func together(mode: Judge.Mode) throws {
    #expect(try Self.complaints(Self.names, mode) == "")
  }
}
