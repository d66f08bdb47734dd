// What the store of a dictionary writes, and tells its watchers, when commits fail or come late.

import DflatTestSupport
import Dispatch
import Testing

@testable import Dflat

@Suite("The dictionary's store")
struct DictionaryStoreTests {
  private let store = DictionaryStore(namespace: "")
  private let key: DictionaryKey

  init() { key = store.key("k") }

  private func group() -> CommitGroup {
    CommitGroup(
      RecordingWriter(), EngineCapabilities(), in: StorageTransactionSlot(0, ErrorHook()),
      longest: .seconds(3600))
  }

  private func set(_ text: String) {
    _ = store.set(key, .string(text), isWritten: true)
  }

  /// A transaction that has written and is not published.
  private func draft(_ change: (DictionaryDraft) -> Void) -> DictionaryDraft {
    let draft = DictionaryDraft(store, group()) {}
    change(draft)
    store.begin(draft)
    store.add(draft)
    return draft
  }

  private let diskFull = StorageError(.diskFull, message: "disk full")

  /// What the next batch would leave of the key; nil if it does not write it.
  private func written() throws -> DictionaryContents? {
    guard let batch = store.takeBatch(for: group()) else { return nil }
    return batch.writes.last { $0.key == key }?.contents
      ?? (batch.erases ? .absent : nil)
  }

  @Test(
    "A value that could not be written is not written over a transaction's",
    arguments: [false, true])
  func overwritten(erases: Bool) throws {
    set("old")
    let failed = try #require(store.takeBatch(for: group()))
    let transaction = draft { draft in
      if erases { draft.removeAll() }
      draft.set(.string("new"), for: key)
    }
    store.settle(failed, diskFull)
    _ = store.publish(transaction, isCommitted: true)
    #expect(try written().map { $0.equals(.string("new")) == true } ?? true)
  }

  @Test("A value that could not be written does not come back after a transaction's removal")
  func comesBack() throws {
    set("old")
    let failed = try #require(store.takeBatch(for: group()))
    let transaction = draft { $0.removeAll() }
    store.settle(failed, diskFull)
    _ = store.publish(transaction, isCommitted: true)
    #expect(try written().map(\.isAbsent) ?? true)
  }

  @Test("A removal that could not be written does not remove what a transaction has set")
  func removed() throws {
    _ = store.removeAll()
    let failed = try #require(store.takeBatch(for: group()))
    let transaction = draft { $0.set(.string("new"), for: key) }
    store.settle(failed, diskFull)
    _ = store.publish(transaction, isCommitted: true)
    #expect(try written()?.equals(.string("new")) == true)
  }

  @Test("A watcher hears of a value that was read between its commit and its delivery")
  func readBefore() throws {
    let watcher = DictionaryWatcher { _ in {} }
    #expect(store.watch(key, watcher, otherwise: .absent, readSince: store.moment))
    _ = store.publish(draft { $0.removeAll() }, isCommitted: true)
    let transaction = draft { $0.set(.string("new"), for: key) }
    if case .unknown(let moment) = store.known(key) {
      _ = store.remember(key, .string("new"), row: 1, since: moment)
    }
    #expect(!store.publish(transaction, isCommitted: true).isEmpty)
  }
}
