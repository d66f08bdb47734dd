// Binding values to a statement's parameters.
//
// Parameters are numbered from 1. A binding lasts until it is replaced or cleared, or until the
// statement is released; a reset keeps it. A running statement must be reset before binding.

public import CSQLite

extension PreparedStatement where Self: ~Copyable {
  /// Binds an integer.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/range`` if there is no such parameter, and with
  ///   ``ResultCode/misuse`` if the statement is running. The same holds for every other `bind`.
  @inlinable
  public func bind(_ index: Int, _ value: Int64) throws(SQLiteError) {
    try check(sqlite3_bind_int64(_handle, Int32(clamping: index), value))
  }

  /// Binds an integer.
  @inlinable
  public func bind(_ index: Int, _ value: Int) throws(SQLiteError) {
    try bind(index, Int64(value))
  }

  /// Binds a floating-point number. A NaN becomes `NULL`.
  @inlinable
  public func bind(_ index: Int, _ value: Double) throws(SQLiteError) {
    try check(sqlite3_bind_double(_handle, Int32(clamping: index), value))
  }

  /// Binds a copy of a text.
  @inlinable
  public func bind(_ index: Int, _ value: String) throws(SQLiteError) {
    var value = value
    let result = value.withUTF8 { bytes in
      csqlite_bind_text_copying(
        _handle, Int32(clamping: index), bytes.baseAddress, UInt64(bytes.count))
    }
    try check(result)
  }

  /// Binds `NULL`.
  @inlinable
  public func bindNull(_ index: Int) throws(SQLiteError) {
    try check(sqlite3_bind_null(_handle, Int32(clamping: index)))
  }

  /// Binds a copy of bytes, as a blob.
  @inlinable
  public func bindBlob(_ index: Int, copying bytes: UnsafeRawBufferPointer) throws(SQLiteError) {
    try check(
      csqlite_bind_blob_copying(
        _handle, Int32(clamping: index), bytes.baseAddress, UInt64(bytes.count)))
  }

  /// Binds bytes in place, as a blob.
  ///
  /// The caller keeps the memory valid and unchanged as long as a step may read it: until the
  /// binding is replaced or cleared, or the statement is reset for the last time before that.
  @inlinable
  public func bindBlob(_ index: Int, inPlace bytes: UnsafeRawBufferPointer) throws(SQLiteError) {
    try check(
      csqlite_bind_blob_in_place(
        _handle, Int32(clamping: index), bytes.baseAddress, UInt64(bytes.count)))
  }

  /// Binds a copy of UTF-8 text.
  @inlinable
  public func bindText(_ index: Int, copying utf8: UnsafeRawBufferPointer) throws(SQLiteError) {
    try check(
      csqlite_bind_text_copying(
        _handle, Int32(clamping: index), utf8.baseAddress, UInt64(utf8.count)))
  }

  /// Binds UTF-8 text in place, with the same requirements as ``bindBlob(_:inPlace:)``.
  @inlinable
  public func bindText(_ index: Int, inPlace utf8: UnsafeRawBufferPointer) throws(SQLiteError) {
    try check(
      csqlite_bind_text_in_place(
        _handle, Int32(clamping: index), utf8.baseAddress, UInt64(utf8.count)))
  }

  /// Binds `count` bytes of zeros, as a blob.
  @inlinable
  public func bindZeros(_ index: Int, count: Int) throws(SQLiteError) {
    // The conversion is unchecked: a negative count becomes a huge one, which SQLite refuses.
    try check(
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
    case .blob(let bytes):
      let result = bytes.withUnsafeBytes {
        csqlite_bind_blob_copying(
          _handle, Int32(clamping: index), $0.baseAddress, UInt64($0.count))
      }
      try check(result)
    }
  }

  /// Binds copies of values to the parameters 1, 2, 3 …. Other parameters keep their bindings.
  public func bind(_ values: [SQLValue]) throws(SQLiteError) {
    for (offset, value) in values.enumerated() { try bind(offset + 1, value: value) }
  }

  /// Binds `NULL` to every parameter.
  @inlinable
  public func clearBindings() {
    _ = sqlite3_clear_bindings(_handle)
  }

  @inlinable
  func check(_ result: Int32) throws(SQLiteError) {
    if result != SQLITE_OK { throw failure(result) }
  }
}
