// Two schema names that become one Swift name.
//
// Schemas tell `is_pinned` from `isPinned`; the Swift that comes out does not. Every scope is checked by the rule of
// what it becomes: types of a namespace, fields, enum cases, union cases. Deprecated fields have no Swift name.

extension Resolver {
  func checkSwiftNames() {
    var types: [[String]: [(String, SourcePosition)]] = [:]
    for file in schema.files {
      for name in file.types {
        guard let definition = schema.types[name] else { continue }
        types[name.namespace, default: []].append((name.name, definition.position))
        checkMembers(of: definition)
      }
    }
    for names in types.values { checkScope(names, by: camel, "types") }
  }

  private func checkMembers(of definition: TypeDefinition) {
    switch definition {
    case .table(let table): checkFields(table.fields)
    case .structure(let structure): checkFields(structure.fields)
    case .enumeration(let value):
      checkScope(value.values.map { ($0.name, $0.position) }, by: enumCaseName, "values")
    case .union(let union):
      checkScope(union.members.map { ($0.name, $0.position) }, by: unionCaseName, "members")
    }
  }

  private func checkFields(_ fields: [FieldDefinition]) {
    let names = fields.filter { !$0.isDeprecated }.map { ($0.name, $0.position) }
    checkScope(names, by: camel, "fields")
  }

  private func checkScope(
    _ names: [(String, SourcePosition)], by rule: (String) -> String, _ what: String
  ) {
    var first: [String: (String, SourcePosition)] = [:]
    for (name, position) in names {
      let swiftName = rule(name)
      guard let (other, otherPosition) = first.updateValue((name, position), forKey: swiftName)
      else { continue }
      guard let range = range(at: position, name) else { continue }
      let advice = what == "members" ? "give one of them an alias" : "rename one of them"
      sink.error(
        "the \(what) '\(other)' and '\(name)' both become '\(swiftName)' in Swift", at: range,
        notes: [self.range(at: otherPosition, other)?.note("'\(other)' is here; \(advice)")]
          .compactMap { $0 })
    }
  }
}

extension TypeDefinition {
  /// Where the type is declared.
  public var position: SourcePosition {
    switch self {
    case .enumeration(let value): value.position
    case .structure(let structure): structure.position
    case .table(let table): table.position
    case .union(let union): union.position
    }
  }
}
