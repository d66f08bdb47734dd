// Verdicts compared with graphql-core's: whether a document is valid, and which rules it breaks.

import Foundation
import GraphQLSchema
import SeededRandom
import Testing

@Suite("GraphQL: verdicts agree with graphql-core")
struct JudgeTests {
  /// Cases that are meant to differ, with graphql-core's verdict and the reason.
  private static let differences: [String: (judge: Set<String>, reason: String)] = [
    "chapter2: a subscription without a type": (
      [], "the specification of 2025 has a rule for it; a generator cannot do without the type"
    ),
    "3.3.1 one type for queries and mutations": (
      [], "the specification demands different types, and graphql-core does not check it"
    ),
    "3.13 a directive at its own argument": (
      [], "the specification refuses it, and graphql-core does not check it"
    ),
    "3.13 a directive at the argument of one that it uses": ([], "the same"),
    "3.13 a directive in the types of its arguments": ([], "the same"),
    "chapter5: 5.2.4.1 subscription with a condition": (
      [], "the specification of 2025 refuses it, and graphql-core does what it says"
    ),
    "chapter5: 5.2.4.1 subscription with a condition in a fragment": ([], "the same"),
    "chapter5: the types of different objects beside an integer": (
      [], "graphql-core knows no type of __typename when it compares; the specification does"
    ),
  ]

  @Test("The corpus")
  func corpus() throws {
    let cases = try Corpus.all()
    for (item, verdict) in zip(cases, try Judge.verdicts(on: cases)) {
      // The corpus itself says what is expected where a difference is intended.
      if let difference = Self.differences[item.name] {
        #expect(verdict == difference.judge, "\(item.name): graphql-core has changed")
      } else {
        #expect(item.broken().rules == verdict, "\(item.name)")
      }
    }
  }

  /// Documents per schema, and half as many schemas, more of them with `DFLAT_LONG=1`;
  /// `DFLAT_GRAPHQL_CASES` sets another number.
  private static let count =
    ProcessInfo.processInfo.environment["DFLAT_GRAPHQL_CASES"].flatMap(Int.init)
    ?? (isLongRun ? 3000 : 200)

  private static let seed = testSeed()

  @Test("Random documents and schemas", arguments: [seed])
  func random(seed: UInt64) throws {
    var cases: [Case] = []
    for file in ["chapter5", "starwars"] {
      let text = try Corpus.text(file + ".schema")
      let schema = try schema(text)
      for number in 0..<Self.count {
        let document = RandomDocument.text(for: schema, seed: seed &+ UInt64(number))
        cases.append(
          Case(name: "\(file) \(number)", schema: text, document: document, model: schema))
      }
    }
    for number in 0..<Self.count / 2 {
      let text = RandomSchema.text(seed: seed &+ UInt64(number))
      cases.append(Case(name: "schema \(number)", schema: text))
    }
    var valid = 0
    var rules: Set<String> = []
    for (item, verdict) in zip(cases, try Judge.verdicts(on: cases)) {
      let (broken, isWhole) = item.broken()
      guard let verdict else {
        let isKnown =
          broken.contains("NoFragmentCycles") || item.document?.contains("subscription") == true
        #expect(isKnown, "seed \(seed): graphql-core failed on \(item.document ?? item.schema)")
        continue
      }
      var ignored = Self.ignored(beside: verdict)
      // The judge reads conditions at the root of a subscription, which are not allowed.
      if let text = item.document, text.contains("subscription"), text.contains("if: ") {
        ignored.insert("SingleFieldSubscriptions")
      }
      if !isWhole { ignored.formUnion(verdict.subtracting(broken)) }
      #expect(
        broken.subtracting(ignored) == verdict.subtracting(ignored),
        "seed \(seed): \(item.name)\n\(item.document ?? item.schema)")
      if verdict.isEmpty { valid += 1 }
      rules.formUnion(verdict)
    }
    // The generators must make right documents as well as many kinds of wrong ones.
    #expect(valid * 20 > cases.count && valid * 10 < 9 * cases.count, "seed \(seed): \(valid)")
    #expect(rules.count > 12, "seed \(seed): \(rules.sorted())")
  }

  /// Rules that cannot be compared. Where several definitions have one name, the specification does
  /// not say which one is meant: graphql-core looks for cycles in the first fragment, and for
  /// everything else in the last one. It checks all types of one name and extends the last one;
  /// here the first one counts, and nothing else is said about the others. In a cycle it compares
  /// fields with themselves, and an argument that is there twice differs from itself.
  private static func ignored(beside verdict: Set<String>) -> Set<String> {
    var result: Set<String> = []
    if verdict.contains("UniqueFragmentNames") { result.insert("NoFragmentCycles") }
    if verdict.contains("UniqueTypeNames") {
      result = verdict.subtracting(["UniqueTypeNames"]).union(["PossibleTypeExtensions"])
    }
    if verdict.isSuperset(of: ["NoFragmentCycles", "UniqueArgumentNames"]) {
      result.insert("OverlappingFieldsCanBeMerged")
    }
    return result
  }
}
