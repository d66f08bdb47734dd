// Aggregate: what is computed over many objects, with its Swift type.

/// A number type whose sums conditions and queries compute.
///
/// All integers that schemas have, `Int`, `Float` and `Double` conform. Programs do not add
/// conformances.
public protocol QueryNumber: DflatFriendlyValue {
  /// The type of sums: 64 bits wide.
  associatedtype Sum: QueryValue = Int64
}

extension Int: QueryNumber {
  /// Sums of this type.
  public typealias Sum = Int
}
extension Int8: QueryNumber {}
extension UInt8: QueryNumber {}
extension Int16: QueryNumber {}
extension UInt16: QueryNumber {}
extension Int32: QueryNumber {}
extension UInt32: QueryNumber {}
extension Int64: QueryNumber {}
extension UInt64: QueryNumber {
  /// Sums of this type.
  public typealias Sum = UInt64
}
extension Float: QueryNumber {
  /// Sums of this type.
  public typealias Sum = Double
}
extension Double: QueryNumber {
  /// Sums of this type.
  public typealias Sum = Double
}

/// Something that is computed over many objects: `.count`, `.sum(Post.likes)`.
public struct Aggregate<Output, Element: Atom>: Sendable {
  let part: AggregatePart
  let output: @Sendable (AggregateResult) -> Output

  private init(
    _ kind: AggregateKind, _ expression: ValueExpression,
    _ output: @escaping @Sendable (AggregateResult) -> Output
  ) {
    part = AggregatePart(kind: kind, expression: expression)
    self.output = output
  }

  /// The outputs of several aggregates.
  static func outputs<each Other>(
    _ aggregates: repeat Aggregate<each Other, Element>, from results: [AggregateResult]
  ) -> (repeat each Other) {
    var index = -1
    func next() -> AggregateResult {
      index += 1
      return results[index]
    }
    return (repeat (each aggregates).output(next()))
  }

  private static func value<V: QueryValue>(
    _ kind: AggregateKind, _ expression: ValueExpression, _ decoder: ValueDecoder<V>
  ) -> Aggregate<V?, Element> {
    Aggregate<V?, Element>(kind, expression) {
      if case .value(let value?) = $0 { decoder(value) } else { nil }
    }
  }
}

extension Aggregate where Output == Int {
  /// The number of objects.
  public static var count: Self {
    let expression = ValueExpression(node: .constant(.bool(true), .bool), type: .bool)
    return counting(.count, expression)
  }

  /// The number of objects for which an expression is known.
  public static func count<E: QueryExpression>(of expression: E) -> Self
  where E.Element == Element { counting(.countKnown, expression.expression) }

  private static func counting(_ kind: AggregateKind, _ expression: ValueExpression) -> Self {
    Aggregate(kind, expression) { if case .count(let count) = $0 { count } else { 0 } }
  }
}

extension Aggregate {
  /// The sum of the known values, 0 if there are none; nil if it does not fit, or is NaN, as that
  /// of both infinities is.
  public static func sum<E: QueryExpression>(_ expression: E) -> Self
  where E.Element == Element, E.Value: QueryNumber, Output == E.Value.Sum? {
    value(.sum, expression.expression, ValueDecoder<E.Value.Sum>(nil, .int64))
  }

  /// The average of the known values; nil if there are none, or if it is NaN.
  public static func average<E: QueryExpression>(_ expression: E) -> Self
  where E.Element == Element, E.Value: QueryNumber, Output == Double? {
    value(.average, expression.expression, ValueDecoder<Double>(nil, .double))
  }

  /// The least of the known values; nil if there are none.
  public static func min<E: QueryExpression>(_ expression: E) -> Self
  where E.Element == Element, E.Value: DflatFriendlyValue, Output == E.Value? {
    value(.minimum, expression.expression, expression.decoder)
  }

  /// The greatest of the known values; nil if there are none.
  public static func max<E: QueryExpression>(_ expression: E) -> Self
  where E.Element == Element, E.Value: DflatFriendlyValue, Output == E.Value? {
    value(.maximum, expression.expression, expression.decoder)
  }
}
