// LedgerScenario: the life of a workspace, from creating its file to its shutdown, the same for
// each point at which a fault occurs.
//
// It runs transactions of both streams of a ledger, alone and several at once, so that some share a
// commit; between them it fetches. Results reported to the program are taken as true, and every
// contradiction is recorded.

import Dispatch
public import Dflat
import DflatTestSupport
import SQLiteDflat
import Platform

/// A sequence of transactions and fetches.
public struct LedgerScenario: Sendable {
  /// The ledger that defines the transactions.
  public let ledger: Ledger
  /// How many transactions there are.
  public let transactions: Int
  /// How the workspace is shut down.
  public let flags: WorkspaceShutdownFlag
  private let seed: UInt64

  /// A scenario with a small file.
  public init(seed: UInt64) {
    self.seed = seed
    ledger = Ledger(seed: seed)
    transactions = 12
    var random = SeededGenerator(seed: seed)
    flags = random.pick([[], .truncate, [.vacuum, .truncate]])
  }

  /// A scenario with a file that grows until its log is checkpointed between transactions.
  public init(growing seed: UInt64) {
    self.seed = seed
    ledger = Ledger(seed: seed, changesPerTransaction: 60...80, valuesPerCell: 800)
    transactions = 24
    flags = .truncate
  }

  /// The result of a run.
  public struct Report: Sendable {
    /// The transactions that were reported as committed.
    public var committed: [Acknowledgement] = []
    /// How many transactions of each stream were called.
    public var called = Array(repeating: 0, count: Ledger.streams)
    /// The expected content of the file, according to the reports.
    public var state: Ledger.State = [:]
    /// The transactions of the first group in which some failed, and that failed then.
    public var firstToFail: [Acknowledgement] = []
    /// The violations.
    public var faults: [String] = []
    /// The errors that were reported.
    public var errors: [StorageError] = []
  }

  /// Runs on a workspace whose storage may fail.
  public func run(on store: WorkspaceStore) -> Report {
    var report = Report()
    var random = SeededGenerator(seed: seed)
    var stream = 0
    while report.called.reduce(0, +) < transactions {
      let batch = (0..<random.pick([1, 1, 2, 4])).map { _ in
        stream = random.oneIn(3) ? stream : 1 - stream
        report.called[stream] += 1
        return Acknowledgement(stream: stream, number: report.called[stream])
      }
      call(batch, on: store, &report)
      if random.oneIn(2) { fetch(store, &report) }
    }
    return report
  }

  /// Starts some transactions at once, and waits for all.
  func call(_ batch: [Acknowledgement], on store: WorkspaceStore, _ report: inout Report) {
    let outcomes = Outcomes()
    for transaction in batch {
      ledger.perform(transaction.stream, transaction.number, on: store.dflat) {
        outcomes.add(transaction, $0)
      }
    }
    var told: [Outcomes.Told] = []
    for _ in batch {
      guard let one = outcomes.next() else {
        report.faults.append("a transaction did not complete within a minute")
        return
      }
      told.append(one)
    }
    let errors = store.takeStorageErrors()
    report.errors += errors
    if report.firstToFail.isEmpty {
      let failed = told.filter { !$0.isCommitted }.map(\.transaction)
      report.firstToFail = failed.filter { !ledger.aborts($0.stream, $0.number) }
    }
    for one in told {
      let aborts = ledger.aborts(one.transaction.stream, one.transaction.number)
      if one.isCommitted {
        report.committed.append(one.transaction)
        ledger.apply(one.transaction.stream, one.transaction.number, to: &report.state)
        if aborts { report.faults.append("an aborted transaction was reported as committed") }
      } else if !aborts, errors.isEmpty {
        report.faults.append(
          "transaction \(one.transaction.number) of stream \(one.transaction.stream) failed "
            + "without any error")
      }
    }
  }

  /// A fetch without an error returns committed objects only.
  func fetch(_ store: WorkspaceStore, _ report: inout Report) {
    let found = Ledger.state(of: store.dflat)
    let errors = store.takeStorageErrors()
    report.errors += errors
    if errors.isEmpty, let difference = Ledger.difference(found, from: report.state) {
      report.faults.append("a fetch without an error: \(difference)")
    }
  }

  private final class Outcomes: Sendable {
    struct Told: Sendable {
      let transaction: Acknowledgement
      let isCommitted: Bool
    }

    private let all = Mutex<[Told]>([])
    private let count = DispatchSemaphore(value: 0)

    func add(_ transaction: Acknowledgement, _ isCommitted: Bool) {
      all.withLock { $0.append(Told(transaction: transaction, isCommitted: isCommitted)) }
      count.signal()
    }

    /// The next one in the order of notification; nil after a minute.
    func next() -> Told? {
      guard count.wait(timeout: .now() + 60) == .success else { return nil }
      return all.withLock { $0.removeFirst() }
    }
  }
}
