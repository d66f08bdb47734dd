// SteppedWork: long maintenance of a type's table, done in steps while the program goes on.
//
//  - There is one run per type at a time. A caller that asks for the work during a run joins it.
//  - Each step is a job in the type's queue, behind the jobs enqueued before it. The next step is
//    enqueued when the previous one is committed.
//  - When the disk is full, or after a conflict with another connection, a run pauses and resumes
//    by itself. Shutdown ends it and notifies its watchers.
//  - A run that ended before the work was complete is restarted only by a caller that waits for it,
//    or after a later change of its types; a run that has failed, after any later commit.

import Dispatch
import Platform

/// What a run that could not be completed has seen.
struct WorkMoment {
  /// The workspace's clock.
  let clock: Int64
  /// When this workspace last changed the types.
  let lastChange: Int64
  /// Differs after commits of other connections.
  let token: CommitToken
}

final class SteppedWork<Progress: Sendable>: Sendable {
  typealias Watcher = @Sendable (Result<Progress, any Error>) -> Void

  private struct Run {
    var watchers: [Watcher] = []
    /// Whether no step is enqueued until a pause has ended.
    var isPaused = false
  }

  private struct Stop {
    let moment: WorkMoment
    let hasFailed: Bool

    /// Whether another run would end in the same way.
    func isFinal(at now: WorkMoment) -> Bool {
      hasFailed
        ? moment.clock == now.clock
        : moment.lastChange == now.lastChange && moment.token == now.token
    }
  }

  private struct State {
    var running: [ObjectIdentifier: Run] = [:]
    /// The runs that ended before the work was complete.
    var stopped: [ObjectIdentifier: Stop] = [:]
    /// How long a run pauses when the disk is full.
    var pause = DispatchTimeInterval.seconds(5)
  }

  private let state = Mutex(State())

  /// How long a run pauses when the disk is full.
  var pause: DispatchTimeInterval {
    get { state.withLock { $0.pause } }
    set { state.withLock { $0.pause = newValue } }
  }

  /// Begins a run, or joins the current one.
  ///
  /// - Parameters:
  ///   - watcher: Called after each step and with an error; nil if a query asks for the work and
  ///     does not wait for it.
  ///   - now: The present state of the types.
  /// - Returns: Whether the caller has to start the first step.
  func begin(_ schema: EntitySchema, now: WorkMoment, _ watcher: Watcher?) -> Bool {
    state.withLock { state in
      let id = ObjectIdentifier(schema)
      if state.running[id] != nil {
        if let watcher { state.running[id]?.watchers.append(watcher) }
        return false
      }
      if watcher == nil, state.stopped[id]?.isFinal(at: now) == true { return false }
      state.running[id] = Run(watchers: watcher.map { [$0] } ?? [])
      return true
    }
  }

  /// Reports a successful step.
  func report(_ progress: Progress, of schema: EntitySchema) {
    let watchers = state.withLock { $0.running[ObjectIdentifier(schema)]?.watchers ?? [] }
    for watcher in watchers { watcher(.success(progress)) }
  }

  /// Ends a run with its last step, and reports that step: also to a watcher that has joined since
  /// the step ended, and will hear of no other.
  func finish(_ schema: EntitySchema, isComplete: Bool, now: WorkMoment, _ progress: Progress) {
    let stop = isComplete ? nil : Stop(moment: now, hasFailed: false)
    for watcher in remove(schema, stop) { watcher(.success(progress)) }
  }

  /// Ends a run with an error.
  func end(_ schema: EntitySchema, now: WorkMoment, _ error: any Error) {
    for watcher in remove(schema, Stop(moment: now, hasFailed: true)) { watcher(.failure(error)) }
  }

  private func remove(_ schema: EntitySchema, _ stop: Stop?) -> [Watcher] {
    state.withLock { state in
      let id = ObjectIdentifier(schema)
      state.stopped[id] = stop
      return state.running.removeValue(forKey: id)?.watchers ?? []
    }
  }

  /// Keeps a run without an enqueued step.
  /// - Returns: Ends this, and says whether the next step is still wanted. Called at most once.
  func suspend(_ schema: EntitySchema) -> @Sendable () -> Bool {
    let id = ObjectIdentifier(schema)
    state.withLock { $0.running[id]?.isPaused = true }
    return { [weak self] in
      self?.state.withLock { state in
        guard state.running[id]?.isPaused == true else { return false }
        state.running[id]?.isPaused = false
        return true
      } ?? false
    }
  }

  /// Delays the next step.
  /// - Parameters:
  ///   - time: How long; nil until there may be room on the disk.
  ///   - step: Starts the step.
  func takePause(
    _ schema: EntitySchema, on queue: DispatchQueue, for time: DispatchTimeInterval? = nil,
    _ step: @escaping @Sendable () -> Void
  ) {
    let resume = suspend(schema)
    queue.asyncAfter(deadline: .now() + (time ?? pause)) { if resume() { step() } }
  }

  /// Ends paused runs at shutdown. Runs with an enqueued step end when that step is refused.
  func endPaused(_ error: any Error) {
    let watchers = state.withLock { state -> [Watcher] in
      let paused = state.running.filter(\.value.isPaused)
      for id in paused.keys { state.running[id] = nil }
      return paused.values.flatMap(\.watchers)
    }
    for watcher in watchers { watcher(.failure(error)) }
  }
}
