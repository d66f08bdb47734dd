// Fetching by primary key.
//
// This is the most frequent query, run one by one and in loops. So it has a path of its own without
// plan and view: one statement, at most one row. A single statement sees a single state, so no
// transaction is needed around it.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

extension SQLiteEngine {
  func row(of schema: EntitySchema, with key: KeyValues, mark: ReadMark) throws -> Row? {
    try ifSound(of: schema, with: key) { Row(sound: $1, id: $0, mark: mark) }
  }

  func withRow(
    of schema: EntitySchema, with key: KeyValues,
    _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) -> Void
  ) throws {
    var damage: StorageError?
    _ = try onReader(of: schema) { connection in
      try withSQL(for: schema) { sql in
        try lookUp(key, sql, on: connection) { id, bytes in
          damage = self.damage(of: bytes, id, sql)
          if damage == nil { body(id, bytes) }
        }
      }
    }
    if let damage { throw damage }
  }

  /// Calls `body` with the row that has a key, on a reader of its own. A damaged row is reported
  /// and skipped.
  @inline(__always)
  private func ifSound<R>(
    of schema: EntitySchema, with key: KeyValues,
    _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) -> R
  ) throws -> R? {
    try onReader(of: schema) { try ifSound(of: schema, with: key, on: $0, body) } ?? nil
  }

  /// Calls `body` with a reader, unless the file does not exist yet.
  @inline(__always)
  private func onReader<R>(
    of schema: EntitySchema, _ body: (Connection) throws -> R
  ) throws -> R? {
    do { return try onReader(for: .query, body) } catch let error as SQLiteError {
      if error.isNoSuchFile && !configuration.isReadOnly { return nil }
      throw StorageError(error, table: schema.table)
    }
  }

  /// The row with a key, if there is one.
  func row(
    of schema: EntitySchema, with key: KeyValues, mark: ReadMark, on connection: Connection
  ) throws -> Row? {
    try ifSound(of: schema, with: key, on: connection) { Row(sound: $1, id: $0, mark: mark) }
  }

  /// Calls `body` with the row that has a key, if there is one. A damaged row is reported and
  /// skipped.
  @inline(__always)
  private func ifSound<R>(
    of schema: EntitySchema, with key: KeyValues, on connection: Connection,
    _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) -> R
  ) throws -> R? {
    try withSQL(for: schema) { sql in
      try lookUp(key, sql, on: connection) { id, bytes -> R? in
        if let damage = damage(of: bytes, id, sql) {
          reports.report(damage)
          return nil
        }
        return body(id, bytes)
      } ?? nil
    }
  }

  /// Calls `body` with the bytes that are stored under a key, if there are any.
  @inline(__always)
  private func lookUp<R>(
    _ key: KeyValues, _ sql: TableSQL, on connection: Connection,
    _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) -> R
  ) throws -> R? {
    try sql.requireOwnTable(on: connection)
    try sql.requireComparableKeys(on: connection)
    if case .string(let text) = key.first,
      let found = try text.utf8.withContiguousStorageIfAvailable({ bytes -> R? in
        guard let statement = try connection.uniqueStatement(sql.selectKey, reading: sql.table)
        else { return nil }
        // In place: the statement is reset before the text is freed.
        try statement.bindText(1, inPlace: UnsafeRawBufferPointer(bytes))
        return try onlyRow(of: statement, key, sql, body)
      })
    {
      return found
    }
    guard let statement = try connection.uniqueStatement(sql.selectKey, reading: sql.table) else {
      return nil
    }
    try statement.bind(1, constant: key.first)
    return try onlyRow(of: statement, key, sql, body)
  }

  /// Binds the rest of a key, and reads the row.
  @inline(__always)
  private func onlyRow<R>(
    of statement: borrowing UniqueStatement, _ key: KeyValues, _ sql: TableSQL,
    _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) -> R
  ) throws -> R? {
    for index in key.rest.indices {
      // An empty text, such as the namespace of most items, needs no copy.
      if case .string(let text) = key.rest[index], text.isEmpty {
        try statement.bindText(index + 2, inPlace: UnsafeRawBufferPointer(start: nil, count: 0))
      } else {
        try statement.bind(index + 2, constant: key.rest[index])
      }
    }
    guard try statement.step(of: sql.table) else { return nil }
    return body(statement.int64(0), statement.object(1, of: sql.schema))
  }

  /// What is wrong with the bytes of a row; nil if nothing is.
  @inline(__always)
  private func damage(
    of bytes: UnsafeRawBufferPointer, _ id: Int64, _ sql: TableSQL
  ) -> StorageError? {
    do { try sql.schema.layout.verify(bytes) } catch {
      return StorageError(.corruptRow, table: sql.table, rowid: id, message: error.storedReason)
    }
    return nil
  }
}
