// DictionaryWatcher: one subscription to a key.
//
//  - News are queued in the order of the changes, under the store's lock, and told in that order.
//  - Who has made a change tells it, on its own thread, with no lock held, before the assignment returns. If somebody else is just
//    telling the same subscription, it is waited for, unless this thread is in a handler itself: then the other one tells it, since
//    two that wait for each other would wait for ever.
//  - Once `cancel` has returned no call of the handler begins, also if its value was just being made (see CallGate).

import Dispatch
import Platform

/// Unchecked: `handler` is written by who lets go of it, when nobody calls it any more.
final class DictionaryWatcher: @unchecked Sendable {
  enum News: Sendable {
    case initial(DictionaryContents)
    case changed(DictionaryContents)
  }

  private struct State: Sendable {
    var queue: [News] = []
    /// The thread that tells something, and how often it has come back to it.
    var teller: ObjectIdentifier?
    var depth = 0
    var waiting: [DispatchSemaphore] = []
  }

  private enum Step {
    case done
    case tell(News)
    case wait(DispatchSemaphore)
  }

  /// Makes the value of some news, and gives what tells it to the program.
  typealias Handler = @Sendable (News) -> () -> Void

  private let state = Mutex(State())
  private let gate = CallGate()
  @exclusivity(unchecked) private var handler: Handler?

  init(_ handler: @escaping Handler) {
    self.handler = handler
  }

  func add(_ news: News) {
    state.withLock { if !gate.isClosed { $0.queue.append(news) } }
  }

  func cancel() {
    if gate.close().letsGo { dropHandler() }
    let released = state.withLock { state in
      defer { state.queue = [] }
      return state.queue
    }
    withExtendedLifetime(released) {}
  }

  /// Calls the handler, unless it was cancelled before.
  private func tell(_ news: News) {
    guard gate.enter() else { return }
    let tell = handler?(news)
    // To make the value may have taken a while.
    if !gate.isClosed { tell?() }
    if gate.leave() { dropHandler() }
  }

  private func dropHandler() {
    // What it has captured may end here, and do anything.
    let last = handler.take()
    withExtendedLifetime(last) {}
  }

  /// Tells everything that is in the queue.
  func deliver() {
    let context = ThreadContext.current
    let me = ObjectIdentifier(context)
    while true {
      switch next(me, mayWait: context.dictionaryHandlers == 0) {
      case .done: return
      case .wait(let place): place.wait()
      case .tell(let news):
        context.dictionaryHandlers += 1
        tell(news)
        context.dictionaryHandlers -= 1
        for place in told() { place.signal() }
      }
    }
  }

  private func next(_ me: ObjectIdentifier, mayWait: Bool) -> Step {
    state.withLock { state in
      if let teller = state.teller, teller != me {
        if !mayWait { return .done }
        let place = DispatchSemaphore(value: 0)
        state.waiting.append(place)
        return .wait(place)
      }
      if state.queue.isEmpty { return .done }
      state.teller = me
      state.depth += 1
      return .tell(state.queue.removeFirst())
    }
  }

  private func told() -> [DispatchSemaphore] {
    state.withLock { state in
      state.depth -= 1
      if state.depth > 0 { return [] }
      state.teller = nil
      defer { state.waiting = [] }
      return state.waiting
    }
  }
}

/// What a program holds of it.
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
