// Live values: the time from the commit to the last callback of a thousand subscribed counts.

import Dflat
import SQLiteDflat

extension Case {
  /// Counts of ranges of about a thousand objects. The transaction halves all priorities, so the
  /// counts change. The floor counts all ranges again, by a scan each, since the field has no
  /// index, and tells of the counts that differ.
  static let liveCount = Case(
    id: "live-count", title: "tell 1,000 counts by range of 10,000 updates", goal: 0.05,
    floor: .without
  ) { fixture in
    let template = try fixture.template(fixture.few)
    let count = Int32(fixture.few)
    let width = max(1, count / 10)
    let lows = (0..<Int32(1000)).map { $0 * (count - width) / 1000 }
    let path = try fixture.copy(of: template)
    let store = Store(path)
    setPriorities(store) { $0 / 2 }
    try store.check()
    // Closed, so that its locks do not help the floor.
    store.close()
    let select = try FloorQuery(
      try FloorDatabase(path: path, readOnly: true), "SELECT p FROM benchdoc ORDER BY rowid")
    return (
      ours: {
        let telling = Telling()
        try runWatched(fixture, template, telling, change: { $0 / 2 }) { workspace, _ in
          for low in lows {
            let query = workspace.query(BenchDoc.self).where(
              BenchDoc.priority >= low && BenchDoc.priority < low + width)
            telling.keep(workspace.subscribe(query.computing(.count)) { telling.tell(Int64($0)) })
          }
        }
        return Outcome(nanoseconds: telling.telling, checksum: telling.checksum)
      },
      floor: {
        let telling = Telling()
        // The first values, which Dflat has told before.
        for _ in lows { telling.tell(Int64(width)) }
        let nanoseconds = try time {
          for low in lows {
            var number: Int64 = 0
            while try select.step() {
              let priority = FloorReader(row: select.blob(0).baseAddress!).priority
              if priority >= low, priority < low + width { number += 1 }
            }
            select.reset()
            if number != Int64(width) { telling.tell(number) }
          }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: telling.checksum)
      }
    )
  }
}
