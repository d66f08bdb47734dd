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
    for file in schema.files {
      for name in file.types {
        guard let definition = schema.types[name] else { continue }
        types[name.namespace, default: []].append(
          SwiftName(name.name, definition.swiftName, definition.position))
        checkMembers(of: definition)
      }
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

  private func checkMembers(of definition: TypeDefinition) {
    switch definition {
    case .table(let table): checkFields(table.fields)
    case .structure(let structure): checkFields(structure.fields)
    case .enumeration(let value):
      checkScope(value.values.map { SwiftName($0.name, $0.swiftName, $0.position) }, "values")
    case .union(let union):
      checkScope(union.members.map { SwiftName($0.name, $0.swiftName, $0.position) }, "members")
    }
  }

  private func checkFields(_ fields: [FieldDefinition]) {
    let visible = fields.filter { !$0.isDeprecated }
    checkScope(visible.map { SwiftName($0.name, $0.swiftName, $0.position) }, "fields")
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
