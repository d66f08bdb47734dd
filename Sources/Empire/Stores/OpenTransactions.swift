// Which transactions are open on a thread: a chain from the innermost one outwards.
//
// A transaction runs on the thread that has called, from its beginning to its end, and one inside of another one ends first. So the chain is
// the thread's own, and nobody needs a lock for it: its first link stands in the thread's storage, the others in the contexts.
//
// Kept true: what stands in a chain is held by somebody further out on the thread's stack.

internal import LMDB
internal import Platform

enum OpenTransactions {
  /// The place of the chain in the storage of each thread; nil if the process has used up all places.
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// Throws if there can be no chains. Called before there is anything that could be opened.
  static func check() throws {
    if key == nil {
      throw MDBError.failure(Int(EAGAIN), "there is no thread-specific storage left")
    }
  }

  /// A link of a chain.
  typealias Link = Unmanaged<ContextState>?

  /// The innermost transaction of this thread.
  private(set) static var innermost: Link {
    get {
      guard let key, let pointer = pthread_getspecific(key) else { return nil }
      return Unmanaged.fromOpaque(pointer)
    }
    set {
      guard let key else { return }
      // It fails without memory only, and takes some only for a key that is not among the first ones, once for each thread.
      let code = pthread_setspecific(key, newValue?.toOpaque())
      if code != 0 { fatalError("Empire: there is no memory for thread-specific storage") }
    }
  }

  /// The innermost transaction of this thread whose stores take turns by a table.
  static func current(of table: TransactionTable) -> TransactionContext? {
    var link = innermost
    while let state = link?.takeUnretainedValue() {
      if state.core.table === table { return TransactionContext(state) }
      link = state.enclosing
    }
    return nil
  }

  /// Makes a transaction the innermost one of this thread. The caller holds it until it calls `remove`.
  static func add(_ state: ContextState, inside enclosing: Link) {
    state.enclosing = enclosing
    innermost = Unmanaged.passUnretained(state)
  }

  /// Makes the one around the innermost transaction the innermost one.
  static func remove(_ state: ContextState) { innermost = state.enclosing }

  /// Runs a closure with a transaction that is the innermost one of this thread meanwhile.
  static func with<T>(
    _ context: TransactionContext, _ body: (TransactionContext) throws -> sending T
  ) rethrows -> sending T {
    add(context.state, inside: innermost)
    defer { remove(context.state) }
    return try body(context)
  }
}
