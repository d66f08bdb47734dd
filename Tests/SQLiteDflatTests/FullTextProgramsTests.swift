// Other programs and full-text tables: those without FTS5, with other versions of the schema, and
// those that write to the tables.

import DflatTestSupport
import Foundation
import Platform
import SQLiteAccess
import Testing

@testable import Dflat
@testable import SQLiteDflat

@Suite("Full-text tables and other programs")
struct FullTextProgramsTests: FullTextTesting {
  private func greet(_ ids: ClosedRange<Int32>) -> [Story] { ids.map { story($0, "hello n\($0)") } }

  /// Takes FTS5 from SQLite, as far as this connection is concerned.
  private func removeModules(from connection: Connection) throws {
    typealias Function = @convention(c) (OpaquePointer, UnsafeRawPointer?) -> Int32
    let symbol = try #require(dlsym(nil, "sqlite3_drop_modules"))
    let drop = unsafeBitCast(symbol, to: Function.self)
    #expect(connection.withHandle { drop($0, nil) } == 0)
  }

  @Test("A program without FTS5 writes, and leaves the table of the others alone")
  func withoutModule() async throws {
    try await withTemporaryFile(.file) { file in
      try store(greet(1...9), in: file)
      let other = file.secondWorkspace()
      try store(greet(10...10), in: other)
      try other.dflat.engine.session.state.withLock {
        try removeModules(from: try #require($0.connection))
      }
      // The connection then has to read the schema anew.
      try file.tamper("CREATE TABLE other (a)")
      try store(greet(11...11), in: other)
      try delete(3, in: other)
      try update(4, in: other) { $0.title = "bye" }
      await other.dflat.shutdown()
      let errors = other.takeErrors()
      #expect(errors.count == 1 && errors.allSatisfy { $0.message.contains("has no full-text") })
      // Nothing of it was removed, and nothing of it is believed.
      let rows = try file.sqlite3("SELECT count(*) FROM \"\(words)_docsize\"")
      #expect(rows == "10")
      #expect(found(file, "hello") == [1, 2, 5, 6, 7, 8, 9, 10, 11] && found(file, "bye") == [4])
      try await file.dflat.indexesReady(for: Story.self)
      #expect(found(file, "hello") == [1, 2, 5, 6, 7, 8, 9, 10, 11] && found(file, "bye") == [4])
      #expect(try isUsed(file) && faults(file) == [])
    }
  }

  @Test("A reader without FTS5 looks at each object")
  func readerWithoutModule() throws {
    try withTemporaryFile(.file) { file in
      try store(greet(1...9), in: file)
      let reader = TemporaryFile(path: file.path) { $0.isReadOnly = true }
      #expect(try isUsed(reader))
      try reader.dflat.engine.onReader(for: .query) { try removeModules(from: $0) }
      try file.tamper("CREATE TABLE other (a)")
      #expect(found(reader, "n3") == [3])
      #expect(try !isUsed(reader))
      let errors = reader.takeErrors()
      #expect(errors.count == 1 && errors.allSatisfy { $0.message.contains("has no full-text") })
      reader.dflat.shutdown()
    }
  }

  @Test("A version of the schema trusts the table of another one only with its guards")
  func unguarded() async throws {
    for (guarded, sql) in [
      (main, "UPDATE \(main) SET p = (SELECT p FROM \(main) WHERE rowid = 7) WHERE rowid = 3"),
      ("", "DELETE FROM \"\(words)_docsize\" WHERE id = 3"),
    ] {
      try await withTemporaryFile { file in
        try store(greet(1...9), in: file)
        #expect(try isUsed(file))
        let triggers = guarded == main ? ["_dflat_\(main)_update"] : []
        for trigger in triggers { try file.tamper("DROP TRIGGER \"\(trigger)\"") }
        try file.tamper(sql)
        // The other version puts the guards of the objects back.
        let other = file.secondWorkspace()
        try other.write([TALE.Story.self]) { txn in
          try txn.submit(TALE.StoryChangeRequest.creationRequest(TALE.Story(id: 50, title: "x")))
        }
        await other.dflat.shutdown()
        let all = file.dflat.fetch(for: Story.self).all()
        for number in 1...9 {
          #expect(
            found(file, "n\(number)") == all.filter { $0.title == "hello n\(number)" }.map(\.id))
        }
        try await file.dflat.indexesReady(for: Story.self)
        #expect(try isUsed(file) && faults(file) == [])
      }
    }
  }

  @Test("A version of the schema trusts the side table of another one only with its guards")
  func unguardedSide() async throws {
    typealias Old = Press.Article
    typealias New = PRESS.Article
    try await withTemporaryFile { file in
      try file.write([New.self]) { txn in
        for number in 0..<9 as Range<Int32> {
          try txn.submit(
            PRESS.ArticleChangeRequest.creationRequest(
              New(slug: "\(number)", headline: "h\(number)", code: number, votes: number)))
        }
      }
      let (old, new) = (Old._schema, New._schema)
      let others = Set(new.indexes.map(\.table)).subtracting(old.indexes.map(\.table))
      let marked = try file.sqlite3("SELECT side FROM _dflat_index WHERE verified > 0")
      #expect(!others.isEmpty && others.allSatisfy { marked.contains($0) })
      try file.tamper(
        "DROP TRIGGER \"_dflat_\(old.table)_update\"; UPDATE \(old.table) "
          + "SET p = (SELECT p FROM \(old.table) WHERE rowid = 7) WHERE rowid = 3")
      let other = file.secondWorkspace()
      try other.write([Old.self]) { txn in
        try txn.submit(
          Press.ArticleChangeRequest.creationRequest(Old(slug: "x", code: 100, votes: 100)))
      }
      await other.dflat.shutdown()
      for table in others {
        let mark = try file.sqlite3("SELECT verified FROM _dflat_index WHERE side = '\(table)'")
        #expect(mark == "\(Int64.min)", "\(table)")
      }
    }
  }

  @Test(
    "Triggers of other programs that write to the table are noticed",
    arguments: [
      "INSERT INTO \"%\" (\"%\") VALUES ('delete-all')",
      "INSERT INTO \"%\" (rowid, f6) VALUES (new.rowid, 'wrong')",
      "INSERT INTO \"%\" (rowid, f6) VALUES (2, 'wrong')",
      "DELETE FROM \"%_docsize\" WHERE id = new.rowid",
    ])
  func writingTriggers(sql: String) async throws {
    try await withTemporaryFile { file in
      try store(greet(1...9), in: file)
      try file.tamper(
        "CREATE TRIGGER noted AFTER UPDATE ON \(main) BEGIN \(sql.replacing("%", with: words)); END"
      )
      try update(5, in: file) { $0.title = "bye" }
      #expect(found(file, "hello").count == 8 && found(file, "bye") == [5])
      #expect(found(file, "wrong") == [])
      try file.tamper("DROP TRIGGER noted")
      try await file.dflat.indexesReady(for: Story.self)
      #expect(try isUsed(file) && faults(file) == [])
      _ = file.takeErrors()
    }
  }

  @Test("A change to a row of the table alone is noticed")
  func changedRow() async throws {
    try await withTemporaryFile { file in
      try store(greet(1...9), in: file)
      try file.tamper("UPDATE \"\(words)_docsize\" SET sz = x'00' WHERE id = 3")
      #expect(try !isUsed(file))
      try await file.dflat.indexesReady(for: Story.self)
      #expect(try isUsed(file) && faults(file) == [])
    }
  }

  @Test("A table that another program has made with another tokenizer is made anew")
  func otherTokenizer() async throws {
    try await withTemporaryFile { file in
      try store([story(1, "running"), story(2, "runs")], in: file)
      #expect(found(file, "runs") == [2])
      let connection = try file.foreignConnection()
      let guards = try connection.rows(
        "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?",
        [.text(words + "_docsize")]
      ).compactMap { $0[0].text }
      #expect(guards.count == 3)
      let create = try #require(
        try connection.value("SELECT sql FROM sqlite_master WHERE name = ?", [.text(words)])?.text)
      try connection.execute("DROP TABLE \"\(words)\"")
      try connection.execute(create.replacing("unicode61'", with: "porter unicode61'"))
      try connection.execute(
        "INSERT INTO \"\(words)\" (rowid, f6, f16) VALUES (1, 'running', 'carpe diem'), "
          + "(2, 'runs', 'carpe diem')")
      for sql in guards { try connection.execute(sql) }
      try connection.execute("UPDATE _dflat_index SET verified = \(Int64.max)")
      try connection.close()
      #expect(found(file, "runs") == [2])
      try await file.dflat.indexesReady(for: Story.self)
      #expect(found(file, "runs") == [2])
      #expect(try isUsed(file) && faults(file) == [])
    }
  }

  // MARK: Steps

  @Test("A step of a build stores a limited number of rows, over all indexes, and of bytes")
  func steps() async throws {
    try await withTemporaryFile { file in
      try store(greet(1...1200), in: file)
      try file.tamper("DROP TABLE \"\(words)\"; DROP TABLE \"\(main)__f18\"")
      func filled() async throws -> [Int] {
        var counts: [Int] = []
        for try await progress in file.dflat.indexProgress(for: Story.self) {
          counts.append(progress.filled)
        }
        return counts
      }
      let counts = try await filled()
      #expect(counts.reduce(0, +) == 2400 && counts.allSatisfy { $0 <= 500 }, "\(counts)")
      #expect(try isUsed(file) && faults(file) == [])
      let long = String(repeating: "long text ", count: 100_000)
      try store((2001...2012).map { story($0, "x", long) }, in: file)
      try file.tamper("DROP TABLE \"\(words)\"")
      let parts = try await filled()
      #expect(parts.count >= 5, "\(parts)")
      #expect(found(file, "long").count == 12)
      #expect(try isUsed(file))
    }
  }
}
