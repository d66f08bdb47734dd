// SQLiteEngine: one file, one writing connection, a pool of readers.
//
//  - The first transaction opens the writer and prepares the file: incremental auto-vacuum before
//    WAL mode, each setting read back. Its connection is used by one thread at a time: the one that
//    holds the write lease.
//  - Readers are opened on demand, read-only, and never wait for the writer.
//  - Only the writer checkpoints the WAL, in maintenance turns (`SQLiteEngine+Maintenance`);
//    automatic checkpoints are off on every connection.
//  - Reading works also where nothing can be written: see `Connection.openForReading`.

import Dflat
import Dispatch
import SQLiteAccess
import Platform

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

final class SQLiteEngine: SharedStorageEngine, MaintainedStorageEngine, IndexBuildingStorageEngine {
  let capabilities: EngineCapabilities
  let path: String
  let configuration: SQLiteWorkspace.Configuration
  let readers: ReaderPool
  let externalChanges: ExternalChanges
  let snapshots = OpenSnapshots()
  let writer = Mutex(WriterState())
  /// The directory of an in-memory workspace's file.
  private let directory: TransientDirectory?
  private let statements = Mutex<[TableSQL]>([])
  /// The most recently used entry of `statements`: loops use one type again and again.
  private let latestStatements = Atomic<Unmanaged<TableSQL>?>(nil)
  /// Whether this process uses two versions of one schema, which may maintain a side table
  /// differently. Each commit then begins a generation (`ExternalChanges`): a write by one version
  /// may invalidate what was verified for the other.
  let usesSeveralVersions = Atomic(false)
  private let reporter = Mutex<(@Sendable (any Error) -> Void)?>(nil)
  private let told = Mutex<Set<String>>([])
  private let builder = Mutex<(@Sendable (EntitySchema) -> Void)?>(nil)
  /// Whether the writer has been opened.
  let isPrepared = Atomic(false)
  /// Whether a commit has left the WAL at its limit.
  let isLogTooLong = Atomic(false)
  /// Delivers the events of maintenance turns.
  let eventQueue = DispatchQueue(label: "dflat.eventQueue")

  /// Only the thread that holds the write lease uses the connection.
  struct WriterState {
    var connection: Connection?
    var tables = WriterTables()
    /// Whether a transaction is open; it has the connection to itself then.
    var isWriting = false
    var maintenance: FileMaintenance?
    var turns = Turns()
  }

  /// - Parameters:
  ///   - path: The file; nil for an in-memory workspace.
  ///   - configuration: The settings.
  init(path: String?, _ configuration: SQLiteWorkspace.Configuration) {
    configuration.check()
    let directory = path == nil ? TransientDirectory() : nil
    let path = path ?? "\(directory?.path ?? "")/data.db"
    self.path = path
    self.directory = directory
    self.configuration = configuration
    // With more items a statement is slower than examining the rows, and SQLite finally rejects it.
    capabilities = EngineCapabilities(
      isWritable: !configuration.isReadOnly,
      queries: QueryCapabilities(
        maximumPredicateSize: 500, maximumPredicateDepth: 4, ordersUnsigned: false))
    readers = ReaderPool(
      path: path, mayRepair: !configuration.isReadOnly,
      limit: configuration.readerLimit ?? ReaderPool.defaultLimit,
      idleLifetime: configuration.readerIdleLifetime,
      busyTimeoutMilliseconds: configuration.busyTimeoutMilliseconds,
      statementCacheCapacity: configuration.statementCacheCapacity,
      configure: { connection throws(SQLiteError) in
        try configuration.apply(to: connection, cacheSize: configuration.readerCacheSize)
      })
    externalChanges = ExternalChanges {
      try Connection.openForReading(
        path: path, mayRepair: !configuration.isReadOnly, busyTimeoutMilliseconds: 0)
    }
  }

  /// Sets the function that receives errors which cannot be thrown to a caller.
  func connect(_ report: @escaping @Sendable (any Error) -> Void) {
    reporter.withLock { $0 = report }
  }

  func report(_ error: any Error) {
    reporter.withLock { $0 }?(error)
  }

  /// Reports each error only once.
  func reportOnce(_ error: StorageError) {
    if told.withLock({ $0.insert("\(error)").inserted }) { report(error) }
  }

  func setIndexRequestHandler(_ handler: (@Sendable (EntitySchema) -> Void)?) {
    builder.withLock { $0 = handler }
  }

  /// Notes that a query has used an index that is not complete.
  func want(indexesOf schema: EntitySchema) {
    if !configuration.isReadOnly { builder.withLock { $0 }?(schema) }
  }

  /// The statements of an entity type, created once.
  func sql(for schema: EntitySchema) -> TableSQL {
    withSQL(for: schema) { $0 }
  }

  /// The same for the duration of a call, without reference counting: the engine keeps the
  /// statements as long as it lives.
  @inline(__always)
  func withSQL<R>(for schema: EntitySchema, _ body: (TableSQL) throws -> R) rethrows -> R {
    let latest = latestStatements.load(ordering: .acquiring)
    let isIt = latest?._withUnsafeGuaranteedRef { $0.schema === schema } ?? false
    let sql = isIt ? latest : nil
    return try (sql ?? makeSQL(for: schema))._withUnsafeGuaranteedRef(body)
  }

  @inline(never)
  private func makeSQL(for schema: EntitySchema) -> Unmanaged<TableSQL> {
    let sql = statements.withLock { statements in
      if let known = statements.first(where: { $0.schema === schema }) { return known }
      let sql = TableSQL(schema)
      if statements.contains(where: { $0.table == sql.table }) {
        usesSeveralVersions.store(true, ordering: .releasing)
      }
      statements.append(sql)
      return sql
    }
    let latest = Unmanaged.passUnretained(sql)
    latestStatements.store(latest, ordering: .releasing)
    return latest
  }

  // MARK: Reading

  func read<R: ~Copyable>(
    for purpose: ReadPurpose, _ body: (any StorageReader) throws -> R
  ) throws -> R {
    do {
      return try onReader(for: purpose) { try body(SQLiteView(self, $0)) }
    } catch let error as SQLiteError where error.isNoSuchFile && !configuration.isReadOnly {
      return try body(MissingFileView(error: missingFile))
    } catch let error as SQLiteError {
      throw StorageError(error)
    }
  }

  /// Calls `body` with a reader. If a file that is read without locks has changed meanwhile, `body`
  /// runs again.
  func onReader<R: ~Copyable>(
    for purpose: ReadPurpose, _ body: (Connection) throws -> R
  ) throws -> R {
    for _ in 0..<5 {
      let result = try readers.withReader(beyondLimit: purpose != .query) { connection in
        Self.unlessOutdated(connection, Result { try body(connection) })
      }
      if let result { return try result.get() }
    }
    throw changedFile
  }

  private static func unlessOutdated<R: ~Copyable>(
    _ connection: Connection, _ result: consuming Result<R, any Error>
  ) -> Result<R, any Error>? {
    if connection.isOutdated { return nil }
    return result
  }

  /// Reports that a file which can only be read without locks was changed.
  var changedFile: StorageError {
    StorageError(
      .busy, message: "the file was changed while it was read without locks",
      path: path, advice: "copy the file to a writable directory, where it can be locked")
  }

  var lastKnownToken: CommitToken { CommitToken(externalChanges.lastGeneration) }

  func currentToken() throws -> CommitToken? {
    try withStorageErrors { try externalChanges.generation().map { CommitToken($0) } }
  }

  func makeSnapshot(for purpose: ReadPurpose) -> any StorageSnapshot {
    SQLiteSnapshot(self, purpose)
  }

  /// Switches a file with a rollback journal to WAL mode, as the first transaction would, if that
  /// is possible at once. Otherwise no transaction could commit while a snapshot is open.
  func enterWALMode(before reader: Connection) {
    if isPrepared.load(ordering: .acquiring) || configuration.isReadOnly || reader.isWithoutLocks {
      return
    }
    do {
      guard try !reader.isInWALMode(), try reader.pageCount() > 0 else { return }
      let writer = try Connection(
        path: path, mode: .readWrite, busyTimeoutMilliseconds: Self.patience)
      try writer.prepareDatabaseFile()
      try writer.close()
    } catch {
      // Another program is using the file, or this one may not write it: the file is read as it is.
    }
  }

  /// How long to wait for queries, in milliseconds, while no transaction can run. A longer read may
  /// itself be waiting for a transaction.
  private static let patience = 100

  var missingFile: StorageError {
    StorageError(.cannotOpen, message: "there is no such file yet", path: path)
  }

  // MARK: Writing

  func prepareForWriting() throws {
    // The mutex may be held for long, by a thread that waits for another connection's lock.
    if isPrepared.load(ordering: .acquiring) { return }
    if configuration.isReadOnly {
      throw StorageError(
        .readOnly, message: "the workspace is read-only", path: path,
        advice: "create it with isReadOnly set to false, or do not write")
    }
    do {
      try writer.withLock { state in
        if state.connection != nil { return }
        try makeDirectory()
        try protectFiles()
        let connection = try openWriter()
        state.maintenance = try FileMaintenance(
          walLimit: configuration.walLimit, connection, readers)
        try externalChanges.writerOpened(connection)
        state.connection = connection
        isPrepared.store(true, ordering: .releasing)
      }
    } catch let error as SQLiteError {
      throw StorageError(opening: path, error, isReadOnly: false)
    }
  }

  /// Makes sure that the file can be used; otherwise errors would only show with the first use.
  func open() throws {
    if !configuration.isReadOnly { return try prepareForWriting() }
    do { try onReader(for: .query) { _ in } } catch let error as SQLiteError {
      throw StorageError(opening: path, error, isReadOnly: true)
    }
  }

  private func openWriter() throws -> Connection {
    let connection = try Connection(
      path: path, busyTimeoutMilliseconds: configuration.busyTimeoutMilliseconds,
      statementCacheCapacity: configuration.statementCacheCapacity)
    // SQLite silently opens a file read-only if it must not write it.
    if connection.isReadOnly {
      throw SQLiteError(code: .readOnly, message: "the file cannot be written", path: path)
    }
    try configuration.apply(to: connection, cacheSize: configuration.writerCacheSize)
    let synchronous: DatabaseFileSettings.Synchronous =
      if directory != nil { .off } else if configuration.synchronous == .full { .full } else {
        .normal
      }
    try connection.prepareDatabaseFile(DatabaseFileSettings(synchronous: synchronous))
    return connection
  }

  private func makeDirectory() throws {
    guard let directory else { return }
    do { try directory.create() } catch {
      throw StorageError(
        error.isFull ? .diskFull : .cannotOpen, message: error.message, path: directory.path)
    }
  }

  // MARK: Closing

  func close() throws { try close([]) }

  /// The last connection to a file checkpoints and removes the WAL; our readers do not.
  func close(_ flags: WorkspaceShutdownFlag) throws {
    readers.close()
    externalChanges.close()
    defer { directory?.remove() }
    if configuration.isReadOnly && !flags.isEmpty {
      throw StorageError(
        .readOnly, message: "the workspace is read-only, so its shutdown has no flags",
        path: path, advice: "call shutdown without flags")
    }
    try withStorageErrors {
      try writer.withLock { state in
        guard let connection = try state.connection ?? writerForFlags(flags) else { return }
        state.connection = nil
        // An ended transaction may still be in memory; it holds no statements.
        state.tables.forget()
        state.maintenance = nil
        if flags.contains(.vacuum) { try connection.execute("VACUUM") }
        if flags.contains(.truncate) {
          try waitForWriters(connection)
          try connection.checkpoint(.truncate, timeoutMilliseconds: Self.patience)
          try leaveWALMode(connection)
        }
        try connection.close()
      }
    }
  }

  /// Flags apply also to a workspace that has written nothing.
  private func writerForFlags(_ flags: WorkspaceShutdownFlag) throws -> Connection? {
    if flags.isEmpty { return nil }
    do {
      return try Connection(
        path: path, mode: .readWrite,
        busyTimeoutMilliseconds: configuration.busyTimeoutMilliseconds)
    } catch  where error.isNoSuchFile {
      return nil
    }
  }

  /// Waits until no other connection writes, at most for the busy timeout.
  private func waitForWriters(_ connection: Connection) throws(SQLiteError) {
    do {
      try connection.begin(.immediate)
      try connection.rollback()
    } catch  where error.isBusy {}
  }

  /// Leaves a single file behind, unless another connection still uses it: then it stays in WAL
  /// mode.
  private func leaveWALMode(_ connection: Connection) throws(SQLiteError) {
    let timeout = connection.busyTimeoutMilliseconds
    connection.busyTimeoutMilliseconds = 0
    defer { connection.busyTimeoutMilliseconds = timeout }
    do {
      try connection.execute("PRAGMA main.journal_mode = DELETE")
    } catch  where error.isBusy || error.isLocked {}
  }

  private func protectFiles() throws {
    #if os(iOS) || os(watchOS) || os(tvOS)
      let kind: FileProtectionType =
        switch configuration.fileProtectionLevel {
        case .noProtection: .none
        case .completeFileProtection: .complete
        case .completeFileProtectionUnlessOpen: .completeUnlessOpen
        case .completeFileProtectionUntilFirstUserAuthentication:
          .completeUntilFirstUserAuthentication
        }
      for suffix in ["", "-wal", "-shm"]
      where !FileManager.default.fileExists(atPath: path + suffix) {
        FileManager.default.createFile(
          atPath: path + suffix, contents: nil, attributes: [.protectionKey: kind])
      }
    #endif
  }
}

/// Reads from a file that does not exist: everything is empty.
private final class MissingFileView: StorageReader {
  private let error: StorageError

  init(error: StorageError) {
    self.error = error
  }

  func rows(_ query: Query, mark: ReadMark) -> RowBuffer { RowBuffer() }
  func row(of schema: EntitySchema, id: Int64) -> Row? { nil }
  func row(of schema: EntitySchema, keyOf row: Row) -> Row? { nil }
  func rows(of schema: EntitySchema, after id: Int64, limit: Int) -> RowBuffer { RowBuffer() }
  func lastID(of schema: EntitySchema) -> Int64? { nil }
  func explain(_ query: Query) throws -> QueryExplanation { throw error }
}
