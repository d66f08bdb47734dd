// Patience: tests wait with a timeout. An event that does not come is a failure with a source
// location, and no hang.

public import Dispatch
import Foundation
public import Testing

/// An event did not come in time.
public struct NotInTime: Error, CustomStringConvertible {
  /// The event.
  public let what: String

  /// The event, and how long the test waited.
  public var description: String { "\(what) did not come within \(NotInTime.patience)" }

  /// Long enough to be exceeded only by a real failure, also on a slow machine that is busy.
  static let patience = Duration.seconds(600)
}

extension Trait where Self == TimeLimitTrait {
  /// Ends a test that hangs. The limit says nothing about speed: machines differ, and other
  /// programs may take most of one.
  public static var endsSometime: Self { .timeLimit(.minutes(30)) }
}

extension DispatchSemaphore {
  /// Waits until a task has begun and signals this. What the task does is then waited for with a
  /// timeout.
  ///
  /// This wait has no timeout: Swift's pool starts a new task after all tests that wait there, and
  /// the task cannot be blamed for how long those take.
  public func waitForTurn() { wait() }

  /// Waits for a signal.
  /// - Parameter what: A description of the event.
  /// - Throws: `NotInTime` if it does not come.
  public func wait(for what: String) throws {
    if wait(timeout: .now() + .seconds(Int(NotInTime.patience.components.seconds))) == .success {
      return
    }
    throw NotInTime(what: what)
  }

  /// Waits for a signal and records an issue if it does not come.
  /// - Returns: Whether the signal came.
  @discardableResult
  public func expect(
    _ what: String, sourceLocation: SourceLocation = #_sourceLocation
  ) -> Bool {
    do { try wait(for: what) } catch {
      Issue.record(error, sourceLocation: sourceLocation)
      return false
    }
    return true
  }
}

extension DispatchGroup {
  /// Waits until all have left the group.
  /// - Parameter what: A description of the event.
  /// - Returns: Whether they have; otherwise an issue is recorded.
  @discardableResult
  public func expect(
    _ what: String, sourceLocation: SourceLocation = #_sourceLocation
  ) -> Bool {
    let seconds = Int(NotInTime.patience.components.seconds)
    if wait(timeout: .now() + .seconds(seconds)) == .success { return true }
    Issue.record(NotInTime(what: what), sourceLocation: sourceLocation)
    return false
  }
}

/// Runs code that blocks until tasks finish on a separate thread. Swift's pool, which runs tests,
/// has few threads: if all of them blocked on tasks, no task could run.
public func beyondTasks<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}

/// Runs code on a thread of its own, which needs none of Swift's pool, so that a test may block
/// until it has got somewhere. An error is recorded as an issue.
/// - Returns: Signalled when the code has ended.
public func onOwnThread(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: @escaping @Sendable () throws -> Void
) -> DispatchSemaphore {
  let hasEnded = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    do { try body() } catch { Issue.record(error, sourceLocation: sourceLocation) }
    hasEnded.signal()
  }
  return hasEnded
}

/// Runs code on a thread of its own, which is in the group until it ends. The threads of Dispatch
/// are few, and other tests may block all of them.
public func onOwnThread(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
  group.enter()
  Thread.detachNewThread {
    body()
    group.leave()
  }
}

/// Polls until `condition` holds, for conditions that have no signal.
/// - Returns: Whether it became true before the timeout.
public func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
  let deadline = ContinuousClock.now + NotInTime.patience
  while try !condition() {
    if ContinuousClock.now > deadline { return false }
    Thread.sleep(forTimeInterval: 0.002)
  }
  return true
}

/// Polls until `condition` holds, without blocking a thread of the task pool.
/// - Returns: Whether it became true before the timeout.
public func inTime(_ condition: () async throws -> Bool) async rethrows -> Bool {
  let deadline = ContinuousClock.now + NotInTime.patience
  while try await !condition() {
    if ContinuousClock.now > deadline { return false }
    try? await Task.sleep(for: .milliseconds(2))
  }
  return true
}
