// RepairRun+Unknown: tables of which nothing is known but the form of their rows.
//
// If sqlite_master is damaged, leaves whose rows fit no known table are sorted by the form of their
// rows. What looks like a table of objects becomes one, `recovered_1`; any other has the columns
// `c0`, `c1`.
//
// Rows of two columns may be of an index of objects, or of a program's own table. Their leaves are
// looked at once the objects are stored: an index has values that its objects have.

import Dflat
import SQLiteAccess
import SQLiteDflat

extension RepairRun {
  /// Adds tables for rows that no known one fits.
  func addUnknownTables() throws {
    if schema.isSound { return }
    var forms: [RowForm: Int] = [:]
    for place in strayLeaves(includingFree: false) {
      var ofPage: [RowForm: Int] = [:]
      withCells(at: place) { cell in
        let form = payloads.with(cell, at: place) { self.form(of: $0) }
        if let form = form ?? nil { ofPage[form, default: 0] += 1 }
      }
      guard
        let (form, count) = ofPage.max(by: { ($0.value, $1.key.count) < ($1.value, $0.key.count) })
      else { continue }
      forms[form, default: 0] += count
    }
    let hasObjects =
      tables.contains { $0.objects != nil && $0.table != StoredType.dictionaryTable }
      || forms.contains { $0.key.keys != nil }
    let order = forms.sorted { ($1.value, $0.key.count) < ($0.value, $1.key.count) }
    for (form, _) in order {
      if hasObjects, form.count == 2, form.keys == nil {
        pairs.append(form)
      } else {
        try addTable(form)
      }
    }
  }

  /// Adds a table for the rows of two columns that are of no index.
  func addTableOfPairs() throws {
    guard let form = pairs.first else { return }
    let places = try strayLeaves(includingFree: false).filter { place in
      var votes = 0
      try withCells(at: place) { cell in
        try payloads.with(cell, at: place) { payload in
          guard self.form(of: payload) == form, let record = StoredRecord(payload.bytes) else {
            return
          }
          votes += try isOfAnother(record, cell.rowID) ? -1 : 1
        }
      }
      return votes > 0
    }
    if places.isEmpty { return }
    try addTable(form)
    for place in places { try readLeaf(place, .stray) }
  }

  /// Whether a row of two columns is of an index of objects, whose first column is the row id, or
  /// of `sqlite_sequence`.
  private func isOfAnother(_ record: StoredRecord, _ id: Int64) throws -> Bool {
    if let name = record[0].text { return tables.contains { $0.table == name } }
    guard record[0].isNull else { return false }
    return try tables.contains { table in
      guard table.objects != nil else { return false }
      let statement = try file.connection.statement(
        "SELECT p FROM \(table.table.quotedForSQL) WHERE rowid = ?")
      try statement.bind(1, id)
      return try statement.step() && statement.blob(0).has(record[1])
    }
  }

  /// The form of a row that fits no known table.
  private func form(of payload: Payload) -> RowForm? {
    guard payload.isComplete, let record = StoredRecord(payload.bytes) else { return nil }
    if record.count == 5, SchemaEntry(record) != nil || Self.schemaRow(payload) != nil {
      return nil
    }
    // A table of plain SQL whose tree is whole lacks none of these rows.
    let isKnown = tables.contains {
      $0.hasForm(record) && ($0.objects != nil || ($0.isWanting && !mayBeObject(record)))
    }
    if isKnown { return nil }
    return RowForm(record)
  }

  private func addTable(_ form: RowForm) throws {
    let name = try unusedName(form)
    let rows: RepairTable.Rows
    if let keys = form.keys {
      try file.connection.execute(StoredTables.mainTableStatement(name, keyTypes: keys))
      rows = .objects(ObjectRows(table: name, keyTypes: keys, entity: nil))
    } else {
      try file.connection.execute(form.plainStatement(name))
      rows = .plain(try PlainRows(table: name, file.connection))
    }
    tables.append(
      RepairTable(
        rows, name: name, table: name, hasSchema: false, root: nil, owner: takeOwner()))
  }

  /// The name of the only table of objects that is missing, or one that no table has.
  private func unusedName(_ form: RowForm) throws -> String {
    if form.keys != nil, missingMains.count == 1,
      try !file.exists("table", missingMains[0])
    {
      return missingMains[0]
    }
    var number = 1
    while try file.exists("table", "recovered_\(number)") { number += 1 }
    return "recovered_\(number)"
  }
}
