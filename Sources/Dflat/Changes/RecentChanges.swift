// RecentChanges: which rows of a type were written recently, so that all others need not be looked
// up.
//
// A program fetches objects and then changes them in transactions. Checking that an object is still
// as it was fetched costs as much as changing it. Invariants:
//
//  - Every row that a transaction of this workspace has updated or deleted is in `rows` from the
//    moment it was written, committed or not, unless that change was committed before the clock
//    value `recordedSince`. Until the record is full for the first time, it has all of them.
//  - What was read at the clock value `known.since` or later was read after a moment at which the
//    engine's token was `known.token`. As long as the token is the same, no other connection has
//    committed anything since that moment.
//
// So a row that was fetched at both clock values or later and is not in `rows` equals the stored
// row as long as the token is the same. During the open storage transaction the token cannot
// change, since no other connection can commit. And once everything is committed, a row that was
// fetched after the last commit is also current.
//
// The token is known from a moment before the workspace's first fetch (`KnownTokens`), so objects
// that were fetched before the first transaction of their type are covered, too.

import Platform

/// A commit token, and the clock value from which on it is known to say what was committed: what
/// was read at that value or later was read after a moment at which this was the engine's token.
struct KnownToken {
  let token: CommitToken
  let since: Int64
}

/// The commit token that a workspace has learned last.
final class KnownTokens: Sendable {
  private let newest: Mutex<KnownToken?>
  /// Whether a token was known, or none will be, before any row is fetched from now on.
  private let isFollowing: Atomic<Bool>

  /// - Parameter engine: Its token never changes if no other connection can change its data.
  init(of engine: any StorageEngine) {
    let capabilities = engine.capabilities
    let isUnshared = engine.asShared == nil && capabilities.excludesOtherWriters
    newest = Mutex(isUnshared ? KnownToken(token: .unshared, since: 0) : nil)
    // Where others may commit at any time, no row is ever taken for current.
    isFollowing = Atomic(
      isUnshared || !capabilities.excludesOtherWriters || !capabilities.isWritable)
  }

  var latest: KnownToken? { newest.withLock { $0 } }

  /// Learns a token that is current at this moment.
  /// - Returns: What is known of it; nil for a token that is unknown itself.
  @discardableResult
  func learn(_ token: CommitToken?, _ clock: Clock) -> KnownToken? {
    guard let token else { return nil }
    return newest.withLock { newest in
      if let newest, newest.token == token { return newest }
      let known = KnownToken(token: token, since: clock.advance())
      newest = known
      return known
    }
  }

  /// Learns the token before rows are fetched for the first time. Where that fails, as while there
  /// is no file, it is tried again before the next fetch.
  @inline(__always)
  func follow(_ clock: Clock, _ token: () throws -> CommitToken?) {
    if !isFollowing.load(ordering: .acquiring) { begin(clock, token) }
  }

  @inline(never)
  private func begin(_ clock: Clock, _ token: () throws -> CommitToken?) {
    // The fetch itself reports what is wrong with the storage.
    guard let token = try? token() else { return }
    learn(token, clock)
    isFollowing.store(true, ordering: .releasing)
  }
}

final class RecentChanges: Sendable {
  private struct State {
    var rows = RowIDSet()
    var count = 0
    var recordedSince: Int64 = 0
    /// The clock value of the last commit that included these changes.
    var committed: Int64 = 0
    /// What was known of the token when it was looked at last.
    var known: KnownToken?
    /// The number of the group that was entered last.
    var group = 0

    /// Whether a row was fetched late enough for `rows` and for the token.
    func covers(_ row: Row) -> Bool {
      guard let known else { return false }
      return row.timestamp >= known.since && row.timestamp >= recordedSince
    }
  }

  private let state = Mutex(State())
  private let isRecorded = Atomic(false)
  private let recording = Mutex<[RowRecorder]>([])
  private let tokens: KnownTokens

  /// How many changes are recorded before the record starts again.
  private let mostRows: Int

  init(_ tokens: KnownTokens, mostRows: Int) {
    self.tokens = tokens
    self.mostRows = mostRows
  }

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
  /// grown too large, recording starts again.
  func enter(_ group: CommitGroup, _ clock: Clock) {
    state.withLock { state in
      if group.number == state.group { return }
      state.group = group.number
      if state.count >= mostRows {
        state.rows = RowIDSet()
        state.count = 0
        state.recordedSince = clock.advance()
      }
      state.known = tokens.learn(group.token, clock)
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
    guard let token = group.token else { return false }
    return state.withLock { state in
      if state.known?.token != token {
        guard let latest = tokens.latest, latest.token == token else { return false }
        state.known = latest
      }
      return state.covers(row) && !state.rows.contains(row.id)
    }
  }

  /// The token at which a row that was fetched outside of transactions equals the stored row; nil
  /// if the row may have been written since.
  ///
  /// Called while all changes of this workspace to the type are committed, and no transaction
  /// writes it.
  func token(ofCommitted row: Row) -> CommitToken? {
    state.withLock { state in
      state.known = tokens.latest
      return state.covers(row)
        && (row.timestamp >= state.committed || !state.rows.contains(row.id))
        ? state.known?.token : nil
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
    /// About one megabyte if the row ids are far apart.
    var mostRows = 1 << 15
    /// The changes that were asked for last.
    var latest: (schema: EntitySchema, changes: RecentChanges)?
  }

  private let state = Mutex(State())
  let tokens: KnownTokens

  init(of engine: any StorageEngine) { tokens = KnownTokens(of: engine) }

  /// How many changes are recorded of each type that is not used yet.
  var mostRows: Int {
    get { state.withLock { $0.mostRows } }
    set { state.withLock { $0.mostRows = newValue } }
  }

  func of(_ schema: EntitySchema) -> RecentChanges {
    state.withLock { state in
      if let latest = state.latest, latest.schema === schema { return latest.changes }
      let changes = state.tables[schema.table] ?? RecentChanges(tokens, mostRows: state.mostRows)
      state.tables[schema.table] = changes
      state.latest = (schema, changes)
      return changes
    }
  }
}
