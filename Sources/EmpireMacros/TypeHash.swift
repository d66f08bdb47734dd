// The hash of names and types: sdbm over Unicode scalars, in 32 bits. It is part of the file
// format.
//
// Upstream hashes the text of a type with the blanks and comments that its SwiftSyntax counts as
// part of the type. Versions differ in that: older ones give a comment to what follows it.

internal import SwiftSyntax

/// The hash of a text.
func typeHash(_ text: String) -> UInt32 {
  text.unicodeScalars.reduce(0 as UInt32) { hash, scalar in
    scalar.value &+ (hash << 6) &+ (hash << 16) &- hash
  }
}

extension TypeSyntax {
  /// The texts that upstream hashes for the type of a property, one for each way to assign comments
  /// to what stands around them.
  var upstreamTexts: [String] {
    // A comment before the type belongs to the colon or to the type, one behind it to the type or
    // to what follows.
    let colon = parent?.as(TypeAnnotationSyntax.self)?.colon
    let before = (colon?.trailingTrivia ?? []).drop { $0.isBlank }.map { "\($0)" }.joined()
    let behind = trailingTrivia.prefix { $0.isBlank }.map { "\($0)" }.joined()
    return [description, before + leadingTrivia.description + trimmedDescription + behind]
  }
}

extension TriviaPiece {
  fileprivate var isBlank: Bool {
    switch self {
    case .spaces, .tabs: true
    default: false
    }
  }
}
