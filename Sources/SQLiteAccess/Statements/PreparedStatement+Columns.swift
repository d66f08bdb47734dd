// Reading the columns of a statement's current row.
//
// A column is read as the requested type; SQLite converts if the stored type differs. A column that
// does not exist reads as NULL. Pointers refer to SQLite's own memory.

public import CSQLite

/// The type in which a value is stored.
public enum SQLType: Int32, Hashable, Sendable {
  /// A signed 64-bit integer.
  case integer = 1
  /// A floating-point number.
  case real = 2
  /// UTF-8 text.
  case text = 3
  /// Bytes.
  case blob = 4
  /// `NULL`.
  case null = 5
}

extension PreparedStatement where Self: ~Copyable {
  /// The column's value as an integer; 0 if it is `NULL`.
  @inlinable
  public func int64(_ column: Int) -> Int64 {
    sqlite3_column_int64(_handle, Int32(clamping: column))
  }

  /// The column's value as a floating-point number; 0 if it is `NULL`.
  @inlinable
  public func double(_ column: Int) -> Double {
    sqlite3_column_double(_handle, Int32(clamping: column))
  }

  /// Whether the column is `NULL`.
  @inlinable
  public func isNull(_ column: Int) -> Bool {
    sqlite3_column_type(_handle, Int32(clamping: column)) == SQLITE_NULL
  }

  /// The type in which the column's value is stored.
  ///
  /// Ask before reading: after a conversion the result is undefined.
  @inlinable
  public func type(_ column: Int) -> SQLType {
    SQLType(rawValue: sqlite3_column_type(_handle, Int32(clamping: column))) ?? .null
  }

  /// The column's bytes, of a blob or of UTF-8 text.
  ///
  /// - Returns: SQLite's own memory, valid until the next call of ``step()`` or ``reset()``, until
  ///   the same column is read as another type, or until the statement goes away. Empty if the
  ///   column is `NULL` or has no bytes.
  @inlinable
  public func blob(_ column: Int) -> UnsafeRawBufferPointer {
    let column = Int32(clamping: column)
    // The order matters: reading the pointer may convert the value, and the count is that of the
    // result.
    let bytes = sqlite3_column_blob(_handle, column)
    return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(_handle, column)))
  }

  /// The column's value as UTF-8 text, in place.
  ///
  /// - Returns: SQLite's own memory, valid as with ``blob(_:)``, without a terminating NUL; nil if
  ///   the column is `NULL`. Text in a file is not necessarily valid UTF-8.
  @inlinable
  public func utf8(_ column: Int) -> UnsafeBufferPointer<UInt8>? {
    let column = Int32(clamping: column)
    guard let bytes = sqlite3_column_text(_handle, column) else { return nil }
    return UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(_handle, column)))
  }

  /// The column's value as text; nil if it is `NULL`.
  ///
  /// A NUL is an ordinary character. Invalid UTF-8 is repaired with U+FFFD.
  @inlinable
  public func string(_ column: Int) -> String? {
    guard let bytes = utf8(column) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A copy of the column's value in its stored type.
  public func value(_ column: Int) -> SQLValue {
    switch type(column) {
    case .integer: .integer(int64(column))
    case .real: .real(double(column))
    case .text: .text(string(column) ?? "")
    case .blob: .blob([UInt8](blob(column)))
    case .null: .null
    }
  }

  /// Copies of the values of the current row.
  public func row() -> [SQLValue] {
    (0..<columnCount).map { value($0) }
  }

  /// Copies of the values of all rows that are left.
  func rows() throws(SQLiteError) -> [[SQLValue]] {
    var rows: [[SQLValue]] = []
    while try step() { rows.append(row()) }
    return rows
  }
}
