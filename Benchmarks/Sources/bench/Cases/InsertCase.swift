// insert-10k: new objects in one transaction.
//
// Dflat's side: one request per object, filled field by field from Swift values, and submitted.
// Floor: the object is encoded directly from C values; blob and key are bound in place, stepped and
// reset. Both have stored one object before the clock starts, so the file, its table and the
// statements exist. There are two times: until the commit, and until the end of the checkpoint
// after it.

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
        let store = Store(path, walLimit: fixture.walLimit)
        try store.insert([samples[1]])
        let (nanoseconds, settled) = try timeToCommitAndSettle {
          store.write(BenchDoc.self) { transaction in
            for sample in fresh { try transaction.submit(BenchDocChangeRequest.creation(sample)) }
          }
        } settle: {
          try store.awaitCheckpoint()
        }
        try store.check()
        store.close()
        defer { fixture.discard(path) }
        return Outcome(
          nanoseconds: nanoseconds, settledNanoseconds: settled,
          checksum: try fixture.contents(path))
      },
      floor: {
        let path = try fixture.copy(of: template)
        let writer = try FloorWriter(path, walLimit: fixture.walLimit)
        try writer.transaction { try writer.insert(docs[1]) }
        let (nanoseconds, settled) = try timeToCommitAndSettle {
          try writer.transaction {
            for index in 2..<docs.count { try writer.insert(docs[index]) }
          }
        } settle: {
          try writer.database.settle()
        }
        defer { fixture.discard(path) }
        return Outcome(
          nanoseconds: nanoseconds, settledNanoseconds: settled,
          checksum: try fixture.contents(path))
      }
    )
  }
}
