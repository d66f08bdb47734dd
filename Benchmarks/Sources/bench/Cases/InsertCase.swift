// insert-10k: new objects in one transaction.
//
// Ours: a request per object, filled field by field from Swift values, submitted. Floor: the object is encoded by hand from
// C values, the blob and the key are bound in place, stepped and reset. Both have stored one object before the clock starts,
// so the file, its table and the statements are there; both end with the commit, and once more with
// the checkpoint that follows.

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
