// Reading while others write, and in a snapshot. Both sides are Dflat: the floor is the same fetching without.

import Dflat
import Dispatch
import SQLiteDflat
import Synchronization

extension Case {
  /// The writer updates one object per transaction and begins the next one when the last is committed. With two
  /// processors reader and writer have one each.
  static let fetchUnderWrite = Case(
    id: "fetch-under-write", title: "fetch 10,000 by key while a writer commits; floor: idle",
    goal: 1.3
  ) { fixture in
    let template = try fixture.template(fixture.few)
    let keys = shuffledKeys(fixture)
    func side(isWriting: Bool) -> Side {
      {
        let path = try fixture.copy(of: template)
        let store = Store(path)
        store.warmUp()
        fetch(keys, store)
        let writer = isWriting ? ContinuousWriter(store) : nil
        var outcome: Outcome?
        // A few objects may be fetched between two commits: then it is tried again.
        for _ in 0..<1000 where outcome == nil {
          var sum = Checksum()
          let before = writer?.commitCount
          let nanoseconds = time { sum = fetch(keys, store) }
          if let writer, writer.commitCount == before { continue }
          outcome = Outcome(nanoseconds: nanoseconds, checksum: sum)
        }
        writer?.stop()
        try store.check()
        store.close()
        fixture.discard(path)
        guard let outcome else {
          throw Disagreement(description: "nothing was committed while objects were fetched")
        }
        return outcome
      }
    }
    return (ours: side(isWriting: true), floor: side(isWriting: false))
  }

  static let snapshotTen = Case(
    id: "snapshot-ten", title: "1,000 snapshots of ten fetches by key; floor: without snapshots",
    goal: 1.05
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

@discardableResult
private func fetch(_ keys: [String], _ store: Store) -> Checksum {
  var sum = Checksum()
  fetch(keys[...], store, into: &sum)
  return sum
}

@inline(__always)
private func fetch(_ keys: ArraySlice<String>, _ store: Store, into sum: inout Checksum) {
  for key in keys {
    let found = store.workspace.fetch(for: BenchDoc.self).where(BenchDoc.title == key)
    if let doc = found.first { sum.add(doc._rowid) }
  }
}

/// Commits one change after the other until it is stopped.
private final class ContinuousWriter: Sendable {
  private let store: Store
  private let docs: FetchedResult<BenchDoc>
  private let isStopped = Atomic(false)
  private let commits = Atomic(0)
  private let hasBegun = DispatchSemaphore(value: 0)
  private let hasEnded = DispatchSemaphore(value: 0)

  /// Returns when the first change is committed.
  init(_ store: Store) {
    self.store = store
    docs = store.workspace.fetch(for: BenchDoc.self).all()
    writeNext()
    hasBegun.wait()
  }

  private func writeNext() {
    let number = commits.load(ordering: .relaxed)
    store.update(docs[number % docs.count], number) { [self] in
      if commits.add(1, ordering: .relaxed).oldValue == 0 { hasBegun.signal() }
      if isStopped.load(ordering: .relaxed) { hasEnded.signal() } else { writeNext() }
    }
  }

  var commitCount: Int { commits.load(ordering: .relaxed) }

  /// Waits for the last commit.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    hasEnded.wait()
  }
}
