// What runs on the current thread: the transaction whose handler it is in, and open snapshots by workspace.
//
// Thread-local and not task-local: a task that a handler starts does not run inside the transaction.

import Platform

final class ThreadContext {
  var transaction: Transaction?
  /// The workspace whose handlers are told something.
  var delivering: (any TransactionHost)?
  /// How many handlers of dictionary subscriptions the thread is in.
  var dictionaryHandlers = 0

  /// Whether the thread is in no transaction, snapshot or handler, of any workspace.
  var isIdle: Bool {
    transaction == nil && delivering == nil && dictionaryHandlers == 0 && snapshots.isEmpty
  }

  /// The transaction of a workspace that the thread is in; nil if it is in none.
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

  // Used by one thread: the check for overlapping accesses, at each fetch, would find nothing.
  @exclusivity(unchecked) var snapshots = ThreadSnapshots()

  /// Whether the thread is in no transaction and has no snapshot open, of any workspace. Asked at each reading of a key, so no
  /// reference is counted.
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
    return key
  }()
}

/// The open snapshots of a thread by their workspaces, of which there is hardly ever more than one: looked for at each fetch.
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
  /// The clock before the first reading, which took the state.
  private var timestamp: Int64?

  init(_ snapshot: any StorageSnapshot) {
    self.snapshot = snapshot
  }

  func mark(_ workspace: any TransactionHost) -> ReadMark {
    let timestamp = timestamp ?? workspace.clock.now
    self.timestamp = timestamp
    return ReadMark(timestamp: timestamp, reading: workspace.reading)
  }
}
