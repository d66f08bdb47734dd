// The named databases that an environment has open.
//
// LMDB keeps a table of them, and each transaction a copy of its length when it began. A database
// that is not in this part gets the next entry, without a lock. So two transactions that are open
// at the same time and open databases both get the same entry, even for different names, and the
// one that does not commit removes the entry of the other. Therefore:
//
//  - Only one outermost transaction at a time opens databases that are not open yet, its children
//    included, and only if its part of the table is the whole one.
//  - A database that was open before a transaction began is found here, without LMDB.

internal import CLMDB
internal import Platform

final class OpenDatabases: Sendable {
  /// An outermost transaction that opens databases.
  private struct Opener {
    let transaction: ObjectIdentifier
    let thread: ThreadIdentity
    let isWriter: Bool
  }

  private struct State {
    /// The handles, by the bytes of the names.
    var handles: [[UInt8]: MDB_dbi] = [:]
    /// The last entry of LMDB's table.
    var last: MDB_dbi?
    var opener: Opener?
  }

  enum Access {
    case isOpen(MDB_dbi)
    /// The transaction may open it. Others may not, until `end`.
    case mayOpen
    /// Another transaction opens databases, or has opened some since this one began.
    case isBusy
  }

  private let databases = Monitor(State())

  /// How an outermost transaction, or a child of it, gets a database.
  /// - Parameter knows: Whether its part of the table has an entry.
  func access(
    _ name: [UInt8], in transaction: TransactionState, on thread: ThreadIdentity,
    knows: (MDB_dbi) -> Bool
  ) -> Access {
    let own = Opener(
      transaction: ObjectIdentifier(transaction), thread: thread,
      isWriter: !transaction.isReadOnly)
    databases.lock()
    defer { databases.unlock() }
    // A writer begins after the one before it has ended, which is about to say so here.
    while own.isWriter, let opener = databases.state.opener, opener.isWriter,
      opener.transaction != own.transaction
    { databases.wait() }
    let state = databases.state
    if let handle = state.handles[name], knows(handle) { return .isOpen(handle) }
    guard state.last.map(knows) ?? true,
      state.opener.map({ $0.transaction == own.transaction }) ?? true
    else { return .isBusy }
    databases.state.opener = own
    return .mayOpen
  }

  /// Lets other transactions open databases, after an outermost one has ended, or opened nothing.
  ///
  /// - Parameters:
  ///   - transaction: The outermost transaction.
  ///   - opened: What it has opened and committed.
  func end(_ transaction: TransactionState, opened: [[UInt8]: MDB_dbi] = [:]) {
    databases.lock()
    defer { databases.unlock() }
    guard databases.state.opener?.transaction == ObjectIdentifier(transaction) else { return }
    databases.state.opener = nil
    databases.state.handles.merge(opened) { _, new in new }
    databases.state.last = databases.state.handles.values.max()
    databases.broadcast()
  }

  /// Waits until no transaction opens databases. Returns false if that takes too long, or if the
  /// transaction that does is one of this thread.
  func waitForOpener() -> Bool {
    let deadline = MonotonicTime.now + MonotonicTime.nanoseconds(MapGate.changeTimeout)
    databases.lock()
    defer { databases.unlock() }
    while let opener = databases.state.opener {
      if opener.thread == .current { return false }
      if !databases.wait(until: deadline), databases.state.opener != nil { return false }
    }
    return true
  }
}
