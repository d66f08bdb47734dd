// A write transaction as Dflat's engine makes it: it reads the version of the index marks, and ends
// with an entry in the log of changes, a look for listeners and a number in the ledger of commits.
// If there are listeners, it wakes them up behind the commit. Its beginning is one message to the
// server, and so is its end; a read by key travels with the beginning.

import CPostgresFloor
import Foundation

final class FloorWriter {
  let connection: FloorConnection
  let table: String
  private let name: FloorText
  private let workspace = FloorText("floor-\(UInt32.random(in: 0...UInt32.max))")
  private var number: Int64 = 0
  private let beginning: FloorStatement
  private let precedence: FloorStatement
  private let version: FloorStatement
  private let entry: FloorStatement
  private let audience: FloorStatement
  private let notification: String
  private let ledger: FloorStatement
  private let end: FloorStatement
  private let insertion: FloorStatement
  private let change: FloorStatement
  private let select: FloorStatement
  private var encoder = FloorEncoder()
  private let images = UnsafeMutablePointer<FloorBytes>.allocate(capacity: 16)

  /// - Parameters:
  ///   - schema: The PostgreSQL schema.
  ///   - table: The table, whose key is a text or a number.
  init(
    _ url: String, _ schema: String, _ table: String = "benchdoc", key: Oid = FloorStatement.bytes
  )
    throws
  {
    connection = try FloorConnection(url, .writing)
    self.table = "\"\(schema)\".\(table)"
    name = FloorText(table)
    beginning = try FloorStatement(connection, "BEGIN ISOLATION LEVEL SERIALIZABLE", [])
    precedence = try FloorStatement(
      connection, "LOCK TABLE \"\(schema)\"._dflat_precedence IN ROW SHARE MODE", [])
    version = try FloorStatement(connection, "SELECT version FROM \"\(schema)\"._dflat_state", [])
    entry = try FloorStatement(
      connection,
      "INSERT INTO \"\(schema)\"._dflat_log (workspace, tbl, ids) VALUES ($1, $2, $3)",
      [FloorStatement.text, FloorStatement.text, FloorStatement.integers])
    let lock = "hashtextextended('dflat listener \"\(schema)\"', 0)"
    audience = try FloorStatement(
      connection,
      "SELECT CASE WHEN pg_try_advisory_lock(\(lock)) THEN NOT pg_advisory_unlock(\(lock)) "
        + "ELSE true END", [])
    notification =
      "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off; "
      + "SELECT pg_notify('dflat \(schema)', 'floor'); COMMIT"
    ledger = try FloorStatement(
      connection,
      "INSERT INTO \"\(schema)\"._dflat_commits (workspace, seq) VALUES ($1, $2) "
        + "ON CONFLICT (workspace) DO UPDATE SET seq = excluded.seq, at = now()",
      [FloorStatement.text, FloorStatement.integer])
    end = try FloorStatement(connection, "COMMIT", [])
    insertion = try FloorStatement(
      connection, "INSERT INTO \(self.table) (p, pk0) VALUES ($1, $2)", [FloorStatement.bytes, key])
    change = try FloorStatement(
      connection, "UPDATE \(self.table) SET p = $2 WHERE rowid = $1",
      [FloorStatement.integer, FloorStatement.bytes])
    select = try FloorStatement(
      connection, "SELECT rowid, p FROM \(self.table) WHERE pk0 = $1", [key])
  }

  deinit {
    encoder.free()
    images.deallocate()
  }

  // MARK: Transactions

  /// The ids in the log entry; nil for many.
  @inline(__always)
  func transaction(_ ids: [Int64]?, _ body: () throws -> Void) throws {
    do {
      try begin()
      try body()
      try commit(ids)
    } catch {
      try connection.execute("ROLLBACK")
      throw error
    }
  }

  private func begin() throws {
    try pipeline(3) { number in
      switch number {
      case 0: try beginning.send()
      case 1: try precedence.send()
      default: try version.send()
      }
    }
  }

  /// The same statements as `CommitLedger.commit` and `ChangeLog.append`.
  private func commit(_ ids: [Int64]?) throws {
    number += 1
    var isHeard = false
    entry.bind(0, workspace.bytes)
    entry.bind(1, name.bytes)
    ledger.bind(0, workspace.bytes)
    ledger.bind(1, number)
    try pipeline(4) {
      switch $0 {
      case 0: try sendEntry(ids)
      case 1: try audience.send()
      case 2: try ledger.send()
      default: try end.send()
      }
    } receive: { number, rows in
      if number == 1, rows.count > 0 { isHeard = rows.bytes(0, 0).first == 1 }
    }
    if isHeard { try connection.execute(notification) }
  }

  private func sendEntry(_ ids: [Int64]?) throws {
    guard let ids else {
      entry.bindNull(2)
      return try entry.send()
    }
    // One dimension, no NULL, the type of the elements, their number, the first index.
    var words = [1, 0, FloorStatement.integer, UInt32(ids.count), 1]
    for id in ids {
      let bits = UInt64(bitPattern: id)
      words += [8, UInt32(truncatingIfNeeded: bits >> 32), UInt32(truncatingIfNeeded: bits)]
    }
    try words.map(\.bigEndian).withUnsafeBytes {
      entry.bind(2, $0)
      try entry.send()
    }
  }

  // MARK: Rows

  @inline(__always)
  func insert(_ doc: borrowing FloorDoc) throws {
    bind(doc)
    try insertion.run()
  }

  @inline(__always)
  private func bind(_ doc: borrowing FloorDoc) {
    insertion.bind(0, encoder.encode(doc))
    insertion.bind(1, doc.title.buffer)
  }

  /// The same change as Dflat's side makes.
  @inline(__always)
  func update(_ row: FloorRow) throws {
    bindUpdate(row)
    try change.run()
  }

  @inline(__always)
  private func bindUpdate(_ row: FloorRow) {
    var doc = row.reader.doc(images: images)
    doc.priority += 1000
    change.bind(0, row.id)
    change.bind(1, encoder.encode(doc))
  }

  /// Every row, in the order of insertion.
  func fetchAll() throws -> FloorList {
    var list = FloorList()
    let all = try FloorStatement(connection, "SELECT rowid, p FROM \(table) ORDER BY rowid", [])
    try all.run { rows in
      for row in 0..<rows.count {
        list.append(FloorRow(id: rows.int64(row, 0), rows.bytes(row, 1)))
      }
    }
    return list
  }

  /// Counts the counter with a key up, in a transaction.
  func increment(key: Int64) throws {
    select.bind(0, key)
    var id: Int64?
    try pipeline(4) { number in
      switch number {
      case 0: try beginning.send()
      case 1: try precedence.send()
      case 2: try version.send()
      default: try select.send()
      }
    } receive: { number, rows in
      guard number == 3, rows.count > 0 else { return }
      id = rows.int64(0, 0)
      change.bind(0, rows.int64(0, 0))
      change.bind(1, encoder.incremented(rows.bytes(0, 1)))
    }
    guard let id else { throw FloorError(description: "there is no object \(key)") }
    try change.run()
    try commit([id])
  }

  // MARK: Many rows

  /// Sends a statement for each row without waiting for the one before.
  /// - Parameter receive: Called with the rows of each statement.
  @inline(__always)
  func pipeline(
    _ count: Int, _ send: (Int) throws -> Void, receive: (Int, FloorRows) -> Void = { _, _ in }
  ) throws {
    PQenterPipelineMode(connection.handle)
    for number in 0..<count { try send(number) }
    PQpipelineSync(connection.handle)
    var failure: (any Error)?
    for number in 0..<count {
      do {
        let result = try connection.check(PQgetResult(connection.handle))
        receive(number, FloorRows(result: result))
        PQclear(result)
      } catch {
        // Behind an error the server runs no more statements, and says so for each.
        failure = failure ?? error
      }
      // A null pointer ends the results of each statement.
      guard PQgetResult(connection.handle) == nil else {
        throw FloorError(description: "a statement has two results")
      }
    }
    PQclear(try connection.check(PQgetResult(connection.handle)))
    PQexitPipelineMode(connection.handle)
    if let failure { throw failure }
  }

  func insertByPipeline(_ docs: ArraySlice<FloorDoc>) throws {
    try pipeline(docs.count) {
      bind(docs[docs.startIndex + $0])
      try insertion.send()
    }
  }

  func updateByPipeline(_ list: borrowing FloorList) throws {
    let count = list.count
    try pipeline(count) {
      bindUpdate(list[$0])
      try change.send()
    }
  }

  func insertByCopy(_ docs: ArraySlice<FloorDoc>) throws {
    try connection.execute("COPY \(table) (p, pk0) FROM STDIN (FORMAT binary)")
    let capacity = 1 << 16
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
    defer { buffer.deallocate() }
    var used = 0
    func put<T: FixedWidthInteger>(_ value: T) {
      buffer.storeBytes(of: value.bigEndian, toByteOffset: used, as: T.self)
      used += MemoryLayout<T>.size
    }
    func put(_ bytes: UnsafeRawBufferPointer) {
      put(Int32(bytes.count))
      if let start = bytes.baseAddress {
        (buffer + used).copyMemory(from: start, byteCount: bytes.count)
      }
      used += bytes.count
    }
    func flush() throws {
      let start = buffer.assumingMemoryBound(to: CChar.self)
      guard PQputCopyData(connection.handle, start, Int32(used)) == 1 else {
        throw FloorError(description: String(cString: PQerrorMessage(connection.handle)))
      }
      used = 0
    }
    "PGCOPY\n\u{ff}\r\n\0".unicodeScalars.forEach { put(UInt8($0.value)) }
    put(Int64(0))
    for index in docs.indices {
      let row = encoder.encode(docs[index])
      let key = docs[index].title.buffer
      if used + row.count + key.count + 10 > capacity { try flush() }
      put(Int16(2))
      put(row)
      put(key)
    }
    if used + 2 > capacity { try flush() }
    put(Int16(-1))
    try flush()
    PQputCopyEnd(connection.handle, nil)
    PQclear(try connection.check(PQgetResult(connection.handle)))
    guard PQgetResult(connection.handle) == nil else {
      throw FloorError(description: "COPY has two results")
    }
  }
}
