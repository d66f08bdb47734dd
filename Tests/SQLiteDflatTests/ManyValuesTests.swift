// Conditions with many values in a large table: each is found by a key or an index.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Testing

@Suite("Many values in a large table")
struct ManyValuesTests {
  private typealias Writer = Guild.Writer
  private typealias Memo = Desk.Memo

  /// Texts that JSON writes in its own way, and others.
  private func handle(_ number: Int) -> String {
    let odd = ["\"", "\\", "\u{1}\u{1F}\n\t", "é\u{301}", "🎉", "[1,2]", "\u{7F}\u{2028}", "'"]
    return "\(odd[number % odd.count])\(number)"
  }

  @Test("Texts of the key are found by the key, whatever is in them")
  func texts() throws {
    try withTemporaryFile { file in
      try file.dflat.write(Writer.self) { txn in
        try txn.insert(contentsOf: (0..<8000).map { Writer(handle: handle($0), name: "\($0)") })
        try txn.insert(Writer(handle: "a\u{0}b", name: "NUL"))
      }
      let wanted = stride(from: 0, to: 8000, by: 10).map(handle)
      let found = file.dflat.query(Writer.self).where(Writer.handle.in(wanted))
      #expect(try found.fetch().map(\.handle) == wanted)
      let explanation = try found.explain()
      #expect(explanation.rowByRow == nil && explanation.indexes == ["__pk0"], "\(explanation)")
      #expect(explanation.statement?.contains("json_each") == true)
      // SQLite's JSON ends a text at a NUL.
      let all = file.dflat.query(Writer.self).where(Writer.handle.in(wanted + ["a\u{0}b"]))
      #expect(try all.count() == wanted.count + 1)
      #expect(try all.explain().rowByRow == nil)
      let others = file.dflat.query(Writer.self).where(Writer.handle.notIn(wanted))
      #expect(try others.count() == 8001 - wanted.count)
    }
  }

  @Test("Numbers are found by the key and by an index; in a small table each row is looked at")
  func numbers() async throws {
    try await withTemporaryFile { file in
      try await file.dflat.write(Memo.self) { txn in
        try txn.insert(contentsOf: (1...6000).map { Memo(number: $0, score: $0 / 4) })
      }
      try await file.dflat.indexesReady(for: Memo.self)
      let ids = (1...6000).filter { $0 % 9 == 0 } as [Int32]
      let memos = file.dflat.query(Memo.self)
      #expect(try memos.where(Memo.number.in(ids)).fetch().map(\.number) == ids)
      #expect(try memos.where(Memo.number.in(ids)).explain().rowByRow == nil)
      let scores = (1...700).map { $0 * 2 } as [Int32]
      let scored = memos.where(Memo.score.in(scores))
      #expect(try scored.count() == (1...6000).count { scores.contains($0 / 4) })
      #expect(try scored.explain().indexedFields == ["score"])
      #expect(try memos.where(Memo.score.in(scores) && Memo.number > 3000).count() > 0)
      // Of most objects there are so many values that a look at each row is faster.
      let most = Array(1...5000) as [Int32]
      #expect(try memos.where(Memo.number.in(most)).explain().rowByRow != nil)
      #expect(try memos.where(Memo.number.in(most)).count() == 5000)
      try await file.dflat.write(Memo.self) { txn in
        let result = try txn.delete(where: Memo.number.in(ids))
        #expect(result.deleted == ids.count)
      }
      #expect(try memos.count() == 6000 - ids.count)
    }
  }

  @Test("A range of the key is found by the key's index, and not by a look at each row")
  func ranges() throws {
    try withTemporaryFile { file in
      try file.dflat.write(Memo.self) { txn in
        // The order of insertion is not that of the keys.
        try txn.insert(contentsOf: (1...2000).reversed().map { Memo(number: $0, rank: $0 % 5) })
      }
      let memos = file.dflat.query(Memo.self)
      let range = memos.where(Memo.number > 1990)
      #expect(try range.fetch().map(\.number) == Array((1991...2000).reversed()))
      let plan = try range.explain().plan
      #expect(plan.contains { $0.contains("COVERING INDEX sqlite_autoindex") }, "\(plan)")
      #expect(!plan.contains { $0.hasPrefix("SCAN m") }, "\(plan)")
      let some = memos.where(Memo.number >= 10 && Memo.number < 30 && Memo.rank == 2)
      #expect(try some.fetch().map(\.number) == [27, 22, 17, 12])
      #expect(try range.orderBy(Memo.number.ascending).fetch().first?.number == 1991)
      #expect(
        try memos.where(Memo.number > 5).limit(3).fetch().map(\.number) == [2000, 1999, 1998])
      #expect(try memos.where(Memo.number > 1998 || Memo.number < 3).count() == 4)
    }
  }
}
