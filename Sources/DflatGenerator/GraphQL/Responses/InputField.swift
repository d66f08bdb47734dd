// Variables, and fields of input objects.

import GraphQLSchema

/// A variable or a field of an input object, in Swift.
struct InputField {
  let name: String
  let documentation: [String]
  /// The default in the schema's language.
  private let value: ValueSyntax?
  /// The Swift type.
  let swift: String
  /// The value of the initialiser's parameter if it is left out; nil if it must be given.
  private let initial: String?

  init(
    name: String, type: TypeReference, value: ValueSyntax?, documentation: [String],
    types: ResponseTypes
  ) {
    self.name = name
    self.documentation = documentation
    self.value = value
    let leaf = types.written(type.name)
    let present = types.present(type, leaf)
    let isInput = types.schema.type(named: type.name)?.kind == .inputObject && type.element == nil
    if !type.isNonNull || (value != nil && isInput) {
      // A structure cannot contain an optional of itself, but it can contain this.
      swift = "\(types.known("GraphQLNullable"))<\(present)>"
      initial = ".absent"
    } else if value != nil {
      swift = present + "?"
      initial = "nil"
    } else {
      swift = present
      initial = nil
    }
  }

  var isOmittable: Bool { initial != nil }

  /// The comment of the property.
  var comment: [String] {
    let text = documentation.isEmpty ? ["The value of `\(name)`."] : documentation
    guard let value else { return text }
    return text + ["If it is left out, the server uses `\(value.canonicalText)`."]
  }

  func parameter(_ property: String) -> String {
    "\(Identifier.escaped(property)): \(swift)" + (initial.map { " = \($0)" } ?? "")
  }
}

extension SourceText {
  /// A structure of variables or input fields.
  /// - Parameter oneOf: The input object, if each of its values has exactly one field.
  mutating func writeInputs(
    _ name: String, _ inputs: [InputField], _ types: ResponseTypes, _ access: AccessLevel,
    oneOf: String? = nil
  ) {
    let properties = ResponseNames.members(inputs.map(\.name))
    let conformances = ["Encodable", "Hashable", "Sendable"].map(types.known)
    type("\(access.modifier)nonisolated struct \(name)", conformances) { text in
      for (input, property) in zip(inputs, properties) {
        text.documentation(input.comment)
        text.line("\(access.modifier)var \(Identifier.escaped(property)): \(input.swift)")
      }
      text.gap()
      text.line("/// All values; those that may be left out are.")
      text.function("\(access.modifier)init", zip(inputs, properties).map { $0.parameter($1) }) {
        text in
        for property in properties {
          text.line("self.\(property) = \(Identifier.escaped(property))")
        }
      }
      if let oneOf {
        text.gap()
        text.line(
          "/// Encodes the only field that has a value; it is an error if there are none or several."
        )
        text.block(
          "\(access.modifier)func encode(to encoder: any \(types.known("Encoder"))) throws"
        ) {
          $0.line(
            "var fields = \(types.known("_OneOfEncoder"))(\(Literal.string(oneOf)), encoder)")
          for (property, input) in zip(properties, inputs) {
            $0.line("try fields.encode(\(Literal.string(input.name)), self.\(property))")
          }
          $0.line("try fields.finish()")
        }
      } else {
        text.writeCodingKeys(Array(zip(properties, inputs.map(\.name))), types)
      }
    }
  }

  /// The coding keys, if any differs from its property.
  private mutating func writeCodingKeys(
    _ keys: [(property: String, key: String)], _ types: ResponseTypes
  ) {
    if keys.allSatisfy({ $0.property == $0.key }) { return }
    gap()
    block("private nonisolated enum CodingKeys: String, \(types.known("CodingKey"))") { text in
      for (property, key) in keys {
        let value = property == key ? "" : " = \(Literal.string(key))"
        text.line("case \(Identifier.escaped(property))\(value)")
      }
    }
  }
}
