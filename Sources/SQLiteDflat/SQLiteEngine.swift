// SQLiteEngine: one file, one writing connection, a pool of readers.
//
//  - The writer is opened by the first transaction and prepares the file: incremental auto-vacuum before WAL mode, each
//    setting read back. Its connection is used by one thread at a time: the one that holds the write turn.
//  - Readers are opened on demand, read-only, and never wait for the writer.
//  - The write-ahead log is checkpointed by the writer only, in its own turn, with the write lock; automatic checkpoints are
//    off on every connection.

import Dflat
import Dispatch
import SQLiteAccess
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

final class SQLiteEngine: StorageEngine {
  let path: String
  let readers: ReaderPool
  let foreignChanges: ForeignChanges
  private let settings: DatabaseFileSettings
  private let protection: SQLiteWorkspace.FileProtectionLevel
  private let statements = Mutex<[ObjectIdentifier: TableSQL]>([:])
  private let reporter = Mutex<(@Sendable (any Error) -> Void)?>(nil)
  private let writer: Mutex<WriterState>
  private let isPrepared = Atomic(false)

  /// Pages in the write-ahead log at which the writer moves them into the file.
  private static let checkpointPages = 1000

  /// Unchecked: the connection is used by the thread that holds the write turn, which is one at a time.
  private struct WriterState: @unchecked Sendable {
    var connection: Connection?
    var tables = WriterTables()
    /// Log pages at which the next checkpoint is due.
    var checkpointAt = SQLiteEngine.checkpointPages
  }

  init(
    path: String, protection: SQLiteWorkspace.FileProtectionLevel,
    synchronous: SQLiteWorkspace.Synchronous
  ) {
    self.path = path
    self.protection = protection
    settings = DatabaseFileSettings(synchronous: synchronous == .full ? .full : .normal)
    readers = ReaderPool(path: path, configure: Self.playBackJournal)
    foreignChanges = ForeignChanges {
      let watcher = try Connection(path: path, mode: .readOnly)
      try Self.playBackJournal(watcher)
      return watcher
    }
    writer = Mutex(WriterState())
  }

  /// Where errors without another way out go.
  func connect(_ report: @escaping @Sendable (any Error) -> Void) {
    reporter.withLock { $0 = report }
  }

  func report(_ error: any Error) {
    reporter.withLock { $0 }?(error)
  }

  /// The statements of an entity type, written once.
  func sql(for schema: EntitySchema) -> TableSQL {
    statements.withLock { statements in
      if let sql = statements[ObjectIdentifier(schema)] { return sql }
      let sql = TableSQL(schema)
      statements[ObjectIdentifier(schema)] = sql
      return sql
    }
  }

  // MARK: Reading

  /// Makes sure that a new reader can read. While a file is not in WAL mode yet, or not any more, a crash leaves a journal that
  /// takes back what was half done, and only who may write can play it back.
  private static func playBackJournal(_ reader: Connection) throws(SQLiteError) {
    do { _ = try reader.dataVersion() } catch  where error.needsRollback {
      let problem = error
      do {
        let writer = try Connection(path: reader.path, mode: .readWrite)
        _ = try writer.dataVersion()
        try writer.close()
      } catch {
        // Not even a writer can: what the reader says is what is wrong.
        throw problem
      }
    }
  }

  func read<R>(isUrgent: Bool, _ body: (any StorageReader) throws -> R) throws -> R {
    do {
      return try readers.withReader(beyondLimit: isUrgent) { try body(SQLiteView(self, $0)) }
    } catch let error as SQLiteError where error.isNoSuchFile {
      return try body(MissingFileView(error: missingFile))
    } catch let error as SQLiteError {
      throw StorageError(error)
    }
  }

  var generation: Int { foreignChanges.lastGeneration }

  func currentGeneration() throws -> Int {
    try withStorageErrors { try foreignChanges.generation() ?? foreignChanges.lastGeneration }
  }

  func makeSnapshot(isUrgent: Bool) -> any StorageSnapshot {
    SQLiteSnapshot(self, isUrgent: isUrgent)
  }

  var missingFile: StorageError {
    StorageError(.cannotOpen, message: "there is no file \(path) yet")
  }

  // MARK: Writing

  func prepareForWriting() throws {
    // The mutex may be held for long, by who waits for another connection's lock.
    if isPrepared.load(ordering: .acquiring) { return }
    try withStorageErrors {
      try writer.withLock { state in
        if state.connection != nil { return }
        try protectFiles()
        let connection = try Connection(path: path)
        try connection.prepareDatabaseFile(settings)
        state.connection = connection
        foreignChanges.writerOpened(connection)
        isPrepared.store(true, ordering: .releasing)
      }
    }
  }

  func beginWriting(_ schemas: Set<EntitySchema>) throws -> any StorageWriter {
    try withStorageErrors {
      try writer.withLock { state in
        guard let connection = state.connection else { throw missingFile }
        foreignChanges.writerChanges()
        do {
          try connection.begin(.immediate)
          state.tables.begin(at: try foreignChanges.writerBegan())
        } catch {
          if connection.isInTransaction { try connection.rollback() }
          foreignChanges.writerEnded()
          throw error
        }
        return SQLiteWriter(self, connection, state.tables)
      }
    }
  }

  /// Ends the transaction that `beginWriting` began. A commit that fails is rolled back.
  func endWriting(committing: Bool) throws {
    try withStorageErrors {
      try writer.withLock { state in
        guard let connection = state.connection else { return }
        foreignChanges.writerChanges()
        // Last of all: from then on others may ask the writer's connection about foreign changes.
        defer { foreignChanges.writerEnded() }
        do {
          if committing {
            try connection.commit()
            checkpointIfDue(&state, connection)
          } else {
            state.tables.forget()
            // After some errors SQLite has rolled back already.
            if connection.isInTransaction { try connection.rollback() }
          }
        } catch {
          state.tables.forget()
          if connection.isInTransaction { try connection.rollback() }
          throw error
        }
      }
    }
  }

  /// Moves the log into the file when it has grown. Readers of old states are not waited for: it is tried again when as
  /// much has been added.
  private func checkpointIfDue(_ state: inout WriterState, _ connection: Connection) {
    guard connection.walPagesAfterLastCommit >= state.checkpointAt else { return }
    do {
      let result = try connection.checkpoint(.restart, timeoutMilliseconds: 0)
      state.checkpointAt =
        result.isBusy
        ? connection.walPagesAfterLastCommit + Self.checkpointPages : Self.checkpointPages
      if !result.isBusy { try giveBackFreePages(connection) }
    } catch {
      report(StorageError(error))
    }
  }

  /// Gives free pages back to the file system, a bounded number at a time.
  private func giveBackFreePages(_ connection: Connection) throws(SQLiteError) {
    let free = try connection.freelistCount()
    if free > 256 { _ = try connection.incrementalVacuum(pages: min(free - 256, 1000)) }
  }

  // MARK: Closing

  /// The last connection to a file moves the log into it and removes the log; no reader of ours does.
  func close(_ flags: WorkspaceShutdownFlag) throws {
    readers.close()
    foreignChanges.close()
    try withStorageErrors {
      try writer.withLock { state in
        guard let connection = try state.connection ?? writerForFlags(flags) else { return }
        state.connection = nil
        // A transaction that has ended may not be gone yet: it holds no statements.
        state.tables.forget()
        if flags.contains(.vacuum) { try connection.execute("VACUUM") }
        if flags.contains(.truncate) {
          try connection.checkpoint(.truncate)
          try leaveWALMode(connection)
        }
        try connection.close()
      }
    }
  }

  /// Flags are carried out also by a workspace that has written nothing.
  private func writerForFlags(_ flags: WorkspaceShutdownFlag) throws -> Connection? {
    if flags.isEmpty { return nil }
    do {
      return try Connection(path: path, mode: .readWrite)
    } catch  where error.isNoSuchFile {
      return nil
    }
  }

  /// One file remains, unless another connection still uses it: then it stays in WAL mode.
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
        switch protection {
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

/// What is read where there is no file: nothing.
private final class MissingFileView: StorageReader {
  private let error: StorageError

  init(error: StorageError) {
    self.error = error
  }

  func rows(_ query: Query, mark: ReadMark) -> ContiguousArray<Row> { [] }
  func row(of schema: EntitySchema, id: Int64) -> Row? { nil }
  func row(of schema: EntitySchema, keyOf row: Row) -> Row? { nil }
  func explain(_ query: Query) throws -> QueryExplanation { throw error }
}
