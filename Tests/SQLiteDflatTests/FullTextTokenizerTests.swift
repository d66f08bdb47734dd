// Full-text tables of fields with different tokenizers, and of schemas with other tokenizers.

import DflatTestSupport
import SQLiteDflat
import Testing

@testable import Dflat

@Suite("Full-text tables with a tokenizer for each field")
struct FullTextTokenizerTests {
  private typealias Entry = Mixed.Entry
  /// The same type with other tokenizers.
  private typealias Next = MIXED.Entry

  private var words: String { Entry._schema.fullText?.table ?? "" }
  private var nextWords: String { Next._schema.fullText?.table ?? "" }

  private func store(_ ids: ClosedRange<Int32>, in file: TemporaryFile) throws {
    try file.write([Entry.self]) { txn in
      for id in ids {
        try txn.submit(
          Mixed.EntryChangeRequest.creationRequest(
            Entry(
              id: id, title: "Stories \(id)", body: "京都の running \(id)", note: "Café \(id)",
              tag: "東京 \(id)")))
      }
    }
  }

  private func found(_ file: TemporaryFile, _ text: String) -> Int {
    file.dflat.fetch(for: Entry.self).where(Entry.search(text)).count
  }

  private func nextFound(_ file: TemporaryFile, _ text: String) -> Int {
    file.dflat.fetch(for: Next.self).where(Next.search(text)).count
  }

  @Test("A search is counted in its table alone, which keeps lists of the first characters")
  func counting() throws {
    try withTemporaryFile(configure: { $0.tracesStatements = true }) { file in
      try store(1...40, in: file)
      _ = found(file, "京都")
      for text in ["story", "都", "af", "stor* -41"] {
        _ = file.takeEvents()
        #expect(try file.dflat.query(Entry.self).where(Entry.search(text)).count() == 40)
        let statements = file.takeEvents().compactMap {
          if case .statement(let sql, _) = $0, sql.contains("MATCH") { sql } else { nil }
        }
        #expect(statements == ["SELECT count(*) FROM \"\(words)\" WHERE \"\(words)\" MATCH ?"])
      }
      let definition = try file.sqlite3("SELECT sql FROM sqlite_master WHERE name = '\(words)'")
      #expect(definition.contains("prefix='1'"))
    }
  }

  @Test("One table answers searches of all fields, also ordered by relevance, and names them")
  func plan() async throws {
    try await withTemporaryFile { file in
      try store(1...40, in: file)
      #expect(
        words
          == "mixed__entry_v1__fulltext__tokens__x__f6__porter__x__f8__portercjk__x__f10__trigram"
          + "__x__f12__cjk__x__f14__f4__unicode61")
      let entries = file.dflat.fetch(for: Entry.self)
      for text in ["story", "都", "af cafes", "\"の run\" -41", "stor*"] {
        let search = Entry.search(text)
        let plan = try entries.explain(where: search)
        #expect(plan.indexes == [words] && plan.rowByRow == nil, "\(text)")
        #expect(plan.indexedFields == ["title, body, note, tag, source.name"])
        let best = try entries.explain(where: search, limit: 20, orderBy: [search.rank])
        #expect(best.rowByRow == nil && !best.isSortedInMemory, "\(text)")
      }
      #expect(found(file, "story 京都 afé 東") == 40 && found(file, "runs 都の") == 40)
      #expect(try await file.dflat.checkIntegrity(of: Entry.self).isEmpty)
      // A wrong token is found.
      try file.tamper(
        "INSERT INTO \"\(words)\" (rowid, f6) VALUES (3, 'wrong'); "
          + "UPDATE _dflat_index SET verified = 9223372036854775807 WHERE side = '\(words)'")
      let findings = try await file.dflat.checkIntegrity(of: Entry.self)
      #expect(findings.map(\.rowid) == [3] && findings.map(\.kind) == [.wrongWords])
    }
  }

  @Test("With another tokenizer searches are right at once; its table is filled beside the old one")
  func otherTokenizers() async throws {
    try await withTemporaryFile { file in
      try store(1...40, in: file)
      await file.dflat.shutdown()
      let later = TemporaryFile(path: file.path)
      func check(_ count: Int) {
        #expect(nextFound(later, "tori") == count && nextFound(later, "story") == 0)
        #expect(nextFound(later, "runs") == count && nextFound(later, "都") == 0)
        #expect(nextFound(later, "afe") == 0 && nextFound(later, "cafe -東京") == count)
      }
      check(40)
      try await later.dflat.indexesReady(for: Next.self)
      check(40)
      #expect(
        try later.dflat.fetch(for: Next.self).explain(where: Next.search("tori")).indexes
          == [nextWords])
      // It keeps up the table of the other version, which knows the same fields.
      try later.write([Next.self]) { txn in
        let old = try #require(later.dflat.fetch(for: Next.self).where(Next.id == 1).first)
        try txn.submit(try #require(MIXED.EntryChangeRequest.deletionRequest(old)))
        try txn.submit(
          MIXED.EntryChangeRequest.creationRequest(
            Next(id: 41, title: "histories", body: "run", note: "cafe")))
      }
      check(40)
      #expect(try await later.dflat.checkIntegrity(of: Next.self).isEmpty)
      await later.dflat.shutdown()
      let again = TemporaryFile(path: file.path)
      #expect(found(again, "stories") == 39 && found(again, "history") == 1)
      #expect(found(again, "京 -東") == 0 && found(again, "af") == 40)
      #expect(
        try again.dflat.fetch(for: Entry.self).explain(where: Entry.search("af")).indexes
          == [words])
      #expect(try await again.dflat.checkIntegrity(of: Entry.self).isEmpty)
      #expect(again.takeErrors().isEmpty && later.takeErrors().isEmpty)
      await again.dflat.shutdown()
    }
  }

  @Test("A full-text table whose name no version of the library has given is not trusted any more")
  func unknownName() async throws {
    try await withTemporaryFile { file in
      try store(1...3, in: file)
      let unknown = "mixed__entry_v1__fulltext__icu__x__f6"
      try file.tamper(
        "CREATE VIRTUAL TABLE \"\(unknown)\" USING fts5(f6, content=''); "
          + "INSERT INTO _dflat_index VALUES ('\(unknown)', 'mixed__entry_v1', NULL, "
          + "9223372036854775807)")
      let later = TemporaryFile(path: file.path)
      try store(4...4, in: later)
      await later.dflat.shutdown()
      #expect(
        try file.sqlite3("SELECT verified FROM _dflat_index WHERE side = '\(unknown)'")
          .hasPrefix("-9223372036854775808"))
    }
  }
}
