// RepairTable: a table while it is repaired.

import Dflat
import SQLiteAccess

/// A table of the new file, and what is known of it in the damaged one.
final class RepairTable {
  /// What rows look like.
  enum Rows {
    case objects(ObjectRows)
    case plain(PlainRows)
  }

  /// A row that is not among the good ones so far.
  struct Pending {
    let place: PageSource.Place
    let cell: TreePage.Cell
    let reason: String
    let kind: PendingKind
  }

  /// Why a row is not among the good ones.
  enum PendingKind {
    case damaged
    /// Another row is in its way. It is kept even if the new file has a row with its id.
    case conflict
    /// It has zeros that may be its own: it is good if nothing else in the file is damaged.
    case zeros
    /// It is an object, in a table of plain SQL, which may have copies of objects: it is good if
    /// nothing else in its tree is damaged.
    case object
  }

  let rows: Rows
  /// The owner of the pages of its tree.
  let owner: UInt32
  /// The owner of the pages of its key's index.
  let keyOwner: UInt32
  let root: Int?
  var report: RepairedTable
  /// What the index of its key knows.
  var keys = KeyIndex()
  /// Row ids that other indexes know, if that of the key is damaged.
  var otherWitness: Set<Int64> = []
  /// Whether all that its tree has was reached, and is sound.
  var isSound = false
  /// Whether its tree has pages of something else.
  var hasStrangers = false
  /// The pages of its tree, of plain SQL, whose objects another table lacks.
  var foreignPages: Set<Int> = []
  var pending: [Pending] = []
  /// Its leaves with cells that cannot be read.
  var damagedLeaves: [Int] = []

  var table: String { report.table }

  init(_ rows: Rows, name: String, table: String, hasSchema: Bool, root: Int?, owner: UInt32) {
    self.rows = rows
    self.root = root
    self.owner = owner
    keyOwner = owner + 1
    report = RepairedTable(name: name, table: table, hasSchema: hasSchema)
  }

  /// Whether more rows than those of its tree are looked for.
  var isWanting: Bool {
    let isWhole = pending.allSatisfy { $0.kind == .zeros || $0.kind == .object }
    guard isSound, isWhole else { return true }
    return report.whole + pending.count < keys.count
  }

  /// What the row id is called: columns of a program can have its usual names.
  var rowIDName: String {
    switch rows {
    case .objects: "rowid"
    case .plain(let rows): rows.idName
    }
  }

  var objects: ObjectRows? { if case .objects(let rows) = rows { rows } else { nil } }

  /// Whether a record can be a row of the table.
  func hasForm(_ record: StoredRecord) -> Bool {
    switch rows {
    case .objects(let rows): rows.hasForm(record)
    case .plain(let rows): rows.hasWholeForm(record)
    }
  }

  /// Whether the index of the key knows a record as a row with this row id.
  func knows(_ record: StoredRecord, _ row: Int64) -> Bool {
    guard let objects, objects.entity != nil, case .sound(let key) = objects.judge(record) else {
      return false
    }
    return keys.hash(ofRow: row) == key
  }

  func insert(_ record: StoredRecord, row: Int64, _ connection: Connection) throws -> Bool {
    switch rows {
    case .objects(let rows): try rows.insert(record, row: row, into: connection)
    case .plain(let rows): try rows.insert(record, row: row, into: connection)
    }
  }

  func addPending(
    _ cell: TreePage.Cell, at place: PageSource.Place, _ reason: String,
    _ kind: PendingKind = .damaged
  ) {
    pending.append(Pending(place: place, cell: cell, reason: reason, kind: kind))
  }

  /// Whether sectors of zeros can be a part of a row: of a value that has bytes and no text.
  func canHaveZeros(_ record: StoredRecord) -> Bool {
    switch rows {
    case .objects(let rows): rows.canHaveZeros
    case .plain(let rows): rows.canHaveZeros(record)
    }
  }
}
