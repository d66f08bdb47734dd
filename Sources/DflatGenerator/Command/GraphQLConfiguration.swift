// The part of `dflat.json` that says what is made for GraphQL.
//
//     {
//       "graphql": {
//         "schema": "schema.graphqls", "entities": ["Character"], "primaryKey": "id",
//         "scalars": {"DateTime": "string"}, "evolve": true
//       }
//     }
//
// Paths are relative to the file. Options of the command line come before its settings.

import Foundation

struct GraphQLConfiguration: Decodable {
  /// Where the schema is: one file, or several.
  var schemas: [String] = []
  var entities: [String] = []
  var primaryKey: EntityKey?
  var primaryKeys: [String: EntityKey] = [:]
  var primaryKeyType: EntityOptions.KeyType?
  var scalars: [String: String] = [:]
  var client: GraphQLRequest.Client?
  var apiNamespace: String?
  var imports: [String] = []
  /// Whether `@defer` and `@stream` are sent to the server.
  var isIncremental = false
  /// Whether fragments have structures.
  var hasFragments = false
  /// Whether entities keep what is stored; in `dflat.json` that is the rule.
  var evolves = true

  static let names = [
    "schema", "entities", "primaryKey", "primaryKeys", "primaryKeyType", "scalars", "client",
    "apiNamespace", "imports", "incremental", "fragments", "evolve",
  ]

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: SettingKey.self)
    try container.refuseUnknown(Self.names, in: "graphql")
    func value<Value: Decodable>(_ name: String, _ type: Value.Type) throws -> Value? {
      try container.decodeIfPresent(Value.self, forKey: SettingKey(name))
    }
    if let several = try? value("schema", [String].self) {
      schemas = several
    } else if let one = try value("schema", String.self) {
      schemas = [one]
    }
    entities = try value("entities", [String].self) ?? []
    primaryKey = try value("primaryKey", KeySetting.self)?.key
    primaryKeys =
      try value("primaryKeys", [String: KeySetting].self)?.mapValues(\.key) ?? [:]
    primaryKeyType = try value("primaryKeyType", EntityOptions.KeyType.self)
    scalars = try value("scalars", [String: ScalarSetting].self)?.mapValues(\.text) ?? [:]
    client = try value("client", GraphQLRequest.Client.self)
    apiNamespace = try value("apiNamespace", String.self)
    imports = try value("imports", [String].self) ?? []
    try UnusableName.refuse([apiNamespace].compactMap { $0 }, in: "apiNamespace")
    try UnusableName.refuse(imports, in: "imports")
    isIncremental = try value("incremental", Bool.self) ?? false
    hasFragments = try value("fragments", Bool.self) ?? false
    evolves = try value("evolve", Bool.self) ?? true
  }

  /// Gives a request the settings that its command line does not have.
  /// - Parameter folder: The configuration's own, with a slash at the end, or an empty text.
  func complete(_ request: inout GraphQLRequest, folder: String) {
    if request.schemas.isEmpty {
      request.schemas = schemas.map { $0.hasPrefix("/") ? $0 : folder + $0 }
    }
    if request.entities.entities.isEmpty { request.entities.entities = entities }
    request.entities.key = request.entities.key ?? primaryKey
    request.entities.keys.merge(primaryKeys) { own, _ in own }
    request.entities.keyType = request.entities.keyType ?? primaryKeyType
    request.entities.scalars.merge(scalars) { own, _ in own }
    request.client = request.client ?? client
    request.namespace = request.namespace ?? apiNamespace
    if request.imports.isEmpty { request.imports = imports }
    request.isIncremental = request.isIncremental || isIncremental
    request.hasFragments = request.hasFragments || hasFragments
    let folder = folder.isEmpty ? "." : String(folder.dropLast())
    request.folder = folder
    if request.versions == nil, evolves { request.versions = .evolving(folder) }
  }
}

/// A key: a field, or a list of fields.
private struct KeySetting: Decodable {
  let key: EntityKey

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    let text =
      if let fields = try? value.decode([String].self) {
        fields.joined(separator: ",")
      } else {
        try value.decode(String.self)
      }
    guard let key = EntityKey(text) else {
      throw DecodingError.dataCorruptedError(
        in: value,
        debugDescription: "a key is a field, such as \"id\" or \"sys.id\", or a list of fields")
    }
    self.key = key
  }
}

/// A scalar that is mapped to no type.
struct UnusableScalar: Error {
  let text: String
}

/// A scalar: a type of FlatBuffers or of Swift, or an object with both.
private struct ScalarSetting: Decodable {
  let text: String

  init(from decoder: any Decoder) throws {
    if let text = try? decoder.singleValueContainer().decode(String.self) {
      self.text = text
      // A type of Swift may be any, as `[String: Int]`.
      if text.wholeMatch(of: /[a-z]\w*:[^:].*/) == nil { return }
    } else {
      let container = try decoder.container(keyedBy: SettingKey.self)
      try container.refuseUnknown(["type", "swift"], in: "scalars")
      let stored = try container.decode(String.self, forKey: SettingKey("type"))
      let swift = try container.decodeIfPresent(String.self, forKey: SettingKey("swift"))
      text = swift.map { "\(stored):\($0)" } ?? stored
    }
    if !ScalarMapping.isValid(text) { throw UnusableScalar(text: text) }
  }
}
