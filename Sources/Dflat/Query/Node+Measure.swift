// How deep and how large expressions may be, and whether they depend on other objects.
//
// Connectives, `&&`, `||` and `!`, may be nested without a limit: everything that walks them does
// so in a loop. Other operators are walked recursively, on threads whose stack may have 512 KiB, so
// their depth has a limit. An expression beyond it is replaced by one that no query accepts: each
// answers with `QueryError`. So no tree of nodes is ever deeper, and none needs to be checked where
// it is walked, or released.

/// How deep and how large an expression is, and whether it depends on other objects.
struct NodeMeasure {
  /// The levels of operators other than connectives, weighed by the stack that they take.
  var depth = 0
  /// The number of nodes. Parts that are used several times count each time.
  var size = 1
  /// The levels of connectives.
  var levels = 0
  /// Whether a part depends on other objects. Known for a connective without looking at its parts,
  /// so a query can ask for it each time.
  var followsRelations = false

  /// The greatest depth. In a debug build a level takes up to 5 KiB.
  private static let mostDepth = 64
  /// The greatest size: a program of it has 400 MB.
  private static let mostSize = 1 << 22

  var isTooGreat: Bool { depth > Self.mostDepth || size > Self.mostSize }

  /// Adds a part of the same expression.
  mutating func add(_ part: NodeMeasure) {
    depth = Swift.max(depth, part.depth)
    levels = Swift.max(levels, part.levels)
    followsRelations = followsRelations || part.followsRelations
    size = Swift.min(size + part.size, Self.mostSize + 1)
  }

  /// The measure of a connective of what is measured.
  var inConnective: NodeMeasure {
    var measure = self
    measure.levels += 1
    return measure
  }

  /// The measure of a connective of the parts of two.
  func joined(with other: NodeMeasure) -> NodeMeasure {
    var all = self
    all.add(other)
    return all
  }

  /// The measure of an operator on what is measured.
  /// - Parameter weight: How many levels of stack it takes.
  func inOperator(_ weight: Int = 1) -> NodeMeasure {
    var measure = self
    measure.depth += weight
    return measure
  }

  static let tooGreat = NodeMeasure(depth: mostDepth + 1)
}

extension Node {
  /// How deep and how large the expression is.
  var measure: NodeMeasure {
    switch self {
    case .and(let parts), .or(let parts): return parts.measure
    case .not(let operand): return operand.measure.inConnective
    case .constant: return NodeMeasure()
    case .match(let tag, _): return NodeMeasure(followsRelations: tag.related != nil)
    case .search(let search), .relevance(let search, _):
      return NodeMeasure(search.columns)
    case .field(let field): return NodeMeasure(field)
    case .arithmetic(_, let left, let right, _), .comparison(_, let left, let right, _),
      .mixedComparison(_, let left, let right):
      var measure = left.measure
      // Where both sides are used again and again there is no end to the walk.
      if measure.isTooGreat { return .tooGreat }
      measure.add(right.measure)
      return measure.inOperator()
    case .unary(_, let operand, _), .isNull(let operand, _, _), .membership(let operand, _, _, _),
      .bits(let operand, _, _, _), .folded(let operand), .text(let operand, _):
      return operand.measure.inOperator()
    case .quantified(_, let element, let condition):
      var measure = condition.measure
      if let relation = element.relation {
        measure.add(NodeMeasure(relation.keys))
        measure.followsRelations = true
      }
      return measure.inOperator(3)
    case .call(let call):
      if call === FunctionCall.tooComplex { return .tooGreat }
      var measure = NodeMeasure()
      for argument in call.arguments { measure.add(argument.node.measure) }
      return measure.inOperator(2)
    }
  }

  /// The expression, or in place of one that is too deep or too large one that no query accepts.
  @usableFromInline
  package var limited: Node { measure.isTooGreat ? .call(.tooComplex) : self }

  /// Whether the value depends on other objects.
  var followsRelations: Bool { measure.followsRelations }

  /// Whether the expression is too deep or too large, or has replaced one that was.
  var isTooComplex: Bool {
    switch self {
    case .and(let parts), .or(let parts): parts.measure.isTooGreat
    case .call(let call): call === FunctionCall.tooComplex
    default: false
    }
  }
}

extension NodeMeasure {
  /// The measure of fields, with those of other objects by which they are found.
  fileprivate init(_ fields: [FieldDescriptor]) {
    for field in fields { add(NodeMeasure(field)) }
  }

  fileprivate init(_ field: FieldDescriptor) {
    var field = field
    followsRelations = field.related != nil
    while let related = field.related {
      if let count = related as? ReferrerCount, let condition = count.condition {
        add(condition.measure)
      }
      depth += 3
      field = related.key
      if isTooGreat { return }
    }
  }
}

extension FunctionCall {
  /// Stands for an expression that is too deep or too large.
  static let tooComplex = FunctionCall(
    name: "tooComplex", isDeterministic: true, arguments: [], type: .bool
  ) { _ in throw QueryError.tooComplex }
}
