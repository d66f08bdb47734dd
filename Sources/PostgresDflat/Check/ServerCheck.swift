// ServerCheck: reads a whole database and compares its parts, in one state.
//
//  - The tables of Dflat, and those of the types, must have the columns, keys, indexes and triggers
//    that they were made with; see ServerCheck+Layout.swift. The functions of triggers and views
//    must be for these tables; see ServerCheck+Functions.swift.
//  - Each object is verified against its schema. The columns of its key, and those of indexes as
//    far as they are marked, must have the values of the object; see ServerCheck+Objects.swift.
//  - The log, the ledger and the sequences of row ids must agree with each other, and with the
//    transactions that have written the rows; see ServerCheck+Log.swift.
//
// It has a connection of its own, in a REPEATABLE READ transaction that only reads: the server
// refuses it never, and no other transaction for what it has read. Rows are asked for in portions,
// so its memory depends on the limit of the findings, on the size of a portion and on the length of
// the log, and not on the number of objects.

import Dflat
import Platform

struct ServerCheck {
  let engine: PostgresEngine
  let connection: Connection
  let limit: Int
  let checksReferences: Bool
  let isCancelled: () -> Bool
  let onProgress: ((CheckProgress) -> Void)?
  private(set) var findings: [CheckFinding] = []
  /// What was found that is no damage. It takes the place of no other finding, and ends no check.
  private var notes: [CheckFinding] = []
  /// The tables of the types that were checked to the end.
  private var checked: Set<String> = []
  /// The marks in the state that is checked.
  var marks = IndexMarks.none
  /// Which transactions the log knows; nil if it cannot be read.
  var log: LoggedTransactions?
  /// Whether several of the types have the same table.
  private var repeatsTables = false

  init(
    _ engine: PostgresEngine, _ connection: Connection, _ options: CheckOptions,
    isCancelled: @escaping () -> Bool
  ) {
    self.engine = engine
    self.connection = connection
    limit = max(1, options.findingLimit)
    checksReferences = options.checksReferences
    onProgress = options.onProgress
    self.isCancelled = isCancelled
  }

  var system: SystemSQL { engine.system }
  var isFull: Bool { findings.count >= limit }

  /// Checks everything.
  mutating func run(_ schemas: [EntitySchema]) throws -> CheckReport {
    onProgress?(CheckProgress(table: nil, rows: 0, total: 0))
    // In a table without statistics, the server would read all of it for each row to look up.
    try connection.execute(
      "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL enable_seqscan = off")
    defer { try? connection.rollback() }
    var unknown: [String] = []
    if try checkSystemTables() {
      marks = try IndexMarks(
        version: IndexMarks.version(system, connection), system, connection)
      try checkState()
      try checkLog()
      try checkLedger()
      try checkKeptSchemas()
      try checkFunctions()
      let known = schemas + [DictionaryItem.schema]
      repeatsTables = Set(known.map(\.table)).count < known.count
      for schema in known {
        try checkTable(CheckedTable(engine.table(of: schema)))
        if !isFull { checked.insert(schema.table) }
      }
      let names = Set(known.map(\.table))
      unknown = marks.tables.keys.filter { !names.contains($0) }.sorted()
      for table in unknown { try checkTable(CheckedTable(named: table, system)) }
    } else if findings.isEmpty {
      // Nothing was ever stored.
      checked = Set(schemas.map(\.table))
    }
    let all = (findings + notes).prefix(limit)
    return CheckReport(
      findings: Array(all), isCut: all.count == limit,
      checkedTypes: schemas.filter { checked.contains($0.table) }.map(\.layout.name),
      uncheckedTables: unknown, isOnServer: true)
  }

  /// Checks a table, its objects, and what follows from them.
  private mutating func checkTable(_ table: CheckedTable) throws {
    if isFull || marks.tables[table.name] == nil { return }
    try noting(table.name) { check in
      guard let columns = try check.checkLayout(of: table) else { return }
      try check.checkObjects(of: table, columns)
      try check.checkRowIDs(of: table)
    }
  }

  // MARK: Findings

  mutating func add(
    _ what: IntegrityFinding.Kind, _ severity: CheckFinding.Severity, table: String? = nil,
    row: Int64? = nil, _ message: String, advice: String
  ) {
    if severity == .note ? notes.count == limit : isFull { return }
    let finding = CheckFinding(
      what: what, severity: severity, table: table, row: row, message: message, advice: advice)
    // Two versions of a type find the same in one table.
    if repeatsTables, findings.contains(finding) || notes.contains(finding) { return }
    if severity == .note { notes.append(finding) } else { findings.append(finding) }
  }

  /// Records what the server itself cannot read, and goes on behind it.
  mutating func noting(_ table: String, _ body: (inout ServerCheck) throws -> Void) throws {
    try connection.execute("SAVEPOINT checked")
    do { try body(&self) } catch {
      guard let reason = Self.damage(error) else { throw error }
      try connection.rollback(to: "checked")
      add(
        .damagedFile, .damage, table: table, "the server cannot read the table: \(reason)",
        advice: "restore a backup, or a standby, and look at the server's disk")
    }
    try connection.execute("RELEASE checked")
  }

  /// What is wrong with the server's files, if an error says so.
  private static func damage(_ error: any Error) -> String? {
    switch error {
    case let error as PostgresError where error.state.hasPrefix("XX00"): error.message
    case let error as StorageError where error.cause == .corruptFile: error.message
    default: nil
    }
  }

  func checkCancellation() throws {
    if isCancelled() { throw CancellationError() }
  }

  // MARK: Questions

  /// The rows of a statement without parameters, as texts.
  func ask(_ sql: String) throws(PostgresError) -> [[String?]] {
    let rows = try connection.execute(sql)
    let columns = rows.columnCount
    return (0..<rows.count).map { row in
      (0..<columns).map { rows.isNull(row, $0) ? nil : rows.text(row, $0) }
    }
  }
}

/// A table of objects that is checked.
struct CheckedTable {
  let name: String
  /// The name, quoted and with its schema.
  let quoted: String
  /// nil if no type is known for it.
  let entity: EntityTable?

  init(_ entity: EntityTable) {
    name = entity.name
    quoted = entity.quoted
    self.entity = entity
  }

  init(named name: String, _ system: SystemSQL) {
    self.name = name
    quoted = "\(system.schema).\(name.quotedName)"
    entity = nil
  }

  /// The quoted name as a literal, for functions that look tables up.
  var literal: String { quoted.quotedText }
}

extension Connection {
  /// Goes back to a savepoint, also after an error.
  fileprivate func rollback(to savepoint: String) throws(PostgresError) {
    try execute("ROLLBACK TO \(savepoint)")
  }
}

extension IntegrityFinding.Kind {
  /// A table of a database is not there, though programs take it to be.
  public static let missingTable = Self(rawValue: "missingTable")
  /// A table of a database lacks a column, a key or a type that it was made with.
  public static let wrongColumn = Self(rawValue: "wrongColumn")
  /// An object of a database has values that another one had before their field became unique.
  public static let equalValues = Self(rawValue: "equalValues")
  /// The triggers that log what plain SQL changes are not complete.
  public static let missingTrigger = Self(rawValue: "missingTrigger")
  /// A view or trigger of a database calls a function that refers to the tables by the name of
  /// another PostgreSQL schema, as after `ALTER SCHEMA … RENAME`.
  public static let renamedSchema = Self(rawValue: "renamedSchema")
  /// A database would give a number again that a row has, as the id of another one.
  public static let wrongSequence = Self(rawValue: "wrongSequence")
  /// The ledger of a database, which tells programs what became of their commits, is damaged.
  public static let damagedLedger = Self(rawValue: "damagedLedger")
  /// The log of changes of a database is damaged.
  public static let damagedLog = Self(rawValue: "damagedLog")
  /// Rows of a database were written by transactions that the log of changes does not know: by
  /// plain SQL, or by a restored dump.
  public static let unloggedChange = Self(rawValue: "unloggedChange")
}
