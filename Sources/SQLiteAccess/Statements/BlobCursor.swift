// Blob cursors: blobs are replaced by others of the same length, row after row.
//
// This is SQLite's incremental input and output. A prepared UPDATE opens a cursor for each row,
// copies the row's other columns, and closes the cursor: a cursor that stays open does less than
// half of that. Invariants:
//
//  - It changes the bytes of the blob and nothing else: no trigger runs, and no index is changed.
//  - It counts as a statement that is under way. While there is one, SQLite begins and releases no
//    savepoint, does not commit, and drops no table: its owner releases it before that.
//  - After a failure it is of no use any more.

import CSQLite

/// A cursor that replaces the blobs of one column. It is used and released by its connection's
/// user, inside a transaction.
package final class BlobCursor {
  private let handle: OpaquePointer
  private let connection: Connection

  /// - Returns: nil if SQLite gives no such cursor, because there is no such row, for example.
  /// - Throws: ``SQLiteError`` if the file could not be read. SQLite may have rolled back the
  ///   transaction.
  package init?(
    _ connection: Connection, table: String, column: String, row: Int64
  ) throws(SQLiteError) {
    var handle: OpaquePointer?
    let result = sqlite3_blob_open(
      try connection.open(), "main", table, column, row, 1, &handle)
    try Self.requireNoFailure(result, connection)
    guard result == SQLITE_OK, let handle else { return nil }
    self.handle = handle
    self.connection = connection
  }

  deinit { sqlite3_blob_close(handle) }

  /// Replaces the blob of a row if it is as long as the new one.
  /// - Returns: False if it is not, or there is no such row, or a number in it. Nothing was changed
  ///   then.
  /// - Throws: ``SQLiteError`` if the file could not be read or written. When the cursor ends,
  ///   SQLite may roll back the transaction.
  package func replace(
    _ row: Int64, by bytes: UnsafeRawBufferPointer
  ) throws(SQLiteError) -> Bool {
    let found = sqlite3_blob_reopen(handle, row)
    try Self.requireNoFailure(found, connection)
    guard found == SQLITE_OK, Int(sqlite3_blob_bytes(handle)) == bytes.count else { return false }
    let result = sqlite3_blob_write(handle, bytes.baseAddress, Int32(clamping: bytes.count), 0)
    if result == SQLITE_OK { return true }
    throw SQLiteError(
      result: result, database: try connection.open(), path: connection.path)
  }

  /// Throws unless a cursor was opened, or the only reason is that there is no such value, or that
  /// there was none before.
  private static func requireNoFailure(
    _ result: Int32, _ connection: Connection
  ) throws(SQLiteError) {
    if result & 0xFF == SQLITE_OK || result & 0xFF == SQLITE_ERROR || result == SQLITE_ABORT {
      return
    }
    throw SQLiteError(result: result, database: try connection.open(), path: connection.path)
  }
}
