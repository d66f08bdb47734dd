// From a compiled schema back to an entity's model.

import DflatSchema

extension EntityModel {
  /// The attributes that are written by hand into a committed schema and survive.
  private static let kept: Set<String> = [
    "indexed", "unique", "fulltext", "index", "ondelete", "inverse",
  ]

  /// The model of a schema that was made for the entity, with all slots; nil if it does not declare
  /// the entity.
  init?(_ schema: DflatSchema.Schema, entity: String) {
    guard case .table(let root) = schema.types[QualifiedName(name: entity)],
      let file = schema.files.first
    else { return nil }
    var types: [String: Declaration] = [:]
    for name in file.types where name.namespace == [entity] {
      switch schema.types[name] {
      case .table(let table): types[name.name] = .table(Self.table(table))
      case .enumeration(let definition):
        types[name.name] = .enumeration(
          name.name, definition.values.map { EnumValue(name: $0.name, number: $0.value) })
      case .union(let definition):
        types[name.name] = .union(name.name, definition.members.map(\.name))
      case .structure, nil: break
      }
    }
    self.init(entity: entity, types: types, root: Self.table(root))
  }

  private static func table(_ definition: TableDefinition) -> Table {
    let fields = definition.fields.map { field in
      Field(
        name: field.name, type: value(field.type), isOptional: field.defaultValue == .null,
        attributes: field.attributes.compactMap { attribute in
          kept.contains(attribute.name)
            || ["primary", "deprecated", "references", "swift"].contains(attribute.name)
            ? Attribute(name: attribute.name, value: attribute.value) : nil
        }, slot: (field.offset - 4) / 2)
    }
    return Table(
      name: definition.name.name, version: definition.version ?? "",
      fields: fields.sorted { $0.slot ?? 0 < $1.slot ?? 0 },
      attributes: definition.attributes.filter { kept.contains($0.name) }
        .map { Attribute(name: $0.name, value: $0.value) })
  }

  private static func value(_ type: FieldType) -> Value {
    switch type {
    case .scalar(let scalar): .scalar(scalar.rawValue)
    case .string: .scalar("string")
    case .enumeration(let name), .structure(let name), .table(let name), .union(let name):
      .named(name.name)
    case .vector(let element), .array(let element, _): .list(value(element))
    }
  }

  /// The attributes of a field that were written by hand.
  static func handWritten(_ attributes: [Attribute]) -> [Attribute] {
    attributes.filter { kept.contains($0.name) }
  }
}
