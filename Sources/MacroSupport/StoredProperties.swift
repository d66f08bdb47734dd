// The stored properties of a struct, as in its memberwise initialiser.

internal import SwiftDiagnostics
package import SwiftSyntax
internal import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// A stored instance property.
package struct StoredProperty {
  /// The name as it is declared, including backticks.
  package let identifier: String
  /// The type's text without trivia; nil if there is no annotation.
  package var type: String? { typeSyntax?.trimmedDescription }
  /// The type: that of a later binding if this one has none itself.
  package fileprivate(set) var typeSyntax: TypeSyntax?
  package let binding: PatternBindingSyntax
  /// The declaration, which may have more bindings.
  package let declaration: VariableDeclSyntax

  /// The attributes of the declaration.
  package var attributes: AttributeListSyntax { declaration.attributes }

  /// The name without backticks.
  package var name: String { unquoted(identifier) }

  package var isVariable: Bool { declaration.bindingSpecifier.tokenKind == .keyword(.var) }

  /// The attribute with a name; nil if the property has none.
  package func attribute(_ name: String) -> AttributeSyntax? {
    attributes.named(name).first
  }
}

/// A name without its backticks.
package func unquoted(_ name: String) -> String {
  name.hasPrefix("`") && name.hasSuffix("`") && name.count > 2
    ? String(name.dropFirst().dropLast()) : name
}

/// What a macro needs to know about a property beyond its name.
package enum PropertyRequirements {
  /// A type, and that an initialiser can set the property.
  case stored(StorageRules)
  /// Only the name.
  case names
}

/// What stored properties may be.
package struct StorageRules {
  /// What the type is made, in messages.
  package let noun: String
  /// The names of attributes that are no property wrappers.
  package let marks: [String]
  /// The attribute of properties that are not stored.
  package let ignored: String?
  /// Whether a literal shows the type of a property without annotation.
  package let infersLiterals: Bool
  /// Why values of a type cannot be stored; nil if they may be.
  package let unstorableReason: (TypeSyntax) -> String?

  package init(
    noun: String, marks: [String] = [], ignored: String? = nil, infersLiterals: Bool = false,
    unstorableReason: @escaping (TypeSyntax) -> String?
  ) {
    self.noun = noun
    self.marks = marks
    self.ignored = ignored
    self.infersLiterals = infersLiterals
    self.unstorableReason = unstorableReason
  }
}

/// The stored instance properties in the body of a type, in the order of declaration. Returns nil
/// after reporting an error if one cannot be used.
package func storedProperties(
  of declaration: some DeclGroupSyntax, for requirements: PropertyRequirements,
  in context: some MacroExpansionContext
) -> [StoredProperty]? {
  var reader = PropertyReader(context: context, requirements: requirements)
  for member in declaration.memberBlock.members { reader.read(member.decl) }
  return reader.isValid ? reader.properties : nil
}

private struct PropertyReader<Context: MacroExpansionContext> {
  let context: Context
  let requirements: PropertyRequirements
  private(set) var properties: [StoredProperty] = []
  private(set) var isValid = true

  init(context: Context, requirements: PropertyRequirements) {
    self.context = context
    self.requirements = requirements
  }

  mutating func read(_ declaration: DeclSyntax) {
    if let conditional = declaration.as(IfConfigDeclSyntax.self) {
      guard conditional.hasVariable else { return }
      reportError(
        conditional.clauses.first.map { Syntax($0.poundKeyword) } ?? Syntax(conditional),
        "conditional",
        "the macro cannot tell which branch of an '#if' is compiled; move it to an extension")
    } else if let variable = declaration.as(VariableDeclSyntax.self) {
      read(variable)
    }
  }

  private mutating func read(_ variable: VariableDeclSyntax) {
    let modifiers = variable.modifiers.map { $0.name.tokenKind }
    if modifiers.contains(.keyword(.static)) || modifiers.contains(.keyword(.class)) { return }
    // In `let a, b: Int`, both have the type.
    var type: TypeSyntax?
    var found: [StoredProperty] = []
    for binding in variable.bindings.reversed() {
      if let annotation = binding.typeAnnotation {
        type = annotation.type
      } else if binding.initializer != nil {
        type = nil
      }
      if isComputed(binding) { continue }
      guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
        reportError(binding.pattern, "pattern", "declare one property at a time, with its type")
        continue
      }
      let property = StoredProperty(
        identifier: pattern.identifier.text, typeSyntax: type, binding: binding,
        declaration: variable)
      found.append(property)
      switch requirements {
      case .stored(let rules): check(&found[found.count - 1], of: variable, rules)
      case .names:
        if !isLazy(property, of: variable, "record") { checkConstant(property, of: variable) }
      }
    }
    properties += found.reversed()
  }

  /// Checks that a property can be stored, and set by the memberwise initialiser.
  private mutating func check(
    _ property: inout StoredProperty, of variable: VariableDeclSyntax, _ rules: StorageRules
  ) {
    let binding = property.binding
    if let ignored = rules.ignored, let mark = property.attribute(ignored) {
      // Only a variable is nil by itself.
      let isNil = property.isVariable && property.typeSyntax?.is(OptionalTypeSyntax.self) == true
      if binding.initializer == nil && !isNil {
        reportError(
          mark, "ignoredWithoutDefault",
          "'\(property.name)' is not stored, so it needs a default that values have when they are read"
        )
      }
      return
    }
    if property.typeSyntax == nil, rules.infersLiterals,
      let type = literalType(binding.initializer?.value)
    {
      property.typeSyntax = TypeSyntax(IdentifierTypeSyntax(name: .identifier(type)))
    }
    if isLazy(property, of: variable, rules.noun) {
      return
    } else if let wrapper = wrapper(of: variable, besides: rules.marks) {
      reportError(
        wrapper, "wrapper",
        "'\(property.name)' has a property wrapper; a \(rules.noun) stores plain properties")
    } else if property.type == nil {
      let suggestion = literalType(binding.initializer?.value)
      reportError(
        binding, "noType", "'\(property.name)' needs a type annotation",
        fixIts: suggestion.map { [annotate(binding, $0)] } ?? [])
    } else if let type = property.typeSyntax, let reason = rules.unstorableReason(type) {
      reportError(type, "unsupportedType", "'\(property.name)' cannot be stored: \(reason)")
    } else {
      checkConstant(property, of: variable)
    }
  }

  /// Whether a property is lazy. Reports an error if it is.
  private mutating func isLazy(
    _ property: StoredProperty, of variable: VariableDeclSyntax, _ noun: String
  ) -> Bool {
    guard variable.modifiers.contains(where: { $0.name.tokenKind == .keyword(.lazy) }) else {
      return false
    }
    reportError(
      property.binding, "lazy",
      "'\(property.name)' is lazy, so it is not part of the stored \(noun)"
    )
    return true
  }

  /// Reports an error if a property is a constant with a value.
  private mutating func checkConstant(_ property: StoredProperty, of variable: VariableDeclSyntax) {
    guard !property.isVariable && property.binding.initializer != nil else { return }
    let keyword = variable.bindingSpecifier
    reportError(
      property.binding, "constantWithValue",
      "'\(property.name)' is a constant with a value, so it can never be read back",
      fixIts: [
        replace(keyword, with: keyword.with(\.tokenKind, .keyword(.var)), "make it a 'var'")
      ])
  }

  private mutating func reportError(
    _ node: some SyntaxProtocol, _ name: String, _ message: String, fixIts: [FixIt] = []
  ) {
    context.reportError(node, name, message, fixIts: fixIts)
    isValid = false
  }
}

/// Whether a property is computed. A property with observers is stored.
private func isComputed(_ binding: PatternBindingSyntax) -> Bool {
  guard let block = binding.accessorBlock else { return false }
  guard case .accessors(let accessors) = block.accessors else { return true }
  return !accessors.allSatisfy {
    [.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind)
  }
}

/// The attribute of a property wrapper, if there is one: the language's own attributes begin with a
/// lower-case letter.
private func wrapper(
  of variable: VariableDeclSyntax, besides marks: [String]
) -> AttributeSyntax? {
  for case .attribute(let attribute) in variable.attributes {
    let name = attribute.attributeName.trimmedDescription
    let last = name.split(separator: ".").last ?? ""
    if marks.contains(String(last)) { continue }
    if last.first?.isUppercase == true && !name.hasSuffix("Actor") { return attribute }
  }
  return nil
}

/// The default type of a literal.
package func literalType(_ value: ExprSyntax?) -> String? {
  guard let value else { return nil }
  if let signed = value.as(PrefixOperatorExprSyntax.self), signed.operator.text == "-",
    !signed.expression.is(PrefixOperatorExprSyntax.self)
  {
    return literalType(signed.expression)
  }
  if value.is(IntegerLiteralExprSyntax.self) { return "Int" }
  if value.is(FloatLiteralExprSyntax.self) { return "Double" }
  if value.is(BooleanLiteralExprSyntax.self) { return "Bool" }
  if value.is(StringLiteralExprSyntax.self) { return "String" }
  return nil
}

private func annotate(_ binding: PatternBindingSyntax, _ type: String) -> FixIt {
  var annotated = binding
  annotated.pattern = binding.pattern.trimmed
  annotated.typeAnnotation = TypeAnnotationSyntax(
    colon: .colonToken(trailingTrivia: .space), type: IdentifierTypeSyntax(name: .identifier(type)),
    trailingTrivia: .space)
  return replace(binding, with: annotated, "write ': \(type)'")
}

extension IfConfigDeclSyntax {
  /// Whether one of the branches has a variable, which may be stored.
  fileprivate var hasVariable: Bool {
    clauses.contains { clause in
      guard case .decls(let members) = clause.elements else { return false }
      return members.contains { member in
        member.decl.is(VariableDeclSyntax.self)
          || member.decl.as(IfConfigDeclSyntax.self)?.hasVariable == true
      }
    }
  }
}
