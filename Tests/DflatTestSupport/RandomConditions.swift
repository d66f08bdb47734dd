// Random conditions and orders over a table of fields.

public import Dflat

/// Generates random queries for an entity type.
public struct RandomQueries<Element: Atom> {
  private var comparisons: [(inout SeededGenerator) -> Term<Bool, Element>] = []
  private var orders: [(inout SeededGenerator) -> ModelOrder<Element>] = []
  private var booleans: [Term<Bool, Element>] = []

  init() {}

  /// Fields of one type. They appear in comparisons, arithmetic, membership and orders.
  mutating func add<Value: DflatFriendlyValue>(
    _ kind: Kind<Value>, _ fields: [(Field<Value, Element>, String, (Element) -> Value?)]
  ) {
    add(kind, fields.map { Term<Value, Element>($0.0, $0.1, $0.2) })
    for (field, name, meaning) in fields {
      orders.append { random in order(kind, field, name, meaning, &random) }
    }
  }

  /// Expressions of one type. They appear in comparisons, arithmetic, membership and orders.
  mutating func add<Value: DflatFriendlyValue>(
    _ kind: Kind<Value>, _ terms: [Term<Value, Element>]
  ) {
    for _ in 0..<(terms.count + 1) / 2 {
      comparisons.append { random in comparison(kind, terms, &random) }
    }
    orders.append { random in
      let term = random.pick(terms)
      return order(kind, computed(kind, term, terms, &random) ?? term, random.oneIn(2))
    }
  }

  /// Complete conditions, some of which a generator makes.
  mutating func add(_ make: @escaping (inout SeededGenerator) -> Term<Bool, Element>) {
    for _ in 0..<8 { comparisons.append(make) }
  }

  /// Tests of texts.
  mutating func addTests(_ terms: [Term<String, Element>]) {
    for _ in 0..<terms.count {
      comparisons.append { random in textTest(random.pick(terms), &random) }
    }
  }

  /// Complete conditions.
  mutating func add(_ conditions: [Term<Bool, Element>]) { booleans += conditions }

  /// A query; about a third of them have no condition, no order or no limit.
  public func query(_ random: inout SeededGenerator) -> ModelQuery<Element> {
    let depth = random.pick([0, 1, 1, 2, 2, 3, 4])
    let count = random.pick([0, 0, 0, 1, 1, 1, 1, 2, 3])
    return ModelQuery(
      condition: random.oneIn(10) ? nil : condition(depth, &random),
      order: (0..<count).map { _ in random.pick(orders)(&random) },
      limit: random.oneIn(2) ? nil : random.pick([0, 0, 1, 1, 2, 3, 5, 10, 1000]))
  }

  /// A condition with at most this many levels.
  public func condition(
    _ depth: Int, _ random: inout SeededGenerator
  ) -> Term<Bool, Element> {
    if depth <= 0 {
      return random.oneIn(5) ? random.pick(booleans) : random.pick(comparisons)(&random)
    }
    let left = condition(depth - 1, &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return negation(left)
    case 1: return isNull(left, random.oneIn(2))
    case 2:
      let values = [false, true].filter { _ in random.oneIn(2) }
      return membership(.bool, left, values, random.oneIn(2))
    case 3:
      return compare(
        .bool, left, condition(depth - 1, &random), random.pick(ComparisonName.allCases))
    case 4:
      return compareWithConstant(
        .bool, left, random.oneIn(2), random.pick(ComparisonName.allCases), swapped: random.oneIn(2)
      )
    case 5:
      let value = random.oneIn(2)
      return withConstant(left, value, isAnd: random.oneIn(2), swapped: random.oneIn(2))
    case 6...8: return and(left, condition(depth - 1, &random))
    default: return or(left, condition(depth - 1, &random))
    }
  }
}

// MARK: Orders

private func order<Value: DflatFriendlyValue, Element: Atom>(
  _ kind: Kind<Value>, _ term: Term<Value, Element>, _ isDescending: Bool
) -> ModelOrder<Element> {
  func key(_ expression: some QueryExpression<Value, Element>) -> OrderBy<Element> {
    isDescending ? expression.descending : expression.ascending
  }
  return ModelOrder(
    key: key(term.expression),
    compare: { left, right in
      let (l, r) = (term.meaning(left), term.meaning(right))
      guard let l, let r else {
        let order = (l == nil ? 0 : 1) - (r == nil ? 0 : 1)
        return isDescending ? -order : order
      }
      return isDescending ? -kind.compare(l, r) : kind.compare(l, r)
    },
    text: "\(term.text) \(isDescending ? "descending" : "ascending")")
}

private func order<Value: DflatFriendlyValue, Element: Atom>(
  _ kind: Kind<Value>, _ field: Field<Value, Element>, _ name: String,
  _ meaning: @escaping (Element) -> Value?, _ random: inout SeededGenerator
) -> ModelOrder<Element> {
  func compare(_ left: Value?, _ right: Value?) -> Int {
    guard let left, let right else { return (left == nil ? 0 : 1) - (right == nil ? 0 : 1) }
    return kind.compare(left, right)
  }
  if random.oneIn(4) {
    let list = (0..<5).map { _ in random.pick(kind.constants) }
    let isFirst = random.oneIn(2)
    func position(_ object: Element) -> Int {
      guard let value = meaning(object) else { return -2 }
      let places = list.indices.filter { kind.compare(list[$0], value) == 0 && !isNaN(list[$0]) }
      return (isFirst ? places.first : places.last) ?? -1
    }
    return ModelOrder(
      key: isFirst ? list.firstIndex(of: field) : list.lastIndex(of: field),
      compare: { position($0) - position($1) },
      text: "\(isFirst ? "first" : "last")(\(name) in \(list))")
  }
  let isDescending = random.oneIn(2)
  return ModelOrder(
    key: isDescending ? field.descending : field.ascending,
    compare: { left, right in
      let order = compare(meaning(left), meaning(right))
      return isDescending ? -order : order
    },
    text: "\(name) \(isDescending ? "descending" : "ascending")")
}

// MARK: Leaves

enum ComparisonName: String, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="

  func holds(_ order: Int) -> Bool {
    switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }
}

private func comparison<Value: DflatFriendlyValue, Element: Atom>(
  _ kind: Kind<Value>, _ terms: [Term<Value, Element>], _ random: inout SeededGenerator
) -> Term<Bool, Element> {
  var term = random.pick(terms)
  if !kind.arithmetic.isEmpty, random.oneIn(4), let computed = computed(kind, term, terms, &random)
  {
    term = computed
  }
  if let unary = kind.unary, random.oneIn(8) {
    term = unary.apply(term, isNegation: random.oneIn(2))
  }
  switch Int.random(in: 0..<11, using: &random) {
  case 10: return between(kind, term, random.pick(kind.constants), random.pick(kind.constants))
  case 0: return isNull(term, random.oneIn(2))
  case 1, 2:
    let values = (0..<random.pick([0, 1, 2, 4])).map { _ in random.pick(kind.constants) }
    return membership(kind, term, values, random.oneIn(2))
  case 3:
    return compare(kind, term, random.pick(terms), random.pick(ComparisonName.allCases))
  default:
    return compareWithConstant(
      kind, term, random.pick(kind.constants), random.pick(ComparisonName.allCases),
      swapped: random.oneIn(3))
  }
}

func isNaN<Value>(_ value: Value) -> Bool {
  (value as? Double)?.isNaN ?? (value as? Float)?.isNaN ?? false
}

func compareWithConstant<Value: DflatFriendlyValue, Element: Atom>(
  _ kind: Kind<Value>, _ term: Term<Value, Element>, _ constant: Value, _ name: ComparisonName,
  swapped: Bool
) -> Term<Bool, Element> {
  let text =
    swapped
    ? "(\(constant) \(name.rawValue) \(term.text))" : "(\(term.text) \(name.rawValue) \(constant))"
  let expression = real(term.expression, constant, name, swapped)
  return Term(
    expression, text,
    { object in
      guard let value = term.meaning(object), !isNaN(constant) else { return nil }
      return name.holds(swapped ? kind.compare(constant, value) : kind.compare(value, constant))
    })

  func real<L: QueryExpression<Value, Element>>(
    _ left: L, _ right: Value, _ name: ComparisonName, _ swapped: Bool
  ) -> Condition<Element> {
    switch (name, swapped) {
    case (.equal, false): left == right
    case (.notEqual, false): left != right
    case (.less, false): left < right
    case (.lessOrEqual, false): left <= right
    case (.greater, false): left > right
    case (.greaterOrEqual, false): left >= right
    case (.equal, true): right == left
    case (.notEqual, true): right != left
    case (.less, true): right < left
    case (.lessOrEqual, true): right <= left
    case (.greater, true): right > left
    case (.greaterOrEqual, true): right >= left
    }
  }
}

private func compare<Value: DflatFriendlyValue, Element: Atom>(
  _ kind: Kind<Value>, _ left: Term<Value, Element>, _ right: Term<Value, Element>,
  _ name: ComparisonName
) -> Term<Bool, Element> {
  return Term(
    real(left.expression, right.expression), "(\(left.text) \(name.rawValue) \(right.text))",
    { object in
      guard let l = left.meaning(object), let r = right.meaning(object) else { return nil }
      return name.holds(kind.compare(l, r))
    })

  func real<L: QueryExpression<Value, Element>, R: QueryExpression<Value, Element>>(
    _ left: L, _ right: R
  ) -> Condition<Element> {
    switch name {
    case .equal: left == right
    case .notEqual: left != right
    case .less: left < right
    case .lessOrEqual: left <= right
    case .greater: left > right
    case .greaterOrEqual: left >= right
    }
  }
}

func membership<Value: DflatFriendlyValue, Element: Atom>(
  _ kind: Kind<Value>, _ term: Term<Value, Element>, _ values: [Value], _ negated: Bool
) -> Term<Bool, Element> {
  func real(_ expression: some QueryExpression<Value, Element>) -> Condition<Element> {
    negated ? expression.notIn(values) : expression.in(values)
  }
  return Term(
    real(term.expression), "\(term.text).\(negated ? "notIn" : "in")(\(values))",
    { object in
      guard let value = term.meaning(object) else { return nil }
      if values.contains(where: { !isNaN($0) && kind.compare($0, value) == 0 }) { return !negated }
      return values.contains(where: isNaN) ? nil : negated
    })
}

private func between<Value: DflatFriendlyValue, Element: Atom>(
  _ kind: Kind<Value>, _ term: Term<Value, Element>, _ low: Value, _ high: Value
) -> Term<Bool, Element> {
  func real(_ expression: some QueryExpression<Value, Element>) -> Condition<Element> {
    expression.between(low, high)
  }
  return Term(
    real(term.expression), "\(term.text).between(\(low), \(high))",
    { object in
      guard let value = term.meaning(object) else { return nil }
      return all(
        isNaN(low) ? nil : kind.compare(low, value) <= 0,
        isNaN(high) ? nil : kind.compare(value, high) <= 0)
    })
}

func isNull<Value: DflatFriendlyValue, Element: Atom>(
  _ term: Term<Value, Element>, _ negated: Bool
) -> Term<Bool, Element> {
  func real(_ expression: some QueryExpression<Value, Element>) -> Condition<Element> {
    negated ? expression.isNotNull : expression.isNull
  }
  return Term(
    real(term.expression), "\(term.text).\(negated ? "isNotNull" : "isNull")",
    { (term.meaning($0) == nil) != negated })
}

// MARK: Logic

private func negation<Element: Atom>(_ term: Term<Bool, Element>) -> Term<Bool, Element> {
  func real(_ expression: some QueryExpression<Bool, Element>) -> Condition<Element> {
    !expression
  }
  return Term(real(term.expression), "!\(term.text)", { term.meaning($0).map { !$0 } })
}

func and<Element: Atom>(
  _ left: Term<Bool, Element>, _ right: Term<Bool, Element>
) -> Term<Bool, Element> {
  func real(
    _ l: some QueryExpression<Bool, Element>, _ r: some QueryExpression<Bool, Element>
  ) -> Condition<Element> { l && r }
  return Term(
    real(left.expression, right.expression), "(\(left.text) && \(right.text))",
    { all(left.meaning($0), right.meaning($0)) })
}

private func or<Element: Atom>(
  _ left: Term<Bool, Element>, _ right: Term<Bool, Element>
) -> Term<Bool, Element> {
  func real(
    _ l: some QueryExpression<Bool, Element>, _ r: some QueryExpression<Bool, Element>
  ) -> Condition<Element> { l || r }
  return Term(
    real(left.expression, right.expression), "(\(left.text) || \(right.text))",
    { any(left.meaning($0), right.meaning($0)) })
}

private func withConstant<Element: Atom>(
  _ term: Term<Bool, Element>, _ value: Bool, isAnd: Bool, swapped: Bool
) -> Term<Bool, Element> {
  func real(_ e: some QueryExpression<Bool, Element>) -> Condition<Element> {
    switch (isAnd, swapped) {
    case (true, false): e && value
    case (true, true): value && e
    case (false, false): e || value
    case (false, true): value || e
    }
  }
  return Term(
    real(term.expression), "(\(term.text) \(isAnd ? "&&" : "||") \(value))",
    { isAnd ? all(term.meaning($0), value) : any(term.meaning($0), value) })
}

private func all(_ left: Bool?, _ right: Bool?) -> Bool? {
  if left == false || right == false { return false }
  return left == nil || right == nil ? nil : true
}

private func any(_ left: Bool?, _ right: Bool?) -> Bool? {
  if left == true || right == true { return true }
  return left == nil || right == nil ? nil : false
}

// MARK: Arithmetic

private func computed<Value: DflatFriendlyValue, Element: Atom>(
  _ kind: Kind<Value>, _ term: Term<Value, Element>, _ terms: [Term<Value, Element>],
  _ random: inout SeededGenerator
) -> Term<Value, Element>? {
  if kind.arithmetic.isEmpty { return nil }
  let (name, meaning) = random.pick(kind.arithmetic)
  if random.oneIn(2) {
    let constant = random.pick(kind.constants)
    let swapped = random.oneIn(2)
    guard let real = kind.operators?.apply(name, term.expression, constant, swapped) else {
      return nil
    }
    return Term(
      real, swapped ? "(\(constant) \(name) \(term.text))" : "(\(term.text) \(name) \(constant))",
      { object in
        guard let value = term.meaning(object), !isNaN(constant) else { return nil }
        return swapped ? meaning(constant, value) : meaning(value, constant)
      })
  }
  let other = random.pick(terms)
  guard let real = kind.operators?.apply(name, term.expression, other.expression) else {
    return nil
  }
  return Term(
    real, "(\(term.text) \(name) \(other.text))",
    { object in
      guard let l = term.meaning(object), let r = other.meaning(object) else { return nil }
      return meaning(l, r)
    })
}
