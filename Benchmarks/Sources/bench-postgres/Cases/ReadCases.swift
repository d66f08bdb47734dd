// Cases that read, in one process. Both sides read the same table, through connections that have
// run the query before.

import Dflat
import PostgresDflat

extension Case {
  /// Keys in random order. The floor copies each row into an allocation of its own.
  static let fetchByKey = Case(
    id: "pg-fetch-by-key", title: "fetch 10,000 one by one by key", goal: 1.15
  ) { fixture in
    let schema = try fixture.filled(fixture.few)
    var samples = fixture.samples(fixture.few)
    var random = Random(seed: 1)
    random.shuffle(&samples)
    let keys = samples.map(\.title)
    let floorKeys = floorDocs(samples).map(\.title)
    let store = Store(fixture.url, schema)
    let connection = try FloorConnection(fixture.url, .reading)
    let select = try FloorStatement(
      connection, "SELECT rowid, p FROM \"\(schema)\".benchdoc WHERE pk0 = $1",
      [FloorStatement.bytes])
    return (
      ours: {
        var sum = Checksum()
        let nanoseconds = time {
          for key in keys {
            let found = store.workspace.fetch(for: BenchDoc.self).where(BenchDoc.title == key)
            if let doc = found.first { sum.add(doc._rowid) }
          }
        }
        try store.check()
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      },
      floor: {
        var sum = Checksum()
        let nanoseconds = try time {
          for key in floorKeys {
            select.bind(0, key.buffer)
            try select.run { rows in
              if rows.count > 0 {
                let row = FloorRow(id: rows.int64(0, 0), rows.bytes(0, 1))
                sum.add(row.id)
                row.free()
              }
            }
          }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      }
    )
  }

  static let fetchAll = Case(
    id: "pg-fetch-all", title: "fetch all 33,334", goal: 1.2
  ) { fixture in
    let schema = try fixture.filled(fixture.many)
    let store = Store(fixture.url, schema)
    let connection = try FloorConnection(fixture.url, .reading)
    let select = try FloorStatement(
      connection, "SELECT rowid, p FROM \"\(schema)\".benchdoc ORDER BY rowid", [])
    return (
      ours: {
        var result = FetchedResult<BenchDoc>([])
        let nanoseconds = time { result = store.workspace.fetch(for: BenchDoc.self).all() }
        try store.check()
        var sum = Checksum()
        for doc in result {
          sum.add(doc._rowid)
          sum.add(doc.priority)
        }
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      },
      floor: {
        var list = FloorList()
        let nanoseconds = try time {
          try select.run { rows in
            for row in 0..<rows.count {
              list.append(FloorRow(id: rows.int64(row, 0), rows.bytes(row, 1)))
            }
          }
        }
        var sum = Checksum()
        for index in 0..<list.count {
          sum.add(list[index].id)
          sum.add(list[index].reader.priority)
        }
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      }
    )
  }
}
