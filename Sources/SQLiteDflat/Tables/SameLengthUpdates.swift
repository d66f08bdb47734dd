// Updates that keep the length of a row: numbers, enums and fixed structs change their bytes only.
//
// If a transaction makes several of them one after the other, a cursor stays in the table, and the
// bytes are replaced where they are; see `BlobCursor`. Invariants:
//
//  - The changed fields are in no key, index or full-text table, and no other program's triggers
//    run: nothing but the row changes.
//  - `end` is called before anything else is written, and before savepoints and the commit. So the
//    cursor is open only between such updates of one type.

import Dflat
import SQLiteAccess

final class SameLengthUpdates {
  /// How many are made by statements before the cursor is opened, which costs about as much as one.
  private static let fewest = 4

  // Only the writer uses it, on one thread: exclusivity checks would find nothing.

  @exclusivity(unchecked) private var cursor: BlobCursor?
  /// The table of the last one.
  @exclusivity(unchecked) private var table: WriterTable?
  /// How many there were in this table.
  @exclusivity(unchecked) private var count = 0

  /// Replaces the bytes of a row of the same length.
  /// - Returns: False if a statement has to do it.
  func replace(
    _ id: Int64, by bytes: UnsafeRawBufferPointer, in table: WriterTable, _ connection: Connection
  ) throws -> Bool {
    if self.table !== table {
      end()
      self.table = table
    }
    count += 1
    if count <= Self.fewest { return false }
    do {
      if cursor == nil {
        cursor = try BlobCursor(connection, table: table.schema.table, column: "p", row: id)
      }
      if try cursor?.replace(id, by: bytes) == true { return true }
    } catch {
      // After some errors SQLite rolls back the transaction, at the latest when the cursor ends. No
      // statement may follow, since it would be a transaction of its own.
      end()
      throw error
    }
    // The statement finds out what is wrong with the row.
    end()
    return false
  }

  /// Ends what is under way. Called before everything else that is written.
  @inline(__always)
  func end() { if table != nil { release() } }

  @inline(never)
  private func release() {
    cursor = nil
    table = nil
    count = 0
  }
}
