// Changes of many objects in one call.
//
// Objects are found by a condition or by keys. Rows are read in portions and changed one after
// another, by the same path as single requests, but no object is made for them, and rows are kept
// for observers only. What memory depends on: the ids of objects that are deleted, the rows of a
// query with an order or a limit, and for observed types all rows that are changed.
//
// A bulk change is all or nothing: an error ends the transaction, since the rows before it are
// changed already.

import FlatBuffersRuntime

/// What a change of many objects did.
public struct BulkChange: Sendable, Equatable {
  /// The number of objects that were inserted.
  public internal(set) var inserted: Int
  /// The number of objects whose content was changed.
  public internal(set) var updated: Int
  /// The number of objects that were found but already had the new values.
  public internal(set) var unchanged: Int
  /// The number of objects that were deleted.
  public internal(set) var deleted: Int
  /// The number of keys without an object.
  public internal(set) var missing: Int

  /// Creates a result; by default nothing was done.
  public init(
    inserted: Int = 0, updated: Int = 0, unchanged: Int = 0, deleted: Int = 0, missing: Int = 0
  ) {
    self.inserted = inserted
    self.updated = updated
    self.unchanged = unchanged
    self.deleted = deleted
    self.missing = missing
  }

  /// The number of objects that were inserted, updated or deleted.
  public var count: Int { inserted + updated + deleted }
}

extension Transaction {
  /// How many rows are read at a time.
  private static let portion = 1 << 14

  // MARK: Updating

  /// Changes the objects that a query finds.
  func updateAll<Draft: ChangeRequest>(
    _ type: Draft.Type, _ query: Query, _ change: (inout Draft) throws -> Void
  ) throws -> BulkChange {
    try bulk(query.schema) { result in
      let query = try resolved(query)
      var draft = ReusedDraft<Draft>()
      try forEachPortion(of: query) { rows in
        // As long as nothing else is written, for example by `change`, the rows stay current.
        var known = version
        for index in 0..<rows.count {
          var row = rows[index]
          if known != version {
            guard let stored = try written({ try $0.row(of: query.schema, id: row.id) }) else {
              continue
            }
            row = stored
          }
          let pending = PendingChange.update(ofCurrent: row, at: version)
          let written = try update(&draft, pending, row, query.schema, &result, change)
          if written != nil { known.count += 1 }
        }
      }
    }
  }

  /// Changes the objects with some keys, each once.
  /// - Parameters:
  ///   - keys: The keys; nil for those that no object can have.
  ///   - missing: Receives the places of the keys without an object.
  func updateAll<Draft: ChangeRequest>(
    _ type: Draft.Type, _ schema: EntitySchema, keys: KeyList, missing: inout [Int],
    _ change: (inout Draft) throws -> Void
  ) throws -> BulkChange {
    try bulk(schema) { result in
      var draft = ReusedDraft<Draft>()
      var seen = RowIDSet()
      var rows = KeyedRows(keys, of: schema, in: self)
      for place in keys.indices {
        guard let row = try rows.row(at: place) else {
          missing.append(place)
          continue
        }
        if seen.contains(row.id) { continue }
        seen.insert(row.id)
        let pending = PendingChange.update(ofCurrent: row, at: version)
        let written = try update(&draft, pending, row, schema, &result, change)
        if let written, schema.hasSameKey(row, written) { rows.noteWrite() }
      }
    }
  }

  /// Changes one row by a draft that is used for all of them.
  /// - Returns: The row that is stored now, if the draft was submitted, which counts as a write.
  private func update<Draft: ChangeRequest>(
    _ draft: inout ReusedDraft<Draft>, _ pending: PendingChange, _ row: Row, _ schema: EntitySchema,
    _ result: inout BulkChange, _ change: (inout Draft) throws -> Void
  ) throws -> Row? {
    var request = draft.next(pending, base: Draft.Element(_row: row))
    try change(&request)
    draft.note(request)
    guard request._change.isChanged else {
      result.unchanged += 1
      return nil
    }
    let (stored, isChanged) = try update(&request._change, schema) { request._encode(to: $0) }
    if isChanged { result.updated += 1 } else { result.unchanged += 1 }
    return stored
  }

  // MARK: Deleting

  /// Deletes the objects that a query finds.
  func deleteAll(_ query: Query) throws -> BulkChange {
    try bulk(query.schema) { result in
      let query = try resolved(query)
      if !query.schema.referrers.isEmpty {
        result.deleted = try deleteFollowingRules(query)
        return
      }
      var ids = try written { try $0.ids(toDelete: query) }
      result.deleted = ids.count
      let type = changedType(query.schema)
      if type.needsRows {
        // Rows are read together. Those that are not found are damaged.
        var removed = RowIDSet()
        for start in stride(from: 0, to: ids.count, by: Self.portion) {
          let portion = Array(ids[start..<min(start + Self.portion, ids.count)])
          let rows = try written { try $0.rows(.ids(query.schema, portion), mark: .none) }
          for index in 0..<rows.count {
            try remove(rows[index], query.schema)
            removed.insert(rows[index].id)
          }
        }
        ids.removeAll { removed.contains($0) }
      }
      try removeAll(ids, type)
    }
  }

  /// Deletes the objects with some keys.
  /// - Parameters:
  ///   - keys: The keys; nil for those that no object can have.
  ///   - missing: Receives the places of the keys without an object.
  func deleteAll(
    _ schema: EntitySchema, keys: KeyList, missing: inout [Int]
  ) throws -> BulkChange {
    try bulk(schema) { result in
      var seen = RowIDSet()
      var ids: [Int64] = []
      var keysOfIDs: [KeyValues?] = []
      for (place, id) in try written({ try $0.ids(of: schema, with: keys) }).enumerated() {
        guard let id else {
          missing.append(place)
          noteAbsence(of: keys[place], schema)
          continue
        }
        if seen.contains(id) { continue }
        seen.insert(id)
        ids.append(id)
        keysOfIDs.append(keys[place])
      }
      result.deleted = ids.count
      if !schema.referrers.isEmpty {
        return try deleteFollowingRules(zip(ids, keysOfIDs).map { ($0, $1) }, schema)
      }
      try removeAll(ids, changedType(schema))
    }
  }

  /// Deletes stored objects.
  func removeAll(_ ids: [Int64], _ type: ChangedType) throws {
    if !type.needsRows { return try delete(ids, type) }
    for id in ids {
      do {
        guard let row = try written({ try $0.row(of: type.schema, id: id) }) else { continue }
        try remove(row, type.schema)
      } catch let error as StorageError where error.cause == .corruptRow {
        // No observer has seen the object.
        try delete([id], type)
      }
    }
  }

  private func delete(_ ids: [Int64], _ type: ChangedType) throws {
    try write { writer, _ in
      try writer.delete(type.schema, ids: ids)
      type.recordUnobservedDeletions(of: ids)
    }
  }

  // MARK: Inserting

  /// Stores new objects.
  func insertAll(_ schema: EntitySchema, _ rows: [Row]) throws -> BulkChange {
    try bulk(schema) { result in
      let type = changedType(schema)
      if try !insertTogether(rows, type) { for row in rows { try insert(row, type) } }
      result.inserted = rows.count
    }
  }

  /// Stores new objects by one call of the storage.
  /// - Returns: False if they have to be stored one by one; then none is.
  func insertTogether(_ rows: [Row], _ type: ChangedType) throws -> Bool {
    // What only a newer version of the schema knows is encoded anew, row by row.
    guard try takeLease().group.writer is any BulkInsertingStorageWriter,
      rows.allSatisfy({ $0.isCanonical })
    else { return false }
    return try write { writer, _ in
      guard let writer = writer as? any BulkInsertingStorageWriter else { return false }
      for row in rows {
        if let refusal = row.refusal { throw StorageError(refused: refusal, type.schema) }
        try row.withBytes { bytes in
          try type.schema.refuseUnreadable(written: bytes)
          try type.schema.refuseUnstorable(bytes)
        }
      }
      let ids = try writer.insert(type.schema, rows)
      if type.needsRows {
        for (row, id) in zip(rows, ids) {
          let stored = row.withBytes { Row(sound: $0, id: id, mark: unread) }
          type.record(id, old: nil, new: stored, changing: .all)
        }
      }
      return true
    }
  }

  /// Stores the values of a row as a new one.
  func insert(_ row: Row, _ type: ChangedType) throws {
    let schema = type.schema
    try write { writer, _ in
      if let refusal = row.refusal { throw StorageError(refused: refusal, schema) }
      if row.isCanonical {
        try row.withBytes {
          try schema.refuseUnreadable(written: $0)
          try store($0, type, writer)
        }
      } else {
        // What only a newer version of the schema knows is kept.
        try row.withBytes { bytes in
          let overlay = Overlay(.none, bytes, over: row, as: schema.layout)
          try overlay.withBytes(overlay.changes(), of: row, schema) {
            try store($0, type, writer)
          }
        }
      }
    }
  }

  private func store(
    _ bytes: UnsafeRawBufferPointer, _ type: ChangedType, _ writer: any StorageWriter
  ) throws {
    let id = try store(bytes, type.schema, writer)
    if type.needsRows {
      type.record(id, old: nil, new: Row(sound: bytes, id: id, mark: unread), changing: .all)
    }
  }

  // MARK: All or nothing

  /// Runs a bulk change. An error ends the transaction.
  func bulk(
    _ schema: EntitySchema, _ body: (inout BulkChange) throws -> Void
  ) throws -> BulkChange {
    try requireListed(schema, for: "a bulk change")
    require(isOpen, "a bulk change was made after the changes handler had returned")
    if FunctionThread.isInside { throw WorkspaceError.calledByFunction }
    if let failure { throw failure }
    var result = BulkChange()
    do {
      _ = try takeLease()
      try body(&result)
    } catch {
      if !isAborted { fail(error) }
      throw error
    }
    return result
  }

  /// Reads in the open storage transaction.
  func written<R: ~Copyable>(_ body: (any StorageWriter) throws -> R) throws -> R {
    if FunctionThread.isInside { throw WorkspaceError.calledByFunction }
    let group = try takeLease().group
    return try group.use { try body(group.writer) }
  }

  /// The query without relations: what it finds does not depend on what is changed meanwhile.
  private func resolved(_ query: Query) throws -> Query {
    try query.requireAnswerable()
    let related = query.relatedTypes
    if related.isEmpty { return query }
    for type in related { try requireListed(type, for: "a bulk change") }
    return try written { writer in try RelationResolver { _ in writer }.resolve(query) }
  }

  /// Calls `body` with the rows of a query, portion by portion. It may change the rows.
  private func forEachPortion(
    of query: Query, _ body: (borrowing RowBuffer) throws -> Void
  ) throws {
    // A result in an order, or a part of one, is read at once. All others are read by row id, up
    // to the last one that there is now: `body` may insert objects.
    if query.isCut || !query.order.isEmpty {
      return try body(try written { try $0.rows(.query(query), mark: .none) })
    }
    guard let last = try written({ try $0.lastID(of: query.schema) }) else { return }
    var start: RowPosition?
    while start.map({ $0.id < last }) ?? true {
      let portion = Query(
        schema: query.schema, condition: query.condition, limit: Self.portion, start: start)
      var rows = try written { try $0.rows(.query(portion), mark: .none) }
      let isLast = rows.count < Self.portion
      if !isLast || rows.count > 0 { start = RowPosition(values: [], id: rows[rows.count - 1].id) }
      rows.removeLast(while: { $0.id > last })
      try body(rows)
      if isLast { return }
    }
  }
}

extension StorageReader {
  /// The ids of the objects to delete. These include damaged ones, of which nothing is known but
  /// the key, or what an index that decides the whole condition has.
  func ids(toDelete query: Query) throws -> [Int64] {
    guard let key = query.onlyKey else { return try ids(query) }
    return try ids(of: query.schema, with: .values([key])).compactMap(\.self)
  }
}

extension Query {
  /// The primary key, if the whole query is about the object that has it.
  fileprivate var onlyKey: KeyValues? {
    guard !isCut,
      case .comparison(.equal, .field(let field), .constant(let value, _), _)? = condition
    else { return nil }
    return Equality(field, value).key(in: schema)
  }
}
