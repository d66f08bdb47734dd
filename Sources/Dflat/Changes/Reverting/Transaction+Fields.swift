// How a transaction puts fields of stored objects back.

import FlatBuffersRuntime

/// What goes back in a stored object.
struct FieldsToPutBack {
  let schema: EntitySchema
  let old: Row
  let stored: Row
  /// What goes back, by vtable offsets.
  let fields: [Int: FieldReversal]
  /// Knows the names.
  let finder: ReversalFinder

  /// - Returns: nil if the object is as before, as far as the change concerns it.
  init?(_ change: RevertibleChanges.Change, _ stored: Row) {
    guard let old = change.old, let new = change.new else { return nil }
    schema = change.schema
    self.old = old
    self.stored = stored
    var finder = ReversalFinder()
    fields = old.read { old in
      new.read { new in
        stored.read { finder.fields(change.schema.layout, old: old, new: new, stored: $0) }
      }
    }
    self.finder = finder
    if finder.concerned.isEmpty { return nil }
  }

  /// Writes fields with the values that they go back to.
  fileprivate func encode(
    _ fields: [Int: FieldReversal], to builder: FlatBufferBuilder
  ) -> FlatBufferBuilder.Offset {
    schema.layout.write(to: builder) { property in
      guard let reversal = fields[property.offset] else { return .none }
      return old.read { old in
        stored.read { stored in
          builder.encode(
            reversal, old: old.value(of: property), stored: stored.value(of: property))
        }
      }
    }
  }
}

extension Transaction {
  /// Puts some fields of an object back.
  func putBack(_ fields: [Int: FieldReversal], _ plan: FieldsToPutBack) throws {
    if fields.isEmpty { return }
    var change = PendingChange.update(
      ofCurrent: plan.stored, at: version, setting: FieldSet(fields.keys),
      refusal: plan.old.refusal)
    _ = try carryOut(&change, of: plan.schema) { plan.encode(fields, to: $0) }
  }

  /// Puts the fields of objects back that have each other's keys or unique values: all of them
  /// leave the storage under their ids, and come back. Observers do not learn of that. If another
  /// object has a value, this one keeps what it has, and the others are tried again.
  /// - Returns: Whether any went back.
  func exchange(_ plans: [FieldsToPutBack], _ schema: EntitySchema) throws -> Bool {
    var rows = try plans.map { (stored: $0.stored, target: try target(of: $0)) }
    while rows.count > 1 {
      for row in rows {
        try write { writer, _ in try writer.delete(schema, id: row.stored.id) }
      }
      let isBack = try rows.map { try isStored($0.target, schema) }
      if !isBack.contains(false) {
        for row in rows { record(schema, row.stored.id, old: row.stored, new: row.target) }
        return true
      }
      for (row, isBack) in zip(rows, isBack) where isBack {
        try write { writer, _ in try writer.delete(schema, id: row.target.id) }
      }
      for row in rows {
        try write { writer, _ in try writer.insert(schema, keepingIDOf: row.stored) }
      }
      rows = zip(rows, isBack).filter(\.1).map(\.0)
    }
    return false
  }

  /// Stores a row under its id, unless another object has a value of it.
  private func isStored(_ row: Row, _ schema: EntitySchema) throws -> Bool {
    do { try write { writer, _ in try writer.insert(schema, keepingIDOf: row) } } catch let error
      as StorageError where error.cause == .alreadyExists
    {
      return false
    }
    return true
  }

  /// The object as it is to be.
  private func target(of plan: FieldsToPutBack) throws -> Row {
    try write { _, builder in
      try complete(builder, { plan.encode(plan.fields, to: $0) }, plan.schema)
      defer { withExtendedLifetime(plan.stored) {} }
      let overlay = Overlay(
        FieldSet(plan.fields.keys), builder.bytes, over: plan.stored, as: plan.schema.layout)
      return try overlay.row(overlay.changes(), over: plan.stored, of: plan.schema)
    }
  }
}

extension FieldSet {
  fileprivate init(_ offsets: some Sequence<Int>) {
    self = .none
    for offset in offsets { insert(offset) }
  }
}

extension EntitySchema {
  /// The fields of the root table that the primary key and unique values are in: what another
  /// object may have in an object's place.
  var distinguishingFields: Set<Int> {
    var fields = Set(primaryKey.map(\.rootField))
    for index in indexes where index.isUnique {
      fields.formUnion(index.columns.map(\.field.rootField))
    }
    return fields
  }
}
