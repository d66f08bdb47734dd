// Fetching by key in a snapshot. Both sides are Dflat: the floor is the same without a snapshot.

import Dflat
import SQLiteDflat

extension Case {
  static let snapshotTen = Case(
    id: "snapshot-ten", title: "1,000 snapshots of ten fetches by key; floor: without snapshots",
    goal: 1.05, floor: .without
  ) { fixture in
    let keys = shuffledKeys(fixture)
    let tens = stride(from: 0, to: keys.count, by: 10).map { keys[$0..<min($0 + 10, keys.count)] }
    let store = Store(try fixture.template(fixture.few))
    return (
      ours: {
        var sum = Checksum()
        let nanoseconds = time {
          for ten in tens {
            store.workspace.fetchWithinASnapshot { fetch(ten, store, into: &sum) }
          }
        }
        try store.check()
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      },
      floor: {
        var sum = Checksum()
        let nanoseconds = time {
          for ten in tens { fetch(ten, store, into: &sum) }
        }
        try store.check()
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      }
    )
  }

  private static func shuffledKeys(_ fixture: Fixture) -> [String] {
    var keys = fixture.samples(fixture.few).map(\.title)
    var random = Random(seed: 4)
    random.shuffle(&keys)
    return keys
  }
}

@inline(__always)
private func fetch(_ keys: ArraySlice<String>, _ store: Store, into sum: inout Checksum) {
  for key in keys {
    let found = store.workspace.fetch(for: BenchDoc.self).where(BenchDoc.title == key)
    if let doc = found.first { sum.add(doc._rowid) }
  }
}
