// Violation: an observation that no order of the transactions explains.

/// A guarantee that a history violates, with the proof.
public struct Violation: Sendable, CustomStringConvertible {
  /// The kind of violation.
  public enum Kind: String, Sendable {
    /// Each of some transactions must come before the next one, and the last before the first.
    case cycle
    /// A committed write is missing at the end.
    case lostWrite = "lost write"
    /// Two committed transactions replaced the same version.
    case lostUpdate = "lost update"
    /// A value was read that only an aborted transaction wrote.
    case abortedRead = "aborted read"
    /// A value was read that its transaction had replaced before it ended.
    case intermediateRead = "intermediate read"
    /// A value was read that was never written.
    case unwrittenRead = "unwritten read"
    /// A transaction did not see its own write.
    case ownWrite = "own write not seen"
    /// Two reads cannot be states of one key.
    case incompatibleReads = "incompatible reads"
    /// A transaction of a workspace did not wait for an earlier one.
    case callOrder = "call order"
    /// Two readers saw writes in different orders.
    case longFork = "long fork"
    /// An invariant that must hold in every state is violated.
    case invariant
    /// A transaction never completed, or completed more than once.
    case completion
    /// The store reported an unexpected error.
    case unexpectedError = "unexpected error"
  }

  /// The kind of violation.
  public let kind: Kind
  /// The proof, one or more lines.
  public let proof: String

  /// A violation.
  public init(_ kind: Kind, _ proof: String) {
    self.kind = kind
    self.proof = proof
  }

  /// The kind and the proof.
  public var description: String { "\(kind.rawValue): \(proof)" }
}
