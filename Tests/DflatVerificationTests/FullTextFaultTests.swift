// Transactions that meet a damaged full-text table on a disk that fails: what the table refuses
// must not hide what the disk refuses.

import Dflat
import DflatTestSupport
import DflatVerification
import Foundation
import Platform
import SQLiteDflat
import Testing

@Suite("Damaged full-text tables on failing disks")
struct FullTextFaultTests {
  private typealias Story = Tale.Story

  private static func stories(_ word: String) -> [Story] {
    (1...30).map { Story(id: $0, title: "\(word) n\($0)", body: "body \(word)", year: $0) }
  }

  /// Replaces all stories, one request each, and goes on after errors.
  private static func write(
    _ word: String, in file: TemporaryFile
  ) -> (isCommitted: Bool, refused: Int) {
    let refused = Atomic(0)
    do {
      try file.dflat.write(Story.self) { txn in
        for story in stories(word) {
          do {
            try txn.submit(Tale.StoryChangeRequest.upsertRequest(story))
          } catch { refused.add(1, ordering: .relaxed) }
        }
      }
      return (true, refused.load(ordering: .relaxed))
    } catch { return (false, refused.load(ordering: .relaxed)) }
  }

  /// Which full-text table is damaged: that of the program, or that of a program with another
  /// version of the schema.
  enum Damaged: String, CaseIterable { case own, other }

  /// Makes a file with the tables of both versions of the schema, and damages one of them.
  private static func makeTemplate(_ path: String, damaged: Damaged) async throws {
    let first = TemporaryFile(path: path)
    #expect(write("old", in: first) == (true, 0))
    _ = first.dflat.fetch(for: Story.self).where(Story.search("old"))
    try await first.dflat.indexesReady(for: Story.self)
    let next = TemporaryFile(path: path)
    _ = next.dflat.fetch(for: TALE.Story.self).where(TALE.Story.search("old"))
    try await next.dflat.indexesReady(for: TALE.Story.self)
    let tables = try first.sqlite3(
      "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%' ORDER BY length(name)")
    // That of the program's own version has one field more.
    let names = tables.split(separator: "\n")
    try #require(names.count == 2)
    let table = damaged == .own ? names[1] : names[0]
    await next.dflat.shutdown(flags: .truncate)
    await first.dflat.shutdown(flags: .truncate)
    try TemporaryFile(path: path).tamper("UPDATE \"\(table)_data\" SET block = zeroblob(3)")
  }

  @Test("Some call fails: all stories are changed, or none", arguments: Damaged.allCases)
  func failing(damaged: Damaged) async throws {
    try await withTemporaryDirectory { directory in
      let template = "\(directory)/template.db"
      try await Self.makeTemplate(template, damaged: damaged)
      let calls = FailingCalls(
        template, in: directory, stride: isLongRun ? 1 : 7, cacheSize: 32 << 10)
      try calls.run { file in
        let (isCommitted, refused) = Self.write("new", in: file)
        #expect(!isCommitted || refused == 0)
        return isCommitted
      } check: { file, isCommitted, call in
        let found = file.dflat.fetch(for: Story.self).all().sorted { $0.id < $1.id }
        #expect(found == Self.stories(isCommitted ? "new" : "old"), call)
      } goOn: { file, call in
        #expect(Self.write("last", in: file) == (true, 0), call)
        let found = file.dflat.fetch(for: Story.self).where(Story.search("last"))
        #expect(found.count == 30, call)
      }
    }
  }
}
