// An in-memory workspace compared with one over an SQLite file: the same program with two engines.

import Dflat
import MemoryDflat
import SQLiteDflat

extension Case {
  static let memoryInsert = Case(
    id: "memory-insert", title: "in memory: insert 10,000, one transaction", goal: 0.3,
    floor: .sqliteEngine
  ) { fixture in
    let samples = fixture.samples(fixture.few)
    return (
      ours: { try insert(samples, into: MemoryWorkspace()) },
      floor: {
        let path = fixture.path("memory-insert")
        let workspace = SQLiteWorkspace(filePath: path)
        defer {
          workspace.shutdown()
          fixture.discard(path)
        }
        return try insert(samples, into: workspace)
      }
    )
  }

  static let memoryFetchByKey = Case(
    id: "memory-fetch-by-key", title: "in memory: fetch 10,000 one by one by key", goal: 0.2,
    floor: .sqliteEngine
  ) { fixture in
    var samples = fixture.samples(fixture.few)
    let (memory, store) = try filled(fixture, samples)
    var random = Random(seed: 1)
    random.shuffle(&samples)
    let keys = samples.map(\.title)
    return (
      ours: { fetch(keys, from: memory) }, floor: { fetch(keys, from: store.workspace) }
    )
  }

  static let memoryFetchUnindexed = Case(
    id: "memory-fetch-unindexed", title: "in memory: fetch 1,667 of 10,000, unindexed", goal: 0.8,
    floor: .sqliteEngine
  ) { fixture in
    let (memory, store) = try filled(fixture, fixture.samples(fixture.few))
    return (
      ours: { fetchUnindexed(from: memory) }, floor: { fetchUnindexed(from: store.workspace) }
    )
  }

  /// Opening a snapshot and reading one object in it, in a workspace of 10,000.
  static let memorySnapshot = Case(
    id: "memory-snapshot", title: "in memory: 1,000 snapshots of 10,000, one object each",
    floor: .sqliteEngine
  ) { fixture in
    let samples = fixture.samples(fixture.few)
    let (memory, store) = try filled(fixture, samples)
    let keys = samples.prefix(1000).map(\.title)
    return (
      ours: { readSnapshots(of: memory, keys) }, floor: { readSnapshots(of: store.workspace, keys) }
    )
  }

  // MARK: The program

  private static func filled(
    _ fixture: Fixture, _ samples: [Sample]
  ) throws -> (MemoryWorkspace, Store) {
    let memory = MemoryWorkspace()
    _ = try insert(samples, into: memory)
    return (memory, Store(try fixture.template(fixture.few)))
  }

  private static func insert(
    _ samples: [Sample], into workspace: some Workspace
  ) throws -> Outcome {
    let (first, rest) = (samples[0], samples.dropFirst())
    try workspace.write(BenchDoc.self) { try $0.submit(BenchDocChangeRequest.creation(first)) }
    let nanoseconds = try time {
      try workspace.write(BenchDoc.self) { transaction in
        for sample in rest { try transaction.submit(BenchDocChangeRequest.creation(sample)) }
      }
    }
    var sum = Checksum()
    sum.add(workspace.fetch(for: BenchDoc.self).all())
    return Outcome(nanoseconds: nanoseconds, checksum: sum)
  }

  private static func fetch(_ keys: [String], from workspace: some Workspace) -> Outcome {
    var sum = Checksum()
    let nanoseconds = time {
      for key in keys {
        let found = workspace.fetch(for: BenchDoc.self).where(BenchDoc.title == key)
        if let doc = found.first { sum.add(doc._rowid) }
      }
    }
    return Outcome(nanoseconds: nanoseconds, checksum: sum)
  }

  private static func fetchUnindexed(from workspace: some Workspace) -> Outcome {
    var result = FetchedResult<BenchDoc>([])
    let nanoseconds = time {
      result = workspace.fetch(for: BenchDoc.self).where(BenchDoc.priority > Sample.highPriority)
    }
    var sum = Checksum()
    sum.add(result)
    return Outcome(nanoseconds: nanoseconds, checksum: sum)
  }

  private static func readSnapshots(of workspace: some Workspace, _ keys: [String]) -> Outcome {
    var sum = Checksum()
    let nanoseconds = time {
      for key in keys {
        workspace.fetchWithinASnapshot {
          let found = workspace.fetch(for: BenchDoc.self).where(BenchDoc.title == key)
          if let doc = found.first { sum.add(doc._rowid) }
        }
      }
    }
    return Outcome(nanoseconds: nanoseconds, checksum: sum)
  }
}
