// What fixed structs and tables have in common: plain values with a field for each of the schema's.

import DflatSchema

extension Generator {
  /// Declares the type of a value, with its properties and their initialiser.
  /// - Parameters:
  ///   - name: The name in the schema.
  ///   - documentation: The comment in the schema.
  ///   - fields: The properties.
  ///   - conformance: The protocol of Dflat that it conforms to.
  ///   - text: Receives the declaration.
  ///   - body: Writes the other members.
  func value(
    _ name: QualifiedName, _ documentation: [String], _ fields: [SwiftField],
    as conformance: String, to text: inout SourceText, _ body: (inout SourceText) -> Void
  ) {
    text.documentation(orElse("`\(name.name)` of the schema.", documentation))
    let head = "\(access)nonisolated struct \(names.declared(name))"
    text.type(head, [names.dflat(conformance)]) { text in
      properties(fields, to: &text)
      memberwise(fields, to: &text)
      checkOwnTypes(fields, to: &text)
      body(&text)
    }
  }
}
