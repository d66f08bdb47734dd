// TransactionView: what a transaction reads before its first write.
//
// Invariants:
//
//  - All reads see one state: the result of all earlier transactions of the workspace, committed or
//    not, and what other connections had committed at the first read.
//  - When the transaction begins to write, that state is still the stored one; otherwise there is a
//    conflict.
//
// Changes that are not committed yet are read from the open storage transaction; no other
// connection can commit meanwhile, but one may once they are committed. Everything else is read
// from a snapshot. A row that was fetched earlier is not even read again if it is known to be
// unchanged and no other connection has committed anything since. A snapshot that can go on as the
// storage transaction does so, and the storage finds the conflicts. If other connections have
// committed later, the reads are repeated in the snapshot, or just before that commit, and under
// the write lease, and compared. Rows that were trusted without a read are compared, too. So only
// changes that the transaction would have seen are conflicts.
//
// Where other connections write beside the transaction, the storage may make them wait for a
// snapshot, and later ones for them. So the snapshot ends before the transaction waits for anyone.

final class TransactionView {
  // Used by the transaction's thread, with short accesses: exclusivity checks would find nothing.

  /// The open group that was read from.
  @exclusivity(unchecked) private(set) var group: CommitGroup?
  /// The reads from the open group.
  @exclusivity(unchecked) private var uncommitted: UncommittedReads?
  @exclusivity(unchecked) private var snapshot: (any StorageSnapshot)?
  /// The reads from the snapshot.
  @exclusivity(unchecked) private var reads: [TransactionRead] = []
  /// What the reads from a snapshot that has ended have given; nil where a row is damaged.
  @exclusivity(unchecked) private var results: [(read: TransactionRead, rows: [Row]?)] = []
  /// Why the results of some reads are not known.
  @exclusivity(unchecked) private var failure: (any Error)?
  /// Rows that were fetched earlier and taken for current without reading them again.
  @exclusivity(unchecked) private var trustedRows = Few<(schema: EntitySchema, row: Row)>()
  /// Rows that were taken for current in the open group.
  @exclusivity(unchecked) private var uncommittedRows = Few<(schema: EntitySchema, row: Row)>()
  /// How many transactions had written the tables of all types before the snapshot.
  @exclusivity(unchecked) private var sharedCount = 0
  /// The same if the snapshot goes on as the storage transaction.
  @exclusivity(unchecked) private(set) var continuedCount: Int?
  /// The engine's token before the snapshot, or the token at which rows were trusted.
  @exclusivity(unchecked) private var token: CommitToken?

  /// Whether it has no snapshot.
  var isUnused: Bool { snapshot == nil }

  /// Reads from the state that the transaction sees.
  /// - Parameters:
  ///   - read: The read; nil if nothing depends on its result.
  ///   - transaction: The transaction that reads.
  func read<R: ~Copyable>(
    _ read: TransactionRead?, in transaction: Transaction, _ body: (any StorageReader) throws -> R
  ) throws -> R {
    let workspace = transaction.workspace
    if !workspace.engine.capabilities.excludesOtherWriters {
      // Reads of uncommitted changes could not be confirmed later, since other connections may
      // commit in between.
      if workspace.coordinator.written(transaction.types) != nil {
        try transaction.requireWaiting()
        workspace.coordinator.commitGroup(of: transaction.types)
      }
    } else if snapshot == nil {
      // Once these types are committed, only this transaction itself can write them.
      let result = try workspace.coordinator.read(transaction.types) { written in
        group = written
        if let read { keep(read, from: written) }
        return try body(written.writer)
      }
      if let result { return result }
    }
    if let read { reads.append(read) }
    return try openSnapshot(transaction).read(body)
  }

  /// Records a read from the open group, which the caller uses.
  private func keep(_ read: TransactionRead, from group: CommitGroup) {
    if let uncommitted { return uncommitted.add(read) }
    let reads = UncommittedReads()
    reads.add(read)
    group.readers.append(reads)
    uncommitted = reads
  }

  /// Whether a row that was fetched earlier is current, decided without reading it. If so, the view
  /// relies on it.
  /// - Parameter recent: The recent changes of the row's type.
  func trusts(
    on row: Row, of schema: EntitySchema, _ recent: RecentChanges, in transaction: Transaction
  ) -> Bool {
    let workspace = transaction.workspace
    if let open = workspace.coordinator.written(transaction.types) {
      // The snapshot may be older than the row.
      if snapshot != nil || !recent.isCurrent(row, in: open) { return false }
      group = open
      uncommittedRows.append((schema, row))
      return true
    }
    // Changes of this workspace to the row's type are committed, and only other connections can
    // write it now.
    guard let known = recent.token(ofCommitted: row) else { return false }
    if trustedRows.isEmpty {
      // If the token is unavailable, the row is looked up, and that reports the error.
      guard group == nil, let now = try? workspace.currentToken() else { return false }
      // The row may be younger than the snapshot, unless no other connection has committed since.
      if snapshot != nil, token != now { return false }
      token = now
    }
    if token != known { return false }
    trustedRows.append((schema, row))
    return true
  }

  /// Throws a conflict if a row that the view trusts is different in another state.
  private func requireStored(
    _ rows: Few<(schema: EntitySchema, row: Row)>, in state: any StorageReader
  ) throws {
    for (schema, row) in rows {
      let stored = try state.row(of: schema, id: row.id)
      let isSame = stored?.equals(row, as: schema.layout) ?? false
      if !isSame { throw StorageError.conflict(schema.table) }
    }
  }

  private func openSnapshot(_ transaction: Transaction) throws -> any StorageSnapshot {
    if let snapshot { return snapshot }
    if let failure { throw failure }
    let workspace = transaction.workspace
    // Pinned snapshots of transactions that wait for the write lease would block maintenance, and
    // there may always be one.
    if let engine = workspace.maintainedEngine, engine.needsMaintenance {
      try transaction.requireWaiting()
      workspace.coordinator.withoutOpenGroup { engine.performMaintenance() }
    }
    if trustedRows.isEmpty { token = workspace.lastKnownToken }
    sharedCount = workspace.coordinator.sharedCount
    let opened = workspace.engine.makeSnapshot(for: .transaction)
    do {
      // The first read begins the snapshot, so nothing is read without a need.
      if !trustedRows.isEmpty { try opened.read { try requireStored(trustedRows, in: $0) } }
      // What an earlier snapshot had is read in this one, so all that was read is of one state.
      if !results.isEmpty { try opened.read { try requireResults(in: $0) } }
      reads += results.map(\.read)
      results = []
    } catch {
      // A handler that catches this error must not continue in a state that contradicts the rows
      // that it trusted.
      opened.close()
      throw error
    }
    snapshot = opened
    return opened
  }

  /// Opens the storage transaction: that of the snapshot, if it can go on as one. Then all that was
  /// read is a part of the storage transaction.
  /// - Parameter writesShared: Whether the tables of all types may be written.
  func beginWriting(
    in workspace: any TransactionHost, writingShared writesShared: Bool
  ) throws -> any StorageWriter {
    // The snapshot must have what the last transaction has written to them.
    let isBound = workspace.engine.capabilities.bindsWritersToThread
    let goesOn =
      !isBound && group == nil
      && (!writesShared || sharedCount == workspace.coordinator.sharedCount)
    if goesOn, let writer = try (snapshot as? any WritableSnapshot)?.beginWriting() {
      continuedCount = sharedCount
      snapshot = nil
      reads = []
      trustedRows.removeAll()
      return writer
    }
    endSnapshot(in: workspace)
    return try workspace.engine.beginWriting()
  }

  /// Ends the snapshot, unless it keeps no other connection waiting. What was read from it is kept
  /// until `confirm(in:)`, which throws if that has failed. Called before the transaction waits for
  /// others.
  func endSnapshot(in workspace: any TransactionHost) {
    guard let snapshot, !workspace.engine.capabilities.excludesOtherWriters else { return }
    do { try keepResults(of: snapshot) } catch { failure = error }
    snapshot.close()
    self.snapshot = nil
  }

  private func keepResults(of snapshot: any StorageSnapshot) throws {
    try snapshot.read { state in
      for read in reads { results.append((read, try read.rows(state)?.copied())) }
    }
    reads = []
  }

  /// Whether no other connection has committed anything between the reads and the storage
  /// transaction.
  private func isCurrent(in open: CommitGroup) -> Bool { token != nil && token == open.token }

  /// Whether nothing that was read can differ from the state of the storage transaction.
  func agrees(with open: CommitGroup) -> Bool {
    snapshot == nil && results.isEmpty && failure == nil && (group == nil || group === open)
      && (trustedRows.isEmpty || isCurrent(in: open))
  }

  /// Makes sure that everything that was read is still stored, when the transaction begins to
  /// write.
  /// - Parameter open: The open group, which the caller uses.
  /// - Throws: `StorageError` with `.conflict`, or the error of a failed read.
  func confirm(in open: CommitGroup) throws {
    defer { close() }
    if let group, group !== open {
      if group.failure != nil { throw StorageError.readUncommitted }
      if group.tokenAfter == nil || group.tokenAfter != open.token {
        try requireUncommitted(in: open.writer)
      }
    }
    if let failure { throw failure }
    if isCurrent(in: open) { return }
    try requireStored(trustedRows, in: open.writer)
    if let snapshot { try keepResults(of: snapshot) }
    try requireResults(in: open.writer)
  }

  /// Throws a conflict if a read from a snapshot that has ended gives another result in a state.
  private func requireResults(in state: any StorageReader) throws {
    for (read, rows) in results where try !read.gives(rows, in: state) {
      throw StorageError.conflict(read.schema.table)
    }
  }

  /// Throws a conflict if what was read from the open group is different in another state.
  private func requireUncommitted(in state: any StorageReader) throws {
    try requireStored(uncommittedRows, in: state)
    if let uncommitted, try !uncommitted.areSame(in: state) { throw StorageError.conflict() }
  }

  /// Makes sure that the reads of a read-only transaction are of one state.
  func confirm(_ transaction: Transaction) throws {
    if let failure { throw failure }
    if !results.isEmpty { _ = try openSnapshot(transaction) }
    guard let snapshot else { return }
    if let group {
      let workspace = transaction.workspace
      // It first read from the open group and then from a snapshot. Other connections may have
      // committed in between.
      let now = try workspace.coordinator.withLeases { try workspace.currentToken() }
      let isSame = now != nil && group.use { group.tokenAfter } == now
      if !isSame { try snapshot.read { try requireUncommitted(in: $0) } }
    }
    try snapshot.confirm()
  }

  func close() {
    snapshot?.close()
    snapshot = nil
    reads = []
    results = []
    trustedRows.removeAll()
    uncommittedRows.removeAll()
    uncommitted?.end()
    uncommitted = nil
  }
}

extension StorageError {
  /// Another connection has changed what a transaction has read.
  static func conflict(_ table: String? = nil) -> StorageError {
    StorageError(
      .conflict, table: table,
      message: "another connection changed what the transaction had read before it began to write")
  }

  fileprivate static let readUncommitted = StorageError(
    .conflict, message: "the transaction had read uncommitted changes that could not be committed")
}
