// Patience: tests wait for what should come, but not for ever: what does not come is a failure with a place, and no hang.

public import Dispatch
import Foundation
public import Testing

/// Something has not come in time.
public struct NotInTime: Error, CustomStringConvertible {
  /// What was waited for.
  public let what: String

  /// What did not come, and how long was waited.
  public var description: String { "\(what) did not come within \(NotInTime.patience)" }

  /// So long that it is no failure to be on a busy machine.
  static let patience = Duration.seconds(120)
}

extension DispatchSemaphore {
  /// Waits until a task has begun, which says so with a signal, before what the task does is waited
  /// for with patience.
  ///
  /// This wait has no bound: Swift's pool takes a new task behind all tests that wait there for their
  /// own turn, and how long those take is nothing that the task could be blamed for.
  public func waitForTurn() { wait() }

  /// Waits for a signal.
  /// - Parameter what: What the signal says, for people.
  /// - Throws: `NotInTime` if it does not come.
  public func wait(for what: String) throws {
    if wait(timeout: .now() + .seconds(Int(NotInTime.patience.components.seconds))) == .success {
      return
    }
    throw NotInTime(what: what)
  }

  /// The same where nothing can be thrown.
  /// - Returns: Whether the signal came. If it did not, that is an issue.
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
  /// Waits until all have left.
  /// - Parameter what: What that means, for people.
  /// - Returns: Whether they have. If not, that is an issue.
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

/// Runs what waits for tasks on a thread of its own. Tests run on threads of Swift's pool, of which
/// there are few: if all of them waited for tasks, no task would run.
public func beyondTasks<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}

/// Looks again and again whether `condition` holds, where nothing signals that it does.
/// - Returns: Whether it does. If it did not come in time, it does not.
public func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
  let deadline = ContinuousClock.now + NotInTime.patience
  while try !condition() {
    if ContinuousClock.now > deadline { return false }
    Thread.sleep(forTimeInterval: 0.002)
  }
  return true
}
