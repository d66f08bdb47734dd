// The planner's statistics, renewed on request, after a vacuum and by a policy.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
@testable import SQLiteDflat
import Testing

@Suite("Statistics of the planner")
struct AnalysisTests {
  private func open(_ path: String) -> TemporaryFile {
    TemporaryFile(path: path) {
      $0.analysis = .every(.days(7))
      $0.idleDelay = .milliseconds(10)
    }
  }

  private func analyses(_ file: TemporaryFile) -> Int {
    file.takeEvents().count { if case .analysis = $0 { true } else { false } }
  }

  private func age(_ file: TemporaryFile, bySeconds seconds: Int64) throws {
    try file.tamper("UPDATE \(MaintenanceLog.table) SET at = at - ?", [.integer(seconds)])
  }

  /// Looks whether a task is due, as the policy's timer does, until the file is idle.
  private func look(_ file: TemporaryFile) throws {
    let session = file.dflat.engine.session
    let hasLooked = eventually { session.dueTurn().map { $0 > .seconds(60) } == true }
    #expect(hasLooked)
  }

  /// Stores posts, whose likes have an index.
  private func fill(_ file: TemporaryFile, _ numbers: ClosedRange<Int32>) throws {
    try file.store(numbers.map { post($0, likes: $0 % 10) })
    #expect(try file.dflat.query(Post.self).where(Post.likes == 1).count() > 0)
  }

  private func hasStatistics(_ file: TemporaryFile) throws -> Bool {
    let table = try file.sqlite3("SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_stat1'")
    if table == "0" { return false }
    return try file.sqlite3("SELECT count(*) > 0 FROM sqlite_stat1 WHERE stat IS NOT NULL") == "1"
  }

  private func lastAnalysis(_ file: TemporaryFile) throws -> Int64? {
    try MaintenanceLog.last(MaintenanceLog.analysis, file.foreignConnection())
  }

  @Test("They are made on request, and no answer depends on them")
  func onRequest() async throws {
    try await withTemporaryFile(.file) { file in
      try await file.dflat.analyze()
      #expect(!file.fileExists())
      try fill(file, 1...500)
      let query = file.dflat.query(Post.self).where(Post.likes == 3)
      let (before, plan) = (try query.fetch().map(\.number), try query.explain().indexes)
      #expect(try !hasStatistics(file))
      try await file.dflat.analyze()
      #expect(try hasStatistics(file))
      #expect(try query.fetch().map(\.number) == before)
      #expect(try query.explain().indexes == plan)
      let isReported = eventually { analyses(file) == 1 }
      #expect(isReported)
      try file.store([post(501, likes: 3)])
      #expect(try query.count() == before.count + 1)
      #expect(try file.faults().isEmpty)
      #expect(try await file.dflat.checkIntegrity(of: Post.self).isEmpty)
    }
  }

  @Test("A vacuum renews them, also where there were none")
  func vacuum() async throws {
    try await withTemporaryFile(.file) { file in
      try fill(file, 1...100)
      try await file.dflat.vacuum()
      #expect(try hasStatistics(file))
      #expect(try lastAnalysis(file) != nil)
    }
  }

  @Test("The policy renews them when its time has come, and remembers that in the file")
  func policy() throws {
    try withTemporaryFile(.file) { file in
      let first = open(file.path)
      try fill(first, 1...100)
      let isNoted = eventually { (try? lastAnalysis(first)).flatMap { $0 } != nil }
      #expect(isNoted && analyses(first) == 0)
      first.dflat.shutdown()
      try age(file, bySeconds: 6 * 86400)
      let early = open(file.path)
      try early.store([post(200)])
      try look(early)
      early.dflat.shutdown()
      #expect(analyses(early) == 0)
      #expect(try !hasStatistics(file))
      try age(file, bySeconds: 2 * 86400)
      let late = open(file.path)
      try late.store([post(201)])
      let isDone = eventually { analyses(late) == 1 }
      #expect(isDone)
      #expect(try hasStatistics(file))
      let last = try #require(try lastAnalysis(file))
      #expect(abs(Double(last) - Date().timeIntervalSince1970) < 60)
      // The vacuum has a time of its own.
      #expect(try MaintenanceLog.last(MaintenanceLog.vacuum, file.foreignConnection()) == nil)
      try late.store([post(202)])
      #expect(late.posts.all().count == 103)
      late.dflat.shutdown()
    }
  }

  @Test("A program that writes keeps the policy waiting")
  func whileWriting() throws {
    try withTemporaryFile(.file) { file in
      try fill(file, 1...50)
      let other = try file.foreignConnection()
      let workspace = TemporaryFile(path: file.path) {
        $0.analysis = .every(.days(7))
        $0.idleDelay = .milliseconds(200)
      }
      try workspace.store([post(60)])
      try other.begin(.immediate)
      try MaintenanceLog.note(MaintenanceLog.analysis, at: 0, other)
      // The other program is in the way: the next look comes soon.
      let session = workspace.dflat.engine.session
      let isWaiting = eventually { session.dueTurn().map { $0 > .milliseconds(200) } == true }
      #expect(isWaiting && analyses(workspace) == 0)
      try other.commit()
      let isDone = eventually { analyses(workspace) == 1 }
      #expect(isDone && workspace.takeErrors().isEmpty)
      workspace.dflat.shutdown()
    }
  }

  @Test("Programs with SQL of upstream's go on with their prepared statements")
  func otherPrograms() async throws {
    try await withTemporaryFile(.file) { file in
      try fill(file, 1...200)
      let table = Post._schema.table
      let side = try #require(Post._schema.indexes.first { $0.table.hasSuffix("f10") }).table
      let other = try file.foreignConnection()
      let join = try other.statement(
        "SELECT count(*) FROM \(table) m JOIN \(side) s ON s.rowid = m.rowid")
      #expect(try join.step() && join.int64(0) == 200)
      join.reset()
      try await file.dflat.analyze()
      #expect(try join.step() && join.int64(0) == 200)
      join.reset()
      try other.execute("DELETE FROM \(side) WHERE rowid = 7")
      try other.execute("DELETE FROM \(table) WHERE rowid = 7")
      #expect(try join.step() && join.int64(0) == 199)
      join.reset()
      #expect(try file.dflat.query(Post.self).count() == 199)
      try await file.dflat.analyze()
      #expect(try file.sqlite3("PRAGMA integrity_check") == "ok")
    }
  }
}
