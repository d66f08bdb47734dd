// DictionaryDraft: what a transaction does to the dictionary.
//
//  - Using the dictionary of a transaction takes the write lock, so one transaction at a time does it, and each sees what those
//    before it have left, committed or not.
//  - The changes are written at the end of the handler, behind what was set outside of transactions before. They are committed or
//    undone with the objects; then memory follows, and subscribers are told.

import Platform

/// Unchecked: changed by the thread of the transaction; others see it once it is added to the store, and from then on it stays the same.
final class DictionaryDraft: @unchecked Sendable {
  let store: DictionaryStore
  let group: CommitGroup
  var erases = false
  var changes: [DictionaryKey: DictionaryContents] = [:]
  /// Its place among all changes.
  var change: Int64 = 0
  /// What was set before outside of transactions, and is written in the same turn.
  var batch: DictionaryBatch?

  init(_ store: DictionaryStore, _ group: CommitGroup) {
    self.store = store
    self.group = group
  }

  /// nil if it says nothing of the key.
  func contents(of key: DictionaryKey) -> DictionaryContents? {
    changes[key] ?? (erases ? .absent : nil)
  }

  func write(to writer: any StorageWriter) throws {
    store.begin(self)
    try batch?.write(to: writer)
    store.add(self)
    if erases { try DictionaryItem.eraseAll(in: store.namespace, writer) }
    for (key, contents) in changes {
      if case .encoded(let value) = contents, value.bytes == nil { continue }
      _ = try DictionaryItem.store(key.text, in: store.namespace, contents, row: -1, writer)
    }
  }

  /// The transaction has ended.
  func end(_ failure: (any Error)?) {
    if let batch { store.settle(batch, failure) }
    for news in store.publish(self, isCommitted: failure == nil) { news.deliver() }
  }
}

extension WorkspaceCore {
  /// What transactions that hold the write lock see of a key, besides what everybody sees.
  func draftedContents(
    of key: DictionaryKey, in draft: DictionaryDraft
  ) -> DictionaryContents? {
    if let contents = draft.contents(of: key) { return contents }
    for other in draft.store.drafts(of: key).reversed() {
      let isLost = committer.use { other.group.failure != nil }
      if !isLost, let contents = other.contents(of: key) { return contents }
    }
    return nil
  }
}
