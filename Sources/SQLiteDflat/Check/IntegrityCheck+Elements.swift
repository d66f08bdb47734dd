// IntegrityCheck+Elements: compares tables of elements with the objects, as far as they are marked.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

extension IntegrityCheck {
  /// Compares a table of elements that exists with the objects.
  mutating func checkElements(of table: ElementTable, _ main: TableSQL) throws {
    guard let last = try IndexExtent.read(of: table, connection)?.verified,
      last != IndexMarks.nothing
    else { return }
    if last == IndexMarks.everything,
      try table.guards.stand(on: connection, isCommitted: true)
    {
      trusted.insert(table.table)
    }
    let name = main.schema.layout.property(at: table.index.offset)?.name ?? table.table
    let rows = try connection.statement(
      "SELECT rowid, p FROM \(main.quoted) WHERE rowid <= ? ORDER BY rowid")
    try rows.bind(1, last)
    while try rows.step(), !isFull {
      guard let row = RowView(root: rows.object(1, of: main.schema)) else { continue }
      let id = rows.int64(0)
      let wanted = StoredElement.all(of: row, table)
      let stored = try elements(of: id, table)
      if !wanted.subtracting(stored).isEmpty {
        add(
          IntegrityFinding(
            .missingIndexRow, table: table.table, rowid: id,
            message: "the index of \(name) lacks an element of the object"))
      } else if !stored.subtracting(wanted).isEmpty {
        add(
          IntegrityFinding(
            .wrongIndexRow, table: table.table, rowid: id,
            message: "the index of \(name) has an element that the object has not"))
      }
    }
    let orphans = try connection.statement(
      "SELECT DISTINCT owner FROM \(table.table.quoted) WHERE owner <= ? "
        + "AND owner NOT IN (SELECT rowid FROM \(main.quoted))")
    try orphans.bind(1, last)
    while try orphans.step(), !isFull {
      add(
        IntegrityFinding(
          .orphanIndexRow, table: table.table, rowid: orphans.int64(0),
          message: "the index of \(name) has a row without an object"))
    }
  }

  /// The elements that the table has for an object.
  private func elements(of id: Int64, _ table: ElementTable) throws -> Set<StoredElement> {
    let statement = try connection.uniqueStatement(
      "SELECT element FROM \(table.table.quoted) WHERE owner = ?")
    try statement.bind(1, id)
    var elements: Set<StoredElement> = []
    while try statement.step() {
      guard let element = StoredElement(statement.columnValue(0, table.index.type)) else {
        continue
      }
      elements.insert(element)
    }
    return elements
  }
}
