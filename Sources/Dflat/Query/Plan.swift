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
  ///   - isUsable: Whether an index of the schema is complete for the state that will be read.
  public init(_ query: Query, isUsable: (Int) throws -> Bool) rethrows {
    let planner = Planner(usable: try query.mentionedIndexes.filter(isUsable))
    let narrowing = query.condition.map { planner.narrow($0, negated: false) }
    self.query = query
    if let narrowing, narrowing.predicate?.isWithinBounds ?? true {
      predicate = narrowing.predicate
      residual = narrowing.isExact ? nil : query.condition
    } else {
      predicate = nil
      residual = query.condition
    }
    isOrderedByEngine = planner.canOrder(query, by: predicate)
  }
}

/// The values of a primary key's fields, in order.
public struct KeyValues: Sendable {
  /// The value of the first field.
  public let first: Value
  /// The values of the other fields.
  public let rest: [Value]

  /// A key of these values.
  @inlinable
  public init(first: Value, rest: [Value]) {
    self.first = first
    self.rest = rest
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
    let narrowing = Planner(usable: nil).narrow(condition, negated: false)
    return narrowing.predicate.map { ($0, narrowing.isExact) }
  }
}

private struct Planner {
  /// The indexes that may be used; nil if every field may, since rows have them all.
  let usable: [Int]?

  struct Narrowing {
    /// nil: every row is a candidate.
    var predicate: IndexPredicate?
    var isExact: Bool

    static let nothing = Narrowing(predicate: nil, isExact: false)
    static let always = Narrowing(predicate: nil, isExact: true)
    static let never = Narrowing(predicate: .never, isExact: true)
  }

  /// What is known of the rows for which `node`, negated or not, is exactly true.
  func narrow(_ node: Node, negated: Bool) -> Narrowing {
    switch node {
    case .constant(.bool(let value), _): return value != negated ? .always : .never
    case .and(let parts):
      let narrowings = parts.map { narrow($0, negated: negated) }
      return negated ? any(narrowings) : all(narrowings)
    case .or(let parts):
      let narrowings = parts.map { narrow($0, negated: negated) }
      return negated ? all(narrowings) : any(narrowings)
    case .not(let operand): return narrow(operand, negated: !negated)
    case .field(let field):
      return compare(field, .equal, .bool(!negated))
    case .comparison(let comparison, let left, .constant(let value, _), _):
      return compare(left, negated ? comparison.negated : comparison, value)
    case .comparison(let comparison, .constant(let value, _), let right, _):
      let mirrored = comparison.mirrored
      return compare(right, negated ? mirrored.negated : mirrored, value)
    case .isNull(.field(let field), _, let inner):
      // That something is known narrows little: it is left to the rows.
      return inner == negated ? isNull(field) : .nothing
    case .membership(.field(let field), let values, _, let inner):
      return inner == negated ? isMember(field, values) : .nothing
    case .match(let tag, let tags): return negated ? .nothing : isMember(tag, tags)
    case .bits(.field(let field), let test, let mask, _):
      return negated ? .nothing : bits(field, test, mask)
    default: return .nothing
    }
  }

  private func compare(
    _ operand: Node, _ comparison: ComparisonOperator, _ value: Value
  ) -> Narrowing {
    if case .field(let field) = operand { return compare(field, comparison, value) }
    // A condition compared with true or false is the condition, or its negation.
    guard case .bool(let value) = value else { return .nothing }
    switch comparison {
    case .equal: return narrow(operand, negated: !value)
    case .notEqual: return narrow(operand, negated: value)
    default: return .nothing
    }
  }

  private func compare(
    _ field: FieldDescriptor, _ comparison: ComparisonOperator, _ value: Value
  ) -> Narrowing {
    if value.isNaN { return .never }
    if !field.alternatives.isEmpty {
      return any(field.alternatives.map { compare($0, comparison, value) })
    }
    // What differs from one value is nearly everything: it is left to the rows, unless two values are all there are.
    guard isUsable(field), comparison != .notEqual || field.type == .bool else { return .nothing }
    guard let domain = field.domain else {
      return Narrowing(predicate: .compare(field, comparison, value), isExact: true)
    }
    guard case .integer(let constant) = value else { return .nothing }
    return inDomain(field, domain) { comparison.holds($0, constant) }
  }

  private func isMember(_ field: FieldDescriptor, _ values: [Value]) -> Narrowing {
    if !field.alternatives.isEmpty { return any(field.alternatives.map { isMember($0, values) }) }
    guard isUsable(field) else { return .nothing }
    guard let domain = field.domain else {
      let known = values.filter { !$0.isNaN }
      if known.isEmpty { return .never }
      return Narrowing(predicate: .oneOf(field, known), isExact: true)
    }
    var wanted: Set<Int64> = []
    for value in values {
      guard case .integer(let value) = value else { return .nothing }
      wanted.insert(value)
    }
    return inDomain(field, domain) { wanted.contains($0) }
  }

  private func bits(_ field: FieldDescriptor, _ test: BitTest, _ mask: Value) -> Narrowing {
    if !field.alternatives.isEmpty { return any(field.alternatives.map { bits($0, test, mask) }) }
    guard isUsable(field), field.domain == nil else { return .nothing }
    return Narrowing(predicate: .bits(field, test, mask), isExact: true)
  }

  private func isNull(_ field: FieldDescriptor) -> Narrowing {
    if !field.alternatives.isEmpty { return all(field.alternatives.map(isNull)) }
    guard isUsable(field) else { return .nothing }
    guard let domain = field.domain, domain.others == nil else {
      return Narrowing(predicate: .isNull(field), isExact: true)
    }
    return Narrowing(predicate: .or([.isNull(field)] + outside(field, domain)), isExact: true)
  }

  /// The rows whose stored value means one that satisfies `holds`.
  private func inDomain(
    _ field: FieldDescriptor, _ domain: FieldDomain, _ holds: (Int64) -> Bool
  ) -> Narrowing {
    let wanted = domain.known.filter(holds)
    var parts: [IndexPredicate] = []
    if !wanted.isEmpty { parts.append(.oneOf(field, wanted.map { .integer($0) })) }
    if let others = domain.others, holds(others) { parts += outside(field, domain) }
    switch parts.count {
    case 0: return .never
    case 1: return Narrowing(predicate: parts[0], isExact: true)
    default: return Narrowing(predicate: .or(parts), isExact: true)
    }
  }

  /// The ranges between and around the values that the schema knows.
  private func outside(_ field: FieldDescriptor, _ domain: FieldDomain) -> [IndexPredicate] {
    guard let first = domain.known.first, let last = domain.known.last else { return [] }
    var ranges: [IndexPredicate] = [
      .compare(field, .less, .integer(first)), .compare(field, .greater, .integer(last)),
    ]
    for (low, high) in zip(domain.known, domain.known.dropFirst()) where high - 1 > low {
      ranges.append(
        .and([
          .compare(field, .greater, .integer(low)), .compare(field, .less, .integer(high)),
        ]))
    }
    return ranges
  }

  /// What is known if all hold: each narrows for itself.
  private func all(_ parts: [Narrowing]) -> Narrowing {
    var predicates: [IndexPredicate] = []
    for part in parts {
      switch part.predicate {
      case .never?: return .never
      case .and(let inner)?: predicates += inner
      case let predicate?: predicates.append(predicate)
      case nil: break
      }
    }
    return Narrowing(
      predicate: predicates.count > 1 ? .and(predicates) : predicates.first,
      isExact: parts.allSatisfy(\.isExact))
  }

  /// What is known if one holds: nothing, unless each narrows.
  private func any(_ parts: [Narrowing]) -> Narrowing {
    var predicates: [IndexPredicate] = []
    var isNarrowed = true
    for part in parts {
      switch part.predicate {
      case .never?: break
      case .or(let inner)?: predicates += inner
      case let predicate?: predicates.append(predicate)
      case nil:
        // One that is always true makes the whole so.
        if part.isExact { return .always }
        isNarrowed = false
      }
    }
    if !isNarrowed { return .nothing }
    if predicates.isEmpty { return .never }
    return Narrowing(
      predicate: predicates.count > 1 ? .or(predicates) : predicates[0],
      isExact: parts.allSatisfy(\.isExact))
  }

  /// Whether keys or indexes answer for the field. Of a `ulong` enum, whose order is not that of the storage, they do not.
  private func isUsable(_ field: FieldDescriptor) -> Bool {
    guard field.domain == nil || field.type != .uint64 else { return false }
    guard let usable else { return true }
    return switch field.column {
    case .key: true
    case .index(let index): usable.contains(index)
    case nil: false
    }
  }

  /// Whether the engine should deliver the order: it can read one index in that order, and need not read all of it.
  func canOrder(_ query: Query, by predicate: IndexPredicate?) -> Bool {
    guard query.order.count == 1, let term = query.order.first, term.positions == nil,
      isUsable(term.field), term.field.domain == nil, term.field.type != .uint64,
      // The order of a later field of the key is nobody's.
      term.field.column == .key(0) || !term.field.isKey
    else { return false }
    guard let predicate else { return query.limit != nil }
    return predicate.columns == [term.field.path]
  }
}

extension IndexPredicate {
  /// Beyond some size or depth a statement would be slower than looking at the rows, and at last refused by the engine.
  fileprivate var isWithinBounds: Bool { size <= 500 && depth <= 4 }

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
  fileprivate var isKey: Bool {
    if case .key? = column { true } else { false }
  }
}
