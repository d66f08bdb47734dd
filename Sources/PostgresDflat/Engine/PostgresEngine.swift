// PostgresEngine: a database on a server, connections that write, a pool of readers.
//
//  - Every transaction is SERIALIZABLE. The server refuses one that could not have run alone, and
//    `commit`, or an earlier call, throws a conflict; the workspace then runs the closure again.
//  - `WriteSession` writes; `PostgresEngine+Layout` creates tables and columns.
//  - A read that the server has ended, or has refused, begins anew on another connection, unless
//    the caller has been given rows of it.

import Dflat
import FlatBuffersRuntime
import Platform

final class PostgresEngine: ChangeRecordingStorageEngine, IndexBuildingStorageEngine {
  let capabilities: EngineCapabilities
  let url: String
  var storageName: String? { "\(url) \(configuration.schema)" }
  let configuration: PostgresWorkspace.Configuration
  let system: SystemSQL
  let connector: Connector
  let readers: ConnectionPool
  /// The name of the workspace, for others.
  let workspace: String
  let own: OwnEntries
  let sessions: WriteSessions
  /// Whether any table that belongs to no entity type is known to exist.
  private let isFound = Atomic<Bool>(false)
  /// Whether all of them are.
  let isPrepared = Atomic<Bool>(false)
  private let tables = Mutex<[ObjectIdentifier: EntityTable]>([:])
  /// The marks with the greatest version that was read.
  private let latestMarks = Mutex(IndexMarks.none)
  private let reports = OwnReports()
  let events: EventRecorder
  private let notifier: ChangeNotifier
  private let listener = Mutex<ChangeListener?>(nil)
  /// How often callers were shown a state outside of write transactions.
  let shown = Atomic<Int>(0)
  /// How many queries and snapshots standbys, and the primary, have answered.
  let standbyReads = Atomic<Int>(0)
  let primaryReads = Atomic<Int>(0)
  /// nil if the server that the connection string leads to answers all queries.
  let standbys: StandbyReads?
  /// How a transaction begins that others wait for.
  let first: Isolation
  /// The transactions that write, as they were seen last.
  let writers: Mutex<TableUses>
  private let builder = Mutex<(@Sendable (EntitySchema) -> Void)?>(nil)
  /// What other workspaces had committed when it was last looked at.
  private let others = Mutex<(text: String, generation: Int)>(("", 0))
  let indexCreations = IndexCreations()
  /// When the server has last refused the indexes of a table, and why, by its name.
  let refusedLayouts = Mutex<[String: (time: UInt64, reason: StorageError)]>([:])

  init(url: String, _ configuration: PostgresWorkspace.Configuration) {
    configuration.check()
    let workspace = CommitLedger.workspaceName()
    self.workspace = workspace
    own = OwnEntries(of: workspace)
    self.url = url
    self.configuration = configuration
    capabilities = EngineCapabilities(
      isWritable: !configuration.isReadOnly, excludesOtherWriters: false,
      canNest: configuration.sharesCommits, keysAtOnce: PostgresView.keysAtOnce,
      writersAtOnce: configuration.writersAtOnce, givesPrecedence: true,
      conflictPatience: configuration.conflictTimeout,
      queries: QueryCapabilities(
        maximumPredicateSize: 1000, maximumPredicateDepth: 8, ordersUnsigned: false,
        fullText: .candidates, elements: .candidates))
    system = SystemSQL(schema: configuration.schema)
    first = .first(system.precedence)
    writers = Mutex(TableUses(of: system.precedence.table))
    let events = EventRecorder(configuration.onEvent)
    self.events = events
    let connector = Connector(url: url, configuration, events)
    self.connector = connector
    func pool(_ purpose: Connector.Purpose) -> ConnectionPool {
      ConnectionPool(
        limit: configuration.readerLimit,
        idleLifetime: MonotonicTime.nanoseconds(configuration.readerIdleLifetime),
        connector.places, events,
        isCurrent: { connector.isCurrent($0) }, connect: { try connector.connect(purpose, $0) })
    }
    let readers = pool(.reading)
    self.readers = readers
    let standbys: StandbyReads? =
      switch configuration.readsFrom {
      case .sameServer: nil
      case .standbys(let freshness, let patience):
        StandbyReads(
          pool(.standby), primary: readers, freshness: freshness, patience: patience)
      }
    self.standbys = standbys
    connector.onShortage {
      readers.closeIdle()
      standbys?.pool.closeIdle()
    }
    let reports = reports
    notifier = ChangeNotifier(readers, system.log, workspace: workspace) {
      reports.reportOnce($0)
    }
    sessions = WriteSessions(
      configuration.writersAtOnce, connector, system, notifier, events, standbys,
      workspace: workspace, own, logLength: configuration.changeLogLength)
  }

  // MARK: Reports

  /// Sets the function that receives errors which cannot be thrown to a caller.
  func connect(_ report: @escaping @Sendable (any Error) -> Void) { reports.connect(report) }

  func report(_ error: any Error) { reports.report(error) }

  /// Reports each error only once.
  func reportOnce(_ error: StorageError) { reports.reportOnce(error) }

  func setIndexRequestHandler(_ handler: (@Sendable (EntitySchema) -> Void)?) {
    builder.withLock { $0 = handler }
  }

  /// Notes that a query could use an index that is not complete.
  func want(indexesOf schema: EntitySchema) {
    if !configuration.isReadOnly { builder.withLock { $0 }?(schema) }
  }

  // MARK: Tables and marks

  /// The table of an entity type, and its statements.
  func table(of schema: EntitySchema) -> EntityTable {
    tables.withLock { tables in
      let id = ObjectIdentifier(schema)
      if let known = tables[id] { return known }
      let table = EntityTable(schema, in: system)
      tables[id] = table
      return table
    }
  }

  /// The types that were used.
  var usedSchemas: [EntitySchema] { tables.withLock { $0.values.map(\.schema) } }

  /// Begins a transaction that only reads.
  /// - Returns: The marks of its state; nil if nothing was ever stored: then none has begun.
  func beginReading(
    _ connection: Connection, _ isolation: Isolation = .serializable
  ) throws(PostgresError) -> IndexMarks? {
    guard try checkExistence(connection) else { return nil }
    return try begin(isolation, connection)
  }

  /// How a transaction begins.
  struct Isolation {
    let statements: [StatementText]

    private init(_ statements: String...) { self.statements = statements.map(StatementText.init) }

    private init(_ statements: [StatementText]) { self.statements = statements }

    private static let beginWriting = StatementText("BEGIN ISOLATION LEVEL SERIALIZABLE")
    /// For the connections that write.
    static func writing(_ precedence: Precedence) -> Isolation {
      Isolation([beginWriting, precedence.share])
    }
    /// The same for one that others wait for.
    static func first(_ precedence: Precedence) -> Isolation {
      Isolation([beginWriting] + precedence.take)
    }
    /// Serializable, or what a standby has.
    static let serializable = Isolation("BEGIN READ ONLY")
    /// The same. It waits for a state whose reads the server never refuses.
    static let settled = Isolation("BEGIN READ ONLY DEFERRABLE")
    /// For a snapshot that may go on as a write transaction. As for all that write, a scan of a
    /// whole table would conflict with every other writer of the table.
    static let writable = Isolation(
      "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE", "SET LOCAL enable_seqscan = off")
    /// The server never refuses it, and refuses no other transaction for what it has read.
    static let repeatableRead = Isolation("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
  }

  /// Whether anything was ever stored: any of the tables exists that belong to no entity type.
  func checkExistence(_ connection: Connection) throws(PostgresError) -> Bool {
    // What was there and is gone is an error, and not an empty database.
    if isFound.load(ordering: .acquiring) || isPrepared.load(ordering: .acquiring) { return true }
    guard try connection.execute(system.exist).text(0, 0) == "t" else { return false }
    isFound.store(true, ordering: .releasing)
    return true
  }

  /// Whether all of these tables have what a transaction that writes needs.
  func checkPrepared(_ connection: Connection) throws(PostgresError) -> Bool {
    if isPrepared.load(ordering: .acquiring) { return true }
    guard try connection.execute(system.areComplete).text(0, 0) == "t",
      try connection.execute(system.hasState).text(0, 0) == "t"
    else { return false }
    isPrepared.store(true, ordering: .releasing)
    return true
  }

  /// Begins a transaction and reads the marks of its state.
  func begin(
    _ isolation: Isolation, _ connection: Connection
  ) throws(PostgresError) -> IndexMarks {
    try PipelinedBegin(isolation, self, connection).marks()
  }

  /// The marks that were read last.
  var knownMarks: IndexMarks { latestMarks.withLock { $0 } }

  /// Notes the marks that a transaction has read.
  func note(_ marks: IndexMarks) {
    latestMarks.withLock { if $0.version < marks.version { $0 = marks } }
  }

  // MARK: Reading

  func read<R: ~Copyable>(
    for purpose: ReadPurpose, _ body: (any StorageReader) throws -> R
  ) throws -> R {
    if purpose == .query,
      let answer = try onStandby({ view in try view.inOneState { try body(view) } })
    {
      return answer
    }
    defer { noteShownState() }
    if purpose == .query { primaryReads.add(1, ordering: .relaxed) }
    return try onView(for: purpose) { view in try view.inOneState { try body(view) } }
  }

  /// How often callers were shown a state outside of write transactions.
  var shownCount: Int { shown.load(ordering: .sequentiallyConsistent) }

  /// Calls `body` with a view. If the server ends or refuses the read, `body` runs again, the last
  /// time in a state that the server cannot refuse.
  func onView<R: ~Copyable>(
    for purpose: ReadPurpose, _ body: (PostgresView) throws -> R
  ) throws -> R {
    var attempts = 5
    while true {
      attempts -= 1
      var mayRepeat = false
      do {
        return try withStorageErrors {
          try readers.withConnection(beyondLimit: purpose != .query) { connection in
            let view = PostgresView(
              self, connection, isSettled: attempts == 0, isCopying: purpose == .copying)
            do { return try body(view) } catch {
              mayRepeat = !view.hasGivenRows
              throw error
            }
          }
        }
      } catch is StorageClosed {
        throw StorageError(.closed, message: "the workspace was shut down")
      } catch let error as StorageError {
        guard let cause = error.underlying as? PostgresError,
          cause.isConflict || cause.isConnectionLost, mayRepeat, attempts > 0
        else { throw error }
        // The server may have ended all of them.
        if cause.isConnectionLost { readers.closeIdle() }
      }
    }
  }

  func row(of schema: EntitySchema, with key: KeyValues, mark: ReadMark) throws -> Row? {
    // Values of dictionaries are kept in memory, which follows the primary.
    if schema !== DictionaryItem.schema,
      let answer = try onStandby({ try $0.row(of: schema, with: key, alone: mark) })
    {
      return answer
    }
    defer { noteShownState() }
    primaryReads.add(1, ordering: .relaxed)
    return try onView(for: .query) { try $0.row(of: schema, with: key, alone: mark) }
  }

  func withRow(
    of schema: EntitySchema, with key: KeyValues,
    _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) -> Void
  ) throws {
    defer { noteShownState() }
    primaryReads.add(1, ordering: .relaxed)
    let row = try onView(for: .query) {
      try $0.row(of: schema, with: key, alone: .none, throwsDamage: true)
    }
    if let row { row.withBytes { body(row.id, $0) } }
  }

  /// Calls `body` with the row that has a key, if there is one.
  /// - Parameter throwsDamage: Whether a damaged row is thrown, and not reported and skipped.
  func withRow<R>(
    of table: EntityTable, with key: KeyValues, on connection: Connection, throwsDamage: Bool,
    _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) -> R
  ) throws -> R? {
    connection.parameters.begin(key, table)
    let rows = try connection.run(table.selectKey)
    guard rows.count > 0 else { return nil }
    let id = rows.integer(0, 0)
    let bytes = rows.bytes(0, 1)
    do { try table.schema.layout.verify(bytes) } catch {
      let damage = StorageError(
        .corruptRow, table: table.name, rowid: id, message: error.reason)
      if throwsDamage { throw damage }
      report(damage)
      return nil
    }
    return body(id, bytes)
  }

  func makeSnapshot(for purpose: ReadPurpose) -> any StorageSnapshot {
    PostgresSnapshot(self, purpose)
  }

  // MARK: Other workspaces

  var lastKnownToken: CommitToken { CommitToken(others.withLock { $0.generation }) }

  func currentToken() throws -> CommitToken? {
    let text = try onView(for: .observation) { view in
      try withStorageErrors {
        guard try checkPrepared(view.connection) else { return "" }
        // A commit in doubt is looked for as if it were another workspace's.
        var text = own.suffix
        try view.connection.commit(
          system.selectOthers(of: workspace), { text += $0.text(0, 0) })
        return text
      }
    }
    return CommitToken(
      others.withLock { others in
        if others.text != text { others = (text, others.generation + 1) }
        return others.generation
      })
  }

  func reportExternalCommits(to handler: @escaping @Sendable () -> Void) {
    own.connect(handler)
    if !configuration.followsOtherWriters { return }
    let listener = ChangeListener(
      connector, system.log, events, workspace: workspace,
      looksEvery: configuration.listenerPause
    ) { [weak self] error in self?.reportOnce(error) }
    self.listener.withLock { $0 = listener }
    listener.start(handler)
  }

  // MARK: Writing

  /// Called before a transaction, which can run again if the connection is lost.
  func prepareForWriting() throws { try prepareForWriting(inTransaction: true) }

  /// - Parameter inTransaction: Whether a transaction is about to begin.
  func prepareForWriting(inTransaction: Bool) throws {
    if configuration.isReadOnly {
      throw StorageError(
        .readOnly, message: "the workspace only reads",
        advice: "make the workspace without isReadOnly")
    }
    if isPrepared.load(ordering: .acquiring) { return }
    try withStorageErrors(isWriting: inTransaction) { try createSystemTables() }
  }

  /// Makes sure that the database can be used; otherwise errors would only show with the first use.
  func open() throws {
    if configuration.isReadOnly {
      _ = try onView(for: .query) { view in
        try withStorageErrors { try checkExistence(view.connection) }
      }
    } else {
      try prepareForWriting(inTransaction: false)
    }
    try noteOpened()
  }

  func beginWriting() throws -> any StorageWriter { try beginWriting(withPrecedence: false) }

  func beginWritingWithPrecedence() throws -> any StorageWriter {
    try beginWriting(withPrecedence: true)
  }

  private func beginWriting(withPrecedence: Bool) throws -> any StorageWriter {
    try prepareForWriting()
    let session = try sessions.take()
    do { return try session.begin(for: self, withPrecedence: withPrecedence) } catch {
      sessions.putBack(session)
      throw error
    }
  }

  /// Never: each transaction waits for the server.
  func beginWritingAtOnce() -> (any StorageWriter)? { nil }

  var canWriteAtOnce: Bool { false }

  func close() {
    listener.withLock { $0 }?.close()
    own.close()
    indexCreations.close()
    notifier.close()
    readers.close()
    standbys?.pool.close()
    sessions.close()
    events.close()
  }
}

extension PostgresView {
  /// The row with a key, in a statement of its own: one statement sees one state.
  /// - Parameter throwsDamage: Whether a damaged row is thrown, and not reported and skipped.
  func row(
    of schema: EntitySchema, with key: KeyValues, alone mark: ReadMark, throwsDamage: Bool = false
  ) throws -> Row? {
    let table = engine.table(of: schema)
    // Before its first use a table may not exist.
    guard table.isKnown.load(ordering: .acquiring), !isSettled else {
      return try row(of: schema, with: key, mark: mark, throwsDamage: throwsDamage)
    }
    return try withStorageErrors(table: table.name) {
      try engine.withRow(of: table, with: key, on: connection, throwsDamage: throwsDamage) {
        Row(sound: $1, id: $0, mark: mark)
      }
    }
  }
}
