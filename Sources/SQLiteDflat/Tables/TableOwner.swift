// Whether the main table in the file is that of the type.
//
//  - SQLite compares names without case. The table of another type may have the name but for the
//    case of letters; see TakenName.swift.
//  - The names of entities' tables are in lower case, so that two versions of an entity whose names
//    differ in case have one table. Entities that are no versions of each other would misread and
//    replace each other's objects. The schemas that the file keeps tell them apart.
//
// Such a table is neither read nor written by the type. A reader looks once in each
// file, when the table is there, and the writer whenever it reads its state of the table.

import Dflat
import SQLiteAccess

extension TableSQL {
  /// Refuses a table of another type.
  @inline(__always)
  func requireOwnTable(on connection: Connection) throws {
    if !ownTable.isFile(of: connection) { try lookAtOwner(on: connection) }
  }

  /// The same, also if the table was right before.
  @inline(never)
  func lookAtOwner(on connection: Connection) throws {
    if let other = try TakenName.otherTable(of: self, connection) {
      throw other.error(connection.path)
    }
    guard try connection.tableExists(table) else { return }
    if let error = try otherEntity(on: connection) { throw error }
    ownTable.note(connection)
  }

  /// What is wrong if an entity whose name differs in case has stored objects before this one, and
  /// this one would misread them.
  func otherEntity(on connection: Connection) throws(SQLiteError) -> StorageError? {
    let own = schema.layout.name
    for bytes in try StoredSchemas.schemas(of: table, before: own, connection) {
      guard let kept = try? BinarySchema(bytes: bytes) else { continue }
      let other = kept.root.split(separator: ".").last.map(String.init) ?? ""
      guard other != own, other.isSameTable(as: own),
        let misreading = kept.misreading(by: BinarySchema(schema))
      else { continue }
      return StorageError(
        .other, table: table,
        message:
          "the table has objects of '\(other)', and '\(own)' would misread them: \(misreading); so "
          + "no object of '\(own)' can be read or stored", path: connection.path,
        advice:
          "rename one of the entities, by more than the case of letters, or give it a version: "
          + "(v: \"2\")")
    }
    return nil
  }
}

extension String {
  /// Whether entities with these names have one table: its name has no case, and no underscores.
  fileprivate func isSameTable(as other: String) -> Bool {
    replacing("_", with: "").lowercased() == other.replacing("_", with: "").lowercased()
  }
}
