// How a transaction carries out the merge of a draft.

import FlatBuffersRuntime

extension Transaction {
  /// The stored row of the object that a row belongs to: the one with its row id, or else with its
  /// primary key, so that an object that was deleted and stored again is found.
  func lookUp(objectOf row: Row, _ schema: EntitySchema, for call: String) throws -> Row? {
    let found = lookUp(row, schema, for: call)
    if let error = takeLookUpError() { throw error }
    // A transaction that has failed merges nothing.
    if let failure { throw failure }
    if found != nil || row.id < 0 { return found }
    let byKey = lookUp(row.withBytes { Row(sound: $0) }, schema, for: call)
    if let error = takeLookUpError() { throw error }
    return byKey
  }

  /// Gives a stored row the values that other rows have in some fields.
  /// - Parameters:
  ///   - values: The fields, and for each the row that has its new value.
  ///   - stored: The stored row.
  ///   - version: The version of the transaction when it was looked up.
  func set(
    _ values: [(field: Property, row: Row)], of stored: Row, at version: TransactionVersion,
    _ schema: EntitySchema
  ) throws -> Row {
    var fields = FieldSet.none
    for (field, _) in values { fields.insert(field.offset) }
    var change = PendingChange.update(
      ofCurrent: stored, at: version, setting: fields,
      refusal: values.lazy.compactMap(\.row.refusal).first)
    let result = try carryOut(&change, of: schema) { builder in
      schema.layout.write(to: builder) { property in
        guard let value = values.first(where: { $0.field.offset == property.offset }) else {
          return .none
        }
        return value.row.read { builder.encode($0.value(of: property)) }
      }
    }
    return result.row
  }

  /// Stores the row of a draft whose object was deleted.
  func storeAgain(_ row: Row, _ schema: EntitySchema) throws -> Row {
    var change = PendingChange.creation(of: row)
    return try carryOut(&change, of: schema) { schema.layout.write(to: $0) { _ in .none } }.row
  }
}

extension SubmittedRow {
  /// The row as it is stored.
  fileprivate var row: Row {
    switch self {
    case .inserted(let row), .updated(let row), .identity(let row): row
    case .deleted: preconditionFailure("a change removed its object")
    }
  }
}
