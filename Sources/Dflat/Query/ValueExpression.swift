// ValueExpression: an expression whose values are wanted, and how they are read.
//
// A value comes either from a row's bytes or from a column of a key or index. A column has the
// stored value, whether this version of the schema knows it or not, so enums and union tags are
// looked up in their domain.

import FlatBuffersRuntime

/// An expression and the type of its values.
struct ValueExpression: Sendable {
  let node: Node
  let type: ValueType

  /// The field, if the expression is one that a column may contain.
  var field: FieldDescriptor? {
    guard case .field(let field) = node, field.alternatives.isEmpty else { return nil }
    return field
  }

  /// The value in columns, if the expression is a constant number.
  var constant: ColumnValue? {
    guard case .constant(let value, _) = node else { return nil }
    switch value {
    case .string: return nil
    case .real(let number): return number.isNaN ? .null : .real(number)
    default: return .integer(Int64(bitPattern: value.bits))
    }
  }

  /// A sentence part with the schema's names.
  func text(in schema: EntitySchema) -> String { node.text(in: schema) }

  /// This expression and one of other objects, as a condition compares them: both without the
  /// difference of upper and lower case, if one is. Different units are a programmer error.
  func equated(with other: ValueExpression) -> (ValueExpression, ValueExpression) {
    guard
      case .comparison(_, let own, let others, _) =
        node.compared(.equal, other.node, type, other.type)
    else { return (self, other) }
    return (ValueExpression(node: own, type: type), ValueExpression(node: others, type: other.type))
  }
}

extension QueryExpression {
  /// The expression without its types.
  var expression: ValueExpression {
    let node = _node
    return ValueExpression(node: node, type: node.operandType(Value._valueType))
  }

  /// Converts the values of the expression to its Swift type; nil for unknown ones.
  var decoder: ValueDecoder<Value> { ValueDecoder(_node.form, expression.type) }
}

/// Converts column values to a Swift type.
struct ValueDecoder<Value: QueryValue>: Sendable {
  private let form: (any StoredForm.Type)?
  private let type: ValueType

  init(_ form: (any StoredForm.Type)?, _ type: ValueType) {
    self.form = form
    self.type = type
  }

  /// The type by whose code columns are converted, if it is the value's own.
  var columnType: (any ColumnStored.Type)? {
    form == nil ? Value.self as? any ColumnStored.Type : nil
  }

  func callAsFunction(_ column: ColumnValue) -> Value? {
    column.constant(type).flatMap { self($0) }
  }

  func callAsFunction(_ value: Dflat.Value) -> Value? {
    guard let form else { return Value._reading(value) }
    return form._value(value) as? Value
  }

  /// The same for a value that may be unknown. (A closure for `flatMap` inside a pack expansion
  /// crashes the compiler of Swift 6.3.1.)
  func callAsFunction(ifKnown value: Dflat.Value?) -> Value? { value.flatMap { self($0) } }
}

extension StoredForm {
  /// The Swift value with an untyped stored value.
  fileprivate static func _value(_ value: Dflat.Value) -> Value? {
    Stored(_value: value).flatMap { self.value($0) }
  }
}

/// A number or string of the root table whose stored values are its values, or a constant. Reading
/// it takes no program.
struct RootValue: Sendable {
  /// The field in the table; no table has one for a constant.
  private let offset: Int
  private let type: ValueType
  /// The value of a table without the field, if it is not a text.
  private let absent: AbsentNumber

  private enum AbsentNumber {
    case unknown
    case integer(Int64)
    case real(Double)
  }

  /// nil if the expression is of another kind.
  init?(_ expression: ValueExpression) {
    let value: Value?
    switch expression.node {
    case .constant(let constant, _):
      offset = .max
      value = constant
    case .field(let field):
      guard field.steps.isEmpty, field.alternatives.isEmpty, field.element == nil,
        field.domain == nil
      else { return nil }
      switch field.leaf {
      case .scalar(let place), .string(let place): offset = place
      default: return nil
      }
      value = field.defaultValue
    default: return nil
    }
    type = expression.type
    switch value {
    case nil: absent = .unknown
    case .string?: return nil
    case .real(let number)?: absent = number.isNaN ? .unknown : .real(number)
    case let value?: absent = .integer(Int64(bitPattern: value.bits))
    }
  }

  /// The value for a row; null if it is unknown. Text is valid as long as the row's memory.
  @inline(__always)
  func value(of table: TableReader) -> ColumnValue {
    if type == .string { return table.utf8(at: offset).map { .text($0) } ?? .null }
    let position = table.locate(offset, size: type.size)
    if position > 0 {
      guard type == .float || type == .double else {
        return .integer(table.integer(type, at: position))
      }
      let number = table.real(type, at: position)
      // Indexes do not tell −0 from 0.
      return number.isNaN ? .null : .real(number + 0)
    }
    if position < 0 { return .null }
    return switch absent {
    case .unknown: .null
    case .integer(let number): .integer(number)
    case .real(let number): .real(number)
    }
  }
}

/// Reads the values of several expressions from rows.
struct ExpressionReaders: Sendable {
  private let programs: [Program]
  private let types: [ValueType]
  private let needsScratch: Bool
  private let slotCount: Int
  /// The expressions, if each is a constant or a plain field of the root table; otherwise empty.
  let roots: [RootValue]

  init(_ expressions: [ValueExpression]) {
    let roots = expressions.compactMap(RootValue.init)
    self.roots = roots.count == expressions.count ? roots : []
    programs = expressions.map { Program($0.node) }
    types = expressions.map(\.type)
    needsScratch = programs.contains(where: \.needsScratch)
    slotCount = programs.reduce(0) { max($0, $1.slotCount) }
  }

  /// Calls `body` with the values for a row, null for unknown ones. Text is valid during the call
  /// only.
  @inline(__always)
  func withValues<R>(
    of table: TableReader, in memory: UnsafeMutableBufferPointer<ColumnValue>,
    _ body: (UnsafeBufferPointer<ColumnValue>) throws -> R
  ) rethrows -> R {
    try Program.withScratch(needsScratch, slotCount) { scratch in
      for index in programs.indices {
        memory[index] = programs[index].value(types[index], table, scratch)
      }
      return try body(UnsafeBufferPointer(rebasing: memory[..<programs.count]))
    }
  }

  /// Whether functions are called, which may fail.
  var mayFail: Bool { programs.contains { !$0.calls.isEmpty } }

  /// Whether a function that was called has failed.
  var hasFailure: Bool { programs.contains { !$0.failures.isEmpty } }

  /// Throws the first error of the functions that were called.
  func throwFailure(_ schema: EntitySchema) throws {
    for program in programs { try program.throwFailure(schema) }
  }

  /// Moves the first error of the functions that were called to another place.
  func moveFailure(to failures: FunctionFailures) {
    for program in programs { _ = program.failures.move(to: failures) }
  }

  /// Whether a function has failed since the last call.
  func hasFailed(_ schema: EntitySchema) -> Bool {
    programs.reduce(false) { $1.failures.take(schema) != nil || $0 }
  }

  /// The same with memory of its own, for single rows.
  func withValues<R>(
    of row: Row, _ body: (UnsafeBufferPointer<ColumnValue>) throws -> R
  ) rethrows -> R {
    try withUnsafeTemporaryAllocation(of: ColumnValue.self, capacity: max(1, programs.count)) {
      memory in
      memory.initialize(repeating: .null)
      defer { withExtendedLifetime(row) {} }
      return try withValues(of: row.unretainedTable, in: memory, body)
    }
  }
}

extension Program {
  /// The value of an expression for a row; null if it is unknown.
  @inline(__always)
  fileprivate func value(
    _ type: ValueType, _ table: TableReader, _ scratch: ScratchMemory
  ) -> ColumnValue {
    switch type {
    case .string: utf8(result, table, scratch).map { .text($0) } ?? .null
    case .float, .double: real(result, table, scratch).map { .real($0 + 0) } ?? .null
    default: integer(result, table, scratch).map { .integer($0) } ?? .null
    }
  }
}

extension FieldDescriptor {
  /// What a stored value of this field reads as in this version of the schema.
  func reading(_ stored: ColumnValue) -> ColumnValue {
    guard let domain, case .integer(let raw) = stored, !domain.known.contains(raw) else {
      return stored
    }
    return domain.others.map { .integer($0) } ?? .null
  }
}
