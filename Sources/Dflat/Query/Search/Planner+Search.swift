// Planning of searches: what the full-text index of an entity type answers.
//
// The index finds the rows that a search matches, by the same rules as the evaluation on rows. A
// search of very many words, of a very long one, or with deeply nested operators, is made on the
// rows.

extension Planner {
  func search(_ search: SearchCondition, negated: Bool) -> Narrowing {
    if search.expression.isNever { return negated ? .always : .never }
    guard !negated, search.isIndexed, canSearch(by: search) else { return .nothing }
    return Narrowing(predicate: .search(search), isExact: capabilities.fullText == .matches)
  }

  /// The search by whose relevance the engine can order the candidates of a predicate.
  func ranking(
    _ query: Query, _ predicate: IndexPredicate?
  ) -> (search: SearchCondition, weights: [Double])? {
    // A position in the order is compared with what a row alone gives.
    guard capabilities.fullText == .matches, query.order.count == 1, query.start == nil,
      query.order[0].isDescending,
      case .relevance(let search, let weights) = query.order[0].node
    else { return nil }
    let parts: [IndexPredicate] =
      if case .and(let parts)? = predicate { parts } else { [predicate].compactMap(\.self) }
    for case .search(let found) in parts where found.isSame(as: search) {
      return (found, weights)
    }
    return nil
  }
}

extension Plan {
  /// Whether the type's full-text index is used.
  package var usesFullText: Bool { predicate?.hasSearch ?? false }

  /// The number of candidates that are enough, in the order of a search's relevance, unless some of
  /// them are damaged; nil if there is no such number.
  package var rankedLimit: Int? {
    guard ranking != nil, residual == nil, let limit = query.limitWithOffset, limit < .max else {
      return nil
    }
    return limit
  }
}

extension Query {
  /// Whether the type's full-text index can narrow the condition.
  var searchesFullText: Bool { condition?.searchesFullText ?? false }
}

extension Node {
  fileprivate var searchesFullText: Bool {
    var pending = [self]
    while let node = pending.popLast() {
      switch node {
      case .search(let search): if search.isIndexed { return true }
      case .and(let parts), .or(let parts): pending += parts
      default: break
      }
    }
    return false
  }
}

extension IndexPredicate {
  /// Whether there is a search in it.
  fileprivate var hasSearch: Bool {
    switch self {
    case .search: true
    case .and(let parts), .or(let parts): parts.contains(where: \.hasSearch)
    case .never, .compare, .oneOf, .isNull, .bits, .contains: false
    }
  }

  /// Whether it is a search, or a conjunction with one.
  var isSearch: Bool {
    switch self {
    case .search: true
    case .and(let parts): parts.contains(where: \.isSearch)
    default: false
    }
  }
}

extension SearchExpression {
  /// The largest number of words of a search that an index is asked for.
  private static let mostTokens = 200
  /// The deepest nesting of such a search.
  private static let greatestDepth = 12

  /// Whether an index is asked for it. Indexes are asked by texts, and what was cut inside of a
  /// character is none.
  func isIndexed(_ groups: [SearchGroup]) -> Bool {
    let tokens = groups.flatMap { $0.phrases.flatMap(\.tokens) }
    return tokens.count <= Self.mostTokens && depth <= Self.greatestDepth
      && tokens.allSatisfy { $0.count < SearchTokenizer.longest }
  }

  private var depth: Int {
    switch self {
    case .never, .group: 0
    case .and(let parts), .or(let parts): 1 + (parts.map(\.depth).max() ?? 0)
    case .not(let left, let right): 1 + Swift.max(left.depth, right.depth)
    }
  }
}
