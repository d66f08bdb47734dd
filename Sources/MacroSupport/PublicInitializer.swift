// The memberwise initializer of a public type, which the compiler makes for the type's own module
// only.
//
// It stands in the body of the type, in place of the compiler's, and takes the same arguments, so
// that calls in the module stay right. The default of a parameter may name only what is public; any
// other default is left to the property, and the parameter is optional.

package import SwiftSyntax
package import SwiftSyntaxMacros

/// The public memberwise initializer of a type; nil if the type is not public, has an initializer
/// in its body, or has a property whose type may not be public.
/// - Parameters:
///   - node: The macro's attribute. Of several macros that make an initializer, the first does.
///   - isStandard: Whether a type consists of standard types, which are public.
package func publicInitializer(
  _ node: AttributeSyntax, of declaration: some DeclGroupSyntax, _ properties: [StoredProperty],
  isStandard: (TypeSyntax) -> Bool, in context: some MacroExpansionContext
) -> String? {
  guard declaration.is(StructDeclSyntax.self),
    memberAccess(of: declaration, in: context) == "public ", isFirst(node, of: declaration),
    !declaration.memberBlock.members.contains(where: \.decl.hasInitializer)
  else { return nil }
  var parameters: [String] = []
  var statements: [String] = []
  for property in properties {
    if !property.isVariable && property.binding.initializer != nil { continue }
    guard let type = property.typeSyntax, !property.declaration.modifiers.arePrivate else {
      return nil
    }
    let isKnown = isStandard(type)
    guard isKnown || property.declaration.modifiers.has(.public, .package) else { return nil }
    let (name, text) = (property.identifier, type.trimmedDescription)
    let value = property.binding.initializer?.value
    if value.map({ $0.isPublic(as: isKnown) }) ?? true {
      let isOptional = property.isVariable && type.is(OptionalTypeSyntax.self)
      let fallback = value?.trimmedDescription ?? (isOptional ? "nil" : nil)
      parameters.append("\(name): \(text)" + (fallback.map { " = \($0)" } ?? ""))
      statements.append("self.\(name) = \(name)")
    } else {
      // Of two kinds of nil, the wrong one would be taken.
      if type.is(OptionalTypeSyntax.self) || type.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
        return nil
      }
      parameters.append("\(name): (\(text))? = nil")
      statements.append("if let \(name) { self.\(name) = \(name) }")
    }
  }
  return "/// Creates a value of its stored properties.\n"
    + statements.lines.wrapped(
      in: "nonisolated public init(\n  \(parameters.joined(separator: ",\n  "))\n)")
}

/// Whether no macro stands before this one that makes an initializer, too.
private func isFirst(_ node: AttributeSyntax, of declaration: some DeclGroupSyntax) -> Bool {
  let names = ["Persistable", "EntityVersion", "PersistableValue", "IndexKeyRecord"]
  let all = names.flatMap { declaration.attributes.named($0) }
  return all.min { $0.position < $1.position }?.attributeName.trimmedDescription
    == node.attributeName.trimmedDescription
}

extension DeclSyntax {
  /// Whether it is an initializer, or a condition with one.
  fileprivate var hasInitializer: Bool {
    if self.is(InitializerDeclSyntax.self) { return true }
    return self.as(IfConfigDeclSyntax.self)?.clauses.contains { clause in
      guard case .decls(let members) = clause.elements else { return false }
      return members.contains(where: \.decl.hasInitializer)
    } ?? false
  }
}

extension ExprSyntax {
  /// Whether the expression names only what is public.
  /// - Parameter isKnown: Whether a member without a base is one of a standard type.
  fileprivate func isPublic(as isKnown: Bool) -> Bool {
    if let prefix = self.as(PrefixOperatorExprSyntax.self) {
      return prefix.operator.text == "-" && prefix.expression.isPublic(as: isKnown)
    }
    if let text = self.as(StringLiteralExprSyntax.self) {
      return text.segments.allSatisfy { $0.is(StringSegmentSyntax.self) }
    }
    if let array = self.as(ArrayExprSyntax.self) {
      return array.elements.allSatisfy { $0.expression.isPublic(as: isKnown) }
    }
    if let dictionary = self.as(DictionaryExprSyntax.self) {
      guard case .elements(let elements) = dictionary.content else { return true }
      return elements.allSatisfy {
        $0.key.isPublic(as: isKnown) && $0.value.isPublic(as: isKnown)
      }
    }
    if let call = self.as(FunctionCallExprSyntax.self) {
      guard let callee = call.calledExpression.as(DeclReferenceExprSyntax.self) else {
        return false
      }
      return ["Date", "UUID", "Data", "Decimal"].contains(callee.baseName.text)
        && call.trailingClosure == nil
        && call.arguments.allSatisfy { $0.expression.isPublic(as: isKnown) }
    }
    if let member = self.as(MemberAccessExprSyntax.self) {
      let standard = ["now", "distantPast", "distantFuture", "zero", "max", "min", "infinity"]
      return isKnown && member.base == nil && standard.contains(member.declName.baseName.text)
    }
    return self.is(IntegerLiteralExprSyntax.self) || self.is(FloatLiteralExprSyntax.self)
      || self.is(BooleanLiteralExprSyntax.self) || self.is(NilLiteralExprSyntax.self)
  }
}
