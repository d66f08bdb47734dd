// RepairRun+Pending: rows that are good or not by what the whole file is like: values of zeros, and
// objects in tables of plain SQL.

import SQLiteAccess

extension RepairRun {
  /// Stores the rows that are good because nothing around them is damaged.
  func acceptPending() throws {
    let isSound =
      schema.isSound && otherTreesAreSound && report.damage.isEmpty
      && source.unreadableSectors == 0
      && tables.allSatisfy { $0.isSound && !$0.isWanting && ($0.objects == nil || $0.keys.isSound) }
    for table in tables {
      let pending = table.pending
      table.pending = []
      for row in pending {
        let isGood =
          switch row.kind {
          case .damaged, .conflict: false
          case .zeros: isSound
          case .object: table.isSound && !table.foreignPages.contains(row.place)
          }
        if isGood, try accept(row, table) { continue }
        if table.foreignPages.contains(row.place), try isElsewhere(row) { continue }
        table.pending.append(row)
      }
    }
  }

  private func accept(_ row: RepairTable.Pending, _ table: RepairTable) throws -> Bool {
    let isStored = try payloads.with(row.cell, at: row.place) { payload in
      guard let record = StoredRecord(payload.bytes) else { return false }
      return try table.insert(record, row: row.cell.rowID, file.connection)
    }
    guard isStored == true else { return false }
    table.report.whole += 1
    return true
  }

  /// Whether an object in a tree of plain SQL is one that its own table lacks so far, and that a
  /// page of something else stands in the tree of.
  func isLacking(_ record: StoredRecord, _ id: Int64) throws -> Bool {
    try tables.contains { try $0.hasStrangers && $0.knows(record, id) && !file.hasRow(id, in: $0) }
  }

  /// Whether an exchanged object is where it belongs by now.
  private func isElsewhere(_ row: RepairTable.Pending) throws -> Bool {
    let id = row.cell.rowID
    let found = try payloads.with(row.cell, at: row.place) { payload -> Bool in
      guard let record = StoredRecord(payload.bytes) else { return false }
      return try tables.contains { try $0.knows(record, id) && file.hasRow(id, in: $0) }
    }
    return found == true
  }
}
