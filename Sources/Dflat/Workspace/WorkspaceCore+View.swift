// What a question of the program sees.
//
// `withView` chooses it, for fetches, counts, aggregates, pages, streams, joins and explanations
// alike; nothing else does. In this order:
//
//  1. A function that an engine calls sees nothing. Asking throws
//     `WorkspaceError.calledByFunction`.
//  2. The next step of an iteration sees the snapshot that the iteration keeps.
//  3. Inside a transaction a question sees the transaction's own view, which is complete: its types
//     were migrated before it began.
//  4. Inside a snapshot of this thread it sees that snapshot, also after a shutdown.
//  5. After a shutdown it sees nothing. Asking throws `WorkspaceError.shutDown`.
//  6. Otherwise it sees what is committed. If it takes several questions to the engine, they share
//     a snapshot.
//
// Over 2, 4 and 6, a type that is migrated when it is used appears complete (`MigratingReader`),
// and related values are looked up in the same state (`FollowingReader`).

import Dispatch

extension WorkspaceCore {
  /// Where the questions of a thread are answered.
  enum Place {
    case transaction(Transaction)
    case snapshot(OpenSnapshot)
    /// The committed state.
    case committed
    /// The workspace is shut down.
    case nowhere
  }

  /// Where the questions of this thread are answered.
  var place: Place {
    let context = ThreadContext.current
    if let transaction = context.transaction(of: self) { return .transaction(transaction) }
    if let open = context.snapshots[ObjectIdentifier(self)] { return .snapshot(open) }
    return transactions.isClosed ? .nowhere : .committed
  }

  /// Whether this thread's questions are answered from the committed state as it is stored. A short
  /// cut of `withView` for fetches by key.
  var readsCommitted: Bool {
    ThreadContext.isOutside && !FunctionThread.isInside && migrations.isEmpty
      && !transactions.isClosed
  }

  /// Whether reading is possible. Inside transactions and snapshots that began before the shutdown
  /// it always is.
  var canRead: Bool {
    if case .nowhere = place { false } else { true }
  }

  /// What is wanted of a view.
  enum ViewUse {
    /// Rows for the program, which carry a mark.
    case rows
    /// Values.
    case values
    /// Explanations. A transaction does not depend on what it reads for them.
    case explanation
  }

  /// Calls `body` with what a question sees.
  ///
  /// - Parameters:
  ///   - query: The question. It may read rows of its type, and of those that it is related to.
  ///   - values: What else is computed from its objects.
  ///   - use: What the view is used for.
  ///   - iteration: The snapshot that an iteration keeps.
  ///   - body: Called with the view, and the mark for rows. It does not keep the view.
  /// - Throws: `QueryError`; `WorkspaceError`; `StorageError`; the errors of `body`.
  func withView<R: ~Copyable>(
    for query: Query, _ values: [ValueExpression] = [], wanting use: ViewUse,
    in iteration: IterationSnapshot? = nil, _ body: (any StorageReader, ReadMark) throws -> R
  ) throws -> R {
    try query.requireAnswerable(with: values)
    if FunctionThread.isInside { throw WorkspaceError.calledByFunction }
    let schema = query.schema
    if let iteration {
      let related = query.relatedTypes(with: values)
      return try iteration.reading { try body(view(of: schema, related, over: $0), unread) }
    }
    switch place {
    case .transaction(let transaction):
      if use == .explanation { return try transaction.explaining { try body($0, .none) } }
      return try transaction.reading(query, values) { try body($0, transaction.mark(of: schema)) }
    case .snapshot(let open):
      let related = query.relatedTypes(with: values)
      return try open.read(self) { try body(view(of: schema, related, over: $0), $1) }
    case .nowhere: throw WorkspaceError.shutDown
    case .committed:
      if migrations.plan(for: schema) != nil || !query.relatedTypes(with: values).isEmpty {
        return try fetchWithinASnapshot { () throws in
          try withView(for: query, values, wanting: use, body)
        }
      }
      // Before the read: rows may be younger than their mark, and never older.
      let mark = use == .rows ? markOfFetch() : .none
      return try engine.read(for: .query) { try body($0, mark) }
    }
  }

  /// A view of a type over a view of one state, complete and with related values.
  /// - Parameter related: The other types that the question depends on.
  private func view(
    of schema: EntitySchema, _ related: [EntitySchema], over state: any StorageReader
  ) -> any StorageReader {
    func complete(_ schema: EntitySchema) -> any StorageReader {
      migrations.plan(for: schema).map { MigratingReader($0, over: state, in: self) } ?? state
    }
    let own = complete(schema)
    return related.isEmpty ? own : FollowingReader(own, RelationResolver(reader: complete))
  }
}

// MARK: Snapshots

extension WorkspaceCore {
  /// Calls `closure` with a snapshot of the data; see `Queryable`.
  @usableFromInline package func fetchWithinASnapshot<T: ~Copyable, E: Error>(
    _ closure: () throws(E) -> T
  ) throws(E) -> T {
    try withSnapshot(for: .query, closure)
  }

  /// Calls `closure` with a snapshot of the data, which this thread uses for all that it reads.
  func withSnapshot<T: ~Copyable, E: Error>(
    for purpose: ReadPurpose, _ closure: () throws(E) -> T
  ) throws(E) -> T {
    // A transaction's view is consistent already, an outer snapshot is joined, and a closed
    // workspace cannot be read.
    if isInOneState { return try closure() }
    snapshots.enter()
    defer { snapshots.leave() }
    if transactions.isClosed { return try closure() }
    let context = ThreadContext.current
    let key = ObjectIdentifier(self)
    let token = lastKnownToken
    let snapshot = engine.makeSnapshot(for: purpose)
    context.snapshots[key] = OpenSnapshot(snapshot, since: token)
    defer {
      context.snapshots[key] = nil
      snapshot.close()
    }
    let result = try closure()
    do { try snapshot.confirm() } catch { readingFailed(error) }
    return result
  }

  /// Throws an error if what `body` has read in the snapshot of this thread cannot be confirmed. An
  /// outer call confirms its own.
  ///
  /// If the engine refuses what was read, as a conflict with other connections, `body` runs again,
  /// after two conflicts in a state that the engine cannot refuse. If it has lost its connection,
  /// `body` runs as often as a transaction would.
  func confirming<R>(_ body: () throws -> R) throws -> R {
    if isInOneState { return try body() }
    var conflicts = 0
    var limit = RunLimit(nil, engine.capabilities.conflictPatience)
    var pauses = RetryPauses()
    while true {
      limit.begin()
      do {
        return try confirmingOnce(for: conflicts < 2 ? .query : .settledQuery, body)
      } catch let error as StorageError where error.cause == .conflict && conflicts < 2 {
        conflicts += 1
      } catch let error as StorageError where error.isLostConnection && limit.mayRepeat {
        pauses.take()
      }
    }
  }

  private func confirmingOnce<R>(
    for purpose: ReadPurpose, _ body: () throws -> R
  ) throws -> R {
    try withSnapshot(for: purpose) { () throws -> R in
      let result = try body()
      if case .snapshot(let open) = place { try open.snapshot.confirm() }
      return result
    }
  }

  /// Whether all that this thread reads is of one state.
  private var isInOneState: Bool {
    switch place {
    case .transaction, .snapshot: true
    case .committed, .nowhere: false
    }
  }
}
