// DictionaryError: a value of a dictionary that could not be read or stored.

import Platform

package import StandardConformances

/// Why a value of the dictionary could not be read or stored.
public struct DictionaryError: AdvisedError, Sendable {
  /// What is wrong with a value.
  public enum Cause: Sendable, Equatable {
    /// The key was read as a type other than that of its value.
    case wrongType
    /// The value could not be encoded; it stays in memory only.
    case notEncodable
  }

  /// What is wrong.
  public let cause: Cause
  /// The namespace of the key; empty for the workspace's own dictionary.
  public let namespace: String
  /// The key.
  public let key: String
  /// A description of the problem.
  public let message: String

  package var problem: String { "\(cause): \(place): \(message)" }

  private var place: String { (namespace.isEmpty ? "" : namespace.shortened + "/") + key.shortened }

  package var advice: String? {
    switch cause {
    case .wrongType: "read it as the type that was stored, or store a value of this one"
    case .notEncodable: "store a value that a property list can hold"
    }
  }
}
