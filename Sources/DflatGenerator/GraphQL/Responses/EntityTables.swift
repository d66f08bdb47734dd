// The entities that responses are stored as: their tables, by the names of GraphQL's types.

import DflatSchema
import GraphQLSchema

/// An entity of the run.
final class EntityTables {
  /// The name of the GraphQL type and of the root table.
  let name: String
  let schema: DflatSchema.Schema
  let root: TableDefinition
  /// The field of the primary key; nil if the entity is a plain value, which is not stored by
  /// itself.
  let key: FieldDefinition?
  /// The names of the object types that the entity's objects are of.
  let types: Set<String>
  /// The field with the object's own type, if the entity is an interface or union.
  let subtype: FieldDefinition?
  /// The entities, by the names of the tables that stand for them in unions.
  private let references: [String: String]
  private let members: [String: UnionDefinition.Member]
  private var parts: [String: Part] = [:]

  /// Which objects of a type are the entity's.
  enum Part { case none, some, all }

  /// nil if the schema has no table of the entity's name, or several fields as its key.
  /// - Parameter references: The entities, by the names of the tables that stand for them in
  ///   unions.
  init?(
    _ entity: GraphQLEntity, _ schema: GraphQLSchema.Schema, references: [String: String]
  ) {
    guard let type = schema.type(named: entity.name),
      case .table(let root) = entity.schema.types[QualifiedName(name: entity.name)]
    else { return nil }
    let keys = root.fields.filter { $0.isPrimary && !$0.isDeprecated }
    guard keys.count < 2 else { return nil }
    self.name = entity.name
    self.schema = entity.schema
    self.root = root
    key = keys.first
    types = Set(schema.possibleTypes(of: type).map(\.name))
    subtype = type.isAbstract ? Self.subtype(of: root) : nil
    self.references = references
    members = Self.members(of: subtype, entity.schema, references)
  }

  /// Which objects of a selection are the entity's. The types are compared once for each type.
  func part(of object: SelectedObject) -> Part {
    if let known = parts[object.type.name] { return known }
    let count = object.possible.count(where: types.contains)
    let part: Part = count == 0 ? .none : count == object.possible.count ? .all : .some
    parts[object.type.name] = part
    return part
  }

  /// The union of the types that implement an interface's table.
  static func subtype(of table: TableDefinition) -> FieldDefinition? {
    table.fields.first { field in
      if case .union = field.type { field.name == "subtype" && !field.isDeprecated } else { false }
    }
  }

  /// The members of a union in a table of this entity, by the names of GraphQL's types.
  func members(of field: FieldDefinition?) -> [String: UnionDefinition.Member] {
    Self.members(of: field, schema, references)
  }

  private static func members(
    of field: FieldDefinition?, _ schema: DflatSchema.Schema, _ references: [String: String]
  ) -> [String: UnionDefinition.Member] {
    guard case .union(let name) = field?.type, case .union(let union) = schema.types[name] else {
      return [:]
    }
    return Dictionary(
      union.members.map { (references[$0.name] ?? $0.name, $0) },
      uniquingKeysWith: { first, second in references[second.name] == nil ? first : second })
  }

  /// The member of the subtype for an object type.
  func member(_ type: String) -> UnionDefinition.Member? { members[type] }

  func table(_ type: FieldType) -> TableDefinition? {
    guard case .table(let name) = type, case .table(let table) = schema.types[name] else {
      return nil
    }
    return table
  }

  /// The name of a declared type in Swift, without back-ticks.
  func swift(_ name: QualifiedName) -> String {
    (name.namespace + [schema.swiftName(of: name)]).joined(separator: ".")
  }
}
