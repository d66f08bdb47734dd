// Cursors: seek to the first entry, step, stop at the end. At most one entry is read beyond each
// end of the result.
//
// The bounds are copied, because the program's bytes may not live as long as the cursor. Keys that
// begin with a bound are adjacent. The first key after them is at or above the bound's *successor*:
// its bytes as a number, plus one, without trailing FFs. Skipping all of them therefore takes one
// seek.

public import CLMDB
internal import Platform

/// Iterates once over the entries of a query, in order.
///
///     let query = Query(comparison: .greaterOrEqual(nil), key: start)
///     for (key, value) in try Cursor(transaction: transaction, dbi: words, query: query) { … }
///
/// A `for` loop ends early if the storage fails. If that matters, call `advance()`, which throws,
/// or check `error` after the loop. The cursor closes at its end, when it is released, and when its
/// transaction ends.
public struct Cursor: Sequence, IteratorProtocol {
  /// A key and its value, not copied: valid until the transaction writes or ends.
  public typealias Element = (MDB_val, MDB_val)

  private let state: CursorState

  /// Creates a cursor that is positioned before the first entry.
  ///
  /// - Parameters:
  ///   - transaction: The transaction to read in.
  ///   - dbi: The database.
  ///   - query: The entries to return. The bytes of its start and end need not outlive this call.
  /// - Throws: `MDBError`.
  public init(transaction: Transaction, dbi: MDB_dbi, query: Query) throws {
    state = try CursorState(transaction: transaction.state, dbi: dbi, query: query)
  }

  /// Returns the next entry, or nil after the last one.
  ///
  /// - Returns: The key and the value.
  /// - Throws: `MDBError`.
  public mutating func advance() throws -> Element? { try state.advance() }

  /// Returns the next entry, or nil after the last one or after an error.
  ///
  /// - Returns: The key and the value.
  public mutating func next() -> Element? {
    do { return try state.advance() } catch {
      state.error = error
      return nil
    }
  }

  /// Calls a closure with each remaining entry.
  ///
  /// - Parameter body: Receives a key and its value. It must not write.
  /// - Throws: The closure's error, or `MDBError`.
  package func forEachEntry(_ body: (MDB_val, MDB_val) throws -> Void) throws {
    while let (key, value) = try state.advance() { try body(key, value) }
  }

  /// The error that made `next()` end early; nil if there was none.
  public var error: MDBError? { state.error }

  /// Closes the cursor. It returns no more entries.
  public func close() { state.close() }
}

final class CursorState {
  private let transaction: TransactionState
  @exclusivity(unchecked) private var handle: OpaquePointer?
  private let isAscending: Bool
  private let startsInclusive: Bool
  private let isTruncating: Bool
  private let endsInclusive: Bool
  private let end: [UInt8]?
  private let start: [UInt8]
  @exclusivity(unchecked) private var remaining: Int
  @exclusivity(unchecked) private var hasStarted = false
  var error: MDBError?

  init(transaction: TransactionState, dbi: MDB_dbi, query: Query) throws(MDBError) {
    self.transaction = transaction
    isAscending = query.comparison.forward
    startsInclusive = query.comparison.startInclusive
    endsInclusive = query.comparison.endInclusive
    isTruncating = query.truncating
    start = [UInt8](query.key.bufferPointer)
    end = query.comparison.endKey.map { [UInt8]($0.bufferPointer) }
    remaining = query.limit ?? .max
    if remaining > 0 { handle = try transaction.openCursor(self, dbi: dbi) }
  }

  deinit {
    if handle != nil {
      transaction.forget(self)
      close()
    }
  }

  /// Closes the cursor unless it is closed already. The transaction calls it before it ends.
  func close() {
    guard let handle else { return }
    self.handle = nil
    mdb_cursor_close(handle)
  }

  @inline(__always)
  func advance() throws(MDBError) -> (MDB_val, MDB_val)? {
    guard let handle else {
      if transaction.pointer == nil { throw .ended }
      return nil
    }
    var key = MDB_val()
    var value = MDB_val()
    let code: Int32
    if hasStarted {
      code = mdb_cursor_get(handle, &key, &value, isAscending ? MDB_NEXT : MDB_PREV)
    } else {
      hasStarted = true
      code = seek(handle, &key, &value)
    }
    if code == MDB_NOTFOUND { return finish() }
    try transaction.check(code)
    if let end, !isWithin(key, end) { return finish() }
    remaining -= 1
    if remaining == 0 { _ = finish() }
    return (key, value)
  }

  private func finish() -> (MDB_val, MDB_val)? {
    if handle != nil {
      transaction.forget(self)
      close()
    }
    return nil
  }

  // Keys that count as equal to the start: `start` itself, or if truncating, all keys that begin
  // with it.
  private func seek(
    _ handle: OpaquePointer, _ key: inout MDB_val, _ value: inout MDB_val
  ) -> Int32 {
    // The position to seek: the first key at or above the start, or the first one after all keys
    // that equal it.
    let skipsEqual = isAscending != startsInclusive
    let code: Int32
    if skipsEqual && isTruncating {
      guard let successor = successor(of: start) else {
        return isAscending ? MDB_NOTFOUND : mdb_cursor_get(handle, &key, &value, MDB_LAST)
      }
      code = seekAtOrAbove(handle, successor, &key, &value)
    } else {
      code = seekAtOrAbove(handle, start, &key, &value)
    }
    let isAtStart = code == MDB_SUCCESS && key.bufferPointer.elementsEqual(start)
    if isAscending {
      return !startsInclusive && !isTruncating && isAtStart
        ? mdb_cursor_get(handle, &key, &value, MDB_NEXT) : code
    }
    if code == MDB_NOTFOUND { return mdb_cursor_get(handle, &key, &value, MDB_LAST) }
    guard code == MDB_SUCCESS, !(startsInclusive && !isTruncating && isAtStart) else {
      return code
    }
    return mdb_cursor_get(handle, &key, &value, MDB_PREV)
  }

  /// Moves to the first entry at or above a bound.
  private func seekAtOrAbove(
    _ handle: OpaquePointer, _ bound: [UInt8], _ key: inout MDB_val, _ value: inout MDB_val
  ) -> Int32 {
    // LMDB has no empty keys and cannot seek to one.
    if bound.isEmpty { return mdb_cursor_get(handle, &key, &value, MDB_FIRST) }
    return bound.withUnsafeBytes { bytes in
      key = MDB_val(buffer: bytes)
      return mdb_cursor_get(handle, &key, &value, MDB_SET_RANGE)
    }
  }

  private func isWithin(_ key: MDB_val, _ end: [UInt8]) -> Bool {
    let common = min(key.mv_size, end.count)
    var order = end.withUnsafeBytes { bytes in
      guard let theirs = bytes.baseAddress, let ours = key.mv_data else { return 0 }
      return Int(memcmp(ours, theirs, common))
    }
    if order == 0 {
      order = isTruncating && key.mv_size > end.count ? 0 : key.mv_size - end.count
    }
    if order == 0 { return endsInclusive }
    return (order < 0) == isAscending
  }
}

/// The smallest byte string above all that begin with these bytes; nil if there is none.
func successor(of bytes: [UInt8]) -> [UInt8]? {
  guard let last = bytes.lastIndex(where: { $0 != 0xFF }) else { return nil }
  var successor = Array(bytes[...last])
  successor[last] += 1
  return successor
}
