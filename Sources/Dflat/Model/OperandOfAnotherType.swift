// OperandOfAnotherType: operands that fit no operator: see Query/Expression+Mismatch.swift.

/// A type whose values may be used as an operand by mistake.
public protocol OperandOfAnotherType {
  /// Always `Void`.
  associatedtype OtherKind = Void
}
