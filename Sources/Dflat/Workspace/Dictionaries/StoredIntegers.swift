// Integers of dictionaries as they are stored, whatever the workspace remembers of them.
//
// A dictionary's values are remembered for good. What another connection has stored since is found
// only in the state that a snapshot or transaction reads.

extension ReadContext {
  /// The integer under a key in the state that this context reads; nil if there is none.
  /// - Throws: `StorageError`; `WorkspaceError` if the context is used after its closure has ended.
  package func storedInteger(_ key: String, inDictionary namespace: String) throws -> Int? {
    try scope.requireOpen()
    return try core.fetchRow(DictionaryItem.query(key, in: namespace))?.storedInteger
  }
}

extension WriteContext {
  /// The integer under a key as the transaction finds it stored, without its own changes; nil if
  /// there is none. A commit of another connection that changes it is a conflict.
  /// - Throws: `StorageError`.
  package func storedInteger(_ key: String, inDictionary namespace: String) throws -> Int? {
    let query = DictionaryItem.query(key, in: namespace)
    let rows = try transaction.read(.query(query)) { try $0.rows(query, mark: .none) }
    return rows.count > 0 ? try rows[0].storedInteger : nil
  }

  /// The token of what other connections had committed when the transaction began to write; nil if
  /// it has not, or if that is not known.
  package var commitToken: CommitToken? { transaction.lease?.group.token }

  /// Takes the write lease now. From here on no other connection can come between.
  /// - Throws: `StorageError`.
  package func beginWriting() throws { _ = try transaction.takeLease() }
}

extension Row {
  fileprivate var storedInteger: Int? {
    get throws {
      if case .int(let number) = try DictionaryItem.contents(of: self) { number } else { nil }
    }
  }
}
