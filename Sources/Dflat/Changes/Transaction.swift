// Transaction: one run of a changes handler.
//
// Invariants:
//
//  - A transaction takes the write lease at its first submit, not before.
//  - A transaction that must not wait is given up as soon as it would have to, before it has any
//    effect. It runs again on a thread that may wait.
//  - Before its first write it reads from a view whose content equals the stored state at the time
//    of the first write: see `TransactionView`.
//  - `version` counts the writes, so a row that was looked up is current as long as the version is
//    the same.
//  - Rows that the transaction fetches carry the clock value of its beginning, which no other
//    transaction has. They are current until the transaction itself changes them, since no other
//    transaction writes their type meanwhile.
//  - An object of another workspace may have the row id of any object here, so a row that is found
//    by such an id must have the same key, too.
//  - A refused request has no effect; any other failure ends the transaction.

import FlatBuffersRuntime

/// Unchecked: its handler runs on one thread. The thread that reports the outcome reads its state
/// after a synchronisation through the write coordinator's lock; see `CommitMember`. Programs get
/// it as a `TransactionContext`, which is not `Sendable`.
final class Transaction: CommitMember, TransactionContext, @unchecked Sendable {
  let workspace: any TransactionHost
  /// The clock value at the beginning, which no other transaction of the workspace has.
  @exclusivity(unchecked) private var timestamp: Int64 = 0
  let view = TransactionView()
  // A transaction is used by one thread, and each access to a property is short, so exclusivity
  // holds without a check.

  /// The write lease, once the transaction has it.
  @exclusivity(unchecked) private(set) var lease: WriteCoordinator.Lease?
  /// The type that was changed last is kept apart: most transactions change only one.
  @exclusivity(unchecked) var latest: ChangedType?
  @exclusivity(unchecked) var others: [ChangedType] = []
  /// The mark of rows that it has written.
  let unread: ReadMark
  var isAborted: Bool { failure != nil }
  /// Whether failures go to the error hook because no caller receives them.
  private let reportsFailures: Bool
  /// Why the last lookup failed, until a caller throws the error.
  @exclusivity(unchecked) private var lookUpError: (any Error)?
  /// The number of its writes, as an identity.
  @exclusivity(unchecked) var version: TransactionVersion
  /// What must hold before the transaction reads or writes, for example that its types are
  /// migrated.
  @exclusivity(unchecked) private var preparation: (any TransactionPreparation)?
  #if DEBUG
    let requests = WatchedRequests()
  #endif
  /// Changes beyond its requests: those in dictionaries.
  @exclusivity(unchecked) var addition: (any TransactionAddition)?
  /// The changes of the transaction.
  @exclusivity(unchecked) private var writes = WriteSet()
  /// Records the changes that can be taken back, while these are made.
  @exclusivity(unchecked) var journal: ChangeJournal?
  /// Notes the keys of some types' changes.
  @exclusivity(unchecked) var noter: (any TransactionPreparation)?
  /// False once the handler has returned.
  @exclusivity(unchecked) private(set) var isOpen = true
  private let completion: Completion
  /// What the program does in the transaction, if that was given with it.
  @exclusivity(unchecked) private var handler: Handler?
  /// Whether the transaction may wait for the write lease and for other connections.
  private let mayWait: Bool
  /// Whether objects that cannot be stored are refused, and the transaction goes on. Otherwise they
  /// end it.
  @exclusivity(unchecked) var refusesUnstorable = false
  /// How many conflicts have ended earlier runs. From the first on it excludes at once what may
  /// have been in its way in the workspace, and from the fourth on other connections, too.
  let conflicts: Int
  /// Whether the transaction would have had to wait, which it may not.
  @exclusivity(unchecked) private(set) var isAbandoned = false
  /// Whether the task that awaits it was cancelled; nil if no task does.
  @exclusivity(unchecked) var cancellation: (@Sendable () -> Bool)?
  /// The transaction of another workspace in whose handler this one's handler runs.
  @exclusivity(unchecked) var outer: Transaction?

  typealias Handler = @Sendable (any TransactionContext) -> Void

  /// How the outcome is reported.
  enum Completion {
    case none
    /// A handler of the program, called with whether the transaction is committed.
    case classic(@Sendable (Bool) -> Void)
    case awaited(CommitOutcome)
  }

  /// - Parameter handler: Called by `callHandler`, which begins the transaction. Without one it
  ///   begins here.
  init(
    _ workspace: any TransactionHost, _ types: TypeSet, reportsFailures: Bool,
    isMigration: Bool = false, mayWait: Bool = true, conflicts: Int = 0,
    completion: Completion, handler: Handler? = nil
  ) {
    self.handler = handler
    self.workspace = workspace
    self.reportsFailures = reportsFailures
    self.completion = completion
    self.mayWait = mayWait
    self.conflicts = conflicts
    let reading = workspace.reading
    unread = .unread(in: reading)
    version = TransactionVersion(in: reading)
    super.init(types)
    if handler == nil { begin(isMigration: isMigration) }
  }

  private func begin(isMigration: Bool = false) {
    preparation = isMigration ? nil : workspace.preparation(for: types)
    noter = preparation
    timestamp = workspace.clock.takeMoment()
  }

  /// Begins the transaction, and calls the handler that it was made with.
  func callHandler() {
    guard let handler = handler.take() else {
      preconditionFailure("a transaction without a handler, or a handler for the second time")
    }
    begin()
    handler(self)
  }

  // MARK: Reading

  /// Returns the stored row of an object; see `stored(_:_:)`.
  func lookUp(
    _ row: Row, _ schema: EntitySchema, for call: String, acceptsDamaged: Bool = false
  ) -> Row? {
    settleLookUp()
    let hasFailed = isAborted
    do {
      try requireListed(schema, for: call)
      if isCurrent(row, schema) { return row }
      // It runs again, and nothing of this run has any effect.
      if isAbandoned { return nil }
      try preparation?.prepareReading(schema, in: self)
      return try stored(row, schema)
    } catch {
      let isDamaged = (error as? StorageError)?.cause == .corruptRow
      if error is WorkspaceError {
        if !hasFailed { fail(error) }
      } else if !reportsFailures {
        lookUpError = error
      } else if isDamaged {
        workspace.report(error)
      } else if !hasFailed {
        // The caller will conclude that the object does not exist. Nothing that follows from this
        // may be committed.
        fail(error)
      }
      // A damaged row can still be removed, by its id.
      return acceptsDamaged && isDamaged && workspace.owns(row) ? row : nil
    }
  }

  /// Reads the stored row of an object; see `TransactionHost.find`.
  func stored(_ row: Row, _ schema: EntitySchema) throws -> Row? {
    try workspace.find(row, schema) {
      try read(.row(schema, id: row.id)) { try $0.row(of: schema, id: row.id) }
    } byKey: {
      try read(.key(schema, of: row)) { try $0.row(of: schema, keyOf: row) }
    }
  }

  /// A stored row, which was looked up, as the program gets it.
  func own(_ row: Row) -> Row { workspace.owns(row) ? row : row.marked(unread) }

  /// The timestamp for rows of a type that are read now; 0, for unknown, once the transaction has
  /// changed the type.
  func timestamp(of schema: EntitySchema) -> Int64 {
    changed(schema) == nil ? timestamp : 0
  }

  /// The mark for rows of a type that are read now.
  func mark(of schema: EntitySchema) -> ReadMark {
    ReadMark(timestamp: timestamp(of: schema), reading: unread.reading)
  }

  /// Calls `body` with the view that a query is answered from.
  /// - Parameter values: What else is computed from its objects.
  func reading<R: ~Copyable>(
    _ query: Query, _ values: [ValueExpression] = [],
    _ body: (any StorageReader) throws -> R
  ) throws -> R {
    try requireReading(query.schema)
    let related = query.relatedTypes(with: values)
    if related.isEmpty { return try read(.query(query), body) }
    for type in related {
      try requireReading(type)
      // Only the query is read again when the view is confirmed, and not the values.
      if !values.isEmpty { try read(.query(Query(schema: type))) { _ in } }
    }
    return try read(.query(query)) { try body(FollowingReader($0)) }
  }

  private func requireReading(_ schema: EntitySchema) throws {
    try requireListed(schema, for: "fetch(for:)")
    try preparation?.prepareReading(schema, in: self)
  }

  /// Why the last lookup failed. The caller throws it: the transaction forgets it.
  func takeLookUpError() -> (any Error)? { lookUpError.take() }

  /// Acts on the error of a lookup that no caller has thrown: the program has concluded that the
  /// object does not exist, and nothing that follows from this may be committed. A damaged row
  /// counts as no object, and the error hook has its error.
  func settleLookUp() {
    guard let error = lookUpError.take() else { return }
    if (error as? StorageError)?.cause == .corruptRow {
      workspace.report(error)
    } else {
      markFailed(error)
    }
  }

  /// Whether a row equals the stored row: this transaction has fetched it and not changed it since,
  /// or no transaction or other connection has changed it since it was fetched outside of
  /// transactions.
  func isCurrent(_ row: Row, _ schema: EntitySchema) -> Bool {
    let mark = row.mark
    if mark.reading == unread.reading {
      return mark.timestamp == timestamp && changed(schema)?.hasChanged(row.id) != true
    }
    if mark.reading != workspace.reading { return false }
    if let lease { return recent(schema).isCurrent(row, in: lease.group) }
    return view.trusts(on: row, of: schema, recent(schema), in: self)
  }

  /// Calls `body` with the view for an explanation, on which nothing depends.
  func explaining<R: ~Copyable>(_ body: (any StorageReader) throws -> R) throws -> R {
    try read(nil) { try body(FollowingReader($0)) }
  }

  func read<R: ~Copyable>(
    _ read: TransactionRead?, _ body: (any StorageReader) throws -> R
  ) throws -> R {
    if FunctionThread.isInside { throw WorkspaceError.calledByFunction }
    guard let lease = try lease ?? leaseOfSharedCommit() else {
      return try view.read(read, in: self, body)
    }
    return try lease.group.use {
      // After some errors of reads, the storage rolls back everything that is not committed.
      do { return try body(lease.group.writer) } catch {
        if !lease.group.writer.isAlive { fail(error) }
        throw error
      }
    }
  }

  // MARK: Writing

  func abort() -> Bool {
    if isAborted || !isOpen { return false }
    failure = TransactionError.aborted
    return true
  }

  /// Marks the transaction as failed. The error has already been reported.
  func markFailed(_ error: any Error) {
    if failure == nil { failure = error }
  }

  /// Marks the transaction as failed and reports the error.
  func fail(_ error: any Error) {
    markFailed(error)
    if reportsFailures { workspace.report(error) }
  }

  // Changes are passed by reference, so that they are not copied for each row.

  /// - Parameter writesShared: Whether the tables of all types may be written.
  func takeLease(
    writingShared writesShared: Bool = false
  ) throws -> WriteCoordinator.Lease {
    if let lease {
      if writesShared { try takeShared(lease) }
      return lease
    }
    let writesShared = writesShared || conflicts > 0
    let hasPrecedence = hasPrecedence
    let workspace = workspace
    guard
      let lease = mayWait
        ? try workspace.coordinator.acquireLease(
          writingShared: writesShared, joining: !hasPrecedence,
          beforeWaiting: { view.endSnapshot(in: workspace) },
          {
            hasPrecedence
              ? try workspace.engine.beginWritingWithPrecedence()
              : try view.beginWriting(in: workspace, writingShared: writesShared)
          })
        : try workspace.coordinator.acquireLeaseIfFree({
          try workspace.engine.beginWritingAtOnce()
        })
    else { throw abandon() }
    self.lease = lease
    if writesShared { try takeShared(lease) }
    if view.agrees(with: lease.group) {
      view.close()
    } else {
      try lease.group.use { try view.confirm(in: lease.group) }
    }
    if let preparation {
      // From here on no other transaction changes these types.
      self.preparation = nil
      try preparation.prepareWriting(in: self)
    }
    return lease
  }

  private func takeShared(_ lease: WriteCoordinator.Lease) throws {
    try workspace.coordinator.takeShared(
      lease, since: view.continuedCount ?? lease.group.sharedCount)
  }

  /// Ends the snapshot of a transaction that has only read, unless it keeps no other connection
  /// waiting. Called before its thread waits for others.
  func endSnapshot() { view.endSnapshot(in: workspace) }

  /// Throws if the transaction must not wait.
  func requireWaiting() throws {
    if !mayWait { throw abandon() }
  }

  private func abandon() -> StorageError {
    isAbandoned = true
    return StorageError(
      .conflict, message: "the transaction runs again on a thread that may wait")
  }

  /// Uses the storage transaction for internal writes, which are no changes of the program.
  /// - Parameter writesShared: Whether it writes the tables of all types.
  func writing<R>(
    shared writesShared: Bool = false, _ body: (any StorageWriter) throws -> R
  ) throws -> R {
    let lease = try takeLease(writingShared: writesShared)
    return try lease.group.use { try body(lease.group.writer) }
  }

  // MARK: The end

  /// Ends the transaction.
  /// - Returns: The work that remains once the transaction has left its queues.
  func finish() -> Ticket.FollowUp { finish(commits: false) }

  /// Ends the transaction. If it is committed at all, that has happened when this returns.
  /// - Returns: The group that it was committed with; nil if it has written nothing.
  func finishAtOnce() -> (rest: Ticket.FollowUp, group: CommitGroup?) {
    (finish(commits: true), lease?.group)
  }

  private func finish(commits: Bool) -> Ticket.FollowUp {
    isOpen = false
    settleLookUp()
    addition?.write(in: self)
    noteKeys()
    if lease == nil {
      if failure == nil { do { try view.confirm(self) } catch { fail(error) } }
      view.close()
    }
    endRequests()
    group = lease?.group ?? view.group
    if let latest {
      writes = others.isEmpty ? WriteSet(latest) : WriteSet(others, and: latest)
      writes.close()
    }
    return workspace.coordinator.end(lease, self, commits: commits)
  }

  /// Ends a transaction that cannot begin.
  func finish(_ failure: any Error) -> Ticket.FollowUp {
    isOpen = false
    fail(failure)
    return workspace.coordinator.end(nil, self)
  }

  /// Ends a transaction that was given up. No handler is called.
  func close() {
    isOpen = false
    view.close()
  }

  override func committed(at time: Int64) {
    writes.forEach { type in
      type.recent.committed(at: time)
      type.observer.committed(type.changes?.rows, at: time)
    }
  }

  override func notify(_ failure: (any Error)?) {
    workspace.delivering {
      addition?.end(failure)
      if failure == nil { workspace.publish(writes) }
      if case .classic(let handler) = completion { handler(failure == nil) }
    }
    workspace.endAccepted()
    // Last, so that everything has ended when the waiting caller resumes.
    if case .awaited(let outcome) = completion { outcome.notify(failure) }
  }

  override func needsReport(of error: any Error, isCommit: Bool) -> Bool {
    reportsFailures || isCommit && super.needsReport(of: error, isCommit: true)
  }

  override var isCancelled: Bool { cancellation?() == true }

  override var callsProgram: Bool {
    if case .classic = completion { return true }
    return addition != nil || writes.isObserved
  }

  override var deliveryTypes: TypeSet {
    if !writes.isObserved { return types }
    var all = types
    writes.forEach { type in
      if type.changes != nil, let linked = type.observer.linkedTypes { all.formUnion(linked) }
    }
    return all
  }

  func lists(_ schema: EntitySchema) -> Bool { types.names(schema) }

  /// - Throws: `WorkspaceError.undeclaredType`, where `write` can throw it.
  func requireListed(_ schema: EntitySchema, for call: String) throws {
    if lists(schema) { return }
    let name = schema.layout.swiftName
    require(
      !reportsFailures,
      "\(call): \(name) is not in the transaction's list of types; "
        + "add \(name).self to it: performChanges([\(name).self, …])")
    throw WorkspaceError.undeclaredType(name)
  }

  /// Whether the program learns of an error without the error hook, or has learned of it.
  func reportsItself(_ error: any Error) -> Bool {
    isAbandoned || error is WorkspaceError && (!reportsFailures || isAborted)
  }
}
