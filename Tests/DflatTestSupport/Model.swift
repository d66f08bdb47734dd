// The model: objects in an array, conditions and orders as closures.
//
// A term has two parts that are created together: the expression as a program would write it, and
// its meaning as a closure over an object's properties that returns nil for unknown. The meaning
// follows the manual and uses no evaluation code of the product: integers are computed in 128 bits,
// strings are compared as arrays of bytes, NaN is unknown.

public import Dflat

/// An expression and its meaning.
public struct Term<Value: DflatFriendlyValue, Element: Atom> {
  let expression: any QueryExpression<Value, Element>
  let meaning: (Element) -> Value?
  let text: String

  init(
    _ expression: any QueryExpression<Value, Element>, _ text: String,
    _ meaning: @escaping (Element) -> Value?
  ) {
    self.expression = expression
    self.text = text
    self.meaning = meaning
  }
}

/// A sort key and its meaning: negative if the first object comes before the second.
public struct ModelOrder<Element: Atom> {
  let key: OrderBy<Element>
  let compare: (Element, Element) -> Int
  let text: String
}

/// A query and its meaning.
public struct ModelQuery<Element: Atom> {
  let condition: Term<Bool, Element>?
  let order: [ModelOrder<Element>]
  /// The largest number of objects.
  public let limit: Int?

  /// The query in the text form of tools; nil if it has no such form: functions of Swift, and
  /// positions in collections.
  public func text(of schema: EntitySchema, named name: String) -> String? {
    var text = name
    if let node = condition?.expression._node {
      if node.callsFunctions { return nil }
      text += " where \(node.text(in: schema))"
    }
    if order.contains(where: { !$0.key.isByStoredValue || $0.key.term.node.callsFunctions }) {
      return nil
    }
    let keys = order.map { order in
      order.key.term.node.text(in: schema) + (order.key.sortingOrder == .descending ? " desc" : "")
    }
    if !keys.isEmpty { text += " order by " + keys.joined(separator: ", ") }
    return limit.map { "\(text) limit \($0)" } ?? text
  }

  /// The expected result for objects in the order of their row ids.
  public func answer(_ objects: [Element]) -> [Element] {
    var matching = objects.filter { condition?.meaning($0) ?? (condition == nil) }
    if !order.isEmpty {
      matching.sort { left, right in
        for key in order {
          let order = key.compare(left, right)
          if order != 0 { return order < 0 }
        }
        return left._rowid < right._rowid
      }
    }
    return limit.map { Array(matching.prefix(max(0, $0))) } ?? matching
  }

  /// The result of the workspace.
  public func fetch(_ workspace: some Queryable) -> FetchedResult<Element> {
    let builder = workspace.fetch(for: Element.self)
    let limit = limit.map { Limit.limit($0) } ?? .noLimit
    let order = order.map(\.key)
    guard let condition else { return builder.all(limit: limit, orderBy: order) }
    return Self.fetch(builder, condition.expression, limit, order)
  }

  /// The query over the objects of a workspace or context.
  public func query(_ all: ObjectQuery<Element>) -> ObjectQuery<Element> {
    func narrowed<C: QueryExpression<Bool, Element>>(_ condition: C) -> ObjectQuery<Element> {
      all.where(condition)
    }
    var query = condition.map { narrowed($0.expression) } ?? all
    if !order.isEmpty { query = query.orderBy(order.map(\.key)) }
    return limit.map { query.limit($0) } ?? query
  }

  private static func fetch<C: QueryExpression<Bool, Element>>(
    _ builder: QueryBuilder<Element>, _ condition: C, _ limit: Limit, _ order: [OrderBy<Element>]
  ) -> FetchedResult<Element> {
    builder.where(condition, limit: limit, orderBy: order)
  }

  /// The query as text.
  public var text: String {
    "where \(condition?.text ?? "-") order \(order.map(\.text)) limit \(limit.map { "\($0)" } ?? "-")"
  }
}

/// What the model needs to know about a type.
struct Kind<Value: DflatFriendlyValue> {
  /// −1, 0 or 1.
  let compare: (Value, Value) -> Int
  let constants: [Value]
  /// Operators by name; they return nil if there is no result.
  var arithmetic: [(name: String, meaning: (Value, Value) -> Value?)] = []
  var operators: (any Operators<Value>)?
  /// `-` and `abs`, if the type has them.
  var unary: (any UnaryOperators<Value>)?

  /// Strings compare by their bytes, not by Swift's canonical equivalence.
  static func string(_ constants: [String]) -> Kind<String> {
    Kind<String>(
      compare: { left, right in
        let (l, r) = (Array(left.utf8), Array(right.utf8))
        return l == r ? 0 : l.lexicographicallyPrecedes(r) ? -1 : 1
      }, constants: constants)
  }

  /// Strings without the difference of upper and lower case.
  static func folded(_ constants: [String]) -> Kind<String> {
    let strings = string(constants)
    return Kind<String>(
      compare: { strings.compare(fold($0), fold($1)) }, constants: constants)
  }

  static var bool: Kind<Bool> {
    Kind<Bool>(compare: { ($0 ? 1 : 0) - ($1 ? 1 : 0) }, constants: [false, true])
  }
}

extension Kind where Value: FixedWidthInteger {
  static func integer(_ constants: [Value]) -> Kind {
    Kind(
      compare: { $0 < $1 ? -1 : $0 > $1 ? 1 : 0 }, constants: constants,
      arithmetic: [
        ("+", { Value(exactly: Int128($0) + Int128($1)) }),
        ("-", { Value(exactly: Int128($0) - Int128($1)) }),
        ("*", { product(Int128($0), Int128($1)).flatMap { Value(exactly: $0) } }),
        ("/", { $1 == 0 ? nil : Value(exactly: Int128($0) / Int128($1)) }),
        ("%", { $1 == 0 ? nil : Value(exactly: Int128($0) % Int128($1)) }),
      ], operators: IntegerOperators<Value>())
  }
}

private func product(_ left: Int128, _ right: Int128) -> Int128? {
  let (value, overflow) = left.multipliedReportingOverflow(by: right)
  return overflow ? nil : value
}

extension Kind where Value: FixedWidthInteger & SignedInteger {
  static func signed(_ constants: [Value]) -> Kind {
    var kind = integer(constants)
    kind.unary = SignedOperators<Value>()
    return kind
  }
}

extension Kind where Value: BinaryFloatingPoint {
  static func real(_ constants: [Value]) -> Kind {
    Kind(
      compare: { $0 < $1 ? -1 : $0 > $1 ? 1 : 0 }, constants: constants,
      arithmetic: [
        ("+", { known($0 + $1) }),
        ("-", { known($0 - $1) }),
        ("*", { known($0 * $1) }),
        ("/", { $1 == 0 ? nil : known($0 / $1) }),
      ], operators: RealOperators<Value>(), unary: SignedOperators<Value>())
  }

  /// NaN is unknown.
  static func known(_ value: Value?) -> Value? { value.flatMap { $0.isNaN ? nil : $0 } }
}

extension Kind where Value: RawRepresentable, Value.RawValue: FixedWidthInteger {
  static func enumeration(_ constants: [Value]) -> Kind {
    Kind(
      compare: { $0.rawValue < $1.rawValue ? -1 : $0.rawValue > $1.rawValue ? 1 : 0 },
      constants: constants)
  }
}
