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

/// What a transaction does to dictionaries.
///
/// Unchecked: changed by the transaction's thread while its handler runs, and only read afterwards.
final class DictionaryDrafts: TransactionAddition, @unchecked Sendable {
  private var drafts: [DictionaryDraft] = []

  func of(_ store: DictionaryStore) -> DictionaryDraft? { drafts.first { $0.store === store } }

  /// - Returns: The draft.
  func add(_ draft: DictionaryDraft) -> DictionaryDraft {
    drafts.append(draft)
    return draft
  }

  func write(in transaction: Transaction) {
    if transaction.isAborted { return }
    for draft in drafts where draft.erases || !draft.changes.isEmpty {
      do { try transaction.writing { try draft.write(to: $0) } } catch {
        return transaction.fail(error)
      }
    }
  }

  func end(_ failure: (any Error)?) {
    for draft in drafts { draft.end(failure) }
  }
}
