// CrashRun: the power fails at some change of the disk, and the remaining files are opened.
//
// Data that no sync has made durable is lost, kept, or kept in parts; see CFaultVFS.h. With `.full`
// every transaction that was reported as committed must be there. With `.normal` the last ones may
// be missing. In both cases the file contains whole transactions only, is sound, and can be
// written.

public import CFaultVFS
import DflatTestSupport
import Foundation
public import SQLiteDflat

/// Power failures, one for each run of a scenario.
public struct CrashRun: Sendable {
  private let scenario: LedgerScenario
  private let synchronous: SQLiteWorkspace.Synchronous
  private let directory: String

  /// - Parameters:
  ///   - scenario: The scenario to run.
  ///   - synchronous: How long a commit waits for the disk.
  ///   - directory: The base directory; each run creates its own directory in it.
  public init(
    _ scenario: LedgerScenario, _ synchronous: SQLiteWorkspace.Synchronous, in directory: String
  ) {
    self.scenario = scenario
    self.synchronous = synchronous
    self.directory = directory
  }

  /// The result of one power failure.
  public struct Result: Sendable {
    /// The change at which the power failed; nil if there were fewer changes.
    public var failure: String?
    /// How many states of the disk were examined.
    public var images = 0
    /// The violations.
    public var faults: [String] = []
    /// How many states lacked a transaction that was reported as committed.
    public var losses = 0
    /// How many states were damaged beyond use, on disks with ineffective syncs.
    public var wrecks = 0
  }

  /// Runs the scenario with a power failure.
  /// - Parameters:
  ///   - number: The change of the disk at which the power fails, from 1.
  ///   - lies: Whether syncs have no effect and report success. Then nothing is guaranteed: losses
  ///     and damaged files are counted, but are not violations as long as the process does not
  ///     crash.
  ///   - survivals: The fates of changes that were not made durable.
  public func crash(
    at number: Int, lies: Bool = false,
    survivals: [faultvfs_survival] = [
      FAULTVFS_DROPPED, FAULTVFS_KEPT, FAULTVFS_CUT, FAULTVFS_SCATTERED,
    ]
  ) throws -> Result {
    let place = "\(directory)/crash-\(number)"
    try FileManager.default.createDirectory(
      atPath: "\(place)/disk", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: place) }
    let disk = try FaultDisk("\(place)/disk")
    if lies { disk.lieAboutSyncs() }
    disk.arm(Int(FAULTVFS_CHANGES), number: number, FAULTVFS_POWER_OFF)
    let store = WorkspaceStore(
      path: "\(place)/disk/test.db", isShared: false, synchronous: synchronous)
    let report = scenario.run(on: store)
    store.dflat.shutdown(flags: scenario.flags)

    var result = Result(faults: report.faults)
    guard disk.failures > 0 else { return result }
    result.failure = disk.firstFailure
    for survival in survivals {
      let image = "\(place)/image-\(survival.rawValue)"
      try FileManager.default.createDirectory(atPath: image, withIntermediateDirectories: true)
      try disk.writeImage(to: image, survival, seed: UInt64(number))
      try recover(image, report, lies, "survival \(survival.rawValue)", &result)
      result.images += 1
    }
    return result
  }

  private func recover(
    _ image: String, _ report: LedgerScenario.Report, _ lies: Bool, _ what: String,
    _ result: inout Result
  ) throws {
    // Attached to the fault disk, so that syncs cost nothing.
    let disk = try FaultDisk(image)
    disk.arm(0, number: 0, FAULTVFS_ONCE)
    let path = "\(image)/test.db"
    let store = WorkspaceStore(path: path, isShared: false, synchronous: synchronous)
    var faults: [String] = []
    let found = Ledger.state(of: store.dflat)
    faults += store.takeErrors().map { "reading: \($0)" }

    var after = LedgerScenario.Report()
    var isLossy = false
    for stream in 0..<Ledger.streams {
      let last = Ledger.last(stream, in: found)
      let told = report.committed.lazy.filter { $0.stream == stream }.map(\.number).max() ?? 0
      if last < told {
        isLossy = true
        if synchronous == .full {
          faults.append("stream \(stream) ends with \(last), though \(told) was reported")
        }
      }
      if last > report.called[stream] {
        faults.append("stream \(stream) has \(last), which was never called")
        continue
      }
      for number in 0..<last { scenario.ledger.apply(stream, number + 1, to: &after.state) }
      after.called[stream] = max(report.called[stream], last)
    }
    if isLossy { result.losses += 1 }
    if let difference = Ledger.difference(found, from: after.state) { faults.append(difference) }

    for stream in 0..<Ledger.streams {
      repeat {
        after.called[stream] += 1
      } while scenario.ledger.aborts(
        stream, after.called[stream])
      let next = Acknowledgement(stream: stream, number: after.called[stream])
      scenario.call([next], on: store, &after)
    }
    scenario.fetch(store, &after)
    if after.committed.count != Ledger.streams { after.faults.append("it cannot be written") }
    store.close()
    faults += after.faults
    faults += after.errors.map { "writing: \($0)" }
    faults += store.takeErrors()
    do { faults += try fileFaults(path) } catch { faults.append("\(error)") }

    if lies {
      if !faults.isEmpty { result.wrecks += 1 }
    } else {
      result.faults += faults.map { "\(what): \($0)" }
    }
  }
}
