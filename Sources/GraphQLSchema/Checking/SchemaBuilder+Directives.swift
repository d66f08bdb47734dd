// Directives and defaults in schemas: the rules are those for operations.
//
// A definition and its extensions are one place. The values of directives are not compared with
// types: servers publish schemas whose directives only they themselves read. Defaults of the wrong
// type are warnings, since the specification has excluded them only since 2025.

import Diagnostics

extension SchemaBuilder {
  func checkDirectives(_ schema: Schema) {
    let validator = Validator(
      operations: Operations(documents: [], schema: schema), isOfSchema: true, sink: sink)
    validator.checkDirectives(schemas.flatMap(\.directives), at: .schema)
    for declaration in types where !declaration.isBuiltIn {
      let parts = [declaration.definition] + declaration.extensions
      validator.checkDirectives(
        parts.flatMap(\.directives), at: declaration.definition.kind.location)
      for part in parts { check(part, validator) }
    }
    for directive in directives where !directive.isBuiltIn {
      check(directive.definition.arguments, .argumentDefinition, validator)
    }
  }

  private func check(_ type: TypeDefinitionSyntax, _ validator: Validator) {
    for field in type.fields {
      validator.checkDirectives(field.directives, at: .fieldDefinition)
      checkReason(field.directives, validator)
      check(field.arguments, .argumentDefinition, validator)
    }
    check(type.inputFields, .inputFieldDefinition, validator)
    for value in type.values {
      validator.checkDirectives(value.directives, at: .enumValue)
      checkReason(value.directives, validator)
    }
  }

  /// Warns of a reason that is null: the specification has excluded it only since 2025.
  private func checkReason(_ directives: [DirectiveSyntax], _ validator: Validator) {
    for directive in directives where directive.name.text == "deprecated" {
      guard let reason = directive.argument("reason"), reason.value.isNull,
        validator.schema.directive(named: "deprecated")?.isBuiltIn == true
      else { continue }
      sink.warning(
        "the reason of '@deprecated' cannot be null", at: reason.value.range,
        rule: "ValuesOfCorrectType", notes: [.hint("leave it out, or give a text")])
    }
  }

  private func check(
    _ values: [InputValueDefinitionSyntax], _ location: DirectiveLocation, _ validator: Validator
  ) {
    for value in values {
      validator.checkDirectives(value.directives, at: location)
      checkReason(value.directives, validator)
      if let literal = value.defaultValue { validator.checkValue(literal, value.type.reference) }
    }
  }
}

extension TypeKind {
  /// Where the directives of such a type stand.
  fileprivate var location: DirectiveLocation {
    switch self {
    case .scalar: .scalar
    case .object: .object
    case .interface: .interface
    case .union: .union
    case .enumeration: .enumeration
    case .inputObject: .inputObject
    }
  }
}
