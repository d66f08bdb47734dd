// Random transactions against random subscriptions: which subscriptions are notified, and how
// often.
//
// Transactions are called one after another and their callbacks recorded. The notifications that
// each subscription must get are computed from the states of the data between transactions,
// with the model's queries.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

@Suite("Subscriptions and the model")
struct ObservationModelTests {
  private typealias Item = Kit.Item

  /// The data after a transaction, as the next one sees them.
  private typealias State = [Item]

  @Test(
    "Each transaction that changes a result or an object is delivered once, and nothing else is",
    arguments: TestEngine.all, [true, false])
  func subscriptions(engine: TestEngine, waits: Bool) throws {
    let queries = Item.randomQueries()
    try withSeed { random in
      for _ in 0..<(isLongRun ? 800 : 2) {
        try withTemporaryWorkspace(engine) { workspace in
          try Round(workspace, waits: waits, queries, &random).run()
        }
      }
    }
  }

  /// The notifications of a subscription. Used by one thread at a time: the delivering one, and at
  /// the end the test's.
  private final class Watch: @unchecked Sendable {
    let query: ModelQuery<Item>?
    let given: [Item]
    /// The number of transactions that were called before.
    let start: Int
    var told: [[Item]] = []
    var subscription: (any WorkspaceSubscription)?
    /// The number of transactions that were called before it was cancelled.
    var end: Int?

    init(_ query: ModelQuery<Item>?, _ given: [Item], _ start: Int) {
      self.query = query
      self.given = given
      self.start = start
    }

    /// The expected notifications, given the states before, between and after the transactions.
    func expected(_ states: [State]) -> [[Item]] {
      var expected: [[Item]] = []
      var last = given
      for state in states[start...(end ?? states.count - 1)] {
        let answer =
          query?.answer(state) ?? state.filter { $0._rowid == given[0]._rowid }
        if !ObservationModelTests.same(answer, last) { expected.append(answer) }
        last = answer
        // A deleted object does not come back.
        if query == nil, answer.isEmpty { break }
      }
      return expected
    }
  }

  private static func same(_ left: [Item], _ right: [Item]) -> Bool {
    left.map(\._rowid) == right.map(\._rowid) && left == right
  }

  /// Unchecked: `states` is used by the closures of the transactions, one after another, and at the
  /// end by the test.
  private final class Round: @unchecked Sendable {
    private let workspace: TemporaryWorkspace
    private let waits: Bool
    private let queries: RandomQueries<Item>
    private var random: SeededGenerator
    private var states: [State] = [[]]
    private var watches: [Watch] = []
    private let done = DispatchSemaphore(value: 0)

    init(
      _ workspace: TemporaryWorkspace, waits: Bool, _ queries: RandomQueries<Item>,
      _ random: inout SeededGenerator
    ) {
      self.workspace = workspace
      self.waits = waits
      self.queries = queries
      self.random = SeededGenerator(
        seed: random.seed &+ UInt64.random(in: 1...1000, using: &random))
    }

    func run() throws {
      let count = 64
      var calls = SeededGenerator(seed: random.seed &+ 1)
      for call in 0..<count {
        if calls.oneIn(3) { subscribe(call, &calls) }
        if calls.oneIn(12), let watch = watches.randomElement(using: &calls), watch.end == nil {
          // Only after waiting is it known which transactions it has seen.
          if waits {
            if calls.oneIn(2) { watch.subscription?.cancel() }
            watch.subscription = nil
            watch.end = call
          }
        }
        try transact(calls.next())
      }
      if !waits { for _ in 0..<count { try done.wait(for: "a completion") } }
      #expect(states.count == count + 1)
      for watch in watches {
        let expected = watch.expected(states)
        let isRight =
          expected.count == watch.told.count
          && zip(expected, watch.told).allSatisfy { ObservationModelTests.same($0, $1) }
        if isRight { continue }
        Issue.record(
          """
          DFLAT_SEED=\(random.seed): \(watch.query?.text ?? "object \(watch.given[0]._rowid)") \
          from \(watch.start) to \(watch.end ?? count) was told \(watch.told.map { $0.map(\._rowid) }) \
          and not \(expected.map { $0.map(\._rowid) }), given \(watch.given.map(\._rowid))
          """)
        return
      }
      for watch in watches where watch.end == nil {
        guard let query = watch.query else { continue }
        let fresh = query.fetch(workspace.dflat).underlyingArray
        #expect(ObservationModelTests.same(watch.told.last ?? watch.given, fresh))
      }
    }

    private func subscribe(_ call: Int, _ calls: inout SeededGenerator) {
      let all = workspace.dflat.fetch(for: Item.self).all()
      let watch: Watch
      if calls.oneIn(4), let object = all.randomElement(using: &calls) {
        watch = Watch(nil, [object], call)
        watch.subscription = workspace.dflat.subscribe(object: object) { [unowned watch] event in
          switch event {
          case .updated(let item): watch.told.append([item])
          case .deleted: watch.told.append([])
          }
        }
      } else {
        let query = queries.query(&calls)
        let result = query.fetch(workspace.dflat)
        watch = Watch(query, result.underlyingArray, call)
        watch.subscription = workspace.dflat.subscribe(fetchedResult: result) {
          [unowned watch] result in
          watch.told.append(result.underlyingArray)
        }
      }
      watches.append(watch)
    }

    private func transact(_ seed: UInt64) throws {
      workspace.dflat.performChanges(
        [Item.self],
        changesHandler: { [self] txn in
          var random = SeededGenerator(seed: seed)
          let before = states[states.count - 1]
          var stored = Dictionary(uniqueKeysWithValues: before.map { ($0._rowid, $0) })
          for _ in 0..<random.pick([0, 1, 1, 2, 3, 8, 24]) { step(txn, &stored, &random) }
          if random.oneIn(8) {
            txn.abort()
            states.append(before)
          } else {
            states.append(stored.values.sorted { $0._rowid < $1._rowid })
          }
        },
        completionHandler: { [done] _ in done.signal() })
      if waits { try done.wait(for: "the completion") }
    }

    private func step(
      _ txn: any TransactionContext, _ stored: inout [Int64: Item],
      _ random: inout SeededGenerator
    ) {
      let existing = stored.values.sorted { $0._rowid < $1._rowid }.randomElement(using: &random)
      // Around thirty objects, so that limits take effect.
      let kind = Int.random(in: 0..<(stored.count < 30 ? 10 : 6), using: &random)
      if let existing, kind < 2 {
        guard let request = Kit.ItemChangeRequest.deletionRequest(existing) else {
          Issue.record("object \(existing._rowid) was not found")
          return
        }
        txn.try(submit: request)
        stored[existing._rowid] = nil
      } else if let existing, kind < 6 {
        guard let request = Kit.ItemChangeRequest.changeRequest(existing) else {
          Issue.record("object \(existing._rowid) was not found")
          return
        }
        change(request, &random)
        if case .updated(let item)? = txn.try(submit: request) { stored[item._rowid] = item }
      } else {
        let request = Kit.ItemChangeRequest.creationRequest(RandomItems.item(&random))
        if case .inserted(let item)? = txn.try(submit: request) { stored[item._rowid] = item }
      }
    }

    /// Changes mostly a few fields, as programs do.
    private func change(_ request: Kit.ItemChangeRequest, _ random: inout SeededGenerator) {
      let other = RandomItems.item(&random)
      if random.oneIn(3) { request.number = other.number }
      if random.oneIn(3) { request.title = other.title }
      if random.oneIn(3) { request.maybeReal = other.maybeReal }
      if random.oneIn(3) { request.big = other.big }
      if random.oneIn(4) { request.pet = other.pet }
      if random.oneIn(4) { request.branch = other.branch }
      if random.oneIn(4) { request.mood = other.mood }
      if random.oneIn(4) { request.flag = other.flag }
      if random.oneIn(4) { request.wide = other.wide }
      if random.oneIn(6) { request.name = other.name }
      if random.oneIn(6) { request.tags = other.tags }
    }
  }
}
