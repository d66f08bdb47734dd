// Violation: something that no order of the transactions explains.

/// A promise that a history breaks, with the proof.
public struct Violation: Sendable, CustomStringConvertible {
  /// What kind of thing went wrong.
  public enum Kind: String, Sendable {
    /// Each of some transactions has to come before the next one, and the last before the first.
    case cycle
    /// A committed write is not there in the end.
    case lostWrite = "lost write"
    /// Two committed transactions replaced the same version.
    case lostUpdate = "lost update"
    /// Something was seen that only an aborted transaction wrote.
    case abortedRead = "aborted read"
    /// Something was seen that a transaction had replaced before it ended.
    case intermediateRead = "intermediate read"
    /// Something was seen that nobody wrote.
    case unwrittenRead = "unwritten read"
    /// A transaction did not see its own write.
    case ownWrite = "own write not seen"
    /// Two reads cannot be states of one key.
    case incompatibleReads = "incompatible reads"
    /// A transaction of a workspace did not wait for one that was called before.
    case callOrder = "call order"
    /// Two readers saw writes in different orders.
    case longFork = "long fork"
    /// What must hold in every state does not.
    case invariant
    /// A transaction never completed, or completed in another way than once.
    case completion
    /// The store reported an error that nobody expects.
    case unexpectedError = "unexpected error"
  }

  /// What kind of thing went wrong.
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
