// @Persistable and @EntityVersion: make a struct a stored value.
//
// The parts that spell types stand in the body of the struct, where types mean what they mean to
// its author. An extension at top level has what must not stand there: the conformance, and an
// initializer, which would take the place of the memberwise one.
//
// Names in the generated code begin with an underscore where they could hide the names of
// properties. Types cannot be qualified with the module, whose name is that of a type, too.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// A macro that makes a struct a stored value.
protocol ValueMacro: MemberMacro, ExtensionMacro, MemberAttributeMacro {
  /// What the attribute says; nil after reporting an error.
  static func table(
    _ node: AttributeSyntax, of declaration: some DeclGroupSyntax,
    in context: some MacroExpansionContext
  ) -> ValueTable?
}

/// Where the values of a struct are stored.
struct ValueTable {
  /// An expression.
  let name: String
  let version: Int
  /// The newest version of the type; nil if this is it.
  var newest: String?
}

extension ValueMacro {
  /// Returns nil after reporting an error if the struct cannot be stored.
  private static func source(
    _ node: AttributeSyntax, of declaration: some DeclGroupSyntax,
    in context: some MacroExpansionContext
  ) -> ValueSource? {
    guard let table = table(node, of: declaration, in: context),
      let properties = rootProperties(of: declaration, in: context)
    else { return nil }
    return ValueSource(node, of: declaration, table, properties, in: context)
  }

  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    let source = source(node, of: declaration, in: SilentContext(context))
    return source?.members.map { "\(raw: $0)" } ?? []
  }

  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard let source = source(node, of: declaration, in: context) else { return [] }
    return [try ExtensionDeclSyntax("\(raw: source.conformance(of: type.trimmedDescription))")]
  }

  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
  ) throws -> [AttributeSyntax] {
    // The names need the conformance, which there is only without an error.
    let context = SilentContext(context, isOfMember: true)
    guard let name = singleVariable(DeclSyntax(member)),
      table(node, of: declaration, in: context) != nil,
      let properties = rootProperties(of: declaration, in: context)
    else { return [] }
    let access = memberAccess(of: declaration, in: context)
    return queryNames(of: properties, at: name, access).map { "\(raw: $0)" }
  }
}

struct PersistableMacro: ValueMacro {
  static func table(
    _ node: AttributeSyntax, of declaration: some DeclGroupSyntax,
    in context: some MacroExpansionContext
  ) -> ValueTable? {
    guard requireStruct(declaration, "@Persistable", in: context),
      let version = node.version("version", in: context),
      let table = node.table(unquoted(declaration.ownName).lowercased(), in: context)
    else { return nil }
    return ValueTable(name: table.literal, version: version)
  }
}

struct EntityVersionMacro: ValueMacro {
  static func table(
    _ node: AttributeSyntax, of declaration: some DeclGroupSyntax,
    in context: some MacroExpansionContext
  ) -> ValueTable? {
    guard requireStruct(declaration, "@EntityVersion", in: context),
      let version = node.version(nil, in: context)
    else { return nil }
    guard let newest = node.argument("of")?.expression.as(MemberAccessExprSyntax.self),
      newest.declName.baseName.text == "self", let base = newest.base?.trimmedDescription
    else {
      context.reportError(
        node, "noValue", "name the value that this is a version of: of: Task.self")
      return nil
    }
    return ValueTable(
      name: "CanonicalSchema.name(of: \(base).self)", version: version, newest: base)
  }
}

/// Checks that a declaration is a struct that is not generic. Reports an error otherwise.
func requireStruct(
  _ declaration: some DeclGroupSyntax, _ macro: String, in context: some MacroExpansionContext
) -> Bool {
  if !declaration.is(StructDeclSyntax.self) {
    context.reportError(
      declaration.introducer, "noStruct", "\(macro) needs a struct: values are compared and copied")
    return false
  }
  return checkGenerics(
    of: declaration, noun: "stored value", because: "one table", in: context)
    && checkAccess(of: declaration, macro, in: context)
}
