// Metrics and events of a workspace on a server.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Metrics and events", .endsSometime)
struct MetricsTests {
  @Test("Commits, attempts, conflicts, connections, and what is followed are counted")
  func counts() async throws {
    let log = Log<PostgresEvent>()
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.onEvent = { log.add($0) } }
      let other = postgresWorkspace(schema: schema)
      let events = dflat.events()
      try await increment(1, in: dflat)
      var metrics = await dflat.metrics()
      #expect(metrics.commits == 1 && metrics.attempts == 1 && metrics.conflicts == 0)
      #expect(metrics.commitTime > .zero)
      #expect(metrics.connections >= 2 && metrics.connectionsMade >= metrics.connections)
      #expect(metrics.logLength == 1)
      #expect(metrics.incompleteIndexes == [])
      #expect(!metrics.isListening && metrics.lag == nil)
      // The other one commits between the read and the write of the first run.
      let runs = Atomic<Int>(0)
      try await dflat.write(Note.self) { txn in
        _ = try txn.fetch(for: Note.self).all()
        if runs.add(1, ordering: .relaxed).oldValue == 0 {
          let writing = onOwnThread {
            try other.write(Note.self) { try $0.upsert(Note(key: 1, text: "other")) }
          }
          writing.expect("the other one's commit")
        }
        try txn.upsert(Note(key: 2, text: "own"))
      }
      metrics = await dflat.metrics()
      #expect(runs.load(ordering: .relaxed) == 2)
      #expect(metrics.commits == 2 && metrics.conflicts == 1, "\(metrics)")
      #expect(metrics.attempts == 3, "\(metrics)")
      let live = dflat.subscribe(fetchedResult: dflat.fetch(for: Note.self).all()) { _ in }
      try waitForListener(schema)
      // What the other one commits before the first look at the log is read with everything else.
      let isFollowed = try await inTime {
        try await increment(3, in: other)
        return log.events.contains { "\($0)".contains("of others were read") }
      }
      #expect(isFollowed)
      metrics = await dflat.metrics()
      #expect(metrics.isListening && metrics.lag.map { $0 >= .zero } == true)
      live.cancel()
      await dflat.shutdown()
      var texts: [String] = []
      for await event in events { texts.append("\(event)") }
      #expect(texts == log.events.map { "\($0)" })
      #expect(texts.contains { $0.hasPrefix("committed in") })
      #expect(texts.contains { $0.hasPrefix("a transaction was refused: could not serialize") })
      #expect(texts.contains("connected for writing"))
      await other.shutdown()
    }
  }

  @Test("A server that cannot be asked leaves out what only it knows")
  func unreachable() async throws {
    var configuration = PostgresWorkspace.Configuration()
    configuration.reconnectTimeout = .zero
    let dflat = PostgresWorkspace(
      "postgresql:///nowhere?host=/nowhere", configuration: configuration)
    let metrics = await dflat.metrics()
    #expect(metrics.logLength == nil && metrics.commits == 0)
    #expect(metrics.incompleteIndexes == nil)
    #expect(!metrics.prometheusText().contains("log_entries"))
    await dflat.shutdown()
  }

  @Test("Columns that are not complete are listed with their progress")
  func indexes() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Post.self) { txn in
        try txn.insert(contentsOf: (1...100).map { post($0) })
      }
      let server = try PlainConnection()
      try server.run(
        """
        UPDATE "\(schema)"._dflat_columns SET complete = false, reach = 40 \
        WHERE col = (SELECT min(col) FROM "\(schema)"._dflat_columns WHERE col <> '')
        """)
      let metrics = await dflat.metrics()
      let index = try #require(metrics.incompleteIndexes?.first)
      #expect(index.covered == 40 && index.total == 100 && index.table == Post._schema.table)
      let text = metrics.prometheusText()
      let line =
        "dflat_index_covered_ratio{column=\"\(index.column)\",table=\"\(index.table)\"} 0.4\n"
      #expect(text.contains(line), "\(text)")
      await dflat.shutdown()
    }
  }

  @Test("The text for Prometheus has a type, a name, labels and a number for each metric")
  func prometheus() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await increment(1, in: dflat)
      let text = await dflat.metrics().prometheusText(labels: ["service": "a \"b\" \\ c\nd"])
      let lines = text.split(separator: "\n")
      #expect(text.hasSuffix("\n") && lines.count.isMultiple(of: 2) && lines.count > 20)
      for place in stride(from: 0, to: lines.count, by: 2) {
        let type = try #require(lines[place].wholeMatch(of: /# TYPE (dflat_\w+) (counter|gauge)/))
        let value = lines[place + 1].wholeMatch(
          of: /(dflat_\w+)\{service="a \\"b\\" \\\\ c\\nd"\} [0-9.e-]+/)
        #expect(value?.1 == type.1, "\(lines[place + 1])")
        #expect(type.1.hasSuffix("_total") == (type.2 == "counter"))
      }
      #expect(text.contains("dflat_commits_total{service=\"a \\\"b\\\" \\\\ c\\nd\"} 1\n"))
      await dflat.shutdown()
    }
  }

  @Test("Opening says what it may need of the server's connections")
  func opening() async throws {
    try await withSchema { schema in
      let other = Log<PostgresEvent>()
      var others = PostgresWorkspace.Configuration()
      others.schema = schema
      others.onEvent = { other.add($0) }
      let unlimited = try await PostgresWorkspace.open(
        TestCluster.shared().url, configuration: others)
      #expect(
        other.events.contains {
          "\($0)".hasPrefix("opened: it may need 12 connections and one for each open snapshot;")
        })
      await unlimited.shutdown()
      let log = Log<PostgresEvent>()
      var configuration = PostgresWorkspace.Configuration()
      configuration.schema = schema
      configuration.connectionLimit = 7
      configuration.onEvent = { log.add($0) }
      let dflat = try await PostgresWorkspace.open(
        TestCluster.shared().url, configuration: configuration)
      let most = try #require(try PlainConnection().run("SHOW max_connections")[0][0])
      #expect(
        log.events.map { "\($0)" }.contains(
          "opened: it may need 7 connections; the server allows \(most) to all programs together"))
      await dflat.shutdown()
    }
  }
}
