// FloorTask: the rows of the cases with silos, written and read without the library.

import CSQLiteFloor
import Silo

/// Encodes tasks into one buffer, in FlatBuffers' format.
struct FloorTaskEncoder {
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 8)

  func free() { buffer.deallocate() }

  /// The row of a task, valid until the next call.
  @inline(__always)
  func encode(_ task: BenchTask) -> UnsafeRawBufferPointer {
    // The root, the vtable of six fields, and the table with the id and the priority in front.
    put(UInt32(24), at: 0)
    put(UInt16(16), at: 4)
    put(UInt16(40), at: 6)
    put((8, 24, 28, 16, 32, 36), at: 8)
    put(Int32(20), at: 24)
    put(Int64(task.id), at: 32)
    put(Int64(task.priority), at: 40)
    var end = 64
    end = text(task.title, field: 48, at: end)
    end = text(task.text, field: 52, at: end)
    end = ids(task.tags.lazy.map(\.id), field: 56, at: end)
    end = ids(task.steps.lazy.map(\.id), field: 60, at: end)
    return UnsafeRawBufferPointer(rebasing: buffer[..<end])
  }

  @inline(__always)
  private func put<T: BitwiseCopyable>(_ value: T, at offset: Int) {
    buffer.storeBytes(of: value, toByteOffset: offset, as: T.self)
  }

  @inline(__always)
  private func put(_ fields: (UInt16, UInt16, UInt16, UInt16, UInt16, UInt16), at offset: Int) {
    put(fields.0, at: offset)
    put(fields.1, at: offset + 2)
    put(fields.2, at: offset + 4)
    put(fields.3, at: offset + 6)
    put(fields.4, at: offset + 8)
    put(fields.5, at: offset + 10)
  }

  @inline(__always)
  private func text(_ text: String, field: Int, at start: Int) -> Int {
    put(UInt32(start - field), at: field)
    var text = text
    return text.withUTF8 { bytes in
      put(UInt32(bytes.count), at: start)
      buffer.baseAddress!.advanced(by: start + 4).copyMemory(
        from: UnsafeRawPointer(bytes.baseAddress!), byteCount: bytes.count)
      put(UInt8(0), at: start + 4 + bytes.count)
      return (start + 4 + bytes.count + 1 + 3) & ~3
    }
  }

  @inline(__always)
  private func ids(_ ids: some Collection<Int>, field: Int, at end: Int) -> Int {
    // The elements have 8 bytes and lie at multiples of 8.
    let start = (end + 4 + 7) & ~7
    put(UInt32(start - 4 - field), at: field)
    put(UInt32(ids.count), at: start - 4)
    var place = start
    for id in ids {
      put(Int64(id), at: place)
      place += 8
    }
    return place
  }
}

extension FloorReader {
  @inline(__always)
  fileprivate func ids(_ field: Int) -> [Int] {
    guard let (start, count) = vector(field) else { return [] }
    return (0..<count).map { Int(start.loadUnaligned(fromByteOffset: 8 * $0, as: Int64.self)) }
  }

  @inline(__always)
  fileprivate func text(_ field: Int) -> String {
    String(decoding: bytes(field).buffer, as: UTF8.self)
  }

  @inline(__always)
  func benchTask() -> BenchTask {
    BenchTask(
      id: scalar(4), title: text(6), text: text(8), priority: scalar(10),
      tags: RelatedItems(ids: ids(12)), steps: RelatedList(ids: ids(14)))
  }

  @inline(__always)
  func benchTag() -> BenchTag { BenchTag(id: scalar(4), name: text(6)) }
  @inline(__always)
  func benchStep() -> BenchStep { BenchStep(id: scalar(4), name: text(6)) }
}

/// The floor's side over a file of silos.
final class FloorTasks {
  let database: FloorDatabase
  let begin: FloorStatement
  let commit: FloorStatement
  private let insertion: FloorStatement
  private let tag: FloorStatement
  private let step: FloorStatement
  private let encoder = FloorTaskEncoder()

  init(_ path: String, isFull: Bool = false) throws {
    database = try FloorDatabase(path: path, isFull: isFull, walLimit: Store.noCheckpoints)
    begin = try database.prepare("BEGIN IMMEDIATE")
    commit = try database.prepare("COMMIT")
    insertion = try database.prepare("INSERT INTO bench_tasks_v1 (p, __pk0) VALUES (?, ?)")
    tag = try database.prepare(
      "INSERT OR IGNORE INTO bench_tasks__tags (owner, element) VALUES (?, ?)")
    step = try database.prepare(
      "INSERT OR IGNORE INTO bench_tasks__steps (owner, element) VALUES (?, ?)")
  }

  deinit { encoder.free() }

  @inline(__always)
  func insert(_ task: BenchTask) throws {
    insertion.bind(1, blob: encoder.encode(task))
    insertion.bind(2, Int64(task.id))
    try insertion.run()
    let row = database.lastInsertRowID
    for item in task.tags { try relate(row, to: item.id, tag) }
    for item in task.steps { try relate(row, to: item.id, step) }
  }

  @inline(__always)
  private func relate(_ row: Int64, to id: Int, _ relation: borrowing FloorStatement) throws {
    relation.bind(1, row)
    relation.bind(2, Int64(id))
    try relation.run()
  }

  /// Replaces the row of a task.
  func replace(_ task: BenchTask) throws {
    let update = try database.prepare("UPDATE bench_tasks_v1 SET p = ? WHERE __pk0 = ?")
    update.bind(1, blob: encoder.encode(task))
    update.bind(2, Int64(task.id))
    try begin.run()
    try update.run()
    try commit.run()
  }

  /// The rows with some keys, with one statement for 400 of them.
  func select(
    _ table: String, _ ids: [Int], _ body: (FloorReader) -> Void
  ) throws {
    var rest = ids[...]
    while !rest.isEmpty {
      let some = rest.prefix(400)
      rest = rest.dropFirst(400)
      let marks = Array(repeating: "?", count: some.count).joined(separator: ",")
      let select = try database.prepare("SELECT rowid, p FROM \(table) WHERE __pk0 IN (\(marks))")
      for (index, id) in some.enumerated() { select.bind(Int32(index + 1), Int64(id)) }
      while try select.step() { body(FloorReader(row: select.blob(1).baseAddress!)) }
    }
  }
}

/// The rows of uploads, with those of their indexes.
final class FloorUploads {
  private let main: FloorStatement
  private let queue: FloorStatement
  private let ordering: FloorStatement
  private let key: FloorStatement
  private let subject: FloorStatement
  private let row = UnsafeMutableRawBufferPointer.allocate(byteCount: 240, alignment: 8)
  private let name = UnsafeMutableRawBufferPointer.allocate(byteCount: 36, alignment: 8)

  init(_ database: FloorDatabase) throws {
    main = try database.prepare("INSERT INTO silo_uploads_v1 (p, __pk0) VALUES (?, ?)")
    queue = try database.prepare(
      "INSERT INTO silo_uploads_v1__x__f6__x__f4 (rowid, f6, f4) VALUES (?, ?, ?)")
    ordering = try database.prepare("INSERT INTO silo_uploads_v1__f8 (rowid, f8) VALUES (?, ?)")
    key = try database.prepare("INSERT INTO silo_uploads_v1__f10 (rowid, f10) VALUES (?, ?)")
    subject = try database.prepare(
      "INSERT OR IGNORE INTO silo_uploads__subjects (owner, element) VALUES (?, ?)")
    row.initializeMemory(as: UInt8.self, repeating: 0)
    name.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "a"))
  }

  deinit {
    row.deallocate()
    name.deallocate()
  }

  /// Inserts a row of the length of an upload's, which is not decoded.
  @inline(__always)
  func insert(_ id: Int64, key number: Int) throws {
    name.storeBytes(of: Int64(number) &+ 0x4141_4141_4141_4141, as: Int64.self)
    let text = FloorBytes(start: UnsafeRawPointer(name.baseAddress!), count: 36)
    let short = FloorBytes(start: UnsafeRawPointer(name.baseAddress!), count: 11)
    main.bind(1, blob: UnsafeRawBufferPointer(row))
    main.bind(2, id)
    try main.run()
    queue.bind(1, id)
    queue.bind(2, text: short)
    queue.bind(3, id)
    try queue.run()
    ordering.bind(1, id)
    ordering.bind(2, text: short)
    try ordering.run()
    key.bind(1, id)
    key.bind(2, text: text)
    try key.run()
    subject.bind(1, id)
    subject.bind(2, text: FloorBytes(start: UnsafeRawPointer(name.baseAddress!), count: 16))
    try subject.run()
  }
}
