// The work whose memory is measured. Fetched objects stay alive until the measurement.

import Dflat
import SQLiteDflat

extension PeakMemory {
  static func work(_ work: Work, _ path: String) throws -> (
    warmUp: () throws -> Void, () throws -> Void
  ) {
    switch work {
    case .fetchAll: return fetchAll(path)
    case .floorFetchAll: return try floorFetchAll(path)
    case .insert: return insert(path)
    case .floorInsert: return try floorInsert(path)
    case .watch: return watch(path)
    case .uniquedOnce: return uniqued(path, times: 1)
    case .uniquedTwice: return uniqued(path, times: 2)
    }
  }

  private static func fetchAll(_ path: String) -> (() throws -> Void, () throws -> Void) {
    let store = Store(path)
    let kept = Kept()
    return (
      {
        // Reads every page and keeps nothing.
        kept.docs = store.workspace.fetch(for: BenchDoc.self).where(BenchDoc.priority > 1_000_000)
        try store.check()
      },
      {
        kept.docs = store.workspace.fetch(for: BenchDoc.self).all()
        try store.check()
      }
    )
  }

  private static func floorFetchAll(_ path: String) throws -> (() throws -> Void, () throws -> Void)
  {
    let select = try FloorQuery(
      try FloorDatabase(path: path, readOnly: true), "SELECT rowid, p FROM benchdoc ORDER BY rowid")
    let kept = Kept()
    return (
      {
        while try select.step() { _ = select.blob(1) }
        select.reset()
      },
      { try select.fetchAll(into: &kept.list) }
    )
  }

  /// Inserts ten thousand more objects after those of a scaling file.
  private static func insert(_ path: String) -> (() throws -> Void, () throws -> Void) {
    let store = Store(path)
    let samples = ScaleSample.make(ScaleSample.firstNew..<ScaleSample.firstNew + 10_001)
    let rest = Array(samples[1...])
    return (
      { try store.insert([samples[0]]) },
      { try store.insert(rest) }
    )
  }

  private static func floorInsert(_ path: String) throws -> (() throws -> Void, () throws -> Void) {
    let writer = try FloorScaleWriter(path)
    let samples = ScaleSample.make(ScaleSample.firstNew..<ScaleSample.firstNew + 10_001)
    let rest = Array(samples[1...])
    return (
      { try writer.insert([samples[0]]) },
      { try writer.insert(rest) }
    )
  }

  /// Observes empty results, a few at a time.
  private static func watch(_ path: String) -> (() throws -> Void, () throws -> Void) {
    let store = Store(path)
    let kept = Kept()
    func watch(_ numbers: Range<Int>) throws {
      for number in numbers {
        let result = store.workspace.fetch(for: BenchDoc.self).where(
          BenchDoc.title == "nobody \(number)")
        kept.subscriptions.append(
          store.workspace.subscribe(fetchedResult: result) {
            store.fail(Unexpected(count: $0.count))
          })
        if number % 100 == 0 { store.write(BenchDoc.self) { _ in } }
      }
      store.write(BenchDoc.self) { _ in }
      try store.check()
    }
    return (
      { try watch(0..<100) },
      { try watch(100..<100 + MemoryCase.watchers) }
    )
  }

  /// Holds each object as a live one, and all that were got, page by page.
  private static func uniqued(
    _ path: String, times: Int
  ) -> (() throws -> Void, () throws -> Void) {
    let store = Store(path)
    let live = store.workspace.uniqued(BenchDoc.self, on: nil)
    let kept = Kept()
    func pages(_ body: ([BenchDoc]) -> Void) throws {
      let query = store.workspace.query(BenchDoc.self)
      var page = try query.page(size: 1_000)
      body(page.objects)
      while let next = page.next {
        page = try query.page(size: 1_000, after: next)
        body(page.objects)
      }
      try store.check()
    }
    return (
      { try pages { _ in } },
      { for _ in 0..<times { try pages { kept.live += live.objects($0) } } }
    )
  }

  /// An observer of an unchanged result was notified.
  private struct Unexpected: Error { let count: Int }

  /// Keeps the result of a fetch while it is measured.
  private final class Kept {
    var docs = FetchedResult<BenchDoc>([])
    var list = FloorList()
    var subscriptions: [any WorkspaceSubscription] = []
    var live: [Live<BenchDoc>] = []
  }
}
