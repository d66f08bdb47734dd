// GroupKeys: the keys of groups from the stored values of fields.
//
// A key is a field, or what is looked up by fields, as a value of a related object is. So a storage
// may count rows by these fields alone; each key is then found once for each combination of their
// values, and not for each row.

import FlatBuffersRuntime

struct GroupKeys {
  private enum Key {
    /// The position of a field, which is the key.
    case field(Int)
    /// A look-up, and the positions of the fields that it needs.
    case lookUp(FunctionCall, [Int])
  }

  /// What the storage is asked for.
  private(set) var fields: [FieldDescriptor] = []
  private var keys: [Key] = []
  /// Whether the keys are what is stored.
  private var areStored = true
  private let failures = FunctionFailures()

  /// - Returns: nil if a key is anything else.
  init?(_ expressions: [ValueExpression]) {
    for expression in expressions {
      if let field = expression.field {
        areStored = areStored && field.domain == nil && !fields.contains(field)
        keys.append(.field(add(field)))
      } else if case .call(let call) = expression.node, call.isLookUp {
        areStored = false
        let arguments = call.arguments.map { ValueExpression(node: $0.node, type: $0.type).field }
        let known = arguments.compactMap { $0 }
        if known.count < arguments.count { return nil }
        keys.append(.lookUp(call, known.map { add($0) }))
      } else {
        return nil
      }
    }
  }

  private mutating func add(_ field: FieldDescriptor) -> Int {
    if let known = fields.firstIndex(of: field) { return known }
    fields.append(field)
    return fields.count - 1
  }

  /// Calls `body` with the keys for the stored values of the fields.
  func withValues(
    of stored: UnsafeBufferPointer<ColumnValue>,
    _ body: (UnsafeBufferPointer<ColumnValue>) -> Void
  ) {
    if areStored { return body(stored) }
    let known = fields.indices.map { fields[$0].reading(stored[$0]) }
    withValues(of: known, [], body)
  }

  /// Adds the next key to the first ones. Text is valid inside the call.
  private func withValues(
    of known: [ColumnValue], _ first: [ColumnValue],
    _ body: (UnsafeBufferPointer<ColumnValue>) -> Void
  ) {
    if first.count == keys.count { return first.withUnsafeBufferPointer(body) }
    switch keys[first.count] {
    case .field(let position): withValues(of: known, first + [known[position]], body)
    case .lookUp(let call, let positions):
      let arguments = positions.map { known[$0].constant(fields[$0].type) }
      call.result(arguments, failures).withColumn {
        withValues(of: known, first + [$0], body)
      }
    }
  }
}

extension Value? {
  /// Calls `body` with the value as that of a column.
  fileprivate func withColumn(_ body: (ColumnValue) -> Void) {
    switch self {
    case nil: body(.null)
    case .string(var text)?: text.withUTF8 { body(.text(UnsafeRawBufferPointer($0))) }
    case .real(let number)?: body(.real(number + 0))
    case let value?: body(.integer(Int64(bitPattern: value.bits)))
    }
  }
}
