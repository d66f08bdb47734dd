// Copies of a store's directory while it is in use, also when its files are not in place any more.

internal import LMDB
internal import Platform

extension Store {
  /// Copies all records, one state of them, into another directory, which can be opened like this
  /// one.
  ///
  /// In a store of a `LockingDatabase`, transactions go on meanwhile; otherwise they wait. It works
  /// as well after a file of the directory was removed, moved or replaced while it was open
  /// (`MDBError.fileReplaced`): the copy has all that was committed.
  ///
  /// - Parameter path: An existing directory without a `data.mdb`.
  /// - Throws: `MDBError`: `failure(2, …)` for a missing directory, `failure(17, …)` if there is a
  ///   `data.mdb`, `failure(16, …)` inside a transaction of the same directory.
  public func backup(to path: String) throws {
    if openTransaction != nil {
      throw MDBError.failure(
        Int(EBUSY), "the directory cannot be copied inside a transaction of this thread")
    }
    let core = database.acquireLock(readOnly: true)
    defer { database.releaseLock(of: core, readOnly: true) }
    try core.environment.copy(to: path)
  }
}

extension BackgroundStore {
  /// Copies all records, one state of them, into another directory, on the calling thread;
  /// transactions go on meanwhile. See `Store.backup(to:)`.
  ///
  /// - Parameter path: An existing directory without a `data.mdb`.
  /// - Throws: `MDBError`.
  public nonisolated func backup(to path: String) throws { try store.backup(to: path) }
}
