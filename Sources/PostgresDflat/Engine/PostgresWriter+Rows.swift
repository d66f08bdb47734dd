// How a transaction inserts, replaces and deletes rows; PostgresWriter.swift says what may fail.

import Dflat
import FlatBuffersRuntime

extension PostgresWriter {
  func insert(_ schema: EntitySchema, _ bytes: UnsafeRawBufferPointer) throws -> Int64 {
    try insert(schema, bytes, id: nil)
  }

  func insert(_ schema: EntitySchema, keepingIDOf row: Row) throws {
    let id = try row.withBytes { try insert(schema, $0, id: row.id) }
    greatestKept[ObjectIdentifier(schema)] = max(greatestKept[ObjectIdentifier(schema)] ?? id, id)
  }

  /// - Parameter kept: The row's id; nil for a new one.
  private func insert(
    _ schema: EntitySchema, _ bytes: UnsafeRawBufferPointer, id kept: Int64?
  ) throws -> Int64 {
    try withStorageErrors(table: schema.table, isWriting: true) {
      let table = try prepare(schema)
      let row = Self.reading(bytes)
      if items.find(keyOf: row, schema) != nil {
        throw taken(schema, schema.describeKey(of: row))
      }
      for index in schema.indexes where index.isUnique {
        try refuseDuplicate(index, row, nil, schema)
      }
      try beginChange()
      let parameters = connection.parameters
      let count = 1 + table.valueCount
      parameters.begin(count + (kept == nil ? 0 : 1))
      parameters.set(0, inPlace: bytes)
      setColumns(table, row, from: 1)
      if let kept { parameters.set(count, kept) }
      let rows = try change(kept == nil ? table.insert : table.insertWithID)
      guard rows.count > 0 else {
        // Only SELECT notes that the transaction has seen the other object.
        _ = try owner(ofKeyIn: row, schema)
        throw taken(schema, schema.describeKey(of: row))
      }
      let id = rows.integer(0, 0)
      changes.add(id, to: schema.table)
      try noteUncovered(table, id)
      try noteShortenedKey(of: row, table)
      return id
    }
  }

  func update(
    _ schema: EntitySchema, from old: Row, to new: Row, changing fields: FieldSet
  ) throws {
    _ = try replace(schema, old, by: new, fields, isKnown: true)
  }

  func update(
    _ schema: EntitySchema, ifStored row: Row, changing fields: FieldSet
  ) throws -> Bool {
    let isStored = try replace(schema, row, by: row, fields, isKnown: items.has(row, schema))
    if isStored { items.note(row, schema) }
    return isStored
  }

  /// - Parameter isKnown: Whether the row is known to be stored, with its key. Otherwise no index
  ///   has the fields.
  /// - Returns: Whether it is.
  private func replace(
    _ schema: EntitySchema, _ old: Row, by new: Row, _ fields: FieldSet, isKnown: Bool
  ) throws -> Bool {
    try withStorageErrors(table: schema.table, rowid: old.id, isWriting: true) {
      let table = try prepare(schema)
      let isPlain = fields.isDisjoint(with: table.indexedFields)
      let isStored = try new.withBytes { bytes in
        let row = Self.reading(bytes)
        if !isPlain {
          try old.read { oldRow in
            Result { try refuseTaken(schema, old.id, from: oldRow, to: row) }
          }.get()
        }
        try beginChange()
        let parameters = connection.parameters
        let keyCount = isKnown ? 0 : schema.keyReaders.count
        parameters.begin(2 + (isPlain ? keyCount : table.valueCount))
        parameters.set(0, old.id)
        parameters.set(1, inPlace: bytes)
        let statement: StatementText
        if !isPlain {
          setColumns(table, row, from: 2)
          statement = table.update
        } else if isKnown {
          statement = table.table.updateBytes
        } else {
          parameters.set(keyOf: row, table.table, from: 2)
          statement = table.table.updateBytesIfKeyed
        }
        if isKnown {
          try changeLater(statement, table.table, old.id, mustExist: true, of: new)
        } else if try change(statement).changes == 0 {
          return false
        }
        if !isPlain { try noteShortenedKey(of: row, table) }
        return true
      }
      guard isStored else { return false }
      changes.add(old.id, to: schema.table)
      if !fields.isDisjoint(with: table.uncoveredFields) {
        try noteUncovered(table, old.id)
      }
      return true
    }
  }

  func delete(_ schema: EntitySchema, id: Int64) throws {
    try withStorageErrors(table: schema.table, rowid: id, isWriting: true) {
      let table = try prepare(schema)
      try beginChange()
      connection.parameters.begin(1)
      connection.parameters.set(0, id)
      try changeLater(table.table.delete, table.table, id)
      items.remove([id], schema)
      changes.add(id, to: schema.table)
    }
  }

  func delete(_ schema: EntitySchema, ids: [Int64]) throws {
    try withStorageErrors(table: schema.table, isWriting: true) {
      let table = try prepare(schema)
      try beginChange()
      for start in stride(from: 0, to: ids.count, by: 10_000) {
        connection.parameters.begin(1)
        connection.parameters.set(0, Array(ids[start..<min(ids.count, start + 10_000)]))
        try changeLater(table.table.deleteAll, table.table, nil)
      }
      items.remove(ids, schema)
      for id in ids { changes.add(id, to: schema.table) }
    }
  }
}
