// Planner: derives from a condition what keys and indexes say about the matching rows.
//
// It walks the condition and keeps what single fields can answer, as an `IndexPredicate`.
// Invariants:
//
//  - Every row for which the condition is true satisfies the predicate.
//  - The condition is true for a row that satisfies the predicate exactly if the rest is. If there
//    is no rest, the narrowing is exact, and nothing is evaluated on rows.
//  - Negations are pushed down to the comparisons, where unknown values satisfy neither side.

struct Planner {
  /// What predicates may be about.
  enum Usable {
    /// Any field, because the rows themselves are tested.
    case everyField
    /// The primary key, and fields with one of these indexes.
    case indexes([Int])
    /// The columns of one index.
    case columns([IndexColumn])
  }

  private let usable: Usable
  let capabilities: QueryCapabilities
  /// The indexes of elements that may be used.
  let elements: [ElementIndex]

  init(_ usable: Usable, _ capabilities: QueryCapabilities, elements: [ElementIndex] = []) {
    self.usable = usable
    self.capabilities = capabilities
    self.elements = elements
  }

  struct Narrowing {
    /// nil if every row is a candidate.
    var predicate: IndexPredicate?
    /// Whether the condition is true for every row that satisfies the predicate.
    var isExact: Bool
    /// What candidates are checked against; nil if the narrowing is exact.
    var rest: Node?

    static let nothing = Narrowing(predicate: nil, isExact: false)
    static let always = Narrowing(predicate: nil, isExact: true)
    static let never = Narrowing(predicate: .never, isExact: true)
  }

  /// Narrows the rows for which `node`, negated or not, is exactly true.
  /// - Parameter level: The number of connectives around it.
  func narrow(_ node: Node, negated: Bool, level: Int = 0) -> Narrowing {
    var narrowing = narrowing(node, negated: negated, level)
    // A conjunction has the rests of its parts. Anything else is checked as a whole: of a
    // disjunction it is not known by which part a row is a candidate.
    if !narrowing.isExact, narrowing.rest == nil { narrowing.rest = negated ? .not(node) : node }
    return narrowing
  }

  /// The greatest depth of connectives that a predicate has.
  private static let mostLevels = 24

  private func narrowing(_ node: Node, negated: Bool, _ level: Int) -> Narrowing {
    let isAnd: Bool
    let parts: [Node]
    switch node {
    case .and(let all): (isAnd, parts) = (!negated, all.combining(.notEqual))
    case .or(let all): (isAnd, parts) = (negated, all.combining(.equal))
    case .not(let operand): return narrow(operand, negated: !negated, level: level)
    default: return narrowTest(node, negated: negated, level: level)
    }
    // What is nested more deeply is checked on the rows.
    if level == Self.mostLevels { return .nothing }
    let narrowings = parts.map { narrow($0, negated: negated, level: level + 1) }
    return isAnd ? all(narrowings) : any(narrowings)
  }

  /// The same for a condition that is no connective.
  private func narrowTest(_ node: Node, negated: Bool, level: Int) -> Narrowing {
    switch node {
    case .constant(.bool(let value), _): return value != negated ? .always : .never
    case .field(let field):
      return compare(field, .equal, .bool(!negated))
    case .comparison(let comparison, let left, .constant(let value, _), _):
      return compare(left, negated ? comparison.negated : comparison, value, level)
    case .comparison(let comparison, .constant(let value, _), let right, _):
      let mirrored = comparison.mirrored
      return compare(right, negated ? mirrored.negated : mirrored, value, level)
    case .isNull(let operand, _, let inner):
      // `isNotNull` excludes few rows, so it is checked on the rows.
      guard inner == negated, let field = field(operand) else { return .nothing }
      return isNull(field)
    case .membership(let operand, let values, _, let inner):
      guard inner == negated, let field = field(operand) else { return .nothing }
      return isMember(field, values)
    case .match(let tag, let tags): return negated ? .nothing : isMember(tag, tags)
    case .bits(.field(let field), let test, let mask, _):
      return negated ? .nothing : bits(field, test, mask)
    case .search(let search): return self.search(search, negated: negated)
    case .quantified(.any, let element, let condition):
      return negated ? .nothing : narrow(anyOf: element, condition)
    case .call(let call):
      if negated || call.candidates.isEmpty { return .nothing }
      let parts = zip(call.arguments, call.candidates).map { argument, values in
        field(argument.node).map { isMember($0, values) } ?? .nothing
      }
      return Narrowing(predicate: all(parts).predicate, isExact: false)
    case .text(let operand, let test):
      guard !negated, let field = field(operand) else { return .nothing }
      return text(field, test)
    default: return .nothing
    }
  }

  /// The field that an expression is, or the column that has its values.
  func field(_ node: Node) -> FieldDescriptor? {
    switch node {
    case .field(let field): return field
    case .folded(.field(let field)):
      guard case .columns(let columns) = usable else { return nil }
      return columns.first { $0.isFolded && $0.reader.field == field }?.field
    default: return nil
    }
  }

  private func compare(
    _ operand: Node, _ comparison: ComparisonOperator, _ value: Value, _ level: Int
  ) -> Narrowing {
    if let field = field(operand) { return compare(field, comparison, value) }
    // A condition compared with true or false is the condition itself or its negation.
    guard case .bool(let value) = value else { return .nothing }
    switch comparison {
    case .equal: return narrow(operand, negated: !value, level: level)
    case .notEqual: return narrow(operand, negated: value, level: level)
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
    // `!=` excludes few rows, so it is checked on the rows, unless there are only two values.
    guard isUsable(field), comparison != .notEqual || field.type == .bool else { return .nothing }
    if comparison == .notEqual, case .bool(let value) = value {
      return Narrowing(predicate: .compare(field, .equal, .bool(!value)), isExact: true)
    }
    guard let domain = field.domain else {
      return Narrowing(predicate: .compare(field, comparison, value), isExact: isExact(field))
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
      // An index cannot be asked for so many, but the rest of the condition may narrow the scan.
      if known.count > capabilities.maximumPredicateSize { return .nothing }
      return Narrowing(predicate: .oneOf(field, known), isExact: isExact(field))
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

  private func text(_ field: FieldDescriptor, _ test: TextTest) -> Narrowing {
    if !field.alternatives.isEmpty { return any(field.alternatives.map { text($0, test) }) }
    guard isUsable(field), let prefix = test.literalPrefix, !prefix.isEmpty else { return .nothing }
    let range = PrefixRange(prefix)
    let isExact = range.isExact && test.isPrefix && isExact(field)
    let start = IndexPredicate.compare(field, .greaterOrEqual, .string(prefix))
    guard let end = range.end else { return Narrowing(predicate: start, isExact: isExact) }
    return Narrowing(
      predicate: .and([start, .compare(field, .less, .string(end))]), isExact: isExact)
  }

  private func isNull(_ field: FieldDescriptor) -> Narrowing {
    if !field.alternatives.isEmpty { return all(field.alternatives.map(isNull)) }
    guard isUsable(field) else { return .nothing }
    guard let domain = field.domain, domain.others == nil else {
      return Narrowing(predicate: .isNull(field), isExact: true)
    }
    return Narrowing(predicate: .or([.isNull(field)] + outside(field, domain)), isExact: true)
  }

  /// The rows whose stored value reads as a value that satisfies `holds`.
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

  /// The ranges below, between and above the values that the schema knows.
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

  /// Narrows a conjunction: each part narrows.
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
    let inexact = parts.filter { !$0.isExact }
    let rests = inexact.compactMap(\.rest)
    var narrowing = Narrowing(
      predicate: predicates.count > 1 ? .and(predicates) : predicates.first,
      isExact: inexact.isEmpty)
    // What is narrowed below a condition has no rest of its own.
    if rests.count == inexact.count {
      narrowing.rest = rests.count > 1 ? .and(NodeParts(rests.flatMap(\.conjuncts))) : rests.first
    }
    return narrowing
  }

  /// Narrows a disjunction: it narrows only if every part does.
  private func any(_ parts: [Narrowing]) -> Narrowing {
    var predicates: [IndexPredicate] = []
    var isNarrowed = true
    for part in parts {
      switch part.predicate {
      case .never?: break
      case .or(let inner)?: predicates += inner
      case let predicate?: predicates.append(predicate)
      case nil:
        // If one part is always true, so is the disjunction.
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

  /// Whether keys or indexes may be used for the field. They may not for `ulong` enums, whose order
  /// differs from the storage's.
  private func isUsable(_ field: FieldDescriptor) -> Bool {
    guard field.domain == nil || field.type != .uint64, field.element == nil else { return false }
    return switch (usable, field.column) {
    case (.everyField, _), (.indexes, .key): true
    case (.indexes(let usable), .index(let index)): usable.contains(index)
    case (.indexes, nil): false
    case (.columns(let columns), _): columns.contains { $0.field == field }
    }
  }

  /// Whether the values of a field that may be used are all that there is to know of it.
  private func isExact(_ field: FieldDescriptor) -> Bool {
    guard case .indexes = usable, field.isTextOfKey else { return true }
    return capabilities.textKeys == .matches
  }

  /// Whether the engine's full-text index may be used for a search.
  func canSearch(by search: SearchCondition) -> Bool {
    guard capabilities.fullText != nil, let position = search.indexPosition,
      case .indexes(let usable) = usable
    else { return false }
    return usable.contains(position)
  }

  /// Whether the engine can deliver rows in the order of a key or index by this sort key.
  func canOrder(by term: OrderTerm) -> Bool {
    guard capabilities.canOrder, term.positions == nil, let field = field(term.node) else {
      return false
    }
    return isUsable(field) && isExact(field) && field.domain == nil
      && (capabilities.ordersUnsigned || field.type != .uint64)
  }

  /// Whether the engine should deliver the order: it can read one key or index in that order and
  /// does not have to read all of it.
  func canOrder(_ query: Query, by predicate: IndexPredicate?) -> Bool {
    guard query.order.count == 1, let term = query.order.first, canOrder(by: term),
      // No index has the order of a later field of the key.
      let field = term.field, field.column == .key(0) || !field.isKey
    else { return false }
    guard let predicate else { return query.limit != nil }
    return predicate.columns == [field.path]
  }
}

extension Node {
  /// The parts of a conjunction; of anything else, itself.
  fileprivate var conjuncts: [Node] {
    if case .and(let parts) = self { Array(parts) } else { [self] }
  }
}
