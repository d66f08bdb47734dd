// RecentChanges: which rows of a type were written recently, so that all others need not be looked
// up.
//
// A program fetches objects and then changes them in transactions. Checking that an object is still
// as it was fetched costs as much as changing it. Invariants:
//
//  - Every row that a transaction of this workspace has updated or deleted is in `rows` from the
//    moment it was written, committed or not, unless that change was committed before the clock
//    value `since`.
//  - Between `since` and the last group that was entered, no other connection has committed
//    anything: the token was the same.
//
// So a row that was fetched at `since` or later and is not in `rows` equals the stored row as long
// as the token is the same. During the open storage transaction the token cannot change, since no
// other connection can commit. And once everything is committed, a row that was fetched after the
// last commit is also current.

import Platform

final class RecentChanges: Sendable {
  /// About one megabyte if the row ids are far apart.
  private static let mostRows = 1 << 15

  private struct State {
    var rows = RowIDSet()
    var count = 0
    var since = Int64.max
    /// The clock value of the last commit that included these changes.
    var committed: Int64 = 0
    /// The token of the last group; nil if it is unknown.
    var token: CommitToken?
    /// The number of the group that was entered last.
    var group = 0

    /// Whether no other connection has committed anything between the last group and this one.
    func isCurrent(in group: CommitGroup) -> Bool { token != nil && token == group.token }
  }

  private let state = Mutex(State())
  private let isRecorded = Atomic(false)
  private let recording = Mutex<[RowRecorder]>([])

  /// Those that note each row which is written. A transaction asks once for each of its types.
  var recorders: [RowRecorder] {
    isRecorded.load(ordering: .acquiring) ? recording.withLock { $0 } : []
  }

  /// Begins to note each row that is written. Called while no transaction holds a write lease.
  func add(_ recorder: RowRecorder) {
    recording.withLock { $0.append(recorder) }
    isRecorded.store(true, ordering: .releasing)
  }

  func remove(_ recorder: RowRecorder) {
    recording.withLock { recorders in
      recorders.removeAll { $0 === recorder }
      isRecorded.store(!recorders.isEmpty, ordering: .releasing)
    }
  }

  /// Called when a transaction is about to write rows of the type into a group.
  ///
  /// Changes from before the group was opened are visible to every new reader. So if the set has
  /// grown too large, or another connection has committed, recording starts anew.
  func enter(_ group: CommitGroup, _ clock: Clock) {
    state.withLock { state in
      if group.number == state.group { return }
      state.group = group.number
      if state.since < .max, state.isCurrent(in: group), state.count < Self.mostRows { return }
      state = State(
        since: clock.advance(), committed: state.committed, token: group.token,
        group: group.number)
    }
  }

  /// Records that a row was written. The group must have been entered.
  func wrote(_ id: Int64) {
    state.withLock { state in
      state.rows.insert(id)
      state.count += 1
    }
  }

  /// Whether a row that was fetched outside of transactions equals the stored row.
  /// - Parameter group: An open group. Whatever the caller does with the answer ends in this group
  ///   or fails with it.
  func isCurrent(_ row: Row, in group: CommitGroup) -> Bool {
    state.withLock { state in
      row.timestamp >= state.since && state.isCurrent(in: group)
        && !state.rows.contains(row.id)
    }
  }

  /// The token at which a row that was fetched outside of transactions equals the stored row; nil
  /// if the row may have been written since.
  ///
  /// Called while all changes of this workspace to the type are committed, and no transaction
  /// writes it.
  func token(ofCommitted row: Row) -> CommitToken? {
    state.withLock { state in
      row.timestamp >= state.since
        && (row.timestamp >= state.committed || !state.rows.contains(row.id))
        ? state.token : nil
    }
  }

  /// Called when a transaction that has written rows of the type is committed. Fetches at that
  /// clock value or later see its changes.
  func committed(at time: Int64) {
    state.withLock { $0.committed = time }
  }
}

/// The recent changes of a workspace, by table, since two versions of a type may share one.
final class RecentChangesByTable: Sendable {
  private struct State {
    var tables: [String: RecentChanges] = [:]
    /// The changes that were asked for last.
    var latest: (schema: EntitySchema, changes: RecentChanges)?
  }

  private let state = Mutex(State())

  func of(_ schema: EntitySchema) -> RecentChanges {
    state.withLock { state in
      if let latest = state.latest, latest.schema === schema { return latest.changes }
      let changes = state.tables[schema.table] ?? RecentChanges()
      state.tables[schema.table] = changes
      state.latest = (schema, changes)
      return changes
    }
  }
}
