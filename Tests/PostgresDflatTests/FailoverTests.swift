// A server whose synchronous standby takes over.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("A server and its standby")
struct FailoverTests {
  private func workspace(
    _ url: String, _ configure: (inout PostgresWorkspace.Configuration) -> Void = { _ in }
  ) async throws -> PostgresWorkspace {
    var configuration = PostgresWorkspace.Configuration()
    configuration.reconnectTimeout = .seconds(60)
    configure(&configuration)
    return try await PostgresWorkspace.open(url, configuration: configuration)
  }

  @Test("A standby that takes over has everything once, and observers are told")
  func failover() async throws {
    let cluster = try ReplicatedCluster()
    defer { cluster.end() }
    let dflat = try await workspace(cluster.url)
    let other = try await workspace(cluster.url)
    let seen = Atomic<Int>(0)
    let subscription = dflat.subscribe(fetchedResult: dflat.fetch(for: Note.self).all()) {
      seen.store($0.first?.text?.count ?? 0, ordering: .relaxed)
    }
    let done = Atomic<Int>(0)
    let failing = Task.detached {
      for round in 1...2 {
        // Each failover comes in the middle of transactions.
        #expect(await inTime { done.load(ordering: .relaxed) >= 10 * round })
        try cluster.failOver()
        try cluster.restoreStandby()
      }
    }
    for number in 1...60 {
      try await increment(1, in: number.isMultiple(of: 2) ? dflat : other, attempts: 1000)
      done.store(number, ordering: .relaxed)
    }
    try await failing.value
    #expect(
      try PlainConnection(cluster.url).run("SELECT count(*) FROM dflat.note") == [["1"]])
    #expect(eventually { dflat.fetch(for: Note.self).all().first?.text?.count == 60 })
    #expect(eventually { seen.load(ordering: .relaxed) == 60 })
    subscription.cancel()
    await dflat.shutdown()
    await other.shutdown()
  }

  @Test("A commit that the standby does not have is not reported, also if its wait is cancelled")
  func cancelledWait() async throws {
    let cluster = try ReplicatedCluster()
    defer { cluster.end() }
    // As if an administrator had set it for the role: the server reports it with a warning.
    let dflat = try await workspace(
      cluster.url.setting("options", to: "-cclient_min_messages%3Derror"))
    try await increment(1, in: dflat)
    try cluster.isolateStandby()
    let writing = Task { try await increment(1, in: dflat) }
    let url = cluster.primaryURL
    let isAsking = try await beyondTasks { try Self.cancelWait(at: url) }
    #expect(isAsking)
    // The standby takes over without it.
    try cluster.failOver(isCaughtUp: false)
    try cluster.restoreStandby()
    try await writing.value
    #expect(try await length(in: dflat) == 2)
    await dflat.shutdown()
  }

  @Test("A primary that a failover has left behind, and that comes back, is not written to")
  func leftBehind() async throws {
    let cluster = try ReplicatedCluster()
    defer { cluster.end() }
    // The standby is asynchronous. The old primary is the first one in the connection string.
    let dflat = try await workspace(cluster.asynchronousURL) { $0.reconnectTimeout = .seconds(10) }
    try await increment(1, in: dflat)
    try cluster.hidePrimary()
    try cluster.promoteStandby()
    try await increment(1, in: dflat, attempts: 1000)
    let old = try PlainConnection(cluster.showOldPrimary())
    let new = try PlainConnection(cluster.primaryURL)
    try new.run(
      """
      SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity \
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
      """)
    try await increment(1, in: dflat, attempts: 1000)
    #expect(try await length(in: dflat) == 3)
    let commits = "SELECT sum(seq) FROM dflat._dflat_commits"
    #expect(try new.run(commits) == [["3"]])
    #expect(try old.run(commits) == [["1"]])
    // It is not used when there is no other one either.
    cluster.endPrimary()
    let error = await #expect(throws: StorageError.self) {
      try await increment(1, in: dflat, attempts: 1000)
    }
    #expect(error?.cause == .cannotOpen, "\(error as Any)")
    #expect("\(error as Any)".contains("left behind by a failover"), "\(error as Any)")
    #expect(try old.run(commits) == [["1"]])
    await dflat.shutdown()
  }

  /// Cancels the wait of a commit for the standby.
  /// - Returns: Whether another connection asks what became of the transaction, and waits for that.
  private static func cancelWait(at url: String) throws -> Bool {
    let plain = try PlainConnection(url)
    let waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    #expect(try eventually { try plain.run(waiting).count == 1 })
    let first = try plain.run(waiting)
    try plain.run("SELECT pg_cancel_backend(pid) FROM (\(waiting)) waiting")
    return try eventually {
      let now = try plain.run(waiting)
      return now.count == 1 && now != first
    }
  }

  /// The length of the only note's text. A read in one state is not repeated by itself.
  private func length(in dflat: PostgresWorkspace) async throws -> Int? {
    while true {
      do {
        return try await dflat.read { try $0.fetch(for: Note.self).all()[0].text?.count }
      } catch let error as StorageError where error.cause == .busy {
        continue
      }
    }
  }
}
