// Every query has the same result in every state of the side tables: random objects and conditions
// against the model.

import Dflat
import DflatTestSupport
import Testing

@Suite("Queries and the model")
struct RandomQueryTests {
  @Test(
    "A query gives the model's result, in every state of the indexes",
    arguments: TestEngine.inEveryIndexState)
  func queriesMeanTheSame(engine: TestEngine) throws {
    let rounds = isLongRun ? 600 : 2
    try withSeed { random in
      for _ in 0..<rounds {
        try withTemporaryWorkspace(engine) { workspace in
          try round(workspace, engine, queries: 40, &random)
        }
      }
    }
  }

  private func round(
    _ workspace: TemporaryWorkspace, _ engine: TestEngine, queries count: Int,
    _ random: inout SeededGenerator
  ) throws {
    let seed = random.seed
    try fill(workspace, &random)
    let queries = Kit.Item.randomQueries()
    let objects = workspace.dflat.fetch(for: Kit.Item.self).all().underlyingArray
    #expect(objects.map(\._rowid) == objects.map(\._rowid).sorted())
    for number in 0..<count {
      if number % 20 == 0 {
        try workspace.disturbIndexes(of: Kit.Item._schema, using: &random)
      }
      let query = queries.query(&random)
      let found = query.fetch(workspace.dflat)
      let expected = query.answer(objects)
      if found.map(\._rowid) != expected.map(\._rowid) {
        let plan = "\(expected.map(\._rowid)) expected, \(found.map(\._rowid)) found"
        Issue.record("DFLAT_SEED=\(seed), \(engine.testDescription): \(query.text): \(plan)")
        return
      }
      if number % 10 == 0 { #expect(found.underlyingArray == expected) }
    }
  }

  /// Objects of both versions of the schema, with gaps between their row ids.
  private func fill(_ workspace: TemporaryWorkspace, _ random: inout SeededGenerator) throws {
    var generator = random
    defer { random = generator }
    try workspace.write([Kit.Item.self, KIT.Item.self]) { txn in
      var items: [Kit.Item] = []
      for _ in 0..<40 {
        let item = RandomItems.item(&generator)
        let result: Kit.Item?
        if generator.oneIn(4) {
          let request = KIT.ItemChangeRequest.creationRequest(KIT.Item.from(data: item.toData()))
          if generator.oneIn(2) { request.mood = generator.pick(KIT.Mood.allCases) }
          if generator.oneIn(2) { request.maybeMood = generator.pick(KIT.Mood.allCases) }
          if generator.oneIn(2) { request.wide = generator.pick(KIT.Wide.allCases) }
          if generator.oneIn(2) { request.pet = .bird(KIT.Bird(name: "b")) }
          _ = txn.try(submit: request)
          result = nil
        } else if case .inserted(let stored)? = txn.try(
          submit: Kit.ItemChangeRequest.creationRequest(item))
        {
          result = stored
        } else {
          result = nil
        }
        if let result { items.append(result) }
      }
      for item in items where generator.oneIn(5) {
        if let request = Kit.ItemChangeRequest.deletionRequest(item) { try txn.submit(request) }
      }
    }
  }
}
