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
/// the committer's lock; see `Member`. Programs get it as a `TransactionContext`, which is not `Sendable`.
final class Transaction: Member, TransactionContext, @unchecked Sendable {
  let workspace: WorkspaceCore
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
  @exclusivity(unchecked) private(set) var version: Version

  /// How many writes a transaction has made.
  struct Version: Equatable {
    let transaction: UInt32
    var count: Int

    /// Of no transaction.
    static var none: Version { Version(transaction: 0, count: 0) }
  }
  /// What becomes objects of its types and has to be migrated before they are looked at; see `Migrations`.
  @exclusivity(unchecked) var pendingPlans: [MigrationPlan]
  #if DEBUG
    let requests = WatchedRequests()
  #endif
  /// What it does to dictionaries.
  @exclusivity(unchecked) var drafts: [DictionaryDraft] = []
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
    _ workspace: WorkspaceCore, _ types: TypeSet, reportsFailures: Bool,
    isMigration: Bool = false, mayWait: Bool = true, completion: Completion
  ) {
    pendingPlans = isMigration ? [] : workspace.migrations.plans(for: types)
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
      try requireMigrated(schema)
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
    try requireMigrated(query.schema)
    let mark = ReadMark(timestamp: timestamp(of: query.schema), reading: reading)
    return try read(.query(query)) { try $0.rows(query, mark: mark) }
  }

  /// Why the last object could not be looked up; asked once.
  func takeLookUpError() -> (any Error)? { lookUpError.take() }

  /// Whether a row is what is stored, because this transaction has fetched it and not changed it since, or because nobody has
  /// changed it since it was fetched outside of transactions.
  private func isCurrent(_ row: Row, _ schema: EntitySchema) -> Bool {
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
  private func record(
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
      schema, place: others.count + (latest == nil ? 0 : 1), workspace.observers.of(schema),
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

  func _carryOut(
    _ change: inout PendingChange, of schema: EntitySchema,
    _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset
  ) throws -> SubmittedRow {
    try requireListed(schema, for: "submit(_:)")
    require(isOpen, "submit(_:) was called after the changes handler had returned")
    if isAborted {
      change.noteSubmission()
      throw TransactionError.aborted
    }
    do { return try carryOut(&change, of: schema, encode) } catch let error as StorageError {
      // Only its words say which value it is.
      if error.cause == .invalidValue { throw error }
      throw TransactionError(error)
    }
  }

  /// The same with the storage's own errors.
  func carryOut(
    _ change: inout PendingChange, of schema: EntitySchema,
    _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset
  ) throws -> SubmittedRow {
    change.noteSubmission()
    if let failure { throw failure }
    let result: SubmittedRow
    switch change.kind {
    case .spent:
      misuse("submit(_:) was called again with a request that had succeeded")
    case .creation:
      result = .inserted(try insert(&change, schema, encode))
    case .update:
      let (row, isChanged) = try update(&change, schema, encode)
      result = isChanged ? .updated(row) : .identity(row)
    case .deletion:
      try delete(change.row, schema)
      result = .deleted(change.row.id)
    }
    change.kind = .spent
    return result
  }

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

  private func insert(
    _ change: inout PendingChange, _ schema: EntitySchema,
    _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset
  ) throws -> Row {
    try write { writer, builder in
      if let refusal = change.refusal { throw StorageError(refused: refusal, schema) }
      guard let original = change.base else {
        try complete(builder, encode, schema)
        return try insert(builder.bytes, schema, writer)
      }
      if original.isCanonical, change.fields.isEmpty {
        return try original.withBytes { try insert($0, schema, writer) }
      }
      try complete(builder, encode, schema)
      defer { withExtendedLifetime(original) {} }
      let overlay = Overlay(change.fields, builder.bytes, over: original, as: schema.layout)
      return try writing(overlay, overlay.changes(), original.id, schema) {
        try insert($0, schema, writer)
      }
    }
  }

  private func insert(
    _ bytes: UnsafeRawBufferPointer, _ schema: EntitySchema, _ writer: any StorageWriter
  ) throws -> Row {
    try refuseUnreadable(bytes, schema)
    try refuseUnknownKey(bytes, schema)
    try refuseEmptyUnion(.all, bytes, schema)
    let id = try writer.insert(schema, bytes)
    let row = Row(sound: bytes, id: id)
    record(schema, id, old: nil, new: row)
    return row
  }

  private func update(
    _ change: inout PendingChange, _ schema: EntitySchema,
    _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset
  ) throws -> (row: Row, isChanged: Bool) {
    try write { writer, builder in
      let known = change.row
      if let refusal = change.refusal { throw StorageError(refused: refusal, schema) }
      if change.version == version || isCurrent(known, schema) {
        try complete(builder, encode, schema)
        try refuseEmptyUnion(change.fields, builder.bytes, schema)
        return try replace(
          known, over: known, isSame: true, change.fields, builder.bytes, schema, writer)
      }
      guard let stored = try writer.row(of: schema, id: known.id) else {
        throw StorageError(
          .missing, table: schema.table, rowid: known.id,
          message: "the object was deleted after its change request was made")
      }
      try complete(builder, encode, schema)
      try refuseEmptyUnion(change.fields, builder.bytes, schema)
      // A request carries the values of the time when it was made. If the object still has them, what
      // others have stored in fields that are not known here is taken from where it is newest.
      let isSame = stored.equals(known, as: schema.layout)
      return try replace(
        stored, over: isSame ? stored : known, isSame: isSame, change.fields, builder.bytes,
        schema, writer)
    }
  }

  /// Replaces a stored row, unless nothing of it changes.
  /// - Parameters:
  ///   - stored: The row.
  ///   - base: What the fields that were set are laid over.
  ///   - isSame: Whether `base` is equal to the stored row.
  ///   - fields: Which fields were set.
  ///   - values: A buffer that holds them.
  private func replace(
    _ stored: Row, over base: Row, isSame: Bool, _ fields: FieldSet,
    _ values: UnsafeRawBufferPointer, _ schema: EntitySchema, _ writer: any StorageWriter
  ) throws -> (row: Row, isChanged: Bool) {
    defer { withExtendedLifetime(base) {} }
    let overlay = Overlay(fields, values, over: base, as: schema.layout)
    let changes = overlay.changes()
    if isSame, !changes.isDifferent { return (stored.withoutMark(), false) }
    let row = try changedRow(base, overlay, changes, schema)
    if !isSame, row.equals(stored, as: schema.layout) { return (stored.withoutMark(), false) }
    if !schema.realKeys.isEmpty, !schema.hasSameKey(stored, row) {
      try row.withBytes { try refuseUnknownKey($0, schema) }
    }
    let changed = isSame ? changes.fields : .all
    try writer.update(schema, from: stored, to: row, changing: changed)
    record(schema, row.id, old: stored, new: row, changing: changed)
    return (row, true)
  }

  private func changedRow(
    _ base: Row, _ overlay: borrowing Overlay, _ changes: Overlay.Changes, _ schema: EntitySchema
  ) throws -> Row {
    if changes.areInline, let row = overlay.patched(base, changes) { return row }
    return try writing(overlay, changes, base.id, schema) { bytes in
      try refuseUnreadable(bytes, schema)
      return Row(sound: bytes, id: base.id)
    }
  }

  /// Calls `body` with the bytes of a row that is written anew.
  private func writing<R>(
    _ overlay: borrowing Overlay, _ changes: Overlay.Changes, _ id: Int64,
    _ schema: EntitySchema, _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    try BuilderPool.withBuilder { builder in
      guard overlay.write(changes, to: builder) else {
        throw StorageError(
          .other, table: schema.table, rowid: id,
          message: "the object cannot be stored: its tables are nested too deeply, or it is "
            + "too large to keep what only a newer schema knows of it")
      }
      return try body(builder.bytes)
    }
  }

  private func delete(_ known: Row, _ schema: EntitySchema) throws {
    try write { writer, _ in
      try writer.delete(schema, id: known.id)
      record(schema, known.id, old: known, new: nil)
    }
  }

  /// Runs one write. A conflict leaves the transaction as it was; any other error ends it.
  @inline(__always)
  private func write<R>(
    _ body: (any StorageWriter, FlatBufferBuilder) throws -> R
  ) throws -> R {
    do {
      let turn = try takeTurn()
      return try workspace.committer.use {
        let builder = workspace.committer.builder
        defer { builder.reset() }
        let result = try body(turn.group.writer, builder)
        version.count += 1
        return result
      }
    } catch let error as StorageError
      where error.cause == .alreadyExists || error.cause == .invalidValue
    {
      throw error
    } catch {
      fail(error)
      throw error
    }
  }

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
    try requireMigrated()
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

  /// Removes an object that is known to be stored.
  func remove(_ row: Row, _ schema: EntitySchema) throws {
    try delete(row, schema)
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
    writeDrafts()
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

  override func tell(_ failure: (any Error)?) {
    workspace.delivering {
      for draft in drafts { draft.end(failure) }
      if failure == nil { workspace.publish(writes) }
      if case .classic(let handler) = completion { handler(failure == nil) }
    }
    workspace.endAccepted()
    // Last: who awaits it finds everything ended.
    if case .awaited(let ending) = completion { ending.tell(failure) }
  }

  override var callsProgram: Bool {
    if case .classic = completion { return true }
    return !drafts.isEmpty || writes.isObserved
  }

  func lists(_ schema: EntitySchema) -> Bool { types.contains(schema) }

  /// - Throws: `WorkspaceError.undeclaredType`, where `write` can throw it.
  private func requireListed(_ schema: EntitySchema, for call: String) throws {
    if lists(schema) { return }
    let name = schema.layout.name
    require(!reportsFailures, "\(call): \(name) is not in the transaction's list of types")
    throw WorkspaceError.undeclaredType(name)
  }

  /// Whether the program hears of an error without the error hook.
  func willTell(_ error: any Error) -> Bool { isGivenUp || error is WorkspaceError }
}
