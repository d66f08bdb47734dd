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
    /// The starts of the jobs that have not begun, by type.
    var starts: [ObjectIdentifier: Start] = [:]
  }

  private let engine: any ChangeRecordingStorageEngine
  private let queue = DispatchQueue(label: "dflat.external")
  private let state = Mutex(State())
  /// The time until something that has failed is tried again.
  private static let pause = DispatchTimeInterval.milliseconds(500)
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
    queue.asyncAfter(deadline: .now() + Self.pause) { [weak self, weak workspace] in
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
    state.withLock { $0.point = changes.point }
    let observers = workspace.observers
    guard let last, let tables = changes.tables else {
      observers.markPossiblyChanged(at: workspace.clock.advance())
      for type in observers.observed { follow(type, .unknown, in: workspace) }
      return followDictionaries(.unknown, in: workspace)
    }
    if tables.isEmpty { return }
    // Every earlier result may be out of date, whenever it is subscribed to.
    let time = workspace.clock.advance()
    for table in tables.keys.sorted() {
      for type in observers.types(of: table) {
        type.markPossiblyChanged(at: time)
        if type.isObserved { follow(type, .point(last), in: workspace) }
      }
      if table == DictionaryItem.schema.table { followDictionaries(.point(last), in: workspace) }
    }
  }

  // MARK: Jobs

  private func follow(_ type: TypeObservers, _ start: Start, in workspace: WorkspaceCore) {
    enqueue(type.schema, start, in: workspace) { start, workspace in
      type.follow(start, in: workspace) ? Self.pause : nil
    }
  }

  private func followDictionaries(_ start: Start, in workspace: WorkspaceCore) {
    enqueue(DictionaryItem.schema, start, in: workspace) { start, workspace in
      do {
        return try workspace.followDictionaries(start) ? nil : Self.shortPause
      } catch {
        workspace.reportReading(error)
        return StorageError.mayPass(error) ? Self.pause : nil
      }
    }
  }

  /// Enqueues a job for a type, unless one is waiting that starts earlier.
  /// - Parameter job: Returns after which time everything is to be read again; nil if it need not.
  private func enqueue(
    _ schema: EntitySchema, _ start: Start, in workspace: WorkspaceCore,
    _ job: @escaping @Sendable (Start, WorkspaceCore) -> DispatchTimeInterval?
  ) {
    let id = ObjectIdentifier(schema)
    let isFirst = state.withLock { state in
      if let known = state.starts[id] {
        if case .point = known, case .unknown = start { state.starts[id] = start }
        return false
      }
      state.starts[id] = start
      return true
    }
    guard isFirst else { return }
    _ = workspace.atDelivery(of: [schema]) { [weak self] workspace in
      guard let self, let start = state.withLock({ $0.starts.removeValue(forKey: id) }) else {
        return
      }
      guard let pause = job(start, workspace) else { return }
      queue.asyncAfter(deadline: .now() + pause) { [weak self, weak workspace] in
        if let self, let workspace { enqueue(schema, .unknown, in: workspace, job) }
      }
    }
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
    let stores = dictionaries.all.map { ($0, $0.mark) }.filter { !$0.1.isEmpty }
    if stores.isEmpty { return true }
    var isDone = true
    var news: [DictionaryNews] = []
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
          rows = try snapshot.rows(of: DictionaryItem.schema, ids: changed).map { $0 }
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
            ?? snapshot.row(of: DictionaryItem.schema, with: store.keyValues(key))
          let contents = try row.map { try DictionaryItem.contents(of: $0) } ?? .absent
          switch store.follow(key, contents, row: row?.id ?? -1, since: mark) {
          case .later: isDone = false
          case .done(let own): if let own { news.append(own) }
          }
        }
      }
    }
    delivering { for news in news { news.deliver() } }
    return isDone
  }
}
