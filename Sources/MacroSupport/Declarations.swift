// What all macros read from declarations.

package import SwiftSyntax
package import SwiftSyntaxMacros

extension AttributeListSyntax {
  /// The attributes with a macro's name, with or without a module's.
  package func named(_ name: String) -> [AttributeSyntax] {
    compactMap { element in
      guard case .attribute(let attribute) = element else { return nil }
      let text = attribute.attributeName.trimmedDescription
      return text == name || text.hasSuffix(".\(name)") ? attribute : nil
    }
  }
}

/// The access modifier that the members of the extension need. The compiler checks them as if they
/// were declared in the type.
package func memberAccess(
  of declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
) -> String {
  func has(_ keywords: [Keyword], _ modifiers: DeclModifierListSyntax) -> Bool {
    modifiers.contains { keywords.map { .keyword($0) }.contains($0.name.tokenKind) }
  }
  let enclosing = context.lexicalContext.compactMap {
    ($0.asProtocol((any SyntaxProtocol).self) as? any WithModifiersSyntax)?.modifiers
  }
  let all = [declaration.modifiers] + enclosing
  if all.contains(where: { has([.private, .fileprivate], $0) }) { return "fileprivate " }
  // The modifier of an extension applies to the types in it.
  let isPublic =
    has([.public, .open, .package], declaration.modifiers)
    || context.lexicalContext.first?.as(ExtensionDeclSyntax.self).map {
      has([.public, .open, .package], $0.modifiers)
    } ?? false
  return isPublic ? "public " : ""
}

/// Checks that a type is not generic. Reports an error otherwise.
/// - Parameters:
///   - declaration: The type.
///   - noun: What the type is made.
///   - reason: What generic types would share.
package func checkGenerics(
  of declaration: some DeclGroupSyntax, noun: String, because reason: String,
  in context: some MacroExpansionContext
) -> Bool {
  for type in [Syntax(declaration)] + context.lexicalContext {
    let clause =
      (type.asProtocol((any SyntaxProtocol).self) as? any WithGenericParametersSyntax)?
      .genericParameterClause
    guard let clause else { continue }
    context.reportError(
      type.id == declaration.id ? Syntax(clause) : Syntax(declaration.introducer), "generic",
      "a \(noun) cannot be generic: all its specialisations would have \(reason); "
        + "declare a struct for each type of value")
    return false
  }
  return true
}
