// The corpus of documents with their verdicts: `Corpus/*.operations`, each with a schema of the
// same name, and `Corpus/*.schemas`.
//
// A case begins with a line `#### name | verdict`. The verdict is `valid` or the names of all
// broken rules, as graphql-core has them, without the suffix "Rule"; `Syntax` for texts that are
// none of the language, and `Type` for schemas that break a rule of type validation. Cases of
// schemas without a type `Query` get one.

import Foundation
import GraphQLSchema
import Testing

/// One document, or one schema.
struct Case: Sendable, CustomTestStringConvertible {
  var name: String
  /// What is expected; nil if only the judge knows.
  var verdict: Set<String>?
  var schema: String
  /// Nil if the schema itself is the case.
  var document: String?
  /// The schema of a document.
  var model: Schema?

  var testDescription: String { name }

  /// Which rules the document breaks; some of them, if it has more errors than are shown.
  func broken() -> (rules: Set<String>, isWhole: Bool) {
    guard let document else {
      let result = readSchema(schema)
      // Rules with names come first; type validation is for schemas that obey them.
      // A field that is repeated word for word is a warning here.
      let rules = Set(
        result.diagnostics
          .filter { $0.severity == .error || $0.rule == "UniqueFieldDefinitionNames" }
          .map { $0.rule ?? "Syntax" })
      let named = rules.subtracting(["TypeValidation"])
      return (named.isEmpty && !rules.isEmpty ? ["Type"] : named, isWhole(result.diagnostics))
    }
    guard let model else { return (["no schema"], true) }
    let result = Operations.read(
      [GraphQLSource(path: "test.graphql", text: document)], schema: model)
    #expect((result.value == nil) == result.diagnostics.contains { $0.severity == .error })
    // An unused fragment is a warning here.
    let errors = result.diagnostics.filter {
      $0.severity == .error || $0.rule == "NoUnusedFragments"
    }
    return (Set(errors.map { $0.rule ?? "Syntax" }), isWhole(result.diagnostics))
  }

  private func isWhole(_ diagnostics: [Diagnostic]) -> Bool {
    diagnostics.filter { $0.severity == .error }.count < DiagnosticSink.errorLimit
  }
}

enum Corpus {
  static let directory = Bundle.module.bundlePath + "/Corpus"

  static func text(_ file: String) throws -> String {
    try String(contentsOfFile: directory + "/" + file, encoding: .utf8)
  }

  /// The cases of all files.
  static func all() throws -> [Case] {
    var result = try cases(in: "chapter3.schemas").map { name, verdict, text in
      let completed =
        text.contains("type Query") || text.contains("schema") || verdict == ["Syntax"]
        ? text : text + "\ntype Query { ok: Boolean }\n"
      return Case(name: name, verdict: verdict, schema: completed)
    }
    for file in ["chapter2", "chapter3", "chapter5", "starwars"] {
      let schema = try text(file + ".schema")
      let model = readSchema(schema).value
      result += try cases(in: file + ".operations").map { name, verdict, text in
        Case(
          name: "\(file): \(name)", verdict: verdict, schema: schema, document: text,
          model: model)
      }
    }
    return result
  }

  private static func cases(in file: String) throws -> [(String, Set<String>, String)] {
    var result: [(String, Set<String>, String)] = []
    for part in try text(file).components(separatedBy: "#### ").dropFirst() {
      let head = part.prefix { $0 != "\n" }
      let sides = head.components(separatedBy: " | ")
      try #require(sides.count == 2, "'\(head)' in \(file) has no verdict")
      let rules = Set(sides[1].split(separator: " ").map(String.init))
      result.append(
        (sides[0], rules == ["valid"] ? [] : rules, String(part.dropFirst(head.count + 1))))
    }
    return result
  }
}

@Suite("GraphQL: corpus")
struct CorpusTests {
  /// The rules of section 5.
  private static let rules: Set = [
    "ExecutableDefinitions", "UniqueOperationNames", "LoneAnonymousOperation",
    "SingleFieldSubscriptions", "KnownTypeNames", "FragmentsOnCompositeTypes",
    "VariablesAreInputTypes", "ScalarLeafs", "FieldsOnCorrectType", "UniqueFragmentNames",
    "KnownFragmentNames", "NoUnusedFragments", "PossibleFragmentSpreads", "NoFragmentCycles",
    "UniqueVariableNames", "NoUndefinedVariables", "NoUnusedVariables", "KnownDirectives",
    "UniqueDirectivesPerLocation", "KnownArgumentNames", "UniqueArgumentNames",
    "ValuesOfCorrectType", "ProvidedRequiredArguments", "VariablesInAllowedPosition",
    "OverlappingFieldsCanBeMerged", "UniqueInputFieldNames",
  ]

  @Test("Every case of the corpus breaks exactly the rules that it names")
  func verdicts() throws {
    let cases = try Corpus.all()
    #expect(cases.count > 450)
    for item in cases {
      let broken = item.broken().rules
      #expect(broken == item.verdict, "\(item.name)")
    }
    let broken = cases.reduce(into: Set<String>()) { $0.formUnion($1.verdict ?? []) }
    #expect(broken.isSuperset(of: Self.rules), "\(Self.rules.subtracting(broken))")
  }
}
