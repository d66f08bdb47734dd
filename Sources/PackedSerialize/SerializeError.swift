// What cannot be written, and whose value it is.

public import Foundation
public import StandardConformances

/// A value that cannot be written so that it can be read back.
///
/// Errors with the same reason are equal: `catch SerializeError.nulInString` catches any of them.
public struct SerializeError: MatchableError, Sendable {
  /// What is wrong with a value.
  public enum Reason: Hashable, Sendable {
    /// A string with a NUL character, which would end it early.
    case nulInString
    /// A date that is not a number, is infinite, or has no `Int64` of milliseconds.
    case dateOutOfRange
    /// A key that is not a number and so has no place in an order.
    case notANumber
    /// An array of more elements without bytes than `Array` reads back.
    case tooManyEmptyElements(Int)
  }

  /// What is wrong.
  public let reason: Reason
  // In an object, so that the error is small where it is only passed on.
  private let owner: Owner?

  private final class Owner: Sendable {
    let record: String
    let property: String?

    init(record: String, property: String?) {
      self.record = record
      self.property = property
    }
  }

  /// An error of a value by itself.
  ///
  /// - Parameter reason: What is wrong.
  public init(_ reason: Reason) {
    self.reason = reason
    owner = nil
  }

  /// An error of a property of a record.
  ///
  /// - Parameters:
  ///   - reason: What is wrong.
  ///   - record: The type of the record.
  ///   - property: The name of the property, if it is known.
  public init(_ reason: Reason, record: String, property: String?) {
    self.reason = reason
    owner = Owner(record: record, property: property)
  }

  /// A string with a NUL character.
  public static var nulInString: SerializeError { SerializeError(.nulInString) }
  /// A date that has no `Int64` of milliseconds.
  public static var dateOutOfRange: SerializeError { SerializeError(.dateOutOfRange) }
  /// A key that is not a number.
  public static var notANumber: SerializeError { SerializeError(.notANumber) }
  /// An array of too many elements without bytes.
  ///
  /// - Parameter count: How many.
  /// - Returns: The error.
  public static func tooManyEmptyElements(_ count: Int) -> SerializeError {
    SerializeError(.tooManyEmptyElements(count))
  }

  /// The type of the record that the value belongs to; nil for a value by itself.
  public var record: String? { owner?.record }
  /// The name of the property that the value belongs to, if it is known.
  public var property: String? { owner?.property }
}

extension SerializeError: Hashable {
  /// Whether the reasons are equal, whosever value it is.
  public static func == (lhs: Self, rhs: Self) -> Bool { lhs.reason == rhs.reason }

  /// Feeds the reason.
  ///
  /// - Parameter hasher: What to feed.
  public func hash(into hasher: inout Hasher) { hasher.combine(reason) }
}

extension SerializeError: LocalizedError, CustomStringConvertible {
  /// Whose value it is, what is wrong with it, and what to do.
  public var description: String { sentence(problem, advice: recoverySuggestion) }

  private var problem: String {
    let subject =
      switch (record, property) {
      case (let record?, let property?): "\(record).\(property): "
      case (let record?, nil): "\(record): "
      default: ""
      }
    return subject + reason.description
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What can be done about it.
  public var recoverySuggestion: String? {
    switch reason {
    case .nulInString: "remove the character U+0000, or keep the text as Data"
    case .dateOutOfRange: "use a finite date, or an optional one where there is none"
    case .notANumber: "leave the record out, or keep the number in a property that is no key"
    case .tooManyEmptyElements: "keep the number of the elements in a property"
    }
  }
}

extension SerializeError.Reason: CustomStringConvertible {
  /// What is wrong.
  public var description: String {
    switch self {
    case .nulInString: "a string contains a NUL character, which would end it early"
    case .dateOutOfRange:
      "a date is not a number, is infinite, or has no 64-bit number of milliseconds"
    case .notANumber: "NaN has no place in the order of keys"
    case .tooManyEmptyElements(let count):
      "an array has \(count) elements without bytes, which is more than could be read back"
    }
  }
}
