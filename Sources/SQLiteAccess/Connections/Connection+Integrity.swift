// What SQLite says of the structure of a database.
//
//  - SQLite looks at all pages first, and then at the rows and indexes of one table after another.
//  - Values against the declarations of their table are no damage: SQL can leave such ones. So
//    `ALTER TABLE … ADD COLUMN t TEXT DEFAULT true` leaves numbers in a column of texts.
//  - An index or a condition may use a collation or a function that only the program has which made
//    it. Then SQLite checks nothing at all. Here the tables are checked one by one, without those
//    that need it, and the pages of all with stand-ins: no comparison says anything about pages.

import CSQLite
import Platform

/// What SQLite has found in a database.
package struct IntegrityReport {
  /// What is damaged, a sentence each.
  package private(set) var problems: [String] = []
  /// Values against the declarations of their tables, a sentence each.
  package private(set) var oddValues: [String] = []
  /// Tables whose rows and indexes were not compared, and what is not known here.
  package fileprivate(set) var unchecked: [(table: String, missing: MissingDefinition)] = []

  package init() {}

  fileprivate mutating func add(_ line: String, keeping limit: Int) {
    if line == "ok" { return }
    if !line.hasPrefix("NUMERIC value in "), !line.hasPrefix("CHECK constraint failed in ") {
      problems.append(line)
    } else if oddValues.count < limit {
      oddValues.append(line)
    }
  }

  fileprivate mutating func addPages(of report: IntegrityReport) {
    problems += report.problems.filter(Self.isOfPages)
  }

  fileprivate mutating func addRows(of report: IntegrityReport) {
    problems += report.problems.filter { !Self.isOfPages($0) }
    oddValues += report.oddValues
  }

  /// Whether a line is about pages, and not about rows and indexes.
  private static func isOfPages(_ line: String) -> Bool { line.hasPrefix("*** in database ") }
}

extension Connection {
  /// Reads the whole database and checks its structure: pages, free list, the order of rows, and
  /// the indexes against the rows (`PRAGMA integrity_check`).
  ///
  /// - Parameters:
  ///   - limit: After so many problems the check ends.
  ///   - report: Gets what is found, also if this throws.
  package func checkIntegrity(
    limit: Int, into report: inout IntegrityReport
  ) throws(SQLiteError) {
    do { try check("\(limit)", limit, &report) } catch  where error.missingDefinition != nil {
      return try checkParts(limit, &report)
    }
    if report.oddValues.count + report.problems.count < limit || report.oddValues.isEmpty { return }
    // Odd values have taken the places of problems. SQLite keeps lines about pages in memory; they
    // come first, so there are fewer than `limit`.
    report = IntegrityReport()
    try check("\(Int32.max)", limit, &report)
  }

  /// - Parameter what: A number of lines, or the name of a table.
  private func check(
    _ what: String, _ limit: Int, _ report: inout IntegrityReport
  ) throws(SQLiteError) {
    let lines = try statement("PRAGMA main.integrity_check(\(what))")
    while report.problems.count < limit, try lines.step() {
      report.add(lines.string(0) ?? "", keeping: limit)
    }
  }

  private func checkParts(_ limit: Int, _ report: inout IntegrityReport) throws(SQLiteError) {
    let standIns = StandIns(self)
    defer { standIns.remove() }
    var pages = IntegrityReport()
    while true {
      do {
        try check("\(limit)", limit, &pages)
        break
      } catch {
        guard let missing = error.missingDefinition, standIns.add(missing) else { throw error }
      }
    }
    standIns.remove()
    report.addPages(of: pages)
    // Other lines may be due to the stand-ins.
    report.unchecked = try tablesWithMissingDefinitions()
    let unchecked = Set(report.unchecked.map(\.table))
    for table in try tableNames() where !unchecked.contains(table) {
      var rows = IntegrityReport()
      try check(Self.quoted(table), limit, &rows)
      report.addRows(of: rows)
    }
  }

  /// The tables whose rows and indexes cannot be compared, and what is not known here for it. Only
  /// the schema is read.
  package func tablesWithMissingDefinitions() throws(SQLiteError)
    -> [(table: String, missing: MissingDefinition)]
  {
    var found: [(String, MissingDefinition)] = []
    for table in try tableNames() {
      // SQLite looks for collations and functions when it prepares the check.
      do { _ = try statement("PRAGMA main.integrity_check(\(Self.quoted(table)))") } catch {
        guard let missing = error.missingDefinition else { throw error }
        found.append((table, missing))
      }
    }
    return found
  }

  private func tableNames() throws(SQLiteError) -> [String] {
    try rows("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
      .compactMap { $0[0].text }
  }
}

/// A collation or a function that a connection does not have.
package enum MissingDefinition: Hashable, CustomStringConvertible {
  case collation(String)
  case function(String)

  package var description: String {
    switch self {
    case .collation(let name): "the collation \(name)"
    case .function(let name): "the function \(name)"
    }
  }
}

extension SQLiteError {
  /// What the schema of the database uses and the connection does not have; nil if the error is
  /// another one.
  package var missingDefinition: MissingDefinition? {
    guard code == .error else { return nil }
    func name(after start: String) -> String? {
      guard message.hasPrefix(start) else { return nil }
      let name = message.dropFirst(start.count)
      // Behind it may be where in a statement it is.
      let end = name.firstRange(of: ", at byte ")?.lowerBound ?? name.endIndex
      return String(name[..<end].replacing("()", with: ""))
    }
    if let name = name(after: "no such collation sequence: ") { return .collation(name) }
    let function = name(after: "unknown function: ") ?? name(after: "no such function: ")
    return function.map { .function($0) }
  }
}

/// Collations and functions that a connection has for a while, in place of those of a program.
private final class StandIns {
  private let connection: Connection
  private var added: Set<MissingDefinition> = []

  init(_ connection: Connection) { self.connection = connection }

  /// - Returns: Whether it was added.
  func add(_ definition: MissingDefinition) -> Bool {
    added.insert(definition).inserted && set(definition, isThere: true)
  }

  func remove() {
    for definition in added { _ = set(definition, isThere: false) }
    added = []
  }

  private func set(_ definition: MissingDefinition, isThere: Bool) -> Bool {
    let database = connection.openDatabase
    switch definition {
    case .collation(let name):
      return sqlite3_create_collation_v2(
        database, name, SQLITE_UTF8, nil, isThere ? { _, _, _, _, _ in 0 } : nil, nil) == SQLITE_OK
    case .function(let name):
      let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
      return sqlite3_create_function_v2(
        database, name, -1, flags, nil,
        isThere ? { context, _, _ in sqlite3_result_null(context) } : nil, nil, nil, nil)
        == SQLITE_OK
    }
  }
}
