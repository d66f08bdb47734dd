// Backups that a workspace makes by itself.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@testable import SQLiteDflat

@Suite("Backups by a policy")
struct BackupPolicyTests {
  private func backups(_ file: TemporaryFile) -> [String] {
    file.takeEvents().compactMap { if case .backup(let path, _, _) = $0 { path } else { nil } }
  }

  @Test("A policy makes one when it is due, also after a start, and keeps as many as it says")
  func policy() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let folder = BackupFolder(directory + "/backups")
    for number in 1...6 as ClosedRange<Int32> {
      let file = TemporaryFile(path: directory + "/test.db") {
        $0.backups = .every(.hours(24), keep: 2, in: folder.path)
        $0.idleDelay = .milliseconds(10)
      }
      try file.store((0..<200).map { post(number * 1000 + $0) })
      var made: [String] = []
      let isMade = await inTime {
        made += backups(file)
        return !made.isEmpty
      }
      #expect(isMade)
      let all = try folder.backups()
      #expect(all.last?.path == made.last && all.count >= min(2, Int(number)) && all.count <= 3)
      // The clock goes on for a day, or goes back by years: a backup of the future is no reason
      // to wait.
      let date = Date(timeIntervalSinceNow: number == 3 ? 1e8 : -86_401)
      try FileManager.default.moveItem(
        atPath: all.last!.path,
        toPath: folder.path(of: all.last!.number, date, all.last!.kind, all.last!.checksum))
      await file.dflat.shutdown()
      #expect(file.takeErrors().isEmpty)
    }
    let last = try #require(try folder.backups().last)
    let path = directory + "/restored.db"
    try folder.restore(last, to: path)
    let restored = SQLiteWorkspace(filePath: path)
    let count = try await restored.read { try $0.query(Post.self).count() }
    #expect(count == 1200)
    await restored.shutdown()
  }

  @Test("A policy waits for its time, and for a pause of the program")
  func pause() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let folder = BackupFolder(directory + "/backups")
    let file = TemporaryFile(path: directory + "/test.db") {
      $0.backups = .every(.hours(24), keep: 2, in: folder.path)
      $0.idleDelay = .seconds(3000)
    }
    let schedule = BackupSchedule(file.dflat.engine.configuration.backups)
    try file.store([post(1)])
    #expect(schedule.look(file.dflat.engine) == .seconds(3000))
    #expect(try folder.backups() == [])
    try await file.dflat.backup(into: folder.path)
    let rest = try #require(schedule.look(file.dflat.engine))
    #expect(rest == .seconds(3600))
    #expect(try folder.backups().count == 1)
    schedule.close()
    #expect(schedule.look(file.dflat.engine) == nil)
    await file.dflat.shutdown()
  }

  @Test("A folder that cannot be used is reported, and loses nothing")
  func unusable() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try Data().write(to: URL(filePath: directory + "/file"))
    let file = TemporaryFile(path: directory + "/test.db") {
      $0.backups = .every(.hours(24), keep: 2, in: directory + "/file")
      $0.idleDelay = .milliseconds(10)
    }
    try file.store([post(1)])
    var errors: [any Error] = []
    let isReported = await inTime {
      errors += file.takeErrors()
      return !errors.isEmpty
    }
    #expect(isReported)
    #expect((errors.first as? StorageError)?.cause == .cannotOpen, "\(errors)")
    await file.dflat.shutdown()
  }
}
