// MemoryRun: clients of one workspace in memory, without a file, another process, or help from SQLite.

import Dflat
import DflatTestSupport
import MemoryDflat

extension HistoryRun {
  /// Runs on a workspace in memory, reads everything, and checks the history.
  /// - Returns: The number of transactions, and what is wrong.
  public func checkInMemory() -> (Int, [Violation]) {
    var random = SeededGenerator(seed: seed)
    let dflat = MemoryWorkspace(writeConcurrency: random.oneIn(4) ? .serial : .concurrent)
    let store = WorkspaceStore(dflat, isShared: false)
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
