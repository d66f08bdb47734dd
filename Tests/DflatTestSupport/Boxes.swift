// Boxes in which handlers record what they did.

import Platform
import Testing

/// Counts errors and calls of handlers.
public final class ErrorBox: Sendable {
  private let state = Mutex((errors: 0, touches: 0))
  /// The number of errors.
  public var count: Int { state.withLock { $0.errors } }
  /// The number of calls.
  public var touches: Int { state.withLock { $0.touches } }

  /// Creates a box with zero counts.
  public init() {}

  /// Counts an error.
  public func add(_ error: any Error) { state.withLock { $0.errors += 1 } }
  /// Counts a call.
  public func touch() { state.withLock { $0.touches += 1 } }
  /// Called by a handler that must not run.
  public func fail() { Issue.record("a handler ran that must not run") }
}

/// Numbers in the order in which handlers add them.
public final class OrderBox: Sendable {
  private let state = Mutex<[Int]>([])
  /// The recorded numbers.
  public var numbers: [Int] { state.withLock { $0 } }

  /// Creates an empty box.
  public init() {}

  /// Adds a number.
  public func add(_ number: Int) { state.withLock { $0.append(number) } }
}
