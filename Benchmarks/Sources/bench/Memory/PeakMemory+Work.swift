// The work whose memory is measured. What was fetched stays alive until it is measured.

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

  /// Ten thousand more objects behind those of a scaling file.
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

  /// Keeps what a fetch gave while it is measured.
  private final class Kept {
    var docs = FetchedResult<BenchDoc>([])
    var list = FloorList()
  }
}
