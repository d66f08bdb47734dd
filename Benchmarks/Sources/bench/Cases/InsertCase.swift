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
        let nanoseconds = try floorInsert(path, docs)
        defer { fixture.discard(path) }
        return Outcome(nanoseconds: nanoseconds, checksum: try fixture.contents(path))
      }
    )
  }
}

private func floorInsert(_ path: String, _ docs: [FloorDoc]) throws -> UInt64 {
  let database = try FloorDatabase(path: path)
  let insert = try database.prepare("INSERT INTO benchdoc (p, __pk0) VALUES (?, ?)")
  let begin = try database.prepare("BEGIN IMMEDIATE")
  let commit = try database.prepare("COMMIT")
  var encoder = FloorEncoder()
  defer { encoder.free() }
  func store(_ range: Range<Int>) throws {
    try begin.run()
    for index in range {
      insert.bind(1, blob: encoder.encode(docs[index]))
      insert.bind(2, text: docs[index].title)
      try insert.run()
    }
    try commit.run()
    try database.checkpointIfDue()
  }
  try store(1..<2)
  return try time { try store(2..<docs.count) }
}
