// The cost of a changed schema: opening after an upgrade, querying by a missing index, building the
// index.
//
// The floor of a build is a loop in C that reads the field and inserts it, in transactions with the
// same number of rows. The floor of opening is Dflat with the schema that created the file.

import Dflat
import Dispatch
import SQLiteDflat

extension Fixture {
  /// The number of objects in the file to open: a million in full runs.
  fileprivate var upgraded: Int { few * 100 }
  /// The number of objects for which an index is built.
  fileprivate var unindexed: Int { few * 10 }

  /// A file without its side table. Must not be written.
  fileprivate func withoutIndex() throws -> String {
    let path = try copy(of: scaleTemplate(unindexed))
    let database = try FloorDatabase(path: path)
    try database.execute("DROP TABLE scaledoc__f6; PRAGMA wal_checkpoint(TRUNCATE)")
    return path
  }
}

/// Opens a file and fetches its first object, many times.
/// - Returns: The median of the times.
private func openings<Element: Atom>(
  _ path: String, _ type: Element.Type, _ key: (Element) -> Int64
) throws -> Outcome {
  var times: [Double] = []
  var sum = Checksum()
  for _ in 0..<20 {
    var store: Store?
    let nanoseconds = time {
      let opened = Store(path)
      store = opened
      if let first = opened.workspace.fetch(for: type).all(limit: .limit(1)).first {
        sum.add(key(first))
      }
    }
    times.append(Double(nanoseconds))
    try store?.check()
    store?.close()
  }
  return Outcome(nanoseconds: UInt64(median(times)), checksum: sum)
}

extension Case {
  /// The floor is the same with the schema that created the file.
  static let openAfterUpgrade = Case(
    id: "open-after-upgrade",
    title: "open 1,000,000 objects after an upgrade, to the first fetched one", allowance: 5_000
  ) { fixture in
    let path = try fixture.scaleTemplate(fixture.upgraded)
    return (
      ours: { try openings(path, Scaledoc.self) { $0.number } },
      floor: { try openings(path, ScaleDoc.self) { $0.number } }
    )
  }

  /// Until every object is indexed, in steps of 500 rows.
  static let indexBuild = Case(
    id: "index-build", title: "build an index of 100,000 objects", goal: 1.4
  ) { fixture in
    let template = try fixture.withoutIndex()
    return (
      ours: {
        let path = try fixture.copy(of: template)
        let store = Store(path)
        store.write(BenchDoc.self) { _ in }
        let done = DispatchSemaphore(value: 0)
        let nanoseconds = time {
          Task.detached {
            do { try await store.workspace.indexesReady(for: ScaleDoc.self) } catch {
              store.fail(error)
            }
            done.signal()
          }
          done.wait()
        }
        try store.check()
        store.close()
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: nanoseconds, checksum: try Scaling.extent(path))
      },
      floor: {
        let path = try fixture.copy(of: template)
        let nanoseconds = try buildIndex(path)
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: nanoseconds, checksum: try Scaling.extent(path))
      }
    )
  }

  private static func buildIndex(_ path: String) throws -> UInt64 {
    let database = try FloorDatabase(path: path)
    let begin = try database.prepare("BEGIN IMMEDIATE")
    let commit = try database.prepare("COMMIT")
    let select = try database.prepare(
      "SELECT rowid, p FROM scaledoc WHERE rowid > ? ORDER BY rowid LIMIT 500")
    return try time {
      try database.execute(
        """
        BEGIN IMMEDIATE;
        CREATE TABLE scaledoc__f6 (rowid INTEGER PRIMARY KEY, f6 INTEGER);
        CREATE INDEX index__scaledoc__f6 ON scaledoc__f6 (f6);
        COMMIT
        """)
      let insert = try database.prepare("INSERT INTO scaledoc__f6 (rowid, f6) VALUES (?, ?)")
      var last: Int64 = 0
      var count = 500
      while count == 500 {
        try database.checkpointIfDue()
        try begin.run()
        count = 0
        select.bind(1, last)
        while try select.step() {
          last = select.int64(0)
          let bucket: Int32 = FloorReader(row: select.blob(1).baseAddress!).scalar(6)
          insert.bind(1, last)
          insert.bind(2, Int64(bucket))
          try insert.run()
          count += 1
        }
        select.reset()
        try commit.run()
      }
    }
  }

  /// Both sides examine all rows; Dflat's query also starts the build.
  static let indexFirstQuery = Case(
    id: "index-first-query", title: "first query by an index that is not built, 100,000 objects"
  ) { fixture in
    let template = try fixture.withoutIndex()
    let select = try FloorDatabase(path: template, readOnly: true)
    let scan = try FloorQuery(select, "SELECT rowid, p FROM scaledoc ORDER BY rowid")
    return (
      ours: {
        let path = try fixture.copy(of: template)
        let store = Store(path)
        // Everything is open and cached; only the condition differs.
        _ = store.workspace.fetch(for: ScaleDoc.self).where(ScaleDoc.priority == 0)
        var sum = Checksum()
        let nanoseconds = time {
          for doc in store.workspace.fetch(for: ScaleDoc.self).where(ScaleDoc.bucket == 7) {
            sum.add(doc._rowid)
          }
        }
        try store.check()
        // The build stops between two steps.
        store.close()
        fixture.discard(path)
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      },
      floor: {
        func look() throws -> FloorList {
          var list = FloorList()
          while try scan.step() {
            let bytes = scan.blob(1)
            let bucket: Int32 = FloorReader(row: bytes.baseAddress!).scalar(6)
            if bucket == 7 { list.append(FloorRow(id: scan.int64(0), bytes)) }
          }
          scan.reset()
          return list
        }
        _ = try look()
        var sum = Checksum()
        let nanoseconds = try time {
          let list = try look()
          for index in 0..<list.count { sum.add(list[index].id) }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      }
    )
  }
}
