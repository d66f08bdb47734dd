// IntegrityCheck: reads a whole file and compares its parts, in one state.
//
//  - SQLite's own check covers pages, b-trees, and SQLite's indexes;
//  - each object is verified against its checksum and its schema, and its key columns against the
//    object;
//  - a side table must have, up to its greatest row id, a row with the right values for each
//    object, and no other row. A side table that is missing or ends earlier is not built yet. See
//    IntegrityCheck+Objects.swift;
//  - a full-text table must have the words of each object; see IntegrityCheck+FullText.swift;
//  - a table of elements must have those of each object; see IntegrityCheck+Elements.swift;
//  - references, marks of indexes and schemas are checked if everything is; see
//    IntegrityCheck+File.swift.
//
// SQLite's own check takes as long as all the others together. Given a second connection that sees
// the same state, a thread of its own runs it beside them; see IntegrityCheck+Parts.swift.
//
// It has connections of its own, so a long check takes no reader away from queries. Its memory
// depends on the limit of the findings and on `rowsAtOnce`, and not on the file.

import Dflat
import Platform
import SQLiteAccess

extension SQLiteEngine: IntegrityCheckingStorageEngine {
  func checkIntegrity(of schemas: [EntitySchema], limit: Int) throws -> [IntegrityFinding] {
    try withCheckingConnection { connection in
      var check = IntegrityCheck(connection, limit)
      try check.run(schemas.map { sql(for: $0) })
      return check.findings
    } ifDamaged: {
      [$0]
    } orMissing: {
      []
    }
  }

  /// Calls one of the functions: with a connection of its own, with what is wrong with a file that
  /// cannot be opened, or without anything if there is no file yet.
  func withCheckingConnection<R>(
    _ body: (Connection) throws -> R, ifDamaged: (IntegrityFinding) -> R, orMissing: () -> R
  ) throws -> R {
    try readingWhole {
      let connection: Connection
      do {
        connection = try Connection.openForReading(
          path: path, mayRepair: !configuration.isReadOnly,
          busyTimeoutMilliseconds: configuration.busyTimeoutMilliseconds)
      } catch let error as SQLiteError where error.isNoSuchFile {
        if configuration.isReadOnly { throw error }
        return orMissing()
      } catch let error as SQLiteError where error.isCorrupt {
        return ifDamaged(IntegrityFinding(.damagedFile, message: error.message))
      }
      defer { try? connection.close() }
      return try body(connection)
    }
  }
}

struct IntegrityCheck {
  /// What is checked.
  enum Scope {
    /// The file, and objects and indexes of types.
    case types
    /// References, required fields, marks and schemas as well.
    case everything
  }

  let connection: Connection
  let limit: Int
  let scope: Scope
  let onProgress: ((CheckProgress) -> Void)?
  /// A second connection to the file, in no transaction.
  var second: Connection?
  /// In files with fewer pages a second thread saves nothing.
  var leastPages = 1000
  /// For how many objects the words are compared at once; some 40 bytes of memory each.
  let rowsAtOnce: Int
  var findings: [IntegrityFinding] = []
  /// What was found that is no damage. It takes the place of no other finding, and ends no check.
  var notes: [IntegrityFinding] = []
  /// The tables of the types that were checked to the end.
  private(set) var checked: Set<String> = []
  /// The tables whose damage has ended their reading.
  private var unreadable: Set<String> = []
  /// Whether references are looked up if everything is checked.
  var checksReferences = true
  /// Whether several of the types have the same table.
  private var repeatsTables = false
  /// How bad it is that something has the name of a table that a type needs, and what to do.
  private(set) var takenNames: [String: (CheckFinding.Severity, String)] = [:]
  /// The tables of indexes that queries use without another look at them.
  var trusted: Set<String> = []

  init(
    _ connection: Connection, _ limit: Int, _ scope: Scope = .types, rowsAtOnce: Int = 1 << 19,
    onProgress: ((CheckProgress) -> Void)? = nil
  ) {
    self.connection = connection
    self.limit = limit
    self.scope = scope
    self.rowsAtOnce = rowsAtOnce
    self.onProgress = onProgress
  }

  /// - Parameters:
  ///   - tables: The types.
  ///   - more: Called at the end, in the same state.
  mutating func run(
    _ tables: [TableSQL], _ more: @escaping (inout IntegrityCheck) throws -> Void = { _ in }
  ) throws {
    let isTogether: Bool
    do { isTogether = try begin() } catch {
      return try addDamage(error, table: nil)
    }
    defer {
      for connection in [connection, second] where connection?.isInTransaction == true {
        try? connection?.rollback()
      }
    }
    onProgress?(CheckProgress(table: nil, rows: 0, total: 0))
    if isTogether { return try runParts(tables, more) }
    try checkFile()
    try checkTypes(tables, more)
  }

  /// Checks what is in the tables.
  mutating func checkTypes(
    _ tables: [TableSQL], _ more: (inout IntegrityCheck) throws -> Void
  ) throws {
    // Two versions of a type find the same in one table.
    repeatsTables = Set(tables.map(\.table)).count < tables.count
    for table in tables {
      try checkType(table)
      if isFull { return }
      if !unreadable.contains(table.table) { checked.insert(table.table) }
    }
    try more(&self)
  }

  private mutating func checkType(_ table: TableSQL) throws {
    if isFull { return }
    try noting(table.table) { try $0.checkNames(of: table) }
    guard try exists(table.table), try canRead(table) else {
      if isTaken(table.table) { unreadable.insert(table.table) }
      return
    }
    try noting(table.table) { check in
      if let found = try table.keyCollation(on: check.connection) {
        check.add(IntegrityFinding(.damagedFile, table: table.table, message: found.message))
      }
    }
    try noting(table.table) { try $0.checkObjects(table) }
    if let fullText = table.fullText, !isFull, try exists(fullText.table) {
      try checkWords(of: fullText, table)
    }
    for elements in table.elements where !isFull {
      if try addTakenName(of: elements) { continue }
      try noting(elements.table) { try $0.checkElements(of: elements, table) }
    }
  }

  /// Looks for what else has the names of the tables of a type.
  private mutating func checkNames(of table: TableSQL) throws {
    if let other = try table.otherEntity(on: connection), let advice = other.advice {
      addTaken(table.table, .damage, (other.message, advice))
    }
    for taken in try TakenName.all(of: table, connection) {
      addTaken(taken.name, .damage, (taken.message, taken.advice))
    }
  }

  /// Whether the main table has the columns of its type. Another program may have made it.
  private mutating func canRead(_ table: TableSQL) throws -> Bool {
    do throws(SQLiteError) { _ = try connection.statement(table.selectObjects) } catch {
      guard error.code == .error else { throw error }
      let problem =
        "a table of another program has the name of the table of its objects, so none can be read "
        + "or stored: \(error.message)"
      let advice =
        "rename it, and let the program create its own: ALTER TABLE \(table.table.quoted) "
        + "RENAME TO …"
      addTaken(table.table, .damage, (problem, advice))
      return false
    }
    if scope == .everything, let reuse = try ReusedRowIDs(of: table.table, connection) {
      let severity: CheckFinding.Severity = reuse.isRefused ? .damage : .note
      addTaken(table.table, severity, (reuse.message, ReusedRowIDs.advice))
    }
    return true
  }

  /// Types may share a table: that of the marks, and tables of elements.
  mutating func addTaken(
    _ name: String, _ severity: CheckFinding.Severity, _ taken: (message: String, advice: String)
  ) {
    if takenNames.updateValue((severity, taken.advice), forKey: name) != nil { return }
    add(IntegrityFinding(.takenName, table: name, message: taken.message))
  }

  /// - Returns: Whether something else has the name of a table of elements.
  private mutating func addTakenName(of table: ElementTable) throws -> Bool {
    guard scope == .everything, let taken = try table.takenName(connection, isCommitted: true)
    else { return false }
    addTaken(table.table, .note, taken)
    return true
  }

  /// Whether something that is no table has the name of one.
  func isTaken(_ table: String) -> Bool {
    takenNames.keys.contains { $0.isSameSQLiteName(as: table) }
  }

  var isFull: Bool { isFull(adding: 0) }

  /// Whether there are as many findings as are wanted, with those that are still to be added.
  func isFull(adding count: Int) -> Bool { findings.count + count >= limit }

  mutating func add(_ finding: IntegrityFinding) {
    let taken = finding.kind == .takenName ? finding.table.flatMap { takenNames[$0] } : nil
    if CheckFinding(finding, isTrusted: false, meaning: taken).severity == .note {
      if notes.count == limit || repeatsTables && notes.contains(finding) { return }
      notes.append(finding)
    } else {
      if isFull || repeatsTables && findings.contains(finding) { return }
      findings.append(finding)
    }
  }

  /// Records damage that ends the reading of a table.
  mutating func noting(
    _ table: String, _ body: (inout IntegrityCheck) throws -> Void
  ) throws {
    do { try body(&self) } catch let error as SQLiteError {
      try addDamage(error, table: table)
    }
  }

  private mutating func addDamage(_ error: SQLiteError, table: String?) throws {
    guard error.isCorrupt else { throw error }
    if let table { unreadable.insert(table) }
    add(IntegrityFinding(.damagedFile, table: table, message: error.message))
  }

  func exists(_ table: String) throws -> Bool {
    do {
      let statement = try connection.statement(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
      try statement.bind(1, table)
      return try statement.step()
    } catch  where error.isCorrupt {
      return false
    }
  }

  /// Has SQLite check the structure of the file.
  mutating func checkFile() throws {
    var report = IntegrityReport()
    var failure: SQLiteError?
    do { try connection.checkIntegrity(limit: limit, into: &report) } catch { failure = error }
    for line in report.problems { add(IntegrityFinding(.damagedFile, message: line)) }
    if let failure { try addDamage(failure, table: nil) }
    guard scope == .everything else { return }
    for line in report.oddValues { add(IntegrityFinding(.oddValue, message: line)) }
    for (table, missing) in report.unchecked {
      add(
        IntegrityFinding(
          .uncheckedTable, table: table,
          message: "its rows and indexes were not compared: \(missing) is not known here"))
    }
  }
}

/// Says how far the check of a table is.
struct CheckMeter {
  private static let rowsPerCall = 4096
  private let table: String
  private let onProgress: ((CheckProgress) -> Void)?
  private let total: Int
  private var rows = 0

  init(_ table: String, _ check: borrowing IntegrityCheck) throws {
    self.table = table
    onProgress = check.onProgress
    total =
      onProgress == nil
      ? 0
      : Int(
        try check.connection.value("SELECT max(rowid) FROM \(table.quoted)")?.integer ?? 0)
  }

  /// Counts a row.
  @inline(__always)
  mutating func count() {
    rows &+= 1
    if rows % Self.rowsPerCall == 0 { report() }
  }

  private func report() {
    onProgress?(CheckProgress(table: table, rows: rows, total: max(rows, total)))
  }
}
