// SteppedWork: long work on a type's table that is done in steps, while the program goes on.
//
//  - There is one run for a type at a time; whoever wants it while it goes on joins it.
//  - Each step is a job of its own in the type's line, behind those that were called before; the next one takes its place when
//    the step before it is committed.
//  - When the disk is full a run pauses and goes on by itself. A shutdown ends it, and tells those who wait.
//  - A run that ended before everything was done is begun again only by who waits for it, or after something was committed.

import Dispatch
import Platform

final class SteppedWork<Progress: Sendable>: Sendable {
  typealias Watcher = @Sendable (Result<Progress, any Error>) -> Void

  private struct Run {
    var watchers: [Watcher] = []
    /// Whether nothing of it stands in a line, since the disk is full.
    var isPaused = false
  }

  private struct State {
    var running: [ObjectIdentifier: Run] = [:]
    /// The clock when a run ended before all was done.
    var stopped: [ObjectIdentifier: Int64] = [:]
    /// How long it is waited when the disk is full.
    var pause = DispatchTimeInterval.seconds(5)
  }

  private let state = Mutex(State())

  /// How long it is waited when the disk is full.
  var pause: DispatchTimeInterval {
    get { state.withLock { $0.pause } }
    set { state.withLock { $0.pause = newValue } }
  }

  /// Begins a run, or joins one that goes on.
  ///
  /// - Parameters:
  ///   - watcher: Told after each step, and of an error; nil if it is a query that wants the work done.
  ///   - now: The workspace's clock.
  /// - Returns: Whether the caller is to take the first step.
  func begin(_ schema: EntitySchema, now: Int64, _ watcher: Watcher?) -> Bool {
    state.withLock { state in
      let id = ObjectIdentifier(schema)
      if state.running[id] != nil {
        if let watcher { state.running[id]?.watchers.append(watcher) }
        return false
      }
      if watcher == nil, state.stopped[id] == now { return false }
      state.running[id] = Run(watchers: watcher.map { [$0] } ?? [])
      return true
    }
  }

  /// A step has gone well.
  func report(_ progress: Progress, of schema: EntitySchema) {
    let watchers = state.withLock { $0.running[ObjectIdentifier(schema)]?.watchers ?? [] }
    for watcher in watchers { watcher(.success(progress)) }
  }

  /// A run ends, for now or for ever.
  func end(_ schema: EntitySchema, isComplete: Bool, now: Int64, _ error: (any Error)? = nil) {
    let watchers = state.withLock { state -> [Watcher] in
      let id = ObjectIdentifier(schema)
      state.stopped[id] = isComplete ? nil : now
      return state.running.removeValue(forKey: id)?.watchers ?? []
    }
    if let error { for watcher in watchers { watcher(.failure(error)) } }
  }

  /// The next step waits until there may be room on the disk.
  /// - Parameter step: Takes it.
  func takePause(
    _ schema: EntitySchema, on queue: DispatchQueue, _ step: @escaping @Sendable () -> Void
  ) {
    let id = ObjectIdentifier(schema)
    let pause = state.withLock { state in
      state.running[id]?.isPaused = true
      return state.pause
    }
    queue.asyncAfter(deadline: .now() + pause) { [weak self] in
      let isWanted = self?.state.withLock { state in
        guard state.running[id]?.isPaused == true else { return false }
        state.running[id]?.isPaused = false
        return true
      }
      if isWanted == true { step() }
    }
  }

  /// Ends what pauses: nothing will go on. What stands in a line ends there.
  func endPaused(_ error: any Error) {
    let watchers = state.withLock { state -> [Watcher] in
      let paused = state.running.filter(\.value.isPaused)
      for id in paused.keys { state.running[id] = nil }
      return paused.values.flatMap(\.watchers)
    }
    for watcher in watchers { watcher(.failure(error)) }
  }
}
