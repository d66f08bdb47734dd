// Reading and writing single entries.

public import CLMDB
internal import Platform

extension Transaction {
  /// Reads the value of a key.
  ///
  /// - Parameters:
  ///   - dbi: The database.
  ///   - key: The key.
  /// - Returns: The bytes, not copied; valid until the transaction writes or ends. Nil if the key
  ///   does not exist.
  /// - Throws: `MDBError`.
  public func get(dbi: MDB_dbi, key: MDB_val) throws -> MDB_val? {
    var key = key
    var value = MDB_val()
    let code = mdb_get(try state.active(), dbi, &key, &value)
    if code == MDB_NOTFOUND { return nil }
    try state.check(code)
    return value
  }

  /// The value of a key, not copied. Nil if the key does not exist or the transaction has ended.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - dbi: The database.
  /// - Returns: The bytes.
  /// - Throws: `MDBError`.
  package func bytes(
    of key: UnsafeRawBufferPointer, in dbi: MDB_dbi
  ) throws -> UnsafeRawBufferPointer? {
    guard let pointer = state.pointer else { return nil }
    var key = MDB_val(buffer: key)
    var value = MDB_val()
    let code = mdb_get(pointer, dbi, &key, &value)
    if code == MDB_NOTFOUND { return nil }
    try state.check(code)
    return value.bufferPointer
  }

  /// Reads the value of a text key.
  ///
  /// - Parameters:
  ///   - dbi: The database.
  ///   - key: The key.
  /// - Returns: The bytes, not copied; valid until the transaction writes or ends. Nil if the key
  ///   does not exist.
  /// - Throws: `MDBError`.
  public func get(dbi: MDB_dbi, key: String) throws -> MDB_val? {
    try key.withMDBVal { try get(dbi: dbi, key: $0) }
  }

  /// Reads the value of a key as text.
  ///
  /// - Parameters:
  ///   - dbi: The database.
  ///   - key: The key.
  /// - Returns: A copy; nil if the key does not exist.
  /// - Throws: `MDBError`; `problem` for bytes that are not UTF-8.
  public func getString(dbi: MDB_dbi, key: MDB_val) throws -> String? {
    guard let value = try get(dbi: dbi, key: key) else { return nil }
    guard let text = String(mdbVal: value) else { throw MDBError.problem }
    return text
  }

  /// Reads the value of a text key as text.
  ///
  /// - Parameters:
  ///   - dbi: The database.
  ///   - key: The key.
  /// - Returns: A copy; nil if the key does not exist.
  /// - Throws: `MDBError`; `problem` for bytes that are not UTF-8.
  public func getString(dbi: MDB_dbi, key: String) throws -> String? {
    try key.withMDBVal { try getString(dbi: dbi, key: $0) }
  }

  /// Calls a closure with the value of a key, not copied. The bytes cannot escape from the closure.
  ///
  /// - Parameters:
  ///   - dbi: The database.
  ///   - key: The key.
  ///   - body: Receives the bytes. It must not write in this transaction.
  /// - Returns: What the closure returns; nil if the key does not exist.
  /// - Throws: The closure's error, or `MDBError`.
  public func withBytes<T>(
    dbi: MDB_dbi, key: MDB_val, _ body: (RawSpan) throws -> T
  ) throws -> T? {
    guard let value = try get(dbi: dbi, key: key) else { return nil }
    return try body(value.span)
  }

  /// Stores a value under a key, replacing any existing one.
  ///
  /// - Parameters:
  ///   - dbi: The database.
  ///   - key: The key: 1 to `Environment.maximumKeySize` bytes.
  ///   - value: The bytes. They are copied.
  /// - Throws: `MDBError`.
  public func set(dbi: MDB_dbi, key: MDB_val, value: MDB_val) throws {
    var key = key
    var value = value
    try state.check(mdb_put(try state.active(), dbi, &key, &value, 0), about: key.name)
  }

  /// Stores a value under a key, replacing any existing one.
  ///
  /// - Parameters:
  ///   - dbi: The database.
  ///   - keyBuffer: The key: 1 to `Environment.maximumKeySize` bytes.
  ///   - valueBuffer: The bytes. They are copied.
  /// - Throws: `MDBError`.
  public func set(
    dbi: MDB_dbi, keyBuffer: UnsafeRawBufferPointer, valueBuffer: UnsafeRawBufferPointer
  ) throws {
    try set(dbi: dbi, key: MDB_val(buffer: keyBuffer), value: MDB_val(buffer: valueBuffer))
  }

  /// Stores a value under a text key, replacing any existing one.
  ///
  /// - Parameters:
  ///   - dbi: The database.
  ///   - key: The key.
  ///   - value: The bytes. They are copied.
  /// - Throws: `MDBError`.
  public func set(dbi: MDB_dbi, key: String, value: MDB_val) throws {
    try key.withMDBVal { try set(dbi: dbi, key: $0, value: value) }
  }

  /// Stores text under a text key, replacing any existing value.
  ///
  /// - Parameters:
  ///   - dbi: The database.
  ///   - key: The key.
  ///   - value: The text.
  /// - Throws: `MDBError`.
  public func set(dbi: MDB_dbi, key: String, value: String) throws {
    try value.withMDBVal { try set(dbi: dbi, key: key, value: $0) }
  }

  /// Reserves space for a value under a key, replacing any existing one. The caller writes the
  /// value directly into the storage.
  ///
  /// - Parameters:
  ///   - dbi: The database.
  ///   - key: The key.
  ///   - size: The number of bytes of the value.
  /// - Returns: The space. All of it must be written before the next call of this transaction, and
  ///   none of it afterwards.
  /// - Throws: `MDBError`; `failure(EINVAL, …)` in a database with duplicates, which orders values
  ///   by their bytes.
  public func reserve(dbi: MDB_dbi, key: MDB_val, size: Int) throws -> UnsafeMutableRawBufferPointer
  {
    var flags: UInt32 = 0
    try state.check(mdb_dbi_flags(try state.active(), dbi, &flags))
    // LMDB would read the value's bytes, which are not there yet.
    if flags & UInt32(MDB_DUPSORT) != 0 {
      throw MDBError.failure(Int(EINVAL), "no space can be reserved in a database with duplicates")
    }
    var key = key
    var value = MDB_val(mv_size: size, mv_data: nil)
    let code = mdb_put(try state.active(), dbi, &key, &value, UInt32(MDB_RESERVE))
    try state.check(code, about: key.name)
    return UnsafeMutableRawBufferPointer(start: value.mv_data, count: size)
  }

  /// Removes the entry with a key.
  ///
  /// - Parameters:
  ///   - dbi: The database.
  ///   - key: The key.
  /// - Throws: `MDBError`; `recordNotFound` if the key does not exist.
  public func delete(dbi: MDB_dbi, key: MDB_val) throws {
    var key = key
    try state.check(mdb_del(try state.active(), dbi, &key, nil), about: key.name)
  }

  /// Removes the entry with a text key.
  ///
  /// - Parameters:
  ///   - dbi: The database.
  ///   - key: The key.
  /// - Throws: `MDBError`; `recordNotFound` if the key does not exist.
  public func delete(dbi: MDB_dbi, key: String) throws {
    try key.withMDBVal { try delete(dbi: dbi, key: $0) }
  }

  /// The number of entries of a database in this transaction. Does not read them.
  ///
  /// - Parameter dbi: The database.
  /// - Returns: The number.
  /// - Throws: `MDBError`.
  public func count(dbi: MDB_dbi) throws -> Int {
    var statistics = MDB_stat()
    try state.check(mdb_stat(try state.active(), dbi, &statistics))
    return statistics.ms_entries
  }
}
