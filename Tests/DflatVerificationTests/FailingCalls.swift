// One transaction, again and again: each time another call to the disk fails.

import CFaultVFS
import Dflat
import DflatTestSupport
import DflatVerification
import Foundation
import SQLiteDflat
import Testing

/// A file, and how often one of the calls fails that a transaction on it makes.
struct FailingCalls {
  /// The file. Each turn has a copy of it.
  let template: String
  let directory: String
  /// Every which call fails; all in long runs of a stride of one.
  let stride: Int
  /// The size of the writer's cache in bytes: less than the transaction uses, so that it reads and
  /// writes meanwhile.
  let cacheSize: Int

  init(_ template: String, in directory: String, stride: Int, cacheSize: Int = 64 << 10) {
    self.template = template
    self.directory = directory
    self.stride = stride
    self.cacheSize = cacheSize
  }

  func open(_ path: String) -> TemporaryFile {
    TemporaryFile(path: path) { $0.writerCacheSize = cacheSize }
  }

  /// Runs the transaction until none of its calls has failed.
  /// - Parameters:
  ///   - transaction: Runs it, and returns whether it is committed.
  ///   - check: Looks at the workspace, and at another one on the same file.
  ///   - goOn: What the workspace must do after the failure.
  func run(
    _ transaction: (TemporaryFile) throws -> Bool,
    check: (TemporaryFile, _ isCommitted: Bool, _ call: Comment) throws -> Void,
    goOn: (TemporaryFile, _ call: Comment) throws -> Void = { _, _ in }
  ) throws {
    var failed = 0
    for mode in LongWorkRun.modes {
      var number = 1 + Int(mode.rawValue) * stride / 2
      while true {
        let place = "\(directory)/\(mode.rawValue)-\(number)"
        try makeDirectory(place)
        let path = "\(place)/test.db"
        try FileManager.default.copyItem(atPath: template, toPath: path)
        let disk = try FaultDisk(place)
        let file = open(path)
        disk.arm(Int(FAULTVFS_ALL), number: number, mode)
        let isCommitted = try transaction(file)
        let failures = disk.failures
        disk.disarm()
        _ = file.takeErrors()
        let call: Comment = "call \(number), mode \(mode.rawValue), \(disk.firstFailure)"
        for seen in [file, open(path)] {
          try check(seen, isCommitted, call)
          #expect(seen.takeErrors().isEmpty, call)
        }
        try goOn(file, call)
        file.dflat.shutdown()
        try FileManager.default.removeItem(atPath: place)
        if failures == 0 { break }
        failed += isCommitted ? 0 : 1
        number += stride
      }
    }
    #expect(failed > 10)
  }
}
