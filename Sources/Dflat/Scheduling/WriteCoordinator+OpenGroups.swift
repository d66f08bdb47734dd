// What other threads do with a group that is open or being committed, and what is done while none
// is open.

extension WriteCoordinator {
  /// Reads from the open group, if a member of it may have written one of these types.
  /// - Returns: nil if there is no such group.
  func read<R: ~Copyable>(
    _ types: TypeSet, _ body: (CommitGroup) throws -> R
  ) throws -> R? {
    guard let written = written(types) else { return nil }
    return try written.use {
      // It may have been closed before the lock was granted, or have ended with a failed read.
      written.isOpen && written.writer.isAlive ? try body(written) : nil
    }
  }

  /// Returns when the changes of these types that are being committed are recorded.
  func awaitCommit(of types: TypeSet) { written(types)?.use {} }

  /// Commits the group in which a member may have written one of these types, or waits for its
  /// commit.
  func commitGroup(of types: TypeSet) {
    if capabilities.canNest { withoutOpenGroup {} } else { awaitCommit(of: types) }
  }

  /// Calls `body` while a storage transaction is open that keeps others from writing, and rolls it
  /// back. Called inside `withoutOpenGroup`.
  /// - Parameters:
  ///   - begin: Opens the storage transaction.
  ///   - body: Called on this thread, with the token of the storage transaction.
  func withLoneWriter<R>(
    _ begin: () throws -> any StorageWriter, _ body: (CommitToken?) throws -> R
  ) throws -> R {
    let slot = slots[0]
    let (writer, token) = try slot.callAlone {
      let writer = try begin()
      return (writer, writer.token)
    }
    defer { slot.callAlone { writer.rollback() } }
    return try body(token)
  }
}
