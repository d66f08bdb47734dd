// Observation: the time from the commit to the last callback for notifying the affected observers.
//
// A transaction updates 10,000 objects. First it inserts an object of another type, which is
// observed, too: types are notified in the order in which they were changed, so that callback comes
// directly after the commit and starts the clock.
//
// The workspaces have a log without a limit, so no checkpoint is included in the time, on either
// side.

import Dflat
import Dispatch
import SQLiteDflat
import Synchronization

/// Records the notifications and their times.
final class Telling: Sendable {
  struct State {
    var began = ContinuousClock.now
    var committed = ContinuousClock.now
    var last = ContinuousClock.now
    var count = 0
    var sum: Int64 = 0
  }

  private let state = Mutex(State())
  private let subscriptions = Mutex<[any WorkspaceSubscription]>([])

  /// Which of its two times counts, as whose instructions are counted.
  enum Part {
    case own, telling
  }

  private let part: Part

  init(_ part: Part = .telling) { self.part = part }

  func begin() {
    if part == .own { Counting.start() }
    state.withLock { $0.began = .now }
  }

  func commit() {
    if part == .own { Counting.stop() }
    state.withLock { $0.committed = .now }
    if part == .telling { Counting.start() }
  }

  func tell(_ sum: Int64) {
    state.withLock { state in
      state.count += 1
      state.sum += sum
      state.last = .now
    }
  }

  /// An observer of a result.
  func tell(_ count: Int, first: Int64?, last: Int64?) {
    tell(Int64(count) &* 1_000_003 &+ (first ?? 0) &* 31 &+ (last ?? 0))
  }

  func keep(_ subscription: any WorkspaceSubscription) {
    subscriptions.withLock { $0.append(subscription) }
  }

  func end() { subscriptions.withLock { $0 = [] } }

  var checksum: Checksum {
    state.withLock { state in
      var sum = Checksum()
      sum.add(state.count)
      sum.add(state.sum)
      return sum
    }
  }

  /// From the commit to the last callback.
  var telling: UInt64 { state.withLock { UInt64(($0.last - $0.committed) / .nanoseconds(1)) } }
  /// From the call to the commit.
  var own: UInt64 { state.withLock { UInt64(($0.committed - $0.began) / .nanoseconds(1)) } }
}

/// One run: sets the objects' priorities to `start` of their numbers, calls `watch` to subscribe,
/// and then runs the transaction, which applies `change` to each priority.
func runWatched(
  _ fixture: Fixture, _ template: String, _ telling: Telling,
  start: @escaping @Sendable (Int32) -> Int32 = { $0 },
  change: @escaping @Sendable (Int32) -> Int32,
  watch: (_ workspace: SQLiteWorkspace, _ docs: FetchedResult<BenchDoc>) -> Void
) throws {
  let path = try fixture.copy(of: template)
  let store = Store(path, walLimit: Store.noCheckpoints)
  let workspace = store.workspace
  setPriorities(store, start)
  watch(workspace, workspace.fetch(for: BenchDoc.self).all())
  telling.keep(
    workspace.subscribe(fetchedResult: workspace.fetch(for: ScaleDoc.self).all()) { _ in
      telling.commit()
    })
  store.write(BenchDoc.self) { _ in }
  let done = DispatchSemaphore(value: 0)
  telling.begin()
  workspace.performChanges([ScaleDoc.self, BenchDoc.self]) { transaction in
    do {
      try transaction.submit(ScaleDocChangeRequest.creationRequest(ScaleDoc(number: 1)))
      for doc in workspace.fetch(for: BenchDoc.self).all() {
        guard let request = BenchDocChangeRequest.changeRequest(doc) else { continue }
        request.priority = change(request.priority)
        try transaction.submit(request)
      }
    } catch { store.fail(error) }
  } completionHandler: { _ in
    done.signal()
  }
  done.wait()
  Counting.stop()
  telling.end()
  try store.check()
  store.close()
  fixture.discard(path)
}

/// Gives each object a priority by its number, which is its position.
func setPriorities(_ store: Store, _ priority: @escaping @Sendable (Int32) -> Int32) {
  store.write(BenchDoc.self) { transaction in
    for (number, doc) in store.workspace.fetch(for: BenchDoc.self).all().enumerated() {
      guard let request = BenchDocChangeRequest.changeRequest(doc) else { continue }
      request.priority = priority(Int32(number))
      try transaction.submit(request)
    }
  }
}

/// Ten thousand updates; the first thousand objects are observed, as results by key or as objects.
private func watchOnes(
  _ fixture: Fixture, _ template: String, asResults: Bool, _ part: Telling.Part = .telling
) throws -> Telling {
  let telling = Telling(part)
  try runWatched(fixture, template, telling, change: { $0 + 1 }) { workspace, docs in
    for doc in docs.prefix(1000) {
      let subscription =
        asResults
        ? workspace.subscribe(
          fetchedResult: workspace.fetch(for: BenchDoc.self).where(BenchDoc.title == doc.title)
        ) { telling.tell(Int64($0[0].priority)) }
        : workspace.subscribe(object: doc) { event in
          if case .updated(let doc) = event { telling.tell(Int64(doc.priority)) }
        }
      telling.keep(subscription)
    }
  }
  return telling
}

extension Case {
  /// The floor looks each changed row up in a hash table, and calls a closure with the ones it
  /// finds.
  static let watchResults = Case(
    id: "watch-results", title: "tell 1,000 results by key of 10,000 updates", goal: 2
  ) { fixture in
    let template = try fixture.template(fixture.few)
    let store = Store(template)
    let docs = Array(store.workspace.fetch(for: BenchDoc.self).all())
    return (
      ours: {
        let telling = try watchOnes(fixture, template, asResults: true)
        return Outcome(nanoseconds: telling.telling, checksum: telling.checksum)
      },
      floor: {
        let telling = Telling()
        var table: [String: @Sendable (Int32) -> Void] = [:]
        for doc in docs.prefix(1000) { table[doc.title] = { telling.tell(Int64($0)) } }
        let nanoseconds = time {
          for (number, doc) in docs.enumerated() { table[doc.title]?(Int32(number + 1)) }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: telling.checksum)
      }
    )
  }

  static let watchObjects = Case(
    id: "watch-objects", title: "tell 1,000 objects of 10,000 updates", goal: 2
  ) { fixture in
    let template = try fixture.template(fixture.few)
    let store = Store(template)
    let docs = Array(store.workspace.fetch(for: BenchDoc.self).all())
    return (
      ours: {
        let telling = try watchOnes(fixture, template, asResults: false)
        return Outcome(nanoseconds: telling.telling, checksum: telling.checksum)
      },
      floor: {
        let telling = Telling()
        var table: [Int64: @Sendable (Int32) -> Void] = [:]
        for doc in docs.prefix(1000) { table[doc._rowid] = { telling.tell(Int64($0)) } }
        let nanoseconds = time {
          for (number, doc) in docs.enumerated() { table[doc._rowid]?(Int32(number + 1)) }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: telling.checksum)
      }
    )
  }

  /// The same, compared with the time of the transaction itself.
  static let watchResultsShare = share(
    "watch-results-share", "1,000 results by key, against the transaction", goal: 0.25,
    asResults: true)
  static let watchObjectsShare = share(
    "watch-objects-share", "1,000 objects, against the transaction", goal: 0.2, asResults: false)

  private static func share(
    _ id: String, _ title: String, goal: Double, asResults: Bool
  ) -> Case {
    Case(id: id, title: title, goal: goal, floor: .without) { fixture in
      let template = try fixture.template(fixture.few)
      return (
        ours: {
          let telling = try watchOnes(fixture, template, asResults: asResults)
          return Outcome(nanoseconds: telling.telling, checksum: telling.checksum)
        },
        floor: {
          let telling = try watchOnes(fixture, template, asResults: asResults, .own)
          return Outcome(nanoseconds: telling.own, checksum: telling.checksum)
        }
      )
    }
  }

  /// A thousand results of about a thousand objects each, all of which differ after the
  /// transaction. The floor fetches all results again.
  static let watchRanges = ranges(
    "watch-ranges", "tell 1,000 results of 1,000, all members changed", upstream: 4.4, grdb: 0.7
  ) { count in
    (start: { $0 }, change: { ($0 + count / 2) % count })
  }

  /// The same, ordered by the field that is changed. The order is shuffled before, and again by the
  /// transaction: the factors are primes that do not divide the number of objects, and no object
  /// keeps its priority.
  static let watchRangesOrdered = ranges(
    "watch-ranges-ordered", "the same, in the order of the changed field", isOrdered: true
  ) { count in
    (start: { $0 * 7919 % count }, change: { ($0 * 4561 + 1) % count })
  }

  private static func ranges(
    _ id: String, _ title: String, isOrdered: Bool = false, upstream: Double? = nil,
    grdb: Double? = nil,
    priorities:
      @escaping @Sendable (_ count: Int32) -> (
        start: @Sendable (Int32) -> Int32, change: @Sendable (Int32) -> Int32
      )
  ) -> Case {
    Case(id: id, title: title, goal: 0.12, upstream: upstream, grdb: grdb, floor: .without) {
      fixture in
      let template = try fixture.template(fixture.few)
      let count = Int32(fixture.few)
      let (start, change) = priorities(count)
      let width = max(1, count / 10)
      let lows = (0..<Int32(1000)).map { $0 * (count - width) / 1000 }
      let path = try fixture.copy(of: template)
      let store = Store(path)
      setPriorities(store) { change(start($0)) }
      try store.check()
      // Closed, so that its locks do not help the floor.
      store.close()
      let database = try FloorDatabase(path: path, readOnly: true)
      let select = try FloorQuery(database, "SELECT rowid, p FROM benchdoc ORDER BY rowid")
      return (
        ours: {
          let telling = Telling()
          try runWatched(fixture, template, telling, start: start, change: change) { workspace, _ in
            for low in lows {
              let result = workspace.fetch(for: BenchDoc.self).where(
                BenchDoc.priority >= low && BenchDoc.priority < low + width,
                orderBy: isOrdered ? [BenchDoc.priority.ascending] : [])
              telling.keep(
                workspace.subscribe(fetchedResult: result) { result in
                  telling.tell(
                    result.count, first: result.first?._rowid, last: result.last?._rowid)
                })
            }
          }
          return Outcome(nanoseconds: telling.telling, checksum: telling.checksum)
        },
        floor: {
          let telling = Telling()
          let nanoseconds = try time {
            for low in lows {
              var list = FloorList()
              while try select.step() {
                let bytes = select.blob(1)
                let priority = FloorReader(row: bytes.baseAddress!).priority
                if priority >= low, priority < low + width {
                  list.append(FloorRow(id: select.int64(0), bytes))
                }
              }
              select.reset()
              if isOrdered { list.sortByPriority() }
              let isEmpty = list.count == 0
              telling.tell(
                list.count, first: isEmpty ? nil : list[0].id,
                last: isEmpty ? nil : list[list.count - 1].id)
            }
          }
          return Outcome(nanoseconds: nanoseconds, checksum: telling.checksum)
        }
      )
    }
  }

  /// Transactions of one change, each started by the completion handler of the previous one: a
  /// thread that waits for another is woken on the same processor or on the other one, by chance,
  /// and the second takes more time than the work measured here.
  private static func increment(_ docs: [BenchDoc], _ count: Int, in store: Store) {
    let done = DispatchSemaphore(value: 0)
    @Sendable func next(_ number: Int) {
      if number == count {
        done.signal()
        return
      }
      store.workspace.performChanges([BenchDoc.self]) { transaction in
        guard let request = BenchDocChangeRequest.changeRequest(docs[number % docs.count]) else {
          return
        }
        request.priority += 1
        do { try transaction.submit(request) } catch { store.fail(error) }
      } completionHandler: { _ in
        next(number + 1)
      }
    }
    next(0)
    done.wait()
  }

  /// Transactions of one change, with ten thousand unaffected subscriptions, and with none.
  static let watchBystanders = Case(
    id: "watch-bystanders", title: "1,000 transactions, 10,000 bystanders", goal: 1.05,
    floor: .without
  ) { fixture in
    func side(_ watchers: Int) throws -> Outcome {
      let path = fixture.path("bystanders.db")
      let store = Store(path, walLimit: Store.noCheckpoints)
      let workspace = store.workspace
      let telling = Telling()
      // Subscribed before objects exist: 5,000 of the results would otherwise examine each of them.
      for number in 0..<watchers {
        let builder = workspace.fetch(for: BenchDoc.self)
        let low = Int32(1_000_000 + number)
        let result =
          number % 2 == 0
          ? builder.where(BenchDoc.title == "nobody \(number)")
          : builder.where(
            BenchDoc.title == "nobody" && BenchDoc.priority > low || BenchDoc.priority == low)
        telling.keep(workspace.subscribe(fetchedResult: result) { _ in telling.tell(1) })
      }
      try store.insert(fixture.samples(fixture.few))
      let docs = workspace.fetch(for: BenchDoc.self).all()
      let nanoseconds = time { increment(Array(docs), 1000, in: store) }
      telling.end()
      try store.check()
      store.close()
      fixture.discard(path)
      return Outcome(nanoseconds: nanoseconds, checksum: telling.checksum)
    }
    return (ours: { try side(10_000) }, floor: { try side(0) })
  }
}
