// No input may crash the front end, hang it, or make it fail without an error.

import Foundation
import GraphQLSchema
import SeededRandom
import Testing

@Suite("GraphQL: arbitrary input")
struct FuzzTests {
  /// Mutated texts per run, a million of them with `DFLAT_LONG=1`; `DFLAT_GRAPHQL_FUZZ_ROUNDS` sets
  /// another number.
  private static let rounds =
    ProcessInfo.processInfo.environment["DFLAT_GRAPHQL_FUZZ_ROUNDS"].flatMap(Int.init)
    ?? (isLongRun ? 1_000_000 : 6000)

  private static let pieces = [
    "type", "interface", "union", "enum", "input", "scalar", "directive", "extend", "schema",
    "query", "mutation", "subscription", "fragment", "on", "implements", "repeatable", "{", "}",
    "(", ")", "[", "]", ":", "=", "!", "|", "&", "@", "$", "...", "\"", "\"\"\"", "\\", "\\u",
    "\\u{", "\\uD83D", "#", "\n", "\r", ",", "0", "-", "1e", "1.", "null", "true", "Query", "Dog",
    "Int!", "[Int]", "{ __typename }", "...F", "@skip(if: true)", "a: Int", "\0", "\u{FEFF}", "é",
    "{\"data\": {\"__schema\": ", "\"types\": [", "\"kind\": \"OBJECT\"", "\"name\": \"Query\"",
  ].map { Array($0.utf8) }

  @Test("Mutated schemas and operations", arguments: [testSeed()])
  func mutations(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let schema = try schema(try Corpus.text("chapter5.schema"))
    let documents = try Corpus.all().compactMap { $0.document.map { Array($0.utf8) } }
    var schemas = try Corpus.all().filter { $0.document == nil }.map { Array($0.schema.utf8) }
    schemas.append(Array(ModelTests.introspectionText.utf8))
    for round in 0..<Self.rounds {
      let isSchema = random.oneIn(3)
      let corpus = isSchema ? schemas : documents
      var bytes = random.pick(corpus)
      for _ in 0..<random.pick([1, 1, 2, 3, 6]) {
        random.mutate(&bytes, corpus: corpus, pieces: Self.pieces)
      }
      let source = GraphQLSource(path: "fuzz", bytes: bytes)
      if isSchema {
        check(Schema.read([source]), "DFLAT_SEED=\(seed), round \(round)")
      } else {
        check(Operations.read([source], schema: schema), "DFLAT_SEED=\(seed), round \(round)")
      }
    }
  }

  /// There is a value or an error, and all of what is said can be printed.
  private func check<Value>(_ result: GraphQLResult<Value>, _ what: String) {
    let hasErrors = result.diagnostics.contains { $0.severity == .error }
    #expect((result.value == nil) == hasErrors, "\(what)")
    for diagnostic in result.diagnostics {
      #expect(!diagnostic.rendered().isEmpty)
      if let position = diagnostic.position {
        #expect(position.line >= 1 && position.column >= 1, "\(what)")
      }
    }
  }

  @Test("Long chains and many repetitions end quickly")
  func extremes() throws {
    let schema = try schema("type Query { a: Query  b: Query  c(x: [Int]): Int }")
    let numbers = 0..<3000
    let chain = numbers.map { "fragment F\($0) on Query { a { ...F\($0 + 1) } }" }
    let flat = numbers.map { "fragment F\($0) on Query { c ...F\($0 + 1) }" }
    let twice = numbers.map {
      "fragment F\($0) on Query { a { ...F\($0 + 1) } b { ...F\($0 + 1) } }"
    }
    let cycle = numbers.map {
      "fragment F\($0) on Query { a { ...F\(($0 + 1) % 3000) ...F\($0 / 2) } }"
    }
    let last = "fragment F3000 on Query { c }"
    for (name, parts) in [("chain", chain), ("flat", flat), ("twice", twice)] {
      let text = "{ ...F0 }\n" + (parts + [last]).joined(separator: "\n")
      #expect(said(text, schema) == "", "\(name)")
    }
    let text = "{ ...F0 }\n" + cycle.joined(separator: "\n")
    #expect(said(text, schema).contains("spreads itself"))
    // Which fields meet at one depth depends on where the way there went through 'a': there are
    // two to the power of the depth of such sets.
    let depth = 20
    let layers = (0..<depth).flatMap { layer in
      (0...layer).map { place in
        let next = layer + 1 == depth ? "c" : "...L\(layer + 1)_\(place + 1)"
        let start = layer + 1 == depth ? "c" : "...L\(layer + 1)_0"
        return "fragment L\(layer)_\(place) on Query { a { \(next) \(place == 0 ? start : "") } "
          + "b { \(place == 0 ? start : next) } }"
      }
    }
    #expect(
      said("{ ...L0_0 }\n" + layers.joined(separator: "\n"), schema)
        .contains("overlap in too many ways to be checked"))
    // A long fragment that is spread in many places is no such document.
    let fields = numbers.prefix(500).map { "c\($0): c a\($0): a { c }" }.joined(separator: " ")
    let places = numbers.prefix(300).map { "p\($0): a { ...Long c }" }.joined(separator: " ")
    #expect(said("{ \(places) } fragment Long on Query { \(fields) }", schema) == "")
    let many = "{ " + String(repeating: "c ", count: 50_000) + "}"
    #expect(said(many, schema) == "")
    let values = "{ c(x: [\(String(repeating: "1 ", count: 50_000))]) }"
    #expect(said(values, schema) == "")
    let inputs = numbers.map { "input I\($0) { a: I\($0 + 1)! }" } + ["input I3000 { a: Int }"]
    #expect(said("type Query { a(x: I0): Int }\n" + inputs.joined(separator: "\n")) == "")
    let marks = numbers.map { "directive @d\($0)(a: Int @d\($0 + 1)) on ARGUMENT_DEFINITION" }
    let end = "\ntype Query { a: Int }\ndirective @d3000 on ARGUMENT_DEFINITION"
    #expect(said(marks.joined(separator: "\n") + end) == "")
  }
}
