// Transactions: a public struct around a shared state that tracks whether the transaction has
// ended.
//
// Invariants, on every path:
//  - `pointer` is nil as soon as LMDB has freed the transaction. Every call checks it, so nothing
//    is used after the end.
//  - Cursors are closed before their transaction ends. LMDB frees the cursors of a writing
//    transaction itself, so closing them later would free them twice; it never frees those of a
//    read-only one.
//  - A child that is open when its parent ends has ended, too.
//  - The outermost transaction leaves the map's gate exactly once.

internal import CLMDB
internal import Platform

/// A transaction of an environment, on one thread.
///
/// A copy refers to the same transaction. After the transaction has ended, every call throws
/// `MDBError.failure(-30782, …)`. A transaction that is released without a commit is aborted.
public struct Transaction {
  let state: TransactionState

  /// Begins a transaction. A writing transaction waits until no other one writes. A thread that has
  /// one open passes it as `parent`; without that, it would wait for itself.
  ///
  /// - Parameters:
  ///   - env: The environment.
  ///   - parent: A writing transaction, which must not be used until the new one has ended.
  ///     Committing the new one adds its changes to the parent.
  ///   - readOnly: Whether the transaction only reads; it sees one consistent state.
  /// - Throws: `MDBError`; `failure` for a read-only child, a child of a read-only transaction, or
  ///   a parent of another environment.
  public init(env: Environment, parent: Transaction? = nil, readOnly: Bool = false) throws {
    state = try TransactionState(env: env, parent: parent?.state, readOnly: readOnly)
  }

  /// Runs a closure in a transaction.
  ///
  /// If the closure returns, the transaction is committed, unless the current task has been
  /// cancelled. If it throws, nothing is changed and the error is rethrown.
  ///
  /// The closure runs again in a new transaction if the map is full and may grow, if readers of
  /// killed processes kept its pages in use, or if another transaction has opened databases
  /// meanwhile (see `open(name:)`). It should therefore have no effects except on the databases.
  ///
  /// - Parameters:
  ///   - env: The environment.
  ///   - parent: As in `init(env:parent:readOnly:)`.
  ///   - readOnly: As in `init(env:parent:readOnly:)`.
  ///   - block: The work to do. The transaction must not be used afterwards.
  /// - Returns: What the closure returns, after the commit.
  /// - Throws: The closure's error, `CancellationError`, or `MDBError`.
  public static func with<T>(
    env: Environment, parent: Transaction? = nil, readOnly: Bool = false,
    block: (inout Transaction) throws -> sending T
  ) throws -> sending T {
    let isWriter = parent == nil && !readOnly
    while true {
      var transaction = try Transaction(env: env, parent: parent, readOnly: readOnly)
      let state = transaction.state
      do {
        let result = try block(&transaction)
        if Task.isCancelled { throw CancellationError() }
        try state.commit()
        return result
      } catch {
        state.abort()
        // `metFullMap` is checked instead of the error, because the closure may have caught it; the
        // commit then fails.
        let mayRepeat =
          try isWriter && state.metFullMap && env.makeRoom()
          || parent == nil && state.metOpener && env.databases.waitForOpener()
        if !mayRepeat { throw error }
      }
    }
  }

  /// Commits the transaction. Its changes are on disk when this returns.
  ///
  /// - Throws: `MDBError`; the transaction has then ended without changes.
  public func commit() throws { try state.commit() }

  /// Aborts the transaction and discards its changes. Does nothing if it has ended.
  public func abort() { state.abort() }

  /// Restarts a read-only transaction that has ended. It may be called on any thread.
  ///
  /// - Throws: `MDBError`.
  package func restart() throws { try state.restart() }

  /// Whether the transaction has been neither committed nor aborted.
  public var isActive: Bool { state.pointer != nil }

  /// Whether a call in this transaction or a child of it failed because the map was full.
  public var metFullMap: Bool { state.metFullMap }

  /// Whether a call in this transaction or a child of it failed because they have changed as many
  /// pages as an outermost transaction may.
  package var metPageLimit: Bool { state.metPageLimit }

  /// Opens a database of the environment, and creates it if it does not exist.
  ///
  /// All transactions that begin after this one was committed may use the handle. A database that
  /// was open when this transaction began is found without waiting. Of the transactions that are
  /// open at the same time, one may open others; `Transaction.with` runs a closure again that came
  /// too late.
  ///
  /// - Parameter name: The database's name.
  /// - Returns: Its handle.
  /// - Throws: `MDBError`; `recordNotFound` in a read-only transaction if there is none with that
  ///   name; `failure(EINVAL, …)` for a name that contains NUL; `failure(EBUSY, …)` if another
  ///   transaction opens databases, or has done so since this one began: begin this one again.
  public func open(name: String) throws -> MDB_dbi {
    try open(name: name, flags: state.isReadOnly ? 0 : MDB_CREATE)
  }

  func open(name: String, flags: Int32) throws -> MDB_dbi {
    // LMDB would end the name there, and open another database.
    if name.utf8.contains(0) {
      throw MDBError.failure(Int(EINVAL), "the name of a database contains NUL")
    }
    return try state.open(name, UInt32(flags))
  }
}

/// The state that copies of a `Transaction` share.
final class TransactionState {
  // A transaction belongs to one thread, and no access to these properties calls other code, so the
  // runtime has nothing to check.
  @exclusivity(unchecked) private(set) var pointer: OpaquePointer?
  let env: Environment
  let parent: TransactionState?
  let isReadOnly: Bool
  /// Whether a call failed because the map was full.
  @exclusivity(unchecked) private(set) var metFullMap = false
  /// Whether a call failed because too many pages were changed.
  @exclusivity(unchecked) private(set) var metPageLimit = false
  /// Whether a database could not be opened because another transaction opens some.
  @exclusivity(unchecked) private(set) var metOpener = false
  /// The databases that were opened, by the bytes of their names. Their handles only remain valid
  /// if the transaction is committed.
  @exclusivity(unchecked) private var opened: [[UInt8]: MDB_dbi] = [:]
  /// Whether this outermost transaction, or a child of it, has opened databases.
  @exclusivity(unchecked) private var isOpener = false
  @exclusivity(unchecked) private var thread: ThreadIdentity
  @exclusivity(unchecked) private unowned(unsafe) var child: TransactionState?
  @exclusivity(unchecked) private var cursors: [Unmanaged<CursorState>] = []

  init(env: Environment, parent: TransactionState?, readOnly: Bool) throws(MDBError) {
    self.env = env
    self.parent = parent
    isReadOnly = readOnly
    thread = parent?.thread ?? .current
    if let parent {
      // Its changes would be made in the parent's environment.
      guard parent.env === env else {
        throw .failure(Int(EINVAL), "the parent is a transaction of another environment")
      }
      let flags = readOnly ? UInt32(MDB_RDONLY) : 0
      try MDBError.check(
        mdb_txn_begin(env.handle, try parent.active(), flags, &pointer), about: place)
      parent.child = self
    } else {
      try begin()
    }
  }

  deinit { abort() }

  /// Restarts a read-only transaction that has ended.
  func restart() throws(MDBError) {
    precondition(pointer == nil && isReadOnly && parent == nil && cursors.isEmpty)
    thread = .current
    try begin()
  }

  /// Begins a reader again as long as its state may be that of two commits.
  ///
  /// LMDB looks up the number of the last commit, and then copies the places of the trees from the
  /// meta page of that commit. Every second commit overwrites this page. If two of them end in
  /// between, the copy may be of a later commit than the next reader sees, or of both.
  /// - Parameter info: Receives what the environment is like.
  /// - Returns: LMDB's code. If it is an error, the reader has ended.
  private func readOneState(with reader: OpaquePointer, _ info: inout MDB_envinfo) -> Int32 {
    // Commits of a process without the lock file are not noted in it: then this is of no use.
    for _ in 0..<100 {
      mdb_env_info(env.handle, &info)
      if info.me_last_txnid < mdb_txn_id(reader) + 2 { break }
      mdb_txn_reset(reader)
      let code = mdb_txn_renew(reader)
      if code != MDB_SUCCESS {
        mdb_txn_abort(reader)
        return code
      }
    }
    return MDB_SUCCESS
  }

  /// Begins an outermost transaction.
  private func begin() throws(MDBError) {
    if !isReadOnly { try env.growAhead(freeingReaders: true) } else { try env.checkOpen() }
    var mayClear = true
    var mayGrow = true
    while true {
      let spare = isReadOnly ? env.gate.enterReader() : nil
      if !isReadOnly { env.gate.enter(isWriter: true) }
      var code: Int32
      if let spare {
        code = mdb_txn_renew(spare)
        switch code {
        case MDB_SUCCESS: pointer = spare
        case MDB_BAD_RSLOT:
          // Other code in this process had the same directory open with LMDB. Closing it freed our
          // reader slot as well, and another reader may use the slot by now. Ending the spare
          // reader would free the slot again, so it is leaked.
          code = mdb_txn_begin(env.handle, nil, UInt32(MDB_RDONLY), &pointer)
        default: mdb_txn_abort(spare)
        }
      } else {
        code = mdb_txn_begin(env.handle, nil, isReadOnly ? UInt32(MDB_RDONLY) : 0, &pointer)
      }
      var info = MDB_envinfo()
      if code == MDB_SUCCESS, isReadOnly, let pointer {
        code = readOneState(with: pointer, &info)
        if code == MDB_SUCCESS, mayGrow, env.shouldGrow(info) {
          self.pointer = nil
          mdb_txn_reset(pointer)
          env.leaveGate(thread: thread, isWriter: false, keeping: pointer)
          mayGrow = false
          try env.growAhead(freeingReaders: false)
          continue
        }
      }
      if code == MDB_SUCCESS {
        if !isReadOnly, let pointer, let error = env.staleLockFile(for: pointer) {
          abort()
          throw error
        }
        return
      }
      pointer = nil
      env.leaveGate(thread: thread, isWriter: !isReadOnly)
      switch code {
      case MDB_MAP_RESIZED:
        // Another process has grown the map.
        guard try env.adoptMapSize() else { throw MDBError(code: code, about: place) }
      case MDB_READERS_FULL where mayClear:
        try env.checkReaders()
        mayClear = false
      case MDB_READERS_FULL:
        throw MDBError(
          code: code, about: "all \(env.maxReaders) reader slots of '\(env.path)' are in use")
      default: throw MDBError(code: code, about: place)
      }
    }
  }

  /// Where the transaction takes place, for errors.
  private var place: String { "a transaction in '\(env.path)'" }

  /// The LMDB transaction. Throws if it has ended.
  func active() throws(MDBError) -> OpaquePointer {
    guard let pointer else { throw .ended }
    return pointer
  }

  /// Throws unless a call of this transaction succeeded.
  @inline(__always)
  func check(
    _ code: Int32, about subject: @autoclosure () -> String? = nil
  ) throws(MDBError) {
    if code != MDB_SUCCESS { throw failure(code, about: subject()) }
  }

  private func failure(_ code: Int32, about subject: String?) -> MDBError {
    if code == EACCES && isReadOnly { return .readOnly }
    if code == MDB_MAP_FULL || code == MDB_TXN_FULL {
      var state: TransactionState? = self
      while let ancestor = state {
        if code == MDB_MAP_FULL { ancestor.metFullMap = true } else { ancestor.metPageLimit = true }
        state = ancestor.parent
      }
    }
    // The key or database does not say which file is full.
    let place = place
    let text = subject.map { subject in
      code == MDB_MAP_FULL && !subject.hasSuffix(place) ? "\(subject), in \(place)" : subject
    }
    return MDBError(code: code, about: text ?? place)
  }

  func commit() throws(MDBError) {
    let pointer = try active()
    end()
    if isReadOnly && parent == nil && opened.isEmpty {
      release(pointer)
      return
    }
    if !isReadOnly, parent == nil, let error = env.replacedFile {
      mdb_txn_abort(pointer)
      leave()
      throw error
    }
    // The transaction has ended, whatever the result is.
    let code = mdb_txn_commit(pointer)
    leave(committed: code == MDB_SUCCESS)
    try check(code, about: "the commit of \(place)")
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

  /// Called before LMDB frees the transaction: ends its child and closes its cursors.
  private func end() {
    child?.abort()
    if !cursors.isEmpty {
      for cursor in cursors { cursor.takeUnretainedValue().close() }
      cursors.removeAll(keepingCapacity: true)
    }
    pointer = nil
    parent?.child = nil
  }

  private func leave(committed: Bool = false) {
    endOpening(committed: committed)
    if parent == nil { env.leaveGate(thread: thread, isWriter: !isReadOnly) }
  }

  /// Returns a reader to the gate for reuse.
  private func release(_ pointer: OpaquePointer) {
    mdb_txn_reset(pointer)
    endOpening(committed: false)
    env.leaveGate(thread: thread, isWriter: false, keeping: pointer)
  }

  // MARK: Databases

  private var outermost: TransactionState { parent?.outermost ?? self }

  /// Opens a database.
  func open(_ name: String, _ flags: UInt32) throws(MDBError) -> MDB_dbi {
    let pointer = try active()
    let outermost = outermost
    let bytes = Array(name.utf8)
    let access = env.databases.access(bytes, in: outermost, on: thread) { handle in
      var flags: UInt32 = 0
      return mdb_dbi_flags(pointer, handle, &flags) == MDB_SUCCESS
    }
    switch access {
    case .isOpen(let handle): return handle
    case .mayOpen:
      var handle: MDB_dbi = 0
      let code = mdb_dbi_open(pointer, name, flags, &handle)
      if code == MDB_SUCCESS {
        opened[bytes] = handle
        outermost.isOpener = true
      } else if !outermost.isOpener {
        env.databases.end(outermost)
      }
      try check(code, about: "the database '\(name)'")
      return handle
    case .isBusy:
      outermost.metOpener = true
      throw .failure(
        Int(EBUSY),
        "the database '\(name)': since a transaction in '\(env.path)' began, another one of this process has opened databases; begin it again"
      )
    }
  }

  /// Passes the databases that were opened on, after LMDB has done so or has closed them.
  private func endOpening(committed: Bool) {
    if committed, let parent { parent.opened.merge(opened) { _, new in new } }
    if isOpener { env.databases.end(self, opened: committed ? opened : [:]) }
    isOpener = false
    opened = [:]
  }

  /// Opens a cursor, which is closed when the transaction ends.
  func openCursor(_ cursor: CursorState, dbi: MDB_dbi) throws(MDBError) -> OpaquePointer {
    var handle: OpaquePointer?
    try check(mdb_cursor_open(try active(), dbi, &handle))
    guard let handle else { throw .problem }
    cursors.append(.passUnretained(cursor))
    return handle
  }

  /// Unregisters a cursor that closes itself.
  func forget(_ cursor: CursorState) {
    cursors.removeAll { $0.toOpaque() == Unmanaged.passUnretained(cursor).toOpaque() }
  }
}
