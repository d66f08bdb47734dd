// SavedRows: rows in a file of their own, to be read before any database is open.
//
// The file is read and written as a whole. All numbers are little-endian.
//
//     offset  bytes
//          0      8  "DflatRow"
//          8      4  the version of this format, 1
//         12      4  the length of the table's name in bytes, n
//         16      8  the number of rows
//         24      n  the name of the table, in UTF-8
//     24 + n         for each row: its length in bytes (4), and the row, a finished FlatBuffer
//      end-8      8  a checksum of all bytes before it
//
// Row ids are not saved: the file may be read when the database is another one, and an id would
// then belong to another object. The table's name says which schema the rows have. Rows of older
// and newer versions of it are read as stored rows are.
//
// Reading trusts nothing: the checksum finds what was changed or cut off, and each row is verified
// all the same, since a checksum proves nothing about the program that has written it.

import FlatBuffersRuntime

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

enum SavedRows {
  private static let magic = Array("DflatRow".utf8)
  private static let format: UInt32 = 1
  private static let headSize = 24
  private static let checksumSize = 8

  /// The contents of a file with rows.
  /// - Throws: `StorageError` with `.invalidValue` if a row was made from values that do not fit.
  static func encode(_ rows: ContiguousArray<Row>, _ schema: EntitySchema) throws -> Data {
    for row in rows {
      if let refusal = row.refusal { throw StorageError(refused: refusal, schema) }
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(
      rows.reduce(headSize + schema.table.utf8.count + checksumSize) { $0 + $1.count + 4 })
    bytes += magic
    bytes.append(format)
    bytes.append(UInt32(schema.table.utf8.count))
    bytes.append(UInt64(rows.count))
    bytes += schema.table.utf8
    for row in rows {
      bytes.append(UInt32(row.count))
      row.withBytes { bytes += $0 }
    }
    bytes.append(bytes.withUnsafeBytes { checksum($0) })
    return Data(bytes)
  }

  /// The rows of a file.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, _ schema: EntitySchema
  ) throws(SavedObjectsError) -> ContiguousArray<Row> {
    guard bytes.starts(with: magic) else { throw .otherFormat }
    guard bytes.count >= headSize + checksumSize else { throw .damaged("the file is cut off") }
    if bytes.number(at: 8, UInt32.self) != format { throw .otherFormat }
    let end = bytes.count - checksumSize
    let content = UnsafeRawBufferPointer(rebasing: bytes[..<end])
    if bytes.number(at: end, UInt64.self) != checksum(content) {
      throw .damaged("their checksum is another one")
    }
    var place = headSize
    let table = try content.part(Int(bytes.number(at: 12, UInt32.self)), at: &place)
    if !table.elementsEqual(schema.table.utf8) {
      throw .otherTable(expected: schema.table, found: String(decoding: table, as: UTF8.self))
    }
    let count = bytes.number(at: 16, UInt64.self)
    // Each row takes some bytes, so a wrong number cannot reserve much memory.
    guard count <= UInt64(end - place) / 4 else { throw .damaged("their number is wrong") }
    var rows: ContiguousArray<Row> = []
    rows.reserveCapacity(Int(count))
    for _ in 0..<count {
      let length = try content.part(4, at: &place).number(at: 0, UInt32.self)
      rows.append(try schema.savedRow(try content.part(Int(length), at: &place)))
    }
    guard place == end else { throw .damaged("their number is wrong") }
    return rows
  }

  /// Reads eight bytes at a time; each step multiplies and folds both halves of the product.
  private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    let multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15
    var sum = UInt64(bytes.count)
    func add(_ bits: UInt64) {
      let (high, low) = (sum ^ bits &+ 0x2545_F491_4F6C_DD1D).multipliedFullWidth(by: multiplier)
      sum = (high ^ low) &+ bits
    }
    var place = 0
    while place + 8 <= bytes.count {
      add(bytes.number(at: place, UInt64.self))
      place += 8
    }
    var rest: UInt64 = 0
    for byte in bytes[place...] { rest = rest << 8 | UInt64(byte) }
    add(rest)
    return sum
  }
}

extension UnsafeRawBufferPointer {
  @inline(__always)
  fileprivate func number<T: FixedWidthInteger & BitwiseCopyable>(
    at place: Int, _ type: T.Type
  ) -> T {
    T(littleEndian: loadUnaligned(fromByteOffset: place, as: T.self))
  }

  /// The next bytes, which must be there.
  fileprivate func part(
    _ length: Int, at place: inout Int
  ) throws(SavedObjectsError) -> UnsafeRawBufferPointer {
    guard length <= count - place else { throw .damaged("a part ends behind the end") }
    defer { place += length }
    return UnsafeRawBufferPointer(rebasing: self[place..<place + length])
  }
}

extension [UInt8] {
  fileprivate mutating func append<T: FixedWidthInteger>(_ number: T) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}
