// Changing objects by their keys, whether they are stored or not.

import FlatBuffersRuntime

extension Transaction {
  /// Stores rows. Each replaces the stored row with its id, or with its key if it was not fetched,
  /// and is inserted if there is none.
  ///
  /// Rows are mostly all new or all known: one behind a new row is inserted without asking whether
  /// its key is there, which the storage finds out anyway.
  /// - Parameter losesNothing: Whether an object is refused that would lose what only a newer
  ///   schema knows.
  func upsertAll(
    _ schema: EntitySchema, _ rows: [Row], losingNothing losesNothing: Bool = false
  ) throws -> BulkChange {
    try bulk(schema) { result in
      let type = changedType(schema)
      let portion = workspace.engine.capabilities.keysAtOnce
      if portion > 1 {
        for start in stride(from: 0, to: rows.count, by: portion) {
          let some = rows[start..<min(rows.count, start + portion)]
          try upsertTogether(some, type, &result, losingNothing: losesNothing)
        }
      } else {
        try upsertOneByOne(rows[...], type, &result, losingNothing: losesNothing)
      }
    }
  }

  /// Stores rows whose keys are looked up together, and the new ones among them together, too.
  /// Those that were fetched are found by their ids instead, and one by one.
  private func upsertTogether(
    _ rows: ArraySlice<Row>, _ type: ChangedType, _ result: inout BulkChange,
    losingNothing losesNothing: Bool
  ) throws {
    let schema = type.schema
    let keys = rows.compactMap { $0.id < 0 ? schema.keyValues(of: $0) : nil }
    guard keys.count == rows.count else {
      return try upsertOneByOne(rows, type, &result, losingNothing: losesNothing)
    }
    let stored = try written { try $0.rows(of: schema, with: keys) }
    var seen: Set<KeyValues> = []
    var new: [Row] = []
    func insertNew(_ result: inout BulkChange) throws {
      if new.isEmpty { return }
      do {
        if try !insertTogether(new, type) { for row in new { try insert(row, type) } }
      } catch let error as StorageError where error.cause == .alreadyExists {
        // A damaged row was not found, and is what is in the way.
        for row in new { _ = try written { try $0.row(of: schema, keyOf: row) } }
        throw error
      }
      result.inserted += new.count
      new = []
    }
    for (place, row) in rows.enumerated() {
      let isFirst = seen.insert(keys[place]).inserted
      if isFirst, stored[place] == nil {
        new.append(row)
        continue
      }
      // In the order of the rows: one may give up a unique value that the next one takes.
      try insertNew(&result)
      if !isFirst {
        try upsertOneByOne([row], type, &result, losingNothing: losesNothing)
      } else if let stored = stored[place],
        try replace(stored, with: row, schema, losingNothing: losesNothing)
      {
        result.updated += 1
      } else {
        result.unchanged += 1
      }
    }
    try insertNew(&result)
  }

  /// Stores rows, each of which is looked up by itself.
  func upsertOneByOne(
    _ rows: ArraySlice<Row>, _ type: ChangedType, _ result: inout BulkChange,
    losingNothing losesNothing: Bool
  ) throws {
    let schema = type.schema
    // The first one is looked up: an insertion that the storage refuses is no cheaper, and SQLite
    // has counted a row id by then.
    var isNewExpected = false
    for row in rows {
      if row.id < 0, isNewExpected, try insertUnlessKnown(row, type) {
        result.inserted += 1
        continue
      }
      let stored = try stored(row, schema)
      isNewExpected = stored == nil
      guard let stored else {
        try insert(row, type)
        result.inserted += 1
        continue
      }
      if try replace(stored, with: row, schema, losingNothing: losesNothing) {
        result.updated += 1
      } else {
        result.unchanged += 1
      }
    }
  }

  /// Inserts a row that was not fetched, unless there is one with its key.
  /// - Returns: Whether it was inserted.
  private func insertUnlessKnown(_ row: Row, _ type: ChangedType) throws -> Bool {
    guard row.isCanonical else { return false }
    return try write { writer, _ in
      let id = try row.withBytes { bytes -> Int64? in
        try type.schema.refuseUnreadable(written: bytes)
        try type.schema.refuseUnstorable(bytes)
        return try writer.insert(type.schema, unlessKnown: row)
      }
      guard let id else { return false }
      if type.needsRows {
        let stored = row.withBytes { Row(sound: $0, id: id, mark: unread) }
        type.record(id, old: nil, new: stored, changing: .all)
      }
      return true
    }
  }

  /// Replaces a stored row by the values of another one.
  /// - Parameters:
  ///   - losesNothing: Whether the replacement is refused if it would remove what the schema does
  ///     not know.
  ///   - isSetAside: Whether the row is not in the storage now; then it is stored in any case.
  /// - Returns: Whether any value is different.
  func replace(
    _ stored: Row, with row: Row, _ schema: EntitySchema, losingNothing losesNothing: Bool,
    isSetAside: Bool = false
  ) throws -> Bool {
    try write { writer, builder in
      if let refusal = row.refusal { throw StorageError(refused: refusal, schema) }
      func replace(_ values: UnsafeRawBufferPointer) throws -> Bool {
        try schema.refuseEmptyUnion(.all, values)
        if losesNothing { try schema.refuseLoss(of: stored, row, values) }
        return try self.replace(
          stored, .all, values, schema, writer, isSetAside: isSetAside
        ).isChanged
      }
      if row.isCanonical { return try row.withBytes(replace) }
      try complete(builder, { builder in row.read { schema.layout.copy($0, to: builder) } }, schema)
      return try replace(builder.bytes)
    }
  }

  /// Changes the objects with some keys. An object that is not stored is inserted; all of its
  /// fields are at their defaults before `change` is called.
  ///
  /// - Parameters:
  ///   - keys: The keys, each once.
  ///   - change: Sets fields of the draft of the object whose key has the given place. It sets the
  ///     key, too, since a new object has none.
  func upsertAll<Draft: ChangeRequest>(
    _ type: Draft.Type, _ schema: EntitySchema, keys: [KeyValues],
    _ change: (inout Draft, Int) throws -> Void
  ) throws -> BulkChange {
    try bulk(schema) { result in
      let empty = Draft.Element._empty
      var reused = ReusedDraft<Draft>()
      var rows = KeyedRows(.values(keys), of: schema, in: self)
      for place in keys.indices {
        let stored = try rows.row(at: place)
        let draft = reused.next(
          stored.map { .update(ofCurrent: $0, at: version) } ?? .creation(of: empty._row),
          base: empty)
        var request = draft
        try change(&request, place)
        reused.note(request)
        switch try carryOut(&draft._change, of: schema, { draft._encode(to: $0) }) {
        case .inserted: result.inserted += 1
        case .updated: result.updated += 1
        case .identity: result.unchanged += 1
        case .deleted: preconditionFailure("an upsert has deleted an object")
        }
        // The change sets the key that was looked up.
        rows.noteWrite()
      }
    }
  }
}
