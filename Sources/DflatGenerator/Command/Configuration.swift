// Configuration: the settings of a folder of schemas, in a file that is usually called
// `dflat.json`.
//
// It is an object with the keys `include`, a list of directories, and `modules`, an object that
// maps directories to module names. The directories are relative to the file's own. The build
// plugin passes the file to the compiler, so that it is read again whenever it has changed, and
// reads `declareNamespaces` itself.

import Foundation

/// An invalid configuration file.
struct ConfigurationError: Error {
  let message: String
}

struct Configuration {
  /// The directories, relative to the current one.
  let include: [String]
  /// The modules of other directories.
  let modules: [ModuleMap.Module]

  /// Creates an empty configuration.
  init() { (include, modules) = ([], []) }

  private struct UnknownSetting: Error {
    let name: String
  }

  private struct Content: Decodable {
    static let names = ["declareNamespaces", "include", "modules"]

    let include: [String]
    let modules: [String: String]

    private struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }

      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      // Otherwise a misspelt setting would silently have no effect.
      let unknown = container.allKeys.map(\.stringValue).filter { !Self.names.contains($0) }.min()
      if let unknown { throw UnknownSetting(name: unknown) }
      include =
        try container.decodeIfPresent([String].self, forKey: Key(stringValue: "include")) ?? []
      modules =
        try container.decodeIfPresent([String: String].self, forKey: Key(stringValue: "modules"))
        ?? [:]
      // This setting is for the plugin, which requests the declarations or does not.
      _ = try container.decodeIfPresent(Bool.self, forKey: Key(stringValue: "declareNamespaces"))
    }
  }

  /// Reads a file.
  init(path: String) throws(ConfigurationError) {
    let content: Content
    do {
      let data = try Data(contentsOf: URL(filePath: path))
      content = try JSONDecoder().decode(Content.self, from: data)
    } catch let error as UnknownSetting {
      throw ConfigurationError(
        message: "\(path): error: there is no setting \"\(error.name)\", only \"include\", "
          + "\"modules\" and \"declareNamespaces\"")
    } catch is DecodingError {
      throw ConfigurationError(
        message: "\(path): error: expected {\"include\": [\"directory\", ...], "
          + "\"modules\": {\"directory\": \"Module\", ...}, \"declareNamespaces\": true}")
    } catch {
      throw ConfigurationError(message: "\(path): error: cannot read the file")
    }
    let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
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
