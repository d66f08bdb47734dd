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

  /// An observer of an unchanged result was notified.
  private struct Unexpected: Error { let count: Int }

  /// Keeps the result of a fetch while it is measured.
  private final class Kept {
    var docs = FetchedResult<BenchDoc>([])
    var list = FloorList()
    var subscriptions: [any WorkspaceSubscription] = []
  }
}
