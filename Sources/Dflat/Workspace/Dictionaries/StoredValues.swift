// Values of dictionaries as they are stored, whatever the workspace remembers of them.
//
// A dictionary's values are remembered for good. What another connection has stored since is found
// only in the state that a snapshot or transaction reads.

extension ReadContext {
  /// The value that a dictionary has under a key in the state that this context reads.
  ///
  ///     let (version, posts) = try dflat.read { context in
  ///       (try context.storedValue("version", as: Int.self),
  ///        try context.fetch(for: Post.self).all())
  ///     }
  ///
  /// The workspace's dictionary may remember what another connection has changed since, and has
  /// values that are not written yet. This one belongs to the objects that the context finds. It is
  /// looked up at each call.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: `Bool`, `Int`, `UInt`, `Float`, `Double` or `String`.
  ///   - namespace: The namespace of the dictionary; see `Workspace.dictionary(namespace:)`.
  /// - Returns: nil if nothing is stored, or a value of another type.
  /// - Throws: `StorageError`; `WorkspaceError` if the context is used after its closure has ended.
  package func storedValue<Value: DictionaryScalar>(
    _ key: String, as type: Value.Type, inDictionary namespace: String = ""
  ) throws -> Value? {
    try scope.requireOpen()
    if let transaction = ThreadContext.current.transaction(of: core) {
      return try transaction.storedValue(key, in: namespace)
    }
    return try core.fetchRow(DictionaryItem.query(key, in: namespace))?.storedValue()
  }
}

extension WriteContext {
  /// The value that a dictionary has under a key as the transaction finds it stored.
  ///
  /// Unlike a dictionary of the transaction this takes no write lease, and it does not see what the
  /// transaction has set. If another connection changes the value before the transaction begins to
  /// write, the closure runs again.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - type: `Bool`, `Int`, `UInt`, `Float`, `Double` or `String`.
  ///   - namespace: The namespace of the dictionary; see `Workspace.dictionary(namespace:)`.
  /// - Returns: nil if nothing is stored, or a value of another type.
  /// - Throws: `StorageError`; `WorkspaceError` if the context is used after its closure has ended.
  package func storedValue<Value: DictionaryScalar>(
    _ key: String, as type: Value.Type, inDictionary namespace: String = ""
  ) throws -> Value? {
    try scope.requireOpen()
    return try transaction.storedValue(key, in: namespace)
  }
}

extension Transaction {
  fileprivate func storedValue<Value: DictionaryScalar>(
    _ key: String, in namespace: String
  ) throws -> Value? {
    let query = DictionaryItem.query(key, in: namespace)
    let rows = try read(.query(query)) { try $0.rows(.query(query), mark: .none) }
    return rows.count > 0 ? try rows[0].storedValue() : nil
  }
}

extension Row {
  fileprivate func storedValue<Value: DictionaryScalar>() throws -> Value? {
    Value._dictionaryValue(DictionaryStored(try DictionaryItem.contents(of: self)))
  }
}
