// Planning: which part of a query an engine may answer from its keys and indexes, and which part is
// checked on each row.
//
// A row matches only if the condition is exactly true. So negations are pushed down to the leaves
// first (`!(a < b)` is true exactly if `a >= b` is), and three-valued logic disappears. Then two
// rules apply:
//
//  - A conjunction is narrowed by any of its parts, a disjunction only if every part narrows.
//  - A narrowing that is equivalent to its condition is `exact`: its rows need not be checked
//    again. All other conditions are checked on the row's bytes; of a conjunction these are the
//    parts whose narrowing is not exact.
//
// Therefore no result depends on which indexes exist.

/// A query as data, without the Swift types of the program.
@usableFromInline package struct Query: Sendable {
  /// The type of the objects.
  package let schema: EntitySchema
  /// The condition that objects must satisfy; nil for all objects.
  package let condition: Node?
  /// Sort keys from most to least significant.
  package let order: [OrderTerm]
  /// The maximum number of objects; nil for all.
  package let limit: Int?
  /// The number of objects that are left out at the beginning of the order.
  package let offset: Int
  /// Where in the order the result begins; nil for the beginning.
  package let start: RowPosition?
  /// The fields whose values are wanted, perhaps none; nil for whole objects.
  package let reading: [FieldDescriptor]?
  /// Whether each value of the only field in `reading` is wanted once, in any order. An engine may
  /// give it more often, and leave unknown values out.
  package private(set) var wantsEachValueOnce = false
  /// Whether nothing is wanted but the number of rows for each combination of values of the fields
  /// in `reading`.
  package private(set) var wantsGroupCounts = false
  /// Receives the errors of functions, whose rows then do not match. nil if an error ends the
  /// query.
  var failures: FunctionFailures?
  /// A negative limit or offset, in words; nil if there is none. Such a query has no objects to
  /// give, and asking it is an error.
  private let negativeCount: String?

  /// Creates a query; by default it gives all objects.
  @usableFromInline package init(
    schema: EntitySchema, condition: Node? = nil, order: [OrderTerm] = [], limit: Int? = nil,
    offset: Int = 0, start: RowPosition? = nil, reading: [FieldDescriptor]? = nil
  ) {
    self.reading = reading
    self.schema = schema
    self.condition = condition
    self.order = order
    self.limit = limit.map { Swift.max(0, $0) }
    self.offset = Swift.max(0, offset)
    self.start = start
    negativeCount =
      if let limit, limit < 0 {
        "a limit of \(limit)"
      } else if offset < 0 {
        "an offset of \(offset)"
      } else {
        nil
      }
  }

  /// - Parameter values: What is computed from the objects.
  /// - Throws: `QueryError` if the limit or offset is negative, or an expression is too complex.
  func requireAnswerable(with values: [ValueExpression] = []) throws(QueryError) {
    if let negativeCount { throw .negativeCount(schema, negativeCount) }
    if condition?.isTooComplex == true || order.contains(where: \.node.isTooComplex)
      || values.contains(where: \.node.isTooComplex)
    {
      throw .tooComplex
    }
  }

  /// The number of rows up to the end of the result; nil for all.
  var limitWithOffset: Int? {
    limit.map { limit in
      let (sum, isTooGreat) = limit.addingReportingOverflow(offset)
      return limit == 0 ? 0 : isTooGreat ? .max : sum
    }
  }

  /// The same query for some fields instead of objects.
  package func reading(_ fields: [FieldDescriptor]) -> Query {
    var query = Query(
      schema: schema, condition: condition, order: order, limit: limit, offset: offset,
      start: start, reading: fields)
    query.wantsEachValueOnce = wantsEachValueOnce
    query.wantsGroupCounts = wantsGroupCounts
    return query
  }

  /// The same query for each value of one field once.
  func eachValueOnce() -> Query {
    var query = self
    query.wantsEachValueOnce = true
    return query
  }

  /// The same query for the number of rows for each combination of values.
  func groupCounts() -> Query {
    var query = self
    query.wantsGroupCounts = true
    return query
  }

  /// The same query, which leaves out a row for which a function fails, and goes on.
  func tolerating(_ failures: FunctionFailures) -> Query {
    var query = self
    query.failures = failures
    return query
  }

  /// Whether the result is a part of all matching objects.
  package var isCut: Bool { limit != nil || offset > 0 || start != nil }
}

/// A predicate over keys and indexes. Columns that are NULL satisfy `isNull` only.
package indirect enum IndexPredicate: Sendable {
  case never
  case compare(FieldDescriptor, ComparisonOperator, Value)
  /// The values are not empty.
  case oneOf(FieldDescriptor, [Value])
  case isNull(FieldDescriptor)
  case bits(FieldDescriptor, BitTest, Value)
  /// What the type's full-text index finds; see ``SearchCondition/isIndexed``.
  case search(SearchCondition)
  /// One of the elements of a vector is one of these values, which are not empty.
  case contains(ElementIndex, [Value])
  case and([IndexPredicate])
  case or([IndexPredicate])
}

/// How to answer a query with the indexes that may be used.
package struct Plan: Sendable {
  /// The query.
  package let query: Query
  /// The predicate that candidates satisfy; nil if all rows are candidates.
  package let predicate: IndexPredicate?
  /// The part of the condition that candidates are checked against; nil if all of them match.
  package let residual: Node?
  /// Whether the engine delivers candidates in the query's order. Otherwise they come by row id,
  /// and `RowCollector` sorts them if the query has an order.
  package let isOrderedByEngine: Bool

  /// Whether the rows must be sorted after they were found.
  package var isSortedInMemory: Bool { !isOrderedByEngine && !query.order.isEmpty }
  /// The search by whose relevance the engine orders the candidates, and the weights of its fields.
  package let ranking: (search: SearchCondition, weights: [Double])?
  /// The index that answers the predicate and the order alone. If there is none, each field of the
  /// predicate, and the field of an order, is a key or has an index of its own.
  package let scan: IndexScan?
  /// What comparisons with the texts of the primary key give.
  package let textKeys: IndexAnswers
}

extension Query {
  /// The primary key, if the condition is equivalent to a comparison with one. Such a query needs
  /// no plan.
  package var key: KeyValues? {
    if offset > 0 || start != nil { return nil }
    let fields = schema.primaryKey
    switch condition {
    case .comparison(.equal, .field(let field), .constant(let value, _), _)?:
      return Equality(field, value).key(in: schema)
    case .and?:
      var values = [Value?](repeating: nil, count: fields.count)
      guard fields.count > 1, condition?.collectKey(&values) == true else { return nil }
      let known = values.compactMap { $0 }
      guard known.count == fields.count else { return nil }
      return KeyValues(first: known[0], rest: Array(known.dropFirst()))
    default: return nil
    }
  }

  /// The indexes of fields that the condition or the order mentions: their positions in the schema,
  /// in ascending order.
  var mentionedIndexes: [Int] {
    // An array, since there are few: a set would not be faster, and its first use in a process
    // takes longer than planning.
    var mentioned: [Int] = []
    forEachField { field in
      if case .index(let index) = field.column, !mentioned.contains(index) {
        mentioned.append(index)
      }
    }
    if searchesFullText { mentioned.append(schema.fullTextPosition) }
    for place in schema.elementIndexes.indices where asksForElements(schema.elementIndexes[place]) {
      mentioned.append(schema.elementPosition(place))
    }
    return mentioned.sorted()
  }

  /// Whether an index can be of use for the query. If not, its plan does not depend on the state
  /// of any index.
  package var mayUseIndexes: Bool {
    if let reading, schema.indexes.contains(where: { $0.covers(reading) }) { return true }
    if searchesFullText || schema.elementIndexes.contains(where: asksForElements) { return true }
    var mayUse = false
    forEachField { field in
      if case .index? = field.column { mayUse = true }
      if mayUse { return }
      mayUse = schema.compoundIndexes.contains { index in
        schema.indexes[index].columns.contains { $0.reader.field == field }
      }
    }
    return mayUse
  }

  /// Calls `body` with each field that the condition or the order mentions.
  private func forEachField(_ body: (FieldDescriptor) -> Void) {
    func visit(_ field: FieldDescriptor) {
      body(field)
      for alternative in field.alternatives { visit(alternative) }
    }
    condition?.forEachField(visit)
    for term in order { term.node.forEachField(visit) }
  }
}

extension Node {
  /// Collects the constants that key fields are compared with by `==`.
  /// - Returns: Whether the condition contains nothing else, and no key field twice.
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
}

extension Node {
  /// The fields of the root table that the value depends on; see `FieldSet.mask`.
  var rootMask: UInt64 {
    var mask: UInt64 = 0
    forEachField { mask |= $0.rootMask }
    return mask
  }
}

extension Query {
  /// The predicate on single fields that a condition implies, regardless of which indexes exist;
  /// nil if there is none.
  static func narrowing(_ condition: Node) -> (predicate: IndexPredicate, isExact: Bool)? {
    let narrowing = Planner(.everyField, QueryCapabilities()).narrow(condition, negated: false)
    return narrowing.predicate.map { ($0, narrowing.isExact) }
  }
}

// MARK: For engines
extension IndexPredicate {
  /// The only field of the predicate, if there is just one.
  package var onlyField: FieldDescriptor? {
    switch self {
    case .never, .search, .contains: return nil
    case .compare(let field, _, _), .oneOf(let field, _), .isNull(let field),
      .bits(let field, _, _):
      return field
    case .and(let parts), .or(let parts):
      guard let first = parts.first?.onlyField else { return nil }
      return parts.dropFirst().allSatisfy { $0.onlyField == first } ? first : nil
    }
  }

  /// The parts of a conjunction or disjunction, with those on one field combined; for any other
  /// predicate, the predicate itself.
  package var partsByField: [IndexPredicate] {
    let isConjunction: Bool
    let all: [IndexPredicate]
    switch self {
    case .and(let parts): (isConjunction, all) = (true, parts)
    case .or(let parts): (isConjunction, all) = (false, parts)
    default: return [self]
    }
    var groups: [[IndexPredicate]] = []
    // Few, since a type has few indexes; there may be many parts on no single field.
    var places: [(field: FieldDescriptor, group: Int)] = []
    for part in all {
      if let field = part.onlyField {
        if let place = places.first(where: { $0.field == field }) {
          groups[place.group].append(part)
          continue
        }
        places.append((field, groups.count))
      }
      groups.append([part])
    }
    return groups.map { group in
      if group.count == 1 { return group[0] }
      return isConjunction ? .and(group) : .or(group)
    }
  }
}

extension IndexPredicate {
  /// Whether an engine can evaluate the predicate.
  func isWithin(_ capabilities: QueryCapabilities) -> Bool {
    size <= capabilities.maximumPredicateSize && depth <= capabilities.maximumPredicateDepth
  }

  /// The nesting depth of conjunctions and disjunctions.
  private var depth: Int {
    switch self {
    case .never, .compare, .isNull, .oneOf, .bits, .search, .contains: 0
    case .and(let parts), .or(let parts): 1 + (parts.map(\.depth).max() ?? 0)
    }
  }

  /// The number of comparisons and constants.
  private var size: Int {
    switch self {
    case .never, .compare, .isNull, .bits, .search: 1
    case .oneOf(_, let values), .contains(_, let values): values.count
    case .and(let parts), .or(let parts): parts.reduce(0) { $0 + $1.size }
    }
  }

  /// The number of comparisons, where one with a list counts once.
  package var comparisons: Int {
    switch self {
    case .never, .compare, .isNull, .oneOf, .bits, .search: 1
    case .contains(_, let values): values.count
    case .and(let parts), .or(let parts): parts.reduce(0) { $0 + $1.comparisons }
    }
  }

  /// The storage names of the columns in the predicate.
  var columns: Set<String> {
    switch self {
    case .never: []
    // No field is called so: the order of a field's index is of no use for what these find.
    case .search: [EntitySchema.fullTextMark]
    case .contains(let index, _): [index.table]
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
  package var isKey: Bool {
    if case .key? = column { true } else { false }
  }

  var isTextOfKey: Bool { type == .string && isKey }
}
