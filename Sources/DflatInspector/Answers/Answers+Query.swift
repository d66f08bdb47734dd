// Queries as text: the objects, how they were found, and how long it took.

import Dflat
import DflatTools
import Foundation

/// What a query gives.
struct QueryAnswerShown: Encodable {
  /// How a query is answered.
  struct Plan: Encodable {
    let statement: String?
    let plan: [String]
    let indexes: [String]
    let indexedFields: [String]
    let rowByRow: String?
    let isSortedInMemory: Bool

    init(_ explanation: QueryExplanation) {
      statement = explanation.statement
      plan = explanation.plan
      indexes = explanation.indexes
      indexedFields = explanation.indexedFields
      rowByRow = explanation.rowByRow
      isSortedInMemory = explanation.isSortedInMemory
    }
  }

  let table: String
  let type: String
  let columns: [String]
  let rows: [RowAnswer]
  /// Whether there are more objects than are shown.
  let hasMore: Bool
  /// How long it took to read them.
  let milliseconds: Double
  /// nil if nothing is known of the type but its bytes.
  let plan: Plan?
}

extension Answers {
  private static let answerSize = 100

  func query(_ question: Question) throws -> QueryAnswerShown {
    guard let text = question.text else { throw NoAnswer(400, "the question has no text") }
    let clock = ContinuousClock()
    var answer: QueryAnswer?
    let time = try clock.measure {
      answer = try store.query(text, atMost: Self.answerSize + 1)
    }
    guard let answer else { throw NoAnswer(500, "the query has no answer") }
    let rows = try answer.objects.prefix(Self.answerSize).map { try RowAnswer($0) }
    let plan =
      answer.type.origin == .unknown ? nil : QueryAnswerShown.Plan(try store.explain(text))
    return QueryAnswerShown(
      table: answer.type.table, type: answer.type.name,
      columns: Self.columns(answer.type, rows), rows: rows,
      hasMore: answer.objects.count > Self.answerSize, milliseconds: time / .milliseconds(1),
      plan: plan)
  }
}
