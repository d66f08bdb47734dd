// Operands whose Swift type differs from the stored type.
//
// Conditions compare stored values: a constant is converted to the value that a field of its type
// would store. Invariants:
//
//  - The type of an operator is that of the stored values, whatever their Swift type is.
//  - A constant that no field can store is ordered relative to all stored values: `count <
//    5_000_000_000` is true for every known `int`, and `==` is false. So an operator never has a
//    constant that does not fit its type.
//  - Fields with different units are never compared with each other.

extension Node {
  /// The form of a field, or of the fields in a `uint64` computation, which converts the constants
  /// that the node is compared with; nil for all other nodes.
  @usableFromInline
  var form: (any StoredForm.Type)? {
    switch self {
    case .field(let field): field.form
    case .arithmetic(_, let left, let right, .uint64): left.form ?? right.form
    case .unary(_, let operand, .uint64): operand.form
    case .folded: FoldedForm.self
    default: nil
    }
  }

  /// The type in which the value of this node is compared.
  func operandType(_ type: ValueType) -> ValueType {
    switch self {
    case .field(let field) where field.form != nil: field.type
    case .constant(_, .uint64), .arithmetic(_, _, _, .uint64), .unary(_, _, .uint64): .uint64
    default: type
    }
  }

  @inlinable
  func isNull(_ type: ValueType, negated: Bool) -> Node {
    guard form != nil else { return .isNull(self, type, negated: negated) }
    return formedIsNull(type, negated: negated)
  }

  @usableFromInline
  func formedIsNull(_ type: ValueType, negated: Bool) -> Node {
    .isNull(self, operandType(type), negated: negated)
  }

  // MARK: With constants

  @inlinable
  package func compared<V: QueryValue>(_ operation: ComparisonOperator, to value: V) -> Node {
    guard let form else {
      return .comparison(operation, self, .constant(value._value, V._valueType), V._valueType)
    }
    return compared(operation, to: value, form)
  }

  @usableFromInline
  func compared<V: QueryValue>(
    _ operation: ComparisonOperator, to value: V, _ form: any StoredForm.Type
  ) -> Node {
    let type = operandType(V._valueType)
    if let stored = form._constant(value) {
      return .comparison(operation, self, .constant(stored, type), type)
    }
    let isTrue: Bool
    switch (form._conversionFailure(value), operation) {
    case (.unordered, _):
      // Like a comparison with NaN: unknown.
      let unknown = Node.constant(.real(.nan), .double)
      return .comparison(operation, unknown, unknown, .double)
    case (_, .equal): isTrue = false
    case (_, .notEqual): isTrue = true
    case (.tooGreat, .less), (.tooGreat, .lessOrEqual): isTrue = true
    case (.tooGreat, .greater), (.tooGreat, .greaterOrEqual): isTrue = false
    case (.tooSmall, .less), (.tooSmall, .lessOrEqual): isTrue = false
    case (.tooSmall, .greater), (.tooSmall, .greaterOrEqual): isTrue = true
    }
    // The same result for every known value.
    return .comparison(isTrue ? .equal : .notEqual, self, self, type)
  }

  @inlinable
  package func membership<S: Sequence>(_ values: S, negated: Bool) -> Node
  where S.Element: QueryValue {
    guard let form else {
      return .membership(
        self, values.map { $0._value }, S.Element._valueType, negated: negated)
    }
    return membership(values, negated: negated, form)
  }

  @usableFromInline
  func membership<S: Sequence>(
    _ values: S, negated: Bool, _ form: any StoredForm.Type
  ) -> Node where S.Element: QueryValue {
    let stored = values.compactMap { value in
      // A value without a place in the order is unknown, as NaN is. What does not fit equals none.
      form._constant(value) ?? (form._conversionFailure(value) == .unordered ? .real(.nan) : nil)
    }
    return .membership(self, stored, operandType(S.Element._valueType), negated: negated)
  }

  /// A constant as an operand of arithmetic with this node.
  @inlinable
  func constant<V: QueryValue>(_ value: V) -> Node {
    guard let form else { return .constant(value._value, V._valueType) }
    return constant(value, form)
  }

  @usableFromInline
  func constant<V: QueryValue>(_ value: V, _ form: any StoredForm.Type) -> Node {
    guard operandType(V._valueType) == .uint64 else {
      return .constant(value._value, V._valueType)
    }
    if let stored = form._constant(value) { return .constant(stored, .uint64) }
    // Arithmetic with a constant that does not fit is unknown, like this remainder of a division by
    // zero.
    let zero = Node.constant(.unsigned(0), .uint64)
    return .arithmetic(.remainder, zero, zero, .uint64)
  }

  // MARK: With each other

  @inlinable
  package func compared(
    _ operation: ComparisonOperator, _ other: Node, _ type: ValueType, _ otherType: ValueType
  ) -> Node {
    guard form != nil || other.form != nil || type != otherType else {
      return .comparison(operation, self, other, type)
    }
    return comparedByValue(operation, other, type, otherType)
  }

  /// Compares nodes whose stored values may differ in type or case.
  @usableFromInline
  func comparedByValue(
    _ operation: ComparisonOperator, _ other: Node, _ type: ValueType, _ otherType: ValueType
  ) -> Node {
    if isFolded || other.isFolded {
      return .comparison(operation, foldedOnce, other.foldedOnce, .string)
    }
    let (left, right) = (operandType(type), other.operandType(otherType))
    let isOneUnit = form.map { form in other.form.map { form._isLike($0) } ?? true } ?? true
    switch (left, right) {
    case _ where !isOneUnit: break
    case _ where left == right: return .comparison(operation, self, other, left)
    // All types except `uint64` are evaluated as 64-bit integers.
    case _ where left.isNarrowInteger && right.isNarrowInteger:
      return .comparison(operation, self, other, .int64)
    case (_, .uint64) where left.isNarrowInteger:
      return .mixedComparison(operation, signed: self, unsigned: other)
    case (.uint64, _) where right.isNarrowInteger:
      return .mixedComparison(operation.mirrored, signed: other, unsigned: self)
    default: break
    }
    misuse(
      "\(self) and \(other) cannot be compared: their stored values differ in type or unit (\(left), \(right)). "
        + "Store both in one type and unit")
  }

  private var isFolded: Bool {
    if case .folded = self { true } else { false }
  }

  /// The text without the difference of upper and lower case.
  package var foldedOnce: Node { isFolded ? self : .folded(self) }

  func combined(_ operation: UnaryOperator, _ type: ValueType) -> Node {
    .unary(operation, self, operandType(type) == .uint64 ? .uint64 : type)
  }

  @inlinable
  func combined(_ operation: ArithmeticOperator, _ other: Node, _ type: ValueType) -> Node {
    guard form != nil || other.form != nil else {
      return .arithmetic(operation, self, other, type)
    }
    return .arithmetic(operation, self, other, commonArithmeticType(other, type))
  }

  /// The type of a computation. `Int` computations are 64-bit signed, which all fields fit except
  /// those of type `ulong`.
  @usableFromInline
  func commonArithmeticType(_ other: Node, _ type: ValueType) -> ValueType {
    func isWide(_ node: Node) -> Bool { node.operandType(type) == .uint64 }
    guard isWide(self) || isWide(other) else { return type }
    guard isWide(self), isWide(other) else {
      misuse(
        "\(self) and \(other) cannot be combined: one is a ulong and the other is not; give both fields the same type"
      )
    }
    return .uint64
  }
}

extension ValueType {
  /// Whether this is an integer type whose values all fit an `Int64`.
  fileprivate var isNarrowInteger: Bool {
    switch self {
    case .int8, .uint8, .int16, .uint16, .int32, .uint32, .int64: true
    case .bool, .uint64, .float, .double, .string: false
    }
  }
}

extension Field {
  /// The values that this field stores for `values`; nil for those that it cannot store.
  func stored<C: Collection<Value>>(_ values: C) -> [Dflat.Value?] {
    values.map { descriptor.stored($0) }
  }
}

extension FieldDescriptor {
  /// The value that the field stores for a value of its Swift type; nil if it cannot store it, so
  /// that no stored value is equal.
  @inlinable
  package func stored<V: QueryValue>(_ value: V) -> Value? {
    form == nil ? value._value : storedInForm(value)
  }

  @usableFromInline
  func storedInForm<V: QueryValue>(_ value: V) -> Value? { form?._constant(value) }
}

extension StoredForm {
  /// The stored form of a value; nil if it does not fit.
  fileprivate static func _constant<V: QueryValue>(_ value: V) -> Dflat.Value? {
    (value as? Value).flatMap { stored($0) }?._value
  }

  fileprivate static func _conversionFailure<V: QueryValue>(_ value: V) -> ConversionFailure {
    (value as? Value).map { conversionFailure($0) } ?? .unordered
  }

  static func _isForm<V: QueryValue>(of type: V.Type) -> Bool { Value.self == V.self }

  /// Whether equal values are stored as equal numbers: all fields of type `Int` are alike, whatever
  /// their width.
  fileprivate static func _isLike(_ other: any StoredForm.Type) -> Bool {
    self == other || (Value.self == Int.self && other._isForm(of: Int.self))
  }
}
