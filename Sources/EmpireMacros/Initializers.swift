// Checks the initialisers of a record.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// Checks that the type has an initialiser for all stored properties: either no initialiser in the
/// body, or one with the same labels.
func checkInitializers(
  of declaration: some DeclGroupSyntax, properties: [StoredProperty],
  in context: some MacroExpansionContext
) -> Bool {
  let initializers = declaration.memberBlock.members.compactMap {
    $0.decl.as(InitializerDeclSyntax.self)
  }
  guard let first = initializers.first else { return true }
  let labels = properties.map(\.name)
  let fits = initializers.contains { initializer in
    let signature = initializer.signature
    return initializer.optionalMark == nil && signature.effectSpecifiers == nil
      && signature.parameterClause.parameters.map { unquoted($0.firstName.text) } == labels
  }
  if fits { return true }
  let wanted = labels.map { "\($0):" }.joined()
  context.reportError(
    first, "initializer",
    "an initializer in the body replaces the memberwise one, 'init(\(wanted))', which reading needs; move it to an extension"
  )
  return false
}
