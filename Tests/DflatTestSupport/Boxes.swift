// What handlers leave behind.

import Platform
import Testing

/// Counts what handlers do.
public final class ErrorBox: Sendable {
  private let state = Mutex((errors: 0, touches: 0))
  /// How many errors were added.
  public var count: Int { state.withLock { $0.errors } }
  /// How often it was touched.
  public var touches: Int { state.withLock { $0.touches } }

  /// Nothing yet.
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
  /// Those that were added.
  public var numbers: [Int] { state.withLock { $0 } }

  /// None yet.
  public init() {}

  /// Adds a number.
  public func add(_ number: Int) { state.withLock { $0.append(number) } }
}
