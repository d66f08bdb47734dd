// HistoryRun: clients on threads that run a workload's steps on stores and record what they
// observe.
//
// A client calls without waiting, up to a number of transactions that have not completed yet, so
// that queues grow and commits are shared. If nothing completes for a long time it gives up, and
// the open transactions are reported as errors of the history.

import DflatTestSupport
import Dispatch
import Foundation
import Platform

/// A run of a workload in this process.
public struct HistoryRun: Sendable {
  /// The workload.
  public let workload: any Workload
  /// The seed of all random numbers.
  public let seed: UInt64
  /// Clients on each store.
  public var clientsPerStore = 3
  /// Steps of each client.
  public var stepsPerClient = 300
  /// The number of the first client; client 0 sets the workload up.
  public var firstClient = 1
  /// The number of the first workspace.
  public var firstWorkspace = 0
  /// Seconds without any completion after which a client gives up.
  public var patience = 60.0
  /// Where the order of calls and completions counts.
  public var realTime = RealTime.everywhere

  /// A run.
  public init(_ workload: any Workload, seed: UInt64) {
    self.workload = workload
    self.seed = seed
  }

  /// Runs the workload's setup before the clients begin.
  public func setUp(_ store: any TransactionalStore) -> History {
    var client = Client(number: 0, seed: seed)
    guard let step = workload.setUp(&client) else { return History() }
    let session = Session(client.number, firstWorkspace, window: 1, patience: patience)
    session.perform(step, on: store)
    return session.finish()
  }

  /// Lets the clients run to their end.
  public func run(on stores: [any TransactionalStore]) -> History {
    let result = Mutex(History())
    let group = DispatchGroup()
    for (position, store) in stores.enumerated() {
      for index in 0..<clientsPerStore {
        let number = firstClient + position * clientsPerStore + index
        group.enter()
        Thread {
          let history = runClient(number, workspace: firstWorkspace + position, store)
          result.withLock { $0.merge(history) }
          group.leave()
        }.start()
      }
    }
    group.wait()
    return result.withLock { $0 }
  }

  private func runClient(
    _ number: Int, workspace: Int, _ store: any TransactionalStore
  ) -> History {
    var client = Client(number: number, seed: seed)
    let window = client.random.pick([1, 2, 8, 32])
    let session = Session(number, workspace, window: window, patience: patience)
    for position in 0..<stepsPerClient {
      client.position = position
      session.perform(workload.step(&client), on: store)
      if session.hasGivenUp { break }
    }
    return session.finish()
  }

  /// Reads everything that may have been written, after all clients have ended.
  public func readAll(_ store: any TransactionalStore, after history: History) -> History {
    let session = Session(0, firstWorkspace, window: 1, patience: patience)
    let keys = workload.keys(after: history)
    session.perform(.snapshot { for key in keys { try $0.read(key) } }, on: store)
    return session.finish()
  }

  /// A complete run: set up, run, read, check.
  /// - Returns: The number of transactions, and the violations.
  public func check(on stores: [any TransactionalStore]) -> (Int, [Violation]) {
    var history = setUp(stores[0])
    history.merge(run(on: stores))
    if history.transactions.allSatisfy({ $0.outcome != .open }) {
      history.merge(readAll(stores[0], after: history))
    }
    history.complaints += stores.flatMap { $0.takeErrors() }
    return (history.transactions.count, violations(of: history))
  }

  /// All violations in a history of this workload.
  public func violations(of history: History) -> [Violation] {
    history.violations(of: workload.keyUse, realTime: realTime)
      + workload.invariantViolations(history).prefix(100)
  }
}

/// The calls of one client, and those it waits for. Used by the client's thread.
private final class Session {
  private let client: Int
  private let workspace: Int
  private let window: Int
  private let patience: Double
  private let free: DispatchSemaphore
  private let complaints = Complaints()
  private var records: [TransactionRecord] = []
  private(set) var hasGivenUp = false

  private final class Complaints: Sendable {
    let texts = Mutex<[String]>([])
    func add(_ text: String) { texts.withLock { $0.append(text) } }
  }

  init(_ client: Int, _ workspace: Int, window: Int, patience: Double) {
    self.client = client
    self.workspace = workspace
    self.window = window
    self.patience = patience
    free = DispatchSemaphore(value: window)
  }

  deinit {
    // A semaphore must not be released with a lower value than it was created with.
    for _ in 0..<window { free.signal() }
  }

  func perform(_ step: Step, on store: any TransactionalStore) {
    switch step {
    case .snapshot(let body):
      read { record in
        do {
          try store.snapshot { reader in
            record.operations = []
            try body(RecordedReader(reader, record))
          }
        } catch {
          complaints.add("a snapshot threw \(error)")
        }
      }
    case .lookUps(let keys):
      for key in keys {
        read { $0.operations = [.read(key, store.lookUp(key))] }
      }
    case .transaction(let spaces, let body):
      if !waitForOne() { return }
      let record = TransactionRecord(client: client, workspace: workspace, spaces: spaces)
      records.append(record)
      record.called = SharedClock.now
      store.transact(spaces) { access in
        record.began = SharedClock.now
        defer { record.ended = SharedClock.now }
        record.operations = []
        try body(RecordedAccess(access, record))
      } _: { [free, complaints] isCommitted in
        record.completed = SharedClock.now
        if record.outcome != .open { complaints.add("a transaction completed twice") }
        record.outcome = isCommitted ? .committed : .refused
        free.signal()
      }
      record.returned = SharedClock.now
    }
  }

  /// Records reads on this thread, as a snapshot.
  private func read(_ body: (TransactionRecord) -> Void) {
    let record = TransactionRecord(client: client, workspace: workspace, spaces: nil)
    records.append(record)
    record.called = SharedClock.now
    body(record)
    record.returned = SharedClock.now
    record.completed = record.returned
    record.outcome = .committed
  }

  private func waitForOne() -> Bool {
    if hasGivenUp { return false }
    if free.wait(timeout: .now() + patience) == .success { return true }
    hasGivenUp = true
    return false
  }

  func finish() -> History {
    for _ in 0..<window where !waitForOne() { break }
    var history = History(records)
    history.complaints = complaints.texts.withLock { $0 }
    return history
  }
}
