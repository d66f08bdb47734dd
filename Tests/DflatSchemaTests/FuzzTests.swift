// No input may crash the compiler, hang it, or make it fail without an error.

import DflatSchema
import Foundation
import SeededRandom
import Testing

@Suite("Arbitrary input")
struct FuzzTests {
  /// Mutated texts per run; `DFLAT_SCHEMA_FUZZ_ROUNDS` sets another number.
  private static let rounds =
    ProcessInfo.processInfo.environment["DFLAT_SCHEMA_FUZZ_ROUNDS"].flatMap(Int.init) ?? 6000

  @Test("Mutated schemas", arguments: [testSeed()])
  func mutations(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let cases = CorpusTests.Case.all("valid") + CorpusTests.Case.all("invalid")
    let corpus = try cases.map { try $0.content() }.filter { $0.count < 4000 }
    try #require(!corpus.isEmpty)
    for round in 0..<Self.rounds {
      var bytes = corpus.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        random.mutate(&bytes, corpus: corpus, pieces: Self.pieces)
      }
      check(bytes, "DFLAT_SEED=\(seed), round \(round)")
    }
  }

  private let unrelated: Schema = {
    let path = CorpusTests.Case.directory + "/valid/bench_document.fbs"
    return SchemaCompiler().compile(file: path).schema ?? Schema()
  }()

  private static let pieces = [
    "table", "struct", "enum", "union", "namespace", "root_type", "include", "attribute",
    "rpc_service", "{", "}", "(", ")", "[", "]", ":", ";", ",", "=", ".", "\"", "'", "\\", "//",
    "///", "/*", "*/", "\n", "0x", "1e", "-", "+", "18446744073709551616", "null", "id: 0", "\0",
    "\u{FEFF}", "é", "a", "int", "string", "key", "primary", "indexed", "unique", "bit_flags",
    "force_align: 32", "99999999999999999999999999", "rad(", "\"\\u", "\"\\ud800", "T", "A", "E",
  ].map { Array($0.utf8) }

  /// The result is a schema or an error, and all of it can be printed.
  private func check(_ bytes: [UInt8], _ what: String) {
    // Includes are searched in a folder without schemas.
    let result = SchemaCompiler().compile(source: bytes, path: "/nowhere/fuzz.fbs")
    let hasErrors = result.diagnostics.contains { $0.severity == .error }
    #expect((result.schema == nil) == hasErrors, "\(what)")
    for diagnostic in result.diagnostics {
      #expect(!diagnostic.rendered().isEmpty)
      if let position = diagnostic.position {
        #expect(position.line >= 1 && position.column >= 1, "\(what)")
      }
    }
    if let schema = result.schema {
      for name in schema.types.keys {
        _ = schema.indexPaths(of: name)
        _ = schema.tableName(of: name)
      }
      #expect(SchemaComparison(old: schema, new: schema).changes.isEmpty, "\(what)")
      // Two unrelated schemas can be compared like any two versions.
      _ = SchemaComparison(old: unrelated, new: schema)
      _ = SchemaComparison(old: schema, new: unrelated)
    }
  }

  @Test("Deep, long and malformed texts end quickly")
  func extremes() {
    for (index, text) in Self.extremeTexts().enumerated() {
      let clock = ContinuousClock()
      let start = clock.now
      check(Array(text.utf8), "text \(index)")
      #expect(clock.now - start < .seconds(200), "text \(index)")
    }
  }

  private static func extremeTexts() -> [String] {
    let many = 30_000
    let repeated = ["[", "(", "{", "}", "table ", "/*", "\"", "\n", "///\n", "$", "a.", "-", "'"]
    var texts = repeated.map { String(repeating: $0, count: many) }
    let digits = String(repeating: "9", count: many)
    texts.append("table A { a: " + String(repeating: "[", count: many))
    texts.append("table A { a: double = " + String(repeating: "rad(", count: many))
    texts.append("table A { a: int = \(digits); b: double = \(digits); c: double = 0.\(digits); }")
    texts.append(
      "namespace " + String(repeating: "a.", count: 2000) + "z; table T { t: T; u: Missing; }")
    let fields: [String] = (0..<many / 2).map { "f\($0): int;" }
    texts.append("table A { " + fields.joined(separator: " ") + " }")
    let values: [String] = (0..<many).map { "v\($0)," }
    texts.append("enum E: int {" + values.joined() + "}")
    texts.append("enum E: ulong (bit_flags) {" + values.joined() + "}")
    let structs: [String] = (1...2000).map { "struct S\($0) { a: [S\($0 - 1):60000]; }" }
    texts.append("struct S0 { a: int; }" + structs.joined())
    let members: [String] = (0..<2000).map { "m\($0): T," }
    texts.append("union U {" + members.joined() + "} table T {}")
    let tables: [String] = (0..<20_000).map { "table T\($0) { a: T\($0 + 1); }" }
    texts.append(tables.joined(separator: "\n"))
    let unknown: [String] = (0..<20_000).map { "table T\($0) { a: X\($0); }" }
    texts.append(unknown.joined(separator: "\n"))
    return texts
  }
}
