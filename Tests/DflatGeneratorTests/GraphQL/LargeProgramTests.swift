// A program of the size of a large public API: its schemas, operations and entities are generated,
// and what is made of them compiles.

import Foundation
import Testing

@testable import DflatGenerator

@Suite("Large programs of dflatc graphql")
struct LargeProgramTests {
  /// A tenth of the size, without `DFLAT_LONG=1`.
  private static let size = isLongRun ? (2000, 200) : (200, 20)

  @Test("compile without a warning", arguments: [size])
  func compiles(types: Int, operations: Int) throws {
    try withTemporaryDirectory { directory in
      let script = Place.sources.deletingLastPathComponent()
        .appending(path: "Scripts/large-graphql.py")
      let made = try Judge.run([
        "python3", script.path(), directory.path(), String(types), String(operations),
      ])
      #expect(made.status == 0, "\(made.output)")
      let options = try text(of: directory.appending(path: "options.txt"))
        .trimmingCharacters(in: .whitespacesAndNewlines)
      let run = try GraphQL.run(
        options, ["operations.graphql"], schemas: ["schema.graphqls"], in: directory)
      #expect(run.status == 0, "\(run.errors)")
      let output = directory.appending(path: "out")
      for name in run.files.keys.sorted() where name.hasSuffix(".fbs") {
        try generate(output.appending(path: name), into: output)
      }
      // Each operation has a file of its own.
      #expect(run.files.keys.filter { $0.hasSuffix("_generated.swift") }.count > operations)
      // What the compiler synthesizes is most of what it has to compile.
      let responses = run.files.filter { !$0.key.hasPrefix("GraphQLTypes") }.values
      #expect(!responses.contains { $0.contains(": Codable") })
      #expect(try Judge.complaints(about: output, .swift6) == "")
    }
  }

  /// A union with many members, all selected.
  private static let (manyMembers, manySelections): (schema: String, operations: String) = {
    let members = (0..<60).map { "M\($0)" }
    func select(_ fields: String) -> String {
      members.map { "... on \($0) { id \(fields) }" }.joined(separator: " ")
    }
    return (
      members.map { "type \($0) { id: ID!  name: String  kid: Owner }" }.joined(separator: "\n")
        + """

        type Owner { id: ID!  one: Any  all: [Any!] }
        union Any = \(members.joined(separator: " | "))
        type Query { owner: Owner  any: Any }
        """,
      """
      query A {
        owner { id one { \(select("name kid { id }")) } all { \(select("")) } }
        any { \(select("name")) }
      }
      """
    )
  }()

  @Test(
    "make no expression that grows with a union",
    arguments: ["dflat", "apollo", "apollo-classic"],
    ["--entity Owner", "--entity Owner --entity Any"])
  func unions(client: String, entities: String) throws {
    let run = try GraphQL.run(
      Self.manyMembers, Self.manySelections,
      "\(entities) --primary-key id --client \(client)")
    #expect(run.status == 0, "\(run.errors)")
    for (name, text) in run.files {
      // Operators have to be checked together, in exponential time; elements of a list do not.
      let statements = text.replacing(/\n +\?\?/, with: " ??").split(separator: "\n")
      let longest = statements.map { $0.matches(of: /\?\?/).count }.max() ?? 0
      #expect(longest < 6, "\(name)")
    }
    if client != "dflat" { return }
    try withTemporaryDirectory { directory in
      for (name, text) in run.files {
        try GraphQL.write(text, to: directory.appending(path: name))
      }
      for name in run.files.keys where name.hasSuffix(".fbs") {
        try generate(directory.appending(path: name), into: directory)
      }
      #expect(try Judge.complaints(about: directory, .swift6) == "")
    }
  }

  /// The processor time in which Apollo's structs are read that many fragments under conditions of
  /// their own have of one object.
  private func cost(ofConditions count: Int) throws -> Int {
    func each(_ text: (Int) -> String) -> String {
      (0..<count).map(text).joined(separator: " ")
    }
    let start = clock()
    let run = try GraphQL.run(
      """
      type Item { id: ID!  part: Part }
      type Part { \(each { "f\($0): Int" }) }
      type Query { item: Item }
      """,
      """
      query A(\(each { "$c\($0): Boolean!" })) {
        item { id part { f0 } \(each { "...F\($0) @include(if: $c\($0))" }) }
      }
      \(each { "fragment F\($0) on Item { part { f\($0) } }" })
      """, "--entity Item --primary-key id --client apollo")
    #expect(run.status == 0, "\(run.errors)")
    return Int(clock() - start)
  }

  @Test("are read in time that is in proportion to what is written, under any number of conditions")
  func conditions() throws {
    let (some, more) = (try cost(ofConditions: 25), try cost(ofConditions: 75))
    // There are nine times as many ways; each compared with each other one would be 81 times.
    #expect(more < 25 * some, "\(some), \(more)")
  }
}
