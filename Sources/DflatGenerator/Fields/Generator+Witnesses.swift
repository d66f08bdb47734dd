// Witnesses: protocol requirements whose names the schema uses for fields.
//
// The field keeps the name. A member with another name satisfies the requirement. Swift would find
// it under the field's name, too; because it is disfavoured, the field wins wherever it fits.

import DflatSchema

extension Generator {
  /// A member that replaces one whose name a field uses.
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

  /// The hashing requirement when a field is called `hashValue`.
  func hashValueWitness(_ fields: [SwiftField], to text: inout SourceText) {
    guard fields.contains(where: { $0.name == "hashValue" }) else { return }
    witness(of: "hashValue", in: names.swift("Hashable"), "The hash", to: &text) { text in
      let name = Identifier.fresh("_hashValue", avoiding: Set(fields.map(\.name)))
      text.block("\(access)var \(name): \(names.swift("Int"))") { text in
        text.line("var hasher = \(names.swift("Hasher"))()")
        text.line("hash(into: &hasher)")
        text.line("return hasher.finalize()")
      }
    }
  }

  /// The description requirement when a field of an entity is called `description`.
  func descriptionWitness(_ fields: [SwiftField], to text: inout SourceText) {
    guard fields.contains(where: { $0.name == "description" }) else { return }
    let convertible = names.swift("CustomStringConvertible")
    witness(of: "description", in: convertible, "All fields as text", to: &text) { text in
      let name = Identifier.fresh("_text", avoiding: Set(fields.map(\.name)))
      text.short("\(access)var \(name)", names.swift("String"), "_description")
    }
  }
}
