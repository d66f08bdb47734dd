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

  /// A sentence part with the schema's names.
  func text(in schema: EntitySchema) -> String { node.text(in: schema) }
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

  func callAsFunction(_ column: ColumnValue) -> Value? {
    column.constant(type).flatMap { self($0) }
  }

  func callAsFunction(_ value: Dflat.Value) -> Value? {
    guard let form else { return Value._reading(value) }
    return form._value(value) as? Value
  }
}

extension StoredForm {
  /// The Swift value with an untyped stored value.
  fileprivate static func _value(_ value: Dflat.Value) -> Value? {
    Stored(_value: value).flatMap { self.value($0) }
  }
}

/// Reads the values of an expression from rows.
struct ExpressionReader: Sendable {
  private let program: Program
  private let type: ValueType

  init(_ expression: ValueExpression) {
    program = Program(expression.node)
    type = expression.type
  }

  /// The value for a row; null if it is unknown. Text is in the row's memory.
  @inline(__always)
  func read(_ table: TableReader) -> ColumnValue {
    switch type {
    case .string: program.utf8(program.result, table).map { .text($0) } ?? .null
    case .float, .double: program.real(program.result, table).map { .real($0) } ?? .null
    default: program.integer(program.result, table).map { .integer($0) } ?? .null
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
