// The Swift code that @Persistable and @EntityVersion expand to.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// The code of a stored struct.
struct ValueSource {
  private let ownName: String
  private let table: String
  private let version: Int
  /// The newest version of the type; nil if this is it.
  private let newest: String?
  private let access: String
  private let properties: [ValueProperty]
  private let storedTypes: StoredTypes
  private let initializer: String?

  /// Returns nil after reporting an error if the struct cannot be stored.
  init?(
    _ node: AttributeSyntax, of declaration: some DeclGroupSyntax, table: String, version: Int,
    newest: String? = nil, in context: some MacroExpansionContext
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
    guard checkLists(of: declaration, properties, in: context) else { return nil }
    let check = ShapeCheck(
      attribute: node, argument: node.argument("shape"), shape: Shape(properties.map(\.entry)),
      places: properties.map { Syntax($0.property.binding) },
      advice:
        "make version \(version + 1), keep this one as '@EntityVersion(\(version), of:)', and "
        + "migrate (see \"Versions\"); its ")
    guard check.report(in: context) else { return nil }
    ownName = declaration.ownName
    self.table = table
    self.version = version
    self.newest = newest
    self.properties = properties
    access = memberAccess(of: declaration, in: context)
    storedTypes = StoredTypes(properties, ownName: declaration.ownName, in: context)
    initializer = memberwiseInitializer(node, of: declaration, in: context)
  }

  /// What stands in the body of the struct.
  var members: [String] {
    [storedTypes.text, initializer].compactMap { $0 } + [description, writing] + visiting + rules
      + retaining
  }

  /// The extension.
  func conformance(of name: String) -> String {
    ([reading] + storedTypes.checksText).joined(separator: "\n\n")
      .wrapped(in: "nonisolated extension \(name): Persistable")
  }

  private var description: String {
    let list = properties.map { "  " + $0.description() }.joined(separator: ",\n")
    let retained = newest == nil ? "" : " isRetained: true,"
    return """
      nonisolated \(access)static let _canonical = CanonicalSchema(
        \(table), version: \(version), type: \(ownName.literal), id: Self.ID.self,\(retained)
        [
      \(list)
        ])
      """
  }

  private var writing: String {
    properties.map {
      $0.name == "id" ? "_writer.write(id: self.id)" : $0.writing
    }.lines.wrapped(in: "nonisolated \(access)func _write(to _writer: inout CanonicalWriter)")
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
        in: "nonisolated \(access)func _visitRelated<_Visitor: RelatedVisitor>"
          + "(_ _visitor: inout _Visitor)")
    ]
  }

  private var retaining: [String] {
    newest.map {
      ["nonisolated \(access)static var _newest: any Persistable.Type { \($0).self }"]
    } ?? []
  }

  private var rules: [String] {
    let rules = properties.compactMap { $0.relation(of: "Self") }
    if rules.isEmpty { return [] }
    return [
      "nonisolated \(access)static let _relations: [any ValueRelation] = [\n"
        + rules.map { "  " + $0 }.joined(separator: ",\n") + "\n]"
    ]
  }

  /// The attributes that declare names in conditions, at a property that is declared by itself. The
  /// first one also has the names of properties that are declared in lists, which attributes cannot
  /// be added to.
  func queryNames(at identifier: String) -> [String] {
    guard let property = properties.first(where: { $0.identifier == identifier }) else { return [] }
    let inLists = properties.filter { $0.property.declaration.bindings.count > 1 }
    let first = properties.first { $0.property.declaration.bindings.count == 1 }
    var attributes = ["@_SiloQueryName(\(queryName(of: property).literal))"]
    if !inLists.isEmpty, first?.identifier == identifier {
      let names = inLists.map { queryName(of: $0).literal }
      attributes.append("@_SiloQueryNames(\(names.commas))")
    }
    return attributes
  }

  private func queryName(of property: ValueProperty) -> String {
    let label = property.name == "id" ? "id: " : ""
    return """
      /// `\(property.name)`, for queries.
      nonisolated \(property.access(in: access))static let \(property.identifier) = SiloQueryNames<Canonical<Self>>.name(\(label)\(property.metatype), \(property.slot))
      """
  }
}

/// Checks that the names of properties that are declared in lists can be declared: at another
/// property, and by a macro that would hide operators. Reports an error otherwise.
private func checkLists(
  of declaration: some DeclGroupSyntax, _ properties: [ValueProperty],
  in context: some MacroExpansionContext
) -> Bool {
  guard let list = properties.first(where: { $0.property.declaration.bindings.count > 1 }) else {
    return true
  }
  let hasOperators = declaration.memberBlock.members.contains { member in
    guard let function = member.decl.as(FunctionDeclSyntax.self) else { return false }
    return if case .identifier = function.name.tokenKind { false } else { true }
  }
  let areAllLists = properties.allSatisfy { $0.property.declaration.bindings.count > 1 }
  guard hasOperators || areAllLists else { return true }
  context.reportError(
    list.property.declaration, "lists",
    hasOperators
      ? "in a type with operators each property is declared by itself; write a 'var' for each"
      : "declare at least one property by itself, as in "
        + "'var \(properties[0].identifier): \(properties[0].type.trimmedDescription)'")
  return false
}

extension DeclGroupSyntax {
  /// The type's name, with its backticks.
  var ownName: String { asProtocol((any NamedDeclSyntax).self)?.name.text ?? "" }
}

/// The memberwise initializer of a public struct.
func memberwiseInitializer(
  _ node: AttributeSyntax, of declaration: some DeclGroupSyntax,
  in context: some MacroExpansionContext
) -> String? {
  guard let all = storedProperties(of: declaration, for: .value, in: SilentContext(context)) else {
    return nil
  }
  return publicInitializer(
    node, of: declaration, all, isStandard: \.isStandardOnly, in: context)
}
