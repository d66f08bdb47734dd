// Databases in which a key can have several values, sorted like keys. Also the transaction's id.

public import CLMDB

extension Transaction {
  /// A number that increases with every transaction that changes the environment.
  ///
  /// A read-only transaction has the id of the last transaction whose changes it sees; a writing
  /// transaction has the next one.
  public var id: Int { state.pointer.map { Int(mdb_txn_id($0)) } ?? 0 }

  /// Whether the transaction is read-only.
  public var isReadOnly: Bool { state.isReadOnly }

  /// Opens a database in which a key can have any number of values, and creates it if it does not
  /// exist.
  ///
  /// Its values have the same size limit as keys. A `Cursor` returns an entry for each of them.
  ///
  /// - Parameter name: The database's name.
  /// - Returns: Its handle, as in `open(name:)`.
  /// - Throws: `MDBError`; `recordNotFound` in a read-only transaction if there is none with that
  ///   name.
  public func openWithDuplicates(name: String) throws -> MDB_dbi {
    try open(name: name, flags: MDB_DUPSORT | (state.isReadOnly ? 0 : MDB_CREATE))
  }

  /// Opens a database of the environment if it exists.
  ///
  /// - Parameter name: The database's name.
  /// - Returns: Its handle, as in `open(name:)`; nil if there is none.
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
  /// - Throws: `MDBError`; `recordNotFound` if the key does not have this value.
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
