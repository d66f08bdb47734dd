// The names of properties in conditions.
//
// They are peers of the properties because a macro of the struct would have to declare that it
// makes arbitrary names. Operators would be among them, and the compiler would find those twice
// that the struct itself declares.

internal import MacroSupport
internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// The attributes that a value's macro adds to its properties: their names in conditions.
struct QueryNamesMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    guard case .argumentList(let arguments) = node.arguments else { return [] }
    return arguments.compactMap {
      $0.expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue
    }.map { "\(raw: $0)" }
  }
}

/// The name of the variable that a declaration consists of; nil for other declarations.
func singleVariable(_ declaration: DeclSyntax) -> String? {
  guard let variable = declaration.as(VariableDeclSyntax.self), variable.bindings.count == 1,
    !variable.modifiers.has(.static, .class),
    let pattern = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)
  else { return nil }
  return pattern.identifier.text
}

/// The attributes that declare names in conditions, at a property that is declared by itself. The
/// first one also has the names of properties that are declared in lists, which attributes cannot
/// be added to.
func queryNames(
  of properties: [ValueProperty], at identifier: String, _ access: String
) -> [String] {
  guard let property = properties.first(where: { $0.identifier == identifier }) else { return [] }
  let inLists = properties.filter { $0.property.declaration.bindings.count > 1 }
  let first = properties.first { $0.property.declaration.bindings.count == 1 }
  var attributes = ["@_SiloQueryName(\(queryName(of: property, access).literal))"]
  if !inLists.isEmpty, first?.identifier == identifier {
    let names = inLists.map { queryName(of: $0, access).literal }
    attributes.append("@_SiloQueryNames(\(names.commas))")
  }
  return attributes
}

private func queryName(of property: ValueProperty, _ access: String) -> String {
  let label = property.name == "id" ? "id: " : ""
  let attributes = property.property.attributes.deprecations.map { "\($0.trimmedDescription)\n" }
  return """
    /// `\(property.name)`, for queries.
    \(attributes.joined())nonisolated \(property.access(in: access))static let \(property.identifier) = SiloQueryNames<Canonical<Self>>.name(\(label)\(property.metatype), \(property.slot))
    """
}

/// Checks that the names of properties that are declared in lists can be declared: at another
/// property, and by a macro that would hide operators. Reports an error otherwise.
func checkLists(
  of declaration: some DeclGroupSyntax, _ properties: [ValueProperty],
  in context: some MacroExpansionContext
) -> Bool {
  guard let list = properties.first(where: { $0.property.declaration.bindings.count > 1 }) else {
    return true
  }
  let hasOperators = declaration.memberBlock.members.contains { member in
    guard let function = member.decl.as(FunctionDeclSyntax.self) else { return false }
    return if case .identifier = function.name.tokenKind { false } else { true }
  }
  let areAllLists = properties.allSatisfy { $0.property.declaration.bindings.count > 1 }
  guard hasOperators || areAllLists else { return true }
  context.reportError(
    list.property.declaration, "lists",
    hasOperators
      ? "in a type with operators each property is declared by itself; write a 'var' for each"
      : "declare at least one property by itself, as in "
        + "'var \(properties[0].identifier): \(properties[0].type.trimmedDescription)'")
  return false
}
