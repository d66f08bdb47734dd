// Whether names in a schema mean types of it, of a kind that may stand there.

import Diagnostics

extension SchemaBuilder {
  /// Reports names that mean nothing, or something that cannot stand there.
  func checkReferences() {
    for declaration in types where !declaration.isBuiltIn {
      for part in [declaration.definition] + declaration.extensions { checkReferences(part) }
    }
    for directive in directives where !directive.isBuiltIn {
      for argument in directive.definition.arguments { checkInput(argument) }
    }
    checkRootTypes()
  }

  private func checkReferences(_ type: TypeDefinitionSyntax) {
    for name in type.interfaces { check(name, isAllowed: { $0 == .interface }, "an interface") }
    for name in type.members { check(name, isAllowed: { $0 == .object }, "an object type") }
    for field in type.fields {
      check(field.type.name, isAllowed: { $0 != .inputObject }, "a type of results")
      for argument in field.arguments { checkInput(argument) }
    }
    for field in type.inputFields { checkInput(field) }
  }

  private func checkInput(_ value: InputValueDefinitionSyntax) {
    check(
      value.type.name,
      isAllowed: { $0 == .inputObject || $0 == .scalar || $0 == .enumeration },
      "a scalar, an enum or an input object")
  }

  /// Reports a name that means no type, or one of a kind that cannot stand there.
  private func check(_ name: NameSyntax, isAllowed: (TypeKind) -> Bool, _ expected: String) {
    guard let number = typeNumbers[name.text] else {
      let hint = nearest(to: name.text, among: typeNumbers.keys)
      sink.error(
        "there is no type '\(name.text)'", at: name.range, rule: "KnownTypeNames",
        notes: hint.map { [.hint("did you mean '\($0)'?")] } ?? [])
      return
    }
    let kind = types[number].definition.kind
    guard !isAllowed(kind) else { return }
    sink.error(
      "expected \(expected), but '\(name.text)' is \(kind.described)", at: name.range,
      rule: "TypeValidation",
      notes: [types[number].definition.name.range.note("it is defined here")])
  }

  private func checkRootTypes() {
    for root in rootTypes {
      check(root.type, isAllowed: { $0 == .object }, "an object type")
    }
  }
}
