// TransactionView: what a transaction sees before it writes.
//
// It keeps true:
//
//  - all that is read is of one state of the data: what the transactions before it have left, committed or not, and of other
//    connections what they had committed when it first read;
//  - when the transaction begins to write, that is still what is stored: otherwise it is a conflict.
//
// What is not committed yet is read from the storage's open transaction; no other connection can commit meanwhile. All else
// is read in a snapshot. If others have committed since, what was read in the snapshot is read again, there and under the
// write lock, and compared. So only changes that would have been seen are conflicts.

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
  /// The engine's generation before the snapshot.
  @exclusivity(unchecked) private var generation = 0

  /// Reads something.
  /// - Parameters:
  ///   - read: What is read; nil if nothing depends on it.
  ///   - transaction: Whose view it is.
  func read<R: ~Copyable>(
    _ read: Read?, in transaction: Transaction, _ body: (any StorageReader) throws -> R
  ) throws -> R {
    if snapshot == nil {
      // Once its types are committed, nobody but the transaction itself can write them.
      let result = try transaction.workspace.committer.read(transaction.types) { written in
        group = written
        return try body(written.writer)
      }
      if let result { return result }
    }
    if let read { reads.append(read) }
    return try body(openSnapshot(transaction.workspace))
  }

  /// Whether something holds in the storage's transaction that is open, if there is one whose changes can be seen here. If so, it
  /// is relied on.
  func relies(_ transaction: Transaction, _ holds: (CommitGroup) -> Bool) -> Bool {
    // What was read in a snapshot may be older.
    guard snapshot == nil,
      let open = transaction.workspace.committer.written(transaction.types), holds(open)
    else { return false }
    group = open
    return true
  }

  private func openSnapshot(_ workspace: WorkspaceCore) -> any StorageSnapshot {
    if let snapshot { return snapshot }
    let engine = workspace.engine
    // The snapshots of transactions that wait for their turn would be in the way, and there may always be one.
    if engine.needsCare { workspace.committer.betweenGroups { engine.takeCare() } }
    generation = engine.generation
    let opened = engine.makeSnapshot(isUrgent: true)
    snapshot = opened
    return opened
  }

  /// Whether writing in the storage's transaction cannot contradict anything that was read.
  func agrees(with open: CommitGroup) -> Bool {
    snapshot == nil && (group == nil || group === open)
  }

  /// Makes sure that what was read is what is stored, when the transaction begins to write.
  /// - Parameter open: The storage's transaction, which the caller uses.
  /// - Throws: `StorageError` with `.conflict`, or that of a failed reading.
  func confirm(in open: CommitGroup) throws {
    defer { close() }
    if let group, group !== open {
      if group.failure != nil { throw StorageError.readUncommitted }
      // The state that was read cannot be read again.
      if group.generationAfter != open.generation { throw StorageError.conflict() }
    }
    guard let snapshot, generation != open.generation else { return }
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
    let now = try workspace.committer.betweenTurns { try workspace.engine.currentGeneration() }
    if workspace.committer.use({ group.generationAfter }) != now { throw StorageError.conflict() }
  }

  func close() {
    snapshot?.close()
    snapshot = nil
    reads = []
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
