// UnreadableValue: a stored value that cannot be read as its type.

import Platform
package import StandardConformances

/// A stored value that cannot be read as its type.
///
/// The bytes are from another version, from another program, or damaged. The stored value is left
/// as it is.
public struct UnreadableValue: AdvisedError, Sendable, Equatable {
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

  package var problem: String {
    "the value \(key.shortened) in \(table) cannot be read: '\(property)' \(reason)"
  }

  package var advice: String? { "store it again, or migrate from the version that wrote it" }
}
