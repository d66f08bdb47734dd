// The named databases that an environment has open.
//
// LMDB keeps a table of them, and each transaction the length that the table had when it began. A
// database that is not in this part gets the next entry, without a lock. So two transactions that
// are open at the same time and open databases both get the same entry, even for different names,
// and the one that does not commit removes the entry of the other. Therefore:
//
//  - Only one outermost transaction at a time opens databases that are not open yet, its children
//    included, and only if no other one has opened any since it began.
//  - A database that was open before a transaction began is found here, without LMDB.

internal import CLMDB
internal import Platform

final class OpenDatabases: Sendable {
  private struct State {
    /// The handles, by the bytes of the names, and in which version they were opened.
    var handles: [[UInt8]: (handle: MDB_dbi, version: Int)] = [:]
    /// The outermost transaction that opens databases, and its thread.
    var opener: (transaction: ObjectIdentifier, thread: ThreadIdentity)?
  }

  enum Access {
    case isOpen(MDB_dbi)
    /// The transaction may open it. Others may not, until `end`.
    case mayOpen
    /// Another transaction opens databases, or has opened some since this one began.
    case isBusy
  }

  private let databases = Monitor(State())
  private let lastVersion = Atomic(0)

  /// A number that grows when databases have been opened. A transaction loads it before it begins.
  var version: Int { lastVersion.load(ordering: .acquiring) }

  /// How an outermost transaction, or a child of it, gets a database.
  func access(
    _ name: [UInt8], in transaction: TransactionState, on thread: ThreadIdentity, version: Int
  ) -> Access {
    databases.lock()
    defer { databases.unlock() }
    if let open = databases.state.handles[name], open.version <= version {
      return .isOpen(open.handle)
    }
    let id = ObjectIdentifier(transaction)
    guard self.version == version,
      databases.state.opener.map({ $0.transaction == id }) ?? true
    else { return .isBusy }
    databases.state.opener = (id, thread)
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
    if !opened.isEmpty {
      let version = version + 1
      for (name, handle) in opened { databases.state.handles[name] = (handle, version) }
      lastVersion.store(version, ordering: .releasing)
    }
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
