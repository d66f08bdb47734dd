// Databases in which one key has several values, sorted like keys.

public import CLMDB

extension Transaction {
  /// A number that grows with every transaction that has changed the environment.
  ///
  /// A reading transaction has that of the last one whose changes it sees; a writing one has the one after it.
  public var id: Int { state.pointer.map { Int(mdb_txn_id($0)) } ?? 0 }

  /// Whether it only reads.
  public var isReadOnly: Bool { state.isReadOnly }

  /// Opens a database of the environment in which a key has any number of values, and makes it if it is missing.
  ///
  /// Its values are as short as keys. A `Cursor` returns an entry for each of them.
  ///
  /// - Parameter name: The database's name.
  /// - Returns: Its handle, as that of `open(name:)`.
  /// - Throws: `MDBError`; `recordNotFound` in a read-only transaction if there is none with that name.
  public func openWithDuplicates(name: String) throws -> MDB_dbi {
    try open(name: name, flags: MDB_DUPSORT | (state.isReadOnly ? 0 : MDB_CREATE))
  }

  /// Opens a database of the environment if there is one with a name.
  ///
  /// - Parameter name: The database's name.
  /// - Returns: Its handle, as that of `open(name:)`; nil if there is none.
  /// - Throws: `MDBError`.
  public func openIfPresent(name: String) throws -> MDB_dbi? {
    do { return try open(name: name, flags: 0) } catch MDBError.recordNotFound { return nil }
  }

  /// Removes one value of a key.
  ///
  /// - Parameters:
  ///   - dbi: A database that was opened with duplicates.
  ///   - key: The key.
  ///   - value: The value.
  /// - Throws: `MDBError`; `recordNotFound` if the key does not have it.
  public func delete(dbi: MDB_dbi, key: MDB_val, value: MDB_val) throws {
    var key = key
    var value = value
    try state.check(mdb_del(try state.active(), dbi, &key, &value), about: key.name)
  }

  /// Removes all entries of a database.
  ///
  /// - Parameter dbi: The database.
  /// - Throws: `MDBError`.
  public func removeAll(dbi: MDB_dbi) throws {
    try state.check(mdb_drop(try state.active(), dbi, 0))
  }
}
