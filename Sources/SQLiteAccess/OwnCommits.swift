// What the one connection that writes has changed since a reader has taken its state.
//
// A reader that keeps its state sees an old one after a commit. Its answer is still the newest if every commit since was the writer's,
// and none of them changed the row. Both are known here:
//
//  - `newest` is the header of the log's index after the writer's last commit. While the index has that header, nobody else has
//    committed anything since: they would have changed it;
//  - from `base` to `newest` all commits are the writer's, and the rows that they have changed are in `changed`, those of a commit that
//    is under way too;
//  - that a header is the writer's own is certain only if the commit added to the log, the log is
//    as long as it was then, and the index counts one commit more than it did while the writer had
//    the write lock. Otherwise nothing is known, and `newest` is nil;
//  - `latest` is the header of the writer's last commit, if it was certain. Readers that take a
//    state set `newest` to what they find, which may be somebody else's; `latest` is set by the
//    writer only.
//
// Between the moment when a commit can be seen and that when it is noted nothing is known either. That is waited for, for some
// microseconds; who gives up reads the newest state itself.

import Synchronization

/// The commits of the one connection that writes, as far as readers that keep a state have to know them.
final class OwnCommits: Sendable {
  private struct State {
    /// The header at which the reader has taken its state; nil if there is none, or nothing is known of it.
    var base: WALIndex.Header?
    var changed = RowFilter()
    var newest: WALIndex.Header?
    /// The header of the writer's last commit; nil if it is not certain.
    var latest: WALIndex.Header?
    /// What the commit that is under way changes; nil if none is.
    var pending: ChangedRows?
    /// How many commits had added to the log before it.
    var commits = 0

    mutating func add(_ rows: ChangedRows) {
      if base == nil { return }
      if rows.isEverything { base = nil } else { rows.places.forEach { changed.insert($0) } }
    }
  }

  /// How often it is looked whether a commit is noted.
  private static let patience = 20_000

  private let state = Mutex(State())
  private let isCommitting = Atomic(false)

  // MARK: The writer's side

  /// The writer is about to commit. It has the write lock.
  func willCommit(_ rows: ChangedRows, _ writer: Connection, _ index: WALIndex) {
    let commits = writer.wal.commits
    state.withLock { state in
      let header = index.header
      if state.newest != header {
        if state.base != header { state.base = nil }
        state.newest = header
      }
      state.add(rows)
      state.pending = rows
      state.commits = commits
      isCommitting.store(true, ordering: .releasing)
    }
  }

  /// The writer has committed, or failed to. Where it has added nothing to the log, `newest` is what it was.
  func didCommit(_ writer: Connection, _ index: WALIndex) {
    let commits = writer.wal.commits
    state.withLock { state in
      state.pending = nil
      if commits != state.commits {
        let header = index.header
        let isOurs =
          state.newest.map { header.isNext(after: $0, length: writer.wal.pages) } ?? false
        state.newest = isOurs ? header : nil
        state.latest = state.newest
      }
    }
    isCommitting.store(false, ordering: .releasing)
  }

  /// Whether the writer's last commit is the last one of all. False may also mean that it is not
  /// known.
  func areAll(_ index: WALIndex) -> Bool {
    state.withLock { $0.latest.map { $0 == index.header } ?? false }
  }

  // MARK: The reader's side

  /// A reader is about to take its state.
  /// - Returns: A header that its state is not older than.
  func begin(_ index: WALIndex) -> WALIndex.Header {
    state.withLock { state in
      // The commits before this header are not concerned, and the next one cannot be noted meanwhile.
      let header = index.header
      state.base = header
      state.changed.removeAll()
      // What is seen of a commit that is under way is not known to be the writer's yet.
      if let pending = state.pending { state.add(pending) } else { state.newest = header }
      return header
    }
  }

  /// No reader keeps its state any more.
  func end() { state.withLock { $0.base = nil } }

  /// Whether all that was committed since the state was taken is known, or about to be.
  func areAllKnown(since base: WALIndex.Header, _ index: WALIndex) -> Bool {
    state.withLock { state in
      state.base == base
        && (index.header == base || index.header == state.newest || state.pending != nil)
    }
  }

  /// Whether a row, as it is in the state that is kept, is what is stored at a moment of the call.
  @inline(__always)
  func isCurrent(_ row: RowPlace, since base: WALIndex.Header, _ index: WALIndex) -> Bool {
    index.header == base ? true : isCurrentAfterCommits(row, since: base, index)
  }

  @inline(never)
  private func isCurrentAfterCommits(
    _ row: RowPlace, since base: WALIndex.Header, _ index: WALIndex
  ) -> Bool {
    var patience = Self.patience
    while true {
      let answer = state.withLock { state -> Bool? in
        guard state.base == base else { return false }
        if index.header == state.newest { return !state.changed.mayContain(row) }
        return state.pending == nil ? false : nil
      }
      if let answer { return answer }
      while isCommitting.load(ordering: .acquiring) {
        patience -= 1
        if patience == 0 { return false }
      }
    }
  }
}
