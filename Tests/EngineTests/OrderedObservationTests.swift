// Live results with orders, while transactions change the sorted fields: each result equals a fresh
// fetch after each transaction.
//
// Transactions change a few, half or all of the objects, so that results are maintained in every
// way: row by row, by one pass over the rows, and with changes that are sorted once for many
// results. There are few distinct values, so sort keys are often equal.

import Dflat
import DflatTestSupport
import Testing

@Suite("Live results in the order of changed fields")
struct OrderedObservationTests {
  private typealias Item = Kit.Item

  /// A live result and its notifications. They are delivered before the completion of each
  /// transaction, for which the test waits.
  private final class Watch: @unchecked Sendable {
    let text: String
    let fetch: () -> FetchedResult<Item>
    var last: FetchedResult<Item>
    var count = 0
    var subscription: (any WorkspaceSubscription)?

    init(_ workspace: TemporaryWorkspace, _ random: inout SeededGenerator) {
      let dflat = workspace.dflat
      var orders: [OrderBy<Item>] = []
      for _ in 0..<random.pick([0, 1, 1, 1, 2, 3]) { orders.append(Watch.order(&random)) }
      let limit = random.pick([nil, nil, nil, 1, 7, 60])
      let low = Int32.random(in: -10...90, using: &random)
      let high = low + random.pick([10, 50, 200])
      let hasCondition = !random.oneIn(4)
      text = """
        \(hasCondition ? "number in \(low)..<\(high)" : "all") \
        by \(orders.map { "\($0.name) \($0.sortingOrder)" }) limit \(limit.map { "\($0)" } ?? "-")
        """
      fetch = { [orders] in
        let limit = limit.map { Limit.limit($0) } ?? .noLimit
        let builder = dflat.fetch(for: Item.self)
        return hasCondition
          ? builder.where(
            Item.number >= low && Item.number < high, limit: limit, orderBy: orders)
          : builder.all(limit: limit, orderBy: orders)
      }
      last = fetch()
      subscription = dflat.subscribe(fetchedResult: last) { [unowned self] result in
        last = result
        count += 1
      }
    }

    private static func order(_ random: inout SeededGenerator) -> OrderBy<Item> {
      let isDescending = random.oneIn(2)
      func by<Value: DflatFriendlyValue>(_ field: Field<Value, Item>) -> OrderBy<Item> {
        isDescending ? field.descending : field.ascending
      }
      return switch Int.random(in: 0..<8, using: &random) {
      case 0, 1: by(Item.number)
      case 2: by(Item.big)
      case 3: by(Item.maybeReal)
      case 4: by(Item.title)
      case 5: by(Item.mood)
      case 6: [3, 50, 7, 50, -1].lastIndex(of: Item.number)
      default: by(Item.serial)
      }
    }
  }

  private static func same(_ left: FetchedResult<Item>, _ right: FetchedResult<Item>) -> Bool {
    left.map(\._rowid) == right.map(\._rowid) && left == right
  }

  @Test(
    "A live result equals a fresh fetch, however many objects change their positions in it",
    arguments: TestEngine.all)
  func equalsFetch(engine: TestEngine) throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 60 : 1) {
        try withTemporaryWorkspace(engine) { workspace in
          try insert(0..<150, workspace, &random)
          // Distinct orders, and many results with the same order.
          let watches = (0..<24).map { _ in Watch(workspace, &random) }
          try workspace.write([Item.self]) { _ in }
          for step in 0..<12 {
            let before = watches.map { ($0.last, $0.count) }
            let share = random.pick([1, 1, 2, 30])
            try change(oneIn: share, workspace, &random)
            if random.oneIn(4) {
              let first = UInt64(1000 + 40 * step)
              try insert(first..<first + 40, workspace, &random)
            }
            for (watch, (last, count)) in zip(watches, before) {
              let fresh = watch.fetch()
              let isRight =
                Self.same(watch.last, fresh) && (Self.same(last, fresh) || watch.count > count)
              if isRight { continue }
              Issue.record(
                "DFLAT_SEED=\(random.seed): step \(step), one in \(share): \(watch.text)")
              return
            }
          }
        }
      }
    }
  }

  private func insert(
    _ serials: Range<UInt64>, _ workspace: TemporaryWorkspace, _ random: inout SeededGenerator
  ) throws {
    let items = serials.map { serial in
      var builder = Kit.ItemBuilder(from: Item(name: "", serial: serial))
      builder.number = Int32.random(in: 0..<100, using: &random)
      builder.title = random.pick([nil, "a", "prefix that is long, a", "prefix that is long, b"])
      return builder.build()
    }
    try workspace.write([Item.self]) { transaction in
      for item in items {
        try transaction.submit(Kit.ItemChangeRequest.creationRequest(item))
      }
    }
  }

  private func change(
    oneIn share: Int, _ workspace: TemporaryWorkspace, _ random: inout SeededGenerator
  ) throws {
    var changes = SeededGenerator(seed: random.next())
    // Each change sets new values, other values with the same sort keys, or nothing.
    try workspace.write([Item.self]) { transaction in
      for item in workspace.dflat.fetch(for: Item.self).all() where changes.oneIn(share) {
        if changes.oneIn(40) {
          if let request = Kit.ItemChangeRequest.deletionRequest(item) {
            try transaction.submit(request)
          }
          continue
        }
        guard let request = Kit.ItemChangeRequest.changeRequest(item) else { continue }
        if !changes.oneIn(8) { request.number = Int32.random(in: 0..<100, using: &changes) }
        if changes.oneIn(2) { request.big = changes.pick([0, 1, .max, .max / 2 + 1]) }
        if changes.oneIn(2) { request.maybeReal = changes.pick([nil, .nan, -0.0, 0, -1.5, 7]) }
        if changes.oneIn(3) {
          request.title = changes.pick([nil, "", "a", "a\0", "prefix that is long, \(share)"])
        }
        if changes.oneIn(3) { request.mood = changes.pick(Kit.Mood.allCases) }
        request.flag = changes.oneIn(2)
        try transaction.submit(request)
      }
    }
  }
}
