// Roles that may not create anything, and what they need.

import Dflat
import DflatTestSupport
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Rights", .endsSometime)
struct RightsTests {
  /// Calls `body` with a prepared schema, and a connection string of a role without any rights.
  private func withRole(
    _ body: (_ owner: PostgresWorkspace, _ url: String, _ role: String, _ schema: String)
      async throws -> Void
  ) async throws {
    try await withSchema { schema in
      try await withNewRole(of: schema) { url, role in
        let owner = postgresWorkspace(schema: schema)
        try await body(owner, url, role, schema)
        await owner.shutdown()
      }
    }
  }

  private func workspace(
    _ url: String, _ schema: String,
    _ configure: (inout PostgresWorkspace.Configuration) -> Void = { _ in }
  ) async throws -> PostgresWorkspace {
    var configuration = PostgresWorkspace.Configuration()
    configuration.schema = schema
    configure(&configuration)
    return try await PostgresWorkspace.open(url, configuration: configuration)
  }

  @Test("A role that owns the PostgreSQL schema need not be allowed to create schemas")
  func owning() async throws {
    try await withRole { _, url, role, schema in
      try PlainConnection().run("CREATE SCHEMA \"\(schema)\" AUTHORIZATION \(role)")
      let dflat = try await workspace(url, schema)
      try await dflat.prepare(Note.self)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
      #expect(dflat.fetch(for: Note.self).all().map(\.key) == [1])
      await dflat.shutdown()
    }
  }

  @Test("A role with the rights that are listed, and no other, does all that programs do")
  func writing() async throws {
    try await withRole { owner, url, role, schema in
      try await owner.prepare(Note.self, Post.self, Tale.Story.self)
      for statement in owner.grants(to: role, for: Note.self, Post.self, Tale.Story.self) {
        try PlainConnection().run(statement)
      }
      let errors = ReportedErrors()
      let dflat = try await workspace(url, schema) {
        $0.onError = { errors.add($0) }
        $0.changeLogLength = 1
      }
      let results = Log<Int>()
      let live = dflat.subscribe(fetchedResult: dflat.fetch(for: Note.self).all()) {
        results.add($0.count)
      }
      try waitForListener(schema)
      try await dflat.write(Note.self, Post.self) { txn in
        try txn.insert(contentsOf: (1...100 as ClosedRange<UInt64>).map { Note(key: $0) })
        try txn.insert(post(1))
        try txn.upsert(Note(key: 1, text: "new"))
        try txn.update(Note.self, keys: [2, 3]) { $0.text = "updated" }
        try txn.delete(Note.self, keys: [4])
        txn.dictionary["count"] = 1
      }
      try await dflat.write(Tale.Story.self) { txn in
        try txn.insert(Tale.Story(id: 1, title: "a word"))
      }
      #expect(dflat.fetch(for: Tale.Story.self).where(Tale.Story.search("word")).count == 1)
      try await owner.write(Note.self) { try $0.insert(Note(key: 200)) }
      #expect(eventually { results.events.last == 100 })
      #expect(dflat.dictionary["count", default: 0] == 1)
      #expect(dflat.fetch(for: Post.self).where(Post.likes >= 0).count == 1)
      try await dflat.indexesReady(for: Post.self)
      live.cancel()
      await dflat.shutdown()
      #expect(errors.take().isEmpty)
    }
  }

  @Test("It also stores copies, which choose the row ids")
  func copying() async throws {
    try await withRole { owner, url, role, schema in
      try await owner.prepare(Note.self)
      for statement in owner.grants(to: role, for: Note.self) {
        try PlainConnection().run(statement)
      }
      let target = try await workspace(url, schema)
      try await withSchema { other in
        let source = postgresWorkspace(schema: other)
        try await source.write(Note.self) { txn in
          for key in 1...9 as ClosedRange<UInt64> { try txn.insert(Note(key: key)) }
        }
        try await source.write(Note.self) { try $0.delete(Note.self, keys: [1, 2]) }
        try await source.copy(Note.self, to: target)
        await source.shutdown()
      }
      try await target.write(Note.self) { try $0.insert(Note(key: 10)) }
      #expect(target.fetch(for: Note.self).all().map(\._rowid) == [3, 4, 5, 6, 7, 8, 9, 10])
      await target.shutdown()
    }
  }

  @Test("A role that may only read needs less, and cannot write")
  func reading() async throws {
    try await withRole { owner, url, role, schema in
      try await owner.prepare(Note.self)
      try await owner.write(Note.self) { try $0.insert(Note(key: 1)) }
      for statement in owner.grants(to: role, for: Note.self, access: .reading) {
        try PlainConnection().run(statement)
      }
      let dflat = try await workspace(url, schema) { $0.isReadOnly = true }
      let results = Log<Int>()
      let live = dflat.subscribe(fetchedResult: dflat.fetch(for: Note.self).all()) {
        results.add($0.count)
      }
      try waitForListener(schema)
      try await owner.write(Note.self) { try $0.insert(Note(key: 2)) }
      #expect(eventually { results.events.last == 2 })
      live.cancel()
      await dflat.shutdown()
      let writer = try await workspace(url, schema)
      let error = await #expect(throws: StorageError.self) {
        try await writer.write(Note.self) { try $0.insert(Note(key: 3)) }
      }
      #expect(error?.cause == .readOnly, "\(error as Any)")
      await writer.shutdown()
    }
  }

  @Test("What a role may not do is an error of two lines, which shows no statement")
  func refusals() async throws {
    try await withRole { owner, url, role, schema in
      var texts: [String] = []
      let first = await #expect(throws: StorageError.self) {
        _ = try await workspace(url, "other \(schema)")
      }
      texts.append("\(first as Any)")
      #expect(first?.cause == .readOnly)
      try await owner.prepare(Note.self)
      for statement in owner.grants(to: role, for: Note.self) {
        try PlainConnection().run(statement)
      }
      let errors = ReportedErrors()
      let dflat = try await workspace(url, schema) { $0.onError = { errors.add($0) } }
      // Its table is not there.
      let second = await #expect(throws: StorageError.self) {
        try await dflat.write(Post.self) { try $0.insert(post(1)) }
      }
      texts.append("\(second as Any)")
      #expect(second?.cause == .readOnly)
      // Its columns are not there.
      let server = try PlainConnection()
      try await owner.prepare(Post.self)
      let columns = try server.run(
        "SELECT max(col) FROM \"\(schema)\"._dflat_columns WHERE tbl = '\(Post._schema.table)'")
      let column = try #require(columns[0][0])
      try server.run(
        """
        ALTER TABLE "\(schema)"."\(Post._schema.table)" DROP COLUMN "\(column)"; \
        DELETE FROM "\(schema)"._dflat_columns WHERE col = '\(column)'; \
        UPDATE "\(schema)"._dflat_state SET version = version + 1
        """)
      for statement in owner.grants(to: role, for: Post.self) { try server.run(statement) }
      for _ in 1...3 {
        await #expect(throws: StorageError.self) { try await dflat.indexesReady(for: Post.self) }
      }
      let reported = errors.take()
      #expect(reported.count == 1, "\(reported)")
      texts += reported.map { "\($0)" }
      for text in texts {
        #expect(!text.contains("CREATE") && !text.contains("ALTER TABLE"), "\(text)")
        #expect(text.contains("42501") && text.contains("prepare"), "\(text)")
        #expect(text.utf8.count < 500, "\(text)")
      }
      await dflat.shutdown()
    }
  }
}
