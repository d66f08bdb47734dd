// Connection: one session on the server.
//
//  - Used by one thread at a time; the pool and the writer hand it on.
//  - Every transaction of a session is SERIALIZABLE, unless it says otherwise.
//  - Statements are prepared once per connection and found by their text. The cache is bounded.

import CPostgres
import Platform

/// The text of a statement that is used often: it is found in a connection's cache by identity.
final class StatementText: Sendable {
  let text: String

  init(_ text: String) { self.text = text }
}

final class Connection: Sendable {
  /// What one thread at a time uses. The pool's lock and the write leases keep the order of the
  /// users.
  private let session: Confined<Session>
  private let capacity: Int

  final class Session {
    let handle: OpaquePointer
    /// The values of the next statement.
    var parameters = Parameters()
    var lastUse = MonotonicTime.now
    var byIdentity: [ObjectIdentifier: Prepared] = [:]
    var byText: [String: Prepared] = [:]
    var uses = 0
    /// Begins the names of its prepared statements. Behind a pooler, another client might give its
    /// own the same ones.
    let namePrefix = "d\(String(UInt64.random(in: 0...UInt64.max), radix: 36))_"
    /// The statements whose answers were not read; if there are any, the connection is in pipeline
    /// mode.
    var sent: [Sent] = []
    /// What waits in the client until an answer is needed.
    var held = HeldStatements()
    /// The last error of a statement since a transaction began. Errors of statements that are
    /// refused because the transaction has failed already are not kept.
    var failure: PostgresError?
    /// The error of one of the sent statements in the open transaction.
    var failureOfSent: PostgresError?
    /// Whether several transactions share the open one, so that any of them may get its errors.
    var isShared = false
    /// The error that has shown that the connection is lost. All later calls throw it: what the
    /// client library says about them is no cause.
    var loss: PostgresError?
    var isLost: Bool { loss != nil }
    /// The server, as far as it is known.
    var server: ServerIdentity?
    /// Called when the connection is lost.
    var noteLoss: (@Sendable () -> Void)?
    /// How far the server has been, if it is a standby.
    var position: WALPosition?
    /// The warning that the server has sent with the last statements.
    let warning = Warning()
    /// Given back after the connection is closed.
    private let place: ConnectionPlaces.Place

    init(_ handle: OpaquePointer, _ place: ConnectionPlaces.Place) {
      self.handle = handle
      self.place = place
    }

    deinit { PQfinish(handle) }
  }

  /// What the server says beside its answers.
  final class Warning {
    /// The text of the last warning.
    var text: String?
    /// Whether the server ends the connection.
    var isLast = false
  }

  var own: Session { session.withValue { $0 } }
  var handle: OpaquePointer { own.handle }
  var parameters: Parameters { own.parameters }

  /// When it was last returned to the pool.
  var lastUse: UInt64 {
    get { own.lastUse }
    set { own.lastUse = newValue }
  }

  final class Prepared {
    let name: String
    /// Keeps the identity from being used again.
    let text: StatementText?
    var lastUse = 0

    init(_ name: String, _ text: StatementText?) {
      self.name = name
      self.text = text
    }
  }

  /// Connects, which may take as long as the connection string's `connect_timeout`.
  /// - Parameters:
  ///   - url: The connection string, a URI or a list of keywords and values.
  ///   - defaults: Keywords and values where the string has none.
  ///   - overrides: Keywords and values instead of those of the string.
  ///   - statementCacheCapacity: The number of statements that stay prepared.
  ///   - place: Its place among the workspace's connections.
  init(
    _ url: String, defaults: [(String, String)], overrides: [(String, String)] = [],
    statementCacheCapacity: Int, _ place: ConnectionPlaces.Place
  ) throws {
    capacity = statementCacheCapacity
    // The last value of a keyword is used.
    let settings =
      defaults + [("dbname", url), ("client_encoding", "UTF8")] + overrides
    let keywords = settings.map { strdup($0.0) }
    let values = settings.map { strdup($0.1) }
    defer { for text in keywords + values { free(text) } }
    let handle = (keywords.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { keywords in
      (values.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer { values in
        PQconnectdbParams(keywords.baseAddress, values.baseAddress, 1)
      }
    }
    guard let handle else {
      throw PostgresError(
        state: "", message: "there is no memory for a connection", isConnectionLost: true)
    }
    session = Confined(shared: Session(handle, place))
    // From here on an error releases it.
    guard PQstatus(handle) == CONNECTION_OK else {
      throw ConnectionFailure(
        message: String(cString: PQerrorMessage(handle)).trimmingNewlines,
        needsPassword: PQconnectionNeedsPassword(handle) != 0,
        usedPassword: PQconnectionUsedPassword(handle) != 0)
    }
    let version = Int(PQserverVersion(handle))
    guard version >= Self.oldestServer * 10_000 else {
      throw ConnectionFailure(
        message: "the server is PostgreSQL \(version / 10_000), and Dflat needs "
          + "\(Self.oldestServer) or newer",
        needsPassword: false, usedPassword: false)
    }
    // The handle ends before its session does.
    PQsetNoticeReceiver(
      handle,
      { warning, notice in
        guard let warning, let notice else { return }
        let known = Unmanaged<Warning>.fromOpaque(warning).takeUnretainedValue()
        if PostgresError.endsConnection(notice) { known.isLast = true }
        if PostgresError.isUnspecificWarning(notice) {
          known.text = PostgresError.message(of: notice)
        }
      }, Unmanaged.passUnretained(own.warning).toOpaque())
  }

  /// The oldest version of the server that works.
  private static let oldestServer = 13

  /// Whether the connection can be used.
  var isUsable: Bool { !own.isLost && PQstatus(handle) == CONNECTION_OK }

  /// Whether the server has ended the connection meanwhile, as far as that has arrived. Asked while
  /// no transaction is open. The server is not asked.
  var hasEnded: Bool {
    var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    // A server that ends the connection says so first. The end itself may arrive later.
    while isUsable, poll(&descriptor, 1, 0) > 0 {
      let isOpen = PQconsumeInput(handle) == 1
      // Reads the messages that have arrived.
      PQisBusy(handle)
      if !isOpen || own.warning.isLast { _ = lost(PostgresError(nil, handle, sql: nil)) }
    }
    return !isUsable
  }

  /// Whether a transaction is open in which statements can run.
  var isInTransaction: Bool {
    isUsable && (!own.sent.isEmpty || PQtransactionStatus(handle) == PQTRANS_INTRANS)
  }

  /// The error of a statement of the open transaction whose answer was not awaited.
  var failureOfSent: PostgresError? { own.failureOfSent }

  /// Whether an error has ended the open transaction, up to its last savepoint.
  var isInFailedTransaction: Bool { isUsable && PQtransactionStatus(handle) == PQTRANS_INERROR }

  /// Whether no transaction is open.
  var isIdle: Bool {
    isUsable && own.sent.isEmpty && PQtransactionStatus(handle) == PQTRANS_IDLE
  }

  /// Sends the statements that begin a transaction.
  func begin(_ statements: [StatementText]) throws(PostgresError) {
    own.failure = nil
    own.failureOfSent = nil
    own.isShared = false
    own.held.removeAll()
    for statement in statements { try send(statement) }
  }

  // MARK: Statements without parameters

  /// Runs statements separated by semicolons; values of the result are text.
  @discardableResult
  func execute(_ sql: String) throws(PostgresError) -> Rows {
    try finishPipeline()
    return try check(awaitResult(PQsendQuery(handle, sql)), sql)
  }

  /// Waits for the results of what was sent, up to a COPY.
  /// - Parameter isSent: 1 if it was sent.
  /// - Returns: The first error, or else the last result. Behind the server's error that ends a
  ///   connection, the client library has one of its own, which does not say why.
  func awaitResult(_ isSent: Int32) -> OpaquePointer? {
    var answer: OpaquePointer?
    while isSent == 1, let result = PQgetResult(handle) {
      let isCopy = PQresultStatus(result) == PGRES_COPY_IN
      if let known = answer, PQresultStatus(known) == PGRES_FATAL_ERROR {
        PQclear(result)
      } else {
        PQclear(answer)
        answer = result
      }
      if isCopy || PQstatus(handle) == CONNECTION_BAD { break }
    }
    return answer
  }

  /// Runs statements that end with COMMIT. If a statement of the transaction has failed, the server
  /// refuses them, or runs ROLLBACK instead; then the error of that statement is thrown.
  ///
  /// With a warning the server says that it has stopped waiting for a synchronous standby, since an
  /// operator has cancelled the statement. The transaction is stored, but a failover may lose it;
  /// so it is not known whether it is committed.
  /// - Parameters:
  ///   - query: A statement behind them, in a transaction of its own. Its errors do not matter.
  ///   - receive: Receives the rows of each statement that has any, as text.
  ///   - answer: Receives the rows of the query.
  func commit(
    _ sql: String = "COMMIT", _ receive: (borrowing Rows) -> Void = { _ in },
    then query: String? = nil, _ answer: (borrowing Rows) -> Void = { _ in }
  ) throws(PostgresError) {
    // Statements before it may have warnings of their own.
    try finishPipeline()
    let warning = own.warning
    warning.text = nil
    let command: String
    do { command = try executeAll(sql, receive, then: query, answer) } catch {
      if error.isInFailedTransaction, let failure = own.failure { throw failure }
      throw error
    }
    if let text = warning.text { throw .unknownOutcome(text) }
    if command == "COMMIT" { return }
    if let failure = own.failure { throw failure }
    throw .rolledBack
  }

  /// Runs statements separated by semicolons, up to one that ends the transaction, and a query.
  /// - Returns: What the last one before the query was.
  private func executeAll(
    _ sql: String, _ receive: (borrowing Rows) -> Void, then query: String?,
    _ answer: (borrowing Rows) -> Void
  ) throws(PostgresError) -> String {
    guard PQsendQuery(handle, query.map { "\(sql); \($0)" } ?? sql) == 1 else {
      throw lost(sql)
    }
    var command = ""
    var failure: PostgresError?
    while let result = PQgetResult(handle) {
      let isBehind = query != nil && ["COMMIT", "ROLLBACK"].contains(command)
      do throws(PostgresError) {
        let rows = try check(result, sql)
        if isBehind {
          if rows.count > 0 { answer(rows) }
          continue
        }
        if rows.count > 0 { receive(rows) }
        command = rows.command
      } catch {
        if isBehind { continue }
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return command
  }

  /// Ends the transaction, if there is one.
  func rollback() throws(PostgresError) {
    own.held.removeAll()
    // What is rolled back may have failed.
    do { try finishPipeline() } catch { if error.isConnectionLost { throw error } }
    if PQtransactionStatus(handle) != PQTRANS_IDLE { try execute("ROLLBACK") }
  }

  // MARK: Prepared statements

  /// Runs a statement with `parameters`.
  @discardableResult
  func run(_ statement: StatementText) throws(PostgresError) -> Rows {
    try run(try prepared(statement), statement.text)
  }

  /// The name of a statement that is prepared, for parameters of these types.
  func name(of statement: StatementText) throws(PostgresError) -> String {
    let prepared = try prepared(statement)
    own.uses += 1
    prepared.lastUse = own.uses
    return prepared.name
  }

  private func prepared(_ statement: StatementText) throws(PostgresError) -> Prepared {
    let id = ObjectIdentifier(statement)
    if let known = own.byIdentity[id] { return known }
    let prepared = try prepare(statement.text, statement)
    own.byIdentity[id] = prepared
    return prepared
  }

  /// The same for a statement that is put together for one query.
  @discardableResult
  func run(_ sql: String) throws(PostgresError) -> Rows {
    if let known = own.byText[sql] { return try run(known, sql) }
    let prepared = try prepare(sql, nil)
    own.byText[sql] = prepared
    return try run(prepared, sql)
  }

  /// Runs a statement that is not kept.
  @discardableResult
  func runOnce(_ sql: String) throws(PostgresError) -> Rows {
    try finishPipeline()
    let parameters = parameters
    try parameters.checkSize(for: sql)
    let isSent = PQsendQueryParams(
      handle, sql, Int32(parameters.count), parameters.types, parameters.values,
      parameters.lengths, parameters.formats, 1)
    return try check(awaitResult(isSent), sql)
  }

  private func run(_ prepared: Prepared, _ sql: String) throws(PostgresError) -> Rows {
    try sendHeld()
    let own = own
    let parameters = own.parameters
    try parameters.checkSize(for: sql)
    own.uses += 1
    prepared.lastUse = own.uses
    if !own.sent.isEmpty { return try runBehindSent(prepared.name, sql) }
    let isSent = PQsendQueryPrepared(
      handle, prepared.name, Int32(parameters.count), parameters.values, parameters.lengths,
      parameters.formats, 1)
    return try check(awaitResult(isSent), sql)
  }

  private func prepare(
    _ sql: String, _ text: StatementText?
  ) throws(PostgresError) -> Prepared {
    try finishPipeline()
    let own = own
    if own.byText.count + own.byIdentity.count >= capacity { try dropOldest() }
    own.uses += 1
    let prepared = Prepared("\(own.namePrefix)\(own.uses)", text)
    let isSent = PQsendPrepare(
      handle, prepared.name, sql, Int32(own.parameters.count), own.parameters.types)
    _ = try check(awaitResult(isSent), sql)
    return prepared
  }

  /// Removes the half that was not used for longest.
  private func dropOldest() throws(PostgresError) {
    let own = own
    let uses = (own.byText.values.map(\.lastUse) + own.byIdentity.values.map(\.lastUse)).sorted()
    let limit = uses[uses.count / 2]
    let old = own.byText.filter { $0.value.lastUse <= limit }
    for (text, prepared) in old {
      own.byText[text] = nil
      try execute("DEALLOCATE \(prepared.name)")
    }
    let oldTexts = own.byIdentity.filter { $0.value.lastUse <= limit }
    for (id, prepared) in oldTexts {
      own.byIdentity[id] = nil
      try execute("DEALLOCATE \(prepared.name)")
    }
  }

  func check(
    _ result: OpaquePointer?, _ sql: String
  ) throws(PostgresError) -> Rows {
    switch PQresultStatus(result) {
    case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
      if let result { return Rows(result) }
    default: break
    }
    let error = PostgresError(result, handle, sql: sql)
    PQclear(result)
    if error.isConnectionLost { throw lost(error) }
    if !error.isInFailedTransaction { own.failure = error }
    throw error
  }

  /// Notes that the connection is lost.
  /// - Returns: The first error that has shown it.
  func lost(_ error: PostgresError) -> PostgresError {
    if own.loss == nil { own.noteLoss?() }
    let loss = own.loss ?? error
    own.loss = loss
    own.failure = loss
    own.sent.removeAll()
    return loss
  }

  /// The same for a statement that cannot be sent.
  func lost(_ sql: String) -> PostgresError { lost(PostgresError(nil, handle, sql: sql)) }
}

/// Why there is no connection.
struct ConnectionFailure: Error {
  let message: String
  let needsPassword: Bool
  let usedPassword: Bool

  /// Whether the password was refused. A server may also be unable to go on once it has it.
  var isRefusal: Bool { usedPassword && message.contains("authentication failed") }

  /// Whether the server and the connection string do not agree about encryption: the server has not
  /// proved its identity, or only one of the two wants an encrypted connection. With several hosts,
  /// whether that holds for each.
  ///
  /// The client library has no code for it.
  var isUntrusted: Bool {
    let reasons = [
      "certificate", "does not match host name", "but SSL was required", "no encryption",
      "SSL encryption",
    ]
    let lines = message.split(separator: "\n")
    let hosts = lines.filter { $0.hasPrefix("connection to server") }
    return (hosts.isEmpty ? lines : hosts).allSatisfy { line in
      reasons.contains { line.contains($0) }
    }
  }
}
