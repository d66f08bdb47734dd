// FaultCampaign: faults and power failures at every point of a small scenario, and at some points
// of a large one.

import CFaultVFS
import DflatTestSupport
import Foundation
import SQLiteDflat

/// Many faults, with their results.
public struct FaultCampaign {
  private let directory: String
  private let seed: UInt64
  private var faultPoints = 0
  private var crashPoints = 0
  private var images = 0
  private var errors = 0
  private var faults = 0
  private var lying = CrashRun.Result()
  private var lies = 0
  private var lossesOfNormal = 0
  private var foundNevertheless = 0
  private var isCutShort = false

  /// How a point was reached.
  private struct Way {
    let name: String
    let mode: faultvfs_mode
    let untilClosed: Bool
  }

  private static let ways = [
    Way(name: "once", mode: FAULTVFS_ONCE, untilClosed: false),
    Way(name: "persistent", mode: FAULTVFS_PERSISTENT, untilClosed: false),
    Way(name: "persistent until closed", mode: FAULTVFS_PERSISTENT, untilClosed: true),
    Way(name: "full", mode: FAULTVFS_FULL, untilClosed: false),
    Way(name: "full until closed", mode: FAULTVFS_FULL, untilClosed: true),
  ]

  /// - Parameters:
  ///   - directory: An empty directory.
  ///   - seed: The seed of the scenarios.
  public init(in directory: String, seed: UInt64) {
    self.directory = directory
    self.seed = seed
  }

  /// Every point of a small scenario, then points of a large one.
  /// - Parameters:
  ///   - deadline: When to stop, even if points remain.
  ///   - stride: Only every stride-th point is tested.
  public mutating func run(until deadline: ContinuousClock.Instant?, stride: Int = 1) throws {
    let small = LedgerScenario(seed: seed)
    try crash(small, "small", stride, deadline)
    try fail(small, "small", stride, deadline)
    try crash(LedgerScenario(growing: seed), "large", stride * 97, deadline)
    try fail(LedgerScenario(growing: seed), "large", stride * 211, deadline)
  }

  private mutating func isOver(_ deadline: ContinuousClock.Instant?) -> Bool {
    guard let deadline, ContinuousClock.now >= deadline else { return false }
    isCutShort = true
    return true
  }

  /// Failing calls.
  public mutating func fail(
    _ scenario: LedgerScenario, _ name: String, _ stride: Int,
    _ deadline: ContinuousClock.Instant? = nil
  ) throws {
    let run = FaultRun(scenario, in: directory)
    for way in Self.ways {
      var number = 1
      while !isOver(deadline) {
        let result = try run.fail(number, way.mode, untilClosed: way.untilClosed)
        errors += result.errors
        if result.isFoundNevertheless { foundNevertheless += 1 }
        tell(result.faults, "\(name), call \(number), \(way.name): \(result.failure ?? "none")")
        if result.failure == nil { break }
        faultPoints += 1
        number += stride
      }
    }
  }

  /// Power failures.
  public mutating func crash(
    _ scenario: LedgerScenario, _ name: String, _ stride: Int,
    _ deadline: ContinuousClock.Instant? = nil
  ) throws {
    for isFull in [true, false] {
      let run = CrashRun(scenario, isFull ? .full : .normal, in: directory)
      var number = 1
      while !isOver(deadline) {
        let result = try run.crash(at: number)
        let setting = "\(name), \(isFull ? "full" : "normal"), power off at change \(number)"
        tell(result.faults, "\(setting): \(result.failure ?? "none")")
        if result.failure == nil { break }
        crashPoints += 1
        images += result.images
        if !isFull { lossesOfNormal += result.losses }
        number += stride
      }
    }
    let run = CrashRun(scenario, .full, in: directory)
    var number = 1
    while !isOver(deadline) {
      let result = try run.crash(
        at: number, lies: true, survivals: [FAULTVFS_DROPPED, FAULTVFS_SCATTERED])
      if result.failure == nil { break }
      lies += result.images
      lying.losses += result.losses
      lying.wrecks += result.wrecks
      number += 7 * stride
    }
  }

  private mutating func tell(_ found: [String], _ setting: String) {
    faults += found.count
    for fault in Set(found).sorted().prefix(5) {
      print("seed \(seed), \(setting)\n  \(fault)")
    }
  }

  /// The number of violations.
  public var faultCount: Int { faults }

  /// Prints the figures.
  /// - Returns: Whether there was no violation.
  public func report() -> Bool {
    print(
      "failing calls: \(faultPoints) points, \(errors) errors reported; \(foundNevertheless) times a "
        + "commit was found whose sync had failed for good\n"
        + "power losses: \(crashPoints) points, \(images) states of the disk; "
        + "\(lossesOfNormal) of those with .normal lack the last transactions, as they may\n"
        + "disks that lie about syncs: \(lies) states of the disk, \(lying.losses) lack "
        + "transactions, \(lying.wrecks) are damaged (nothing is promised)\n"
        + "\(faults) faults\(isCutShort ? "; time ran out before all points were tried" : "")")
    return faults == 0
  }
}
