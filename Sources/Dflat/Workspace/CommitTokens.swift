// What a library that keeps something of its own beside a workspace can ask of it: whether others
// can change the data, and whether they have.
//
// Commit tokens come from the engine; see `SharedStorageEngine`. The token of a snapshot is known
// if the token before its first read is still current: no other connection has committed anything
// between, so none has between that token and the state that is read.

extension Workspace {
  /// Identifies this workspace: two references to the same one have the same identity. When the
  /// workspace is released, another one may get it.
  package var identity: ObjectIdentifier { ObjectIdentifier(_lifetime) }

  /// Whether there can be transactions; false for a workspace that was opened for reading only.
  package var isWritable: Bool { _core.isWritable }

  /// Whether other connections, as of other processes or workspaces, can change the same data.
  package var isShared: Bool { _core.isShared }

  /// Tells what other connections have committed until now: if it is equal to an earlier token of
  /// this workspace, they have committed nothing between.
  ///
  /// For caches of what was read. Take a token before you read, or `ReadContext.commitToken`, and
  /// keep it with what you have read; what other connections have changed since is found by
  /// comparing it with the present token. Changes of this workspace itself do not count: subscribe
  /// to these.
  ///
  /// May be called on any thread. On a server it sends a query; in a file it costs about as much as
  /// a lock.
  ///
  /// - Returns: nil if it is not known at the moment, as while a transaction of this workspace
  ///   begins or ends. A constant if the data is not shared; see ``isShared``.
  /// - Throws: `StorageError`.
  package func commitToken() throws -> CommitToken? { try _core.currentToken() }
}

extension ReadContext {
  /// The token of the state that this context reads; see `Workspace.commitToken()`. Nothing is read
  /// for it from a server.
  ///
  /// - Returns: nil if it is not known, as when another connection has just committed something.
  package var commitToken: CommitToken? {
    let thread = ThreadContext.current
    if let transaction = thread.transaction(of: core) { return transaction.lease?.group.token }
    guard core.isShared else { return .unshared }
    guard core.hasLocalToken, let open = thread.snapshots[ObjectIdentifier(core)],
      let now = try? core.currentToken()
    else { return nil }
    return now == open.token ? now : nil
  }
}

extension WriteContext {
  /// The token of what other connections had committed when the transaction began to write; see
  /// `Workspace.commitToken()`.
  ///
  /// - Returns: nil if the transaction has changed nothing yet, or if the token is not known, as
  ///   when others can commit while the transaction writes.
  package var commitToken: CommitToken? { transaction.lease?.group.token }

  /// Begins to write now, rather than at the first change.
  ///
  /// Until its first change a transaction only reads, and is run again if another connection has
  /// changed what it had read. Call this first in a transaction that must not be run again and
  /// again: no other connection commits from here on, unless it is on a server.
  ///
  /// - Throws: `StorageError`; `WorkspaceError` if the context is used after its closure has ended.
  package func beginWriting() throws {
    try scope.requireOpen()
    _ = try transaction.takeLease()
  }
}
