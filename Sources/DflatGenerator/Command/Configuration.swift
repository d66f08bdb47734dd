// Configuration: what a folder of schemas says about itself in a file, usually `dflat.json`.
//
// An object with the key `include`, a list of directories relative to the file's own. The build plugin passes the file on,
// so that it is read anew whenever it has changed.

import Foundation

/// A configuration file that cannot be used.
struct ConfigurationError: Error {
  let message: String
}

struct Configuration {
  /// The directories, ready to be opened from the current one.
  let include: [String]

  private struct UnknownSetting: Error {
    let name: String
  }

  private struct Content: Decodable {
    let include: [String]

    private struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }

      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      // A misspelt setting would otherwise do nothing, silently.
      let unknown = container.allKeys.map(\.stringValue).filter { $0 != "include" }.min()
      if let unknown { throw UnknownSetting(name: unknown) }
      include =
        try container.decodeIfPresent([String].self, forKey: Key(stringValue: "include")) ?? []
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
        message: "\(path): error: there is no setting \"\(error.name)\", only \"include\"")
    } catch is DecodingError {
      throw ConfigurationError(
        message: "\(path): error: expected {\"include\": [\"directory\", ...]}")
    } catch {
      throw ConfigurationError(message: "\(path): error: cannot read the file")
    }
    let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    var directories: [String] = []
    for name in content.include {
      let directory = name.hasPrefix("/") ? name : parent + name
      var isDirectory: ObjCBool = false
      guard FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory),
        isDirectory.boolValue
      else {
        throw ConfigurationError(
          message: "\(path): error: the include directory \"\(name)\" does not exist")
      }
      directories.append(directory)
    }
    include = directories
  }
}
