// DictionaryWatcher: one subscription to a key.
//
//  - Notifications are queued in the order of the changes, under the store's lock, and delivered in
//    that order.
//  - The thread that has made a change delivers it, with no lock held, before the assignment
//    returns. If another thread is delivering to the same subscription at that moment, the thread
//    waits for it, unless it is in a handler itself: then the other thread delivers the
//    notification, since two handlers that wait for each other would deadlock.
//  - Once `cancel` has returned no call of the handler begins, even if its value was just being
//    decoded (see CallGate).

import Dispatch
import Platform

final class DictionaryWatcher: Sendable {
  enum Event: Sendable {
    case initial(DictionaryContents)
    case changed(DictionaryContents)
  }

  private struct State: Sendable {
    var queue: [Event] = []
    /// The thread that is delivering, and its depth of recursion. At first the thread that
    /// subscribes, so that no other one delivers the initial value.
    var deliverer: ObjectIdentifier? = ObjectIdentifier(ThreadContext.current)
    var depth = 0
    var waiting: [DispatchSemaphore] = []
  }

  private enum Step {
    case done
    case deliver(Event)
    case wait(DispatchSemaphore)
  }

  /// Decodes the value of a notification, and returns the closure that delivers it to the program.
  typealias Handler = @Sendable (Event) -> () -> Void

  private let state = Mutex(State())
  private let gate = CallGate()
  private let handler: Mutex<Handler?>

  init(_ handler: @escaping Handler) {
    self.handler = Mutex(handler)
  }

  func add(_ event: Event) {
    state.withLock { if !gate.isClosed { $0.queue.append(event) } }
  }

  func cancel() {
    if gate.close().letsGo { dropHandler() }
    let released = state.withLock { state in
      defer { state.queue = [] }
      return state.queue
    }
    withExtendedLifetime(released) {}
  }

  /// Calls the handler, unless the subscription was cancelled before.
  private func notify(_ event: Event) {
    guard gate.enter() else { return }
    let call = handler.withLock { $0 }?(event)
    // Decoding the value may have taken a while.
    if !gate.isClosed { call?() }
    if gate.leave() { dropHandler() }
  }

  private func dropHandler() {
    // Releasing it may deinitialize captured objects and run arbitrary code.
    let last = handler.withLock { $0.take() }
    withExtendedLifetime(last) {}
  }

  /// Delivers everything that is in the queue.
  func deliver() {
    let context = ThreadContext.current
    let me = ObjectIdentifier(context)
    while true {
      switch next(me, mayWait: context.dictionaryHandlers == 0) {
      case .done: return
      case .wait(let semaphore): semaphore.wait()
      case .deliver(let event):
        context.dictionaryHandlers += 1
        notify(event)
        context.dictionaryHandlers -= 1
        for semaphore in endDelivery() { semaphore.signal() }
      }
    }
  }

  private func next(_ me: ObjectIdentifier, mayWait: Bool) -> Step {
    state.withLock { state in
      if let deliverer = state.deliverer, deliverer != me {
        if !mayWait { return .done }
        let semaphore = DispatchSemaphore(value: 0)
        state.waiting.append(semaphore)
        return .wait(semaphore)
      }
      if state.queue.isEmpty { return .done }
      state.deliverer = me
      state.depth += 1
      return .deliver(state.queue.removeFirst())
    }
  }

  private func endDelivery() -> [DispatchSemaphore] {
    state.withLock { state in
      state.depth -= 1
      if state.depth > 0 { return [] }
      state.deliverer = nil
      defer { state.waiting = [] }
      return state.waiting
    }
  }
}

/// The program's handle of a watcher.
final class DictionarySubscription: WorkspaceSubscription {
  private let store: DictionaryStore
  private let key: DictionaryKey
  private let watcher: DictionaryWatcher

  init(_ store: DictionaryStore, _ key: DictionaryKey, _ watcher: DictionaryWatcher) {
    self.store = store
    self.key = key
    self.watcher = watcher
  }

  func cancel() {
    watcher.cancel()
    store.unwatch(key, watcher)
  }

  deinit { cancel() }
}
