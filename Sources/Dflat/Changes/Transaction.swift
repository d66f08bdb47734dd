// Transaction: one run of a changes handler.
//
// It keeps true:
//
//  - it takes the right to write with its first submit, and not before;
//  - one that must not wait is given up when it would have to, and nothing of it has happened: it
//    runs again where it may wait;
//  - before that it reads in a view, which is what is stored when it begins to write: see `TransactionView`;
//  - `version` counts the writes, so a row that was looked up at one version is current as long as the version is the same;
//  - rows that the transaction fetches carry its number: they are current until the transaction itself changes them, since
//    nobody else writes their type meanwhile;
//  - a refused request leaves nothing behind; any other failure ends the transaction.

import FlatBuffersRuntime

/// Unchecked: its handler runs on one thread, and what it has changed is read by the thread that tells how it ended, which comes behind
/// the committer's lock; see `CommitMember`. Programs get it as a `TransactionContext`, which is not `Sendable`.
final class Transaction: CommitMember, TransactionContext, @unchecked Sendable {
  let workspace: any TransactionHost
  /// The clock at the beginning.
  private let timestamp: Int64
  private let view = TransactionView()
  // A transaction is used by one thread and touches its properties for a moment only, so exclusivity holds without a check.

  /// Its turn to write, once it has one.
  @exclusivity(unchecked) private(set) var turn: Committer.Turn?
  /// The type that was changed last, and the others: most transactions change one.
  @exclusivity(unchecked) private var latest: ChangedType?
  @exclusivity(unchecked) private var others: [ChangedType] = []
  /// Tells its own readings from those of others.
  private let reading = ReadMark.newReading()
  var isAborted: Bool { failure != nil }
  /// Whether the error hook hears of what fails, because nobody else does.
  private let reportsFailures: Bool
  @exclusivity(unchecked) private var lookUpError: (any Error)?
  @exclusivity(unchecked) var version: Version

  /// How many writes a transaction has made.
  struct Version: Equatable {
    let transaction: UInt32
    var count: Int

    /// Of no transaction.
    static var none: Version { Version(transaction: 0, count: 0) }
  }
  /// What must hold before it reads or writes, such as that its types are migrated.
  @exclusivity(unchecked) private var preparation: (any TransactionPreparation)?
  #if DEBUG
    let requests = WatchedRequests()
  #endif
  /// What it does besides its requests: what it changes in dictionaries.
  @exclusivity(unchecked) var addition: (any TransactionAddition)?
  /// What it has changed.
  @exclusivity(unchecked) private var writes = WriteSet()
  /// False once the handler has returned.
  @exclusivity(unchecked) private(set) var isOpen = true
  private let completion: Completion
  /// Whether its thread may wait for the right to write, and for other connections.
  private let mayWait: Bool
  /// Whether it would have had to wait, and may not.
  @exclusivity(unchecked) private(set) var isGivenUp = false
  /// The transaction, of another workspace, in whose handler this one's is called.
  @exclusivity(unchecked) var outer: Transaction?

  /// Who waits for its end.
  enum Completion {
    case none
    /// Told whether it is committed. The program's.
    case classic(@Sendable (Bool) -> Void)
    case awaited(Ending)
  }

  init(
    _ workspace: any TransactionHost, _ types: TypeSet, reportsFailures: Bool,
    isMigration: Bool = false, mayWait: Bool = true, completion: Completion
  ) {
    preparation = isMigration ? nil : workspace.preparation(for: types)
    self.workspace = workspace
    self.reportsFailures = reportsFailures
    self.completion = completion
    self.mayWait = mayWait
    version = Version(transaction: reading, count: 0)
    timestamp = workspace.clock.now
    super.init(types)
  }

  /// The transaction whose handler runs on this thread.
  static func current(for call: String) -> Transaction {
    guard let transaction = ThreadContext.current.transaction else {
      misuse(
        "\(call) was called outside of a transaction: call it in a changes handler")
    }
    return transaction
  }

  // MARK: Reading

  /// The stored row of an object: by row id if it has one, otherwise by primary key.
  func lookUp(
    _ row: Row, _ schema: EntitySchema, for call: String, acceptsDamaged: Bool = false
  ) -> Row? {
    do {
      try requireListed(schema, for: call)
      if isCurrent(row, schema) { return row }
      if isAborted { return nil }
      try preparation?.prepareReading(schema, in: self)
      return row.id >= 0
        ? try read(.row(schema, id: row.id)) { try $0.row(of: schema, id: row.id) }
        : try read(.key(schema, of: row)) { try $0.row(of: schema, keyOf: row) }
    } catch {
      let isDamaged = (error as? StorageError)?.cause == .corruptRow
      if error is WorkspaceError {
        doom(error)
      } else if !reportsFailures {
        lookUpError = error
      } else if isDamaged {
        workspace.report(error)
      } else {
        // The caller will believe that there is no such object, and nobody may rely on what follows from that.
        fail(error)
      }
      // A damaged row can still be removed, by its id.
      return acceptsDamaged && row.id >= 0 && isDamaged ? row : nil
    }
  }

  /// When it is that something of a type is read now: unknown once the transaction has changed the type.
  func timestamp(of schema: EntitySchema) -> Int64 {
    changed(schema) == nil ? timestamp : 0
  }

  func fetch(_ query: Query) throws -> RowBuffer {
    try requireListed(query.schema, for: "fetch(for:)")
    try preparation?.prepareReading(query.schema, in: self)
    let mark = ReadMark(timestamp: timestamp(of: query.schema), reading: reading)
    return try read(.query(query)) { try $0.rows(query, mark: mark) }
  }

  /// Why the last object could not be looked up; asked once.
  func takeLookUpError() -> (any Error)? { lookUpError.take() }

  /// Whether a row is what is stored, because this transaction has fetched it and not changed it since, or because nobody has
  /// changed it since it was fetched outside of transactions.
  func isCurrent(_ row: Row, _ schema: EntitySchema) -> Bool {
    let mark = row.mark
    if mark.reading == reading {
      return mark.timestamp == timestamp && changed(schema)?.rows.contains(row.id) != true
    }
    if mark.reading != workspace.reading { return false }
    if let turn { return recent(schema).isCurrent(row, in: turn.group) }
    return view.relies(on: row, of: schema, recent(schema), in: self)
  }

  /// What was changed of a type; nil if nothing was.
  private func changed(_ schema: EntitySchema) -> ChangedType? {
    schema === latest?.schema ? latest : others.first { $0.schema === schema }
  }

  private func recent(_ schema: EntitySchema) -> RecentChanges {
    changed(schema)?.recent ?? workspace.recentChanges.of(schema)
  }

  /// Remembers that a type was changed, for observers and for those who ask whether a row is current.
  func record(
    _ schema: EntitySchema, _ id: Int64, old: Row?, new: Row?, changing fields: FieldSet = .all
  ) {
    let type = if let latest, latest.schema === schema { latest } else { choose(schema) }
    type.record(id, old: old, new: new, changing: fields)
  }

  /// Makes a type the one that was changed last.
  private func choose(_ schema: EntitySchema) -> ChangedType {
    let place = others.firstIndex { $0.schema === schema }
    let chosen = place.map { others.remove(at: $0) } ?? begin(schema)
    if let latest { others.append(latest) }
    latest = chosen
    return chosen
  }

  private func begin(_ schema: EntitySchema) -> ChangedType {
    let recent = workspace.recentChanges.of(schema)
    if let turn { recent.enter(turn.group, workspace.clock) }
    return ChangedType(
      schema, place: others.count + (latest == nil ? 0 : 1), workspace.changeObserver(of: schema),
      recent)
  }

  func explain(_ query: Query) throws -> QueryExplanation {
    try read(nil) { try $0.explain(query) }
  }

  func read<R: ~Copyable>(
    _ read: TransactionView.Read?, _ body: (any StorageReader) throws -> R
  ) throws -> R {
    guard let turn else { return try view.read(read, in: self, body) }
    return try workspace.committer.use {
      // Some errors of reading make the storage give up everything that is not committed.
      do { return try body(turn.group.writer) } catch {
        if !turn.group.writer.isAlive { fail(error) }
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

  /// Nothing of it will be committed. The error was reported already.
  func doom(_ error: any Error) {
    if failure == nil { failure = error }
  }

  /// Nothing of it will be committed.
  func fail(_ error: any Error) {
    doom(error)
    if reportsFailures { workspace.report(error) }
  }

  // Changes are passed by reference, so that nothing of them is copied for each row.

  func takeTurn() throws -> Committer.Turn {
    if let turn { return turn }
    let committer = workspace.committer
    let engine = workspace.engine
    guard
      let turn = mayWait
        ? try committer.beginTurn({ try engine.beginWriting() })
        : try committer.beginTurnAtOnce({ try engine.beginWritingAtOnce() })
    else { throw giveUp() }
    self.turn = turn
    if !view.agrees(with: turn.group) {
      try committer.use { try view.confirm(in: turn.group) }
    }
    if let preparation {
      // From here on no other transaction changes the types.
      self.preparation = nil
      try preparation.prepareWriting(in: self)
    }
    return turn
  }

  /// Makes sure that the transaction may wait.
  func requireWaiting() throws {
    if !mayWait { throw giveUp() }
  }

  private func giveUp() -> StorageError {
    isGivenUp = true
    return StorageError(
      .conflict, message: "the transaction runs again, on a thread that may wait for others")
  }

  /// Uses the storage's transaction, for what is no change of the program's.
  func writing<R>(_ body: (any StorageWriter) throws -> R) throws -> R {
    let turn = try takeTurn()
    return try workspace.committer.use { try body(turn.group.writer) }
  }

  // MARK: The end

  /// Ends the transaction.
  /// - Returns: What is left to be done when its lines have been left.
  func finish() -> Ticket.Rest { finish(commits: false) }

  /// The same, and it is committed when this returns, if it is at all.
  /// - Returns: The group that it was committed with, too; nil if it has written nothing.
  func finishAtOnce() -> (rest: Ticket.Rest, group: CommitGroup?) {
    (finish(commits: true), turn?.group)
  }

  private func finish(commits: Bool) -> Ticket.Rest {
    isOpen = false
    addition?.write(in: self)
    if turn == nil {
      do { try view.confirm(self) } catch { fail(error) }
    }
    endRequests()
    group = turn?.group ?? view.group
    if let latest {
      writes = others.isEmpty ? WriteSet(latest) : WriteSet(others, and: latest)
      writes.close()
    }
    return workspace.committer.end(turn, self, commits: commits)
  }

  /// The same for one that cannot begin.
  func finish(_ failure: any Error) -> Ticket.Rest {
    isOpen = false
    fail(failure)
    return workspace.committer.end(nil, self)
  }

  /// Ends one that was given up. Nobody is told.
  func close() {
    isOpen = false
    view.close()
  }

  override func committed(at time: Int64) {
    writes.forEach { type in
      type.recent.committed(at: time)
      type.observer.committed(type.changes, at: time)
    }
  }

  override func tell(_ failure: (any Error)?) {
    workspace.delivering {
      addition?.end(failure)
      if failure == nil { workspace.publish(writes) }
      if case .classic(let handler) = completion { handler(failure == nil) }
    }
    workspace.endAccepted()
    // Last: who awaits it finds everything ended.
    if case .awaited(let ending) = completion { ending.tell(failure) }
  }

  override var callsProgram: Bool {
    if case .classic = completion { return true }
    return addition != nil || writes.isObserved
  }

  func lists(_ schema: EntitySchema) -> Bool { types.contains(schema) }

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

  /// Whether the program hears of an error without the error hook.
  func willTell(_ error: any Error) -> Bool { isGivenUp || error is WorkspaceError }
}
