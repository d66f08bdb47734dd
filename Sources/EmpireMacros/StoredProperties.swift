// The stored properties of a struct, as its memberwise initialiser has them.

internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// A stored instance property.
struct StoredProperty {
  /// As it is declared, with backticks if it has some.
  let identifier: String
  /// The type's text, without what stands around it; nil if none is written.
  var type: String? { typeSyntax?.trimmedDescription }
  /// The type; that of a later binding if the binding has none itself.
  let typeSyntax: TypeSyntax?
  let binding: PatternBindingSyntax

  /// Without backticks.
  var name: String { unquoted(identifier) }
}

/// A name without its backticks.
func unquoted(_ name: String) -> String {
  name.hasPrefix("`") && name.hasSuffix("`") && name.count > 2
    ? String(name.dropFirst().dropLast()) : name
}

/// What a macro has to know of a property beyond its name.
enum Demands {
  /// Types are written, and the memberwise initialiser sets every property.
  case record
  /// Names are enough.
  case names
}

/// The stored instance properties in the body of a type, in the order of their declaration. Nil if some cannot be understood, which has
/// been said then.
func storedProperties(
  of declaration: some DeclGroupSyntax, for demands: Demands, in context: some MacroExpansionContext
) -> [StoredProperty]? {
  var reader = PropertyReader(context: context, demands: demands)
  for member in declaration.memberBlock.members { reader.read(member.decl) }
  return reader.isRight ? reader.properties : nil
}

private struct PropertyReader<Context: MacroExpansionContext> {
  let context: Context
  let demands: Demands
  private(set) var properties: [StoredProperty] = []
  private(set) var isRight = true

  init(context: Context, demands: Demands) {
    self.context = context
    self.demands = demands
  }

  mutating func read(_ declaration: DeclSyntax) {
    if let conditional = declaration.as(IfConfigDeclSyntax.self) {
      refuse(
        conditional.clauses.first.map { Syntax($0.poundKeyword) } ?? Syntax(conditional),
        "conditional",
        "the macro cannot know which members of an '#if' there are; move it to an extension")
    } else if let variable = declaration.as(VariableDeclSyntax.self) {
      read(variable)
    }
  }

  private mutating func read(_ variable: VariableDeclSyntax) {
    let modifiers = variable.modifiers.map { $0.name.tokenKind }
    if modifiers.contains(.keyword(.static)) || modifiers.contains(.keyword(.class)) { return }
    // `let a, b: Int` gives both the type.
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
        refuse(binding.pattern, "pattern", "declare one property at a time, with its type")
        continue
      }
      let property = StoredProperty(
        identifier: pattern.identifier.text, typeSyntax: type, binding: binding)
      found.append(property)
      if demands == .record { check(property, of: variable) }
    }
    properties += found.reversed()
  }

  /// Whether a property can be written, and be set by the memberwise initialiser.
  private mutating func check(_ property: StoredProperty, of variable: VariableDeclSyntax) {
    let binding = property.binding
    let keyword = variable.bindingSpecifier
    if variable.modifiers.contains(where: { $0.name.tokenKind == .keyword(.lazy) }) {
      refuse(
        binding, "lazy", "'\(property.name)' is lazy, so it is no part of the stored record")
    } else if let wrapper = wrapper(of: variable) {
      refuse(
        wrapper, "wrapper",
        "'\(property.name)' has a property wrapper; a record stores plain properties")
    } else if property.type == nil {
      let suggestion = literalType(binding.initializer?.value)
      refuse(
        binding, "noType", "'\(property.name)' needs a type annotation",
        fixIts: suggestion.map { [annotate(binding, $0)] } ?? [])
    } else if let type = property.typeSyntax, let reason = type.reasonAgainstStorage {
      refuse(type, "unsupportedType", "'\(property.name)' cannot be stored: \(reason)")
    } else if keyword.tokenKind == .keyword(.let) && binding.initializer != nil {
      refuse(
        binding, "constantWithValue",
        "'\(property.name)' is a constant with a value, so it can never be read back",
        fixIts: [
          replace(keyword, with: keyword.with(\.tokenKind, .keyword(.var)), "make it a 'var'")
        ])
    }
  }

  private mutating func refuse(
    _ node: some SyntaxProtocol, _ name: String, _ message: String, fixIts: [FixIt] = []
  ) {
    context.refuse(node, name, message, fixIts: fixIts)
    isRight = false
  }
}

/// Whether a property has no storage. One with observers has some.
private func isComputed(_ binding: PatternBindingSyntax) -> Bool {
  guard let block = binding.accessorBlock else { return false }
  guard case .accessors(let accessors) = block.accessors else { return true }
  return !accessors.allSatisfy {
    [.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind)
  }
}

/// An attribute that must be a property wrapper's: the language's own begin with a small letter.
private func wrapper(of variable: VariableDeclSyntax) -> AttributeSyntax? {
  for case .attribute(let attribute) in variable.attributes {
    let name = attribute.attributeName.trimmedDescription
    let last = name.split(separator: ".").last ?? ""
    if last.first?.isUppercase == true && !name.hasSuffix("Actor") { return attribute }
  }
  return nil
}

/// The type that a literal has by itself.
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

/// Whether the type has the initialiser with all stored properties: none of its own in the body, or one with the same labels.
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
  context.refuse(
    first, "initializer",
    "an initializer in the body replaces the memberwise one, 'init(\(wanted))', which reading needs; move it to an extension"
  )
  return false
}
