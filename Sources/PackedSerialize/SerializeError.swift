// The error for a value that cannot be written, with the record and property that it belongs to.

public import Foundation
public import StandardConformances

/// A value that could not be read back if it were written.
///
/// Errors with the same reason are equal: `catch SerializeError.nulInString` catches any of them.
public struct SerializeError: MatchableError, Sendable {
  /// The reason why a value cannot be written.
  public enum Reason: Hashable, Sendable {
    /// A string with a NUL character, which would end the string early.
    case nulInString
    /// A date that is NaN or infinite, or whose milliseconds do not fit `Int64`.
    case dateOutOfRange
    /// NaN in a key. It has no position in the order.
    case notANumber
    /// A collection of more elements without bytes than are read back.
    case tooManyEmptyElements(Int)
    /// A dictionary with keys that differ and would be read back as equal ones, such as two dates
    /// in one millisecond.
    case equalKeys
    /// A value with a raw value that its type's own `init(rawValue:)` returns nil for: the call.
    case refusedRawValue(String)
    /// A value of a type of the program whose bytes cannot be read back.
    case unreadable
    /// A value of a `Codable` type that cannot be encoded as JSON, or not decoded again: the error
    /// of the encoder or decoder.
    case notCodable(String)
  }

  /// The reason.
  public let reason: Reason
  // In an object, so that the error itself is small.
  private let owner: Owner?

  private final class Owner: Sendable {
    let record: String
    let property: String?

    init(record: String, property: String?) {
      self.record = record
      self.property = property
    }
  }

  /// Creates an error for a value that belongs to no record.
  ///
  /// - Parameter reason: The reason.
  public init(_ reason: Reason) {
    self.reason = reason
    owner = nil
  }

  /// Creates an error for a property of a record.
  ///
  /// - Parameters:
  ///   - reason: The reason.
  ///   - record: The type of the record.
  ///   - property: The name of the property, if it is known.
  public init(_ reason: Reason, record: String, property: String?) {
    self.reason = reason
    owner = Owner(record: record, property: property)
  }

  /// A string with a NUL character.
  public static var nulInString: SerializeError { SerializeError(.nulInString) }
  /// A date whose milliseconds do not fit `Int64`.
  public static var dateOutOfRange: SerializeError { SerializeError(.dateOutOfRange) }
  /// NaN in a key.
  public static var notANumber: SerializeError { SerializeError(.notANumber) }
  /// A collection of too many elements without bytes.
  ///
  /// - Parameter count: The number of such elements.
  /// - Returns: The error.
  public static func tooManyEmptyElements(_ count: Int) -> SerializeError {
    SerializeError(.tooManyEmptyElements(count))
  }

  /// A dictionary with keys that would be read back as equal ones.
  public static var equalKeys: SerializeError { SerializeError(.equalKeys) }
  /// A value with a raw value that its type has no value for.
  ///
  /// - Parameter call: The call of `init(rawValue:)` that returns nil.
  /// - Returns: The error.
  public static func refusedRawValue(_ call: String) -> SerializeError {
    SerializeError(.refusedRawValue(call))
  }

  /// A value of a type of the program whose bytes cannot be read back.
  public static var unreadable: SerializeError { SerializeError(.unreadable) }
  /// A value of a `Codable` type that cannot be encoded as JSON, or not decoded again.
  ///
  /// - Parameter problem: The error of the encoder or decoder.
  /// - Returns: The error.
  public static func notCodable(_ problem: String) -> SerializeError {
    SerializeError(.notCodable(problem))
  }

  /// The type of the record that the value belongs to; nil if it belongs to none.
  public var record: String? { owner?.record }
  /// The name of the property that the value belongs to, if it is known.
  public var property: String? { owner?.property }
}

extension SerializeError: Hashable {
  /// Whether the reasons are equal. Records and properties are not compared.
  public static func == (lhs: Self, rhs: Self) -> Bool { lhs.reason == rhs.reason }

  /// Hashes the reason.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(reason) }
}

extension SerializeError: LocalizedError, CustomStringConvertible {
  /// The record and property, what is wrong with the value, and what to do.
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
    case .notANumber:
      "do not store the record, or keep the number in a property that is not part of a key"
    case .tooManyEmptyElements: "store only the number of elements"
    case .equalKeys:
      "use keys that keep all that tells them apart: of a date only the milliseconds are stored"
    case .refusedRawValue:
      "set only raw values that the type accepts, for example by declaring 'let rawValue'"
    case .unreadable:
      "remove the character U+0000 from the strings in it, and use keys of dictionaries that "
        + "keep all that tells them apart; to find the reason, implement 'validate(as:)' and call "
        + "it on each member"
    case .notCodable: "correct the type's 'encode(to:)' and 'init(from:)', or the value"
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
    case .notANumber: "NaN has no position in the order of keys"
    case .tooManyEmptyElements(let count):
      "a collection has \(count) elements without bytes, which is more than could be read back"
    case .equalKeys: "keys of a dictionary differ, but would be read back as equal ones"
    case .refusedRawValue(let call):
      "a value could not be read back from its raw value: \(call) is nil"
    case .unreadable: "the bytes of a value cannot be read back as a value of its type"
    case .notCodable(let problem): "a value cannot be encoded as JSON and decoded again: \(problem)"
    }
  }
}
