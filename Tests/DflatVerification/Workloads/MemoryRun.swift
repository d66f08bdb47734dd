// MemoryRun: clients of one workspace in memory, or of silos in one: no file, no other process, no
// locking by SQLite.

import Dflat
import DflatTestSupport
import MemoryDflat

extension HistoryRun {
  /// Runs on an in-memory workspace, reads everything, and checks the history.
  /// - Returns: The number of transactions, and the violations.
  public func checkInMemory() -> (Int, [Violation]) {
    var random = SeededGenerator(seed: seed)
    let dflat = MemoryWorkspace(writeConcurrency: random.oneIn(4) ? .serial : .concurrent)
    return check(WorkspaceStore(dflat, isShared: false))
  }

  /// Runs on silos in memory, reads everything, and checks the history.
  /// - Returns: The number of transactions, and the violations.
  public func checkSilos() -> (Int, [Violation]) {
    check(SiloStore(MemoryWorkspace()))
  }

  private func check(_ store: any TransactionalStore) -> (Int, [Violation]) {
    var history = setUp(store)
    history.merge(run(on: [store]))
    if history.transactions.allSatisfy({ $0.outcome != .open }) {
      history.merge(readAll(store, after: history))
    }
    store.close()
    history.complaints += store.takeErrors()
    return (history.transactions.count, violations(of: history))
  }
}
