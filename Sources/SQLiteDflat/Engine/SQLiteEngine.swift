// SQLiteEngine: one file, one writing connection, a pool of readers.
//
//  - Everything that writes is the business of the `WriteSession`.
//  - Readers are opened on demand, read-only, and never wait for the writer.
//  - Only the writer checkpoints the WAL; automatic checkpoints are off on every connection.
//  - Reading works also where nothing can be written: see `Connection.openForReading`.

import Dflat
import Platform
import SQLiteAccess

final class SQLiteEngine: SharedStorageEngine, MaintainedStorageEngine, IndexBuildingStorageEngine {
  let capabilities: EngineCapabilities
  let path: String
  var storageName: String? { path }
  let configuration: SQLiteWorkspace.Configuration
  let readers: ReaderPool
  let externalChanges: ExternalChanges
  let session: WriteSession
  let reports: EngineReports
  let scanSizes = ScanSizes()
  let fullTexts = FullTextNotes()
  /// The folder of the file's backups, if the settings name one.
  let backupFolder: BackupFolder?
  private let backups: BackupSchedule
  private let opening: FileOpening
  private let statements = Mutex<[TableSQL]>([])
  /// The most recently used entry of `statements`: loops use one type again and again.
  private let latestStatements = Atomic<Unmanaged<TableSQL>?>(nil)
  private let builder = Mutex<(@Sendable (EntitySchema) -> Void)?>(nil)
  private let confirmer = Mutex<(@Sendable (EntitySchema) -> Void)?>(nil)

  /// - Parameters:
  ///   - path: The file; nil for an in-memory workspace.
  ///   - configuration: The settings.
  init(path: String?, _ configuration: SQLiteWorkspace.Configuration) {
    configuration.check()
    let directory = path == nil ? TransientDirectory() : nil
    let path = path.map(Connection.absolutePath) ?? "\(directory?.path ?? "")/data.db"
    self.path = path
    self.configuration = configuration
    backups = BackupSchedule(configuration.backups)
    backupFolder = backups.folder
    opening = FileOpening(isNeeded: directory == nil && !configuration.leavesNoTrace)
    // With more items a statement is slower than examining the rows, and SQLite finally rejects it.
    capabilities = EngineCapabilities(
      isWritable: !configuration.isReadOnly,
      queries: QueryCapabilities(
        maximumPredicateSize: 500, maximumPredicateDepth: 4, ordersUnsigned: false,
        fullText: .matches, elements: .matches))
    readers = ReaderPool(
      path: path, mayRepair: !configuration.isReadOnly,
      leavesNoTrace: configuration.leavesNoTrace,
      limit: configuration.readerLimit ?? ReaderPool.defaultLimit,
      idleLifetime: configuration.readerIdleLifetime,
      busyTimeoutMilliseconds: configuration.busyTimeoutMilliseconds,
      statementCacheCapacity: configuration.statementCacheCapacity,
      configure: { connection throws(SQLiteError) in
        connection.noteFile(of: path)
        try configuration.apply(to: connection, cacheSize: configuration.readerCacheSize)
      })
    if directory != nil { readers.shareIdleReaders() }
    externalChanges = ExternalChanges { [readers] in
      try readers.openSeparately(busyTimeoutMilliseconds: 0)
    }
    reports = EngineReports(onEvent: configuration.onEvent)
    session = WriteSession(
      path: path, in: directory, configuration, readers, externalChanges, reports)
    if directory == nil, !configuration.leavesNoTrace {
      KnownFiles.add(path, of: self, backupFolder)
    }
  }

  deinit { KnownFiles.remove(path, of: self) }

  /// The path without symbolic links. The files beside the database are there.
  var place: String { BackupFolder.resolved(path) ?? path }

  func setIndexRequestHandler(_ handler: (@Sendable (EntitySchema) -> Void)?) {
    builder.withLock { $0 = handler }
  }

  func setIndexConfirmationHandler(_ handler: (@Sendable (EntitySchema) -> Void)?) {
    confirmer.withLock { $0 = handler }
  }

  /// Notes that a query has used an index that is not complete.
  func want(indexesOf schema: EntitySchema) {
    if !configuration.isReadOnly { builder.withLock { $0 }?(schema) }
  }

  /// Notes that a query has used a complete index that has no mark, or whose values are wrong.
  func confirm(indexesOf schema: EntitySchema) {
    if !configuration.isReadOnly { confirmer.withLock { $0 }?(schema) }
  }

  /// Notes that this SQLite has no full-text tables of a kind, and reports it.
  func noteUnsupported(_ fullText: String, _ error: SQLiteError) {
    guard fullTexts.noteUnsupported(fullText) else { return }
    reports.report(
      StorageError(
        .other, table: fullText,
        message: "this SQLite has no full-text index of this kind: searches look at each object",
        underlying: error, path: error.path))
  }

  /// The types that the workspace has used.
  var usedSchemas: [EntitySchema] { statements.withLock { $0.map(\.schema) } }

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
        externalChanges.usesSeveralVersions.store(true, ordering: .releasing)
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
      return try onReader(for: purpose) {
        try body(SQLiteView(self, $0, mayUseTwoReaders: purpose == .query))
      }
    } catch let error as SQLiteError where error.isNoSuchFile && !configuration.isReadOnly {
      return try body(MissingFileView())
    } catch let error as SQLiteError {
      throw StorageError(error)
    }
  }

  /// Calls `body` with a reader. If a file that is read without locks has changed meanwhile, `body`
  /// runs again.
  func onReader<R: ~Copyable>(
    for purpose: ReadPurpose, _ body: (Connection) throws -> R
  ) throws -> R {
    try openForReading()
    do {
      for _ in 0..<5 {
        let result = try readers.withReader(beyondLimit: purpose != .query) { connection in
          Self.unlessChanged(
            connection, Result { try Self.cancellable(connection) { try body(connection) } })
        }
        if let result { return try result.get() }
      }
    } catch is RepeatedRead {}
    throw changedFile
  }

  /// Calls `body`, which reads the whole file. Checkpoints do not wait for it.
  func readingWhole<R>(_ body: () throws -> R) throws -> R {
    try session.snapshots.whileReadingWhole { try withStorageErrors(body) }
  }

  /// Opens the file for the first time, unless that was done. See `FileOpening`.
  @inline(__always)
  func openForReading() throws {
    try opening.open(self) {
      try readers.withReader(beyondLimit: true) { connection in
        // It reads the tables' definitions, which the query that follows needs as well.
        _ = try connection.rows("SELECT 1 FROM main.sqlite_schema LIMIT 1")
      }
    }
  }

  /// Calls `body`. If the read of this thread is cancelled, the connection's statement ends, even
  /// if it finds no row for long.
  static func cancellable<R: ~Copyable>(
    _ connection: Connection, _ body: () throws -> R
  ) throws -> R {
    guard let cancellation = ReadCancellation() else { return try body() }
    do {
      return try connection.interrupting(every: 1000, when: { cancellation.isCancelled }, body)
    } catch {
      try cancellation.check()
      throw error
    }
  }

  private static func unlessChanged<R: ~Copyable>(
    _ connection: Connection, _ result: consuming Result<R, any Error>
  ) -> Result<R, any Error>? {
    if connection.hasChangedPages { return nil }
    return result
  }

  /// Reports that a file which is read without locks was changed; see
  /// `StorageError.isOfChangedFile`.
  var changedFile: StorageError {
    StorageError(
      .busy, message: "the file was changed while it was read without locks",
      path: path,
      advice: "read it again; where the directory is not writable, copy the file to another one")
  }

  var lastKnownToken: CommitToken { CommitToken(externalChanges.lastGeneration) }

  var otherCommits: Int { externalChanges.otherCommits }

  func currentToken() throws -> CommitToken? {
    try withStorageErrors { try externalChanges.generation().map { CommitToken($0) } }
  }

  func makeSnapshot(for purpose: ReadPurpose) -> any StorageSnapshot {
    SQLiteSnapshot(self, purpose)
  }

  // MARK: Writing

  func prepareForWriting() throws {
    try opening.open(self) { try session.open() }
    try session.open()
    backups.begin(self)
  }

  /// Makes sure that the file can be used; otherwise errors would only show with the first use.
  func open() throws {
    if !configuration.isReadOnly { return try prepareForWriting() }
    do { try onReader(for: .query) { _ in } } catch let error as SQLiteError {
      throw StorageError(opening: path, error, isReadOnly: true)
    }
  }

  func beginWriting() throws -> any StorageWriter { try session.begin(for: self) }

  func beginWritingAtOnce() throws -> (any StorageWriter)? { try session.beginAtOnce(for: self) }

  var canWriteAtOnce: Bool {
    session.isPrepared.load(ordering: .acquiring) && !needsMaintenance
  }

  var needsMaintenance: Bool { session.isLogTooLong.load(ordering: .acquiring) }

  func performMaintenance() { session.performMaintenance() }

  // MARK: Closing

  func close() throws { try close([]) }

  func close(_ flags: WorkspaceShutdownFlag) throws {
    backups.close()
    readers.close()
    try session.close(flags)
  }
}

/// Reads from a file that does not exist: everything is empty.
final class MissingFileView: StorageReader {
  func rows(_ request: ReadRequest, mark: ReadMark) -> RowBuffer { RowBuffer() }

  func explain(_ query: Query) -> QueryExplanation {
    QueryExplanation(
      statement: nil, plan: ["there is no file yet: no object was ever stored"], indexes: [],
      of: query.schema, rowByRow: nil, isSortedInMemory: false)
  }
}

extension StorageError {
  /// Whether a file was changed while it was read without locks: what was read is not one state,
  /// and may be read again.
  package var isOfChangedFile: Bool { cause == .busy && underlying == nil && path != nil }
}
