// What the command line says about entities.

import DflatSchema
import GraphQLSchema

/// How entities are made.
struct EntityOptions: Equatable {
  /// The names of the entities.
  var entities: [String] = []
  /// What identifies an object; without it, entities are plain values.
  var key: EntityKey?
  /// What identifies the objects of single types, by the types' names.
  var keys: [String: EntityKey] = [:]
  /// The type of a key that the entity does not have as a field; nil if none is given.
  var keyType: KeyType?
  /// Whether references are the texts of keys, whatever the type of these. Otherwise they have the
  /// key's type, which relations need.
  var refersByText = false
  /// How custom scalars are stored, and enums that are stored as texts; see `ScalarMapping`.
  var scalars: [String: String] = [:]

  /// The type of a primary key, by its name on the command line.
  enum KeyType: String, CaseIterable, Decodable {
    case bool = "Bool"
    case int8 = "Int8"
    case uint8 = "UInt8"
    case int16 = "Int16"
    case uint16 = "UInt16"
    case int32 = "Int32"
    case uint32 = "UInt32"
    case int64 = "Int64"
    case uint64 = "UInt64"
    case float = "Float"
    case double = "Double"
    case string = "String"

    /// The type in schemas.
    var stored: String {
      switch self {
      case .bool: "bool"
      case .int8: "byte"
      case .uint8: "ubyte"
      case .int16: "short"
      case .uint16: "ushort"
      case .int32: "int"
      case .uint32: "uint"
      case .int64: "long"
      case .uint64: "ulong"
      case .float: "float"
      case .double: "double"
      case .string: "string"
      }
    }

    /// The key type that is stored as `name`.
    init?(stored name: String) {
      guard let found = Self.allCases.first(where: { $0.stored == name }) else { return nil }
      self = found
    }
  }

  /// The stored type of a scalar.
  func stored(_ scalar: NamedType) -> String {
    switch scalar.name {
    case "Int": "long"
    case "Float": "double"
    case "Boolean": "bool"
    case "ID", "String": "string"
    default: mapping(scalar)?.stored ?? "string"
    }
  }

  /// What is said about a scalar or enum.
  func mapping(_ type: NamedType) -> ScalarMapping? { scalars[type.name].map(ScalarMapping.init) }

  /// What identifies the objects of a type: the key that is given for it, or for an interface or
  /// union that it belongs to, otherwise that of all types.
  func key(of type: NamedType, in schema: GraphQLSchema.Schema) -> EntityKey? {
    if keys.isEmpty { return key }
    if let own = keys[type.name] { return own }
    let wider = keys.keys.sorted().first { name in
      schema.type(named: name).map { schema.isSubtype(type, of: $0) } ?? false
    }
    return wider.flatMap { keys[$0] } ?? key
  }

  /// Whether a type is one of the entities.
  func isEntity(_ type: NamedType) -> Bool { entities.contains(type.name) }
}
