// Compound indexes: no answer depends on them, on any engine, in any state.

import Dflat
import DflatTestSupport
import Testing

@Suite("Compound indexes")
struct CompoundIndexTests {
  private typealias Memo = Desk.Memo

  @Test(
    "A query gives the model's result, in every state of the indexes",
    arguments: TestEngine.inEveryIndexState)
  func queriesMeanTheSame(engine: TestEngine) throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 300 : 1) {
        try withTemporaryWorkspace(engine) { workspace in
          try round(workspace, engine, &random)
          // The other version of the schema stores values that are unique in this one. An index
          // that is still being built reports that, too.
          workspace.dflat.shutdown()
          let errors = workspace.takeErrors()
          #expect(errors.allSatisfy { $0.cause == .alreadyExists }, "\(errors)")
        }
      }
    }
  }

  private func round(
    _ workspace: TemporaryWorkspace, _ engine: TestEngine, _ random: inout SeededGenerator
  ) throws {
    try fill(workspace, &random)
    let objects = workspace.dflat.fetch(for: Memo.self).all().underlyingArray
    for number in 0..<120 {
      if number % 30 == 0 { try workspace.disturbIndexes(of: Memo._schema, using: &random) }
      let query = RandomMemos.query(of: Memo.self, RandomMemos.indexes, &random)
      let found = query.fetch(workspace.dflat).map(\._rowid)
      let expected = query.answer(objects).map(\._rowid)
      guard found == expected else {
        let difference = "\(expected) expected, \(found) found"
        Issue.record("DFLAT_SEED=\(random.seed), \(engine): \(query.text): \(difference)")
        return
      }
      if number % 3 == 0 {
        try expectParts(
          of: query, query.answer(objects), query.query(workspace.dflat.query(Memo.self)),
          "DFLAT_SEED=\(random.seed), \(engine): \(query.text)", &random)
      }
    }
  }

  /// Objects of both versions of the schema, some of them changed and removed again.
  private func fill(_ workspace: TemporaryWorkspace, _ random: inout SeededGenerator) throws {
    var generator = random
    defer { random = generator }
    try workspace.write([Memo.self, DESK.Memo.self]) { txn in
      for number in 1...60 as ClosedRange<Int32> {
        let memo = RandomMemos.memo(number, &generator)
        if generator.oneIn(3) {
          // May be refused, like any other.
          _ = txn.try(
            submit: DESK.MemoChangeRequest.creationRequest(DESK.Memo.from(data: memo.toData())))
        } else {
          _ = txn.try(submit: Desk.MemoChangeRequest.creationRequest(memo))
        }
        guard generator.oneIn(4) else { continue }
        let other = Memo(number: Int32.random(in: 1...number, using: &generator))
        if generator.oneIn(3) {
          if let request = Desk.MemoChangeRequest.deletionRequest(other) {
            _ = txn.try(submit: request)
          }
        } else if let request = Desk.MemoChangeRequest.changeRequest(other) {
          let values = RandomMemos.memo(number, &generator)
          request.archived = values.archived
          request.title = values.title
          request.owner = values.owner
          request.issue = values.issue
          _ = txn.try(submit: request)
        }
      }
    }
  }

  // MARK: Uniqueness

  @Test(
    "Pages are right in an order by positions that a compound index delivers",
    arguments: TestEngine.all)
  func pagesByPosition(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try await workspace.dflat.write(Memo.self) { txn in
        try txn.insert(
          contentsOf: (1...30).map {
            Memo(number: $0, archived: $0 % 3 == 0, sortDate: Int64($0 % 4))
          })
      }
      try await workspace.dflat.indexesReady(for: Memo.self)
      let query = workspace.dflat.query(Memo.self).where(!Memo.archived)
      let orders: [[OrderBy<Memo>]] = [
        [[true, false].firstIndex(of: Memo.archived), Memo.sortDate.ascending],
        [Memo.sortDate.ascending, [true, false].lastIndex(of: Memo.archived)],
        [[true, false].firstIndex(of: Memo.archived), Memo.sortDate.descending],
      ]
      for order in orders {
        let query = query.orderBy(order)
        var numbers: [Int32] = []
        var page = try query.page(size: 3)
        numbers += page.objects.map(\.number)
        while let next = page.next {
          page = try query.page(size: 3, after: next)
          numbers += page.objects.map(\.number)
        }
        #expect(try numbers == query.fetch().map(\.number))
        #expect(numbers.count == 20)
      }
    }
  }

  @Test("Values are unique together, and unknown ones are exempt", arguments: TestEngine.all)
  func uniqueTogether(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      func insert(_ number: Int32, _ topic: String?, _ issue: Int32?) throws -> Bool {
        try workspace.write([Memo.self]) { txn in
          try txn.submit(
            Desk.MemoChangeRequest.creationRequest(
              Memo(number: number, topic: topic, issue: issue)))
        }.isCommitted
      }
      #expect(try insert(1, "t", 1))
      #expect(try insert(2, "t", 2))
      #expect(try insert(3, "u", 1))
      #expect(try insert(4, "t", nil))
      #expect(try insert(5, "t", nil))
      #expect(try insert(6, nil, 1))
      #expect(try insert(7, nil, 1))
      let refusal = try workspace.write([Memo.self]) { txn in
        let error = #expect(throws: TransactionError.self) {
          try txn.submit(
            Desk.MemoChangeRequest.creationRequest(Memo(number: 8, topic: "t", issue: 2)))
        }
        #expect("\(String(describing: error))".contains("lready"), "\(String(describing: error))")
        let request = try #require(Desk.MemoChangeRequest.changeRequest(Memo(number: 3)))
        request.topic = "t"
        #expect(throws: TransactionError.self) { try txn.submit(request) }
        let free = try #require(Desk.MemoChangeRequest.changeRequest(Memo(number: 2)))
        free.issue = 3
        try txn.submit(free)
        try txn.submit(
          Desk.MemoChangeRequest.creationRequest(Memo(number: 9, topic: "t", issue: 2)))
      }
      #expect(refusal.isCommitted)
      let memos = workspace.dflat.fetch(for: Memo.self).all()
      #expect(memos.map(\.number) == [1, 2, 3, 4, 5, 6, 7, 9])
      #expect(memos.map(\.topic) == ["t", "t", "u", "t", "t", nil, nil, "t"])
      #expect(try workspace.faults(of: Memo._schema).isEmpty)
      _ = workspace.takeErrors()
    }
  }

  @Test("Unique folded text is unique regardless of case", arguments: TestEngine.all)
  func uniqueFolded(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.write([Memo.self]) { txn in
        func insert(_ number: Int32, _ code: String?) throws {
          try txn.submit(
            Desk.MemoChangeRequest.creationRequest(Memo(number: number, code: code)))
        }
        try insert(1, "Éa")
        try insert(2, nil)
        try insert(3, nil)
        for code in ["éa", "ÉA", "éA", "Éa"] {
          #expect(throws: TransactionError.self) { try insert(4, code) }
        }
        // The letter and the accent as two scalars are another text.
        try insert(5, "E\u{301}a")
        let request = try #require(Desk.MemoChangeRequest.changeRequest(Memo(number: 1)))
        request.code = "éA"
        try txn.submit(request)
      }
      let codes = workspace.dflat.fetch(for: Memo.self).where(Memo.code.caseInsensitive == "éa")
      #expect(codes.map(\.number) == [1])
      #expect(try workspace.faults(of: Memo._schema).isEmpty)
      _ = workspace.takeErrors()
    }
  }
}
