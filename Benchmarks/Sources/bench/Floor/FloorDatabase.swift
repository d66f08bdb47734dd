// FloorDatabase: the floor's connection, directly on SQLite's C API.
//
// Equal work: it opens a file that Dflat created, or a copy of one, so tables, columns, indexes,
// page size and auto-vacuum are the same by construction. `synchronous` is NORMAL or FULL in WAL
// mode, the caches have SQLite's default size, connections have no mutex. Statements are prepared
// once. Automatic checkpoints are off. When a commit has left as many pages in the WAL as Dflat
// allows, the next transaction first runs a `RESTART` checkpoint, as in Dflat; so it only counts if
// there is a next transaction. No triggers run, as on Dflat's own writing connection: side tables
// are maintained here.

import CSQLiteFloor

/// A failed call: what was called, and SQLite's message.
struct FloorError: Error, CustomStringConvertible {
  let description: String
}

final class FloorDatabase {
  let handle: OpaquePointer
  private let walPages: UnsafeMutablePointer<Int32>
  /// Pages in the WAL at which a checkpoint is due; each has a header of 24 bytes.
  private let dueAt: Int

  /// - Parameters:
  ///   - isFull: Whether each commit waits until the data is on disk.
  ///   - walLimit: Size of the WAL in bytes at which a checkpoint is due.
  init(
    path: String, readOnly: Bool = false, creates: Bool = false, isFull: Bool = false,
    walLimit: Int = Store.defaultWALLimit
  ) throws {
    var opened: OpaquePointer?
    let access =
      readOnly
      ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | (creates ? SQLITE_OPEN_CREATE : 0)
    guard
      sqlite3_open_v2(path, &opened, access | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
      let opened
    else {
      let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "no memory"
      sqlite3_close_v2(opened)
      throw FloorError(description: "\(path) cannot be opened: \(message)")
    }
    handle = opened
    walPages = .allocate(capacity: 1)
    walPages.initialize(to: 0)
    dueAt = max(1, walLimit / (4096 + 24))
    sqlite3_busy_timeout(handle, 30_000)
    sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        context?.storeBytes(of: pages, as: Int32.self)
        return SQLITE_OK
      }, walPages)
    if !readOnly {
      floor_run_no_triggers(handle)
      try execute("PRAGMA journal_mode = WAL")
      try execute("PRAGMA synchronous = \(isFull ? "FULL" : "NORMAL")")
    }
  }

  deinit {
    sqlite3_close_v2(handle)
    walPages.deallocate()
  }

  func execute(_ sql: String) throws {
    guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
  }

  func prepare(_ sql: String) throws -> FloorStatement {
    var statement: OpaquePointer?
    guard
      sqlite3_prepare_v3(
        handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
      let statement
    else { throw failure(sql) }
    return FloorStatement(handle: statement)
  }

  @inline(__always)
  var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(handle) }

  func failure(_ sql: String) -> FloorError {
    FloorError(description: "\(String(cString: sqlite3_errmsg(handle))), in: \(sql)")
  }

  private var isCheckpointDue: Bool {
    @inline(__always) get { walPages.pointee >= dueAt }
  }

  /// Runs before a transaction: Dflat's checkpoint policy, see the top of this file.
  @inline(__always)
  func checkpointIfDue() throws {
    if isCheckpointDue { try checkpoint() }
  }

  /// Runs the checkpoint that the last commit made necessary.
  func settle() throws {
    guard isCheckpointDue else {
      throw FloorError(description: "\(walPages.pointee) pages in the log need no checkpoint")
    }
    try checkpoint()
  }

  /// The WAL restarts with the next commit, which sets the count.
  private func checkpoint() throws {
    guard
      sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_RESTART, nil, nil) == SQLITE_OK
    else { throw failure("checkpoint") }
    walPages.pointee = 0
  }
}

/// A prepared statement, used as in C: bind, step, reset.
struct FloorStatement: ~Copyable {
  let handle: OpaquePointer

  deinit {
    sqlite3_finalize(handle)
  }

  @inline(__always)
  func bind(_ index: Int32, _ value: Int64) {
    sqlite3_bind_int64(handle, index, value)
  }

  /// Binds a blob in place.
  @inline(__always)
  func bind(_ index: Int32, blob: UnsafeRawBufferPointer) {
    sqlite3_bind_blob(handle, index, blob.baseAddress, Int32(truncatingIfNeeded: blob.count), nil)
  }

  /// Binds a text in place.
  @inline(__always)
  func bind(_ index: Int32, text: FloorBytes) {
    sqlite3_bind_text(
      handle, index, text.start?.assumingMemoryBound(to: CChar.self),
      Int32(truncatingIfNeeded: text.count), nil)
  }

  @inline(__always)
  func bind(_ index: Int32, double value: Double) {
    sqlite3_bind_double(handle, index, value)
  }

  /// Binds NULL to every parameter.
  @inline(__always)
  func clear() {
    sqlite3_clear_bindings(handle)
  }

  /// Whether there is a row.
  @inline(__always)
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw failure()
    }
  }

  /// Runs a statement without rows and resets it.
  @inline(__always)
  func run() throws {
    guard sqlite3_step(handle) == SQLITE_DONE else { throw failure() }
    sqlite3_reset(handle)
  }

  @inline(__always)
  func reset() {
    sqlite3_reset(handle)
  }

  @inline(__always)
  func int64(_ column: Int32) -> Int64 {
    sqlite3_column_int64(handle, column)
  }

  @inline(__always)
  func double(_ column: Int32) -> Double {
    sqlite3_column_double(handle, column)
  }

  @inline(__always)
  func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// A blob, valid until the next step.
  @inline(__always)
  func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: sqlite3_column_blob(handle, column), count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// A text, valid until the next step; nil for NULL.
  @inline(__always)
  func text(_ column: Int32) -> FloorBytes {
    guard let start = sqlite3_column_text(handle, column) else { return FloorBytes() }
    return FloorBytes(
      start: UnsafeRawPointer(start), count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// Copies every row of a query that returns row id and blob.
  @inline(__always)
  func fetchAll(into list: inout FloorList) throws {
    while try step() { list.append(FloorRow(id: int64(0), blob(1))) }
    reset()
  }

  @inline(never)
  private func failure() -> FloorError {
    let message = String(cString: sqlite3_errmsg(sqlite3_db_handle(handle)))
    return FloorError(description: "\(message), in: \(String(cString: sqlite3_sql(handle)))")
  }
}
