// The floor: LMDB's C API called directly, with the same flags, durability and file as Empire, and
// the fewest possible calls: a read transaction is begun once and then renewed.

import CLMDBFloor
import Foundation

struct FloorError: Error, CustomStringConvertible {
  let description: String
}

final class FloorDatabase {
  private var environment: OpaquePointer?
  private var database: MDB_dbi = 0
  /// A read transaction that has ended and can be renewed.
  private var spareReader: OpaquePointer?
  private let buffer = UnsafeMutableRawPointer.allocate(byteCount: 8192, alignment: 16)

  init(_ directory: URL, mapSize: Int = 2 << 30) throws {
    try check(mdb_env_create(&environment))
    try check(mdb_env_set_mapsize(environment, mapSize))
    try check(mdb_env_set_maxdbs(environment, 1))
    try check(
      mdb_env_open(environment, directory.path(percentEncoded: false), UInt32(MDB_NOTLS), 0o600))
    let transaction = try begin()
    try check(mdb_dbi_open(transaction, "empiredb", UInt32(MDB_CREATE), &database))
    try check(mdb_txn_commit(transaction))
  }

  deinit {
    mdb_txn_abort(spareReader)
    mdb_env_close(environment)
    buffer.deallocate()
  }

  @inline(__always)
  func check(_ code: Int32) throws {
    if code != 0 { throw FloorError(description: String(cString: mdb_strerror(code))) }
  }

  func begin() throws -> OpaquePointer? {
    var transaction: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, 0, &transaction))
    return transaction
  }

  /// Begins or renews a read transaction; `endReading` ends it.
  @inline(__always)
  func beginReading() throws -> OpaquePointer? {
    if let spareReader {
      try check(mdb_txn_renew(spareReader))
      return spareReader
    }
    try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &spareReader))
    return spareReader
  }

  @inline(__always)
  func endReading() { mdb_txn_reset(spareReader) }

  func insert(_ entries: ArraySlice<Entry>) throws {
    let transaction = try begin()
    for entry in entries { try put(entry, in: transaction) }
    try check(mdb_txn_commit(transaction))
  }

  @inline(__always)
  private func put(_ entry: Entry, in transaction: OpaquePointer?) throws {
    var key = FloorEntry.writeKey(entry.group, entry.title, at: buffer)
    var value = FloorEntry.writeValue(entry, at: buffer + 1024)
    try check(mdb_put(transaction, database, &key, &value, 0))
  }

  func delete(_ entries: [Entry]) throws {
    let transaction = try begin()
    for entry in entries {
      var key = FloorEntry.writeKey(entry.group, entry.title, at: buffer)
      try check(mdb_del(transaction, database, &key, nil))
    }
    try check(mdb_txn_commit(transaction))
  }

  @inline(__always)
  func get(_ entry: Entry, in transaction: OpaquePointer?) throws -> Entry {
    var key = FloorEntry.writeKey(entry.group, entry.title, at: buffer)
    var value = MDB_val()
    try check(mdb_get(transaction, database, &key, &value))
    return FloorEntry.read(key, value)
  }

  /// All records, or those of a group.
  func select(group: Int?) throws -> [Entry] {
    let transaction = try beginReading()
    defer { endReading() }
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(transaction, database, &cursor))
    defer { mdb_cursor_close(cursor) }
    var bound = FloorEntry.writeKey(group ?? 0, nil, at: buffer)
    if group == nil { bound.mv_size = 4 }
    var key = bound
    var value = MDB_val()
    var entries: [Entry] = []
    var code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
    while code == 0, key.mv_size >= bound.mv_size,
      memcmp(key.mv_data, bound.mv_data, bound.mv_size) == 0
    {
      entries.append(FloorEntry.read(key, value))
      code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    return entries
  }
}

extension FloorDatabase {
  /// Records that do not fit into the buffer are written directly into LMDB's memory, so that no
  /// byte is copied twice.
  func insertLarge(_ entries: ArraySlice<Entry>) throws {
    let transaction = try begin()
    for entry in entries {
      var key = FloorEntry.writeKey(entry.group, entry.title, at: buffer)
      var value = MDB_val(mv_size: FloorEntry.valueSize(entry), mv_data: nil)
      try check(mdb_put(transaction, database, &key, &value, UInt32(MDB_RESERVE)))
      _ = FloorEntry.writeValue(entry, at: value.mv_data!)
    }
    try check(mdb_txn_commit(transaction))
  }
}
