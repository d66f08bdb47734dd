// What a writing transaction keeps beside the records: what it knows of the indexes, and what its subscribers will have to hear.
//
// One inside of another has its own, which its parent takes over when it is committed, and which goes when it is undone. So neither
// knows anything that is not so.

internal import LMDB

/// It belongs to one thread.
@usableFromInline
final class WriteState {
  /// The handle of the database of indexes.
  enum Handle: Equatable {
    case unknown, absent
    case open(MDB_dbi)
  }

  /// Which indexes of a type are kept up.
  struct Kept {
    let version: IndexKeyRecordHash
    let tags: [IndexKeyRecordHash]
    let positions: [Int]
  }

  @exclusivity(unchecked) var handle: Handle
  /// Whether the transaction's id stands in the file.
  @exclusivity(unchecked) var isStamped = false
  @exclusivity(unchecked) var kept: [IndexKeyRecordHash: Kept] = [:]

  /// Who observed the records when the outermost transaction began.
  let observers: ObserverList
  /// The keys of what was written, of the types that are observed.
  @exclusivity(unchecked) private(set) var changed: [IndexKeyRecordHash: [[UInt8]]] = [:]
  /// What has to be told when the outermost transaction is committed, in order.
  @exclusivity(unchecked) private(set) var news: [News] = []
  /// What observers will know when they have heard it.
  @exclusivity(unchecked) private var known: [ObjectIdentifier: ObservedState] = [:]

  init(handle: MDB_dbi?, observers: ObserverList) {
    self.handle = handle.map { .open($0) } ?? .unknown
    self.observers = observers
  }

  /// That of a transaction inside of another one. Its news follow those that there are already.
  init(inside parent: WriteState) {
    handle = parent.handle == .absent ? .unknown : parent.handle
    observers = parent.observers
    news = parent.news
    known = parent.known
  }

  /// Notes that a record is stored, replaced or removed.
  func note(_ key: UnsafeRawBufferPointer) {
    guard !observers.byType.isEmpty, key.count >= 4 else { return }
    let prefix = IndexKeyRecordHash(bigEndian: key.loadUnaligned(as: IndexKeyRecordHash.self))
    if observers.byType[prefix] != nil { changed[prefix, default: []].append([UInt8](key)) }
  }

  /// Finds out, inside of the transaction and at its end, what subscribers will have to hear of it. Does not fail: an error is news, too.
  func lookForNews(in context: TransactionContext) {
    for (prefix, keys) in changed {
      let keys = keys.sorted { $0.lexicographicallyPrecedes($1) }
      for observer in observers.byType[prefix] ?? [] where observer.isTouched(by: keys) {
        let id = ObjectIdentifier(observer)
        guard let item = observer.look(in: context, after: known[id]) else { continue }
        news.append(item)
        known[id] = item.state
      }
    }
    changed = [:]
  }

  /// A transaction inside of this one has ended.
  func end(_ child: WriteState?, isCommitted: Bool) {
    // What is known of the indexes may be wrong now.
    if case .open = handle {} else { handle = .unknown }
    isStamped = false
    kept = [:]
    guard isCommitted, let child else { return }
    news = child.news
    known = child.known
    changed.merge(child.changed) { $0 + $1 }
  }
}
