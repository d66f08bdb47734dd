// FaultRun: a scenario is run again and again, and each time another call of the storage fails,
// until there are no more calls.
//
// Each time: everything completes; failures report an error; transactions that were reported as
// committed are there, and no others; when the storage works again, the same workspace and a new
// one work; and the file is sound.
//
// One case has no definite outcome on a real disk. If the sync of a commit fails, and then nothing
// can be written until the workspace is closed, the commit was reported as failed but may exist:
// whole transactions, from the first on.

public import CFaultVFS
import DflatTestSupport
import Foundation
import SQLiteDflat

/// Failing calls, one for each run of a scenario.
public struct FaultRun: Sendable {
  private let scenario: LedgerScenario
  private let directory: String

  /// - Parameters:
  ///   - scenario: The scenario to run.
  ///   - directory: The base directory; each run creates its own directory in it.
  public init(_ scenario: LedgerScenario, in directory: String) {
    self.scenario = scenario
    self.directory = directory
  }

  /// The result of one run.
  public struct Result: Sendable {
    /// The call that failed; nil if there were fewer calls.
    public var failure: String?
    /// The violations.
    public var faults: [String]
    /// How many errors the workspace reported.
    public var errors: Int
    /// Whether a commit exists that was reported as failed because its sync failed.
    public var isFoundNevertheless = false
  }

  /// Runs the scenario and makes a call fail.
  /// - number: Which call fails, from 1.
  ///   - mode: Whether later calls fail, too.
  ///   - mode: Whether those after it fail, too.
  ///   - untilClosed: Whether the storage fails until the workspace is shut down.
  public func fail(
    _ number: Int, _ mode: faultvfs_mode, untilClosed: Bool = false
  ) throws -> Result {
    let place = "\(directory)/\(mode.rawValue)-\(number)"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: place) }
    let disk = try FaultDisk(place)
    let path = "\(place)/test.db"
    disk.arm(Int(FAULTVFS_ALL), number: number, mode)

    var store = WorkspaceStore(path: path, isShared: false, synchronous: .full)
    var report = scenario.run(on: store)
    if disk.failures > 0, !untilClosed {
      disk.disarm()
      goOn(store, &report, "the workspace")
    }
    store.dflat.shutdown(flags: scenario.flags)
    report.errors += store.takeStorageErrors()
    disk.disarm()

    let failure = disk.failures > 0 ? disk.firstFailure : nil
    store = WorkspaceStore(path: path, isShared: false, synchronous: .full)
    var isFoundNevertheless = false
    if untilClosed, failure?.hasPrefix("sync") == true {
      isFoundNevertheless = accept(Ledger.state(of: store.dflat), &report)
    }
    goOn(store, &report, "a new workspace")
    store.close()
    report.faults += store.takeErrors().map { "closing: \($0)" }
    report.faults += try fileFaults(path)
    return Result(
      failure: failure, faults: report.faults, errors: report.errors.count,
      isFoundNevertheless: isFoundNevertheless)
  }

  /// Accepts the file's state if it has some of the transactions whose sync failed: in each stream
  /// those from the first on.
  private func accept(_ found: Ledger.State, _ report: inout LedgerScenario.Report) -> Bool {
    var isFoundNevertheless = false
    for stream in 0..<Ledger.streams {
      let last = Ledger.last(stream, in: found)
      for transaction in report.firstToFail
      where transaction.stream == stream && transaction.number <= last {
        scenario.ledger.apply(stream, transaction.number, to: &report.state)
        isFoundNevertheless = true
      }
    }
    return isFoundNevertheless
  }

  /// The storage works again: everything else must work, too.
  private func goOn(_ store: WorkspaceStore, _ report: inout LedgerScenario.Report, _ who: String) {
    var after = LedgerScenario.Report()
    after.state = report.state
    after.called = report.called
    scenario.fetch(store, &after)
    for stream in 0..<Ledger.streams {
      // The next transaction that does not abort.
      repeat {
        after.called[stream] += 1
      } while scenario.ledger.aborts(
        stream, after.called[stream])
      let next = Acknowledgement(stream: stream, number: after.called[stream])
      scenario.call([next], on: store, &after)
    }
    scenario.fetch(store, &after)
    if after.committed.count != Ledger.streams {
      after.faults.append("a transaction failed though the storage works")
    }
    after.faults += after.errors.map { "an error though the storage works: \($0)" }
    report.state = after.state
    report.called = after.called
    report.faults += after.faults.map { "\(who): \($0)" }
  }
}
