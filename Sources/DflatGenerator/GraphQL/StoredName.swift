// StoredName: what a field is called in the schema of an entity.
//
// FlatBuffers refuses a field that is called like its own table. Services over databases have such
// names: `type status { status: String! }`. The field gets an underscore.

import GraphQLSchema

extension OutputField {
  /// The name of the stored field.
  /// - Parameter table: The type that has the field.
  func storedName(in table: String) -> String { name == table ? name + "_" : name }
}
