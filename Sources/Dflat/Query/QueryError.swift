// QueryError: why a query cannot be answered.

import Platform

package import StandardConformances

/// Why a query cannot be answered, though the storage works.
public struct QueryError: AdvisedError, Sendable {
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
    /// A text by which the objects are ordered is not UTF-8.
    case undecodableText
    /// The query belongs to another workspace than the one that was called.
    case foreignWorkspace
    /// A condition uses relations in a way that cannot be answered.
    case unsupportedRelation
    /// The order depends on all objects, so there is no place in it to begin at.
    case unstableOrder
    /// A page of no objects was asked for, or a check for no findings.
    case emptyPage
    /// The limit or the offset is negative.
    case negativeCount
    /// An expression is nested too deeply, or has too many parts.
    case tooComplex
  }

  /// What kind of error it is.
  public let cause: Cause
  /// What is wrong, and where.
  public let message: String
  package let advice: String?

  init(_ cause: Cause, _ message: String, _ advice: String) {
    self.cause = cause
    self.message = message
    self.advice = advice
  }

  static func emptyPage(_ schema: EntitySchema, _ size: Int) -> QueryError {
    QueryError(
      .emptyPage, "a page of \(size) objects of \(schema.layout.swiftName) was asked for",
      "give a size of at least 1")
  }

  static func negativeCount(_ schema: EntitySchema, _ count: String) -> QueryError {
    QueryError(
      .negativeCount, "\(count) was given for objects of \(schema.layout.swiftName)",
      "give 0 or more, or leave it out")
  }

  static let tooComplex = QueryError(
    .tooComplex,
    "an expression nests more than 64 operators other than &&, || and !, or has more than 4 million parts",
    "rewrite it as conditions joined by && and ||, which may nest without a limit, or use in(_:) for a long list"
  )

  static func emptyCheck(_ limit: Int) -> QueryError {
    QueryError(
      .emptyPage, "checkIntegrity(of:limit:) was called with a limit of \(limit)",
      "give a limit of at least 1: no findings would look like sound data")
  }

  static func unmigrated(_ schema: EntitySchema) -> QueryError {
    QueryError(
      .unmigrated,
      "pages of \(schema.layout.swiftName) were asked for while its objects are being migrated",
      "complete the migration before, with 'migrate(_:)'")
  }

  static func foreignWorkspace(_ schema: EntitySchema) -> QueryError {
    QueryError(
      .foreignWorkspace,
      "a query for \(schema.layout.swiftName) of one workspace was used with another workspace",
      "make the query from the workspace, or the context, that it is used with")
  }

  static func undecodableText(_ schema: EntitySchema, _ id: Int64) -> QueryError {
    QueryError(
      .undecodableText,
      "no page of \(schema.layout.swiftName) can follow row \(id) of \(schema.table): a text that "
        + "the order uses is not UTF-8 there",
      "order by another field, or store that object again with a valid text")
  }

  /// Pages in the order of values that other objects have.
  static func relatedOrder(_ schema: EntitySchema) -> QueryError {
    QueryError(
      .unsupportedRelation,
      "pages of \(schema.layout.swiftName) were asked for in an order of related values, which have no lasting position",
      "order by fields of \(schema.layout.swiftName), or use offset(_:) and limit(_:)")
  }

  /// A search of another object's text that is not a condition by itself.
  static func relatedSearch(_ text: String) -> QueryError {
    QueryError(
      .unsupportedRelation,
      "\(text.shortened) searches a text of a related object, so it is a condition; it was used as a value or in an order",
      "use it as a condition, joined to others by && and ||")
  }

  /// A condition on the elements of another object's vector that is about this object, too.
  static func mixedElements(_ text: String) -> QueryError {
    QueryError(
      .unsupportedRelation,
      "\(text.shortened) compares elements of a related object's vector with other fields, which is not supported",
      "split it into two conditions, joined by &&")
  }

  static func unstableOrder(_ schema: EntitySchema) -> QueryError {
    QueryError(
      .unstableOrder,
      "pages of \(schema.layout.swiftName) were asked for in the order of a search's relevance",
      "fetch with a limit and an offset, or choose another order")
  }

  package var problem: String { "\(cause): \(message)" }
}
