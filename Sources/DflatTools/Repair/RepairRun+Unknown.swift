// RepairRun+Unknown: tables of which nothing is known but the form of their rows.
//
// If sqlite_master is damaged, leaves whose rows fit no known table are sorted by the form of their
// rows. What looks like a table of objects becomes one, `recovered_1`; any other has the columns
// `c0`, `c1`. Two columns of which the first is NULL are an index of objects, and left out.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

extension RepairRun {
  /// The form of rows.
  private struct Form: Hashable {
    let count: Int
    /// The types of the key's columns, if the rows look like objects.
    let keys: [String]?
  }

  /// Adds tables for rows that no known one fits.
  func addUnknownTables() throws {
    if schema.isSound { return }
    var forms: [Form: Int] = [:]
    for place in strayLeaves(includingFree: false) {
      var ofPage: [Form: Int] = [:]
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
      if hasObjects, form.count == 2, form.keys == nil { continue }
      try addTable(form)
    }
  }

  /// The form of a row that fits no known table.
  private func form(of payload: Payload) -> Form? {
    guard payload.isComplete, let record = StoredRecord(payload.bytes) else { return nil }
    if record.count == 5, SchemaEntry(record) != nil { return nil }
    if tables.contains(where: { $0.hasForm(record) }) { return nil }
    let last = record.count - 1
    guard last >= 2, record[0].isNull, let bytes = record[last].blob,
      TableReader(root: bytes) != nil
    else { return Form(count: record.count, keys: nil) }
    let keys = (1..<last).map { index in
      switch record[index] {
      case .text: "TEXT"
      case .real: "REAL"
      default: "INTEGER"
      }
    }
    return Form(count: record.count, keys: keys)
  }

  private func addTable(_ form: Form) throws {
    var number = 1
    while try file.exists("table", "recovered_\(number)") { number += 1 }
    let name = "recovered_\(number)"
    let rows: RepairTable.Rows
    if let keys = form.keys {
      let columns = keys.enumerated().map { "__pk\($0) \($1)" }.joined(separator: ", ")
      let list = keys.indices.map { "__pk\($0)" }.joined(separator: ", ")
      try file.connection.execute(
        "CREATE TABLE \(name) (rowid INTEGER PRIMARY KEY AUTOINCREMENT, \(columns), p BLOB, "
          + "UNIQUE(\(list)))")
      rows = .objects(ObjectRows(table: name, keyTypes: keys, entity: nil))
    } else {
      let columns = (0..<form.count).map { ", c\($0)" }.joined()
      try file.connection.execute("CREATE TABLE \(name) (\(columns.dropFirst(2)))")
      rows = .plain(try PlainRows(table: name, file.connection))
    }
    tables.append(
      RepairTable(
        rows, name: name, table: name, hasSchema: false, root: nil, owner: takeOwner()))
  }
}
