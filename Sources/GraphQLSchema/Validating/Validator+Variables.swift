// Rules about variables: their definitions, and what uses them, also in fragments (5.8).

import Diagnostics

extension Validator {
  /// Checks the variables that an operation defines.
  func checkVariableDefinitions(_ operation: OperationSyntax) {
    var first: [String: NameSyntax] = [:]
    for variable in operation.variables {
      let name = variable.name
      if let earlier = first[name.text] {
        report(
          "UniqueVariableNames", "there is a second variable called '$\(name.text)'",
          at: name.range, notes: [earlier.range.note("the first one is here")])
      } else {
        first[name.text] = name
      }
      checkType(variable)
      checkDirectives(variable.directives, at: .variableDefinition)
    }
  }

  private func checkType(_ variable: VariableSyntax) {
    let name = variable.type.name
    guard let type = schema.type(named: name.text) else {
      report(
        "KnownTypeNames", "there is no type '\(name.text)'", at: name.range,
        notes: suggestion(for: name.text, among: schema.types.filter(\.isInput).map(\.name)))
      if let value = variable.defaultValue { checkValue(value, nil) }
      return
    }
    if !type.isInput {
      report(
        "VariablesAreInputTypes",
        "'$\(variable.name.text)' cannot be of type '\(variable.type.reference)': "
          + "'\(type.name)' is \(type.kind.described)", at: variable.type.range,
        notes: [.hint("a variable is a scalar, an enum or an input object, or a list of them")])
    }
    if let value = variable.defaultValue {
      checkValue(value, type.isInput ? variable.type.reference : nil)
    }
  }

  /// Checks what each operation and its fragments use.
  func checkVariables() {
    for (operation, own) in zip(operations.operations, operationUses) {
      var definitions: [String: VariableSyntax] = [:]
      for variable in operation.variables { definitions[variable.name.text] = variable }
      var used: Set<String> = []
      let fragments = fragments(reachableFrom: own).sorted()
      for uses in [own] + fragments.map({ fragmentUses[$0] }) {
        for use in uses.variables {
          used.insert(use.name)
          check(use, definitions, in: operation)
        }
      }
      for variable in operation.variables where !used.contains(variable.name.text) {
        report(
          "NoUnusedVariables", "the variable '$\(variable.name.text)' is not used",
          at: variable.name.range)
      }
    }
  }

  private func check(
    _ use: VariableUse, _ definitions: [String: VariableSyntax], in operation: OperationSyntax
  ) {
    guard let definition = definitions[use.name] else {
      let whose = operation.name.map { "the operation '\($0.text)'" } ?? "the operation"
      report(
        "NoUndefinedVariables", "\(whose) has no variable '$\(use.name)'", at: use.range,
        notes: suggestion(for: use.name, among: definitions.keys)
          + [operation.keywordRange.note("the operation is here")])
      return
    }
    let type = definition.type.reference
    guard var expected = use.type, schema.type(in: type) != nil else { return }
    // Null is never passed if one of both has a default that is not null.
    if expected.isNonNull, !type.isNonNull {
      let hasValue = definition.defaultValue.map { !$0.isNull } ?? false
      if hasValue || use.hasDefault { expected = expected.nullable }
    }
    guard !schema.isSubtype(type, of: expected) else { return }
    report(
      "VariablesInAllowedPosition",
      "'$\(use.name)' is of type '\(type)', but '\(expected)' is expected here", at: use.range,
      notes: [definition.name.range.note("it is defined here")])
  }
}
