// Writes the file of what several operations use: enums and input objects.

import GraphQLSchema

struct SharedTypesWriter {
  let types: ResponseTypes
  let access: AccessLevel

  func text() -> String {
    types.usesFoundation = false
    var declarations: [String: String] = [:]
    // Input objects use further types.
    while let type = types.nextPending() {
      var text = SourceText()
      if type.kind == .enumeration {
        write(enumeration: type, to: &text)
      } else {
        write(input: type, to: &text)
      }
      declarations[types.leaf(type.name)] = text.text
    }
    // A public import must be used by a public declaration.
    let body = declarations.sorted { $0.key < $1.key }.map { "\n" + $0.value }.joined()
    var header = SourceText.graphQLHeader(types, body.isEmpty ? .internal : access, of: body)
    if !types.storedAsText.isEmpty { header.imports(["Dflat"], access) }
    return header.text + body
  }

  private func documentation(_ description: String?, or text: String) -> [String] {
    description?.commentLines ?? [text]
  }

  private func write(enumeration type: NamedType, to text: inout SourceText) {
    let name = types.leaf(type.name)
    let cases = types.cases(type)
    text.documentation(documentation(type.description, or: "The enum `\(type.name)`."))
    var conformances = [types.known("GraphQLEnum")]
    let isStored = types.storedAsText.contains(type.name)
    if isStored { conformances.append("StorableValue") }
    text.type("\(access.modifier)nonisolated enum \(name)", conformances) { text in
      for (value, name) in cases {
        text.documentation(documentation(value.description, or: "The value `\(value.name)`."))
        text.line("case \(name)")
      }
      text.line("/// A value that the schema did not have when this was generated.")
      text.line("case unknown(String)")
      text.gap()
      text.line("/// The value with a name.")
      text.block("\(access.modifier)init(rawValue: String)") { text in
        text.line("switch rawValue {")
        for (value, name) in cases {
          text.line("case \(Literal.string(value.name)): self = .\(name)")
        }
        text.line("default: self = .unknown(rawValue)")
        text.line("}")
      }
      text.gap()
      text.line("/// The name of the value.")
      text.block("\(access.modifier)var rawValue: String") { text in
        text.line("switch self {")
        for (value, name) in cases {
          text.line("case .\(name): \(Literal.string(value.name))")
        }
        text.line("case .unknown(let name): name")
        text.line("}")
      }
      text.gap()
      text.line("/// The values of the schema.")
      text.filledArray(
        "\(access.modifier)static let allCases: [\(name)] = [", cases.map { ".\($0.name)" })
      if isStored {
        text.line("/// Never used, since every text is a value.")
        text.line("\(access.modifier)static let unreadable = \(name).unknown(\"\")")
      }
    }
  }

  private func write(input type: NamedType, to text: inout SourceText) {
    var comment = documentation(type.description, or: "The input object `\(type.name)`.")
    if type.isOneOf {
      comment += ["", "Exactly one field has a value, and the others are absent."]
    }
    text.documentation(comment)
    let inputs = type.inputFields.map { field in
      InputField(
        name: field.name, type: field.type, value: field.defaultValue,
        documentation: documentation(field.description, or: "The value of `\(field.name)`."),
        types: types)
    }
    text.writeInputs(
      types.leaf(type.name), inputs, types, access, oneOf: type.isOneOf ? type.name : nil)
  }
}
