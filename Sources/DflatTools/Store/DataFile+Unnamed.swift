// Rows of a file of which nothing is known but the bytes.

public import Dflat
import SQLiteAccess
import SQLiteDflat

extension DataFile {
  /// The workspace that reads the file.
  public var _workspace: any Workspace { workspace }

  /// Rows of a type of which nothing is known but the bytes, in the order of their ids.
  public func _objectsWithoutSchema(
    of type: StoredType, key: [String]?, after id: Int64?, limit: Int
  ) throws -> [StoredObject] {
    let table = type.table.quotedForSQL
    let columns = (type.keyColumns + ["p"]).joined(separator: ", ")
    var conditions = [id.map { "rowid > \($0)" } ?? "true"]
    if key != nil { conditions += type.keyColumns.map { "CAST(\($0) AS TEXT) = ?" } }
    return try withToolErrors {
      try workspace.inspect { connection in
        try connection.rows(
          "SELECT rowid, \(columns) FROM \(table) WHERE \(conditions.joined(separator: " AND ")) "
            + "ORDER BY rowid LIMIT \(limit)",
          (key ?? []).map { .text($0) }
        ).map { row in
          // As in types that are known, a checksum is no part of the object.
          let bytes = (row.last?.blob ?? []).withUnsafeBytes {
            [UInt8](RowChecksum.content(of: $0, as: nil))
          }
          return StoredObject(
            id: row[0].integer ?? -1, keys: Array(zip(type.keyColumns, row.dropFirst())), bytes)
        }
      }
    }
  }

  /// Tells whether anything was committed to the file.
  public func _commitMarks() -> StoreCommits {
    let marks = CommitMarks(workspace, countsItsOwn: isWritable)
    return StoreCommits(
      mark: { try marks.current().map { AnyHashable($0) } }, close: { marks.close() })
  }
}
