// Random transactions against the model: which requests are rejected, what is stored, and the state
// of the file afterwards.

import Dflat
import DflatTestSupport
import Testing

@Suite("Transactions and the model")
struct RandomTransactionTests {
  @Test(
    "Any sequence of transactions has the effects that the model predicts",
    arguments: TestEngine.inEveryIndexState)
  func transactions(engine: TestEngine) throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 200 : 1) {
        try withTemporaryWorkspace(engine) { workspace in
          try round(workspace, engine, &random)
        }
      }
    }
  }

  private func round(
    _ workspace: TemporaryWorkspace, _ engine: TestEngine, _ random: inout SeededGenerator
  ) throws {
    let seed = random.seed
    var stored: [Int64: Kit.Item] = [:]
    for batch in 0..<12 {
      if batch > 0, random.oneIn(2) {
        try workspace.disturbIndexes(of: Kit.Item._schema, using: &random)
      }
      let before = stored
      let aborts = random.oneIn(4)
      var run = Run(stored: stored, random: random, seed: seed)
      let outcome = try workspace.write([Kit.Item.self]) { txn in
        for _ in 0..<25 { run.step(txn, workspace) }
        if aborts { #expect(txn.abort()) }
      }
      #expect(outcome.isCommitted == !aborts)
      random = run.random
      stored = aborts ? before : run.stored
      if random.oneIn(2) { try changeMany(workspace, &stored, &random) }

      let found = workspace.dflat.fetch(for: Kit.Item.self).all()
      let expected = stored.sorted { $0.key < $1.key }
      if found.map(\._rowid) != expected.map(\.key)
        || found.underlyingArray != expected.map(\.value)
      {
        Issue.record("DFLAT_SEED=\(seed): batch \(batch) stored something else")
        return
      }
      if !engine.disturbsIndexes {
        let faults = try workspace.faults(of: Kit.Item._schema)
        if !faults.isEmpty {
          Issue.record("DFLAT_SEED=\(seed): batch \(batch): \(faults.prefix(5))")
          return
        }
      }
    }
  }

  /// Changes, deletes and inserts many objects by one call each. An insertion of a taken value
  /// undoes the whole transaction.
  private func changeMany(
    _ workspace: TemporaryWorkspace, _ stored: inout [Int64: Kit.Item],
    _ random: inout SeededGenerator
  ) throws {
    typealias Item = Kit.Item
    let note = Comment(rawValue: "DFLAT_SEED=\(random.seed)")
    let queries = Item.randomQueries()
    let changed = queries.query(&random)
    let deleted = queries.query(&random)
    let number = Int32.random(in: -3...3, using: &random)
    let title = random.oneIn(3) ? nil : "t\(Int.random(in: 0..<5, using: &random))"
    let count = random.oneIn(3) ? 0 : Int.random(in: 1...5, using: &random)
    let inserted = (0..<count).map { _ in RandomItems.item(&random) }
    let deletesSome = random.oneIn(3)

    var expected = stored
    func objects() -> [Item] { expected.values.sorted { $0._rowid < $1._rowid } }
    let changes = changed.answer(objects())
    for item in changes {
      var builder = Kit.ItemBuilder(from: item)
      builder.number = number
      builder.title = title
      expected[item._rowid] = builder.build()
    }
    // The row ids of the model are those of the keys.
    func answer(_ query: ModelQuery<Item>) -> [Item] { query.answer(objects()) }
    var gone: [Int64] = []
    var isTaken = false
    let run = Run(stored: [:], random: random, seed: random.seed)
    let outcome = Result {
      try workspace.dflat.write(Item.self) { txn in
        let change = try txn.update(changed.query(txn.query(Item.self))) {
          $0.number = number
          $0.title = title
        }
        #expect(change.updated + change.unchanged == changes.count, note)
        // The changed objects with their row ids, as the transaction has them.
        for item in try txn.query(Item.self).fetch() {
          #expect(expected[item._rowid] == item, note)
          expected[item._rowid] = item
        }
        if deletesSome {
          gone = answer(deleted).map(\._rowid)
          #expect(try txn.delete(deleted.query(txn.query(Item.self))).deleted == gone.count, note)
          for id in gone { expected[id] = nil }
        }
        let others = objects()
        isTaken = inserted.indices.contains { index in
          (others + inserted[..<index]).contains { run.conflicts($0, inserted[index]) }
        }
        #expect(try txn.insert(contentsOf: inserted).inserted == inserted.count, note)
        for item in try txn.query(Item.self).fetch() where expected[item._rowid] == nil {
          expected[item._rowid] = item
        }
        #expect(Array(objects().suffix(inserted.count)) == inserted, note)
      }
    }
    switch outcome {
    case .success:
      #expect(!isTaken, note)
      stored = expected
    case .failure(let error):
      #expect(isTaken && (error as? StorageError)?.cause == .alreadyExists, "\(note): \(error)")
    }
  }

  /// One transaction and its expected effects.
  private struct Run {
    var stored: [Int64: Kit.Item]
    var random: SeededGenerator
    let seed: UInt64

    mutating func step(_ txn: any TransactionContext, _ workspace: TemporaryWorkspace) {
      let existing = stored.values.sorted { $0._rowid < $1._rowid }.randomElement(using: &random)
      do {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
          let item = RandomItems.item(&random)
          try submit(txn, Kit.ItemChangeRequest.creationRequest(item), item, replacing: nil)
        case 4..<7:
          guard let existing else { return }
          // By row id, or by the key of a value that the program made.
          let handle =
            random.oneIn(2) ? existing : Kit.Item(name: existing.name, serial: existing.serial)
          guard let request = Kit.ItemChangeRequest.changeRequest(handle) else {
            Issue.record("DFLAT_SEED=\(seed): object \(existing._rowid) was not found")
            return
          }
          let wanted = change(existing, request)
          try submit(txn, request, wanted, replacing: existing)
        case 7:
          let item = RandomItems.item(&random)
          let old = stored.values.first { sameKey($0, item) }
          try submit(txn, Kit.ItemChangeRequest.upsertRequest(item), item, replacing: old)
        default:
          guard let existing, let request = Kit.ItemChangeRequest.deletionRequest(existing) else {
            return
          }
          guard case .deleted(let id) = try txn.submit(request) else {
            Issue.record("DFLAT_SEED=\(seed): a deletion did not delete")
            return
          }
          #expect(id == existing._rowid)
          stored[id] = nil
        }
      } catch { Issue.record("DFLAT_SEED=\(seed): \(error)") }
    }

    /// Changes some fields of a request, sometimes the key, sometimes nothing.
    private mutating func change(
      _ item: Kit.Item, _ request: Kit.ItemChangeRequest
    ) -> Kit.Item {
      var builder = Kit.ItemBuilder(from: item)
      if random.oneIn(6) { return builder.build() }
      if random.oneIn(5) {
        let other = RandomItems.item(&random)
        builder.name = other.name
        builder.serial = other.serial
      }
      if random.oneIn(2) { builder.badge = "\(Int.random(in: 0..<60, using: &random))" }
      if random.oneIn(2) {
        builder.pet = .cat(Kit.Cat(name: "\(Int.random(in: 0..<60, using: &random))"))
      }
      if random.oneIn(3) { builder.maybeReal = random.oneIn(2) ? nil : .nan }
      if random.oneIn(2) { builder.title = random.oneIn(3) ? nil : "t\u{0}\(random.oneIn(2))" }
      request.name = builder.name
      request.serial = builder.serial
      request.badge = builder.badge
      request.pet = builder.pet
      request.maybeReal = builder.maybeReal
      request.title = builder.title
      return builder.build()
    }

    private mutating func submit(
      _ txn: any TransactionContext, _ request: Kit.ItemChangeRequest, _ item: Kit.Item,
      replacing old: Kit.Item?
    ) throws {
      let isTaken = stored.values.contains { conflicts($0, item) && $0._rowid != old?._rowid }
      do {
        let result = try txn.submit(request)
        if isTaken { Issue.record("DFLAT_SEED=\(seed): a taken value was accepted: \(item)") }
        switch result {
        case .inserted(let new):
          #expect(old == nil && new == item)
          stored[new._rowid] = new
        case .updated(let new):
          #expect(new._rowid == old?._rowid && new == item && new != old)
          stored[new._rowid] = new
        case .identity(let same): #expect(same == old && same == item)
        case .deleted: Issue.record("DFLAT_SEED=\(seed): an update deleted")
        }
      } catch TransactionError.objectAlreadyExists {
        if !isTaken { Issue.record("DFLAT_SEED=\(seed): a free value was refused: \(item)") }
      }
    }

    private func sameKey(_ left: Kit.Item, _ right: Kit.Item) -> Bool {
      Array(left.name.utf8) == Array(right.name.utf8) && left.serial == right.serial
    }

    fileprivate func conflicts(_ left: Kit.Item, _ right: Kit.Item) -> Bool {
      func same(_ left: String?, _ right: String?) -> Bool {
        left.map { Array($0.utf8) } == right.map { Array($0.utf8) } && left != nil
      }
      func cat(_ item: Kit.Item) -> String? {
        if case .cat(let cat)? = item.pet { cat.name } else { nil }
      }
      return sameKey(left, right) || same(left.badge, right.badge) || same(cat(left), cat(right))
    }
  }
}
