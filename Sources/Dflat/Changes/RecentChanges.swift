// RecentChanges: which rows of a type were written lately, so that the others need not be looked up.
//
// A program fetches objects, and then changes them in transactions. To find out that an object is still what was fetched costs as
// much as its change. It keeps true:
//
//  - every row that transactions of this workspace have updated or deleted is in `rows` from the moment on that it was written,
//    committed or not, unless that was committed before the clock stood at `since`;
//  - between `since` and the last group that was entered, nobody else has committed anything: the token was the same.
//
// So a row that was fetched at `since` or later, and is not in `rows`, is what is stored, as long as the token is the same. In
// the storage's transaction that is open it is: nobody else can commit meanwhile. And when all is committed, a row that was fetched
// after that is what is stored, too.

import Platform

final class RecentChanges: Sendable {
  /// About a megabyte, if the rows are far from each other.
  private static let mostRows = 1 << 15

  private struct State {
    var rows = RowIDSet()
    var count = 0
    var since = Int64.max
    /// When the last of what was written was committed.
    var committed: Int64 = 0
    /// That of the last group; nil if it cannot be known.
    var token: CommitToken?
    /// The group that was entered last.
    var group = 0

    /// Whether no other connection has committed between the last group and this one.
    func isCurrent(in group: CommitGroup) -> Bool { token != nil && token == group.token }
  }

  private let state = Mutex(State())

  /// A transaction is about to write rows of the type into a group.
  ///
  /// What was written before the group was opened can be seen by everybody who reads now. So if too much was written, or others
  /// have committed, it is begun anew.
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

  /// A row was written. The type's group was entered.
  func wrote(_ id: Int64) {
    state.withLock { state in
      state.rows.insert(id)
      state.count += 1
    }
  }

  /// Whether a row that was fetched outside of transactions is what is stored.
  /// - Parameter group: One that is open, and stays so until what follows from the answer has ended in it or fails with it.
  func isCurrent(_ row: Row, in group: CommitGroup) -> Bool {
    state.withLock { state in
      row.timestamp >= state.since && state.isCurrent(in: group)
        && !state.rows.contains(row.id)
    }
  }

  /// The token at which a row that was fetched outside of transactions is what is stored; nil if it may have been written since.
  ///
  /// Asked while everything that this workspace has written of the type is committed, and nobody writes it.
  func token(ofCommitted row: Row) -> CommitToken? {
    state.withLock { state in
      row.timestamp >= state.since
        && (row.timestamp >= state.committed || !state.rows.contains(row.id))
        ? state.token : nil
    }
  }

  /// A transaction that has written rows of the type is committed: who fetches at that time or later sees it.
  func committed(at time: Int64) {
    state.withLock { $0.committed = time }
  }
}

/// The recent changes of a workspace, by table: two versions of a type may have one.
final class RecentChangesByTable: Sendable {
  private struct State {
    var tables: [String: RecentChanges] = [:]
    /// Those that were asked for last.
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
