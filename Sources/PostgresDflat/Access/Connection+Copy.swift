// COPY: many rows in one statement, in the server's binary format.
//
//   header   "PGCOPY\n\377\r\n\0", flags, the length of an extension: both 0
//   row      the number of columns (2 bytes); each column's length (4 bytes, -1 for NULL) and bytes
//   trailer  -1 (2 bytes)
//
// Rows are sent while they are encoded. The library holds what the server has not read yet.

import CPostgres

extension Connection {
  /// Runs statements of which one is a COPY from the client.
  /// - Parameters:
  ///   - sql: The statements, separated by semicolons.
  ///   - count: The number of rows.
  ///   - set: Sets the parameters, which are the columns of the row with a number. What stays in
  ///     place must do so until the next call.
  func copy(_ sql: String, rows count: Int, _ set: (Int, Parameters) -> Void) throws(PostgresError)
  {
    try finishPipeline()
    let begun = awaitResult(PQsendQuery(handle, sql))
    guard PQresultStatus(begun) == PGRES_COPY_IN else {
      _ = try check(begun, sql)
      throw PostgresError(
        state: "", message: "the server does not want to receive rows", sql: sql,
        isConnectionLost: true)
    }
    PQclear(begun)
    var buffer = CopyBuffer(handle)
    buffer.begin()
    var refusal: PostgresError?
    for row in 0..<count {
      set(row, parameters)
      do throws(PostgresError) { try parameters.checkSize(for: sql) } catch {
        refusal = error
        break
      }
      buffer.append(parameters)
    }
    buffer.end()
    // With a reason the server rolls the rows back.
    if PQputCopyEnd(handle, refusal?.message) != 1 { throw lost(sql) }
    // One result for each statement from the COPY on. The first error ends them all.
    var failure: PostgresError?
    while let result = PQgetResult(handle) {
      do throws(PostgresError) { _ = try check(result, sql) } catch { failure = failure ?? error }
      if PQstatus(handle) == CONNECTION_BAD { break }
    }
    if let failure { throw failure.isConnectionLost ? failure : refusal ?? failure }
  }
}

/// Rows on their way to the server.
private struct CopyBuffer: ~Copyable {
  private static let capacity = 1 << 16
  private let handle: OpaquePointer
  private let memory = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
  private var used = 0

  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { memory.deallocate() }

  mutating func begin() {
    for scalar in "PGCOPY\n\u{ff}\r\n\0".unicodeScalars {
      put(UInt8(truncatingIfNeeded: scalar.value))
    }
    put(0 as UInt64)
  }

  mutating func append(_ row: Parameters) {
    put(Int16(truncatingIfNeeded: row.count))
    for place in 0..<row.count {
      guard let start = row.values[place] else {
        put(-1 as Int32)
        continue
      }
      put(row.lengths[place])
      put(UnsafeRawBufferPointer(start: start, count: Int(row.lengths[place])))
    }
  }

  /// Ends the rows and sends the last ones.
  mutating func end() {
    put(-1 as Int16)
    flush()
  }

  private mutating func put<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) {
    if Self.capacity - used < MemoryLayout<T>.size { flush() }
    memory.storeBytes(of: value.bigEndian, toByteOffset: used, as: T.self)
    used += MemoryLayout<T>.size
  }

  private mutating func put(_ bytes: UnsafeRawBufferPointer) {
    if Self.capacity - used < bytes.count { flush() }
    if bytes.count > Self.capacity { return send(bytes) }
    if let start = bytes.baseAddress {
      (memory + used).copyMemory(from: start, byteCount: bytes.count)
      used += bytes.count
    }
  }

  private mutating func flush() {
    send(UnsafeRawBufferPointer(start: memory, count: used))
    used = 0
  }

  /// If the connection is lost, the result of the statement tells it.
  private func send(_ bytes: UnsafeRawBufferPointer) {
    PQputCopyData(
      handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
      Int32(truncatingIfNeeded: bytes.count))
  }
}
