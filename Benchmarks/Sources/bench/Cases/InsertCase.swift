// insert-10k: new objects in one transaction.
//
// Ours: a request per object, filled field by field from Swift values, submitted. Floor: the object is encoded by hand from
// C values, the blob and the key are bound in place, stepped and reset. Both have stored one object before the clock starts,
// so the file, its table and the statements are there; both end with the commit.

import Dflat

extension Case {
  static let insert = Case(
    id: "insert-10k", title: "insert 10,000, one transaction", goal: 1.25, upstream: 3.1, grdb: 5.1
  ) { fixture in
    let samples = fixture.samples(fixture.few + 2)
    let template = try fixture.template(1)
    let fresh = Array(samples[2...])
    let docs = floorDocs(samples)
    return (
      ours: {
        let path = try fixture.copy(of: template)
        let store = Store(path)
        try store.insert([samples[1]])
        let nanoseconds = time {
          store.write(BenchDoc.self) { transaction in
            for sample in fresh { try transaction.submit(BenchDocChangeRequest.creation(sample)) }
          }
        }
        try store.check()
        store.close()
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(path))
      },
      floor: {
        let path = try fixture.copy(of: template)
        let writer = try FloorWriter(path)
        try writer.transaction { try writer.insert(docs[1]) }
        let nanoseconds = try time {
          try writer.transaction {
            for index in 2..<docs.count { try writer.insert(docs[index]) }
          }
        }
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(path))
      }
    )
  }
}
