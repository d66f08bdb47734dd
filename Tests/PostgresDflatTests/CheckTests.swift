// Checking a whole database: plain SQL damages one thing after the other, and the check names it.

import Dflat
import DflatTestSupport
import Dispatch
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("The check of a database", .endsSometime)
struct CheckTests {
  static let posts = Blog.Post._schema.table
  static let stories = Guild.Story._schema.table

  /// A database with some types, each of them written by a transaction of its own.
  private func withObjects(
    _ body: (_ dflat: PostgresWorkspace, _ plain: PlainConnection, _ schema: String) async throws
      -> Void
  ) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await fill(dflat)
      try await body(dflat, PlainConnection(), schema)
      await dflat.shutdown()
    }
  }

  private func fill(_ dflat: PostgresWorkspace) async throws {
    try await dflat.write(Post.self) { txn in
      try txn.insert(contentsOf: (1...40).map { post($0, likes: Int32($0)) })
      try txn.insert(post(100, likes: 7, photo: "p"))
    }
    try await dflat.write(Note.self, Tale.Story.self) { txn in
      try txn.insert(contentsOf: (1...5 as ClosedRange<UInt64>).map { Note(key: $0, text: "n") })
      try txn.insert(Tale.Story(id: 1, title: "a word", year: 1999))
      txn.dictionary["count"] = 1
    }
    try await dflat.write(Guild.Writer.self, Guild.Story.self, Guild.Label.self) { txn in
      try txn.insert(Guild.Writer(handle: "ada"))
      try txn.insert(Guild.Label(name: "new"))
      try txn.insert(Guild.Story(id: 1, likes: 3, writer: "ada", labels: ["new"]))
    }
  }

  private static let options = CheckOptions(
    of: Post.self, Note.self, Tale.Story.self, Guild.Writer.self, Guild.Story.self,
    Guild.Label.self)

  /// What a check finds: how bad it is, its kind, table and row.
  private func lines(_ dflat: PostgresWorkspace) async throws -> [String] {
    try await dflat.check(Self.options).findings.map { finding in
      "\(finding.severity) \(finding.kind) \(finding.table ?? "-") "
        + (finding.row.map { "\($0)" } ?? "-")
    }
  }

  @Test("Indexes of as many fields as are allowed, and of many texts, are as they were made")
  func wideIndexes() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Broad.Sheet.self) { try $0.insert(Broad.Sheet(id: 1, t0: "a")) }
      let report = try await dflat.check(CheckOptions(of: Broad.Sheet.self))
      #expect(report.findings.isEmpty, "\(report.findings)")
      await dflat.shutdown()
    }
  }

  @Test("A sound database has no findings, and neither has one in which nothing was stored")
  func sound() async throws {
    try await withObjects { dflat, plain, schema in
      let report = try await dflat.check(Self.options)
      #expect(report.findings.isEmpty, "\(report.findings)")
      #expect(report.nextStep == "do nothing: the database is sound")
      #expect(report.uncheckedTables.isEmpty && report.checkedTypes.contains("Post"))
      // Changes of every kind.
      try await dflat.write(Post.self, Note.self) { txn in
        try txn.update(where: Post.likes > 20) { $0.likes = 0 }
        try txn.delete(where: Post.likes == 3)
        try txn.upsert(Note(key: 1, text: "other"))
        // By COPY, behind a savepoint.
        try txn.insert(contentsOf: (500..<540 as Range<UInt64>).map { Note(key: $0) })
        txn.dictionary["count"] = 2
      }
      let joined = postgresWorkspace(schema: schema) { $0.sharesCommits = true }
      try await withThrowingTaskGroup { group in
        for key in 100..<140 as Range<UInt64> {
          group.addTask {
            try await joined.write(Note.self) { txn in
              let found = try txn.fetch(for: Note.self).where(Note.key == key).first
              try txn.upsert(Note(key: key, text: found?.text ?? "new"))
            }
          }
        }
        try await group.waitForAll()
      }
      await joined.shutdown()
      #expect(try await lines(dflat) == [])
      #expect(try await dflat.checkIntegrity(of: Post.self, Note.self).isEmpty)
    }
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema) { $0.isReadOnly = true }
      let found = try await lines(dflat)
      #expect(found == [])
      await dflat.shutdown()
    }
  }

  @Test("A column of an index that is filled afterwards makes no finding")
  func filled() async throws {
    try await withObjects { dflat, plain, schema in
      try plain.run(
        """
        ALTER TABLE \(schema).\(Self.posts) DROP COLUMN f10; \
        DELETE FROM \(schema)._dflat_columns WHERE tbl = '\(Self.posts)' AND col = 'f10'; \
        UPDATE \(schema)._dflat_state SET version = version + 1
        """)
      #expect(try await lines(dflat) == [])
      let other = postgresWorkspace(schema: schema)
      try await other.indexesReady(for: Post.self)
      #expect(other.fetch(for: Post.self).where(Post.likes == 7).count == 2)
      let marks = try plain.run(
        "SELECT complete FROM \(schema)._dflat_columns WHERE tbl = '\(Self.posts)' "
          + "AND col = 'f10'")
      #expect(marks == [["t"]])
      #expect(try await lines(other) == [])
      await other.shutdown()
    }
  }

  @Test("Equal values of an index that has become unique are named")
  func equalValues() async throws {
    try await withSchema { schema in
      let older = postgresWorkspace(schema: schema)
      let long = String(repeating: "long ", count: 1000)
      try await older.write(DESK.Memo.self) { txn in
        for (number, topic, issue) in [
          (1, "t", 7), (2, "t", 7), (3, "t", 8), (4, "u", 7), (5, "t", 7), (6, nil, 7), (7, nil, 7),
          (8, long, 1), (9, long, 1), (10, long + "x", 1),
        ] as [(Int32, String?, Int32)] {
          try txn.insert(DESK.Memo(number: number, topic: topic, issue: issue))
        }
      }
      #expect(try await older.check(CheckOptions(of: DESK.Memo.self)).findings.isEmpty)
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.indexesReady(for: Desk.Memo.self)
      await #expect(throws: StorageError.self) {
        try await dflat.write(Desk.Memo.self) { txn in
          try txn.insert(Desk.Memo(number: 20, topic: "t", issue: 8))
        }
      }
      let report = try await dflat.check(CheckOptions(of: Desk.Memo.self))
      #expect(report.findings.allSatisfy { $0.what == .equalValues && $0.severity == .note })
      #expect(report.findings.map(\.row) == [2, 5, 9], "\(report.findings)")
      #expect(
        report.findings.first?.message
          == "the object in row 1 has equal values of topic, issue, which has become unique")
      // The columns of rows that no mark covers can have any values.
      try PlainConnection().run(
        """
        UPDATE \(schema)._dflat_columns SET complete = false, reach = -1 WHERE col <> ''; \
        UPDATE \(schema)._dflat_state SET version = version + 1
        """)
      let unmarked = try await dflat.check(CheckOptions(of: Desk.Memo.self))
      #expect(!unmarked.findings.contains { $0.what == .equalValues }, "\(unmarked.findings)")
      await dflat.shutdown()
      await older.shutdown()
    }
  }

  @Test("What plain SQL damages is found and named", arguments: damages)
  func damaged(_ damage: Damage) async throws {
    try await withObjects { dflat, plain, schema in
      try plain.damage(damage.sql, schema)
      let found = try await lines(dflat)
      #expect(found == damage.found.map { $0.replacing("@", with: "\"\(schema)\"") })
      if damage.found.contains(where: { $0.hasPrefix("damage") }) {
        let all = try await dflat.checkIntegrity(
          of: Post.self, Note.self, Tale.Story.self, Guild.Story.self)
        #expect(!all.isEmpty)
      }
    }
  }

  @Test(
    "What a finding advises makes the database sound again",
    arguments: damages.filter { $0.isRepairedByAdvice })
  func advice(_ damage: Damage) async throws {
    try await withObjects { dflat, plain, schema in
      try plain.damage(damage.sql, schema)
      let finding = try #require(try await dflat.check(Self.options).findings.first)
      try plain.run(finding.statements)
      let other = postgresWorkspace(schema: schema)
      try await other.indexesReady(for: Post.self)
      try await other.write(Post.self) { try $0.insert(post(200, likes: 1000)) }
      #expect(other.fetch(for: Post.self).where(Post.likes == 1000).count == 1)
      let left = try await lines(other)
      #expect(left.filter { !$0.contains("unloggedChange") } == [], "\(finding.advice)")
      await other.shutdown()
    }
  }

  @Test("While programs write, create indexes and remove rows, a check finds nothing")
  func beside() async throws {
    try await withObjects { dflat, plain, schema in
      let other = postgresWorkspace(schema: schema) { $0.changeLogLength = 20 }
      let joining = postgresWorkspace(schema: schema) { $0.sharesCommits = true }
      let isDone = Log<Bool>()
      try await withThrowingTaskGroup { group in
        group.addTask {
          var key: UInt64 = 1000
          while isDone.events.isEmpty {
            let first = key
            try await other.write(Note.self, Post.self) { txn in
              try txn.insert(contentsOf: (first..<first + 30).map { Note(key: $0, text: "x") })
              try txn.update(where: Post.likes >= 0) { $0.likes += 1 }
              try txn.delete(where: Note.key == first)
              txn.dictionary["key"] = Int(first)
            }
            key += 30
          }
        }
        for number in 0..<3 as Range<UInt64> {
          group.addTask {
            var round: UInt64 = 0
            while isDone.events.isEmpty {
              let key = 1_000_000 * (number + 1) + round
              try await joining.write(Note.self) { txn in
                if try txn.fetch(for: Note.self).where(Note.key == key).first == nil {
                  try txn.insert(Note(key: key, text: "joined"))
                }
              }
              round += 1
            }
          }
        }
        for _ in 0..<8 {
          let found = try await lines(dflat)
          #expect(found == [])
        }
        isDone.add(true)
        try await group.waitForAll()
      }
      let found = try await lines(dflat)
      #expect(found == [])
      // What was cut explains no later change.
      try plain.run("UPDATE \(schema).note SET pk0 = pk0 WHERE rowid = 3")
      let changed = try await lines(dflat)
      #expect(changed == ["note unloggedChange note 3"])
      await other.shutdown()
      await joining.shutdown()
    }
  }

  @Test("The log knows what the triggers for plain SQL see, and the check which of them are gone")
  func triggers() async throws {
    try await withObjects { dflat, plain, schema in
      try await dflat.logPlainSQL(of: Note.self)
      try plain.run(
        """
        CREATE TEMP TABLE kept AS SELECT * FROM \(schema).note WHERE pk0 = 2; \
        BEGIN; SAVEPOINT a; DELETE FROM \(schema).note WHERE pk0 < 3; RELEASE a; SAVEPOINT b; \
        INSERT INTO \(schema).note OVERRIDING SYSTEM VALUE SELECT * FROM kept; COMMIT
        """)
      #expect(try await lines(dflat) == [])
      try plain.run("UPDATE \(schema).note SET pk0 = pk0 WHERE pk0 = 4")
      #expect(try await lines(dflat) == ["note unloggedChange note 4"])
      try plain.run("ALTER TABLE \(schema).note DISABLE TRIGGER _dflat_plain_update")
      try plain.run("DROP TRIGGER _dflat_plain_truncate ON \(schema).note")
      let report = try await dflat.check(Self.options)
      #expect(
        report.findings.map(\.kind) == ["missingTrigger", "missingTrigger", "unloggedChange"])
      #expect(report.worst == .note && report.nextStep.hasPrefix("do nothing"))
      try plain.run(report.findings[0].statements)
      try await dflat.logPlainSQL(of: Note.self)
      #expect(try await lines(dflat) == ["note unloggedChange note 4"])
    }
  }

  @Test("After the PostgreSQL schema was renamed, triggers and views for the old name are named")
  func renamed() async throws {
    try await withObjects { dflat, plain, schema in
      try await dflat.logPlainSQL(of: Note.self)
      try await dflat.createViews(for: Note.self, Post.self)
      #expect(try await lines(dflat) == [])
      let name = "\(schema)_new"
      try plain.run("ALTER SCHEMA \(schema) RENAME TO \(name)")
      defer { _ = try? plain.run("DROP SCHEMA \(name) CASCADE") }
      let renamed = postgresWorkspace(schema: name)
      let report = try await renamed.check(Self.options)
      let found = report.findings.map { "\($0.kind) \($0.table ?? "-")" }
      #expect(Set(found.filter { $0.hasSuffix("_view") }).count == 2, "\(found)")
      #expect(found.filter { $0 == "renamedSchema note" }.count == 3, "\(found)")
      #expect(report.findings.contains { $0.message.contains("_dflat_plain_update") })
      #expect(report.findings.allSatisfy { $0.message.contains("\"\(schema)\"") })
      #expect(throws: StorageError.self) { try plain.run("DELETE FROM \(name).note") }
      try await renamed.logPlainSQL(of: Note.self)
      try await renamed.createViews(for: Note.self, Post.self)
      #expect(try await lines(renamed) == [])
      try plain.run("DELETE FROM \(name).note WHERE rowid = 1")
      #expect(try plain.run("SELECT count(*) FROM \(name).note_view") == [["4"]])
      await renamed.shutdown()
    }
  }

  @Test("Rows and transactions are named, some of them, and a limit ends the check")
  func limits() async throws {
    try await withObjects { dflat, plain, schema in
      for row in 1...12 {
        try plain.run("UPDATE \(schema).\(Self.posts) SET f10 = -1 WHERE rowid = \(row)")
      }
      let xid = try #require(
        try plain.run("SELECT xmin FROM \(schema).\(Self.posts) WHERE rowid = 12")[0][0])
      let notes = try await dflat.check(Self.options).findings.filter { $0.severity == .note }
      #expect(notes.count == 1)
      #expect(
        notes[0].message.contains("rows 1, 2, 3, 4, 5 and 7 more; transactions \(xid), "),
        "\(notes[0])")
      var options = Self.options
      options.findingLimit = 3
      let report = try await dflat.check(options)
      #expect(report.findings.count == 3 && report.isCut)
    }
  }

  @Test("Its progress comes to the end, and its task can be cancelled")
  func progress() async throws {
    try await withObjects { dflat, plain, schema in
      let seen = Log<CheckProgress>()
      var options = Self.options
      options.onProgress = { seen.add($0) }
      _ = try await dflat.check(options)
      #expect(seen.events.first?.table == nil)
      let posts = seen.events.last { $0.table == Self.posts }
      #expect(posts?.rows == 41 && posts.map { $0.total >= 41 } == true)
      let cancelled = Log<Task<CheckReport, any Error>>()
      let isReady = DispatchSemaphore(value: 0)
      options.onProgress = { [options] _ in
        _ = options
        isReady.expect("the task")
        cancelled.events.last?.cancel()
        isReady.signal()
      }
      let task = Task { [options] in try await dflat.check(options) }
      cancelled.add(task)
      isReady.signal()
      await #expect(throws: CancellationError.self) { try await task.value }
      // Types that are not given are checked for their form.
      let other = postgresWorkspace(schema: schema)
      let report = try await other.check(CheckOptions(of: Note.self))
      #expect(report.checkedTypes == ["Note"] && report.findings.isEmpty)
      #expect(report.uncheckedTables.contains(Self.posts))
      #expect(report.nextStep.contains("--schema FILE.fbs"))
      await other.shutdown()
    }
  }

  @Test("Without the right to read a table it fails, and says so")
  func rights() async throws {
    try await withObjects { dflat, plain, schema in
      let role = schema.replacing("test", with: "role")
      try plain.run(
        "CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA \(schema) TO \(role); "
          + "GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(role)")
      defer { _ = try? plain.run("DROP OWNED BY \(role); DROP ROLE \(role)") }
      var configuration = PostgresWorkspace.Configuration()
      configuration.schema = schema
      configuration.isReadOnly = true
      let url = try TestCluster.shared().url.replacing("user=dflat", with: "user=\(role)")
      let reader = PostgresWorkspace(url, configuration: configuration)
      let report = try await reader.check(Self.options)
      #expect(report.findings.isEmpty)
      try plain.run("REVOKE SELECT ON \(schema).note FROM \(role)")
      let error = await #expect(throws: StorageError.self) {
        try await reader.check(Self.options)
      }
      #expect(error?.cause == .readOnly && "\(error!)".contains("note"))
      await reader.shutdown()
    }
  }
}

extension CheckFinding {
  /// The statements in the advice; one that does nothing if there is nothing to do.
  fileprivate var statements: String {
    if advice.hasPrefix("do nothing") { return "SELECT 1" }
    var text = advice[...]
    for beginning in ["run: ", "and then: "] {
      if let place = text.firstRange(of: beginning) { text = text[place.upperBound...] }
    }
    if let place = text.firstRange(of: ": ") { text = text[..<place.lowerBound] }
    return String(text)
  }
}

extension PlainConnection {
  /// Runs statements, with `@` for the PostgreSQL schema and `%words` for the column of the words.
  fileprivate func damage(_ sql: String, _ schema: String) throws {
    let words = try run(
      "SELECT attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid "
        + "WHERE relnamespace = '\(schema)'::regnamespace AND atttypid = 'tsvector'::regtype")
    try run(
      sql.replacing("@", with: schema).replacing("%words", with: words.first?[0] ?? ""))
  }
}
