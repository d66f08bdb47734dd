// ThreadContext: the state of the current thread: the transaction whose handler it runs, and its
// open snapshots by workspace.
//
// It is thread-local and not task-local: a task that a handler starts does not run inside the
// transaction.

import Platform

final class ThreadContext {
  var transaction: Transaction?
  /// The workspace that is running its deliveries on this thread.
  var delivering: (any TransactionHost)?
  /// The number of nested handlers of dictionary subscriptions on this thread.
  var dictionaryHandlers = 0

  /// Whether the thread is in no transaction, snapshot or handler of any workspace.
  var isIdle: Bool {
    transaction == nil && delivering == nil && dictionaryHandlers == 0 && snapshots.isEmpty
  }

  /// The transaction of a workspace that the thread is in, if any.
  func transaction(of workspace: any TransactionHost) -> Transaction? {
    var found = transaction
    while let candidate = found, candidate.workspace !== workspace { found = candidate.outer }
    return found
  }

  /// Calls `body` inside a transaction.
  func inside(_ transaction: Transaction, _ body: (Transaction) -> Void) {
    transaction.outer = self.transaction
    self.transaction = transaction
    body(transaction)
    self.transaction = transaction.outer.take()
  }

  // Used by one thread only: exclusivity checks, made at each fetch, would find nothing.
  @exclusivity(unchecked) var snapshots = ThreadSnapshots()

  /// Whether the thread is in no transaction and has no open snapshot, of any workspace. Checked at
  /// each read of a key, so it does no reference counting.
  static var isOutside: Bool {
    guard let pointer = pthread_getspecific(key) else { return true }
    return Unmanaged<ThreadContext>.fromOpaque(pointer)._withUnsafeGuaranteedRef {
      $0.transaction == nil && $0.snapshots.isEmpty
    }
  }

  static var current: ThreadContext {
    if let pointer = pthread_getspecific(key) {
      return Unmanaged<ThreadContext>.fromOpaque(pointer).takeUnretainedValue()
    }
    let context = ThreadContext()
    // Released by the key's destructor when the thread ends.
    pthread_setspecific(key, Unmanaged.passRetained(context).toOpaque())
    return context
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key) { pointer in
      #if canImport(Darwin)
        Unmanaged<ThreadContext>.fromOpaque(pointer).release()
      #else
        if let pointer { Unmanaged<ThreadContext>.fromOpaque(pointer).release() }
      #endif
    }
    precondition(status == 0, "no thread-local storage is left in this process")
    ThreadPointers.include(key)
    return key
  }()
}

/// The open snapshots of a thread, by workspace. There is rarely more than one, and each fetch
/// searches them.
struct ThreadSnapshots {
  private var all: [(workspace: ObjectIdentifier, open: OpenSnapshot)] = []

  var isEmpty: Bool { all.isEmpty }

  subscript(workspace: ObjectIdentifier) -> OpenSnapshot? {
    get {
      for (other, open) in all where other == workspace { return open }
      return nil
    }
    set {
      if let place = all.firstIndex(where: { $0.workspace == workspace }) { all.remove(at: place) }
      if let newValue { all.append((workspace, newValue)) }
    }
  }
}

/// A snapshot that a program has opened.
final class OpenSnapshot {
  let snapshot: any StorageSnapshot
  /// The last known commit token before the first read.
  let token: CommitToken
  /// The mark of its rows, made before the first read, which pinned the state.
  private var mark: ReadMark?

  init(_ snapshot: any StorageSnapshot, since token: CommitToken) {
    self.snapshot = snapshot
    self.token = token
  }

  func mark(_ workspace: any TransactionHost) -> ReadMark {
    if let mark { return mark }
    let mark = workspace.markOfFetch()
    self.mark = mark
    return mark
  }

  /// Calls `body` with the snapshot, and the mark of its rows.
  func read<R: ~Copyable>(
    _ workspace: any TransactionHost, _ body: (any StorageReader, ReadMark) throws -> R
  ) throws -> R {
    // Also for values: what is read first determines the state of all rows that are read later.
    let mark = mark(workspace)
    return try snapshot.read { try body($0, mark) }
  }
}

extension Transaction {
  /// The transaction whose handler runs on this thread.
  static func current(for call: String) -> Transaction {
    guard let transaction = ThreadContext.current.transaction else {
      misuse(
        "\(call) was called outside of a transaction: call it in a changes handler")
    }
    return transaction
  }
}
