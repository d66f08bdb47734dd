// What all macros read from declarations.

package import SwiftDiagnostics
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

  /// The attributes that make a declaration deprecated, somewhere at least.
  package var deprecations: [AttributeSyntax] {
    named("available").filter { attribute in
      attribute.tokens(viewMode: .sourceAccurate).contains { $0.text == "deprecated" }
    }
  }
}

extension DeclModifierListSyntax {
  /// Whether one of the modifiers is among these, and says so of the whole declaration: not as in
  /// `private(set)`.
  package func has(_ keywords: Keyword...) -> Bool {
    contains { modifier in
      modifier.detail == nil && keywords.contains { modifier.name.tokenKind == .keyword($0) }
    }
  }

  /// Whether the declaration is private, or private to its file.
  package var arePrivate: Bool { has(.private, .fileprivate) }
}

/// The access modifier of the members that a macro adds to a type: `public`, or none.
///
/// Members in the body of a type, and members of its extension whose types are all public, are
/// never more accessible than the type, whatever types it is nested in.
package func memberAccess(
  of declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
) -> String {
  // The modifier of an extension applies to the types in it.
  let isPublic =
    declaration.modifiers.has(.public, .package)
    || (context.lexicalContext.first?.as(ExtensionDeclSyntax.self)?.modifiers.has(.public, .package)
      ?? false) && !declaration.modifiers.has(.internal, .fileprivate, .private)
  return isPublic ? "public " : ""
}

/// Checks that an extension at top level can name a type. Reports an error otherwise.
package func checkAccess(
  of declaration: some DeclGroupSyntax, _ macro: String, in context: some MacroExpansionContext
) -> Bool {
  var modifiers = [declaration.modifiers]
  for surrounding in context.lexicalContext {
    // What is private in a type or an extension is private to it; at top level, to the file.
    if let word = modifiers.last?.first(where: { $0.name.tokenKind == .keyword(.private) }) {
      context.reportError(
        declaration.modifiers.contains(word) ? Syntax(word) : Syntax(declaration.introducer),
        "privateInType",
        "\(macro) makes an extension at top level, where a type that is private in another one is "
          + "not accessible; write 'fileprivate'",
        fixIts: declaration.modifiers.contains(word)
          ? [
            replace(
              word.name, with: word.name.with(\.tokenKind, .keyword(.fileprivate)),
              "write 'fileprivate'")
          ]
          : [])
      return false
    }
    guard !surrounding.is(ExtensionDeclSyntax.self),
      let type = surrounding.asProtocol((any SyntaxProtocol).self) as? any WithModifiersSyntax
    else { continue }
    modifiers.append(type.modifiers)
  }
  return true
}

/// A context that drops messages.
///
/// One role of a macro reports them: that of an extension, which the compiler always expands. It
/// expands the members of an enum only when it looks for one.
package final class SilentContext<Context: MacroExpansionContext>: MacroExpansionContext {
  private let context: Context
  /// What the declaration stands in, from the inside.
  package let lexicalContext: [Syntax]

  /// - Parameter isOfMember: Whether the context is that of a member of the declaration.
  package init(_ context: Context, isOfMember: Bool = false) {
    self.context = context
    lexicalContext = Array(context.lexicalContext.dropFirst(isOfMember ? 1 : 0))
  }

  package func makeUniqueName(_ name: String) -> TokenSyntax { context.makeUniqueName(name) }

  package func diagnose(_ diagnostic: Diagnostic) {}

  package func location(
    of node: some SyntaxProtocol, at position: PositionInSyntaxNode,
    filePathMode: SourceLocationFilePathMode
  ) -> AbstractSourceLocation? {
    context.location(of: node, at: position, filePathMode: filePathMode)
  }
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
