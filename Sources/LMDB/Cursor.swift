// Cursors: seek to the first entry, step, stop at the end. No entry outside of the result is read, but for one at either end.
//
// The end is copied, because the program's bytes need not live as long as the cursor. Entries that begin with a bound stand together,
// and the first key behind them is the bound's *successor*: its bytes as a number, plus one, without trailing FFs. So skipping them
// is one seek, however many they are.

public import CLMDB
internal import Platform

/// Runs once over the entries of a query, in order.
///
///     let query = Query(comparison: .greaterOrEqual(nil), key: start)
///     for (key, value) in try Cursor(transaction: transaction, dbi: words, query: query) { … }
///
/// A `for` loop ends early when the storage fails; where that matters, call `advance()`, which throws, or look at `error` behind
/// the loop. The cursor closes when it is at its end, when it is released, and with its transaction.
public struct Cursor: Sequence, IteratorProtocol {
  /// A key and its value, where they are stored: valid until the transaction writes or ends.
  public typealias Element = (MDB_val, MDB_val)

  private let state: CursorState

  /// Makes a cursor that stands before the first entry.
  ///
  /// - Parameters:
  ///   - transaction: What it reads in.
  ///   - dbi: The database.
  ///   - query: What it returns. The start and the end are not needed any more when this returns.
  /// - Throws: `MDBError`.
  public init(transaction: Transaction, dbi: MDB_dbi, query: Query) throws {
    state = try CursorState(transaction: transaction.state, dbi: dbi, query: query)
  }

  /// The next entry, or nil behind the last one.
  ///
  /// - Returns: The key and the value.
  /// - Throws: `MDBError`.
  public mutating func advance() throws -> Element? { try state.advance() }

  /// The next entry, or nil behind the last one or at an error.
  ///
  /// - Returns: The key and the value.
  public mutating func next() -> Element? {
    do { return try state.advance() } catch {
      state.error = error
      return nil
    }
  }

  /// Calls a closure with each entry that is left.
  ///
  /// - Parameter body: Gets a key and its value. It must not write.
  /// - Throws: The closure's error, or `MDBError`.
  package func forEachEntry(_ body: (MDB_val, MDB_val) throws -> Void) throws {
    while let (key, value) = try state.advance() { try body(key, value) }
  }

  /// What made `next()` end early; nil if nothing did.
  public var error: MDBError? { state.error }

  /// Closes the cursor. Nothing follows then.
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
  @exclusivity(unchecked) private var rest: Int
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
    rest = query.limit ?? .max
    if rest > 0 { handle = try transaction.openCursor(self, dbi: dbi) }
  }

  deinit {
    if handle != nil {
      transaction.forget(self)
      close()
    }
  }

  /// Does nothing a second time. Called by the transaction before it ends.
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
    rest -= 1
    if rest == 0 { _ = finish() }
    return (key, value)
  }

  private func finish() -> (MDB_val, MDB_val)? {
    if handle != nil {
      transaction.forget(self)
      close()
    }
    return nil
  }

  // Entries equal to the start are `start` itself or, truncating, all that begin with it.
  private func seek(
    _ handle: OpaquePointer, _ key: inout MDB_val, _ value: inout MDB_val
  ) -> Int32 {
    // The first place at or above the start, or the first one behind all that are equal to it.
    let isBehind = isAscending != startsInclusive
    let code: Int32
    if isBehind && isTruncating {
      guard let successor = successor(of: start) else {
        return isAscending ? MDB_NOTFOUND : mdb_cursor_get(handle, &key, &value, MDB_LAST)
      }
      code = place(handle, successor, &key, &value)
    } else {
      code = place(handle, start, &key, &value)
    }
    let meetsStart = code == MDB_SUCCESS && key.bufferPointer.elementsEqual(start)
    if isAscending {
      return !startsInclusive && !isTruncating && meetsStart
        ? mdb_cursor_get(handle, &key, &value, MDB_NEXT) : code
    }
    if code == MDB_NOTFOUND { return mdb_cursor_get(handle, &key, &value, MDB_LAST) }
    guard code == MDB_SUCCESS, !(startsInclusive && !isTruncating && meetsStart) else {
      return code
    }
    return mdb_cursor_get(handle, &key, &value, MDB_PREV)
  }

  /// The first entry at or above a bound.
  private func place(
    _ handle: OpaquePointer, _ bound: [UInt8], _ key: inout MDB_val, _ value: inout MDB_val
  ) -> Int32 {
    // LMDB has no empty keys and does not look for them.
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

/// The least key above all that begin with these bytes; nil if there is none.
func successor(of bytes: [UInt8]) -> [UInt8]? {
  guard let last = bytes.lastIndex(where: { $0 != 0xFF }) else { return nil }
  var successor = Array(bytes[...last])
  successor[last] += 1
  return successor
}
