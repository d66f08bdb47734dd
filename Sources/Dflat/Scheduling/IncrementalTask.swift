// IncrementalTask: long maintenance of a type's table, done in steps while the program goes on.
//
//  - There is one run per type at a time. A caller that asks for the work during a run joins it.
//  - Each step is a job in the type's queue, behind the jobs enqueued before it. The next step is
//    enqueued when the previous one is committed.
//  - When the disk is full, or after a conflict with another connection, a run pauses and resumes
//    by itself. Shutdown ends it and notifies its watchers.
//  - A run may be limited to a part of the work. A caller that asks for all of it while such a run
//    goes on lifts the limit: the run then does the rest, too.
//  - A run that ended before the work was complete is restarted only by a caller that waits for it,
//    or after a later change of its types; a run that has failed, after any later commit.

import Dispatch
import Platform

/// What a run that could not be completed has seen.
struct DataVersion {
  /// The workspace's clock.
  let clock: Int64
  /// When this workspace last changed the types.
  let lastChange: Int64
  /// Differs after commits of other connections.
  let token: CommitToken
}

final class IncrementalTask<Progress: Sendable>: Sendable {
  typealias Watcher = @Sendable (Result<Progress, any Error>) -> Void

  private struct Run {
    var watchers: [Watcher] = []
    /// Whether only a part of the work is wanted.
    var isLimited = false
    /// Whether no step is enqueued until a pause has ended.
    var isPaused = false
  }

  private struct Stop {
    let version: DataVersion
    let hasFailed: Bool
    let isLimited: Bool

    /// Whether another run would end in the same way.
    func isFinal(at now: DataVersion, isLimited: Bool) -> Bool {
      if self.isLimited && !isLimited { return false }
      return hasFailed
        ? version.clock == now.clock
        : version.lastChange == now.lastChange && version.token == now.token
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
  ///   - isLimited: Whether a part of the work is enough.
  /// - Returns: Whether the caller has to start the first step.
  func begin(
    _ schema: EntitySchema, now: DataVersion, _ watcher: Watcher?, isLimited: Bool = false
  ) -> Bool {
    state.withLock { state in
      let id = ObjectIdentifier(schema)
      if state.running[id] != nil {
        if let watcher { state.running[id]?.watchers.append(watcher) }
        if !isLimited { state.running[id]?.isLimited = false }
        return false
      }
      if watcher == nil, state.stopped[id]?.isFinal(at: now, isLimited: isLimited) == true {
        return false
      }
      state.running[id] = Run(watchers: watcher.map { [$0] } ?? [], isLimited: isLimited)
      return true
    }
  }

  /// Whether the run of a type is limited, when a step begins.
  func isLimited(_ schema: EntitySchema) -> Bool {
    state.withLock { $0.running[ObjectIdentifier(schema)]?.isLimited ?? false }
  }

  /// Reports a successful step.
  func report(_ progress: Progress, of schema: EntitySchema) {
    let watchers = state.withLock { $0.running[ObjectIdentifier(schema)]?.watchers ?? [] }
    for watcher in watchers { watcher(.success(progress)) }
  }

  /// Ends a run with its last step, and reports that step: also to a watcher that has joined since
  /// the step ended, and will hear of no other.
  /// - Parameter wasLimited: Whether the step was.
  /// - Returns: Whether it has ended; not if a caller has asked for all of the work since the step
  ///   began.
  func finish(
    _ schema: EntitySchema, isComplete: Bool, now: DataVersion, _ progress: Progress,
    wasLimited: Bool = false
  ) -> Bool {
    let watchers = state.withLock { state -> [Watcher]? in
      let id = ObjectIdentifier(schema)
      if wasLimited, state.running[id]?.isLimited == false { return nil }
      state.stopped[id] =
        isComplete ? nil : Stop(version: now, hasFailed: false, isLimited: wasLimited)
      return state.running.removeValue(forKey: id)?.watchers ?? []
    }
    for watcher in watchers ?? [] { watcher(.success(progress)) }
    return watchers != nil
  }

  /// Ends a run with an error.
  func end(_ schema: EntitySchema, now: DataVersion, _ error: any Error) {
    let watchers = state.withLock { state in
      let id = ObjectIdentifier(schema)
      let run = state.running.removeValue(forKey: id)
      state.stopped[id] = Stop(
        version: now, hasFailed: true, isLimited: run?.isLimited ?? false)
      return run?.watchers ?? []
    }
    for watcher in watchers { watcher(.failure(error)) }
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
