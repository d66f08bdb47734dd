// The model: objects in an array, conditions and orders as closures.
//
// A term is two things made together: the expression as a program would write it, and what it means, as a closure over an
// object's properties that gives nil for unknown. The meaning is written from the manual and uses nothing of the product's
// evaluation: integers are computed in 128 bits, strings compared as arrays of bytes, NaN is unknown.

public import Dflat

/// An expression and what it means.
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

/// A sort key and what it means: negative if the first object comes before the second.
public struct ModelOrder<Element: Atom> {
  let key: OrderBy<Element>
  let compare: (Element, Element) -> Int
  let text: String
}

/// A query and what it means.
public struct ModelQuery<Element: Atom> {
  let condition: Term<Bool, Element>?
  let order: [ModelOrder<Element>]
  let limit: Int?

  /// What the query must give of objects that lie in the order of their row ids.
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

  /// What the workspace gives.
  public func fetch(_ workspace: some Queryable) -> FetchedResult<Element> {
    let builder = workspace.fetch(for: Element.self)
    let limit = limit.map { Limit.limit($0) } ?? .noLimit
    let order = order.map(\.key)
    guard let condition else { return builder.all(limit: limit, orderBy: order) }
    return Self.fetch(builder, condition.expression, limit, order)
  }

  private static func fetch<C: QueryExpression<Bool, Element>>(
    _ builder: QueryBuilder<Element>, _ condition: C, _ limit: Limit, _ order: [OrderBy<Element>]
  ) -> FetchedResult<Element> {
    builder.where(condition, limit: limit, orderBy: order)
  }

  /// The query in words.
  public var text: String {
    "where \(condition?.text ?? "-") order \(order.map(\.text)) limit \(limit.map { "\($0)" } ?? "-")"
  }
}

/// What is to be known of a type to compute with it.
struct Kind<Value: DflatFriendlyValue> {
  /// −1, 0 or 1.
  let compare: (Value, Value) -> Int
  let constants: [Value]
  /// By name; nil where there is no result.
  var arithmetic: [(name: String, meaning: (Value, Value) -> Value?)] = []
  var operators: (any Operators<Value>)?

  /// Strings by their bytes, whatever Swift takes for equal.
  static func string(_ constants: [String]) -> Kind<String> {
    Kind<String>(
      compare: { left, right in
        let (l, r) = (Array(left.utf8), Array(right.utf8))
        return l == r ? 0 : l.lexicographicallyPrecedes(r) ? -1 : 1
      }, constants: constants)
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
        ("%", { $1 == 0 ? nil : Value(exactly: Int128($0) % Int128($1)) }),
      ], operators: IntegerOperators<Value>())
  }
}

extension Kind where Value: BinaryFloatingPoint {
  static func real(_ constants: [Value]) -> Kind {
    Kind(
      compare: { $0 < $1 ? -1 : $0 > $1 ? 1 : 0 }, constants: constants,
      arithmetic: [
        ("+", { known($0 + $1) }),
        ("-", { known($0 - $1) }),
      ], operators: RealOperators<Value>())
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
