// WorkspaceCopy: one copy of a workspace to another, from its beginning to its end.
//
// The target is brought to one state of the source after another, each time by less work:
//
//  1. The first state is compared with what an interrupted copy has left, which is nothing mostly.
//  2. From then on only rows are looked at that were written since. Rows keep their ids, so a row
//     of the source and its copy find each other, whatever has become of its key.
//  3. When little is left, both sides are read and compared, by numbers and digests.
//  4. The last changes are copied while nothing can write to the source. Each row is read back.
//
// A state of the source has no two objects with the same key or unique value. The target gets there
// by way of other states, so all rows that change are removed before any is added.

import Platform

/// Cancels a copy from another thread.
final class CopyCancellation: Sendable {
  private let isCancelled = Atomic(false)

  func cancel() { isCancelled.store(true, ordering: .releasing) }

  func check() throws {
    if isCancelled.load(ordering: .acquiring) { throw CancellationError() }
  }
}

/// A copy. Used by one thread.
final class WorkspaceCopy {
  /// As long as more rows were written meanwhile, transactions of the source go on.
  private static let mostAtTheEnd = 200
  /// How often changes are copied at most, if there are always many.
  private static let mostPasses = 10

  let source: CopySource
  let target: CopyTarget
  let schemas: [EntitySchema]
  private let cancellation: CopyCancellation
  private let progress: (@Sendable (CopyProgress) -> Void)?
  private var passes = 0
  /// Whether the transactions of the source wait, so that nothing is given up any more.
  private var isAtTheEnd = false

  init(
    _ source: WorkspaceCore, _ target: WorkspaceCore, _ schemas: [EntitySchema],
    _ cancellation: CopyCancellation, _ progress: (@Sendable (CopyProgress) -> Void)?
  ) {
    self.source = CopySource(source, schemas)
    self.target = CopyTarget(target)
    self.schemas = schemas
    self.cancellation = cancellation
    self.progress = progress
  }

  func report(_ stage: CopyProgress.Stage, _ schema: EntitySchema?, _ done: Int, _ total: Int?) {
    progress?(CopyProgress(stage: stage, table: schema?.table, done: done, total: total))
  }

  /// Throws if the copy was cancelled, or a workspace was shut down.
  func check() throws {
    if isAtTheEnd { return }
    try cancellation.check()
    if source.core.isClosed || target.core.isClosed { throw WorkspaceError.shutDown }
  }

  // MARK: From beginning to end

  func run(_ switchOver: (@Sendable () throws -> Void)?) throws -> CopyReport {
    try check()
    try source.prepare()
    try target.begin(try storedBefore(), from: source.core)
    try retrying { try copyNextState(.copying) }
    try catchUp()
    try retrying { try verify() }
    try catchUp()
    return try finish(switchOver)
  }

  /// What an interrupted copy has stored in the target, by table.
  /// - Throws: If it has anything else.
  private func storedBefore() throws -> [String: CopiedContents] {
    let isUnfinished = try target.isUnfinished()
    var stored: [String: CopiedContents] = [:]
    for schema in schemas + [DictionaryItem.schema] {
      let isDictionary = schema === DictionaryItem.schema
      let table = isDictionary ? nil : schema.table
      let mark = try isUnfinished ? target.mark(schema.table) : nil
      let expected = mark.flatMap { CopiedContents(text: $0) }
      guard let expected else {
        let count = try isDictionary ? contentsOfTargetDictionary().count : target.count(of: schema)
        if count > 0 { throw CopyError.targetNotEmpty(table: table, count: count) }
        stored[schema.table] = CopiedContents()
        continue
      }
      let found = try isDictionary ? contentsOfTargetDictionary() : contentsOfTarget(schema)
      if found != expected {
        throw CopyError.targetChanged(table: table, expected: expected, found: found)
      }
      stored[schema.table] = found
    }
    return stored
  }

  /// Runs a pass again after a conflict with another connection of the source.
  private func retrying(_ body: () throws -> Void) throws {
    var pauses = RetryPauses()
    var attempts = 8
    while true {
      attempts -= 1
      do { return try body() } catch let error as StorageError
        where error.cause == .conflict && attempts > 0
      {
        source.beginAnew()
        try check()
        pauses.take()
      }
    }
  }

  /// Brings the target to the current state of the source.
  private func copyNextState(_ stage: CopyProgress.Stage) throws {
    try check()
    let state = try source.pin()
    passes += 1
    try copy(state, stage, readsBack: false)
  }

  private func catchUp() throws {
    var attempts = Self.mostPasses
    while attempts > 0, source.changeCount.map({ $0 > Self.mostAtTheEnd }) ?? true {
      attempts -= 1
      try retrying { try copyNextState(.catchingUp) }
    }
  }

  /// Compares both sides, at a state of the source that is copied first.
  private func verify() throws {
    try check()
    let state = try source.pin()
    passes += 1
    try copy(state, .catchingUp, readsBack: false)
    for schema in schemas {
      let original = try contents(of: schema, in: state.snapshot, .verifying)
      let copied = try contentsOfTarget(schema)
      if original != copied || copied != target.contents(of: schema) {
        throw CopyError.verificationFailed(
          table: schema.table, source: original, target: copied)
      }
    }
    try verifyDictionary(state.snapshot)
  }

  private func finish(_ switchOver: (@Sendable () throws -> Void)?) throws -> CopyReport {
    var pauses = RetryPauses()
    for _ in 1...Self.mostPasses {
      try check()
      let clock = ContinuousClock()
      var pause: Duration?
      var refusal: (any Error)?
      do {
        try source.withLastState { state in
          let start = clock.now
          // What other connections have changed is looked for while transactions go on.
          guard state.changes != nil else { return source.beginAnew() }
          isAtTheEnd = true
          defer { isAtTheEnd = false }
          try copy(state, .finishing, readsBack: true)
          try target.removeMarks()
          do { try switchOver?() } catch {
            refusal = error
            // Without marks the copy begins anew; the program learns of its own error.
            do { try target.setMarks() } catch { target.core.report(error) }
          }
          pause = clock.now - start
        }
      } catch let error as StorageError where error.cause == .conflict && pause == nil {
        source.beginAnew()
        pauses.take()
      }
      if let refusal { throw refusal }
      if let pause {
        var types: TypeSet = [DictionaryItem.schema]
        for schema in schemas { types.insert(schema) }
        target.core.awaitDeliveries(of: types)
        return report(pause)
      }
      try retrying { try copyNextState(.catchingUp) }
    }
    throw CopyError.sourceKeepsChanging
  }

  private func report(_ pause: Duration) -> CopyReport {
    var tables: [String: CopiedContents] = [:]
    for schema in schemas { tables[schema.table] = target.contents(of: schema) }
    return CopyReport(
      tables: tables, dictionaries: target.contents(of: DictionaryItem.schema), passes: passes,
      pause: pause)
  }
}
