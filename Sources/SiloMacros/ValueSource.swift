// The Swift code that @Persistable and @EntityVersion expand to.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// The code of a stored struct.
struct ValueSource {
  private let ownName: String
  private let table: ValueTable
  private let access: String
  private let properties: [ValueProperty]
  private let storedTypes: StoredTypes
  private let initializer: String?

  /// Reports the differences from a frozen shape.
  init(
    _ node: AttributeSyntax, of declaration: some DeclGroupSyntax, _ table: ValueTable,
    _ properties: [ValueProperty], in context: some MacroExpansionContext
  ) {
    let check = ShapeCheck(
      attribute: node, argument: node.argument("shape"), shape: Shape(properties.map(\.entry)),
      places: properties.map { Syntax($0.property.binding) },
      advice:
        "make version \(table.version + 1), keep this one as "
        + "'@EntityVersion(\(table.version), of:)', and migrate (see \"Versions\"); its ")
    let frozen = check.report(in: context)
    ownName = declaration.ownName
    self.table = table
    self.properties = properties
    access = memberAccess(of: declaration, in: context)
    storedTypes = StoredTypes(
      properties, frozen, ownName: declaration.ownName, isRoot: true, in: context)
    initializer = memberwiseInitializer(node, of: declaration, in: context)
  }

  /// What stands in the body of the struct.
  var members: [String] {
    let all =
      [storedTypes.text].compactMap { $0 } + [description, writing] + visiting + rules + retaining
    // Callers know the members by the protocol, which is not deprecated.
    return [initializer].compactMap { $0 } + all.inDeprecated(properties.areDeprecated)
  }

  /// The extension.
  func conformance(of name: String) -> String {
    ([reading] + storedTypes.checksText).inDeprecated(properties.areDeprecated)
      .joined(separator: "\n\n").wrapped(in: "nonisolated extension \(name): Persistable")
  }

  private var description: String {
    let list = properties.map { "  " + $0.description() }.joined(separator: ",\n")
    let retained = table.newest == nil ? "" : " isRetained: true,"
    return """
      nonisolated \(access)static let _canonical = CanonicalSchema(
        \(table.name), version: \(table.version), type: \(ownName.literal), id: Self.ID.self,\(retained)
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
    table.newest.map {
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
}

extension DeclGroupSyntax {
  /// The type's name, with its backticks.
  var ownName: String { asProtocol((any NamedDeclSyntax).self)?.name.text ?? "" }
}

/// The stored properties of a value, with its id. Returns nil after reporting an error if it cannot
/// be stored.
func rootProperties(
  of declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
) -> [ValueProperty]? {
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
  return checkLists(of: declaration, properties, in: context) ? properties : nil
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
