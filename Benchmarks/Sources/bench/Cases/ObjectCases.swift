// Objects without storage: comparing, reading fields, encoding, decoding.
//
// Each run processes 10,000 objects several times. The floor's rows have the same bytes, in the
// form of FloorRow.

import Dflat
import SQLiteDflat

private let rounds = 10

extension Case {
  /// Compares each object with its equal, fetched separately, and with its neighbour. The floor
  /// compares the bytes, and if they differ the fields one by one, in place.
  static let equality = Case(
    id: "equality", title: "compare 10,000 with equals and with others", goal: 2
  ) { fixture in
    let rows = try ObjectRows(fixture)
    let others = try ObjectRows(fixture)
    return (
      ours: {
        let left = rows.docs
        let right = others.docs
        var equal = 0
        let nanoseconds = time {
          for _ in 0..<rounds {
            for index in 1..<left.count {
              if left[index] == right[index] { equal += 1 }
              if left[index] == right[index - 1] { equal += 1 }
            }
          }
        }
        return Outcome(nanoseconds: nanoseconds / UInt64(rounds), checksum: Checksum(of: equal))
      },
      floor: {
        var equal = 0
        let nanoseconds = time {
          for _ in 0..<rounds {
            for index in 1..<rows.list.count {
              if rows.list[index].hasSameContent(as: others.list[index]) { equal += 1 }
              if rows.list[index].hasSameContent(as: others.list[index - 1]) { equal += 1 }
            }
          }
        }
        return Outcome(nanoseconds: nanoseconds / UInt64(rounds), checksum: Checksum(of: equal))
      }
    )
  }

  /// Reads the fields that need no allocation, and the title as a Swift string.
  static let fieldAccess = Case(
    id: "field-access", title: "read four fields of 10,000"
  ) { fixture in
    let rows = try ObjectRows(fixture)
    return (
      ours: {
        var sum = Checksum()
        let docs = rows.docs
        let nanoseconds = time {
          for _ in 0..<rounds {
            for doc in docs {
              sum.add(doc.priority)
              sum.add(doc.color.rawValue)
              sum.add(doc.pos)
              sum.add(doc.title)
            }
          }
        }
        return Outcome(nanoseconds: nanoseconds / UInt64(rounds), checksum: sum)
      },
      floor: {
        var sum = Checksum()
        let nanoseconds = time {
          for _ in 0..<rounds {
            for index in 0..<rows.list.count {
              let reader = rows.list[index].reader
              sum.add(reader.priority)
              sum.add((Color(rawValue: reader.color) ?? .red).rawValue)
              sum.add(reader.pos.map { Vec3(x: $0.0, y: $0.1, z: $0.2) })
              sum.add(reader.title.string ?? "")
            }
          }
        }
        return Outcome(nanoseconds: nanoseconds / UInt64(rounds), checksum: sum)
      }
    )
  }

  /// Encodes Swift values as an object; the floor encodes C values as a row in an allocation of its
  /// own.
  static let encode = Case(
    id: "encode", title: "encode 10,000", goal: 1.6
  ) { fixture in
    let samples = fixture.samples(fixture.few)
    let docs = floorDocs(samples)
    return (
      ours: {
        var sum = Checksum()
        let nanoseconds = time {
          for _ in 0..<rounds {
            // By index: an iterator would copy the samples, which the floor's loop avoids without
            // reference counting.
            for index in samples.indices {
              let doc = BenchDoc(
                title: samples[index].title, pos: samples[index].pos, color: samples[index].color,
                content: samples[index].content, tag: samples[index].tag,
                priority: samples[index].priority)
              sum.add(doc.priority)
            }
          }
        }
        return Outcome(nanoseconds: nanoseconds / UInt64(rounds), checksum: sum)
      },
      floor: {
        var sum = Checksum()
        var encoder = FloorEncoder()
        defer { encoder.free() }
        let nanoseconds = time {
          for _ in 0..<rounds {
            for doc in docs {
              let row = FloorRow(id: -1, encoder.encode(doc))
              sum.add(row.reader.priority)
              row.free()
            }
          }
        }
        return Outcome(nanoseconds: nanoseconds / UInt64(rounds), checksum: sum)
      }
    )
  }

  /// Decodes an object to a struct of Swift values.
  static let decode = Case(
    id: "decode", title: "decode 10,000 into Swift values"
  ) { fixture in
    let rows = try ObjectRows(fixture)
    return (
      ours: {
        var sum = Checksum()
        let docs = rows.docs
        let nanoseconds = time {
          for _ in 0..<rounds {
            for doc in docs {
              let values = BenchDocBuilder(from: doc)
              sum.add(values.pos)
              sum.add(values.color.rawValue)
              sum.add(values.title)
              sum.add(values.content)
              sum.add(values.tag)
              sum.add(values.priority)
            }
          }
        }
        return Outcome(nanoseconds: nanoseconds / UInt64(rounds), checksum: sum)
      },
      floor: {
        var sum = Checksum()
        let nanoseconds = time {
          for _ in 0..<rounds {
            for index in 0..<rows.list.count {
              sum.add(FloorRecord(rows.list[index].reader))
            }
          }
        }
        return Outcome(nanoseconds: nanoseconds / UInt64(rounds), checksum: sum)
      }
    )
  }
}

/// The objects of a file, on both sides.
private final class ObjectRows {
  let docs: FetchedResult<BenchDoc>
  let list: FloorList

  init(_ fixture: Fixture) throws {
    let path = try fixture.template(fixture.few)
    let store = Store(path)
    docs = store.workspace.fetch(for: BenchDoc.self).all()
    try store.check()
    store.close()
    let database = try FloorDatabase(path: path, readOnly: true)
    var rows = FloorList()
    try database.prepare("SELECT rowid, p FROM benchdoc ORDER BY rowid").fetchAll(into: &rows)
    list = rows
  }
}

extension Checksum {
  fileprivate init(of count: Int) {
    self.init()
    add(count)
  }
}
