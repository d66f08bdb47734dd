// fetch-all-read: fetches all objects and reads every field.
//
// Dflat's side: fetch all, then call each getter of each object, including its content and strings.
// Floor: the same without FlatBuffers. The same data is in a plain table with a column for each
// field (`pos` as three REALs, `content` as its tag, a TEXT and a BLOB of length-prefixed strings
// for the images). Each row is decoded into a Swift struct that is kept in an array, and then every
// field of every struct is read. Both sides create the same Swift strings and arrays and add them
// to the same checksum.

import Dflat
import SQLiteDflat

extension Case {
  static let fetchAllRead = Case(
    id: "fetch-all-read", title: "fetch all 33,334, every field read", goal: 1.1, upstream: 2.0,
    grdb: 1.3
  ) { fixture in
    let store = Store(try fixture.template(fixture.many))
    let path = fixture.path("columns.db")
    try makeColumns(path, floorDocs(fixture.samples(fixture.many)))
    let select = try FloorQuery(
      try FloorDatabase(path: path, readOnly: true),
      "SELECT x, y, z, color, title, kind, text, images, tag, priority FROM docs ORDER BY id")
    return (
      ours: {
        var sum = Checksum()
        var result = FetchedResult<BenchDoc>([])
        let nanoseconds = time {
          result = store.workspace.fetch(for: BenchDoc.self).all()
          for doc in result {
            sum.add(doc.pos)
            sum.add(doc.color.rawValue)
            sum.add(doc.title)
            sum.add(doc.content)
            sum.add(doc.tag)
            sum.add(doc.priority)
          }
        }
        withExtendedLifetime(result) {}
        try store.check()
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      },
      floor: {
        var sum = Checksum()
        var records: [FloorRecord] = []
        let nanoseconds = try time {
          while try select.step() { records.append(FloorRecord(columns: select)) }
          select.reset()
          for record in records { sum.add(record) }
        }
        withExtendedLifetime(records) {}
        return Outcome(nanoseconds: nanoseconds, checksum: sum)
      }
    )
  }
}

extension FloorRecord {
  @inline(__always)
  fileprivate init(columns row: FloorQuery) {
    pos =
      row.isNull(0)
      ? nil : Vec3(x: Float(row.double(0)), y: Float(row.double(1)), z: Float(row.double(2)))
    color = Color(rawValue: Int8(truncatingIfNeeded: row.int64(3))) ?? .red
    title = row.text(4).string ?? ""
    switch row.int64(5) {
    case 1: content = .textContent(TextContent(text: row.text(6).string))
    case 2:
      let blob = row.blob(7)
      var images: [String] = []
      images.reserveCapacity(Int(blob.loadUnaligned(as: UInt32.self)))
      var place = 4
      while place < blob.count {
        let count = Int(blob.loadUnaligned(fromByteOffset: place, as: UInt32.self))
        images.append(
          String(
            decoding: UnsafeRawBufferPointer(rebasing: blob[place + 4..<place + 4 + count]),
            as: UTF8.self))
        place += 4 + count
      }
      content = .imageContent(ImageContent(images: images))
    default: content = nil
    }
    tag = row.text(8).string
    priority = Int32(truncatingIfNeeded: row.int64(9))
  }
}

/// The floor's own table, with a column for each field.
private func makeColumns(_ path: String, _ docs: [FloorDoc]) throws {
  let database = try FloorDatabase(path: path, creates: true)
  try database.execute(
    """
    CREATE TABLE docs (id INTEGER PRIMARY KEY AUTOINCREMENT, x REAL, y REAL, z REAL, color INTEGER,
      title TEXT UNIQUE, kind INTEGER, text TEXT, images BLOB, tag TEXT, priority INTEGER)
    """)
  let insert = try database.prepare(
    """
    INSERT INTO docs (x, y, z, color, title, kind, text, images, tag, priority)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """)
  try database.execute("BEGIN")
  for doc in docs {
    insert.clear()
    if doc.hasPos {
      insert.bind(1, double: Double(doc.x))
      insert.bind(2, double: Double(doc.y))
      insert.bind(3, double: Double(doc.z))
    }
    insert.bind(4, Int64(doc.color))
    insert.bind(5, text: doc.title)
    insert.bind(6, Int64(doc.kind))
    insert.bind(7, text: doc.text)
    var images: [UInt8] = []
    func append(_ count: Int) {
      withUnsafeBytes(of: UInt32(count)) { images.append(contentsOf: $0) }
    }
    if doc.kind == 2 {
      append(doc.imageCount)
      for index in 0..<doc.imageCount {
        append(doc.images![index].count)
        images.append(contentsOf: doc.images![index].buffer)
      }
    }
    insert.bind(9, text: doc.tag)
    insert.bind(10, Int64(doc.priority))
    try images.withUnsafeBytes {
      if doc.kind == 2 { insert.bind(8, blob: $0) }
      try insert.run()
    }
  }
  try database.execute("COMMIT")
  try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
}
