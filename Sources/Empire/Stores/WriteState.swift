// The state of a writing transaction besides the records: what it knows about the indexes, and the
// pending updates for observers.
//
// A nested transaction has a state of its own. Its parent takes it over on commit and discards it
// on rollback, so neither keeps information about changes that were rolled back.

internal import LMDB

/// Used by one thread only.
@usableFromInline
final class WriteState {
  /// The handle of the index database.
  enum Handle: Equatable {
    case unknown, absent
    case open(MDB_dbi)
  }

  /// The indexes of a type that this transaction maintains.
  struct MaintainedIndexes {
    let version: IndexKeyRecordHash
    let tags: [IndexKeyRecordHash]
    let positions: [Int]
  }

  @exclusivity(unchecked) var handle: Handle
  /// Whether the transaction's id has been written to the file.
  @exclusivity(unchecked) var isStamped = false
  @exclusivity(unchecked) var maintained: [IndexKeyRecordHash: MaintainedIndexes] = [:]

  /// The observers that were registered when the outermost transaction began.
  let observers: ObserverList
  /// The keys that were written, for the types that are observed.
  @exclusivity(unchecked) private(set) var changed: [IndexKeyRecordHash: [[UInt8]]] = [:]
  /// The updates to deliver when the outermost transaction is committed, in order.
  @exclusivity(unchecked) private(set) var updates: [ObserverUpdate] = []
  /// The state of each observer after its last update in `updates`.
  @exclusivity(unchecked) private var known: [ObjectIdentifier: ObservedState] = [:]

  init(handle: MDB_dbi?, observers: ObserverList) {
    self.handle = handle.map { .open($0) } ?? .unknown
    self.observers = observers
  }

  /// The state of a nested transaction. Its updates follow those of its parent.
  init(inside parent: WriteState) {
    handle = parent.handle == .absent ? .unknown : parent.handle
    observers = parent.observers
    updates = parent.updates
    known = parent.known
  }

  /// Records that a record is stored, replaced or removed.
  func note(_ key: UnsafeRawBufferPointer) {
    guard !observers.byType.isEmpty, key.count >= 4 else { return }
    let prefix = IndexKeyRecordHash(bigEndian: key.loadUnaligned(as: IndexKeyRecordHash.self))
    if observers.byType[prefix] != nil { changed[prefix, default: []].append([UInt8](key)) }
  }

  /// Computes the updates for observers, inside the transaction and at its end. Does not throw: an
  /// error becomes an update.
  func collectUpdates(in context: TransactionContext) {
    for (prefix, keys) in changed {
      let keys = keys.sorted { $0.lexicographicallyPrecedes($1) }
      for observer in observers.byType[prefix] ?? [] where observer.isAffected(by: keys) {
        let id = ObjectIdentifier(observer)
        guard let item = observer.update(in: context, after: known[id]) else { continue }
        updates.append(item)
        known[id] = item.state
      }
    }
    changed = [:]
  }

  /// Called when a nested transaction has ended.
  func end(_ child: WriteState?, isCommitted: Bool) {
    // What this state knows about the indexes may be outdated now.
    if case .open = handle {} else { handle = .unknown }
    isStamped = false
    maintained = [:]
    guard isCommitted, let child else { return }
    updates = child.updates
    known = child.known
    changed.merge(child.changed) { $0 + $1 }
  }
}
