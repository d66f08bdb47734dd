// The Swift types of GraphQL's leaves and inputs, and which of them operations use.

import GraphQLSchema

/// Names types, and notes those that have to be declared.
final class ResponseTypes {
  let schema: GraphQLSchema.Schema
  /// The types of custom scalars: a type of the FlatBuffers language, or a Swift type.
  let scalars: [String: String]
  /// Enums and input objects that are used, by their GraphQL names.
  private(set) var used: Set<String> = []
  /// Enums whose texts are stored, by their GraphQL names.
  private(set) var storedAsText: Set<String> = []
  private var pending: [NamedType] = []
  private let names: [String: String]

  /// The names of entities in Swift.
  private let entities: Set<String>

  /// - Parameters:
  ///   - operations: The Swift names of operations.
  ///   - entities: The names of entities in Swift.
  init(
    schema: GraphQLSchema.Schema, scalars: [String: String], operations: Set<String> = [],
    entities: Set<String> = []
  ) {
    self.schema = schema
    self.entities = entities
    self.scalars = scalars
    // An enum that is stored as text has its own name there.
    let custom = scalars.filter { schema.type(named: $0.key)?.kind == .scalar }
    let scalarTypes = Set(custom.values.map { Self.flatBuffers[$0] ?? $0 })
    let declared = schema.types.filter { $0.kind == .enumeration || $0.kind == .inputObject }
    var counts: [String: Int] = [:]
    for type in declared { counts[NameCase.pascal(type.name), default: 0] += 1 }
    names = Dictionary(
      declared.map { type in
        let name = NameCase.pascal(type.name)
        let isFree =
          counts[name] == 1 && !ReservedNames.types.contains(name)
          && !operations.contains(name) && !entities.contains(name) && !scalarTypes.contains(name)
        return (type.name, isFree ? name : type.name + "_")
      }, uniquingKeysWith: { first, _ in first })
  }

  /// The Swift types of FlatBuffers types.
  private static let flatBuffers = [
    "bool": "Bool", "byte": "Int8", "ubyte": "UInt8", "short": "Int16", "ushort": "UInt16",
    "int": "Int32", "uint": "UInt32", "long": "Int64", "ulong": "UInt64", "float": "Float",
    "double": "Double", "string": "String", "int8": "Int8", "uint8": "UInt8", "int16": "Int16",
    "uint16": "UInt16", "int32": "Int32", "uint32": "UInt32", "int64": "Int64",
    "uint64": "UInt64", "float32": "Float", "float64": "Double",
  ]

  /// Whether a type of Foundation was named since this was last reset.
  var usesFoundation = false
  static let foundation: Set<String> = ["Date", "Decimal", "URL", "UUID"]

  /// Names that nested types do without: those of other declarations, of custom scalars, and of
  /// what generated code uses.
  private(set) lazy var reserved = Set(names.values)
    .union(scalars.values.map { Self.flatBuffers[$0] ?? $0 }).union(ReservedNames.types)

  /// A type of Swift, Foundation or DflatGraphQL, with its module where an entity has its name.
  func known(_ name: String) -> String {
    guard entities.contains(name) else { return name }
    if Self.foundation.contains(name) { return "Foundation." + name }
    guard ReservedNames.types.contains(name) else { return name }
    return (name.hasPrefix("GraphQL") ? "DflatGraphQL." : "Swift.") + name
  }

  /// What a declaration inside of a type calls that type: `Self`, unless an entity is called so.
  func itself(_ type: String) -> String { entities.contains("Self") ? type : "Self" }

  /// The Swift type of a scalar, enum or input object, as it is written.
  func written(_ name: String) -> String { known(leaf(name)) }

  /// The Swift type of a scalar, enum or input object.
  func leaf(_ name: String) -> String {
    switch name {
    case "Int": return "Int"
    case "Float": return "Double"
    case "Boolean": return "Bool"
    case "String", "ID": return "String"
    default: break
    }
    guard let type = schema.type(named: name) else { return "String" }
    switch type.kind {
    case .enumeration, .inputObject:
      if used.insert(name).inserted { pending.append(type) }
      return names[name] ?? name
    default:
      let swift = scalars[name].map { Self.flatBuffers[$0] ?? $0 } ?? "String"
      if Self.foundation.contains(swift) || swift.hasPrefix("Foundation.") { usesFoundation = true }
      return swift
    }
  }

  /// Notes that the texts of an enum are stored.
  func storeText(of enumeration: String) { storedAsText.insert(enumeration) }

  /// What decodes a scalar that a service may send in several forms, and the property with its
  /// value: one without a type may be any JSON, a decimal number a text.
  func wrapper(_ name: String) -> (name: String, property: String)? {
    guard let type = schema.type(named: name), type.kind == .scalar, !type.isBuiltIn else {
      return nil
    }
    switch scalars[name] {
    case nil, "string", "String": return ("GraphQLText", "text")
    case "Decimal", "Foundation.Decimal": return ("GraphQLDecimal", "value")
    default: return nil
    }
  }

  /// The next type that is used and was not returned before.
  func nextPending() -> NamedType? { pending.isEmpty ? nil : pending.removeFirst() }

  /// The cases of an enum, by the names of its values.
  func cases(_ type: NamedType) -> [(value: GraphQLSchema.EnumValue, name: String)] {
    let names = ResponseNames.members(
      type.values.map(\.name), avoiding: ["unknown", "allCases", "rawValue"])
    return Array(zip(type.values, names.map(Identifier.escaped)))
  }

  /// The Swift type of a reference, with the name of its innermost type.
  func swift(_ reference: TypeReference, _ name: String) -> String {
    switch reference {
    case .nonNull(let inner): present(inner, name)
    case .named, .list: present(reference, name) + "?"
    }
  }

  /// The Swift type of a value that is there.
  func present(_ reference: TypeReference, _ name: String) -> String {
    switch reference {
    case .nonNull(let inner): present(inner, name)
    case .named: name
    case .list(let element): "[\(swift(element, name))]"
    }
  }
}

/// Names that generated declarations do without.
enum ReservedNames {
  /// Types that generated code uses, or that Swift gives a meaning.
  static let types: Set<String> = [
    "Any", "Array", "Bool", "Codable", "CodingKey", "CodingKeys", "Data", "Decodable", "Decoder",
    "Double", "Encodable", "Encoder", "Float", "GraphQLBox", "GraphQLDecimal", "GraphQLElementKey",
    "GraphQLEnum", "GraphQLFieldReader", "GraphQLFieldVisitor", "GraphQLList", "GraphQLLists",
    "GraphQLMerge", "GraphQLMergeRules", "GraphQLMutation", "GraphQLNoVariables", "GraphQLNullable",
    "GraphQLObject", "GraphQLQuery", "GraphQLStorable", "GraphQLSubscription", "GraphQLText",
    "GraphQLValue",
    "Hashable", "Int", "Int16", "Int32", "Int64", "Int8", "MainActor", "Optional", "Protocol",
    "Self", "Sendable", "String", "Swift", "Type", "UInt16", "UInt32", "UInt64", "UInt8",
    "Variables", "Void",
  ]
}
