// Functions: Swift closures in conditions, orders and SQL.
//
// A function is called row by row while a query runs. Its arguments are expressions, whose values
// may be unknown, or constants. Invariants:
//
//  - An unknown argument is nil for a parameter of an optional type. For any other parameter the
//    result is unknown, and the function is not called.
//  - A result of nil or NaN is unknown.
//  - An error ends the query, which then has no result.

/// A type of the parameters and results of a ``Function``: `Bool`, integers, `Float`, `Double`,
/// `String`, and their optionals.
public protocol FunctionValue: Sendable {
  /// The type without `Optional`.
  associatedtype _Known: QueryValue
  /// The value from its untyped form; for optional types, nil from nil. nil if there is none.
  static func _value(_ value: Value?) -> Self?
  /// The untyped form; nil for nil.
  var _untyped: Value? { get }
}

extension FunctionValue where Self: QueryValue {
  /// The type itself.
  public typealias _Known = Self
  /// The untyped form.
  public var _untyped: Value? { _value }
  /// The value from its untyped form.
  public static func _value(_ value: Value?) -> Self? { value.flatMap { _reading($0) } }
}

extension Optional: FunctionValue
where Wrapped: FunctionValue & QueryValue, Wrapped._Known == Wrapped {
  /// The type without `Optional`.
  public typealias _Known = Wrapped
  /// The value from its untyped form; nil from nil.
  public static func _value(_ value: Value?) -> Self? {
    guard let value else { return .some(nil) }
    return Wrapped._value(value).map { .some($0) }
  }
  /// The untyped form; nil for nil.
  public var _untyped: Value? { flatMap { $0._untyped } }
}

extension Bool: FunctionValue {}
extension Int8: FunctionValue {}
extension UInt8: FunctionValue {}
extension Int16: FunctionValue {}
extension UInt16: FunctionValue {}
extension Int32: FunctionValue {}
extension UInt32: FunctionValue {}
extension Int64: FunctionValue {}
extension UInt64: FunctionValue {}
extension Float: FunctionValue {}
extension Double: FunctionValue {}
extension String: FunctionValue {}
extension Int: FunctionValue {}

/// A Swift closure that conditions and orders can call.
///
///     let conformsTo = Function("conformsTo") { (uti: String, parent: String) in
///       UTType(uti)?.conforms(to: UTType(parent)!) ?? false
///     }
///     let images = dflat.fetch(for: Item.self).where(conformsTo(Item.uti, "public.image"))
///
/// Arguments are expressions or constants. For a parameter of an optional type an unknown argument
/// is nil; if any other parameter's argument is unknown, so is the result, without a call. A result
/// of nil or NaN is unknown.
///
/// A function runs once or more for each row that the rest of the plan leaves, in no particular
/// order, possibly on several threads at once. It must not use a workspace: reads and transactions
/// inside it are refused with ``WorkspaceError/calledByFunction``; a dictionary reads nothing and
/// changes nothing there, and the error hook gets that error. If the function throws, the query
/// ends with a ``FunctionError``. In a live result, the error is reported to the error hook; a row
/// whose condition fails counts as not matching, and a value that fails is unknown.
///
/// Results that depend on a function which is not deterministic are not maintained change by
/// change: each transaction that changes an object of the type makes a live result be read again.
public struct Function<Result: FunctionValue, First: FunctionValue, each Rest: FunctionValue>:
  Sendable
{
  /// The name in explanations, errors and SQL.
  public let name: String
  /// Whether the same arguments always give the same result.
  public let isDeterministic: Bool
  private let body: @Sendable (First, repeat each Rest) throws -> Result

  /// Creates a function.
  /// - Parameters:
  ///   - name: The name in explanations, errors and SQL.
  ///   - isDeterministic: Whether the same arguments always give the same result.
  ///   - body: Called on any thread, also on several at the same time.
  public init(
    _ name: String, isDeterministic: Bool = true,
    _ body: @escaping @Sendable (First, repeat each Rest) throws -> Result
  ) {
    self.name = name
    self.isDeterministic = isDeterministic
    self.body = body
  }

  // The other forms are disfavoured: calls with a single argument have two of them.

  /// The result for an expression and values.
  public func callAsFunction<E: QueryExpression>(
    _ first: E, _ rest: repeat (each Rest)
  ) -> Computed<Result._Known, E.Element> where E.Value == First._Known {
    var arguments = [FunctionArgument(first._node, E.Value._valueType)]
    for value in repeat each rest { arguments.append(FunctionArgument(value)) }
    return Computed(call(arguments))
  }

  /// The result for an expression, and expressions of the same type of object or values.
  @_disfavoredOverload
  public func callAsFunction<E: QueryExpression, each Operand: FunctionOperand>(
    _ first: E, _ rest: repeat each Operand
  ) -> Computed<Result._Known, E.Element>
  where E.Value == First._Known, repeat (each Operand)._Value == (each Rest)._Known {
    var arguments = [FunctionArgument(first._node, E.Value._valueType)]
    for operand in repeat each rest { arguments.append(operand._argument(E.Element.self)) }
    return Computed(call(arguments))
  }

  /// The result for a value, and expressions or values.
  @_disfavoredOverload
  public func callAsFunction<Element: Atom, each Operand: FunctionOperand>(
    _ first: First, _ rest: repeat each Operand
  ) -> Computed<Result._Known, Element>
  where repeat (each Operand)._Value == (each Rest)._Known {
    var arguments = [FunctionArgument(first)]
    for operand in repeat each rest { arguments.append(operand._argument(Element.self)) }
    return Computed(call(arguments))
  }

  private func call(_ arguments: [FunctionArgument]) -> Node {
    .call(
      FunctionCall(
        name: name, isDeterministic: isDeterministic, arguments: arguments,
        type: Result._Known._valueType
      ) { try untyped($0) })
  }

  /// Calls the function, for engines.
  /// - Parameter arguments: The untyped arguments; nil for unknown ones.
  /// - Returns: The untyped result; nil if it is unknown.
  package func untyped(_ arguments: [Value?]) throws -> Value? {
    var position = 0
    var isKnown = true
    func next<T: FunctionValue>(_ type: T.Type) -> T? {
      defer { position += 1 }
      let value = position < arguments.count ? T._value(arguments[position]) : nil
      if value == nil { isKnown = false }
      return value
    }
    let first = next(First.self)
    let rest = (repeat next((each Rest).self))
    guard isKnown, let first else { return nil }
    FunctionThread.enter()
    defer { FunctionThread.leave() }
    let result = try body(first, repeat (each rest).unsafelyUnwrapped)
    return result._untyped.flatMap { $0.isNaN ? nil : $0 }
  }

  /// The number of parameters.
  package var parameterCount: Int {
    var count = 1
    for _ in repeat (each Rest).self { count += 1 }
    return count
  }

  /// How values of the parameters are represented, in their order.
  package var parameterTypes: [ValueType] {
    var types = [First._Known._valueType]
    for type in repeat (each Rest).self { types.append(type._Known._valueType) }
    return types
  }
}

/// An expression or a value, as an argument of a ``Function``.
public protocol FunctionOperand: Sendable {
  /// The type of the value.
  associatedtype _Value: QueryValue
  /// The argument for a condition on objects of a type.
  func _argument<Element: Atom>(_ type: Element.Type) -> FunctionArgument
}

extension FunctionOperand where Self: QueryExpression {
  /// The argument for a condition on objects of a type, which must be that of the expression.
  public func _argument<E: Atom>(_ type: E.Type) -> FunctionArgument {
    guard E.self == Element.self else {
      misuse(
        "a function's arguments are about \(E._schema.table) and \(Element._schema.table): "
          + "use fields of one type of objects")
    }
    return FunctionArgument(_node, Value._valueType)
  }
}

extension FunctionOperand where Self: FunctionValue & QueryValue {
  /// The type itself.
  public typealias _Value = Self
  /// The value as an argument.
  public func _argument<E: Atom>(_ type: E.Type) -> FunctionArgument { FunctionArgument(self) }
}

extension Field: FunctionOperand {
  /// The type of the value.
  public typealias _Value = Value
}
extension Computed: FunctionOperand {
  /// The type of the value.
  public typealias _Value = Value
}
extension Int: FunctionOperand {}
extension Bool: FunctionOperand {}
extension Int8: FunctionOperand {}
extension UInt8: FunctionOperand {}
extension Int16: FunctionOperand {}
extension UInt16: FunctionOperand {}
extension Int32: FunctionOperand {}
extension UInt32: FunctionOperand {}
extension Int64: FunctionOperand {}
extension UInt64: FunctionOperand {}
extension Float: FunctionOperand {}
extension Double: FunctionOperand {}
extension String: FunctionOperand {}
