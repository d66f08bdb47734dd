// A transaction's changes to dictionaries: drafts, which are written when its handler has returned.

extension Transaction {
  func _dictionary(_ namespace: String) -> any WorkspaceDictionary {
    StoredDictionary(core, core.dictionaries.store(namespace), in: self)
  }

  /// Whether the transaction holds the write lease.
  var isWriting: Bool { lease != nil }

  /// The draft of a dictionary in this transaction; nil if the transaction has failed.
  func draft(of store: DictionaryStore, for call: String) -> DictionaryDraft? {
    require(
      isOpen && ThreadContext.current.transaction === self,
      "\(call) through a transaction outside of its changes handler: use the workspace's dictionary"
    )
    if isAborted { return nil }
    let drafts = addition as? DictionaryDrafts ?? DictionaryDrafts()
    addition = drafts
    if let draft = drafts.of(store) { return draft }
    do {
      return drafts.add(DictionaryDraft(store, try takeLease().group))
    } catch {
      fail(error)
      return nil
    }
  }

  func dictionaryKeys(of store: DictionaryStore) -> [String] {
    guard let draft = draft(of: store, for: "keys was read"), let lease else { return [] }
    // Keys that were set outside of transactions and are not written yet count, too.
    var keys = Set<DictionaryKey>()
    if !draft.erases {
      do {
        let rows = try workspace.coordinator.use {
          try lease.group.writer.rows(DictionaryItem.query(in: store.namespace), mark: .none)
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
}
