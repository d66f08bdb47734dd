// Conformances of the standard library's types that more than one library of this package needs.
//
// A conformance may be declared once in a program, so it stands in a target of its own below all
// that use it, and a program that imports several of the libraries compiles.

/// False comes before true.
extension Bool: @retroactive Comparable {
  /// False comes before true.
  @inlinable
  public static func < (lhs: Bool, rhs: Bool) -> Bool { !lhs && rhs }
}
