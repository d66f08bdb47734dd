// QueryCapabilities: what the planner needs to know about an engine.

/// Which parts of queries an engine answers from its keys and indexes. The rest is evaluated on
/// rows.
package struct QueryCapabilities: Sendable {
  /// The maximum number of comparisons and constants in a predicate.
  package var maximumPredicateSize: Int
  /// The maximum nesting depth of conjunctions and disjunctions in a predicate.
  package var maximumPredicateDepth: Int
  /// Whether the engine evaluates predicates exactly as evaluation on the row's bytes does.
  /// Otherwise rows are evaluated again.
  package var isExact: Bool
  /// What comparisons with the texts of the primary key give. If it is candidates, the engine
  /// neither orders by these texts nor gives them. It finds an object by its whole key in any case.
  package var textKeys: IndexAnswers
  /// Whether the engine can deliver rows in the order of one key field or index.
  package var canOrder: Bool
  /// Whether the engine orders unsigned 64-bit numbers by value, and not by their bits as signed
  /// numbers.
  package var ordersUnsigned: Bool
  /// Whether the engine can answer a predicate about several columns of one index from that index.
  package var usesCompoundIndexes: Bool

  /// What the engine's full-text indexes give; nil if it has none.
  package var fullText: IndexAnswers?
  /// What the engine's indexes of elements give; nil if it has none. See ``ElementIndex``.
  package var elements: IndexAnswers?

  /// Creates capabilities; the defaults describe an engine that can do everything but full-text
  /// indexes and indexes of elements.
  package init(
    maximumPredicateSize: Int = .max, maximumPredicateDepth: Int = .max, isExact: Bool = true,
    textKeys: IndexAnswers = .matches, canOrder: Bool = true, ordersUnsigned: Bool = true,
    usesCompoundIndexes: Bool = true,
    fullText: IndexAnswers? = nil, elements: IndexAnswers? = nil
  ) {
    self.maximumPredicateSize = maximumPredicateSize
    self.maximumPredicateDepth = maximumPredicateDepth
    self.isExact = isExact
    self.textKeys = textKeys
    self.canOrder = canOrder
    self.ordersUnsigned = ordersUnsigned
    self.usesCompoundIndexes = usesCompoundIndexes
    self.fullText = fullText
    self.elements = elements
  }
}

/// What an index gives.
package enum IndexAnswers: Sendable {
  /// At least the objects that match. Each of them is looked at.
  case candidates
  /// Exactly the objects that match; a full-text index also gives their order by relevance.
  case matches
}

extension Query {
  /// Whether the condition may have more comparisons and constants than a number.
  package func mayHaveConstants(moreThan number: Int) -> Bool {
    guard let condition else { return false }
    return condition.measure.size > number
      || condition.contains {
        if case .membership(_, let values, _, _) = $0 { values.count > number } else { false }
      }
  }
}
