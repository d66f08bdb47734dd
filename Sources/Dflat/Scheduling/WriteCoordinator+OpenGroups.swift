// What other threads do with a group that is open or being committed.

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
}
