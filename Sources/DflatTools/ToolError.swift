// Errors of tools: what is wrong, where, and what to do.

package import Dflat

/// Why a tool cannot do what it was asked to.
public struct ToolError: Error, Sendable, CustomStringConvertible {
  /// What kind of problem it is. A command ends with another status for each.
  public enum Kind: Sendable, Hashable {
    /// The call makes no sense: a type or field that is not there, a key of another type.
    case usage
    /// The file, or what is to be imported, is not as it should be.
    case badData
    /// There is no such file.
    case noSuchFile
    /// The file cannot be read or written.
    case storage
  }

  /// What kind of problem it is.
  public let kind: Kind
  /// What is wrong, and where.
  public let message: String
  /// What to do about it; nil if there is nothing to say.
  public let advice: String?

  /// Creates an error.
  /// - Parameters:
  ///   - kind: What kind of problem it is.
  ///   - message: What is wrong, and where.
  ///   - advice: What to do about it.
  public init(_ kind: Kind, _ message: String, advice: String? = nil) {
    self.kind = kind
    self.message = message
    self.advice = advice
  }

  /// The message and the advice.
  public var description: String { message + (advice.map { ": \($0)" } ?? "") }

  /// An error of the storage.
  package init(_ error: StorageError) {
    switch error.cause {
    case .corruptFile, .corruptRow: self.init(.badData, "\(error)")
    default: self.init(.storage, "\(error)")
    }
  }
}

/// Calls `body`, whose errors of the storage become errors of tools.
package func withToolErrors<R>(_ body: () throws -> R) throws -> R {
  do { return try body() } catch let error as StorageError { throw ToolError(error) }
}
