// The open transactions of each thread: a linked list from the innermost one outwards.
//
// A transaction runs on the calling thread from beginning to end, and a nested one ends before the
// one around it. The list belongs to one thread and needs no lock: its head is in thread-specific
// storage, the other links are in the contexts.
//
// Invariant: each context in the list is retained by a frame further out on the thread's stack.

internal import LMDB
internal import Platform

enum OpenTransactions {
  /// The key of the list's head in thread-specific storage; nil if the process has no keys left.
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, nil) == 0 ? key : nil
  }()

  /// Throws if there is no key for the list. Called before a database is opened.
  static func check() throws {
    if key == nil {
      throw MDBError.failure(Int(EAGAIN), "there is no thread-specific storage left")
    }
  }

  /// A link of the list.
  typealias Link = Unmanaged<ContextState>?

  /// The innermost transaction of this thread.
  private(set) static var innermost: Link {
    get {
      guard let key, let pointer = pthread_getspecific(key) else { return nil }
      return Unmanaged.fromOpaque(pointer)
    }
    set {
      guard let key else { return }
      // Fails only if memory runs out. It allocates at most once per thread, and not for the first
      // keys of a process.
      let code = pthread_setspecific(key, newValue?.toOpaque())
      if code != 0 { fatalError("Empire: there is no memory for thread-specific storage") }
    }
  }

  /// The innermost transaction of this thread that fulfils a condition.
  static func innermost(where condition: (ContextState) -> Bool) -> TransactionContext? {
    var link = innermost
    while let state = link?.takeUnretainedValue() {
      if condition(state) { return TransactionContext(state) }
      link = state.enclosing
    }
    return nil
  }

  /// Makes a transaction the innermost one of this thread. The caller retains it until it calls
  /// `remove`.
  static func add(_ state: ContextState, inside enclosing: Link) {
    state.enclosing = enclosing
    innermost = Unmanaged.passUnretained(state)
  }

  /// Removes the innermost transaction: the one around it becomes the innermost.
  static func remove(_ state: ContextState) { innermost = state.enclosing }

  /// Runs a closure while a transaction is the innermost one of this thread.
  static func with<T>(
    _ context: TransactionContext, _ body: (TransactionContext) throws -> sending T
  ) rethrows -> sending T {
    add(context.state, inside: innermost)
    defer { remove(context.state) }
    return try body(context)
  }
}
