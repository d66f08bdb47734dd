// How a transaction carries out change requests and records them for observers.

import FlatBuffersRuntime

extension Transaction {
  func _accepts(_ change: PendingChange, of schema: EntitySchema) -> Bool {
    let mistake: WorkspaceError? =
      if !isOpen {
        .escapedContext
      } else if !lists(schema) {
        .undeclaredType(schema.layout.swiftName)
      } else if change.kind == .spent {
        .spentRequest
      } else {
        nil
      }
    if let mistake { workspace.report(mistake) }
    return mistake == nil
  }

  func _carryOut(
    _ change: inout PendingChange, of schema: EntitySchema,
    _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset
  ) throws -> SubmittedRow {
    try requireListed(schema, for: "submit(_:)")
    require(isOpen, "submit(_:) was called after the changes handler had returned")
    settleLookUp()
    if isAborted {
      change.noteSubmission()
      throw TransactionError.aborted
    }
    do { return try carryOut(&change, of: schema, encode) } catch let error as StorageError {
      // `TransactionError` does not tell which value it is.
      if error.cause == .invalidValue { throw error }
      throw TransactionError(error)
    }
  }

  /// Carries a request out and throws the storage's own errors.
  func carryOut(
    _ change: inout PendingChange, of schema: EntitySchema,
    _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset
  ) throws -> SubmittedRow {
    change.noteSubmission()
    if let failure { throw failure }
    let result: SubmittedRow
    switch change.kind {
    case .spent:
      misuse("submit(_:) was called again with a request that had succeeded")
    case .creation:
      result = .inserted(try insert(&change, schema, encode))
    case .update:
      let (row, isChanged) = try update(&change, schema, encode)
      result = isChanged ? .updated(row) : .identity(row)
    case .deletion:
      let row = isOurs(change) ? change.row : try stored(change.row, schema)
      guard let row else {
        let error = StorageError(missing: change.row, schema)
        fail(error)
        throw error
      }
      try deleteFollowingRules(row, schema)
      result = .deleted(row.id)
    }
    change.kind = .spent
    return result
  }

  private func insert(
    _ change: inout PendingChange, _ schema: EntitySchema,
    _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset
  ) throws -> Row {
    try write { writer, builder in
      if let refusal = change.refusal { throw StorageError(refused: refusal, schema) }
      guard let original = change.base else {
        try complete(builder, encode, schema)
        try schema.refuseUnreadable(written: builder.bytes)
        return try insert(builder.bytes, schema, writer)
      }
      if original.isCanonical, change.fields.isEmpty {
        return try original.withBytes {
          try schema.refuseUnreadable(written: $0)
          return try insert($0, schema, writer)
        }
      }
      try complete(builder, encode, schema)
      defer { withExtendedLifetime(original) {} }
      let overlay = Overlay(change.fields, builder.bytes, over: original, as: schema.layout)
      return try overlay.withBytes(overlay.changes(), of: original, schema) {
        try insert($0, schema, writer)
      }
    }
  }

  private func insert(
    _ bytes: UnsafeRawBufferPointer, _ schema: EntitySchema, _ writer: any StorageWriter
  ) throws -> Row {
    let id = try store(bytes, schema, writer)
    let row = Row(sound: bytes, id: id, mark: unread)
    record(schema, id, old: nil, new: row)
    return row
  }

  /// Stores the bytes of a new object, which are known to be readable, and returns its id.
  func store(
    _ bytes: UnsafeRawBufferPointer, _ schema: EntitySchema, _ writer: any StorageWriter
  ) throws -> Int64 {
    try schema.refuseUnstorable(bytes)
    return try writer.insert(schema, bytes)
  }

  func update(
    _ change: inout PendingChange, _ schema: EntitySchema,
    _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset
  ) throws -> (row: Row, isChanged: Bool) {
    try write { writer, builder in
      if let refusal = change.refusal { throw StorageError(refused: refusal, schema) }
      let stored = try currentRow(of: change, schema, writer)
      try complete(builder, encode, schema)
      try schema.refuseEmptyUnion(change.fields, builder.bytes)
      return try replace(stored, change.fields, builder.bytes, schema, writer)
    }
  }

  /// The stored row of an update: others may have changed it since the request was made.
  private func currentRow(
    of change: borrowing PendingChange, _ schema: EntitySchema, _ writer: any StorageWriter
  ) throws -> Row {
    let known = change.row
    if change.version == version || isCurrent(known, schema) { return known }
    func byID() throws -> Row? { try writer.row(of: schema, id: known.id) }
    let row =
      isOurs(change)
      ? try byID()
      : try workspace.find(known, schema, byID) { try writer.row(of: schema, keyOf: known) }
    guard let row else { throw StorageError(missing: known, schema) }
    return row
  }

  /// Whether a change was made in a transaction of this workspace, and its row id means that row.
  private func isOurs(_ change: borrowing PendingChange) -> Bool {
    let workspace = version.workspace
    return change.version.workspace == workspace
      && SharedStorages.isOne(of: workspace, and: workspace)
  }

  /// Gives a stored row other values in some fields, unless nothing in it changes.
  /// - Parameters:
  ///   - stored: The stored row.
  ///   - fields: The fields that were set.
  ///   - values: A buffer with their values.
  ///   - isSetAside: Whether the row is not in the storage now; then it is stored in any case.
  func replace(
    _ stored: Row, _ fields: FieldSet, _ values: UnsafeRawBufferPointer, _ schema: EntitySchema,
    _ writer: any StorageWriter, isSetAside: Bool = false
  ) throws -> (row: Row, isChanged: Bool) {
    defer { withExtendedLifetime(stored) {} }
    let overlay = Overlay(fields, values, over: stored, as: schema.layout)
    let changes = overlay.changes()
    if !changes.isDifferent {
      if isSetAside { try writer.insert(schema, keepingIDOf: stored) }
      return (stored.marked(unread), false)
    }
    let row = try overlay.row(changes, over: stored, of: schema, mark: unread)
    if !schema.realKeys.isEmpty, !schema.hasSameKey(stored, row) {
      try row.withBytes { try schema.refuseUnknownKey($0) }
    }
    if isSetAside {
      try writer.insert(schema, keepingIDOf: row)
    } else {
      try writer.update(schema, from: stored, to: row, changing: changes.fields)
    }
    record(schema, row.id, old: stored, new: row, changing: changes.fields)
    return (row, true)
  }

  private func delete(_ known: Row, _ schema: EntitySchema) throws {
    try write { writer, _ in
      try writer.delete(schema, id: known.id)
      record(schema, known.id, old: known, new: nil)
    }
  }

  /// Runs one write. A conflict leaves the transaction as it was; any other error ends it.
  @inline(__always)
  func write<R>(
    _ body: (any StorageWriter, FlatBufferBuilder) throws -> R
  ) throws -> R {
    if FunctionThread.isInside { throw WorkspaceError.calledByFunction }
    do {
      // The transaction keeps the group: no references to what it has are counted.
      return try Unmanaged.passUnretained(try takeLease().group)._withUnsafeGuaranteedRef { group in
        try group.slot.useEncoding { builder in
          let result = try body(group.writer, builder)
          version.count += 1
          return result
        }
      }
    } catch let error as StorageError
      where error.isRefusal || error.isUnstorable && refusesUnstorable
    {
      throw error
    } catch {
      fail(error)
      throw error
    }
  }

  /// Deletes an object that is known to be stored, and nothing else.
  func remove(_ row: Row, _ schema: EntitySchema) throws {
    try delete(row, schema)
  }
}
