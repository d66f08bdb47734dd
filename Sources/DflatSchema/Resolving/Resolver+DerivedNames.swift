// Derived names: the functions that FlatBuffers compilers derive from fields.
//
// A union `u` has a tag `u_type`, and a vector a length. Swift code of Dflat has no functions of
// these names, but such a schema is of no use elsewhere: flatc refuses it, and so does this
// compiler.

extension Resolver {
  /// A name that is derived from fields of a kind.
  private struct Derivation: Sendable {
    let suffixes: [String]
    let meaning: String
    let applies: @Sendable (FieldType) -> Bool
  }

  private static let derivations = [
    Derivation(suffixes: ["_type"], meaning: "tag") { $0.hasTag },
    Derivation(suffixes: ["Type"], meaning: "tag") { if case .union = $0 { true } else { false } },
    Derivation(suffixes: ["_length", "Length"], meaning: "length") {
      if case .vector = $0 { true } else { false }
    },
    // The tags of a vector of unions are a vector, too.
    Derivation(suffixes: ["_type_length", "_typeLength"], meaning: "number of tags") {
      if case .vector(.union) = $0 { true } else { false }
    },
    Derivation(suffixes: ["_byte_vector", "ByteVector"], meaning: "bytes") { $0 == .string },
  ]

  /// Refuses fields with a name that is derived from another field.
  func checkDerivedNames(_ drafts: [FieldDraft]) {
    let names = Dictionary(
      drafts.map { ($0.syntax.name.text, $0.syntax.name.range) }, uniquingKeysWith: { a, _ in a })
    for draft in drafts {
      let field = draft.syntax.name
      for derivation in Self.derivations where derivation.applies(draft.definition.type) {
        for suffix in derivation.suffixes {
          guard let other = names[field.text + suffix] else { continue }
          let kind = draft.definition.type.described.split(separator: " ").last ?? ""
          sink.error(
            "'\(field.text)\(suffix)' is the name of the \(derivation.meaning) of the \(kind) "
              + "'\(field.text)'", at: other, notes: [field.range.note("the \(kind) is here")])
        }
      }
    }
  }
}
