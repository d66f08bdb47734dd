// UncommittedReads: what a transaction has read from a group before its commit.
//
// If the group is committed before the transaction begins to write, other connections may commit
// after it, and the state that was read is gone. So the group reads everything once more just
// before its commit, for the transactions that have not begun to write by then. That is rare: most
// of them write into the same group.

import Platform

/// Keeps the rows of reads, from the commit of their group until they are confirmed.
final class UncommittedReads: UncommittedReader {
  private struct State {
    var reads: [TransactionRead] = []
    /// The rows of each read, if the group has been committed; nil where a row is damaged.
    var rows: [[Row]?] = []
    var isEnded = false
  }

  private let state = Mutex(State())

  func add(_ read: TransactionRead) { state.withLock { $0.reads.append(read) } }

  /// Called when the transaction begins to write or has ended.
  func end() { state.withLock { $0 = State(isEnded: true) } }

  func keep(from reader: any StorageReader) throws {
    let reads = state.withLock { $0.isEnded ? [] : $0.reads }
    let rows = try reads.map { try $0.rows(reader)?.copied() }
    state.withLock { if !$0.isEnded { $0.rows = rows } }
  }

  /// Whether the reads give the same results in another state. If the group could not read, that is
  /// unknown, and the answer is no.
  func areSame(in reader: any StorageReader) throws -> Bool {
    let (reads, kept) = state.withLock { ($0.reads, $0.rows) }
    guard reads.count == kept.count else { return false }
    for (read, rows) in zip(reads, kept) where try !read.gives(rows, in: reader) { return false }
    return true
  }
}
