// Configuration: the settings of a folder of schemas, in a file that is usually called
// `dflat.json`.
//
// It is an object with the keys `include`, a list of directories, `modules`, an object that maps
// directories to module names, and `access`, the access level of what is generated. The directories
// are relative to the file's own. The build plugin passes the file to the compiler, so that it is
// read again whenever it has changed, and reads `declareNamespaces` itself. What `graphql` means is
// in `GraphQLConfiguration`.

import Foundation

/// An invalid configuration file.
struct ConfigurationError: Error {
  let message: String
}

/// A key of a configuration file.
struct SettingKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { self.stringValue = name }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// A setting with a value that it cannot have.
private struct UnknownAccess: Error {
  let value: String
}

/// A setting that is to name something in Swift, and does not.
struct UnusableName: Error {
  let setting: String
  let value: String

  static func refuse(_ names: some Sequence<String>, in setting: String) throws {
    guard let value = names.first(where: { !Identifier.isPath($0) }) else { return }
    throw UnusableName(setting: setting, value: value)
  }
}

/// A setting that does not exist.
private struct UnknownSetting: Error {
  let name: String
  let known: [String]
  /// The object that it is in; nil for the outermost one.
  let object: String?
}

extension KeyedDecodingContainer<SettingKey> {
  /// Throws for a key without a meaning: otherwise a misspelt setting would silently have no
  /// effect.
  func refuseUnknown(_ known: [String], in object: String?) throws {
    let unknown = allKeys.map(\.stringValue).filter { !known.contains($0) }.min()
    if let unknown { throw UnknownSetting(name: unknown, known: known, object: object) }
  }
}

struct Configuration {
  /// The directories, relative to the current one.
  let include: [String]
  /// The modules of other directories.
  let modules: [ModuleMap.Module]

  /// nil if the file does not say it.
  let access: AccessLevel?
  /// What is made for GraphQL.
  let graphQL: GraphQLConfiguration?
  /// The file's own directory, with a slash at the end, or an empty text.
  let folder: String

  /// Creates an empty configuration.
  init() { (include, modules, access, graphQL, folder) = ([], [], nil, nil, "") }

  private struct Content: Decodable {
    static let names = ["access", "declareNamespaces", "graphql", "include", "modules"]

    let include: [String]
    let modules: [String: String]
    let access: AccessLevel?
    let graphQL: GraphQLConfiguration?

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: SettingKey.self)
      try container.refuseUnknown(Self.names, in: nil)
      include = try container.decodeIfPresent([String].self, forKey: SettingKey("include")) ?? []
      modules =
        try container.decodeIfPresent([String: String].self, forKey: SettingKey("modules")) ?? [:]
      try UnusableName.refuse(modules.values.sorted(), in: "modules")
      access = try container.decodeIfPresent(String.self, forKey: SettingKey("access")).map {
        guard let level = AccessLevel(rawValue: $0) else { throw UnknownAccess(value: $0) }
        return level
      }
      graphQL = try container.decodeIfPresent(
        GraphQLConfiguration.self, forKey: SettingKey("graphql"))
      // This setting is for the plugin, which requests the declarations or does not.
      _ = try container.decodeIfPresent(Bool.self, forKey: SettingKey("declareNamespaces"))
    }
  }

  /// Reads a file.
  init(path: String) throws(ConfigurationError) {
    let content: Content
    do {
      let data = try Data(contentsOf: URL(filePath: path))
      content = try JSONDecoder().decode(Content.self, from: data)
    } catch let error as UnknownSetting {
      let known = error.known.map { "\"\($0)\"" }
      throw ConfigurationError(
        message: "\(path): error: there is no setting \"\(error.name)\""
          + "\(error.object.map { " in \"\($0)\"" } ?? ""), only "
          + known.dropLast().joined(separator: ", ") + " and " + (known.last ?? ""))
    } catch let error as UnknownAccess {
      throw ConfigurationError(
        message: "\(path): error: \"access\" cannot be \"\(error.value)\"; "
          + "\(AccessLevel.guess(error.value))choices are "
          + AccessLevel.allCases.map(\.rawValue).joined(separator: ", "))
    } catch let error as UnusableName {
      throw ConfigurationError(
        message: "\(path): error: \"\(error.setting)\" cannot be \"\(error.value)\", which is no "
          + "name in Swift")
    } catch let error as UnusableScalar {
      throw ConfigurationError(
        message:
          "\(path): error: '\(error.text)' is no type of a scalar; it is one of FlatBuffers, "
          + "such as \"long\", one of Swift, such as \"Date\", or both: "
          + "{\"type\": \"long\", \"swift\": \"Date\"}")
    } catch is DecodingError {
      throw ConfigurationError(
        message: "\(path): error: expected {\"include\": [\"directory\", ...], "
          + "\"modules\": {\"directory\": \"Module\", ...}, \"declareNamespaces\": true, "
          + "\"access\": \"public\", "
          + "\"graphql\": {\"schema\": \"file\", \"entities\": [\"Type\", ...], "
          + "\"primaryKey\": \"field\", ...}}")
    } catch {
      throw ConfigurationError(message: "\(path): error: cannot read the file")
    }
    access = content.access
    graphQL = content.graphQL
    let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    folder = parent
    func directory(_ name: String, _ role: String) throws(ConfigurationError) -> String {
      let directory = name.hasPrefix("/") ? name : parent + name
      var isDirectory: ObjCBool = false
      guard FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory),
        isDirectory.boolValue
      else {
        throw ConfigurationError(
          message: "\(path): error: the \(role) directory \"\(name)\" does not exist")
      }
      return directory
    }
    var include: [String] = []
    for name in content.include { include.append(try directory(name, "include")) }
    self.include = include
    var modules: [ModuleMap.Module] = []
    for (name, module) in content.modules.sorted(by: { $0.key < $1.key }) {
      modules.append(ModuleMap.Module(name: module, folder: try directory(name, "module")))
    }
    self.modules = modules
  }
}
