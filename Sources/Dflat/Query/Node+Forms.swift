// Operands whose Swift type is not that of what is stored.
//
// A condition compares what is stored: constants become what a field of their type would hold. It keeps true:
//
//  - the type of an operator is that of the stored values, whatever Swift calls them;
//  - a constant that no field can hold has its place beside all stored values: `count < 5_000_000_000` is true of every known
//    `int`, and `==` false. So an operator has no constant that its type cannot hold;
//  - fields that count in different units are never compared with each other.

extension Node {
  /// The form of a field's values, or of a computation in `uint64`, whose values only it can tell; nil for all others.
  @usableFromInline
  var form: (any StoredForm.Type)? {
    switch self {
    case .field(let field): field.form
    case .arithmetic(_, let left, let right, .uint64): left.form ?? right.form
    default: nil
    }
  }

  /// The type in which a value of this node is compared.
  private func operandType(_ type: ValueType) -> ValueType {
    switch self {
    case .field(let field) where field.form != nil: field.type
    case .constant(_, .uint64), .arithmetic(_, _, _, .uint64): .uint64
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
  func compared<V: QueryValue>(_ operation: ComparisonOperator, to value: V) -> Node {
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
    switch (form._misfit(value), operation) {
    case (.unordered, _):
      // As a comparison with NaN: unknown.
      let unknown = Node.constant(.real(.nan), .double)
      return .comparison(operation, unknown, unknown, .double)
    case (_, .equal): isTrue = false
    case (_, .notEqual): isTrue = true
    case (.tooGreat, .less), (.tooGreat, .lessOrEqual): isTrue = true
    case (.tooGreat, .greater), (.tooGreat, .greaterOrEqual): isTrue = false
    case (.tooSmall, .less), (.tooSmall, .lessOrEqual): isTrue = false
    case (.tooSmall, .greater), (.tooSmall, .greaterOrEqual): isTrue = true
    }
    // Of every value that is known.
    return .comparison(isTrue ? .equal : .notEqual, self, self, type)
  }

  @inlinable
  func membership<S: Sequence>(_ values: S, negated: Bool) -> Node where S.Element: QueryValue {
    guard let form else {
      return .membership(
        self, values.map(\._value), S.Element._valueType, negated: negated)
    }
    return membership(values, negated: negated, form)
  }

  @usableFromInline
  func membership<S: Sequence>(
    _ values: S, negated: Bool, _ form: any StoredForm.Type
  ) -> Node where S.Element: QueryValue {
    .membership(
      self, values.compactMap { form._constant($0) }, operandType(S.Element._valueType),
      negated: negated)
  }

  /// A constant as an operand of arithmetic beside this node.
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
    // What the type cannot hold has no result: the remainder of a division by zero is unknown.
    let zero = Node.constant(.unsigned(0), .uint64)
    return .arithmetic(.remainder, zero, zero, .uint64)
  }

  // MARK: With each other

  @inlinable
  func compared(_ operation: ComparisonOperator, _ other: Node, _ type: ValueType) -> Node {
    guard form != nil || other.form != nil else {
      return .comparison(operation, self, other, type)
    }
    return .comparison(operation, self, other, commonType(other, type))
  }

  @inlinable
  func combined(_ operation: ArithmeticOperator, _ other: Node, _ type: ValueType) -> Node {
    guard form != nil || other.form != nil else {
      return .arithmetic(operation, self, other, type)
    }
    return .arithmetic(operation, self, other, commonArithmeticType(other, type))
  }

  /// The type in which two nodes are compared.
  @usableFromInline
  func commonType(_ other: Node, _ type: ValueType) -> ValueType {
    let (left, right) = (operandType(type), other.operandType(type))
    let isOneUnit = form.map { form in other.form.map { form._isLike($0) } ?? true } ?? true
    guard isOneUnit, left == right || (left.isNarrowInteger && right.isNarrowInteger) else {
      misuse(
        "\(self) and \(other) are compared, whose stored values count differently: as \(left) and \(right). "
          + "Store both in one type and unit")
    }
    // All but `uint64` are evaluated as 64-bit integers.
    return left == right ? left : .int64
  }

  /// The type of a computation; that of `Int` is the widest that all fields but those of `ulong` fit into.
  @usableFromInline
  func commonArithmeticType(_ other: Node, _ type: ValueType) -> ValueType {
    func isWide(_ node: Node) -> Bool { node.operandType(type) == .uint64 }
    guard isWide(self) || isWide(other) else { return type }
    guard isWide(self), isWide(other) else {
      misuse("\(self) and \(other) are combined, of which only one is a ulong")
    }
    return .uint64
  }
}

extension ValueType {
  /// Whether it is an integer whose values all fit an `Int64`.
  fileprivate var isNarrowInteger: Bool {
    switch self {
    case .int8, .uint8, .int16, .uint16, .int32, .uint32, .int64: true
    case .bool, .uint64, .float, .double, .string: false
    }
  }
}

extension Field {
  /// What a field like this one holds for values; nil for those that it cannot hold.
  func stored<C: Collection<Value>>(_ values: C) -> [Dflat.Value?] {
    values.map { descriptor.stored($0) }
  }
}

extension FieldDescriptor {
  /// What the field holds for a value of its Swift type; nil if it cannot hold it, so that no stored value is equal.
  public func stored<V: QueryValue>(_ value: V) -> Value? {
    guard let form else { return value._value }
    return form._constant(value)
  }
}

extension StoredForm {
  /// A value as it is stored; nil if it does not fit.
  fileprivate static func _constant<V: QueryValue>(_ value: V) -> Dflat.Value? {
    (value as? Value).flatMap { stored($0) }?._value
  }

  fileprivate static func _misfit<V: QueryValue>(_ value: V) -> Misfit {
    (value as? Value).map { misfit($0) } ?? .unordered
  }

  static func _isForm<V: QueryValue>(of type: V.Type) -> Bool { Value.self == V.self }

  /// Whether equal values are stored as equal numbers: fields of `Int` are of one form, whatever their width.
  fileprivate static func _isLike(_ other: any StoredForm.Type) -> Bool {
    self == other || (Value.self == Int.self && other._isForm(of: Int.self))
  }
}
