// What may stand beside an expression by mistake: see Query/Expression+Mismatch.swift.

/// What may stand beside an expression by mistake.
public protocol OperandOfAnotherType {
  /// Always nothing.
  associatedtype OtherKind = Void
}
