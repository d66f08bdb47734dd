// UploadKillRun: a process that enqueues uploads and sends them to a server is killed at a random
// moment, again and again on one file. At the end the server must have applied every upload that
// was reported as committed, each once, and those with one ordering key in their order.

import DflatTestSupport
import Foundation

/// Kills of the process that uploads.
public struct UploadKillRun {
  private let directory: String
  private let command: String
  private let seed: UInt64
  private var random: SeededGenerator
  private let server: UploadServer
  /// The number of the next upload; those before it may have been committed.
  private var next = 0
  /// The numbers of the uploads that were reported as committed.
  public private(set) var committed: Set<Int> = []
  /// How many processes were killed.
  public private(set) var kills = 0
  /// How many uploads the server has applied, counted at the end.
  public private(set) var applied = 0

  private var path: String { directory + "/uploads.db" }

  /// Starts the server.
  /// - Parameters:
  ///   - directory: A directory for the file and the server's record.
  ///   - command: The command that runs the process.
  ///   - seed: The seed of all random numbers.
  public init(in directory: String, command: String, seed: UInt64) throws {
    self.directory = directory
    self.command = command
    self.seed = seed
    random = SeededGenerator(seed: seed)
    server = try UploadServer(record: directory + "/record", seed: seed)
  }

  /// One kill.
  /// - Returns: The violations that are seen at once.
  public mutating func kill() throws -> [String] {
    let count = Int.random(in: 0...14, using: &random)
    let process = try ChildProcess(
      command,
      ["worker", "uploads", path, "\(server.port)", "\(next)", "\(count)", "\(random.next())"])
    var told: [UInt8] = []
    var hasEnded = false
    func listen(milliseconds: Int) {
      guard let more = process.read(milliseconds: milliseconds) else { return hasEnded = true }
      told += more
    }
    // Most are killed when they have begun to upload.
    if !random.oneIn(4) { listen(milliseconds: 10_000 * min(count, 1)) }
    let deadline = ContinuousClock.now + .microseconds(Int.random(in: 0...60_000, using: &random))
    while ContinuousClock.now < deadline, !hasEnded { listen(milliseconds: 1) }
    process.kill()
    while let more = process.read(milliseconds: 0), !more.isEmpty { told += more }
    kills += 1
    // What stands behind the last line end was cut off.
    let lines = told.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    committed.formUnion(lines.dropLast().compactMap { Int(String(decoding: $0, as: UTF8.self)) })
    next += count
    return hasEnded ? [place("the process ended by itself")] : []
  }

  /// Sends what is left, and compares the server's record with what was committed.
  /// - Returns: The violations.
  public mutating func finish() throws -> [String] {
    var faults = try UploadWorker.finish(path, port: server.port)
    faults += try siloFaults(path, [KillAccount.self])
    let record = try server.applied()
    applied = record.count
    let numbers = Set(record.map(\.number))
    let lost = committed.subtracting(numbers).sorted()
    if !lost.isEmpty { faults.append("committed and never applied: \(lost.prefix(10))") }
    if !numbers.isSubset(of: 0..<next) { faults.append("something else was applied") }
    if numbers.count != record.count {
      faults.append("\(record.count - numbers.count) uploads were applied more than once")
    }
    for key in NumberedUpload.keys {
      let numbers = record.filter { $0.orderingKey == key }.map(\.number)
      if let (first, second) = zip(numbers, numbers.dropFirst()).first(where: { $0 > $1 }) {
        faults.append("of the key \(key), \(first) was applied before \(second)")
      }
    }
    return faults.map(place)
  }

  private func place(_ fault: String) -> String {
    "uploads, kill \(kills), DFLAT_SEED=\(seed): \(fault)"
  }
}
