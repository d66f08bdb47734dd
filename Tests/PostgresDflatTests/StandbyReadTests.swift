// Queries that standbys answer.

import Dflat
import DflatTestSupport
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Reading from standbys", .endsSometime)
struct StandbyReadTests {
  /// Commits wait for the primary only.
  private func url(_ cluster: ReplicatedCluster) -> String {
    cluster.url.setting("options", to: "-csynchronous_commit%3Dlocal")
  }

  private func workspace(
    _ cluster: ReplicatedCluster, _ source: PostgresWorkspace.ReadSource
  ) async throws -> PostgresWorkspace {
    var configuration = PostgresWorkspace.Configuration()
    configuration.reconnectTimeout = .seconds(60)
    configuration.readsFrom = source
    return try await PostgresWorkspace.open(url(cluster), configuration: configuration)
  }

  private func length(_ dflat: PostgresWorkspace) -> Int {
    dflat.fetch(for: Note.self).where(Note.key == 1).first?.text?.count ?? 0
  }

  /// How many queries standbys, and the primary, answer while `body` runs.
  private func reads(
    in dflat: PostgresWorkspace, _ body: () async throws -> Void
  ) async rethrows -> (standby: Int, primary: Int) {
    let before = await dflat.metrics()
    try await body()
    let after = await dflat.metrics()
    return (after.standbyReads - before.standbyReads, after.primaryReads - before.primaryReads)
  }

  /// Whether a standby answers within a generous time.
  private func isAnswered(byStandbyOf dflat: PostgresWorkspace) async -> Bool {
    for _ in 0..<1000 {
      if await reads(in: dflat, { _ = length(dflat) }).standby > 0 { return true }
      try? await Task.sleep(for: .milliseconds(20))
    }
    return false
  }

  @Test("What the workspace has committed is seen by each later query")
  func ownWrites() async throws {
    let cluster = try ReplicatedCluster()
    defer { cluster.end() }
    let dflat = try await workspace(cluster, .standbys(patience: .seconds(60)))
    let count = try await reads(in: dflat) {
      for number in 1...50 {
        try await increment(1, in: dflat)
        #expect(length(dflat) == number)
        #expect(dflat.fetch(for: Note.self).all().first?.text?.count == number)
        let stored = try dflat.query(Note.self).count()
        #expect(stored == 1)
        let read = try await dflat.read { try $0.fetch(for: Note.self).all()[0].text?.count }
        #expect(read == number)
        let inSnapshot = dflat.fetchWithinASnapshot { length(dflat) }
        #expect(inSnapshot == number)
      }
    }
    #expect(count.standby == 250 && count.primary == 0, "\(count)")
    await dflat.shutdown()
  }

  @Test("A standby that has stopped applying the log does not hide what was committed")
  func paused() async throws {
    let cluster = try ReplicatedCluster()
    defer { cluster.end() }
    let dflat = try await workspace(cluster, .standbys(freshness: nil))
    let other = try await workspace(cluster, .sameServer)
    try await increment(1, in: dflat)
    #expect(await isAnswered(byStandbyOf: dflat))
    let standby = try PlainConnection(cluster.standbyURL)
    try standby.run("SELECT pg_wal_replay_pause()")
    #expect(
      try eventually { try standby.run("SELECT pg_get_wal_replay_pause_state()") == [["paused"]] })
    // Without a limit, a standby may be late for what others commit.
    try await increment(1, in: other)
    var count = await reads(in: dflat) { #expect(length(dflat) == 1) }
    #expect(count.standby == 1, "\(count)")
    // And not for its own commits.
    try await increment(1, in: dflat)
    count = await reads(in: dflat) { #expect(length(dflat) == 3) }
    #expect(count.primary == 1, "\(count)")
    // Nor for what it has shown since.
    try await increment(1, in: other)
    count = await reads(in: dflat) { #expect(length(dflat) == 4) }
    #expect(count.primary == 1, "\(count)")
    try standby.run("SELECT pg_wal_replay_resume()")
    #expect(await isAnswered(byStandbyOf: dflat))
    #expect(length(dflat) == 4)
    await dflat.shutdown()
    await other.shutdown()
  }

  @Test("What others have committed some time ago is seen")
  func freshness() async throws {
    let cluster = try ReplicatedCluster()
    defer { cluster.end() }
    let limit = Duration.milliseconds(300)
    let dflat = try await workspace(cluster, .standbys(freshness: limit))
    let other = try await workspace(cluster, .sameServer)
    try await increment(1, in: other)
    #expect(await isAnswered(byStandbyOf: dflat))
    let standby = try PlainConnection(cluster.standbyURL)
    try standby.run("SELECT pg_wal_replay_pause()")
    for number in 2...4 {
      try await increment(1, in: other)
      try await Task.sleep(for: limit)
      #expect(length(dflat) == number)
    }
    try standby.run("SELECT pg_wal_replay_resume()")
    #expect(await isAnswered(byStandbyOf: dflat))
    await dflat.shutdown()
    await other.shutdown()
  }

  @Test("A query shows no less than a live result, a transaction, or a value of a dictionary")
  func shown() async throws {
    let cluster = try ReplicatedCluster()
    defer { cluster.end() }
    let dflat = try await workspace(cluster, .standbys(freshness: nil, patience: .zero))
    let other = try await workspace(cluster, .sameServer)
    try await increment(1, in: dflat)
    let seen = Atomic<Int>(0)
    let subscription = dflat.subscribe(fetchedResult: dflat.fetch(for: Note.self).all()) {
      seen.store($0.first?.text?.count ?? 0, ordering: .relaxed)
    }
    #expect(await isAnswered(byStandbyOf: dflat))
    let standby = try PlainConnection(cluster.standbyURL)
    try standby.run("SELECT pg_wal_replay_pause()")
    try await increment(1, in: other)
    // Live results follow the primary.
    #expect(await inTime { seen.load(ordering: .relaxed) == 2 })
    #expect(length(dflat) == 2)
    try standby.run("SELECT pg_wal_replay_resume()")
    #expect(await isAnswered(byStandbyOf: dflat))
    try standby.run("SELECT pg_wal_replay_pause()")
    try await increment(1, in: other)
    #expect(
      try await dflat.write(Note.self) { try $0.fetch(for: Note.self).all()[0].text } == "xxx")
    #expect(length(dflat) == 3)
    try await other.write(Note.self) { $0.dictionary["count"] = 1 }
    #expect(dflat.dictionary["count", default: 0] == 1)
    #expect(other.dictionary["count", default: 0] == 1)
    subscription.cancel()
    await dflat.shutdown()
    await other.shutdown()
  }

  @Test("A standby that ends, and one that takes over, are no standbys any more")
  func lostAndPromoted() async throws {
    let cluster = try ReplicatedCluster()
    defer { cluster.end() }
    let dflat = try await workspace(cluster, .standbys())
    try await increment(1, in: dflat)
    #expect(await isAnswered(byStandbyOf: dflat))
    cluster.endStandby()
    for number in 2...4 {
      try await increment(1, in: dflat)
      #expect(length(dflat) == number)
    }
    try cluster.restoreStandby()
    #expect(await isAnswered(byStandbyOf: dflat))
    try cluster.failOver()
    for number in 5...7 {
      try await increment(1, in: dflat, attempts: 1000)
      let count = await reads(in: dflat) { #expect(length(dflat) == number) }
      #expect(count.primary == 1, "\(count)")
    }
    // The next standby is one of the new timeline.
    try cluster.restoreStandby()
    #expect(await isAnswered(byStandbyOf: dflat))
    #expect(length(dflat) == 7)
    await dflat.shutdown()
  }

  @Test("Without a limit of lateness, a standby answers while there is no primary")
  func noPrimary() async throws {
    let cluster = try ReplicatedCluster()
    defer { cluster.end() }
    var configuration = PostgresWorkspace.Configuration()
    configuration.reconnectTimeout = .milliseconds(100)
    configuration.readsFrom = .standbys(freshness: nil)
    let dflat = try await PostgresWorkspace.open(url(cluster), configuration: configuration)
    try await increment(1, in: dflat)
    #expect(await isAnswered(byStandbyOf: dflat))
    cluster.endPrimary()
    for _ in 1...3 {
      #expect(length(dflat) == 1)
      await #expect(throws: StorageError.self) { try await increment(1, in: dflat, attempts: 1) }
    }
    let count = await reads(in: dflat) { #expect(length(dflat) == 1) }
    #expect(count.standby == 1, "\(count)")
    await dflat.shutdown()
  }

  @Test("A snapshot that a standby ends, for what it applies, does not disturb later queries")
  func recoveryConflict() async throws {
    let cluster = try ReplicatedCluster()
    defer { cluster.end() }
    let dflat = try await workspace(cluster, .standbys(freshness: nil, patience: .seconds(60)))
    try await increment(1, in: dflat)
    #expect(await isAnswered(byStandbyOf: dflat))
    let standby = try PlainConnection(cluster.standbyURL)
    try standby.run("ALTER SYSTEM SET max_standby_streaming_delay = 0")
    try standby.run("SELECT pg_reload_conf()")
    let plain = try PlainConnection(cluster.primaryURL)
    let applied = """
      SELECT 1 FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_flush_lsn()
      """
    let count = await reads(in: dflat) {
      let seen = dflat.fetchWithinASnapshot {
        let before = length(dflat)
        // The standby ends what holds a lock of the table.
        _ = try? plain.run("SET synchronous_commit = local; BEGIN; LOCK dflat.note; COMMIT")
        #expect(eventually { (try? plain.run(applied)) == [["1"]] })
        return before
      }
      #expect(seen == 1)
      #expect(length(dflat) == 1)
    }
    #expect(count.standby + count.primary == 2, "\(count)")
    await dflat.shutdown()
  }

  @Test("Without a standby the primary answers")
  func noStandby() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.readsFrom = .standbys() }
      let count = try await reads(in: dflat) {
        for number in 1...3 {
          try await increment(1, in: dflat)
          #expect(length(dflat) == number)
        }
      }
      #expect(count.standby == 0 && count.primary == 3, "\(count)")
      await dflat.shutdown()
    }
  }
}
