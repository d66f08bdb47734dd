// The stored properties of a struct, as in its memberwise initialiser.

internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// A stored instance property.
struct StoredProperty {
  /// The name as it is declared, including backticks.
  let identifier: String
  /// The type's text without trivia; nil if there is no annotation.
  var type: String? { typeSyntax?.trimmedDescription }
  /// The type: that of a later binding if this one has none itself.
  let typeSyntax: TypeSyntax?
  let binding: PatternBindingSyntax

  /// The name without backticks.
  var name: String { unquoted(identifier) }
}

/// A name without its backticks.
func unquoted(_ name: String) -> String {
  name.hasPrefix("`") && name.hasSuffix("`") && name.count > 2
    ? String(name.dropFirst().dropLast()) : name
}

/// What a macro needs to know about a property beyond its name.
enum PropertyRequirements {
  /// An explicit type, and that the memberwise initialiser sets the property.
  case record
  /// Only the name.
  case names
}

/// The stored instance properties in the body of a type, in the order of declaration. Returns nil
/// after reporting an error if one cannot be used.
func storedProperties(
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
        identifier: pattern.identifier.text, typeSyntax: type, binding: binding)
      found.append(property)
      if requirements == .record { check(property, of: variable) }
    }
    properties += found.reversed()
  }

  /// Checks that a property can be stored, and set by the memberwise initialiser.
  private mutating func check(_ property: StoredProperty, of variable: VariableDeclSyntax) {
    let binding = property.binding
    let keyword = variable.bindingSpecifier
    if variable.modifiers.contains(where: { $0.name.tokenKind == .keyword(.lazy) }) {
      reportError(
        binding, "lazy", "'\(property.name)' is lazy, so it is not part of the stored record")
    } else if let wrapper = wrapper(of: variable) {
      reportError(
        wrapper, "wrapper",
        "'\(property.name)' has a property wrapper; a record stores plain properties")
    } else if property.type == nil {
      let suggestion = literalType(binding.initializer?.value)
      reportError(
        binding, "noType", "'\(property.name)' needs a type annotation",
        fixIts: suggestion.map { [annotate(binding, $0)] } ?? [])
    } else if let type = property.typeSyntax, let reason = type.unstorableReason {
      reportError(type, "unsupportedType", "'\(property.name)' cannot be stored: \(reason)")
    } else if keyword.tokenKind == .keyword(.let) && binding.initializer != nil {
      reportError(
        binding, "constantWithValue",
        "'\(property.name)' is a constant with a value, so it can never be read back",
        fixIts: [
          replace(keyword, with: keyword.with(\.tokenKind, .keyword(.var)), "make it a 'var'")
        ])
    }
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
private func wrapper(of variable: VariableDeclSyntax) -> AttributeSyntax? {
  for case .attribute(let attribute) in variable.attributes {
    let name = attribute.attributeName.trimmedDescription
    let last = name.split(separator: ".").last ?? ""
    if last.first?.isUppercase == true && !name.hasSuffix("Actor") { return attribute }
  }
  return nil
}

/// The default type of a literal.
private func literalType(_ value: ExprSyntax?) -> String? {
  guard let value else { return nil }
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
