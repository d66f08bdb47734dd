// The work whose growth is measured, on a table of `count` objects. The amount of work is the same
// for each size, except for the unindexed property, which examines all objects, and the relation,
// which fetches all. The floors read copies of the files.

import Dflat
import SQLiteDflat

extension Scaling {
  static let kinds = [
    "scaling-insert", "scaling-key", "scaling-indexed", "scaling-unindexed", "scaling-bulk-update",
    "scaling-count", "scaling-compound", "scaling-fulltext", "scaling-include",
  ]

  /// In the order of `kinds`.
  static func cases(_ count: Int) -> [Case] {
    [
      insert(count), fetchByKey(count), fetchIndexed(count),
      fetchUnindexed(kinds[3]) { _ in count },
      .bulkUpdateIDs(kinds[4], articles: { _ in count }),
      .countIndexed(kinds[5], articles: { _ in count }),
      .compoundIndex(kinds[6], articles: { _ in count }),
      .fullText(kinds[7], pages: { _ in count }),
      .includeRelation(kinds[8], entries: { _ in count }),
    ]
  }

  /// Inserts ten thousand more objects in one transaction, after the existing ones.
  private static func insert(_ count: Int) -> Case {
    Case(id: kinds[0], title: "insert 10,000 more") { fixture in
      let template = try fixture.scaleTemplate(count)
      let first = ScaleSample.firstNew
      let samples = ScaleSample.make(first..<first + Int64(fixture.few) + 1)
      let rest = Array(samples[1...])
      return (
        ours: {
          let path = try fixture.copy(of: template)
          defer { fixture.discard(path) }
          let store = Store(path)
          try store.insert([samples[0]])
          let nanoseconds = try time { try store.insert(rest) }
          store.close()
          return Outcome(nanoseconds: nanoseconds, checksum: try extent(path))
        },
        floor: {
          let path = try fixture.copy(of: template)
          defer { fixture.discard(path) }
          let writer = try FloorScaleWriter(path)
          try writer.insert([samples[0]])
          let nanoseconds = try time { try writer.insert(rest) }
          return Outcome(nanoseconds: nanoseconds, checksum: try extent(path))
        }
      )
    }
  }

  /// Ten thousand objects one by one, all over the table.
  private static func fetchByKey(_ count: Int) -> Case {
    Case(id: kinds[1], title: "fetch 10,000 one by one by key") { fixture in
      let path = try fixture.scaleTemplate(count)
      var random = Random(seed: 2)
      let keys = (0..<fixture.few).map { _ in Int64(random.number(1...count)) }
      let store = Store(path)
      let select = try FloorQuery(
        try FloorDatabase(path: fixture.twin(of: path), readOnly: true),
        "SELECT rowid, p FROM scaledoc WHERE __pk0 = ?")
      return (
        ours: {
          var sum = Checksum()
          let nanoseconds = time {
            for key in keys {
              let found = store.workspace.fetch(for: ScaleDoc.self).where(ScaleDoc.number == key)
              if let doc = found.first { sum.add(doc._rowid) }
            }
          }
          try store.check()
          return Outcome(nanoseconds: nanoseconds, checksum: sum)
        },
        floor: {
          var sum = Checksum()
          let nanoseconds = try time {
            for key in keys {
              select.bind(1, key)
              if try select.step() {
                let row = FloorRow(id: select.int64(0), select.blob(1))
                sum.add(row.id)
                row.free()
              }
              select.reset()
            }
          }
          return Outcome(nanoseconds: nanoseconds, checksum: sum)
        }
      )
    }
  }

  /// A hundred buckets of about a hundred objects each.
  private static func fetchIndexed(_ count: Int) -> Case {
    Case(id: kinds[2], title: "fetch 100 times 100 by an indexed property") { fixture in
      let path = try fixture.scaleTemplate(count)
      var random = Random(seed: 3)
      let last = Int(ScaleSample.buckets(count))
      let buckets = (0..<100).map { _ in Int32(random.number(1...last)) }
      let store = Store(path)
      let select = try FloorQuery(
        try FloorDatabase(path: fixture.twin(of: path), readOnly: true),
        """
        SELECT m.rowid, m.p FROM scaledoc__f6 AS s CROSS JOIN scaledoc AS m ON m.rowid = s.rowid
        WHERE s.f6 = ? ORDER BY s.rowid
        """)
      return (
        ours: {
          var sum = Checksum()
          let nanoseconds = time {
            for bucket in buckets {
              let found = store.workspace.fetch(for: ScaleDoc.self).where(
                ScaleDoc.bucket == bucket)
              for doc in found { sum.add(doc._rowid) }
            }
          }
          try store.check()
          return Outcome(nanoseconds: nanoseconds, checksum: sum)
        },
        floor: {
          var sum = Checksum()
          let nanoseconds = try time {
            for bucket in buckets {
              var list = FloorList()
              select.bind(1, Int64(bucket))
              try select.fetchAll(into: &list)
              for index in 0..<list.count { sum.add(list[index].id) }
            }
          }
          return Outcome(nanoseconds: nanoseconds, checksum: sum)
        }
      )
    }
  }

  /// A sixth of all objects.
  static func fetchUnindexed(
    _ id: String, _ title: String = "fetch every sixth by an unindexed property",
    goal: Double? = nil, _ objects: @escaping @Sendable (Fixture) -> Int
  ) -> Case {
    Case(id: id, title: title, goal: goal) { fixture in
      let count = objects(fixture)
      let path = try fixture.scaleTemplate(count)
      let rounds = max(1, 100_000 / count)
      let store = Store(path)
      let select = try FloorQuery(
        try FloorDatabase(path: fixture.twin(of: path), readOnly: true),
        "SELECT rowid, p FROM scaledoc ORDER BY rowid")
      return (
        ours: {
          var sum = Checksum()
          var nanoseconds: UInt64 = 0
          for _ in 0..<rounds {
            var found = FetchedResult<ScaleDoc>([])
            nanoseconds += time {
              found = store.workspace.fetch(for: ScaleDoc.self).where(
                ScaleDoc.priority > Sample.highPriority)
            }
            for doc in found { sum.add(doc._rowid) }
          }
          try store.check()
          return Outcome(nanoseconds: nanoseconds / UInt64(rounds), checksum: sum)
        },
        floor: {
          var sum = Checksum()
          var nanoseconds: UInt64 = 0
          for _ in 0..<rounds {
            var list = FloorList()
            nanoseconds += try time {
              while try select.step() {
                let bytes = select.blob(1)
                let priority: Int32 = FloorReader(row: bytes.baseAddress!).scalar(8)
                if priority > Sample.highPriority {
                  list.append(FloorRow(id: select.int64(0), bytes))
                }
              }
              select.reset()
            }
            for index in 0..<list.count { sum.add(list[index].id) }
          }
          return Outcome(nanoseconds: nanoseconds / UInt64(rounds), checksum: sum)
        }
      )
    }
  }

  /// The number of rows in the main and the side table, and checksums of their content.
  static func extent(_ path: String) throws -> Checksum {
    let query = try FloorQuery(
      try FloorDatabase(path: path),
      """
      SELECT count(*), sum(rowid), sum(length(p)), (SELECT count(*) FROM scaledoc__f6),
        (SELECT sum(rowid * f6) FROM scaledoc__f6) FROM scaledoc
      """)
    _ = try query.step()
    var sum = Checksum()
    for column in 0..<5 { sum.add(query.int64(Int32(column))) }
    return sum
  }
}
