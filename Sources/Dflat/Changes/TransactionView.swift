// TransactionView: what a transaction sees before it writes.
//
// It keeps true:
//
//  - all that is read is of one state of the data: what the transactions before it have left, committed or not, and of other
//    connections what they had committed when it first read;
//  - when the transaction begins to write, that is still what is stored: otherwise it is a conflict.
//
// What is not committed yet is read from the storage's open transaction; no other connection can commit meanwhile. All else
// is read in a snapshot. A row that was fetched before is not even read, if it is known that nobody has changed it and that no other
// connection has committed anything since. If others have committed later, what was read in the snapshot is read again, there and
// under the write lock, and compared; and so are the rows that were not read. So only changes that would have been seen are conflicts.

final class TransactionView {
  /// Something that was read.
  enum Read {
    case query(Query)
    case row(EntitySchema, id: Int64)
    case key(EntitySchema, of: Row)
  }

  // Used by the transaction's thread, for a moment each time: checks of exclusive use would find nothing.

  /// The open transaction that was read from.
  @exclusivity(unchecked) private(set) var group: CommitGroup?
  @exclusivity(unchecked) private var snapshot: (any StorageSnapshot)?
  /// What was read in the snapshot.
  @exclusivity(unchecked) private var reads: [Read] = []
  /// Rows that were fetched before, and were taken for what is stored without a look.
  @exclusivity(unchecked) private var relied: [(schema: EntitySchema, row: Row)] = []
  /// The engine's token before the snapshot, or that at which rows were relied on.
  @exclusivity(unchecked) private var token: CommitToken?

  /// Reads something.
  /// - Parameters:
  ///   - read: What is read; nil if nothing depends on it.
  ///   - transaction: Whose view it is.
  func read<R: ~Copyable>(
    _ read: Read?, in transaction: Transaction, _ body: (any StorageReader) throws -> R
  ) throws -> R {
    let workspace = transaction.workspace
    if !workspace.engine.capabilities.excludesOtherWriters {
      // What is not committed yet could not be confirmed later, since others may commit in between.
      if workspace.committer.written(transaction.types) != nil {
        try transaction.requireWaiting()
        workspace.committer.betweenGroups {}
      }
    } else if snapshot == nil {
      // Once its types are committed, nobody but the transaction itself can write them.
      let result = try workspace.committer.read(transaction.types) { written in
        group = written
        return try body(written.writer)
      }
      if let result { return result }
    }
    if let read { reads.append(read) }
    return try body(try openSnapshot(transaction))
  }

  /// Whether a row that was fetched before is what is stored, without a look. If so, it is relied on.
  /// - Parameter recent: What was changed of the type lately.
  func relies(
    on row: Row, of schema: EntitySchema, _ recent: RecentChanges, in transaction: Transaction
  ) -> Bool {
    // What was read in a snapshot may be older.
    if snapshot != nil { return false }
    let workspace = transaction.workspace
    if let open = workspace.committer.written(transaction.types) {
      if !recent.isCurrent(row, in: open) { return false }
      group = open
      return true
    }
    // What it may change is committed, and nobody else writes it now but other connections.
    guard let known = recent.token(ofCommitted: row) else { return false }
    if relied.isEmpty {
      // What cannot be asked for is looked up, and the error told there.
      guard group == nil, let now = try? workspace.currentToken() else { return false }
      token = now
    }
    if token != known { return false }
    relied.append((schema, row))
    return true
  }

  /// Makes sure that what was relied on is so in another state.
  private func requireRelied(in state: any StorageReader) throws {
    for (schema, row) in relied {
      let stored = try state.row(of: schema, id: row.id)
      let isSame = stored?.equals(row, as: schema.layout) ?? false
      if !isSame { throw StorageError.conflict(schema.table) }
    }
  }

  private func openSnapshot(_ transaction: Transaction) throws -> any StorageSnapshot {
    if let snapshot { return snapshot }
    let workspace = transaction.workspace
    // The snapshots of transactions that wait for their turn would be in the way, and there may always be one.
    if let engine = workspace.maintainedEngine, engine.needsMaintenance {
      try transaction.requireWaiting()
      workspace.committer.betweenGroups { engine.performMaintenance() }
    }
    if relied.isEmpty { token = workspace.lastKnownToken }
    let opened = workspace.engine.makeSnapshot(for: .transaction)
    do { try requireRelied(in: opened) } catch {
      // Who catches this must not go on in a state that contradicts what was relied on.
      opened.close()
      throw error
    }
    snapshot = opened
    return opened
  }

  /// Whether no other connection has committed between what was read and the storage's transaction.
  private func isCurrent(in open: CommitGroup) -> Bool { token != nil && token == open.token }

  /// Whether writing in the storage's transaction cannot contradict anything that was read.
  func agrees(with open: CommitGroup) -> Bool {
    snapshot == nil && (group == nil || group === open)
      && (relied.isEmpty || isCurrent(in: open))
  }

  /// Makes sure that what was read is what is stored, when the transaction begins to write.
  /// - Parameter open: The storage's transaction, which the caller uses.
  /// - Throws: `StorageError` with `.conflict`, or that of a failed reading.
  func confirm(in open: CommitGroup) throws {
    defer { close() }
    if let group, group !== open {
      if group.failure != nil { throw StorageError.readUncommitted }
      // The state that was read cannot be read again.
      if group.tokenAfter == nil || group.tokenAfter != open.token { throw StorageError.conflict() }
    }
    if isCurrent(in: open) { return }
    try requireRelied(in: open.writer)
    guard let snapshot else { return }
    for read in reads where try !read.isSame(snapshot, open.writer) {
      throw StorageError.conflict(read.schema.table)
    }
  }

  /// Makes sure of the same for a transaction that has only read.
  func confirm(_ transaction: Transaction) throws {
    defer { close() }
    guard let group, snapshot != nil else { return }
    let workspace = transaction.workspace
    // It has read first what was about to be committed, and then what was. In between others may have had their turn.
    let now = try workspace.committer.betweenTurns {
      try workspace.currentToken() ?? workspace.lastKnownToken
    }
    if workspace.committer.use({ group.tokenAfter }) != now { throw StorageError.conflict() }
  }

  func close() {
    snapshot?.close()
    snapshot = nil
    reads = []
    relied = []
  }
}

extension TransactionView.Read {
  fileprivate var schema: EntitySchema {
    switch self {
    case .query(let query): query.schema
    case .row(let schema, _), .key(let schema, _): schema
    }
  }

  /// nil if it is damaged.
  private func rows(_ reader: any StorageReader) throws -> RowBuffer? {
    do {
      switch self {
      case .query(let query): return try reader.rows(query, mark: .none)
      case .row(let schema, let id):
        return RowBuffer(try reader.row(of: schema, id: id))
      case .key(let schema, let row):
        return RowBuffer(try reader.row(of: schema, keyOf: row))
      }
    } catch let error as StorageError where error.cause == .corruptRow {
      return nil
    }
  }

  /// Whether two views have the same of it.
  fileprivate func isSame(_ left: any StorageReader, _ right: any StorageReader) throws -> Bool {
    guard let old = try rows(left) else { return try rows(right) == nil }
    guard let new = try rows(right) else { return false }
    return old.count == new.count
      && (0..<old.count).allSatisfy {
        old[$0].id == new[$0].id && old[$0].equals(new[$0], as: schema.layout)
      }
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
    .conflict, message: "what the transaction had read could not be committed")
}
