// Random sets of indexes: no answer depends on which there are.

import Dflat
import DflatTestSupport
import Testing

@Suite("Random sets of indexes")
struct RandomIndexTests {
  // One test uses the type at a time, so the engines follow one another.
  @Test("A query gives the model's result with any set of compound indexes, on every engine")
  func queriesMeanTheSame() throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 60 : 1) {
        let indexes = IndexedMemo.choose(&random)
        for engine in TestEngine.inEveryIndexState {
          try withTemporaryWorkspace(engine) { workspace in
            try round(workspace, engine, indexes, &random)
          }
        }
      }
    }
  }

  private func round(
    _ workspace: TemporaryWorkspace, _ engine: TestEngine, _ indexes: [[String]],
    _ random: inout SeededGenerator
  ) throws {
    let dflat = workspace.dflat
    let first = (1...40).map { IndexedMemo(RandomMemos.memo($0, &random)) }
    let second = (30...60).map { IndexedMemo(RandomMemos.memo($0, &random)) }
    let deleted = (1...60).filter { _ in random.oneIn(6) } as [Int32]
    try dflat.write(IndexedMemo.self) { _ = try $0.insert(contentsOf: first) }
    try workspace.disturbIndexes(of: IndexedMemo._schema, using: &random)
    try dflat.write(IndexedMemo.self) { txn in
      _ = try txn.upsert(contentsOf: second)
      _ = try txn.delete(IndexedMemo.self, keys: deleted)
    }
    let objects = dflat.fetch(for: IndexedMemo.self).all().underlyingArray
    #expect(objects.count == 60 - deleted.count)
    for number in 0..<60 {
      if number % 20 == 0 {
        try workspace.disturbIndexes(of: IndexedMemo._schema, using: &random)
      }
      let query = RandomMemos.query(of: IndexedMemo.self, indexes, &random)
      let found = query.fetch(dflat).map(\._rowid)
      let expected = query.answer(objects).map(\._rowid)
      guard found == expected else {
        Issue.record(
          """
          DFLAT_SEED=\(random.seed), \(engine), indexes \(indexes): \(query.text): \
          \(expected) expected, \(found) found
          """)
        return
      }
      if number % 3 == 0 {
        try expectParts(
          of: query, query.answer(objects), query.query(dflat.query(IndexedMemo.self)),
          "DFLAT_SEED=\(random.seed), \(engine), indexes \(indexes): \(query.text)", &random)
      }
    }
  }
}
