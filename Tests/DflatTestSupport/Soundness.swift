// Whether the content of a file is consistent with its objects.

public import Dflat
import FlatBuffersRuntime
public import SQLiteAccess

/// The faults of a file, one line each; empty for a sound file.
///
/// A sound file passes SQLite's own check. Every row is a sound buffer whose key equals the key
/// columns. In every side table each object up to the greatest row id has a row with the object's
/// value, and no row is without an object.
///
/// - Parameter complete: Whether every side table must cover all objects.
public func unsoundness(
  of schema: EntitySchema, _ connection: Connection, complete: Bool = false
) throws -> [String] {
  var faults: [String] = []
  let check = try connection.rows("PRAGMA integrity_check").compactMap { $0.first?.text }
  if check != ["ok"] { faults += check }

  let main = try connection.rows(
    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(schema.table)])
  if main.isEmpty { return faults }
  let keys = schema.primaryKey.indices.map { ", __pk\($0)" }.joined()
  var objects: [Int64: [UInt8]] = [:]
  for row in try connection.rows("SELECT rowid, p\(keys) FROM \"\(schema.table)\"") {
    guard let id = row[0].integer, let bytes = row[1].blob else {
      faults.append("a row of \(schema.table) has no blob")
      continue
    }
    objects[id] = bytes
    let values = read(schema.keyReaders, bytes)
    if values != Array(row[2...]) {
      faults.append("row \(id) has the key \(values) and key columns \(row[2...])")
    }
  }

  let last = objects.keys.max()
  for descriptor in schema.indexes {
    let table = descriptor.table
    let names = try connection.rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(table)])
    guard !names.isEmpty else {
      if complete { faults.append("\(table) is missing") }
      continue
    }
    var side: [Int64: [SQLValue]] = [:]
    let columns = descriptor.columns.map { ", \"\($0.name)\"" }.joined()
    for row in try connection.rows("SELECT rowid\(columns) FROM \"\(table)\"") {
      if let id = row[0].integer { side[id] = Array(row[1...]) }
    }
    let greatest = side.keys.max() ?? .min
    if complete, side.keys.max() != last { faults.append("\(table) is not complete") }
    for id in side.keys.sorted() where objects[id] == nil {
      faults.append("\(table) has row \(id) without an object")
    }
    for (id, bytes) in objects.sorted(by: { $0.key < $1.key }) where id <= greatest {
      let value = read(descriptor.columns, bytes)
      // Other programs store 0 for an empty union.
      if table.hasSuffix("__type"), value == [.null], side[id] == [.integer(0)] { continue }
      if side[id] != value {
        faults.append(
          "\(table) has \(String(describing: side[id])) for row \(id), whose value is \(value)")
      }
    }
  }
  return faults
}

private func read(_ readers: [ColumnReader], _ bytes: [UInt8]) -> [SQLValue] {
  bytes.withUnsafeBytes { bytes in
    guard let table = TableReader(root: bytes) else { return [] }
    return readers.map { value($0.read(table)) }
  }
}

private func read(_ columns: [IndexColumn], _ bytes: [UInt8]) -> [SQLValue] {
  bytes.withUnsafeBytes { bytes in
    guard let table = TableReader(root: bytes) else { return [] }
    return columns.map { $0.withValue(of: table, value) }
  }
}

private func value(_ value: ColumnValue) -> SQLValue {
  switch value {
  case .null: .null
  case .integer(let value): .integer(value)
  case .real(let value): .real(value)
  case .text(let text): .text(String(decoding: text, as: UTF8.self))
  }
}
