// A disk that fails, fills up, loses power: some points of a small scenario. `make verify` tests
// every point.

import CFaultVFS
import DflatTestSupport
import DflatVerification
import Dispatch
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Failing disks")
struct FaultTests {
  @Test("Some calls fail, some power failures: nothing is lost and everything continues")
  func campaign() throws {
    let seed = testSeed()
    try withTemporaryDirectory { directory in
      var campaign = FaultCampaign(in: directory, seed: seed)
      let small = LedgerScenario(seed: seed)
      try campaign.crash(small, "small", isLongRun ? 1 : 17)
      try campaign.fail(small, "small", isLongRun ? 1 : 67)
      #expect(campaign.faultCount == 0, "DFLAT_SEED=\(seed)")
      #expect(campaign.report())
    }
  }

  @Test("Data without a sync is lost, kept or torn after a power failure")
  func survival() throws {
    try withTemporaryDirectory { directory in
      try prepareImages(directory)
      let disk = try FaultDisk("\(directory)/disk")
      let connection = try Connection(path: "\(directory)/disk/a.db")
      // In this mode nothing is synced before a checkpoint.
      try connection.prepareDatabaseFile(DatabaseFileSettings(synchronous: .normal))
      try connection.execute("CREATE TABLE t (x)")
      try connection.checkpoint(.truncate)
      try connection.execute("INSERT INTO t VALUES (1)")
      func rows(_ survival: faultvfs_survival) throws -> SQLValue? {
        let image = "\(directory)/\(survival.rawValue)"
        try disk.writeImage(to: image, survival, seed: 1)
        return try Connection(path: image + "/a.db").value("SELECT count(*) FROM t")
      }
      #expect(try rows(FAULTVFS_DROPPED) == 0)
      #expect(try rows(FAULTVFS_KEPT) == 1)
      #expect(try rows(FAULTVFS_SCATTERED) == 0)
      try connection.checkpoint(.restart)
      #expect(try rows(FAULTVFS_DROPPED) == 1)
      try connection.close()
    }
  }

  @Test("The chosen call fails, once or from then on, and other directories are not affected")
  func choice() throws {
    try withTemporaryDirectory { directory in
      try prepareImages(directory)
      let disk = try FaultDisk("\(directory)/disk")
      let connection = try Connection(path: "\(directory)/disk/a.db")
      let other = try Connection(path: "\(directory)/0/a.db")
      try connection.execute("CREATE TABLE t (x)")
      try other.execute("CREATE TABLE t (x)")

      disk.arm(Int(FAULTVFS_SYNC), number: 1, FAULTVFS_ONCE)
      try other.execute("INSERT INTO t VALUES (1)")
      #expect(disk.calls == 0)
      #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO t VALUES (1)") }
      #expect(disk.failures == 1)
      #expect(disk.firstFailure == "sync, a.db-journal")
      try connection.execute("INSERT INTO t VALUES (1)")

      disk.arm(Int(FAULTVFS_ALL), number: 1, FAULTVFS_FULL)
      for _ in 0..<2 {
        let error = #expect(throws: SQLiteError.self) {
          try connection.execute("INSERT INTO t VALUES (2)")
        }
        #expect(error?.isDiskFull == true)
      }
      disk.disarm()
      try connection.execute("INSERT INTO t VALUES (2)")
      #expect(try connection.value("SELECT count(*) FROM t") == 2)
      try connection.close()
      try other.close()
    }
  }

  @Test("A failed open is not mistaken for a missing file")
  func refusedOpen() throws {
    try withTemporaryDirectory { directory in
      try prepareImages(directory)
      let disk = try FaultDisk("\(directory)/disk")
      let path = "\(directory)/disk/a.db"
      try Connection(path: path).close()
      disk.arm(Int(FAULTVFS_OPEN), number: 1, FAULTVFS_ONCE)
      // The errno that an earlier system call has left.
      errno = ENOENT
      let error = #expect(throws: SQLiteError.self) {
        try Connection(path: path, mode: .readOnly).value("SELECT 1 FROM sqlite_master")
      }
      #expect(disk.failures == 1)
      #expect(error?.code == .cantOpen && error?.isNoSuchFile == false)
    }
  }

  @Test("A journal that a crash has left beside a file without WAL is rolled back by a fetch")
  func journal() throws {
    try withTemporaryDirectory { directory in
      try prepareImages(directory)
      let disk = try FaultDisk("\(directory)/disk")
      let scenario = LedgerScenario(seed: 1)
      let path = "\(directory)/disk/test.db"
      let store = WorkspaceStore(path: path, isShared: false, synchronous: .full)
      let report = scenario.run(on: store)
      store.dflat.shutdown(flags: .truncate)

      // Another program crashes at the end of a commit.
      let connection = try Connection(path: path)
      disk.arm(Int(FAULTVFS_DELETE), number: 1, FAULTVFS_POWER_OFF)
      #expect(throws: SQLiteError.self) { try connection.execute("DELETE FROM verify__red") }
      #expect(disk.firstFailure == "delete, test.db-journal")
      try disk.writeImage(to: "\(directory)/1", FAULTVFS_KEPT, seed: 1)

      let recovered = WorkspaceStore(path: "\(directory)/1/test.db", isShared: false)
      let found = Ledger.state(of: recovered.dflat)
      #expect(recovered.takeErrors() == [])
      #expect(Ledger.difference(found, from: report.state) == nil)
      recovered.close()
    }
  }

  @Test("Changes that a transaction makes because a read failed are not committed")
  func failedReading() throws {
    try withTemporaryDirectory { directory in
      try prepareImages(directory)
      let disk = try FaultDisk("\(directory)/disk")
      let path = "\(directory)/disk/test.db"
      let there = Key(0, 1)
      let marker = Key(0, 2)
      func write(_ store: WorkspaceStore, _ key: Key, unlessFound wanted: Key?) {
        let done = DispatchSemaphore(value: 0)
        store.transact([0]) { access in
          if let wanted, try access.read(wanted) != nil { return }
          try access.write(key, [1])
        } _: { _ in
          done.signal()
        }
        done.wait()
      }
      let first = WorkspaceStore(path: path, isShared: false)
      write(first, there, unlessFound: nil)
      first.close()
      #expect(first.takeErrors() == [])

      var number = 0
      repeat {
        number += 1
        let store = WorkspaceStore(path: path, isShared: false)
        disk.arm(Int(FAULTVFS_READ), number: number, FAULTVFS_ONCE)
        write(store, marker, unlessFound: there)
        disk.disarm()
        let found = Ledger.state(of: store.dflat)
        #expect(found[marker] == nil, "\(disk.firstFailure)")
        #expect(store.takeErrors().isEmpty == (disk.failures == 0))
        store.close()
      } while disk.failures > 0
      #expect(number > 5)
    }
  }

  private func prepareImages(_ directory: String) throws {
    for name in ["disk", "0", "1", "2", "3"] { try makeDirectory("\(directory)/\(name)") }
  }
}
