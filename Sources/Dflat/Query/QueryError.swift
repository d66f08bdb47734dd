// QueryError: why a query cannot be answered.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Why a query cannot be answered, though the storage works.
public struct QueryError: LocalizedError, Sendable, CustomStringConvertible {
  /// What kind of error it is.
  public enum Cause: Sendable, Equatable {
    /// More than one object matches where one was asked for.
    case severalObjects
    /// The cursor belongs to another query, or to another version of its sort keys.
    case foreignCursor
    /// The objects of a type are not all migrated yet, so they have no lasting order.
    case unmigrated
    /// An expression is unknown for an object, where a value is required.
    case unknownValue
    /// The order depends on all objects, so there is no place in it to begin at.
    case unstableOrder
  }

  /// What kind of error it is.
  public let cause: Cause
  /// What is wrong, and where.
  public let message: String
  private let advice: String

  init(_ cause: Cause, _ message: String, _ advice: String) {
    self.cause = cause
    self.message = message
    self.advice = advice
  }

  static func unmigrated(_ schema: EntitySchema) -> QueryError {
    QueryError(
      .unmigrated,
      "pages of \(schema.layout.swiftName) were asked for while its objects are being migrated",
      "complete the migration before, with 'migrate(_:)'")
  }

  static func unstableOrder(_ schema: EntitySchema) -> QueryError {
    QueryError(
      .unstableOrder,
      "pages of \(schema.layout.swiftName) were asked for in the order of a search's relevance",
      "fetch with a limit and an offset, or choose another order")
  }

  /// What is wrong, where, and what to do.
  public var description: String { "\(cause): \(message); \(advice)" }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What to do.
  public var recoverySuggestion: String? { advice }
}
