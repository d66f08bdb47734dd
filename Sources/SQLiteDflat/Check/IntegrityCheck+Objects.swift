// IntegrityCheck+Objects: compares the objects of a type with everything that follows from them row
// by row.
//
// The objects are read once, in the order of their row ids. The rows of each side table are read
// beside them in the same order, so nothing is looked up.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

extension IntegrityCheck {
  /// Checks the objects of a type, their side tables, and their references.
  mutating func checkObjects(_ table: TableSQL) throws {
    let sides = try table.sides.filter { !isTaken($0.table) }
      .map { try SideCursor($0, connection, limit) }
    var pass = ObjectPass(
      table, sides, scope == .everything && checksReferences ? try references(of: table) : [])
    try noting(table.table) { try pass.run(&$0) }
    for side in sides {
      if side.isTrusted { trusted.insert(side.table.table) }
      for finding in side.findings { add(finding) }
    }
    for reference in pass.references {
      for finding in reference.findings { add(finding) }
    }
  }

  private func references(of table: TableSQL) throws -> [ReferenceCheck] {
    try table.schema.references.map {
      try ReferenceCheck(ReferenceKeys($0, of: table.schema), connection, limit)
    }
  }

  /// Checks the objects of a table of which no type is known.
  mutating func checkUnknown(_ table: String) throws {
    try noting(table) { check in
      let rows = try check.connection.statement(
        "SELECT rowid, p FROM \(table.quoted) ORDER BY rowid")
      var meter = try CheckMeter(table, check)
      while try rows.step(), !check.isFull {
        meter.count()
        let bytes = RowChecksum.content(of: rows.blob(1), as: nil)
        if RowChecksum.isRefused(bytes) || TableReader(root: bytes) == nil {
          check.add(
            IntegrityFinding(
              .damagedRow, table: table, rowid: rows.int64(0),
              message: RowChecksum.isRefused(bytes)
                ? RowChecksum.refusalReason : "the bytes are no FlatBuffer"))
        }
      }
    }
  }
}

/// Reads the objects of a type once.
private struct ObjectPass {
  private let table: TableSQL
  private let sides: [SideCursor]
  let references: [ReferenceCheck]
  private let keys: [IndexColumn]
  private let comparison: ColumnComparison

  init(_ table: TableSQL, _ sides: [SideCursor], _ references: [ReferenceCheck]) {
    self.table = table
    self.sides = sides
    self.references = references
    let schema = table.schema
    keys = schema.primaryKey.compactMap { schema.column(named: $0.path) }
    comparison = ColumnComparison(keys)
  }

  mutating func run(_ check: inout IntegrityCheck) throws {
    let rows = try check.connection.statement(table.selectObjects)
    let layout = table.schema.layout
    let requires = check.scope == .everything && layout.hasRequiredFields
    var meter = try CheckMeter(table.table, check)
    while try rows.step() {
      meter.count()
      let id = rows.int64(0)
      let bytes = rows.object(1, of: table.schema)
      let object = check.verified(bytes, id, table)
      if let object {
        if !comparison.holds(rows, object, from: 2) {
          check.addWrongKey(SideValues(keys, object), id, table)
        }
        if requires { check.requireFields(bytes, id, table) }
        for reference in references { try reference.look(object, id) }
      }
      for side in sides { try side.meet(id, object) }
      if isFull(check) { return }
    }
    for side in sides { try side.end() }
  }

  private func isFull(_ check: borrowing IntegrityCheck) -> Bool {
    var count = 0
    for side in sides { count += side.findings.count }
    return check.isFull(adding: count)
  }
}

extension IntegrityCheck {
  /// The object in a row; nil if it is damaged, which is a finding.
  fileprivate mutating func verified(
    _ bytes: UnsafeRawBufferPointer, _ id: Int64, _ table: TableSQL
  ) -> RowView? {
    do throws(VerificationError) { try table.schema.layout.verify(bytes) } catch {
      add(
        IntegrityFinding(
          .damagedRow, table: table.table, rowid: id, message: error.storedReason))
      return nil
    }
    return RowView(root: bytes)
  }

  fileprivate mutating func addWrongKey(_ values: SideValues, _ id: Int64, _ table: TableSQL) {
    let key = values.row.map { table.schema.describeKey(of: $0) } ?? ""
    add(
      IntegrityFinding(
        .wrongKey, table: table.table, rowid: id,
        message: "the key columns are not the object's key, \(key)"))
  }

  fileprivate mutating func requireFields(
    _ bytes: UnsafeRawBufferPointer, _ id: Int64, _ table: TableSQL
  ) {
    do throws(VerificationError) {
      try table.schema.layout.verify(bytes, requiring: true)
    } catch {
      add(
        IntegrityFinding(.missingField, table: table.table, rowid: id, message: error.reason))
    }
  }
}

/// The rows of a side table, in the order of their ids, beside the objects.
private final class SideCursor {
  let table: SideTable
  private let comparison: ColumnComparison
  /// The greatest row id: objects beyond it are not expected. nil for an empty table.
  private let last: Int64?
  /// The last row that is verified under this version's defaults; see `IndexMarks`.
  private let verified: Int64
  private let limit: Int
  private let rows: Statement?
  /// The row at which the statement is; nil behind the last one.
  private var current: Int64?
  /// Whether it cannot be read any further.
  private var isBroken = false
  private(set) var findings: [IntegrityFinding] = []
  /// Whether queries use the table without another look at it.
  private(set) var isTrusted = false

  init(_ table: SideTable, _ connection: Connection, _ limit: Int) throws {
    self.table = table
    self.limit = limit
    var readers: [IndexColumn] = []
    var last: Int64?
    var verified = IndexMarks.nothing
    var rows: Statement?
    do throws(SQLiteError) {
      if try !table.hasShape(on: connection) {
        findings.append(
          IntegrityFinding(
            .damagedIndex, table: table.table,
            message: "the table of the index of \(table.name) has other columns than an index has, "
              + "as a table of another program"))
      } else if let known = table.readers,
        let extent = try IndexExtent.read(of: table, connection), let end = extent.side
      {
        readers = known
        last = end
        verified = extent.verified ?? verified
        if verified == IndexMarks.everything {
          isTrusted = try table.guards.stand(on: connection, isCommitted: true)
        }
        let columns = table.columns.map { ", \($0.quoted)" }.joined()
        rows = try connection.statement(
          "SELECT rowid\(columns) FROM \(table.table.quoted) ORDER BY rowid")
      }
    } catch {
      guard error.isCorrupt else { throw error }
      findings.append(IntegrityFinding(.damagedFile, table: table.table, message: error.message))
    }
    self.last = last
    self.verified = verified
    self.rows = rows
    comparison = ColumnComparison(readers)
    try advance()
  }

  /// Goes on to the next row.
  private func advance() throws {
    guard let rows else { return }
    do throws(SQLiteError) {
      current = try rows.step() ? rows.int64(0) : nil
    } catch {
      guard error.isCorrupt else { throw error }
      current = nil
      isBroken = true
      findings.append(IntegrityFinding(.damagedFile, table: table.table, message: error.message))
    }
  }

  /// Compares with an object. They come in the order of their ids.
  /// - Parameter object: nil if it is damaged: then any values count as right.
  func meet(_ id: Int64, _ object: RowView?) throws {
    while let row = current, row < id {
      addOrphan(row)
      try advance()
    }
    guard let last, id <= last, !isBroken else { return }
    guard current == id, let rows else {
      findings.append(
        IntegrityFinding(
          .missingIndexRow, table: table.table, rowid: id,
          message: "the index of \(table.name) lacks the object"))
      return
    }
    if let object, !comparison.holds(rows, object, from: 1), !mayBeOfOtherVersion(id, object) {
      findings.append(
        IntegrityFinding(
          .wrongIndexRow, table: table.table, rowid: id,
          message: "the index has another value than the object, which has "
            + table.describe(object)))
    }
    try advance()
  }

  /// Whether the row may be right under another version of the schema, which filled the index with
  /// its own defaults. Queries of this version do not use it: it is not verified that far.
  private func mayBeOfOtherVersion(_ id: Int64, _ object: RowView) -> Bool {
    id > verified && table.readers?.contains { $0.dependsOnProgram(in: object) } == true
  }

  /// No further object comes.
  func end() throws {
    while let row = current, findings.count < limit {
      addOrphan(row)
      try advance()
    }
  }

  private func addOrphan(_ row: Int64) {
    // There may be very many between two objects.
    if findings.count >= limit { return }
    findings.append(
      IntegrityFinding(
        .orphanIndexRow, table: table.table, rowid: row,
        message: "the index of \(table.name) has a row without an object"))
  }
}

/// Looks the keys of a reference up.
private final class ReferenceCheck {
  /// How many keys that were found are kept, so that they are not looked up again.
  private static let mostKnown = 20_000
  private let keys: ReferenceKeys
  private let target: TableSQL
  private let connection: Connection
  private let limit: Int
  /// nil if the table of the target does not exist.
  private var find: Statement?
  private var known: Set<KeyValues> = []
  private(set) var findings: [IntegrityFinding] = []

  init(_ keys: ReferenceKeys, _ connection: Connection, _ limit: Int) throws {
    self.keys = keys
    self.connection = connection
    self.limit = limit
    target = TableSQL(keys.target)
    find = try connection.statement(target.selectID, reading: target.table)
  }

  func look(_ object: TableReader, _ id: Int64) throws {
    if findings.count >= limit { return }
    try keys.forEach(object) { key in
      if known.contains(key) { return }
      if try isThere(key) {
        if known.count == Self.mostKnown { known.removeAll(keepingCapacity: true) }
        known.insert(key)
      } else {
        let reference = keys.dangling(key, inRow: id)
        findings.append(
          IntegrityFinding(
            .danglingReference, table: reference.schema.table, rowid: id, message: "\(reference)"))
      }
    }
  }

  private func isThere(_ key: KeyValues) throws -> Bool {
    guard let find else { return false }
    defer { find.reset() }
    try find.bind(1, constant: key.first)
    for index in key.rest.indices { try find.bind(index + 2, constant: key.rest[index]) }
    return try find.step()
  }
}
