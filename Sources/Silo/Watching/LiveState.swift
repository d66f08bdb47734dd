// LiveState: what a live object shows: the newest state of a query, on a queue of the program's
// choice.
//
// Of several states that come before the queue runs, only the newest is shown.

import Dflat
import Dispatch
import Platform

final class LiveState<Value: Persistable, Output: Sendable>: Sendable {
  private struct State {
    var shown: Output
    var shownFailure: (any Error)?
    /// What to show, once the queue runs the update.
    var newest: Output?
    var failure: (any Error)?
    var isQueued = false
    /// The last state.
    var result: FetchedResult<Canonical<Value>>
    var task: Task<Void, Never>?
  }

  private let state: Mutex<State>
  private let queue: DispatchQueue?
  private let output: @Sendable (FetchedResult<Canonical<Value>>) -> Output

  /// Shows the present state.
  /// - Parameters:
  ///   - changes: The states of the query, of a silo.
  ///   - queue: The queue on which what is shown changes; nil for the task that brings it.
  ///   - output: What is shown of a state.
  /// - Throws: Why the query cannot be watched.
  init(
    _ changes: ValueChanges<Value>, on queue: DispatchQueue?,
    _ output: @escaping @Sendable (FetchedResult<Canonical<Value>>) -> Output
  ) throws {
    if let failure = changes.failure { throw failure }
    state = Mutex(State(shown: output(changes.start), result: changes.start))
    self.queue = queue
    self.output = output
  }

  deinit { state.withLock { $0.task }?.cancel() }

  /// Begins to follow the states. Called once.
  /// - Parameter show: Called on the queue when there is something to show; it calls `advance`.
  func follow(_ changes: ValueChanges<Value>, _ show: @escaping @Sendable () -> Void) {
    let states = changes.siloStates
    let report = changes.report
    let task = Task { [weak self] in
      for await state in states {
        switch state {
        case .next(let result), .switched(let result): self?.take(result, show)
        case .failed(let error):
          report(error)
          self?.change({ $0.failure = error }, show)
        }
      }
    }
    state.withLock { $0.task = task }
  }

  /// What is shown.
  var shown: Output { state.withLock { $0.shown } }

  /// Why nothing is followed any more, if that is so.
  var failure: (any Error)? { state.withLock { $0.shownFailure } }

  private func take(
    _ result: FetchedResult<Canonical<Value>>, _ show: @escaping @Sendable () -> Void
  ) {
    // The values of another store are the same, mostly.
    let isSame = state.withLock { state in
      defer { state.result = result }
      return result.elementsEqual(state.result)
    }
    if isSame { return }
    let output = output(result)
    change({ $0.newest = output }, show)
  }

  private func change(
    _ body: (inout sending State) -> Void, _ show: @escaping @Sendable () -> Void
  ) {
    let isFirst = state.withLock { state in
      body(&state)
      defer { state.isQueued = true }
      return !state.isQueued
    }
    // An update that is already queued shows the newest state.
    guard isFirst else { return }
    if let queue { queue.async(execute: show) } else { show() }
  }

  /// Shows the newest state.
  func advance() {
    state.withLock { state in
      state.isQueued = false
      if let newest = state.newest.take() { state.shown = newest }
      state.shownFailure = state.failure
    }
  }
}
