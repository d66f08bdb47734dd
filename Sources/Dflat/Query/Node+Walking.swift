// Walks through expressions. Connectives are walked in a loop, since programs nest them without
// end; the depth of all other operators is limited, see Node+Measure.swift.

extension Node {
  /// Calls `body` with this node and all that are below it, in no particular order.
  func forEachNode(_ body: (Node) -> Void) {
    var pending: [NodeParts] = []
    visit(&pending, body)
    while let parts = pending.popLast() {
      for part in parts { part.visit(&pending, body) }
    }
  }

  /// - Parameter pending: Receives the parts of connectives, which are still to be visited.
  private func visit(_ pending: inout [NodeParts], _ body: (Node) -> Void) {
    body(self)
    switch self {
    case .field, .constant, .match, .search, .relevance: break
    case .and(let parts), .or(let parts): pending.append(parts)
    case .arithmetic(_, let left, let right, _), .comparison(_, let left, let right, _),
      .mixedComparison(_, let left, let right):
      left.visit(&pending, body)
      right.visit(&pending, body)
    case .not(let operand), .isNull(let operand, _, _), .membership(let operand, _, _, _),
      .bits(let operand, _, _, _), .folded(let operand), .text(let operand, _),
      .unary(_, let operand, _), .quantified(_, _, let operand):
      operand.visit(&pending, body)
    case .call(let call): for argument in call.arguments { argument.node.visit(&pending, body) }
    }
  }

  /// Whether this node or one below it is such a node.
  func contains(_ isWanted: (Node) -> Bool) -> Bool {
    var isFound = false
    forEachNode { isFound = isFound || isWanted($0) }
    return isFound
  }

  /// Calls `body` with each field in the expression.
  func forEachField(_ body: (FieldDescriptor) -> Void) {
    forEachNode { node in
      switch node {
      case .field(let field): body(field)
      case .match(let tag, _): body(tag)
      case .search(let search), .relevance(let search, _): search.columns.forEach(body)
      case .quantified(_, let element, _): element.vectors.forEach(body)
      default: break
      }
    }
  }

  /// Calls `body` with each variable for the elements of a vector.
  func forEachElement(_ body: (ElementVariable) -> Void) {
    forEachNode { if case .quantified(_, let element, _) = $0 { body(element) } }
  }

  /// What a connective combines, and how.
  enum Connective {
    case and, or, not

    /// - Parameter parts: One for `not`.
    func callAsFunction(_ parts: [Node]) -> Node {
      switch self {
      case .and: .and(NodeParts(parts))
      case .or: .or(NodeParts(parts))
      case .not: .not(parts[0])
      }
    }
  }

  /// The connective with its parts, of which those that only list values are combined; nil for any
  /// other node.
  var connective: (kind: Connective, parts: [Node])? {
    switch self {
    case .and(let parts): (.and, parts.combining(.notEqual))
    case .or(let parts): (.or, parts.combining(.equal))
    case .not(let operand): (.not, [operand])
    default: nil
    }
  }

  /// What is still to be done of a walk.
  private enum Step {
    case node(Node)
    /// To combine the values of that many parts.
    case combine(Connective, Int)
  }

  /// Computes a value from the bottom up.
  /// - Parameters:
  ///   - leaf: The value of an expression that is no connective.
  ///   - combine: The value of a connective with the values of its parts, from left to right.
  func combined<Value>(
    leaf: (Node) throws -> Value, _ combine: (Connective, ArraySlice<Value>) throws -> Value
  ) rethrows -> Value {
    guard let (kind, parts) = connective else { return try leaf(self) }
    var steps: [Step] = [.combine(kind, parts.count)] + parts.reversed().map { .node($0) }
    var values: [Value] = []
    while let step = steps.popLast() {
      switch step {
      case .node(let node):
        if let (kind, parts) = node.connective {
          steps.append(.combine(kind, parts.count))
          for part in parts.reversed() { steps.append(.node(part)) }
        } else {
          values.append(try leaf(node))
        }
      case .combine(let kind, let count):
        let value = try combine(kind, values.suffix(count))
        values.removeLast(count)
        values.append(value)
      }
    }
    return values[0]
  }
}

extension NodeParts {
  /// The parts, with many comparisons of one field with constants as one membership, in which a
  /// value is found by a search: `x == 1 || x == 2 || …` as `x.in([1, 2, …])`, and
  /// `x != 1 && x != 2 && …` as `x.notIn([1, 2, …])`.
  /// - Parameter operation: `.equal` in a disjunction, `.notEqual` in a conjunction.
  func combining(_ operation: ComparisonOperator) -> [Node] {
    if count < 16 { return array }
    struct List {
      let field: FieldDescriptor
      let type: ValueType
      let first: Node
      var values: [Value] = []
    }
    var lists: [List] = []
    var places: [ObjectIdentifier: Int] = [:]
    var others: [Node] = []
    for part in self {
      guard case .comparison(operation, .field(let field), .constant(let value, _), let type) = part
      else {
        others.append(part)
        continue
      }
      let place = places[ObjectIdentifier(field)] ?? lists.count
      if place == lists.count {
        places[ObjectIdentifier(field)] = place
        lists.append(List(field: field, type: type, first: part))
      }
      lists[place].values.append(value)
    }
    return others
      + lists.map { list in
        list.values.count == 1
          ? list.first
          : .membership(
            .field(list.field), list.values, list.type, negated: operation == .notEqual)
      }
  }
}
