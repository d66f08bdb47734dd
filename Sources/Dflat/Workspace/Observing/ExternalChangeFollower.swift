// ExternalChangeFollower: delivers what other connections have committed, from an engine's record.
//
// The engine reports that other connections have committed. A look then reads from the record which
// tables were changed since the last look, and enqueues a job for each of these types that is
// observed, at its position in the order of deliveries. The job reads the changed rows, and finds
// out once more which these are, in one state: so each observer goes from one committed state to
// another one. Invariants:
//
//  - every change since `point` will be looked at; every earlier one was delivered, or is after the
//    start of a job that has not begun;
//  - a type has at most one job that has not begun, so a slow handler makes no queue grow;
//  - a look or job that fails is repeated, less and less often, until it succeeds or the error is
//    one that does not pass by itself;
//  - a change that is read twice is delivered once: observers compare rows; see `RereadRows`.

import Dispatch
import Platform

final class ExternalChangeFollower: Sendable {
  typealias Start = TypeObservers.Start

  private struct State {
    var isFollowing = false
    /// Whether a look is running, and whether another one is to follow it.
    var isLooking = false
    var isWanted = false
    /// The state of the last look; nil before the first one.
    var point: ChangePoint?
    /// How many looks have failed since one succeeded.
    var failures = 0
    /// The starts of the jobs that have not begun, by type.
    var starts: [ObjectIdentifier: Start] = [:]
  }

  private let engine: any ChangeRecordingStorageEngine
  private let queue = DispatchQueue(label: "dflat.external")
  private let state = Mutex(State())
  /// The time until a transaction that has changed a dictionary is likely to have ended.
  private static let shortPause = DispatchTimeInterval.milliseconds(10)

  init(_ engine: any ChangeRecordingStorageEngine) { self.engine = engine }

  /// Begins to follow other connections. Calls after the first one do nothing.
  func begin(in workspace: WorkspaceCore) {
    let isFirst = state.withLock { state in
      defer { state.isFollowing = true }
      return !state.isFollowing
    }
    guard isFirst else { return }
    engine.reportExternalCommits { [weak self, weak workspace] in
      if let self, let workspace { look(in: workspace) }
    }
  }

  // MARK: Looks

  private func look(in workspace: WorkspaceCore) {
    let isFirst = state.withLock { state in
      state.isWanted = true
      defer { state.isLooking = true }
      return !state.isLooking
    }
    guard isFirst else { return }
    queue.async { [self] in
      while isWanted() {
        // The engine stays open as long as an accepted operation runs.
        guard workspace.acceptUnlessClosed() else { continue }
        do { try lookOnce(in: workspace) } catch {
          workspace.reportReading(error)
          if StorageError.mayPass(error) { lookLater(in: workspace) }
        }
        workspace.endAccepted()
      }
    }
  }

  private func lookLater(in workspace: WorkspaceCore) {
    let failures = state.withLock { state in
      defer { state.failures += 1 }
      return state.failures
    }
    queue.asyncAfter(deadline: .now() + .pause(after: failures)) { [weak self, weak workspace] in
      if let self, let workspace { look(in: workspace) }
    }
  }

  /// Whether another look is wanted, which then begins.
  private func isWanted() -> Bool {
    state.withLock { state in
      defer { state.isWanted = false }
      state.isLooking = state.isWanted
      return state.isWanted
    }
  }

  private func lookOnce(in workspace: WorkspaceCore) throws {
    let last = state.withLock { $0.point }
    let changes = try workspace.withRecordingSnapshot { try $0.recordedChanges(since: last) }
    state.withLock { state in
      state.point = changes.point
      state.failures = 0
    }
    let observers = workspace.observers
    guard let last, let tables = changes.tables else {
      observers.markPossiblyChanged(at: workspace.clock.advance())
      for type in observers.observed { follow(type, .unknown, in: workspace) }
      return followDictionaries(.unknown, in: workspace)
    }
    if tables.isEmpty { return }
    // Every earlier result may be out of date, whenever it is subscribed to.
    let time = workspace.clock.advance()
    for type in observers.markPossiblyChanged(Set(tables.keys), at: time) where type.isObserved {
      follow(type, .point(last), in: workspace)
    }
    if tables.keys.contains(DictionaryItem.schema.table) {
      followDictionaries(.point(last), in: workspace)
    }
  }

  // MARK: Jobs

  private enum Outcome {
    case done, failed
    /// Some transactions are to be delivered first.
    case tooEarly
  }

  private typealias Job = @Sendable (Start, WorkspaceCore) -> Outcome

  private func follow(_ type: TypeObservers, _ start: Start, in workspace: WorkspaceCore) {
    enqueue(type.schema, start, in: workspace) { start, workspace in
      type.follow(start, in: workspace) ? .failed : .done
    }
  }

  private func followDictionaries(_ start: Start, in workspace: WorkspaceCore) {
    enqueue(DictionaryItem.schema, start, in: workspace) { start, workspace in
      do {
        return try workspace.followDictionaries(start) ? .done : .tooEarly
      } catch {
        workspace.reportReading(error)
        return StorageError.mayPass(error) ? .failed : .done
      }
    }
  }

  /// Enqueues a job for a type. If one has not begun, it starts at the earlier state of the two.
  private func enqueue(
    _ schema: EntitySchema, _ start: Start, in workspace: WorkspaceCore, _ job: @escaping Job
  ) {
    if reserve(schema, start) { run(job, schema, in: workspace, failures: 0) }
  }

  /// Returns whether the type has no job that has not begun.
  private func reserve(_ schema: EntitySchema, _ start: Start) -> Bool {
    let id = ObjectIdentifier(schema)
    return state.withLock { state in
      guard let known = state.starts[id] else {
        state.starts[id] = start
        return true
      }
      if case .point = known, case .unknown = start { state.starts[id] = start }
      return false
    }
  }

  /// Runs a job at a delivery of its type, and later once more if it fails: then everything is read
  /// again, and what changes meanwhile is part of that.
  /// - Parameter failures: How many times it has failed before.
  private func run(
    _ job: @escaping Job, _ schema: EntitySchema, in workspace: WorkspaceCore, failures: Int
  ) {
    _ = workspace.atDelivery(of: [schema]) { [weak self] workspace in
      let id = ObjectIdentifier(schema)
      guard let self, let start = state.withLock({ $0.starts.removeValue(forKey: id) }) else {
        return
      }
      let outcome = job(start, workspace)
      if outcome == .done || !reserve(schema, .unknown) { return }
      let isFailed = outcome == .failed
      let pause: DispatchTimeInterval = isFailed ? .pause(after: failures) : Self.shortPause
      queue.asyncAfter(deadline: .now() + pause) { [weak self, weak workspace] in
        guard let self, let workspace else { return }
        run(job, schema, in: workspace, failures: isFailed ? failures + 1 : 0)
      }
    }
  }
}

extension DispatchTimeInterval {
  /// The time until something is tried again that has failed some times before: half a second at
  /// first, ten seconds at last.
  static func pause(after failures: Int) -> DispatchTimeInterval {
    .milliseconds(min(500 << min(failures, 5), 10_000))
  }
}

extension WorkspaceCore {
  /// Calls `body` with a snapshot of an engine that records changes.
  func withRecordingSnapshot<R>(_ body: (any ChangeRecordingSnapshot) throws -> R) throws -> R {
    let snapshot = engine.makeSnapshot(for: .observation)
    defer { snapshot.close() }
    guard let recorded = snapshot as? any ChangeRecordingSnapshot else {
      preconditionFailure("the snapshot of an engine that records changes does not know them")
    }
    return try body(recorded)
  }

  /// Brings the memory of all dictionaries up to what is stored, and notifies their watchers. Runs
  /// at a delivery of their table.
  /// - Returns: False if that must be repeated after transactions that were not delivered yet.
  func followDictionaries(_ start: TypeObservers.Start) throws -> Bool {
    let stores = dictionaries.all.map { ($0, $0.beginFollowing()) }.filter { !$0.1.isEmpty }
    if stores.isEmpty { return true }
    var isDone = true
    var news: [DictionaryNews] = []
    // Also if an error ends the reading: what memory has by then is not noticed again.
    defer { delivering { for news in news { news.deliver() } } }
    try withRecordingSnapshot { snapshot in
      var ids: Set<Int64>?
      var rows: [Row] = []
      if case .point(let point) = start,
        let tables = try snapshot.recordedChanges(since: point).tables
      {
        switch tables[DictionaryItem.schema.table] {
        case nil: return
        case .unknown: break
        case .rows(let changed):
          ids = Set(changed)
          rows = try snapshot.read {
            try $0.rows(.ids(DictionaryItem.schema, changed), mark: .none).map { $0 }
          }
        }
      }
      for (store, mark) in stores {
        let own = rows.filter {
          DictionaryItem.namespace(of: $0).utf8.elementsEqual(store.namespace.utf8)
        }
        var found: [DictionaryKey: Row] = [:]
        for row in own { found[store.key(DictionaryItem.key(of: row))] = row }
        for key in store.keys(changedIn: ids, found: Set(found.keys), since: mark) {
          let row =
            try found[key]
            ?? snapshot.read { try $0.row(of: DictionaryItem.schema, with: store.keyValues(key)) }
          let contents: DictionaryContents
          do { contents = try row.map { try DictionaryItem.contents(of: $0) } ?? .absent } catch {
            // A newer program has written it. That concerns no other key.
            reportReading(error)
            continue
          }
          switch store.follow(key, contents, row: row?.id ?? -1, since: mark) {
          case .later: isDone = false
          case .done(let own): if let own { news.append(own) }
          }
        }
      }
    }
    return isDone
  }
}
