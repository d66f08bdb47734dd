// Full-text tables in files: how they are used, kept up, noticed to be wrong, and built anew.

import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@testable import Dflat

@Suite("Full-text tables")
struct FullTextTableTests: FullTextTesting {
  // MARK: Use

  @Test("A search reads the full-text table alone, and names it")
  func plan() throws {
    try withTemporaryFile { file in
      try store((1...50).map { story($0, "hello \($0)", "world") }, in: file)
      let explanation = try explain(file, "hello -7")
      #expect(explanation.indexes == [words])
      #expect(
        explanation.indexedFields == ["title, body, writer.name, extra.as(Quote).text, motto"])
      #expect(explanation.rowByRow == nil && !explanation.isSortedInMemory)
      #expect(
        explanation.plan.contains { $0.contains("VIRTUAL TABLE INDEX") }, "\(explanation.plan)")
      // Together with an index, and with what is checked on rows.
      let all = file.dflat.fetch(for: Story.self)
      let both = try all.explain(where: Story.search("hello") && Story.year > 40)
      #expect(both.indexes.contains(words) && both.rowByRow == nil)
      let mixed = try all.explain(where: Story.search("hello") && Story.note == "x")
      #expect(mixed.indexes == [words] && mixed.rowByRow == #"note == "x""#)
      let either = try all.explain(where: Story.search("hello") || Story.year > 40)
      #expect(Set(either.indexes) == [words, "\(main)__f18"] && either.rowByRow == nil)
      // A negation, and fields without (fulltext), are checked on rows.
      #expect(try all.explain(where: !Story.search("hello")).indexes == [])
      #expect(try all.explain(where: Story.note.search("hello")).indexes == [])
      #expect(try all.explain(where: Story.title.search("hello")).indexes == [words])
      #expect(
        try explain(file, "hello").rowByRow == nil
          && file.dflat.query(Story.self).where(Story.search("hello")).count() == 50)
    }
  }

  @Test("A search of very many words, or with deeply nested operators, is checked on the rows")
  func limits() throws {
    try withTemporaryFile { file in
      try store([story(1, "w1 w2")], in: file)
      try file.write([Verse.Poem.self]) { txn in
        try txn.submit(
          Verse.PoemChangeRequest.creationRequest(Verse.Poem(id: 1, title: "abc", text: "d")))
      }
      let poems = file.dflat.fetch(for: Verse.Poem.self)
      for (count, isIndexed) in [(200, true), (201, false)] {
        let text = (1...count).map { "w\($0)" }.joined(separator: " ")
        #expect(try (explain(file, text).indexes == [words]) == isIndexed)
        // As many sequences of three characters.
        let characters = String(repeating: "x", count: count + 2)
        let poem = try poems.explain(where: Verse.Poem.search(characters))
        #expect(poem.indexes.isEmpty != isIndexed)
      }
      for (depth, isIndexed) in [(12, true), (13, false)] {
        let text = (1...depth).reduce("w0") { "(\($0)) \($1 % 2 == 0 ? "AND" : "OR") w\($1)" }
        let search = try Story.search(fts5: text)
        let all = file.dflat.fetch(for: Story.self)
        #expect(try (all.explain(where: search).indexes == [words]) == isIndexed)
      }
    }
  }

  @Test("The table follows insertions, updates and deletions")
  func upkeep() throws {
    try withTemporaryFile { file in
      try store((1...5).map { story($0, "hello \($0)") }, in: file)
      try update(2, in: file) { $0.title = "bye" }
      try update(3, in: file) { $0.year = 77 }
      try update(4, in: file) { $0.motto = "sapere aude" }
      try delete(5, in: file)
      #expect(try isUsed(file))
      #expect(found(file, "hello") == [1, 3, 4] && found(file, "bye") == [2])
      #expect(found(file, "carpe") == [1, 2, 3] && found(file, "5") == [])
      #expect(try faults(file) == [])
      // The texts are not stored a second time.
      let tables = try file.sqlite3("SELECT name FROM sqlite_master WHERE name LIKE '%_content'")
      #expect(tables == "")
    }
  }

  @Test("Many deletions at once, and an aborted transaction")
  func bulk() throws {
    try withTemporaryFile { file in
      try store((1...300).map { story($0, "hello \($0)") }, in: file)
      try file.dflat.write(Story.self) { txn in
        try txn.delete(where: Story.year > 100)
      }
      #expect(found(file, "hello").count == 100)
      #expect(try faults(file) == [])
      try file.write([Story.self]) { txn in
        try txn.submit(Tale.StoryChangeRequest.creationRequest(self.story(999, "hello")))
        txn.abort()
      }
      #expect(found(file, "hello").count == 100)
      #expect(try isUsed(file) && faults(file) == [])
    }
  }

  // MARK: Building

  @Test("A table that is missing is built in steps, and taken up again by the next program")
  func lazyBuild() async throws {
    try await withTemporaryFile { file in
      try store((1...1200).map { story($0, "hello \($0)") }, in: file)
      try file.tamper("DROP TABLE \"\(words)\"")
      #expect(try !isUsed(file))
      #expect(found(file, "hello").count == 1200)
      try waitForStep(file)
      let count = try file.sqlite3("SELECT count(*) FROM \"\(words)_docsize\"")
      #expect(Int(count).map { $0 >= 500 } == true, "\(count)")
      // Changes meanwhile.
      try update(1, in: file) { $0.title = "bye" }
      try update(1200, in: file) { $0.title = "bye" }
      try delete(2, in: file)
      let second = file.secondWorkspace()
      try await second.dflat.indexesReady(for: Story.self)
      await second.dflat.shutdown()
      #expect(try isUsed(file))
      #expect(found(file, "hello").count == 1197 && found(file, "bye") == [1, 1200])
      #expect(try faults(file) == [])
    }
  }

  @Test("A table of an empty type is complete from the beginning")
  func fresh() throws {
    try withTemporaryFile { file in
      try store([story(1, "hello")], in: file)
      _ = file.takeEvents()
      #expect(try isUsed(file))
      try waitForStep(file)
      #expect(file.takeEvents().isEmpty)
      let second = file.secondWorkspace()
      #expect(try isUsed(second))
      second.dflat.shutdown()
    }
  }

  // MARK: Other programs

  @Test(
    "What another program does to the objects is noticed",
    arguments: [
      "DELETE FROM tale__story_v1 WHERE rowid = 3",
      "UPDATE tale__story_v1 SET p = (SELECT p FROM tale__story_v1 WHERE rowid = 7) WHERE rowid = 3",
      "INSERT INTO tale__story_v1 (__pk0, p) SELECT 100, p FROM tale__story_v1 WHERE rowid = 3",
      "REPLACE INTO tale__story_v1 (__pk0, p) SELECT 5, p FROM tale__story_v1 WHERE rowid = 3",
      "DELETE FROM tale__story_v1",
      "ALTER TABLE tale__story_v1 RENAME TO x; ALTER TABLE x RENAME TO tale__story_v1",
    ])
  func foreignWrites(sql: String) async throws {
    try await withTemporaryFile { file in
      try store((1...9).map { story($0, "hello n\($0)") }, in: file)
      #expect(try isUsed(file))
      try file.tamper(sql)
      let expected = file.dflat.fetch(for: Story.self).all().filter { $0.title != nil }
      #expect(found(file, "hello") == expected.map(\.id))
      for number in 1...9 {
        #expect(
          found(file, "n\(number)") == expected.filter { $0.title == "hello n\(number)" }.map(\.id))
      }
      try await file.dflat.indexesReady(for: Story.self)
      #expect(try isUsed(file))
      for number in 1...9 {
        #expect(
          found(file, "n\(number)") == expected.filter { $0.title == "hello n\(number)" }.map(\.id))
      }
      #expect(try faults(file) == [])
    }
  }

  @Test("What is done to the table itself is noticed, and a damaged table is built anew")
  func damage() async throws {
    for (number, sql) in [
      "DELETE FROM \"\(words)_docsize\" WHERE id = 3",
      "INSERT INTO \"\(words)\" (rowid, f6) VALUES (3, 'wrong')",
      "INSERT INTO \"\(words)\" (\"\(words)\") VALUES ('delete-all')",
      "DROP TABLE \"\(words)\"",
      "DROP TABLE \"\(words)_docsize\"",
      "DROP TABLE \"\(words)_config\"",
      "DROP TABLE \"\(words)_data\"",
      "DROP TABLE \"\(words)_idx\"",
      "DELETE FROM \"\(words)_data\"",
      "DROP TRIGGER \"dflat_fulltext_\(words)_delete\"",
      "DROP TABLE _dflat_index",
      "DROP TABLE \"\(words)\"; CREATE VIRTUAL TABLE \"\(words)\" USING fts5(x)",
    ].enumerated() {
      try await withTemporaryFile { file in
        try store((1...9).map { story($0, "hello n\($0)") }, in: file)
        #expect(try isUsed(file))
        try file.tamper(sql)
        #expect(found(file, "hello").count == 9, "\(sql)")
        #expect(found(file, "n3") == [3] && found(file, "wrong") == [], "\(sql)")
        // A write of a program that has not noticed it.
        if number % 2 == 0 { try store([story(10, "hello")], in: file) }
        try await file.dflat.indexesReady(for: Story.self)
        // Searches may have met the damage while the table was being filled anew: it is then built
        // once more.
        for _ in 0..<4 where try !isUsed(file) {
          try await file.dflat.indexesReady(for: Story.self)
        }
        #expect(try isUsed(file), "\(sql)")
        #expect(found(file, "hello").count == (number % 2 == 0 ? 10 : 9), "\(sql)")
        #expect(try faults(file) == [], "\(sql)")
        #expect(file.takeErrors().allSatisfy { $0.cause == .corruptFile }, "\(sql)")
      }
    }
  }

  @Test("Triggers of other programs run with our changes, and the table stays trusted")
  func triggers() throws {
    try withTemporaryFile { file in
      try store([story(1, "hello")], in: file)
      try file.tamper(
        "CREATE TABLE log (id); CREATE TRIGGER noted AFTER UPDATE ON \(main) "
          + "BEGIN INSERT INTO log VALUES (new.rowid); END")
      try store([story(2, "hello")], in: file)
      try update(1, in: file) { $0.title = "bye" }
      try delete(2, in: file)
      try store([story(3, "hello")], in: file)
      #expect(try isUsed(file))
      #expect(found(file, "hello") == [3] && found(file, "bye") == [1])
      #expect(try faults(file) == [])
      #expect(try file.sqlite3("SELECT count(*) FROM log") == "1")
    }
  }

  @Test("A program of another version keeps the table of this one, as far as it knows the fields")
  func versions() async throws {
    try await withTemporaryFile { file in
      try store((1...4).map { story($0, "hello n\($0)", "body") }, in: file)
      let other = file.secondWorkspace()
      try other.write([TALE.Story.self]) { txn in
        try txn.submit(
          TALE.StoryChangeRequest.creationRequest(
            TALE.Story(id: 5, title: "hello n5", body: "other body", motto: "abc")))
      }
      #expect(found(file, "hello").count == 5 && found(file, "other") == [5])
      let all = other.dflat.fetch(for: TALE.Story.self)
      try await other.dflat.indexesReady(for: TALE.Story.self)
      #expect(all.where(TALE.Story.search("memento")).map(\.id) == [1, 2, 3, 4])
      #expect(all.where(TALE.Story.search("carpe")).map(\.id) == [])
      try await file.dflat.indexesReady(for: Story.self)
      for round in 0..<3 as Range<Int32> {
        try update(1, in: file) { $0.title = "hello again \(round)" }
        try other.write([TALE.Story.self]) { txn in
          let second = try #require(
            other.dflat.fetch(for: TALE.Story.self).where(TALE.Story.id == 2).first)
          let request = try #require(TALE.StoryChangeRequest.changeRequest(second))
          request.title = "bye \(round)"
          try txn.submit(request)
        }
        #expect(found(file, "again") == [1] && found(file, "bye \(round)") == [2])
        #expect(all.where(TALE.Story.search("again \(round)")).map(\.id) == [1])
        #expect(all.where(TALE.Story.search("bye")).map(\.id) == [2])
        #expect(found(file, "carpe") == [1, 2, 3, 4])
      }
      await other.dflat.shutdown()
      try await file.dflat.indexesReady(for: Story.self)
      #expect(try isUsed(file) && faults(file) == [])
    }
  }

  @Test("A file that may not be written is searched, with and without the table")
  func readOnly() throws {
    try withTemporaryFile { file in
      try store((1...4).map { story($0, "hello n\($0)") }, in: file)
      for isComplete in [true, false] {
        if !isComplete { try file.tamper("DROP TABLE \"\(words)\"") }
        let reader = TemporaryFile(path: file.path) { $0.isReadOnly = true }
        #expect(try isUsed(reader) == isComplete)
        #expect(found(reader, "n3") == [3])
        reader.dflat.shutdown()
      }
    }
  }
}
