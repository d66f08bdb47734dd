// RepairedFile: the new file, which SQLite makes.
//
//  - It is written under another name beside its own, and gets its own when it is whole.
//  - Statements come from the damaged file. Only those that create a table, an index, a trigger or
//    a view run, and only one each.
//  - A row that another one excludes is refused, and not replaced.

import Dflat
import Foundation
import Platform
import SQLiteAccess

/// The file that a repair writes.
final class RepairedFile {
  let path: String
  private let unfinished: UnfinishedFile
  private var temporary: String { unfinished.path }
  let connection: Connection
  /// The name of the table of doubtful rows, once it is there.
  private var doubtful: String?

  static let doubtfulTable = "dflat_doubtful"

  /// - Parameter source: The damaged file. The new one has its permissions.
  /// - Throws: `ToolError` if there is a file with this path, or none can be written.
  init(path: String, pageSize: Int, like source: String) throws {
    try Self.requireNothing(at: path)
    self.path = path
    unfinished = UnfinishedFile(for: path)
    let temporary = unfinished.path
    try Self.createEmpty(temporary, like: source)
    do throws(SQLiteError) {
      connection = try Connection(path: temporary)
      try connection.execute("PRAGMA page_size = \(pageSize)")
      // As the library creates its files.
      try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
      try connection.execute("PRAGMA journal_mode = OFF")
      try connection.execute("PRAGMA synchronous = OFF")
      try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
      try connection.execute("PRAGMA foreign_keys = OFF")
      try connection.begin(.immediate)
    } catch {
      throw ToolError(
        .storage, "\(path) cannot be written: \(error.message)",
        advice: "check the folder and its free space")
    }
  }

  /// Gives up: nothing is left of the file.
  func discard() {
    connection.clearStatementCache()
    try? connection.close()
    unfinished.remove()
  }

  /// Checks the file and gives it its name.
  /// - Throws: `ToolError` if SQLite finds a fault in it, or it cannot be written.
  func finish() throws {
    if connection.isInTransaction { try connection.commit() }
    let lines = try connection.rows("PRAGMA main.integrity_check(3)").compactMap { $0[0].text }
    guard lines == ["ok"] else {
      throw ToolError(
        .storage, "the new file has faults: \(lines.joined(separator: "; "))",
        advice: "try again on another disk")
    }
    connection.clearStatementCache()
    try connection.close()
    try Self.synchronize(temporary)
    try Self.requireNothing(at: path)
    guard rename(temporary, path) == 0 else {
      throw ToolError(
        .storage, "\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
    try Self.synchronize((path as NSString).deletingLastPathComponent)
  }

  /// A log or a journal of another file would be taken for one of the new file.
  private static func requireNothing(at path: String) throws {
    for name in ["", "-wal", "-journal"].map({ path + $0 }) {
      guard !FileManager.default.fileExists(atPath: name) else {
        throw ToolError(
          .storage, "there is a file \(name) already", advice: "give a path where no file is")
      }
    }
  }

  /// Creates an empty file with the permissions of the source.
  private static func createEmpty(_ path: String, like source: String) throws {
    let descriptor = (FileRights(of: source) ?? .ofThisUserOnly).create(path)
    guard descriptor >= 0 else {
      throw ToolError(
        .storage, "\(path) cannot be written: \(String(cString: strerror(errno)))",
        advice: "check the folder and its free space")
    }
    close(descriptor)
  }

  private static func synchronize(_ path: String) throws {
    let descriptor = open(path.isEmpty ? "." : path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0, fsync(descriptor) == 0 else {
      let reason = String(cString: strerror(errno))
      if descriptor >= 0 { close(descriptor) }
      throw ToolError(.storage, "\(path) cannot be written: \(reason)")
    }
    close(descriptor)
  }

  // MARK: Creating

  /// Gives the file the two numbers that programs keep in the header of theirs.
  func setNumbers(userVersion: Int, applicationID: Int) throws {
    try connection.execute("PRAGMA user_version = \(Int32(truncatingIfNeeded: userVersion))")
    try connection.execute("PRAGMA application_id = \(Int32(truncatingIfNeeded: applicationID))")
  }

  /// Runs a statement of the damaged file.
  /// - Returns: Why it cannot be run; nil if it has created what it should.
  func create(_ entry: SchemaEntry) throws -> String? {
    guard let sql = entry.sql else { return "it has no statement" }
    let words = sql.split(maxSplits: 3, whereSeparator: \.isWhitespace).map { $0.lowercased() }
    let kinds: Set = ["table", "index", "unique", "trigger", "view"]
    guard words.count > 2, words[0] == "create", kinds.contains(words[1]) else {
      return "its statement is damaged"
    }
    let before = try tables()
    // An index on a column that is not there would be one on a text.
    connection.setDoubleQuotedDefinitions(entry.type != "index")
    do throws(SQLiteError) {
      if try selectsRows(sql) { return "its statement makes rows of its own" }
      try connection.execute(sql, [])
      if try exists(entry.type, entry.name) { return nil }
      // The name in its statement is damaged.
      if entry.type == "table", let other = try tables().subtracting(before).first {
        try connection.execute(
          "ALTER TABLE \(other.quotedForSQL) RENAME TO \(entry.name.quotedForSQL)")
        return nil
      }
    } catch {
      guard error.isOfStatement else { throw error }
      return error.message
    }
    return "its statement creates something else"
  }

  /// Whether a statement is a `CREATE TABLE … AS SELECT`. SQLite keeps none in a file, and it could
  /// run without end.
  private func selectsRows(_ sql: String) throws(SQLiteError) -> Bool {
    try connection.rows("EXPLAIN " + sql).contains { $0[1].text == "InitCoroutine" }
  }

  /// Whether a statement is whole. It is not run, and may need collations and functions of a
  /// program.
  func canRead(_ sql: String?) throws(SQLiteError) -> Bool {
    guard let sql else { return false }
    do { _ = try connection.rows("EXPLAIN " + sql) } catch {
      guard error.isOfStatement else { throw error }
      return ["no such collation sequence", "no such function", "unknown function"]
        .contains(where: error.message.contains)
    }
    return true
  }

  private func tables() throws(SQLiteError) -> Set<String> {
    let names = try connection.rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite#_%' ESCAPE '#'"
    )
    return Set(names.compactMap { $0[0].text })
  }

  func exists(_ type: String, _ name: String) throws(SQLiteError) -> Bool {
    try connection.value(
      "SELECT 1 FROM sqlite_master WHERE type = ? AND name = ? COLLATE NOCASE",
      [.text(type), .text(name)]) != nil
  }

  /// Enters a virtual table, whose content is in other tables.
  func enter(_ entry: SchemaEntry) throws {
    try connection.execute("PRAGMA writable_schema = ON")
    try connection.execute(
      "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, 0, ?)",
      [.text("table"), .text(entry.name), .text(entry.name), .text(entry.sql ?? "")])
    try connection.execute("PRAGMA writable_schema = OFF")
  }

  // MARK: Rows

  /// Keeps a row apart.
  func addDoubtful(
    table: String, row: Int64?, page: Int, reason: String, keys: String, bytes: [UInt8]
  ) throws {
    let doubtful = try doubtful ?? createDoubtful()
    try connection.execute(
      "INSERT INTO \(doubtful) VALUES (?, ?, ?, ?, ?, ?)",
      [
        .text(table), row.map { .integer($0) } ?? .null, .integer(Int64(page)), .text(reason),
        .text(keys), .blob(bytes),
      ])
  }

  /// Creates the table of doubtful rows, unless it came from an earlier repair. A program may have
  /// a table of its own with this name.
  private func createDoubtful() throws -> String {
    let columns = ["table", "row", "page", "reason", "keys", "p"]
    var name = Self.doubtfulTable
    while true {
      let found = try connection.rows("SELECT name FROM pragma_table_info(?)", [.text(name)])
      if found.isEmpty || found.compactMap({ $0[0].text }) == columns { break }
      name += "_"
    }
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS \(name) (\"table\" TEXT NOT NULL, row INTEGER, page INTEGER, "
        + "reason TEXT NOT NULL, keys TEXT NOT NULL, p BLOB NOT NULL)")
    doubtful = name
    return name
  }

  /// Whether a table has a row.
  func hasRow(_ row: Int64, in table: RepairTable) throws -> Bool {
    let statement = try connection.statement(
      "SELECT 1 FROM \(table.table.quotedForSQL) WHERE \(table.rowIDName) = ?")
    try statement.bind(1, row)
    return try statement.step()
  }

  /// Raises the number that a table gives to no row again.
  func raiseSequence(of table: String, to number: Int64) throws {
    guard try exists("table", "sqlite_sequence") else { return }
    let known = try connection.value(
      "SELECT seq FROM sqlite_sequence WHERE name = ?", [.text(table)])
    switch known?.integer {
    case nil:
      try connection.execute(
        "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [.text(table), .integer(number)])
    case let value? where value < number:
      try connection.execute(
        "UPDATE sqlite_sequence SET seq = ? WHERE name = ?", [.integer(number), .text(table)])
    default: break
    }
  }
}

extension SQLiteError {
  /// Whether a statement of the damaged file is the reason, and not the new file.
  fileprivate var isOfStatement: Bool {
    isCorrupt || [.error, .constraint, .misuse, .range, .tooBig].contains(code)
  }
}
