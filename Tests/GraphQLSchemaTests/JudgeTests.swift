// Verdicts compared with graphql-core's: whether a document is valid, and which rules it breaks.

import Foundation
import GraphQLSchema
import Testing

@Suite("GraphQL: verdicts agree with graphql-core")
struct JudgeTests {
  /// Cases that are meant to differ, with graphql-core's verdict and the reason.
  private static let differences: [String: (judge: Set<String>, reason: String)] = [
    "chapter2: a subscription without a type": (
      [], "the specification of 2025 has a rule for it; a generator cannot do without the type"
    )
  ]

  @Test("The corpus")
  func corpus() throws {
    let cases = try Corpus.all()
    for (item, verdict) in zip(cases, try Judge.verdicts(on: cases)) {
      // The corpus itself says what is expected where a difference is intended.
      if let difference = Self.differences[item.name] {
        #expect(verdict == difference.judge, "\(item.name): graphql-core has changed")
      } else {
        #expect(item.broken() == verdict, "\(item.name)")
      }
    }
  }
}
