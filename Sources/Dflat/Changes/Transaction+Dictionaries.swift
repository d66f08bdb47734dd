// What a transaction does to dictionaries: drafts, which are written when its handler has returned.

extension Transaction {
  func _dictionary(_ namespace: String) -> any WorkspaceDictionary {
    StoredDictionary(workspace, workspace.dictionaries.store(namespace), in: self)
  }

  /// Whether it has its turn to write.
  var isWriting: Bool { turn != nil }

  /// What it does to a dictionary; nil if the transaction has failed.
  func draft(of store: DictionaryStore, for call: String) -> DictionaryDraft? {
    require(
      isOpen && ThreadContext.current.transaction === self,
      "\(call) through a transaction outside of its changes handler: use the workspace's dictionary"
    )
    if isAborted { return nil }
    if let draft = drafts.first(where: { $0.store === store }) { return draft }
    do {
      let draft = DictionaryDraft(store, try takeTurn().group)
      drafts.append(draft)
      return draft
    } catch {
      fail(error)
      return nil
    }
  }

  func dictionaryKeys(of store: DictionaryStore) -> [String] {
    guard let draft = draft(of: store, for: "keys was read"), let turn else { return [] }
    // Those that were set outside of transactions and are not written count, too.
    var keys = Set<DictionaryKey>()
    if !draft.erases {
      do {
        let rows = try workspace.committer.use {
          try turn.group.writer.rows(DictionaryItem.query(in: store.namespace), mark: .none)
            .map { store.key(DictionaryItem.key(of: $0)) }
        }
        let (present, absent, isErasing) = store.difference()
        if !isErasing { keys.formUnion(rows) }
        keys.subtract(absent)
        keys.formUnion(present)
      } catch { fail(error) }
    }
    for (key, contents) in draft.changes {
      if contents.isAbsent { keys.remove(key) } else { keys.insert(key) }
    }
    return keys.map(\.text)
  }

  /// Writes what it does to dictionaries.
  func writeDrafts() {
    guard !isAborted, let turn else { return }
    for draft in drafts where draft.erases || !draft.changes.isEmpty {
      do { try workspace.committer.use { try draft.write(to: turn.group.writer) } } catch {
        return fail(error)
      }
    }
  }
}
