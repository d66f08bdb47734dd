// Observers that hold no rows, but what was computed from them: aggregates.
//
// They apply a change as the difference between two rows. That is right if the earlier row is the
// one that they have counted. Where other connections commit at any time, a transaction may have
// changed a row that another connection had changed before, and that was not delivered yet. The
// engine's record tells whether this is so. Invariant:
//
//  - what other connections have changed up to `Registered.point` is in what the observers hold.

extension TypeObservers {
  /// The observers to which changes cannot be applied as differences.
  /// - Parameter touched: Those that the changes touch.
  func outdated(
    by changes: [RowChange], among touched: [QueryObserver], _ registered: inout Registered,
    in workspace: any TransactionHost
  ) -> [QueryObserver] {
    if !mayLag { return [] }
    let touched = touched.filter { $0.appliesDifferences && !$0.isStale }
    if touched.isEmpty { return [] }
    let snapshot = workspace.engine.makeSnapshot(for: .observation)
    defer { snapshot.close() }
    // If the record cannot be read, the observers are read again, which reports a lasting error.
    guard let recorded = snapshot as? any ChangeRecordingSnapshot,
      let others = try? recorded.recordedChanges(since: registered.point)
    else { return touched }
    guard let tables = others.tables else {
      registered.point = others.point
      return registered.index.all.compactMap { $0 as? QueryObserver }
        .filter { $0.appliesDifferences && !$0.isStale }
    }
    switch tables[schema.table] {
    case .unknown: return touched
    case .rows(let ids):
      let others = Set(ids)
      return changes.contains { others.contains($0.id) } ? touched : []
    case nil:
      registered.point = others.point
      return []
    }
  }
}
