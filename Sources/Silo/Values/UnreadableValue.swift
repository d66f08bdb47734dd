// UnreadableValue: a stored value that cannot be read as its type.

public import Foundation
import Platform
import StandardConformances

/// A stored value that cannot be read as its type.
///
/// The bytes are from another version, from another program, or damaged. The stored value is left
/// as it is.
public struct UnreadableValue: LocalizedError, Sendable, Equatable, CustomStringConvertible {
  /// The table of the value.
  public var table: String
  /// The key of the value, as text.
  public var key: String
  /// The property that cannot be read.
  public var property: String
  /// What is wrong.
  public var reason: String

  init(_ property: String, _ reason: String, table: String = "", key: String = "") {
    self.property = property
    self.reason = reason
    self.table = table
    self.key = key
  }

  /// What is wrong, where, and what to do.
  public var description: String {
    sentence(
      "the value \(key.shortened) in \(table) cannot be read: '\(property)' \(reason)",
      advice: recoverySuggestion)
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What can be done about it.
  public var recoverySuggestion: String? {
    "store it again, or migrate from the version that wrote it"
  }
}
