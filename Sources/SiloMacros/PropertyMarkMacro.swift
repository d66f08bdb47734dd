// @Indexed, @Unique, @Ignored, @Retains and @DeleteRule: marks of properties, which @Persistable
// reads. They generate nothing, and report an error where they would have no effect.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxMacros

struct PropertyMarkMacro: PeerMacro {
  static func expansion(
    of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
    in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    let name = node.attributeName.trimmedDescription.split(separator: ".").last ?? ""
    let wanted =
      name == "Ignored"
      ? ["Persistable", "PersistableValue", "EntityVersion"] : ["Persistable", "EntityVersion"]
    let attributes =
      (context.lexicalContext.first?.asProtocol((any SyntaxProtocol).self)
      as? any WithAttributesSyntax)?.attributes
    let isInside = wanted.contains { attributes?.named($0).isEmpty == false }
    if !isInside || !declaration.is(VariableDeclSyntax.self) {
      context.reportError(
        node, "markOfNoProperty",
        "@\(name) has an effect only on a stored property of a @Persistable struct")
    }
    return []
  }
}
