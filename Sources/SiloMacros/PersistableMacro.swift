// @Persistable and @EntityVersion: make a struct a stored value.
//
// Names in the generated code begin with an underscore where they could hide the names of
// properties. Types cannot be qualified with the module, whose name is that of a type, too.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

struct PersistableMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    let name = type.trimmedDescription
    let ownName = name.split(separator: ".").last.map(String.init) ?? name
    guard requireStruct(declaration, "@Persistable", in: context),
      let version = node.version("version", in: context),
      let table = node.table(ownName.lowercased(), in: context)
    else { return [] }
    let source = ValueSource(
      node, of: declaration, name: name, table: "\"\(table)\"", version: version, in: context)
    return try source.map { [try ExtensionDeclSyntax("\(raw: $0.text)")] } ?? []
  }
}

struct EntityVersionMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard requireStruct(declaration, "@EntityVersion", in: context),
      let version = node.version(nil, in: context)
    else { return [] }
    guard let newest = node.argument("of")?.expression.as(MemberAccessExprSyntax.self),
      newest.declName.baseName.text == "self", let base = newest.base?.trimmedDescription
    else {
      context.reportError(
        node, "noValue", "name the value that this is a version of: of: Task.self")
      return []
    }
    let source = ValueSource(
      node, of: declaration, name: type.trimmedDescription, table: "\(base)._canonical.name",
      version: version, newest: base, in: context)
    return try source.map { [try ExtensionDeclSyntax("\(raw: $0.text)")] } ?? []
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
}

/// The extension of a stored struct.
struct ValueSource {
  private let name: String
  private let table: String
  private let version: Int
  /// The newest version of the type; nil if this is it.
  private let newest: String?
  private let access: String
  private let properties: [ValueProperty]
  private let checks: [String]

  /// Returns nil after reporting an error if the struct cannot be stored.
  init?(
    _ node: AttributeSyntax, of declaration: some DeclGroupSyntax, name: String, table: String,
    version: Int, newest: String? = nil, in context: some MacroExpansionContext
  ) {
    guard let properties = valueProperties(of: declaration, isPart: false, in: context) else {
      return nil
    }
    guard let id = properties.first(where: { $0.name == "id" }) else {
      context.reportError(
        declaration.introducer, "noID",
        "a stored value needs a stored property 'id': a string, an integer, a UUID, or a struct of "
          + "these that is '@PersistableValue'")
      return nil
    }
    if let reserved = properties.first(where: { ["migrations", "_canonical"].contains($0.name) }) {
      context.reportError(
        reserved.property.binding, "reservedName",
        "'\(reserved.name)' is the name of a member that silos use; choose another name")
      return nil
    }
    if id.type.code.hasSuffix("?") || id.type.hasAbsentValue
      || ["B", "R", "R32", "N", "X", "D", "L"].contains(id.type.code)
    {
      context.reportError(
        id.property.binding, "wrongID",
        "'id' is a string, an integer, a UUID, or a struct of these that is '@PersistableValue'; "
          + "\(id.type.trimmedDescription) cannot be a key")
      return nil
    }
    let check = ShapeCheck(
      attribute: node, argument: node.argument("shape"), shape: Shape(properties.map(\.entry)),
      places: properties.map { Syntax($0.property.binding) },
      advice:
        "make version \(version + 1), keep this one as '@EntityVersion(\(version), of:)', and "
        + "migrate (see \"Versions\"); its ")
    guard check.report(in: context) else { return nil }
    self.name = name
    self.table = table
    self.version = version
    self.newest = newest
    self.properties = properties
    access = memberAccess(of: declaration, in: context)
    checks = typeChecks(of: properties, in: context)
  }

  var text: String {
    (checks + [description, writing, reading] + visiting + rules + retaining + names)
      .joined(separator: "\n\n")
      .wrapped(in: "nonisolated extension \(name): Persistable")
  }

  private var description: String {
    let list = properties.map { "  " + $0.description() }.joined(separator: ",\n")
    let retained = newest == nil ? "" : " isRetained: true,"
    let ownName = name.split(separator: ".").last ?? ""
    return """
      \(access)static let _canonical = CanonicalSchema(
        \(table), version: \(version), type: "\(ownName)", id: Self.ID.self,\(retained)
        [
      \(list)
        ])
      """
  }

  private var writing: String {
    properties.map {
      $0.name == "id" ? "_writer.write(id: self.id)" : "_writer.write(self.\($0.identifier))"
    }.lines.wrapped(in: "\(access)func _write(to _writer: inout CanonicalWriter)")
  }

  private var reading: String {
    properties.map {
      $0.name == "id" ? "self.id = try _reader.read(id: \($0.slot))" : $0.reading
    }.lines.wrapped(in: "\(access)init(_reading _reader: CanonicalReader) throws")
  }

  private var visiting: [String] {
    let relations = properties.filter { $0.type.code.hasPrefix("@") }
    if relations.isEmpty { return [] }
    return [
      relations.map { "_visitor.visit(self.\($0.identifier))" }.lines.wrapped(
        in: "\(access)func _visitRelated<_Visitor: RelatedVisitor>(_ _visitor: inout _Visitor)")
    ]
  }

  private var retaining: [String] {
    newest.map { ["\(access)static var _newest: any Persistable.Type { \($0).self }"] } ?? []
  }

  private var rules: [String] {
    let rules = properties.compactMap { $0.relation(of: name) }
    if rules.isEmpty { return [] }
    return [
      "\(access)static let _relations: [any ValueRelation] = [\n"
        + rules.map { "  " + $0 }.joined(separator: ",\n") + "\n]"
    ]
  }

  private var names: [String] {
    properties.map { property in
      let label = property.name == "id" ? "id: " : ""
      return """
        /// `\(property.name)`, for queries.
        \(access)static let \(property.identifier) = SiloQueryNames<Canonical<\(name)>>.name(\(label)\(property.metatype), \(property.slot))
        """
    }
  }
}
