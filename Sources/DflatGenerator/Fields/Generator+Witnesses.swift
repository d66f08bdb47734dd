// Witnesses: requirements of protocols whose names the schema has taken for fields.
//
// The field keeps the name. The requirement is met by a member of another name, which Swift would find under the field's
// name too; being disfavoured, it stands back wherever the field fits.

import DflatSchema

extension Generator {
  /// A member in place of one that a field is called like.
  func witness(
    of requirement: String, in protocolName: String, _ documentation: String,
    to text: inout SourceText, _ declare: (inout SourceText) -> Void
  ) {
    text.gap()
    text.documentation(["\(documentation); `\(requirement)` is a field."])
    text.line("@_disfavoredOverload")
    text.line("@_implements(\(protocolName),\(requirement))")
    declare(&text)
  }

  /// What hashing needs when a field is called `hashValue`.
  func hashValueWitness(_ fields: [SwiftField], to text: inout SourceText) {
    guard fields.contains(where: { $0.name == "hashValue" }) else { return }
    witness(of: "hashValue", in: names.swift("Hashable"), "The hash", to: &text) { text in
      text.block("public var _hashValue: \(names.swift("Int"))") { text in
        text.line("var hasher = \(names.swift("Hasher"))()")
        text.line("hash(into: &hasher)")
        text.line("return hasher.finalize()")
      }
    }
  }

  /// What printing an entity needs when a field is called `description`.
  func descriptionWitness(_ fields: [SwiftField], to text: inout SourceText) {
    guard fields.contains(where: { $0.name == "description" }) else { return }
    let convertible = names.swift("CustomStringConvertible")
    witness(of: "description", in: convertible, "All fields as text", to: &text) { text in
      text.short("public var _text", names.swift("String"), "_description")
    }
  }
}
