// Finding and replacing related values in expressions.

extension Node {
  /// Calls `body` with each related value, and each relation to a vector.
  func forEachRelated(_ body: (any RelatedValue) -> Void) {
    forEachField { if let related = $0.related { body(related) } }
    forEachElement { element in
      guard let relation = element.relation else { return }
      body(TargetField(relation, element.vectors[0]))
    }
  }

  /// The types of the other objects that the value depends on.
  func addRelatedTypes(to types: inout [EntitySchema]) {
    if !followsRelations { return }
    forEachRelated { related in
      func add(_ related: any RelatedValue) {
        if !types.contains(related.other) { types.append(related.other) }
        if let before = related.key.related { add(before) }
        if let count = related as? ReferrerCount { count.condition?.addRelatedTypes(to: &types) }
      }
      add(related)
    }
  }

  /// Whether a text of another object is searched.
  var searchesRelated: Bool {
    contains { node in
      switch node {
      case .search(let search), .relevance(let search, _):
        search.columns.contains { $0.related != nil }
      default: false
      }
    }
  }

  /// The expression with other nodes for some of its fields.
  /// - Parameter replacement: The node for a field; nil to keep it.
  func replacingFields(_ replacement: (FieldDescriptor) throws -> Node?) rethrows -> Node {
    try combined(leaf: { try $0.replacingOwnFields(replacement) }) { $0(Array($1)) }
  }

  /// The same for an expression that is no connective.
  private func replacingOwnFields(
    _ replacement: (FieldDescriptor) throws -> Node?
  ) rethrows -> Node {
    switch self {
    case .field(let field): return try replacement(field) ?? self
    case .constant: return self
    case .and, .or, .not: preconditionFailure("a connective is combined from its parts")
    case .arithmetic(let operation, let left, let right, let type):
      return .arithmetic(
        operation, try left.replacingFields(replacement), try right.replacingFields(replacement),
        type)
    case .unary(let operation, let operand, let type):
      return .unary(operation, try operand.replacingFields(replacement), type)
    case .comparison(let operation, let left, let right, let type):
      return .comparison(
        operation, try left.replacingFields(replacement), try right.replacingFields(replacement),
        type)
    case .mixedComparison(let operation, let left, let right):
      return .mixedComparison(
        operation, signed: try left.replacingFields(replacement),
        unsigned: try right.replacingFields(replacement))
    case .isNull(let operand, let type, let negated):
      return .isNull(try operand.replacingFields(replacement), type, negated: negated)
    case .membership(let operand, let values, let type, let negated):
      return .membership(
        try operand.replacingFields(replacement), values, type, negated: negated)
    case .match(let tag, let tags):
      guard let other = try replacement(tag) else { return self }
      if case .field(let field) = other { return .match(field, tags) }
      return .and([
        .isNull(other, tag.type, negated: true),
        .membership(other, tags, tag.type, negated: false),
      ])
    case .bits(let operand, let test, let mask, let type):
      return .bits(try operand.replacingFields(replacement), test, mask, type)
    case .folded(let operand): return .folded(try operand.replacingFields(replacement))
    case .text(let operand, let test):
      return .text(try operand.replacingFields(replacement), test)
    case .call(let call):
      return .call(
        call.with(
          try call.arguments.map {
            FunctionArgument(try $0.node.replacingFields(replacement), $0.type)
          }))
    case .quantified(let quantifier, let element, let condition):
      return .quantified(quantifier, element, try condition.replacingFields(replacement))
    case .search(let search): return .search(try search.replacingFields(replacement))
    case .relevance(let search, let weights):
      return .relevance(try search.replacingFields(replacement), weights: weights)
    }
  }
}

extension Query {
  /// The other types that the result depends on.
  var relatedTypes: [EntitySchema] { relatedTypes(with: []) }

  /// The other types that the result depends on, and some values of its objects.
  func relatedTypes(with values: [ValueExpression]) -> [EntitySchema] {
    var types: [EntitySchema] = []
    condition?.addRelatedTypes(to: &types)
    for term in order { term.node.addRelatedTypes(to: &types) }
    for value in values { value.node.addRelatedTypes(to: &types) }
    return types
  }

  /// Whether the result depends on other objects.
  var followsRelations: Bool {
    condition?.followsRelations == true || order.contains { $0.node.followsRelations }
  }

  /// The same query with another condition and order.
  func with(_ condition: Node?, _ order: [OrderTerm]) -> Query {
    var query = Query(
      schema: schema, condition: condition, order: order, limit: limit, offset: offset,
      start: start, reading: reading)
    query.failures = failures
    return wantsGroupCounts ? query.groupCounts() : query
  }
}
