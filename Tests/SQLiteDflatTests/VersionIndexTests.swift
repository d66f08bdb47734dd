// The indexes of one file that is used by two versions of a program with different defaults, and so
// different index values.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Testing

@Suite("Indexes of two versions of a schema")
struct VersionIndexTests {
  private typealias Old = Press.Article
  private typealias New = PRESS.Article

  @Test("A build makes an index right for its version; an index without defaults needs no build")
  func rebuiltForDefault() async throws {
    try await withTemporaryFile { workspace in
      try workspace.write([Old.self]) { txn in
        for number in 0..<20 as Range<Int32> {
          try txn.submit(
            Press.ArticleChangeRequest.creationRequest(
              Old(slug: "\(number)", rank: number % 2 == 0 ? 5 : 7, code: number, votes: number)))
        }
      }
      func indexes() throws -> [[String]] {
        let old = workspace.dflat.fetch(for: Old.self)
        let new = workspace.dflat.fetch(for: New.self)
        return try [
          old.explain(where: Old.rank == 5).indexes, new.explain(where: New.rank == 7).indexes,
          new.explain(where: New.votes == 3).indexes,
        ]
      }
      let (rank, votes) = ("press__article_v1_0__f8", "press__article_v1_0__f36")
      #expect(try indexes() == [[rank], [], [votes]])
      #expect(workspace.dflat.fetch(for: New.self).where(New.rank == 7).count == 20)
      try await workspace.dflat.indexesReady(for: New.self)
      let faults = try unsoundness(
        of: New._schema, workspace.foreignConnection(), complete: true)
      #expect(faults == [])
      // The old version requests a build of its own, which must not run in between.
      let after = workspace.dflat.fetchWithinASnapshot { Result { try indexes() } }
      #expect(try after.get() == [[], [rank], [votes]])
      #expect(workspace.dflat.fetch(for: Old.self).where(Old.rank == 5).count == 10)
      #expect(workspace.dflat.fetch(for: New.self).where(New.rank == 7).count == 20)
    }
  }

  @Test("Versions that disagree on whether values are unique keep what the other has verified")
  func uniqueInOne() throws {
    try withTemporaryFile(.file) { workspace in
      let side = "press__article_v1_0__f36"
      let (old, new) = (workspace, workspace.secondWorkspace())
      func found() throws -> [String] {
        try ["verified FROM _dflat_index WHERE side = '\(side)'", "count(*) FROM \(side)"]
          .map { try workspace.sqlite3("SELECT \($0)") }
      }
      for number in 0..<7 as Range<Int32> {
        if number % 2 == 0 {
          try new.write([New.self]) { txn in
            try txn.submit(
              PRESS.ArticleChangeRequest.creationRequest(New(slug: "\(number)", votes: number)))
          }
        } else {
          try old.write([Old.self]) { txn in
            try txn.submit(
              Press.ArticleChangeRequest.creationRequest(
                Old(slug: "\(number)", code: number, votes: number)))
          }
        }
        #expect(try found() == ["\(Int64.max)", "\(number + 1)"])
      }
      // Another program takes the value of an object, also while nothing makes the values unique.
      try old.write([Old.self]) { txn in
        try txn.submit(
          Press.ArticleChangeRequest.creationRequest(Old(slug: "7", code: 7, votes: 7)))
      }
      try workspace.tamper("UPDATE \(side) SET f36 = 3 WHERE rowid = 6")
      #expect(new.dflat.fetch(for: New.self).where(New.votes == 3).map(\.slug) == ["3"])
      #expect(new.dflat.fetch(for: New.self).where(New.votes == 5).map(\.slug) == ["5"])
      new.dflat.shutdown()
    }
  }
}
