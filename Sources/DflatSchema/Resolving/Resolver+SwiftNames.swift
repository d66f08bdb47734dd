// Swift names: `swift_name`, and conflicts between schema names that become the same Swift name.
//
// Schemas distinguish `is_pinned` from `isPinned`; the resulting Swift does not. Every scope is
// checked with its Swift names: types of a namespace, fields, enum cases, union cases. Deprecated
// fields have no Swift name.

extension Resolver {
  /// The name that an attribute list gives.
  func swiftName(_ attributes: AttributeList) -> String? {
    guard let syntax = attributes["swift_name"] else { return nil }
    guard let value = syntax.value, !value.text.isEmpty else {
      sink.error(
        "the name is missing", at: syntax.name.range,
        notes: [.hint("for example (swift_name: \"sortKey\")")])
      return nil
    }
    guard isSwiftIdentifier(value.text) else {
      sink.error(
        "\"\(value.text)\" is no name in Swift", at: value.range,
        notes: [.hint("a letter or '_', then letters, digits and '_', without a namespace")])
      return nil
    }
    return value.text
  }

  /// A member without an alias is named like its type, which may be declared below the union.
  func nameMembers() {
    for (name, definition) in schema.types {
      guard case .union(var union) = definition else { continue }
      for index in union.members.indices {
        let member = union.members[index]
        guard let type = schema.types[member.type], type.name.name == member.name,
          type.swiftName != camel(member.name)
        else { continue }
        union.members[index].typeName = type.swiftName
      }
      schema.types[name] = .union(union)
    }
  }

  func checkSwiftNames() {
    var types: [[String]: [SwiftName]] = [:]
    // The types in namespaces, by the path of each of their namespaces and the name that follows.
    var nested: [[String]: [String: TypeDefinition]] = [:]
    let definitions = schema.files.flatMap(\.types).compactMap { schema.types[$0] }
    for definition in definitions {
      let namespace = definition.name.namespace
      types[namespace, default: []].append(
        SwiftName(definition.name.name, definition.swiftName, definition.position))
      let path = namespacePath(namespace) + [definition.swiftName]
      for depth in path.indices.dropFirst()
      where nested[Array(path[..<depth])]?[path[depth]] == nil {
        nested[Array(path[..<depth]), default: [:]][path[depth]] = definition
      }
    }
    for definition in definitions {
      let (members, what) = members(of: definition)
      checkScope(members, what)
      for member in members { checkNested(member, of: definition, among: nested) }
      checkNestedBesideGenerated(in: definition, among: nested)
    }
    for names in types.values { checkScope(names, "types") }
  }

  /// A schema name and its Swift name.
  private struct SwiftName {
    var name: String
    var swiftName: String
    var position: SourcePosition

    init(_ name: String, _ swiftName: String, _ position: SourcePosition) {
      self.name = name
      self.swiftName = swiftName
      self.position = position
    }
  }

  /// The names inside of a type, and what they are.
  private func members(of definition: TypeDefinition) -> ([SwiftName], String) {
    switch definition {
    case .table(let table): (names(of: table.fields), "fields")
    case .structure(let structure): (names(of: structure.fields), "fields")
    case .enumeration(let value):
      (value.values.map { SwiftName($0.name, $0.swiftName, $0.position) }, "values")
    case .union(let union):
      (union.members.map { SwiftName($0.name, $0.swiftName, $0.position) }, "members")
    }
  }

  private func names(of fields: [FieldDefinition]) -> [SwiftName] {
    fields.filter { !$0.isDeprecated }.map { SwiftName($0.name, $0.swiftName, $0.position) }
  }

  /// A type that is called like a namespace contains the types of that namespace in Swift. They
  /// cannot share names with its fields, values and members.
  private func checkNested(
    _ member: SwiftName, of definition: TypeDefinition,
    among nested: [[String]: [String: TypeDefinition]]
  ) {
    let outer = definition.name
    // In a namespace, the type has its name in the schema, too.
    let paths = [
      namespacePath(outer.namespace) + [definition.swiftName],
      namespacePath(outer.namespace + [outer.name]),
    ]
    guard let other = paths.lazy.compactMap({ nested[$0]?[member.swiftName] }).first,
      let range = range(at: member.position, member.name)
    else { return }
    sink.error(
      "'\(member.name)' of '\(outer)' and the type '\(other.name)' both become "
        + "'\(outer).\(member.swiftName)' in Swift",
      at: range,
      notes: [
        self.range(at: other.position, other.name.name)?
          .note("'\(other.name)' is here; rename one of them")
      ].compactMap { $0 })
  }

  /// The members that generated code declares in each type of a kind, as far as no nested type may
  /// have their names.
  private func generatedMembers(of definition: TypeDefinition) -> (names: [String], what: String) {
    switch definition {
    case .table(let table) where schema.files.contains { $0.root == table.name }:
      (["ID", "id", "_Draft", "_row", "_schema"], "entity")
    case .table: (["_layout"], "table")
    case .structure: (["_layout"], "struct")
    case .union: (["_layout"], "union")
    case .enumeration(let value):
      (
        ["AllCases", "RawValue", "_layout", "allCases", "rawValue"]
          + (value.isBitFlags ? ["ArrayLiteralElement", "Element"] : []), "enum"
      )
    }
  }

  private func checkNestedBesideGenerated(
    in definition: TypeDefinition, among nested: [[String]: [String: TypeDefinition]]
  ) {
    let path = namespacePath(definition.name.namespace) + [definition.swiftName]
    let members = generatedMembers(of: definition)
    for member in members.names {
      guard let other = nested[path]?[member],
        let range = range(at: other.position, other.name.name)
      else { continue }
      sink.error(
        "the type '\(other.name)' and the member '\(member)' of every \(members.what) both become "
          + "'\(definition.name).\(member)' in Swift",
        at: range, notes: [.hint("rename the type, or give it a 'swift_name'")])
    }
  }

  private func checkScope(_ names: [SwiftName], _ what: String) {
    var first: [String: SwiftName] = [:]
    for name in names {
      guard let other = first.updateValue(name, forKey: name.swiftName) else { continue }
      guard let range = range(at: name.position, name.name) else { continue }
      let advice =
        switch what {
        case "members": "give one of them an alias"
        case "values": "rename one of them"
        default: "rename one of them, or give it a 'swift_name'"
        }
      sink.error(
        "the \(what) '\(other.name)' and '\(name.name)' both become '\(name.swiftName)' in Swift",
        at: range,
        notes: [
          self.range(at: other.position, other.name)?.note("'\(other.name)' is here; \(advice)")
        ].compactMap { $0 })
    }
  }
}

extension [QualifiedName: TypeDefinition] {
  /// The declared type that a field, element or member has.
  subscript(type: FieldType) -> TypeDefinition? {
    switch type {
    case .enumeration(let name), .structure(let name), .table(let name), .union(let name):
      self[name]
    default: nil
    }
  }
}

extension TypeDefinition {
  /// The position of the type's declaration.
  public var position: SourcePosition {
    switch self {
    case .enumeration(let value): value.position
    case .structure(let structure): structure.position
    case .table(let table): table.position
    case .union(let union): union.position
    }
  }
}
