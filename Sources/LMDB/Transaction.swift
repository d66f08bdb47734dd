// Transactions: a struct in the hands of programs, around a state that knows whether it has ended.
//
// Kept true, on every path:
//  - `pointer` is nil as soon as LMDB has freed the transaction, and every call looks at it, so nothing is used after its end;
//  - cursors are closed before their transaction ends: LMDB frees those of a writing transaction itself, and then a second time
//    would be fatal, but never those of a reading one;
//  - a child that is open when its parent ends has ended, too;
//  - the outermost transaction leaves the gate of the map exactly once.

internal import CLMDB
internal import Platform

/// A transaction of an environment, on one thread.
///
/// A copy stands for the same transaction. After its end every call throws `MDBError.failure(-30782, …)`. One that is released
/// without a commit is aborted.
public struct Transaction {
  let state: TransactionState

  /// Begins a transaction. One that writes waits until no other one does.
  ///
  /// - Parameters:
  ///   - env: Where.
  ///   - parent: A writing transaction, which must not be used until the new one has ended. Committing the new one makes its
  ///     changes part of the parent's.
  ///   - readOnly: Whether it reads one state of the data and writes nothing.
  /// - Throws: `MDBError`; for a reading child, or a child of a reading transaction, `failure`.
  public init(env: Environment, parent: Transaction? = nil, readOnly: Bool = false) throws {
    state = try TransactionState(env: env, parent: parent?.state, readOnly: readOnly)
  }

  /// Runs a closure in a transaction.
  ///
  /// If the closure returns, the transaction is committed, unless the current task has been cancelled. If it throws, nothing is
  /// changed and the error is thrown on.
  ///
  /// In an environment whose map grows the closure runs once more when the map was full, in a new transaction; so it should
  /// change nothing but the databases.
  ///
  /// - Parameters:
  ///   - env: Where.
  ///   - parent: As in `init(env:parent:readOnly:)`.
  ///   - readOnly: As in `init(env:parent:readOnly:)`.
  ///   - block: What to do. The transaction must not be used after it.
  /// - Returns: What the closure returns, after the commit.
  /// - Throws: The closure's error, `CancellationError`, or `MDBError`.
  public static func with<T>(
    env: Environment, parent: Transaction? = nil, readOnly: Bool = false,
    block: (inout Transaction) throws -> sending T
  ) throws -> sending T {
    let mayGrow = parent == nil && !readOnly
    while true {
      if mayGrow { try env.growAhead() }
      var transaction = try Transaction(env: env, parent: parent, readOnly: readOnly)
      let state = transaction.state
      do {
        let result = try block(&transaction)
        if Task.isCancelled { throw CancellationError() }
        try state.commit()
        return result
      } catch {
        state.abort()
        // A closure may have hidden that the map was full; the commit has failed then.
        guard mayGrow, state.metFullMap, try env.grow() else { throw error }
      }
    }
  }

  /// Ends the transaction and keeps its changes. They are on the disk when this returns.
  ///
  /// - Throws: `MDBError`; the transaction has ended then as well, without changes.
  public func commit() throws { try state.commit() }

  /// Ends the transaction and drops its changes. Does nothing after its end.
  public func abort() { state.abort() }

  /// Begins a reading transaction once more that has ended, on any thread.
  ///
  /// - Throws: `MDBError`.
  package func restart() throws { try state.restart() }

  /// Whether it has neither been committed nor aborted.
  public var isActive: Bool { state.pointer != nil }

  /// Whether a call in it, or in a child of it, was refused because the map is full.
  public var metFullMap: Bool { state.metFullMap }

  /// Opens a database of the environment, and makes it if it is missing.
  ///
  /// The handle may be used by all transactions that begin after this one was committed.
  ///
  /// - Parameter name: The database's name.
  /// - Returns: Its handle.
  /// - Throws: `MDBError`; `recordNotFound` in a read-only transaction if there is none with that name.
  public func open(name: String) throws -> MDB_dbi {
    try open(name: name, flags: state.isReadOnly ? 0 : MDB_CREATE)
  }

  func open(name: String, flags: Int32) throws -> MDB_dbi {
    var dbi: MDB_dbi = 0
    let code = mdb_dbi_open(try state.active(), name, UInt32(flags), &dbi)
    try state.check(code, about: "the database '\(name)'")
    state.hasOpenedDatabase = true
    return dbi
  }
}

/// A transaction of LMDB, until it has ended.
final class TransactionState {
  // A transaction belongs to one thread, and no access to these calls out: nothing for the runtime to check.
  @exclusivity(unchecked) private(set) var pointer: OpaquePointer?
  let env: Environment
  let parent: TransactionState?
  let isReadOnly: Bool
  /// Whether a call was refused because the map is full.
  @exclusivity(unchecked) private(set) var metFullMap = false
  /// Whether handles of databases have to outlive the transaction, for which it has to be committed.
  @exclusivity(unchecked) var hasOpenedDatabase = false
  @exclusivity(unchecked) private var thread: ThreadIdentity
  @exclusivity(unchecked) private unowned(unsafe) var child: TransactionState?
  @exclusivity(unchecked) private var cursors: [Unmanaged<CursorState>] = []

  init(env: Environment, parent: TransactionState?, readOnly: Bool) throws(MDBError) {
    self.env = env
    self.parent = parent
    isReadOnly = readOnly
    thread = parent?.thread ?? .current
    if let parent {
      let flags = readOnly ? UInt32(MDB_RDONLY) : 0
      try MDBError.check(mdb_txn_begin(env.handle, try parent.active(), flags, &pointer))
      parent.child = self
    } else {
      try begin()
    }
  }

  deinit { abort() }

  /// Begins a reading transaction once more that has ended.
  func restart() throws(MDBError) {
    precondition(pointer == nil && isReadOnly && parent == nil && cursors.isEmpty)
    thread = .current
    try begin()
  }

  /// Begins an outermost transaction.
  private func begin() throws(MDBError) {
    var mayClear = true
    while true {
      let spare = env.gate.enter(reading: isReadOnly)
      var code: Int32
      if let spare {
        code = mdb_txn_renew(spare)
        switch code {
        case MDB_SUCCESS: pointer = spare
        case MDB_BAD_RSLOT:
          // Another environment of this process has had the same directory open, and its end has freed our place as well. It may be
          // somebody else's by now, so the reader is left alone, for ending it would free the place again.
          code = mdb_txn_begin(env.handle, nil, UInt32(MDB_RDONLY), &pointer)
        default: mdb_txn_abort(spare)
        }
      } else {
        code = mdb_txn_begin(env.handle, nil, isReadOnly ? UInt32(MDB_RDONLY) : 0, &pointer)
      }
      if code == MDB_SUCCESS { return }
      pointer = nil
      _ = env.gate.leave(thread: thread)
      switch code {
      case MDB_MAP_RESIZED:
        // Another process has grown the map.
        guard try env.adoptMapSize() else { throw MDBError(code: code) }
      case MDB_READERS_FULL where mayClear:
        var cleared: Int32 = 0
        try MDBError.check(mdb_reader_check(env.handle, &cleared))
        mayClear = false
      default: throw MDBError(code: code)
      }
    }
  }

  /// The transaction, for a call.
  func active() throws(MDBError) -> OpaquePointer {
    guard let pointer else { throw .ended }
    return pointer
  }

  /// Throws unless a call of this transaction has succeeded.
  @inline(__always)
  func check(
    _ code: Int32, about subject: @autoclosure () -> String? = nil
  ) throws(MDBError) {
    if code != MDB_SUCCESS { throw failure(code, about: subject()) }
  }

  private func failure(_ code: Int32, about subject: String?) -> MDBError {
    if code == EACCES && isReadOnly { return .readOnly }
    if code == MDB_MAP_FULL {
      var state: TransactionState? = self
      while let this = state {
        this.metFullMap = true
        state = this.parent
      }
    }
    return MDBError(code: code, about: subject)
  }

  func commit() throws(MDBError) {
    let pointer = try active()
    end()
    if isReadOnly && parent == nil && !hasOpenedDatabase {
      release(pointer)
      return
    }
    // Whatever it answers, the transaction is over.
    let code = mdb_txn_commit(pointer)
    leave()
    try check(code)
  }

  func abort() {
    guard let pointer else { return }
    end()
    if isReadOnly && parent == nil {
      release(pointer)
    } else {
      mdb_txn_abort(pointer)
      leave()
    }
  }

  /// Before LMDB frees the transaction: nothing may use it or what belongs to it.
  private func end() {
    child?.abort()
    if !cursors.isEmpty {
      for cursor in cursors { cursor.takeUnretainedValue().close() }
      cursors.removeAll(keepingCapacity: true)
    }
    pointer = nil
    parent?.child = nil
  }

  private func leave() {
    if parent == nil { _ = env.gate.leave(thread: thread) }
  }

  /// Gives a reader back, to be begun again.
  private func release(_ pointer: OpaquePointer) {
    mdb_txn_reset(pointer)
    if !env.gate.leave(thread: thread, keeping: pointer) { mdb_txn_abort(pointer) }
  }

  /// Opens a cursor, which closes with the transaction.
  func openCursor(_ cursor: CursorState, dbi: MDB_dbi) throws(MDBError) -> OpaquePointer {
    var handle: OpaquePointer?
    try check(mdb_cursor_open(try active(), dbi, &handle))
    guard let handle else { throw .problem }
    cursors.append(.passUnretained(cursor))
    return handle
  }

  /// Forgets a cursor that closes by itself.
  func forget(_ cursor: CursorState) {
    cursors.removeAll { $0.toOpaque() == Unmanaged.passUnretained(cursor).toOpaque() }
  }
}
