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
      return drafts.add(
        DictionaryDraft(store, try takeLease(writingShared: true).group) { [core] in
          core.writeAgain(store)
        })
    } catch {
      fail(error)
      return nil
    }
  }

  /// The contents of a key where other connections may have changed what memory knows.
  func currentContents(of key: DictionaryKey, in draft: DictionaryDraft) -> DictionaryContents {
    if let contents = draft.contents(of: key) { return contents }
    // What has flown and is not settled is either in the storage transaction or waits again.
    draft.store.settleAll()
    if let contents = draft.store.pendingContents(of: key) { return contents }
    guard let lease else { return .absent }
    do {
      let row = try lease.group.use {
        try lease.group.writer.row(
          of: DictionaryItem.schema, with: draft.store.keyValues(key))
      }
      guard let row else { return .absent }
      do { return try DictionaryItem.contents(of: row) } catch { core.report(error) }
    } catch { fail(error) }
    return .absent
  }

  func dictionaryKeys(of store: DictionaryStore) -> [String] {
    guard let draft = draft(of: store, for: "keys was read"), let lease else { return [] }
    // Keys that were set outside of transactions and are not written yet count, too.
    var keys = Set<DictionaryKey>()
    if !draft.erases {
      do {
        let rows = try lease.group.use {
          try lease.group.writer.rows(
            .query(DictionaryItem.query(in: store.namespace)), mark: .none
          )
          .map { store.key(DictionaryItem.key(of: $0)) }
        }
        // What is not pending is in the storage transaction, and what memory knows may be older
        // than that.
        store.settleAll()
        let (present, absent, isErasing) = store.difference(onlyPending: true)
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
