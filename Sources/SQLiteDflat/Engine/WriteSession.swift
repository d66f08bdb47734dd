// WriteSession: the writing connection, and the transactions on it.
//
//  - There is one writing connection. The first transaction opens it (`WriteSession+Opening`).
//  - A transaction has the connection to itself, from `begin` to `commit` or `rollback`. Its thread
//    holds the write lease.
//  - Between transactions the session uses the connection for maintenance
//    (`WriteSession+Maintenance`). A lock separates the two: a transaction that begins waits for a
//    maintenance turn, or gives up if it must not wait.
//  - `ExternalChanges` asks the connection whether others have committed, but never while the
//    session changes its state.

import Dflat
import Platform
import SQLiteAccess

final class WriteSession: Sendable {
  let path: String
  let configuration: SQLiteWorkspace.Configuration
  /// The directory of an in-memory workspace's file.
  let directory: TransientDirectory?
  let readers: ReaderPool
  let snapshots = OpenSnapshots()
  let externalChanges: ExternalChanges
  let reports: EngineReports
  let state: Mutex<State>
  /// Whether the connection has been opened.
  let isPrepared = Atomic(false)
  /// Whether a commit has left the WAL at its limit.
  let isLogTooLong = Atomic(false)
  /// How many threads wait for the connection. A task that a policy made due ends as soon as
  /// there are some.
  let waiting = Atomic(0)

  /// The file, as far as it is open for writing.
  struct OpenFile {
    let connection: Connection
    var maintenance: FileMaintenance

    /// Whether the WAL is long enough for a checkpoint.
    var isCheckpointDue: Bool { maintenance.isDue(connection) }
  }

  struct State {
    enum Phase {
      /// Before the first transaction, and after the end of the session.
      case closed
      /// Between transactions: maintenance may use the connection.
      case idle(OpenFile)
      /// A transaction has the connection to itself.
      case writing(OpenFile)
    }

    var phase = Phase.closed
    /// What the connection knows of its tables.
    var tables: WriterTables
    var turns = Turns()
    /// Where turns find this session that look whether a maintenance task is due.
    var dueTarget: TurnTarget?
    /// How long the last attempt of a task that was ended waits for the next one.
    var duePause = Duration.zero

    var file: OpenFile? {
      switch phase {
      case .closed: nil
      case .idle(let file), .writing(let file): file
      }
    }

    var connection: Connection? { file?.connection }

    var isWriting: Bool { if case .writing = phase { true } else { false } }

    /// Uses the maintenance of the open file, if there is one.
    mutating func maintain<R>(
      _ body: (inout FileMaintenance, Connection) throws -> R
    ) rethrows -> R? {
      switch phase {
      case .closed:
        return nil
      case .idle(var file):
        defer { phase = .idle(file) }
        return try body(&file.maintenance, file.connection)
      case .writing(var file):
        defer { phase = .writing(file) }
        return try body(&file.maintenance, file.connection)
      }
    }
  }

  /// - Parameters:
  ///   - path: The file.
  ///   - directory: Its directory, if it is an in-memory workspace's.
  ///   - configuration: The settings.
  ///   - readers: The readers of the file.
  ///   - externalChanges: Told when the connection begins and ends transactions.
  ///   - reports: Receives the errors and events of maintenance.
  init(
    path: String, in directory: TransientDirectory?, _ configuration: SQLiteWorkspace.Configuration,
    _ readers: ReaderPool, _ externalChanges: ExternalChanges, _ reports: EngineReports
  ) {
    self.path = path
    self.directory = directory
    self.configuration = configuration
    self.readers = readers
    self.externalChanges = externalChanges
    self.reports = reports
    state = Mutex(
      State(tables: WriterTables(externalChanges, sealsRows: configuration.rowChecksums)))
  }

  /// Uses the state without waiting for a task that a policy made due, which ends.
  @inline(__always)
  func withStateSoon<R>(
    _ body: (inout sending State) throws -> sending R
  ) rethrows -> sending R {
    waiting.wrappingAdd(1, ordering: .relaxed)
    return try state.withLock { state in
      waiting.wrappingSubtract(1, ordering: .relaxed)
      return try body(&state)
    }
  }

  // MARK: One transaction

  /// Begins a transaction. Waits for a maintenance turn, and for other connections that write.
  func begin(for engine: SQLiteEngine) throws -> any StorageWriter {
    return try withStorageErrors {
      try withStateSoon { state in
        checkpointIfDue(&state)
        return try begin(&state, engine)
      }
    }
  }

  /// Begins a transaction without waiting.
  /// - Returns: nil if it would have to wait.
  func beginAtOnce(for engine: SQLiteEngine) throws -> (any StorageWriter)? {
    try withStorageErrors {
      let writer = try state.withLockIfAvailable { state -> (any StorageWriter)? in
        guard let file = state.file, !file.isCheckpointDue else { return nil }
        return try file.connection.withoutWaiting {
          do { return try begin(&state, engine) } catch let error as SQLiteError
            where error.isBusy
          {
            return nil
          }
        }
      }
      return writer ?? nil
    }
  }

  private func begin(_ state: inout State, _ engine: SQLiteEngine) throws -> any StorageWriter {
    guard let file = state.file else { throw StorageError.missingFile(path) }
    let connection = file.connection
    externalChanges.writerChanges()
    do {
      try connection.begin(.immediate)
      state.tables.begin(at: try externalChanges.writerBegan())
      state.phase = .writing(file)
    } catch {
      if connection.isInTransaction { try connection.rollback() }
      externalChanges.writerEnded()
      throw error
    }
    return SQLiteWriter(engine, self, connection, state.tables)
  }

  /// Commits the transaction, and schedules the maintenance that it requires. A commit that fails
  /// is rolled back.
  /// - Returns: The generation after it.
  func commit() throws -> Int {
    try end { state, connection in
      do {
        state.tables.sameLength.end()
        try state.tables.settleTexts(connection)
        try connection.commit()
      } catch {
        try rollback(&state, connection)
        if (error as? SQLiteError)?.isFileReplaced == true { saveRemovedLog(connection) }
        throw error
      }
      defer { committed(&state) }
      return state.tables.beginGenerationIfDue()
    }
  }

  func rollback() throws {
    _ = try end { state, connection in
      try rollback(&state, connection)
      return state.tables.generation
    }
  }

  private func saveRemovedLog(_ connection: Connection) {
    do { try connection.saveRemovedLog() } catch { reports.reportLater(StorageError(error)) }
  }

  private func rollback(_ state: inout State, _ connection: Connection) throws {
    state.tables.forget()
    // After some errors SQLite has rolled back already.
    if connection.isInTransaction { try connection.rollback() }
  }

  private func end(_ body: (inout State, Connection) throws -> Int) throws -> Int {
    try withStorageErrors {
      try state.withLock { state in
        guard let file = state.file else {
          throw StorageError(.closed, message: "the storage was closed during a transaction")
        }
        externalChanges.writerChanges()
        state.phase = .idle(file)
        // Runs last: from then on other threads may ask the writer's connection about external
        // changes.
        defer { externalChanges.writerEnded() }
        return try body(&state, file.connection)
      }
    }
  }
}
