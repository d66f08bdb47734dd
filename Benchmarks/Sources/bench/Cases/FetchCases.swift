// Fetching: by an unindexed property, all objects, one by one by key.
//
// Each side reads a file of its own, with equal content, through a read-only connection that has
// run the query before. The fetched objects are released after the clock has stopped, on both
// sides.

import Dflat
import SQLiteDflat

extension Case {
  /// The floor reads the property in SQLite's own memory by following the row's offsets, and copies
  /// matching rows.
  static let fetchUnindexed = Case(
    id: "fetch-unindexed", title: "fetch 1,667 of 10,000 by an unindexed property", goal: 1.25,
    upstream: 4.6, grdb: 1.8
  ) { fixture in
    let rounds = 10
    let store = Store(try fixture.template(fixture.few))
    let database = try FloorDatabase(
      path: fixture.twin(of: fixture.template(fixture.few)), readOnly: true)
    let select = try FloorQuery(database, "SELECT rowid, p FROM benchdoc ORDER BY rowid")
    return (
      ours: {
        var sum = Checksum()
        var nanoseconds: UInt64 = 0
        for _ in 0..<rounds {
          var result = FetchedResult<BenchDoc>([])
          nanoseconds += time {
            result = store.workspace.fetch(for: BenchDoc.self).where(
              BenchDoc.priority > Sample.highPriority)
          }
          sum.add(result)
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
              if FloorReader(row: bytes.baseAddress!).priority > Sample.highPriority {
                list.append(FloorRow(id: select.int64(0), bytes))
              }
            }
            select.reset()
          }
          sum.add(list)
        }
        return Outcome(nanoseconds: nanoseconds / UInt64(rounds), checksum: sum)
      }
    )
  }

  /// The floor copies each blob into an allocation of its own and keeps them in a list.
  static let fetchAll = Case(
    id: "fetch-all", title: "fetch all 33,334, untouched", goal: 1.25, upstream: 4.2, grdb: 2.7
  ) { fixture in
    let store = Store(try fixture.template(fixture.many))
    let database = try FloorDatabase(
      path: fixture.twin(of: fixture.template(fixture.many)), readOnly: true)
    let select = try FloorQuery(database, "SELECT rowid, p FROM benchdoc ORDER BY rowid")
    return (
      ours: {
        var result = FetchedResult<BenchDoc>([])
        let nanoseconds = time { result = store.workspace.fetch(for: BenchDoc.self).all() }
        try store.check()
        var sum = Checksum()
        sum.add(result)
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      },
      floor: {
        var list = FloorList()
        let nanoseconds = try time { try select.fetchAll(into: &list) }
        var sum = Checksum()
        sum.add(list)
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      }
    )
  }

  /// Keys in random order. The floor binds, steps, copies the blob into an allocation of its own,
  /// and resets. An object is released when the next one has been fetched.
  static let fetchByKey = Case(
    id: "fetch-by-key", title: "fetch 10,000 one by one by key", goal: 1.0, upstream: 2.2,
    grdb: 4.8
  ) { fixture in
    var samples = fixture.samples(fixture.few)
    var random = Random(seed: 1)
    random.shuffle(&samples)
    let keys = samples.map(\.title)
    let floorKeys = floorDocs(samples).map(\.title)
    let store = Store(try fixture.template(fixture.few))
    let database = try FloorDatabase(
      path: fixture.twin(of: fixture.template(fixture.few)), readOnly: true)
    let select = try FloorQuery(database, "SELECT rowid, p FROM benchdoc WHERE __pk0 = ?")
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
            select.bind(1, text: key)
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

/// A query of the floor that stays prepared for the whole case.
final class FloorQuery {
  private let database: FloorDatabase
  private let statement: FloorStatement

  init(_ database: FloorDatabase, _ sql: String) throws {
    self.database = database
    statement = try database.prepare(sql)
  }

  @inline(__always)
  func bind(_ index: Int32, text: FloorBytes) { statement.bind(index, text: text) }
  @inline(__always)
  func bind(_ index: Int32, _ value: Int64) { statement.bind(index, value) }
  @inline(__always)
  func step() throws -> Bool { try statement.step() }
  @inline(__always)
  func reset() { statement.reset() }
  @inline(__always)
  func int64(_ column: Int32) -> Int64 { statement.int64(column) }
  @inline(__always)
  func double(_ column: Int32) -> Double { statement.double(column) }
  @inline(__always)
  func isNull(_ column: Int32) -> Bool { statement.isNull(column) }
  @inline(__always)
  func blob(_ column: Int32) -> UnsafeRawBufferPointer { statement.blob(column) }
  @inline(__always)
  func text(_ column: Int32) -> FloorBytes { statement.text(column) }

  /// Copies every row of a query that returns row id and blob.
  @inline(__always)
  func fetchAll(into list: inout FloorList) throws {
    try statement.fetchAll(into: &list)
  }
}

extension Checksum {
  /// Row ids and one field: which objects were returned, in which order, with their own bytes.
  mutating func add(_ result: FetchedResult<BenchDoc>) {
    for doc in result {
      add(doc._rowid)
      add(doc.priority)
    }
  }

  mutating func add(_ list: borrowing FloorList) {
    for index in 0..<list.count {
      add(list[index].id)
      add(list[index].reader.priority)
    }
  }
}
