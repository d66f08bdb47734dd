// Binding values to a statement's parameters.
//
// Parameters are numbered from 1. A binding lasts until it is replaced or cleared, or until the
// statement is released; a reset keeps it. A running statement must be reset before binding.
// A statement whose parameters have not all got a value is refused when it is stepped; see
// Parameters.swift.

public import CSQLite

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension PreparedStatement where Self: ~Copyable {
  /// Binds an integer.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if there is no such parameter, and with
  ///   ``ResultCode/misuse`` if the statement is running. The same holds for every other `bind`.
  @inlinable
  public func bind(_ index: Int, _ value: Int64) throws(SQLiteError) {
    try bound(index, sqlite3_bind_int64(_handle, Int32(clamping: index), value))
  }

  /// Binds an integer.
  @inlinable
  public func bind(_ index: Int, _ value: Int) throws(SQLiteError) {
    try bind(index, Int64(value))
  }

  /// Binds a floating-point number. A NaN becomes `NULL`.
  @inlinable
  public func bind(_ index: Int, _ value: Double) throws(SQLiteError) {
    try bound(index, sqlite3_bind_double(_handle, Int32(clamping: index), value))
  }

  /// Binds a copy of a text.
  @inlinable
  public func bind(_ index: Int, _ value: String) throws(SQLiteError) {
    var value = value
    let result = value.withUTF8 { bytes in
      csqlite_bind_text_copying(
        _handle, Int32(clamping: index), bytes.baseAddress, UInt64(bytes.count))
    }
    try bound(index, result)
  }

  /// Binds a copy of bytes, as a blob.
  public func bind(_ index: Int, _ value: [UInt8]) throws(SQLiteError) {
    let result = value.withUnsafeBytes {
      csqlite_bind_blob_copying(_handle, Int32(clamping: index), $0.baseAddress, UInt64($0.count))
    }
    try bound(index, result)
  }

  /// Binds a copy of bytes, as a blob.
  public func bind(_ index: Int, _ value: Data) throws(SQLiteError) {
    let result = value.withUnsafeBytes {
      csqlite_bind_blob_copying(_handle, Int32(clamping: index), $0.baseAddress, UInt64($0.count))
    }
    try bound(index, result)
  }

  /// Binds a value of a type that SQL can store: a Boolean, a date, a UUID, your own enumeration,
  /// or an optional of these, whose nil is `NULL`.
  ///
  /// ``SQLConvertible`` lists the types and the form in which they are stored.
  public func bind(_ index: Int, _ value: some SQLConvertible) throws(SQLiteError) {
    try bind(index, value: value.sqlValue)
  }

  /// Binds a value to the parameter `name`.
  ///
  ///     try query.bind(":after", Date(timeIntervalSinceNow: -3600))
  ///
  /// - Parameters:
  ///   - name: The name as it stands in the statement, with its `:`, `@` or `$`.
  ///   - value: The value; nil is `NULL`.
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if the statement has no such parameter.
  public func bind(_ name: String, _ value: some SQLConvertible) throws(SQLiteError) {
    try bind(number(ofParameter: name), value: value.sqlValue)
  }

  private func number(ofParameter name: String) throws(SQLiteError) -> Int {
    if let index = parameterIndex(name) { return index }
    let names = (0..<parameterCount).map { self.name(ofParameter: $0 + 1) }
    throw SQLiteError(
      code: .range,
      message: "there is no parameter \(name); "
        + (names.isEmpty
          ? "the statement has none" : "the statement has \(names.joined(separator: ", "))"),
      sql: sql, path: connection.path)
  }

  /// Binds `NULL`.
  @inlinable
  public func bindNull(_ index: Int) throws(SQLiteError) {
    try bound(index, sqlite3_bind_null(_handle, Int32(clamping: index)))
  }

  /// Binds a copy of bytes, as a blob.
  @inlinable
  public func bindBlob(_ index: Int, copying bytes: UnsafeRawBufferPointer) throws(SQLiteError) {
    try bound(
      index,
      csqlite_bind_blob_copying(
        _handle, Int32(clamping: index), bytes.baseAddress, UInt64(bytes.count)))
  }

  /// Binds bytes in place, as a blob.
  ///
  /// The caller keeps the memory valid and unchanged as long as a step may read it: until the
  /// binding is replaced or cleared, or the statement is reset for the last time before that.
  @inlinable
  public func bindBlob(_ index: Int, inPlace bytes: UnsafeRawBufferPointer) throws(SQLiteError) {
    try bound(
      index,
      csqlite_bind_blob_in_place(
        _handle, Int32(clamping: index), bytes.baseAddress, UInt64(bytes.count)))
  }

  /// Binds a copy of UTF-8 text.
  @inlinable
  public func bindText(_ index: Int, copying utf8: UnsafeRawBufferPointer) throws(SQLiteError) {
    try bound(
      index,
      csqlite_bind_text_copying(
        _handle, Int32(clamping: index), utf8.baseAddress, UInt64(utf8.count)))
  }

  /// Binds UTF-8 text in place, with the same requirements as ``bindBlob(_:inPlace:)``.
  @inlinable
  public func bindText(_ index: Int, inPlace utf8: UnsafeRawBufferPointer) throws(SQLiteError) {
    try bound(
      index,
      csqlite_bind_text_in_place(
        _handle, Int32(clamping: index), utf8.baseAddress, UInt64(utf8.count)))
  }

  /// Binds `count` bytes of zeros, as a blob.
  @inlinable
  public func bindZeros(_ index: Int, count: Int) throws(SQLiteError) {
    // The conversion is unchecked: a negative count becomes a huge one, which SQLite refuses.
    try bound(
      index,
      sqlite3_bind_zeroblob64(
        _handle, Int32(clamping: index), UInt64(bitPattern: Int64(count))))
  }

  /// Binds a copy of a value.
  public func bind(_ index: Int, value: SQLValue) throws(SQLiteError) {
    switch value {
    case .null: try bindNull(index)
    case .integer(let value): try bind(index, value)
    case .real(let value): try bind(index, value)
    case .text(let value): try bind(index, value)
    case .blob(let bytes): try bind(index, bytes)
    }
  }

  /// Binds copies of values to the parameters 1, 2, 3 …, one to each.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if there are more or fewer values than
  ///   parameters; none is bound then.
  public func bind(_ values: [SQLValue]) throws(SQLiteError) {
    if values.count != parameterCount {
      throw SQLiteError(
        code: .range,
        message: "there are \(values.count) values for \(parameterCount) parameters", sql: sql,
        path: connection.path)
    }
    for (offset, value) in values.enumerated() { try bind(offset + 1, value: value) }
  }

  /// Binds copies of values to the parameters of these names.
  ///
  ///     try query.bind([":name": "Ada", ":age": 36])
  ///
  /// - Parameter values: The names as they stand in the statement, with their `:`, `@` or `$`.
  ///   Other parameters keep their bindings.
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` for a name that no parameter has.
  public func bind(_ values: [String: SQLValue]) throws(SQLiteError) {
    for (name, value) in values { try bind(number(ofParameter: name), value: value) }
  }

  /// Binds `NULL` to every parameter.
  @inlinable
  public func clearBindings() {
    _ = sqlite3_clear_bindings(_handle)
    _parameters.pointee.bindAll()
  }

  /// Takes note that the parameter `index` has a value, if SQLite accepted it.
  @inlinable
  func bound(_ index: Int, _ result: Int32) throws(SQLiteError) {
    if result != SQLITE_OK { throw failure(result) }
    _parameters.pointee.bind(index)
  }
}
