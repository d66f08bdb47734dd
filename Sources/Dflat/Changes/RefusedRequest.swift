// RefusedRequest: a debug build reports requests for which `try(submit:)` gave nil because of their own values.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A request that `try(submit:)` did not carry out, because its key belongs to another object for example.
///
/// Debug builds tell the workspace's error hook; without a hook it goes to the standard error stream. Where a refusal is expected, call
/// `submit(_:)` and catch the error, or pass this one over in the hook.
public struct RefusedRequest: LocalizedError, Sendable, CustomStringConvertible {
  /// Why it was refused.
  public let reason: StorageError

  /// What was refused, why, and what to do.
  public var description: String { "try(submit:) gave nil for a request: \(reason)" }

  /// The same as ``description``.
  public var errorDescription: String? { description }
  /// What to do.
  public var recoverySuggestion: String? { reason.recoverySuggestion }
}
