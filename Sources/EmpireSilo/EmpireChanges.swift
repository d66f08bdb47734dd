// EmpireChanges: the states of a query's values in an Empire store.
//
// Values of retained versions belong to the first state, although they are not migrated yet. While
// they are migrated nothing is observed, since the states in between lack some of them.

import Dflat
import Empire
import Platform
import Silo

struct EmpireChanges<Value: Persistable> {
  private let query: ValueQuery<Value>
  private let empire: EmpireDomain

  init(_ query: ValueQuery<Value>, in empire: EmpireDomain) {
    self.query = query
    self.empire = empire
  }

  /// The changes, beginning at the present state.
  func begin() -> ValueChanges<Value> {
    let report = empire.reportToStorage
    let (states, continuation) = AsyncStream<FetchedResult<Canonical<Value>>>.makeStream()
    let observation = EmpireObservation()
    continuation.onTermination = { _ in observation.end() }
    let start: [Canonical<Value>]
    // Before the subscription, which begins with its own present state.
    do { start = try present() } catch { return ValueChanges(failing: error, report: report) }
    if empire.isPrepared(Value.self) || Value.migrations.oldTypes.isEmpty {
      observe(observation, continuation)
      return ValueChanges(from: FetchedResult(start), states, report: report)
    }
    let preparation = Task {
      do { try await empire.prepare(Value.self) } catch {
        if !(error is CancellationError) { empire.report(error) }
        return continuation.finish()
      }
      if !Task.isCancelled { observe(observation, continuation) }
    }
    observation.wait(for: preparation)
    return ValueChanges(from: FetchedResult(start), states, report: report)
  }

  private func observe(
    _ observation: EmpireObservation,
    _ continuation: AsyncStream<FetchedResult<Canonical<Value>>>.Continuation
  ) {
    let (query, empire) = (query, empire)
    // In every transaction that changes one of these, all of them are read: of a query by its id,
    // one. Indexes do not say what no longer satisfies a query.
    let records = StoredRow.query(
      table: Canonical<Value>._schema.table,
      hash: .closedRange(RowSearch(query) { _ in false }.observedHashes))
    do {
      observation.begin(
        try empire.store.subscribe(to: records, includingPresent: true) { result in
          do {
            var objects: [Canonical<Value>] = []
            for record in try result.get() {
              // A damaged record keeps no other one from being seen.
              do { objects.append(try record.object()) } catch { empire.report(error) }
            }
            continuation.yield(FetchedResult(try query.objects(of: objects)))
          } catch { empire.report(error) }
        })
    } catch {
      empire.report(error)
      continuation.finish()
    }
  }

  /// The objects of the query, including those that are not migrated yet, which have no row ids.
  /// - Throws: `SiloError.newerVersion`, `SiloError.unknownVersion`; the errors of the storage.
  private func present() throws -> [Canonical<Value>] {
    // Behind all that are stored, as they will be.
    let firstID = Int64.max / 2
    let objects = try EmpireDomain.run(in: empire.store, readOnly: true) { transaction in
      try transaction.requireVersion(of: Value.self, isRecorded: false)
      var all: [Canonical<Value>] = try transaction.readableObjects()
      let known = Set(all.map { IDKey($0.id) })
      var next = firstID
      for value in try Value.migrations.pending(
        in: transaction, storedVersion: transaction.version)
      {
        let object = Canonical(value)
        if known.contains(IDKey(object.id)) { continue }
        all.append(object.with(id: next))
        next += 1
      }
      return try query.objects(of: all)
    }
    return objects.map {
      $0._rowid < firstID ? $0 : $0.with(id: firstID - 1 - $0._rowid)
    }
  }
}

extension Canonical {
  fileprivate func with(id: Int64) -> Canonical {
    Canonical(_row: _row.withBytes { DflatRow(sound: $0, id: id) })
  }
}

/// What is released when changes are no longer watched.
private final class EmpireObservation: Sendable {
  private struct State {
    var hasEnded = false
    var subscription: StoreSubscription?
    var preparation: Task<Void, Never>?
  }

  private let state = Mutex(State())

  func begin(_ subscription: StoreSubscription) {
    state.withLock { if !$0.hasEnded { $0.subscription = subscription } }
  }

  func wait(for preparation: Task<Void, Never>) {
    state.withLock { $0.preparation = preparation }
  }

  func end() {
    let ended = state.withLock { state in
      state.hasEnded = true
      let ended = (state.subscription, state.preparation)
      state.subscription = nil
      state.preparation = nil
      return ended
    }
    ended.1?.cancel()
  }
}
