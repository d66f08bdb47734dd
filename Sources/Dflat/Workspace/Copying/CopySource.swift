// CopySource: the states of the source that are copied, and what has changed from one to the next.
//
//  - A state is pinned while no transaction of the workspace has written anything that is not
//    committed. Which rows its transactions write from then on is recorded.
//  - Whether other connections have committed anything in between is told by the engine's tokens.
//    If they have, what they have changed is not known, and everything must be compared.

/// The source of a copy. Used by one thread.
final class CopySource {
  let core: WorkspaceCore
  private let recorders: [(recent: RecentChanges, recorder: RowRecorder)]
  private let types: TypeSet
  /// The token of the last state; nil if it is not known.
  private var token: CommitToken?
  /// Whether there was a state before, and all that was recorded since counts.
  private var isFollowing = false

  /// A state of the source.
  final class State {
    let snapshot: any StorageSnapshot
    /// The rows of each table that have changed since the last state; nil if they are not known.
    let changes: [[Int64]]?

    fileprivate init(_ snapshot: any StorageSnapshot, _ changes: [[Int64]]?) {
      self.snapshot = snapshot
      self.changes = changes
    }

    deinit { snapshot.close() }
  }

  init(_ core: WorkspaceCore, _ schemas: [EntitySchema]) {
    self.core = core
    var types: TypeSet = [DictionaryItem.schema]
    for schema in schemas { types.insert(schema) }
    self.types = types
    let recorders = schemas.map { (recent: core.recentChanges.of($0), recorder: RowRecorder()) }
    self.recorders = recorders
    // A transaction that holds a write lease may have asked for the recorders already.
    core.coordinator.withoutOpenGroup {
      for (recent, recorder) in recorders { recent.add(recorder) }
    }
  }

  deinit {
    for (recent, recorder) in recorders { recent.remove(recorder) }
  }

  /// How many rows were written since the last state; nil if it is not known.
  var changeCount: Int? {
    var sum = 0
    for (_, recorder) in recorders {
      guard let count = recorder.count else { return nil }
      sum += count
    }
    return sum
  }

  /// Forgets how the states are related, after a state that was not copied.
  func beginAnew() { isFollowing = false }

  /// Makes sure that there is a storage.
  func prepare() throws {
    if core.isWritable { try core.engine.prepareForWriting() }
  }

  /// Pins the current state.
  func pin() throws -> State {
    for store in core.dictionaries.all { core.synchronize(store) }
    return try withoutOpenGroup { try pinHere(nil) }
  }

  /// Calls `body` with the current state, while no transaction of the workspace over the types
  /// runs, and none can write. Other connections cannot write either, if the engine can exclude
  /// them.
  func withLastState<R>(_ body: (State) throws -> R) throws -> R {
    for store in core.dictionaries.all { core.synchronize(store) }
    return try core.holdingQueues(of: types) {
      try withoutOpenGroup {
        // A writer that excludes no other connection would only keep others waiting.
        guard core.isWritable, core.engine.capabilities.excludesOtherWriters else {
          return try body(pinHere(nil))
        }
        return try core.coordinator.withLoneWriter(core.engine.beginWriting) { token in
          try body(pinHere(token))
        }
      }
    }
  }

  private func withoutOpenGroup<R>(_ body: () throws -> R) throws -> R {
    var result: Result<R, any Error>?
    core.coordinator.withoutOpenGroup { result = Result(catching: body) }
    guard let result else { preconditionFailure("the write lease did not run its closure") }
    return try result.get()
  }

  /// - Parameter writing: The token of the open storage transaction.
  private func pinHere(_ writing: CommitToken?) throws -> State {
    let before = try writing ?? core.currentToken()
    let snapshot = core.engine.makeSnapshot(for: .copying)
    do {
      // The first read pins the state.
      _ = try snapshot.read { try $0.lastID(of: DictionaryItem.schema) }
      let after = try writing ?? core.currentToken()
      let known = before == after ? before : nil
      let ids = recorders.map { $0.recorder.take() }
      let changes = ids.compactMap { $0 }
      let isKnown = isFollowing && known != nil && known == token && changes.count == ids.count
      token = known
      isFollowing = true
      return State(snapshot, isKnown ? changes : nil)
    } catch {
      snapshot.close()
      throw error
    }
  }
}
