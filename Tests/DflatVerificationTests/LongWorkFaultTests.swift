// Index builds, migrations, the dictionary and live results on disks that fail and fill up.

import CFaultVFS
import Dflat
import DflatTestSupport
import DflatVerification
import Dispatch
import Foundation
import SQLiteAccess
import SQLiteDflat
import Platform
import Testing

@Suite("Long work on failing disks")
struct LongWorkFaultTests {
  @Test("Some calls fail: all work finishes, and nothing is lost or duplicated")
  func campaign() throws {
    try withTemporaryDirectory { directory in
      let run = try LongWorkRun(in: directory)
      for mode in LongWorkRun.modes {
        var number = 1 + Int(mode.rawValue) * 5
        while true {
          let result = try run.fail(number, mode)
          for fault in Set(result.faults) {
            Issue.record(
              "call \(number), mode \(mode.rawValue), \(result.failure ?? "none"): \(fault)")
          }
          if result.failure == nil { break }
          number += isLongRun ? 1 : 31
        }
        #expect(number > 100)
      }
    }
  }

  /// The kinds of work that can be interrupted.
  enum Work: CaseIterable, Sendable {
    case indexes, migration
  }

  /// A file on a disk that can fill up, and the work to be done in it.
  private struct Scene {
    let disk: FaultDisk
    let store: WorkspaceStore
    let path: String

    init(_ directory: String) throws {
      path = "\(directory)/disk/test.db"
      try makeDirectory("\(directory)/disk")
      disk = try FaultDisk("\(directory)/disk")
      let first = WorkspaceStore(path: path, isShared: false)
      try LongWorkRun.fill(first.dflat, 0..<1200)
      first.close()
      let connection = try Connection(path: path)
      try connection.execute("DELETE FROM verify__red__f6")
      try connection.close()
      store = WorkspaceStore(path: path, isShared: false)
    }

    /// Does the work.
    func run(_ work: Work) async throws {
      switch work {
      case .indexes: try await store.dflat.indexesReady(for: Verify.Red.self)
      case .migration: try await store.dflat.migrate(LongWorkRun.migration)
      }
    }

    /// Waits until the workspace has reported that the disk is full.
    func waitForFullDisk() async {
      let isFull = await inTime {
        store.takeStorageErrors().contains { $0.cause == .diskFull }
      }
      #expect(isFull)
    }
  }

  @Test(
    "A full disk interrupts it; results are right; when there is space it continues by itself",
    arguments: Work.allCases)
  func fullDisk(work: Work) async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let scene = try Scene(directory)
    let dflat = scene.store.dflat
    dflat._core.fullDiskPause = .milliseconds(5)
    scene.disk.arm(Int(FAULTVFS_ALL), number: 30, FAULTVFS_FULL)
    async let done: Void = scene.run(work)
    await scene.waitForFullDisk()
    #expect(dflat.fetch(for: Verify.Red.self).where(Verify.Red.group == 1).count == 240)
    if work == .migration { #expect(dflat.fetch(for: Verify.White.self).all().count == 1200) }
    scene.disk.disarm()
    try await done
    #expect(dflat.fetch(for: Verify.Red.self).where(Verify.Red.group == 1).count == 240)
    if work == .migration {
      #expect(dflat.fetch(for: Verify.White.self).all().allSatisfy { $0._rowid > 0 })
      #expect(dflat.fetch(for: Verify.Blue.self).all().isEmpty)
    }
    #expect(scene.store.takeStorageErrors().allSatisfy { $0.cause == .diskFull })
    await dflat.shutdown()
    let connection = try Connection(path: scene.path)
    let schema = work == .indexes ? Verify.Red._schema : Verify.White._schema
    #expect(try unsoundness(of: schema, connection, complete: true) == [])
    try connection.close()
  }

  @Test("A shutdown ends work that waits for disk space", arguments: Work.allCases)
  func shutdownWhileFull(work: Work) async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let scene = try Scene(directory)
    scene.store.dflat._core.fullDiskPause = .seconds(3600)
    scene.disk.arm(Int(FAULTVFS_ALL), number: 1, FAULTVFS_FULL)
    let running = Task { try await scene.run(work) }
    await scene.waitForFullDisk()
    scene.disk.disarm()
    await scene.store.dflat.shutdown()
    let error = await #expect(throws: WorkspaceError.self) { try await running.value }
    #expect(error == .shutDown)
  }
}
