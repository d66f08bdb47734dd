// The floor of the scaling runs: the same rows, keys and index entries, with direct encoding of a
// ScaleDoc.

import Foundation

/// A writing connection to a file of ScaleDocs.
final class FloorScaleWriter {
  let database: FloorDatabase
  private let begin: FloorStatement
  private let commit: FloorStatement
  private let main: FloorStatement
  private let side: FloorStatement
  private var encoder = FloorEncoder()

  init(_ path: String) throws {
    database = try FloorDatabase(path: path)
    begin = try database.prepare("BEGIN IMMEDIATE")
    commit = try database.prepare("COMMIT")
    main = try database.prepare("INSERT INTO scaledoc (p, __pk0) VALUES (?, ?)")
    side = try database.prepare("INSERT INTO scaledoc__f6 (rowid, f6) VALUES (?, ?)")
  }

  deinit {
    encoder.free()
  }

  /// Stores objects in one transaction. A checkpoint that is due comes first, as in `FloorWriter`.
  func insert(_ samples: [ScaleSample]) throws {
    try database.checkpointIfDue()
    try begin.run()
    for sample in samples {
      main.bind(1, blob: encoder.encode(sample))
      main.bind(2, sample.number)
      try main.run()
      side.bind(1, database.lastInsertRowID)
      side.bind(2, Int64(sample.bucket))
      try side.run()
    }
    try commit.run()
  }
}

extension FloorEncoder {
  /// The same encoding as Dflat's generated code; no field of these objects is ever at its default.
  @inline(__always)
  mutating func encode(_ sample: ScaleSample) -> UnsafeRawBufferPointer {
    start()
    var text = sample.name
    let name = text.withUTF8 { string(FloorBytes(start: $0.baseAddress, count: $0.count)) }
    pad(before: 8, to: 8)
    let end = used
    push(sample.number)
    let number = used
    push(sample.bucket)
    let bucket = used
    push(sample.priority)
    let priority = used
    let nameField = reference(name)
    let table = startVTable()
    push(UInt16(truncatingIfNeeded: table &- nameField))
    push(UInt16(truncatingIfNeeded: table &- priority))
    push(UInt16(truncatingIfNeeded: table &- bucket))
    push(UInt16(truncatingIfNeeded: table &- number))
    push(UInt16(truncatingIfNeeded: table &- end))
    push(UInt16(12))
    endVTable(of: table)
    return finish(table, alignment: 8)
  }
}

extension Fixture {
  /// A file with this many ScaleDocs, numbered from 1: created by Dflat, filled by the floor. Must
  /// not be written.
  func scaleTemplate(_ count: Int) throws -> String {
    let path = path("scale-\(count).db")
    if FileManager.default.fileExists(atPath: path) { return path }
    let store = Store(path)
    try store.insert(ScaleSample.make(0..<1))
    store.close()
    let writer = try FloorScaleWriter(path)
    try writer.database.execute("DELETE FROM scaledoc; DELETE FROM scaledoc__f6")
    var next: Int64 = 1
    while next <= count {
      let end = min(next + 50_000, Int64(count) + 1)
      try writer.insert(ScaleSample.make(next..<end, buckets: ScaleSample.buckets(count)))
      next = end
    }
    try writer.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path
  }
}
