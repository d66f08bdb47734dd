// StoredName: what a field is called in the schema of an entity.
//
// FlatBuffers refuses a field that is called like its own table, or like one that stands before it,
// and Swift one of the entity that is called like a type inside of it. Services over databases have
// such names: `type status { status: String! }`. The field gets an underscore. Whether it does
// follows from the field alone, not from what else is selected, so its name stays when operations
// change.

import GraphQLSchema

extension OutputField {
  /// The name of the stored field.
  /// - Parameters:
  ///   - table: The type that has the field.
  ///   - hasTable: Whether the field's type has a table in the entity's schema.
  func storedName(in table: String, hasTable: Bool) -> String {
    name == table || hasTable && name == type.name ? name + "_" : name
  }
}

extension EntityModeler {
  /// The name of a type's field in its table.
  func storedName(of field: OutputField, in type: NamedType) -> String {
    field.storedName(in: type.name, hasTable: storedType(of: field.type).hasTable)
  }
}
