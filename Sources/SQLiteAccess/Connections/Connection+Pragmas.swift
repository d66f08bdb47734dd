// Pragmas: reading them, and setting them with a check.
//
// SQLite silently ignores unknown pragmas, unknown values, and values that come at the wrong time.
// So setting a pragma here always reads it back.

import CSQLite

extension Connection {
  /// The value of a pragma; nil if it returns no row.
  ///
  /// - Parameter name: The name, with or without a schema before it: `journal_mode`,
  ///   `main.page_count`.
  public func pragma(_ name: String) throws(SQLiteError) -> SQLValue? {
    try value("PRAGMA " + checked(name))
  }

  /// Sets a pragma and checks that it took the value.
  ///
  ///     try connection.setPragma("journal_mode", "wal")
  ///     try connection.setPragma("synchronous", "normal")   // reads back as 1
  ///     try connection.setPragma("cache_size", -2_000)
  ///
  /// Text is compared case-insensitively. Words that SQLite reads back as numbers are recognised:
  /// those of booleans and of `synchronous`, `auto_vacuum`, `temp_store` and `secure_delete`.
  ///
  /// - Parameters:
  ///   - name: The pragma, with or without a schema before it.
  ///   - value: An integer or a text.
  ///   - expected: What must be read back, if that differs from `value`.
  /// - Throws: ``SQLiteError`` with ``ResultCode/pragmaRefused`` if another value is read back.
  public func setPragma(
    _ name: String, _ value: SQLValue, expecting expected: SQLValue? = nil
  ) throws(SQLiteError) {
    let literal: String
    switch value {
    case .integer, .text: literal = value.description
    case .null, .real, .blob:
      throw SQLiteError(
        code: .misuse, message: "a pragma's value is an integer or a text, not \(value)",
        path: path)
    }
    let sql = "PRAGMA \(try checked(name)) = \(literal)"
    try execute(sql)
    let expected = expected ?? Self.readBack(of: value, pragma: name)
    let actual = try pragma(name)
    if !Self.same(actual, expected) {
      throw SQLiteError(
        code: .pragmaRefused,
        message: "\(name) should be \(expected) and is \(actual.map(\.description) ?? "unknown")",
        sql: sql, path: path)
    }
  }

  /// Pragmas take no parameters, so the name becomes part of the SQL and must be a safe identifier.
  private func checked(_ name: String) throws(SQLiteError) -> String {
    let isWord = name.utf8.allSatisfy { byte in
      byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
        || Unicode.Scalar(byte).properties.isASCIIHexDigit
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
    if name.isEmpty || !isWord {
      throw SQLiteError(
        code: .misuse, message: "'\(name)' is no name of a pragma", path: path)
    }
    return name
  }

  private static func same(_ actual: SQLValue?, _ expected: SQLValue) -> Bool {
    switch (actual, expected) {
    case (.text(let actual), .text(let expected)): actual.lowercased() == expected.lowercased()
    default: actual == expected
    }
  }

  /// The number that SQLite returns for a word.
  private static func readBack(of value: SQLValue, pragma name: String) -> SQLValue {
    guard case .text(let text) = value else { return value }
    let words: [String: Int64]? =
      switch name.split(separator: ".").last?.lowercased() {
      case "synchronous": ["off": 0, "normal": 1, "full": 2, "extra": 3]
      case "auto_vacuum": ["none": 0, "full": 1, "incremental": 2]
      case "temp_store": ["default": 0, "file": 1, "memory": 2]
      case "secure_delete": ["fast": 2]
      case "journal_mode", "locking_mode", "encoding": [:]
      default: nil
      }
    let word = text.lowercased()
    if let number = words?[word] { return .integer(number) }
    if words?.isEmpty == true { return value }
    switch word {
    case "on", "yes", "true": return .integer(1)
    case "off", "no", "false": return .integer(0)
    default: return Int64(word).map { .integer($0) } ?? value
    }
  }
}

// MARK: - Space

extension Connection {
  /// The database's page size in bytes.
  public func pageSize() throws(SQLiteError) -> Int { try number("main.page_size") }

  /// How many pages the database has, including free ones.
  public func pageCount() throws(SQLiteError) -> Int { try number("main.page_count") }

  /// How many of the database's pages are free.
  public func freelistCount() throws(SQLiteError) -> Int { try number("main.freelist_count") }

  /// Returns free pages to the file system, from the end of the file, in a database with
  /// incremental auto-vacuum.
  ///
  /// In WAL mode the file itself shrinks at the next checkpoint.
  ///
  /// - Parameter pages: The maximum number of pages; all of them by default.
  /// - Returns: How many pages were freed; 0 without incremental auto-vacuum.
  @discardableResult
  public func incrementalVacuum(pages: Int = .max) throws(SQLiteError) -> Int {
    guard pages > 0 else { return 0 }
    let before = try pageCount()
    // The pragma frees one page per step, so it must run to its end. Its argument is part of the
    // SQL, so the statement bypasses the cache.
    try execute("PRAGMA main.incremental_vacuum(\(min(pages, Int(Int32.max))))")
    return max(0, before - (try pageCount()))
  }

  private func number(_ pragma: String) throws(SQLiteError) -> Int {
    Int(try self.pragma(pragma)?.integer ?? 0)
  }
}
