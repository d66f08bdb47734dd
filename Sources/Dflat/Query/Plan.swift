// Planning: what an engine may answer from its keys and indexes, and what is left to check on each row.
//
// Only rows for which a condition is exactly true count, so negations are pushed down to the leaves first (`!(a < b)` is
// true exactly where `a >= b` is) and the three-valued logic disappears: what remains is narrowed by two rules.
//
//  - A conjunction is narrowed by any of its parts, a disjunction only if each part narrows.
//  - A narrowing that says exactly what the condition says is `exact`: rows need not be checked again. Everything else is
//    checked on the row's bytes.
//
// So no answer depends on which indexes exist.

/// A query as data: what the typed surface leaves behind.
public struct Query: Sendable {
  /// Whose objects are asked for.
  public let schema: EntitySchema
  /// What must be true of an object; nil for all objects.
  public let condition: Node?
  /// Sort keys from most to least significant.
  public let order: [OrderTerm]
  /// The greatest number of objects; nil for all.
  public let limit: Int?

  /// A query over all objects, unless the other arguments say less.
  public init(
    schema: EntitySchema, condition: Node? = nil, order: [OrderTerm] = [], limit: Int? = nil
  ) {
    self.schema = schema
    self.condition = condition
    self.order = order
    self.limit = limit.map { Swift.max(0, $0) }
  }
}

/// What keys and indexes can say about rows. Columns that hold NULL satisfy `isNull` only.
public indirect enum IndexPredicate: Sendable {
  case never
  case compare(FieldDescriptor, ComparisonOperator, Value)
  /// Not empty.
  case oneOf(FieldDescriptor, [Value])
  case isNull(FieldDescriptor)
  case bits(FieldDescriptor, BitTest, Value)
  case and([IndexPredicate])
  case or([IndexPredicate])
}

/// How a query is answered, given the indexes that may be used.
public struct Plan: Sendable {
  /// What was asked.
  public let query: Query
  /// Which rows are candidates; nil for all.
  public let predicate: IndexPredicate?
  /// What candidates are checked for; nil if they all match.
  public let residual: Node?
  /// Whether the engine is to deliver candidates in the query's order. Otherwise they come by row id and are sorted by
  /// `RowCollector`, unless the query has no order.
  public let isOrderedByEngine: Bool

  /// - Parameters:
  ///   - query: What is asked.
  ///   - capabilities: What the engine can do.
  ///   - isUsable: Whether an index of the schema is complete for the state that will be read.
  public init(
    _ query: Query, _ capabilities: QueryCapabilities, isUsable: (Int) throws -> Bool
  ) rethrows {
    let planner = Planner(usable: try query.mentionedIndexes.filter(isUsable), capabilities)
    let narrowing = query.condition.map { planner.narrow($0, negated: false) }
    self.query = query
    if let narrowing, narrowing.predicate?.isWithin(capabilities) ?? true {
      predicate = narrowing.predicate
      residual = narrowing.isExact && capabilities.isExact ? nil : query.condition
    } else {
      predicate = nil
      residual = query.condition
    }
    isOrderedByEngine = planner.canOrder(query, by: predicate)
  }
}

extension Query {
  /// The key, if the condition says exactly that an object has one: such a query needs no plan.
  public var key: KeyValues? {
    let fields = schema.primaryKey
    switch condition {
    case .comparison(.equal, .field(let field), .constant(let value, _), _)?:
      guard fields.count == 1, field.column == .key(0), field.domain == nil, !value.isNaN else {
        return nil
      }
      return KeyValues(first: value, rest: [])
    case .and?:
      var values = [Value?](repeating: nil, count: fields.count)
      guard fields.count > 1, condition?.collectKey(&values) == true else { return nil }
      let known = values.compactMap { $0 }
      guard known.count == fields.count else { return nil }
      return KeyValues(first: known[0], rest: Array(known.dropFirst()))
    default: return nil
    }
  }

  /// The indexes that the condition or the order mentions, by their place in the schema, in ascending order.
  public var mentionedIndexes: [Int] {
    // Few: a set would be no faster, and its first use in a process takes longer than a plan.
    var mentioned: [Int] = []
    func visit(_ field: FieldDescriptor) {
      if case .index(let index) = field.column, !mentioned.contains(index) {
        mentioned.append(index)
      }
      for alternative in field.alternatives { visit(alternative) }
    }
    condition?.forEachField(visit)
    for term in order { visit(term.field) }
    return mentioned.sorted()
  }
}

extension Node {
  /// Puts the constants that key fields are said to equal into their places.
  /// - Returns: Whether this says nothing else, and nothing twice.
  fileprivate func collectKey(_ values: inout [Value?]) -> Bool {
    switch self {
    case .and(let parts): return parts.allSatisfy { $0.collectKey(&values) }
    case .comparison(.equal, .field(let field), .constant(let value, _), _):
      guard case .key(let index)? = field.column, values[index] == nil, field.domain == nil,
        !value.isNaN
      else { return false }
      values[index] = value
      return true
    default: return false
    }
  }

  func forEachField(_ body: (FieldDescriptor) -> Void) {
    switch self {
    case .field(let field): body(field)
    case .constant: break
    case .arithmetic(_, let left, let right, _), .comparison(_, let left, let right, _):
      left.forEachField(body)
      right.forEachField(body)
    case .and(let parts), .or(let parts): for part in parts { part.forEachField(body) }
    case .not(let operand), .isNull(let operand, _, _), .membership(let operand, _, _, _):
      operand.forEachField(body)
    case .bits(let operand, _, _, _): operand.forEachField(body)
    case .match(let tag, _): body(tag)
    }
  }
}

extension Query {
  /// What a condition says of the values of single fields, whatever indexes there are; nil if nothing.
  static func narrowing(_ condition: Node) -> (predicate: IndexPredicate, isExact: Bool)? {
    let narrowing = Planner(usable: nil, QueryCapabilities()).narrow(condition, negated: false)
    return narrowing.predicate.map { ($0, narrowing.isExact) }
  }
}

// For engines.
extension IndexPredicate {
  /// The field that all of it is about, if there is one.
  public var onlyField: FieldDescriptor? {
    switch self {
    case .never: return nil
    case .compare(let field, _, _), .oneOf(let field, _), .isNull(let field),
      .bits(let field, _, _):
      return field
    case .and(let parts), .or(let parts):
      guard let first = parts.first?.onlyField else { return nil }
      return parts.dropFirst().allSatisfy { $0.onlyField == first } ? first : nil
    }
  }

  /// The parts of a conjunction or disjunction, those about one field put together; of anything else, itself.
  public var partsByField: [IndexPredicate] {
    let isConjunction: Bool
    let all: [IndexPredicate]
    switch self {
    case .and(let parts): (isConjunction, all) = (true, parts)
    case .or(let parts): (isConjunction, all) = (false, parts)
    default: return [self]
    }
    var groups: [(field: FieldDescriptor?, parts: [IndexPredicate])] = []
    for part in all {
      let field = part.onlyField
      if let field, let index = groups.firstIndex(where: { $0.field == field }) {
        groups[index].parts.append(part)
      } else {
        groups.append((field, [part]))
      }
    }
    return groups.map { group in
      if group.parts.count == 1 { return group.parts[0] }
      return isConjunction ? .and(group.parts) : .or(group.parts)
    }
  }
}

extension IndexPredicate {
  /// Whether an engine answers it.
  fileprivate func isWithin(_ capabilities: QueryCapabilities) -> Bool {
    size <= capabilities.maximumPredicateSize && depth <= capabilities.maximumPredicateDepth
  }

  /// How conjunctions and disjunctions are nested.
  private var depth: Int {
    switch self {
    case .never, .compare, .isNull, .oneOf, .bits: 0
    case .and(let parts), .or(let parts): 1 + (parts.map(\.depth).max() ?? 0)
    }
  }

  /// The number of comparisons and constants.
  private var size: Int {
    switch self {
    case .never, .compare, .isNull, .bits: 1
    case .oneOf(_, let values): values.count
    case .and(let parts), .or(let parts): parts.reduce(0) { $0 + $1.size }
    }
  }

  /// The storage names of the columns that it mentions.
  var columns: Set<String> {
    switch self {
    case .never: []
    case .compare(let field, _, _), .oneOf(let field, _), .isNull(let field),
      .bits(let field, _, _):
      [field.path]
    case .and(let parts), .or(let parts): parts.reduce(into: []) { $0.formUnion($1.columns) }
    }
  }
}

extension Value {
  var isNaN: Bool {
    if case .real(let value) = self { value.isNaN } else { false }
  }
}

extension FieldDescriptor {
  var isKey: Bool {
    if case .key? = column { true } else { false }
  }
}
