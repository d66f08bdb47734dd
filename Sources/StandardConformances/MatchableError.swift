// Errors whose names in `catch` need not be cases.

/// An error that a pattern compares with `==`.
///
/// So a static property may stand for all errors of a kind, whatever they say about what has
/// failed:
///
///     do { try context.delete(person) } catch MDBError.recordNotFound { … }
public protocol MatchableError: Error, Equatable {}

extension MatchableError {
  /// Whether an error is equal to the one of a pattern.
  @inlinable
  public static func ~= (pattern: Self, error: any Error) -> Bool { error as? Self == pattern }
}
