// FunctionError: what a function that a query called has thrown, and how it gets from there to the
// query's end.

import Platform

package import StandardConformances

/// A function that a query called has thrown an error. The query has no result.
public struct FunctionError: AdvisedError, Sendable {
  /// The name of the function.
  public let function: String
  /// The table of the queried type.
  public let table: String
  /// What the function has thrown.
  public let underlying: any Error

  package var problem: String {
    "the function \(function), called for an object of table \(table), failed: \(underlying)"
  }

  package var advice: String? {
    "return nil for arguments without a result, or leave these objects out by another condition"
  }
}

/// The first error of the functions that a program calls.
final class FunctionFailures: Sendable {
  private let hasFailed = Atomic<Bool>(false)
  private let first = Mutex<(name: String, error: any Error)?>(nil)

  var isEmpty: Bool { !hasFailed.load(ordering: .relaxed) }

  func add(_ name: String, _ error: any Error) {
    first.withLock {
      if $0 == nil { $0 = (name, error) }
      hasFailed.store(true, ordering: .relaxed)
    }
  }

  /// Moves the error to another place that has none.
  /// - Returns: Whether there was one.
  func move(to other: FunctionFailures) -> Bool {
    guard let failure = take() else { return false }
    other.add(failure.name, failure.error)
    return true
  }

  /// Returns the error, and forgets it.
  func take(_ schema: EntitySchema) -> FunctionError? {
    take().map { FunctionError(function: $0.name, table: schema.table, underlying: $0.error) }
  }

  private func take() -> (name: String, error: any Error)? {
    if isEmpty { return nil }
    return first.withLock {
      hasFailed.store(false, ordering: .relaxed)
      return $0.take()
    }
  }
}
