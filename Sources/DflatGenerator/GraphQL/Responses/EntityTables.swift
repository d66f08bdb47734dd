// The entities that responses are stored as: their tables, by the names of GraphQL's types.

import DflatSchema
import GraphQLSchema

/// A stored field of a key, and what it is in a response.
struct KeyField {
  var field: FieldDefinition
  let part: EntityKey.Part
}

/// An entity of the run.
final class EntityTables {
  /// The name of the GraphQL type and of the root table.
  let name: String
  let schema: DflatSchema.Schema
  let root: TableDefinition
  /// The fields of the primary key; empty if the entity is a plain value, which is not stored by
  /// itself.
  let keys: [KeyField]
  /// The names of the object types that the entity's objects are of.
  let types: Set<String>
  /// The field with the object's own type, if the entity is an interface or union.
  let subtype: FieldDefinition?
  /// The entities, by the names of the tables that stand for them in unions.
  private let references: [String: String]
  private let type: NamedType
  private let graph: GraphQLSchema.Schema
  private let members: [String: UnionDefinition.Member]
  private var parts: [String: Part] = [:]

  /// Which objects of a type are the entity's.
  enum Part { case none, some, all }

  /// nil if the schema has no table of the entity's name.
  /// - Parameters:
  ///   - key: What its key means in a response; nil if its fields have the names of GraphQL's.
  ///   - references: The entities, by the names of the tables that stand for them in unions.
  init?(
    _ entity: GraphQLEntity, _ schema: GraphQLSchema.Schema, key: EntityKey?,
    references: [String: String]
  ) {
    guard let type = schema.type(named: entity.name),
      case .table(let root) = entity.schema.types[QualifiedName(name: entity.name)]
    else { return nil }
    keys = root.fields.filter { $0.isPrimary && !$0.isDeprecated }.map { field in
      KeyField(
        field: field,
        part: key?.parts.first { $0.name == field.name } ?? EntityKey.Part(path: [field.name]))
    }
    self.name = entity.name
    self.type = type
    graph = schema
    self.schema = entity.schema
    self.root = root
    types = Set(schema.possibleTypes(of: type).map(\.name))
    subtype = type.isAbstract ? Self.subtype(of: root) : nil
    self.references = references
    members = Self.members(of: subtype, entity.schema, references)
  }

  /// Whether objects are stored by themselves.
  var isStored: Bool { !keys.isEmpty }
  /// The field of the key, if it is one that the objects have themselves under its name.
  var plainKey: FieldDefinition? {
    keys.count == 1 && keys[0].part.isPlain ? keys[0].field : nil
  }
  /// The key as programs write it.
  var keyText: String { keys.map(\.part.text).joined(separator: ",") }

  /// The name of the entity whose key a table of this one's schema has; nil for other tables.
  func referredEntity(_ table: TableDefinition) -> String? { references[table.name.name] }

  /// Which objects of a selection are the entity's. The types are compared once for each type.
  ///
  /// An interface or union of which the schema knows only types of the entity may get others later.
  /// All of its objects are the entity's only if it is a subtype of the entity's type.
  func part(of object: SelectedObject) -> Part {
    if let known = parts[object.type.name] { return known }
    let part: Part =
      !object.possible.contains(where: types.contains)
      ? .none : graph.isSubtype(object.type, of: type) ? .all : .some
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
    (namespacePath(name.namespace) + [schema.swiftName(of: name)]).joined(separator: ".")
  }
}
