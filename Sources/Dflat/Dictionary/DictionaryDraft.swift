// DictionaryDraft: the changes of a transaction to the dictionary.
//
//  - Using the dictionary in a transaction takes a write lease, and the right to write the tables
//    of all types. So one transaction at a time does it, and each sees what the previous ones have
//    written, committed or not.
//  - The changes are written when the handler ends, after the values that were set outside of
//    transactions before. They are committed or rolled back with the objects; then the memory is
//    updated and subscribers are notified.

import Platform

/// Changed by the thread of the transaction. Other threads see it once it is added to the store,
/// and from then on it is constant.
final class DictionaryDraft: Sendable {
  let store: DictionaryStore
  let group: CommitGroup
  private let writeAgain: @Sendable () -> Void
  private let state = Mutex(State())

  private struct State {
    var erases = false
    var changes: [DictionaryKey: DictionaryContents] = [:]
    var change: Int64 = 0
    var batch: DictionaryBatch?
  }

  /// Whether it removes everything that was there before.
  var erases: Bool { state.withLock { $0.erases } }
  var changes: [DictionaryKey: DictionaryContents] { state.withLock { $0.changes } }
  /// Its number in the order of all changes.
  var change: Int64 { state.withLock { $0.change } }

  /// - Parameters:
  ///   - store: The dictionary.
  ///   - group: The group of the transaction.
  ///   - writeAgain: Called if the values of a batch are pending again after a conflict.
  init(
    _ store: DictionaryStore, _ group: CommitGroup, writeAgain: @escaping @Sendable () -> Void
  ) {
    self.store = store
    self.group = group
    self.writeAgain = writeAgain
  }

  /// nil if the draft does not change the key.
  func contents(of key: DictionaryKey) -> DictionaryContents? {
    state.withLock { $0.changes[key] ?? ($0.erases ? .absent : nil) }
  }

  func set(_ contents: DictionaryContents, for key: DictionaryKey) {
    let old = state.withLock { $0.changes.updateValue(contents, forKey: key) }
    withExtendedLifetime(old) {}
  }

  func removeAll() {
    let old = state.withLock { state in
      state.erases = true
      defer { state.changes = [:] }
      return state.changes
    }
    withExtendedLifetime(old) {}
  }

  /// The transaction is about to write.
  /// - Parameters:
  ///   - change: Its number in the order of all changes.
  ///   - batch: The values that were set outside of transactions before, and that this transaction
  ///     writes.
  func begin(_ change: Int64, after batch: DictionaryBatch?) {
    state.withLock { state in
      state.change = change
      state.batch = batch
    }
  }

  func write(to writer: any StorageWriter) throws {
    store.begin(self)
    let (batch, erases, changes) = state.withLock { ($0.batch, $0.erases, $0.changes) }
    try batch?.write(to: writer)
    store.add(self)
    if erases { try DictionaryItem.eraseAll(in: store.namespace, writer) }
    for (key, contents) in changes {
      if case .encoded(let value) = contents, value.bytes == nil { continue }
      _ = try DictionaryItem.store(key.text, in: store.namespace, contents, row: -1, writer)
    }
  }

  /// Called when the transaction has ended.
  func end(_ failure: (any Error)?) {
    if let batch = state.withLock({ $0.batch }) {
      store.settle(batch, failure)
      if StorageError.isConflict(failure) { writeAgain() }
    }
    for news in store.publish(self, isCommitted: failure == nil) { news.deliver() }
  }
}

/// The changes of a transaction to dictionaries.
final class DictionaryDrafts: TransactionAddition {
  private var drafts: [DictionaryDraft] = []

  func of(_ store: DictionaryStore) -> DictionaryDraft? { drafts.first { $0.store === store } }

  /// - Returns: The draft itself.
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
