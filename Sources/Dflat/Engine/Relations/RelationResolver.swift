// RelationResolver: replaces the related values in a query by what is known of the other objects.
//
// It runs before a query is planned, in the view that answers the query. Invariants:
//
//  - The resolved query has no related value, so engines need not know about relations.
//  - It has the same result: what is unknown without the other object, or because there is none, is
//    unknown.
//
// A condition on one other object becomes a membership test: the keys of the objects for which it
// is true are looked up, and the reference must be one of them. An index on the reference answers
// that. Negations are pushed down to these conditions first, since `!c` is true for the objects for
// which `c` is false, and not for those for which it is unknown. From then on only `&&` and `||`
// stand above a condition, and for them false and unknown are the same.
//
// Whatever else depends on other objects, such as a comparison of fields of both, an order, or a
// selected value, becomes a call that looks the value up by the key, in a dictionary of all of
// them.

import FlatBuffersRuntime

struct RelationResolver {
  /// The view that has the objects of a type.
  let reader: (EntitySchema) throws -> any StorageReader

  /// The same rows, asked for without relations.
  func resolve(_ request: ReadRequest) throws -> ReadRequest {
    guard case .query(let query) = request else { return request }
    return .query(try resolve(query))
  }

  func resolve(_ query: Query) throws -> Query {
    if !query.followsRelations { return query }
    let condition = try query.condition.map { try resolve($0, negated: false, of: query.schema) }
    let order = try query.order.map { try $0.with(value($0.node, of: query.schema)) }
    return query.with(condition, order)
  }

  func resolve(
    _ expressions: [ValueExpression], of schema: EntitySchema
  ) throws -> [ValueExpression] {
    if !expressions.contains(where: \.node.followsRelations) { return expressions }
    return try expressions.map {
      ValueExpression(node: try value($0.node, of: schema), type: $0.type)
    }
  }

  // MARK: Conditions

  /// A condition that is true for the same objects.
  /// - Parameter negated: Whether the objects for which the condition is false are wanted.
  private func resolve(
    _ node: Node, negated: Bool, of schema: EntitySchema
  ) throws -> Node {
    if !node.followsRelations { return negated ? .negation(node) : node }
    // Negations are pushed down to the conditions below connectives.
    enum Step {
      case node(Node, negated: Bool)
      case combine(isAnd: Bool, Int)
    }
    var steps = [Step.node(node, negated: negated)]
    var resolved: [Node] = []
    while let step = steps.popLast() {
      switch step {
      case .node(.and(let parts), let negated):
        steps.append(.combine(isAnd: !negated, parts.count))
        steps += parts.reversed().map { .node($0, negated: negated) }
      case .node(.or(let parts), let negated):
        steps.append(.combine(isAnd: negated, parts.count))
        steps += parts.reversed().map { .node($0, negated: negated) }
      case .node(.not(let operand), let negated):
        steps.append(.node(operand, negated: !negated))
      case .node(let node, let negated):
        resolved.append(try resolveTest(node, negated: negated, of: schema))
      case .combine(let isAnd, let count):
        let parts = NodeParts(Array(resolved.suffix(count)))
        resolved.removeLast(count)
        resolved.append(isAnd ? .and(parts) : .or(parts))
      }
    }
    return resolved[0]
  }

  /// The same for a condition that is no connective.
  private func resolveTest(
    _ node: Node, negated: Bool, of schema: EntitySchema
  ) throws -> Node {
    if !node.followsRelations { return negated ? .negation(node) : node }
    if case .quantified(let quantifier, let element, let condition) = node,
      element.relation == nil
    {
      let isAny = (quantifier == .any) != negated
      return .quantified(
        isAny ? .any : .all, element, try resolve(condition, negated: negated, of: schema))
    }
    if node.isUnknownWithoutObject, let target = node.onlyTarget {
      return try resolve(
        self.condition(node, negated: negated, on: target), negated: false, of: schema)
    }
    if let (count, operation, number) = node.countComparison {
      return try resolve(
        condition(on: count, negated ? operation.negated : operation, number), negated: false,
        of: schema)
    }
    let resolved = try value(node, of: schema)
    return negated ? .not(resolved) : resolved
  }

  /// A condition on one other object as one on its key.
  private func condition(
    _ node: Node, negated: Bool, on target: TargetPath
  ) throws -> Node {
    let own = node.onTarget
    /// True without a key, too.
    func isOther(than keys: [KeyValues]) -> Node {
      .or(
        NodeParts(
          target.keys.map { .isNull(.field($0), $0.type, negated: false) }
            + [.membership(target.keys, keys, negated: true)]))
    }
    if negated, own.isNeverUnknown {
      return isOther(than: try keys(of: target.target, where: own))
    }
    guard case .isNull(let operand, let valueType, let isNotNull) = own else {
      let keys = try keys(of: target.target, where: negated ? .not(own) : own)
      return .membership(target.keys, keys)
    }
    // An object that is not stored has no values. The object itself is known if it is stored.
    let isObject = if case .field(let field) = operand { field.isObject } else { false }
    let keys = try keys(
      of: target.target, where: isObject ? nil : .isNull(operand, valueType, negated: true))
    return isNotNull != negated
      ? .membership(target.keys, keys) : isOther(than: keys)
  }

  /// A comparison of the number of referring objects with a constant, as a condition on the key.
  private func condition(
    on count: ReferrerCount, _ operation: ComparisonOperator, _ number: Int64
  ) throws -> Node {
    let counts = try counts(count)
    let isTrueForNone = operation.holds(0, number)
    let keys = counts.filter { operation.holds($0.count, number) != isTrueForNone }
    return .membership(count.keys, keys.map(\.key), negated: isTrueForNone)
  }

  // MARK: Values

  /// An expression with the same value that looks related values up.
  private func value(_ node: Node, of schema: EntitySchema) throws -> Node {
    if node.searchesRelated { throw QueryError.relatedSearch(node.text(in: schema)) }
    if node.hasRelatedElements { throw QueryError.mixedElements(node.text(in: schema)) }
    return try node.replacingFields { field in
      guard let related = field.related else { return nil }
      let key = try related.keys.map {
        FunctionArgument(try value(.field($0), of: schema), $0.type)
      }
      let name = schema.name(of: field)
      if let count = related as? ReferrerCount {
        var numbers: [KeyValues: Int64] = [:]
        for (key, number) in try counts(count) { numbers[key] = number }
        return .call(
          FunctionCall(
            name: name, isDeterministic: true, arguments: key, type: field.type, isLookUp: true
          ) { [numbers] values in
            KeyValues(count: values.count) { values[$0] }.map { .integer(numbers[$0] ?? 0) }
          })
      }
      guard let target = related as? TargetField else { return nil }
      let values = try values(of: target)
      return .call(
        FunctionCall(
          name: name, isDeterministic: true, arguments: key, type: field.type, isLookUp: true
        ) { key in
          KeyValues(count: key.count) { key[$0] }.flatMap { values[$0] }
        })
    }
  }

  // MARK: What is stored

  /// The keys of the objects that satisfy a condition.
  private func keys(of schema: EntitySchema, where condition: Node?) throws -> [KeyValues] {
    let fields = schema.primaryKey
    let query = try resolve(Query(schema: schema, condition: condition))
    var keys: [KeyValues] = []
    try reader(schema).scanValues(of: fields.map(\.expression), query) { values in
      if let key = fields.key(values) { keys.append(key) }
      return true
    }
    return keys
  }

  /// The known values of a field of all objects, by their keys.
  private func values(of target: TargetField) throws -> [KeyValues: Value] {
    let fields = target.other.primaryKey
    let expressions = (fields + [target.field]).map(\.expression)
    var values: [KeyValues: Value] = [:]
    try reader(target.other).scanValues(of: expressions, Query(schema: target.other)) {
      if let key = fields.key($0), let value = $0[fields.count].constant(target.field.type) {
        values[key] = value
      }
      return true
    }
    return values
  }

  /// The numbers of referring objects, for the keys that have any.
  private func counts(_ count: ReferrerCount) throws -> [(key: KeyValues, count: Int64)] {
    let references = ReferenceReader(count.other, count.offsets)
    let query = try resolve(Query(schema: count.other, condition: count.condition))
    let view = try reader(count.other)
    if !references.isVector {
      let keys = references.columns.map(\.field.expression)
      let groups = try view.group(GroupedParts(keys: keys, parts: []).counted, query)
      return groups.unorderedResults.compactMap { group in
        guard case .count(let number)? = group.results.last else { return nil }
        return KeyValues(count: keys.count) { group.keys[$0] }.map { ($0, Int64(number)) }
      }
    }
    var groups = GroupTable()
    var numbers: [Int64] = []
    /// The object that was counted last for each key.
    var latest: [Int] = []
    var object = 0
    func add(_ key: UnsafeBufferPointer<ColumnValue>) {
      let group = groups.group(key[...])
      if group == numbers.count {
        numbers.append(0)
        latest.append(-1)
      }
      if latest[group] == object { return }
      latest[group] = object
      numbers[group] += 1
    }
    _ = try view.scan(.query(query), .bytes) { row in
      if let table = TableReader(root: row.bytes) { references.forEachKey(table, add) }
      object += 1
      return true
    }
    return numbers.indices.compactMap { group in
      groups.key(of: group, references.types).map { ($0, numbers[group]) }
    }
  }
}

extension FieldDescriptor {
  /// Whether this is the object itself, and no field of it.
  var isObject: Bool { leaf == .presence && steps.isEmpty }

  var expression: ValueExpression { ValueExpression(node: .field(self), type: type) }
}

extension [FieldDescriptor] {
  /// The key at the beginning of some values, of which these are the fields; nil if one is unknown.
  fileprivate func key(_ values: UnsafeBufferPointer<ColumnValue>) -> KeyValues? {
    KeyValues(count: count) { values[$0].constant(self[$0].type) }
  }
}

extension Node {
  /// The way to the one other object that the condition is about; nil if it is about several
  /// objects.
  var onlyTarget: TargetPath? {
    var target: TargetPath?
    var isOnly = true
    func add(_ other: TargetPath?) {
      guard let other, isOnly, target?.leads(to: other) != false else {
        isOnly = false
        return
      }
      target = other
    }
    if case .quantified(_, let element, let condition) = self {
      add(element.relation)
      condition.forEachField { field in
        if field.firstKey.element == element { return }
        add(field.related.flatMap { ($0 as? TargetField)?.path })
      }
    } else {
      // The elements of an object's own vector are no fields of the other object.
      if hasElements { return nil }
      forEachField { field in add(field.related.flatMap { ($0 as? TargetField)?.path }) }
    }
    return isOnly ? target : nil
  }

  /// The condition on the other object itself.
  var onTarget: Node {
    guard case .quantified(let quantifier, let element, let condition) = self else {
      return replacingFields { ($0.related as? TargetField).map { .field($0.field) } }
    }
    let variable = ElementVariable(of: element)
    return .quantified(
      quantifier, variable,
      condition.replacingFields { field in
        if field.firstKey.element == element { return .field(field.moved(to: variable)) }
        return (field.related as? TargetField).map { .field($0.field) }
      })
  }

  /// Whether it is known what the condition is without the other object: unknown, or false if it is
  /// never unknown.
  fileprivate var isUnknownWithoutObject: Bool {
    switch self {
    case .quantified: true
    case .isNull(let operand, _, _): operand.isStrict
    default: isNeverUnknown || isStrict
    }
  }

  /// Whether the condition is false, and not unknown, if its fields are unknown.
  fileprivate var isNeverUnknown: Bool {
    switch self {
    case .match, .search: true
    default: false
    }
  }

  /// Whether the value is unknown if a field in it is.
  var isStrict: Bool {
    switch self {
    case .field, .constant: true
    case .arithmetic(_, let left, let right, _), .comparison(_, let left, let right, _),
      .mixedComparison(_, let left, let right):
      left.isStrict && right.isStrict
    case .not(let operand), .membership(let operand, _, _, _), .bits(let operand, _, _, _),
      .folded(let operand), .text(let operand, _), .unary(_, let operand, _):
      operand.isStrict
    case .call(let call): !call.candidates.isEmpty && call.arguments.allSatisfy(\.node.isStrict)
    case .and, .or, .isNull, .match, .search, .relevance, .quantified: false
    }
  }

  /// Whether a part of the expression is about the elements of a vector.
  private var hasElements: Bool {
    var has = false
    forEachElement { _ in has = true }
    return has
  }

  /// Whether a part of the expression is about the elements of another object's vector.
  fileprivate var hasRelatedElements: Bool {
    var has = false
    forEachElement { if $0.relation != nil { has = true } }
    return has
  }

  /// The parts of a comparison of a number of objects with a constant.
  fileprivate var countComparison: (ReferrerCount, ComparisonOperator, Int64)? {
    guard
      case .comparison(let operation, .field(let field), .constant(.integer(let number), _), _) =
        self, let count = field.related as? ReferrerCount
    else { return nil }
    return (count, operation, number)
  }
}
