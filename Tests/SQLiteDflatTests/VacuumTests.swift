// Vacuuming the file, on request and by a policy.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteAccess
@testable import SQLiteDflat
import Testing

@Suite("Vacuum")
struct VacuumTests {
  private func large(_ numbers: ClosedRange<Int32>) -> [Post] {
    numbers.map { post($0, likes: $0, photo: String(repeating: "x", count: 2000) + "\($0)") }
  }

  private func size(_ file: TemporaryFile) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    return attributes[.size] as? Int ?? 0
  }

  private func ends(_ file: TemporaryFile) -> [Bool] {
    file.takeEvents().compactMap {
      if case .vacuumEnded(_, _, let isComplete) = $0 { isComplete } else { nil }
    }
  }

  /// Makes the last vacuum look older.
  private func age(_ file: TemporaryFile, bySeconds seconds: Int64) throws {
    try file.tamper(
      "UPDATE \(MaintenanceLog.table) SET at = at - ?", [.integer(seconds)])
  }

  private func lastVacuum(_ file: TemporaryFile) throws -> Int64? {
    let connection = try file.foreignConnection()
    return try MaintenanceLog.last(MaintenanceLog.vacuum, connection)
  }

  @Test("The file gets shorter, readers go on, and everything else works as before")
  func onRequest() async throws {
    try await withTemporaryFile { file in
      let dflat = file.dflat
      try file.store(large(1...400))
      let query = dflat.query(Post.self).where(Post.likes > 10)
      #expect(try query.count() == 390)
      let subscription = file.dflat.subscribe(query.computing(.count)) { _ in }
      try file.remove(Array(21...400))
      let before = try size(file)
      let seen = try await dflat.read { snapshot in
        let before = try snapshot.fetch(for: Post.self)
        let first = try before.all().count
        // Another thread vacuums while this state is read.
        let done = DispatchSemaphore(value: 0)
        Task {
          try? await dflat.vacuum()
          done.signal()
        }
        done.wait()
        return [first, try before.all().count]
      }
      #expect(seen == [20, 20])
      try await dflat.vacuum()
      #expect(try size(file) < before / 4)
      let ended = eventually { ends(file).contains(true) }
      #expect(ended)
      try file.store(large(401...420))
      try file.change(5) { $0.likes = 50 }
      #expect(try query.count() == 31 && file.posts.all().count == 40)
      #expect(try file.faults().isEmpty)
      #expect(try lastVacuum(file) != nil)
      #expect(try await dflat.checkIntegrity(of: Post.self).isEmpty)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test("A file that does not exist is not created; a closed or read-only workspace refuses")
  func refused() async throws {
    try await withTemporaryFile(.file) { file in
      try await file.dflat.vacuum()
      #expect(!file.fileExists())
      try file.store([post(1)])
      var configuration = SQLiteWorkspace.Configuration()
      configuration.isReadOnly = true
      let reader = SQLiteWorkspace(filePath: file.path, configuration: configuration)
      let error = await #expect(throws: StorageError.self) { try await reader.vacuum() }
      #expect(error?.cause == .readOnly)
      await reader.shutdown()
      await #expect(throws: WorkspaceError.shutDown) { try await reader.vacuum() }
    }
  }

  @Test("The policy vacuums when its time has come, and remembers that in the file")
  func policy() throws {
    func open(_ path: String) -> TemporaryFile {
      TemporaryFile(path: path) {
        $0.vacuum = .every(.days(7))
        $0.idleDelay = .milliseconds(10)
      }
    }
    try withTemporaryFile(.file) { file in
      let first = open(file.path)
      try first.store(large(1...20))
      let isNoted = eventually { (try? lastVacuum(first)).flatMap { $0 } != nil }
      #expect(isNoted && !ends(first).contains(true))
      first.dflat.shutdown()
      try age(file, bySeconds: 6 * 86400)
      let early = open(file.path)
      try early.store([post(100)])
      try age(file, bySeconds: 2 * 86400)
      early.dflat.shutdown()
      #expect(ends(early).isEmpty)
      let late = open(file.path)
      try late.store([post(101)])
      let isVacuumed = eventually { ends(late).contains(true) }
      #expect(isVacuumed)
      let last = try #require(try lastVacuum(file))
      #expect(abs(Double(last) - Date().timeIntervalSince1970) < 60)
      try late.store([post(102)])
      #expect(late.posts.all().count == 23)
      #expect(try late.faults().isEmpty)
      late.dflat.shutdown()
    }
  }

  @Test("Any time of the last vacuum may be in the file")
  func strangeTimes() throws {
    for time in [Int64.min, .max, Int64(Date().timeIntervalSince1970) + 1_000_000] {
      try withTemporaryFile(.file) { file in
        try file.store(large(1...20))
        let connection = try file.foreignConnection()
        try MaintenanceLog.note(MaintenanceLog.vacuum, at: time, connection)
        try connection.close()
        file.dflat.shutdown()
        let late = TemporaryFile(path: file.path) {
          $0.vacuum = .every(.days(7))
          $0.idleDelay = .milliseconds(10)
        }
        try late.store([post(101)])
        let isVacuumed = eventually { ends(late).contains(true) }
        #expect(isVacuumed)
        late.dflat.shutdown()
        #expect(try lastVacuum(file) != time)
      }
    }
  }

  @Test("A vacuum at shutdown is remembered")
  func atShutdown() throws {
    try withTemporaryFile(.file) { file in
      try file.store(large(1...20))
      file.dflat.shutdown(flags: .vacuum)
      #expect(try lastVacuum(file) != nil)
    }
  }

  @Test("A transaction interrupts a vacuum of the policy, which leaves the file as it was")
  func interrupted() throws {
    try withTemporaryFile(.file) { file in
      try file.store(large(1...10))
      try file.tamper(
        "CREATE TABLE big AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
          + "i < 400) SELECT randomblob(250000) AS x FROM n")
      file.dflat.shutdown()
      let began = DispatchSemaphore(value: 0)
      let workspace = TemporaryFile(path: file.path) {
        $0.vacuum = .every(.seconds(1))
        $0.idleDelay = .milliseconds(10)
        let log = $0.onEvent
        $0.onEvent = { event in
          log?(event)
          if case .vacuumBegan = event { began.signal() }
        }
      }
      try workspace.store([post(100)])
      let isNoted = eventually { (try? lastVacuum(workspace)).flatMap { $0 } != nil }
      #expect(isNoted)
      try age(file, bySeconds: 100)
      try began.wait(for: "a vacuum")
      try workspace.store([post(101)])
      var ends: [Bool] = []
      let isVacuumed = eventually {
        ends += self.ends(workspace)
        return ends.contains(true)
      }
      #expect(isVacuumed && ends.first == false)
      #expect(workspace.posts.all().count == 12)
      #expect(try workspace.faults().isEmpty)
      workspace.dflat.shutdown()
    }
  }
}
