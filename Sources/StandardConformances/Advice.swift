// How errors say what is wrong and what to do.

package import Foundation

/// An error that says what is wrong and, where that is known, what to do about it.
///
/// It gives errors their texts. Programs see them as a `LocalizedError` and a
/// `CustomStringConvertible`: the descriptions are the whole sentence, and the recovery suggestion
/// is the advice.
package protocol AdvisedError: LocalizedError, CustomStringConvertible {
  /// What is wrong, and where.
  var problem: String { get }
  /// What to do; nil if no advice is known.
  var advice: String? { get }
}

extension AdvisedError {
  /// One line: what is wrong, where, and what to do.
  public var description: String { sentence(problem, advice: advice) }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What to do; nil if no advice is known.
  public var recoverySuggestion: String? { advice }

  // `LocalizedError`'s own defaults, for files that do not import Foundation.
  /// None: the description says it.
  public var failureReason: String? { nil }

  /// None.
  public var helpAnchor: String? { nil }
}

/// The description of an error: what is wrong and, where that is known, what to do about it.
package func sentence(_ problem: String, advice: String?) -> String {
  advice.map { "\(problem); \($0)" } ?? problem
}
