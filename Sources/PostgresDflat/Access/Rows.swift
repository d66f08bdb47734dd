// Rows: the result of one statement, in the server's binary format. Values stay in the result's
// memory.

import CPostgres

/// The rows that a statement has given.
struct Rows: ~Copyable {
  let result: OpaquePointer
  let count: Int

  init(_ result: OpaquePointer) {
    self.result = result
    count = Int(PQntuples(result))
  }

  deinit { PQclear(result) }

  /// The number of columns.
  var columnCount: Int { Int(PQnfields(result)) }

  /// How many bytes a row takes in memory, on the average.
  var meanSize: Int { PQresultMemorySize(result) / max(1, count) }

  /// The number of rows that the statement has changed.
  var changes: Int {
    PQcmdTuples(result).map { Int(String(cString: $0)) ?? 0 } ?? 0
  }

  /// What the statement was: `COMMIT`, `ROLLBACK`.
  var command: String { PQcmdStatus(result).map { String(cString: $0) } ?? "" }

  @inline(__always)
  func isNull(_ row: Int, _ column: Int) -> Bool {
    PQgetisnull(result, Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column)) != 0
  }

  @inline(__always)
  func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    let row = Int32(truncatingIfNeeded: row)
    let column = Int32(truncatingIfNeeded: column)
    return UnsafeRawBufferPointer(
      start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
  }

  @inline(__always)
  private func bits(_ row: Int, _ column: Int) -> UInt64 {
    let bytes = bytes(row, column)
    return bytes.count == 8 ? UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) : 0
  }

  @inline(__always)
  func integer(_ row: Int, _ column: Int) -> Int64 { Int64(bitPattern: bits(row, column)) }

  @inline(__always)
  func real(_ row: Int, _ column: Int) -> Double { Double(bitPattern: bits(row, column)) }

  func bool(_ row: Int, _ column: Int) -> Bool { bytes(row, column).first.map { $0 != 0 } ?? false }

  /// An array of integers without NULL.
  func integers(_ row: Int, _ column: Int) -> [Int64] {
    let bytes = bytes(row, column)
    // The header has the number of dimensions, whether there are NULLs, and the type of the
    // elements; then for the dimension the number of elements and the first index.
    guard bytes.count >= 20 else { return [] }
    return stride(from: 24, to: bytes.count - 7, by: 12).map {
      Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: $0, as: Int64.self))
    }
  }

  func text(_ row: Int, _ column: Int) -> String {
    String(decoding: bytes(row, column), as: UTF8.self)
  }
}
