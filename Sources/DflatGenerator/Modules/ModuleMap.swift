// ModuleMap: maps the types of schemas to Swift modules.
//
// A schema is compiled once, in the module that it belongs to; other modules import that module and
// refer to its types. The command line names the folders of other modules. It may also name the
// other schemas of the generated module: then every type must be in a known module.

import DflatSchema
import Foundation

/// The modules that contain the types of schemas.
struct ModuleMap {
  /// A folder of schemas that are compiled in another module.
  struct Module: Equatable {
    let name: String
    let folder: String
  }

  /// Dependencies come before their dependents.
  let modules: [Module]
  /// The schemas of the generated module, if they are known.
  let own: Set<String>?
  private let folders: [(name: String, path: String)]

  /// - Parameters:
  ///   - modules: Other modules, dependencies first.
  ///   - own: Every schema of the generated module; nil if the command line does not name them.
  init(modules: [Module] = [], own: [String]? = nil) {
    self.modules = modules
    self.own = own.map { Set($0.map(Self.identity)) }
    folders = modules.map { ($0.name, Self.identity(of: $0.folder) + "/") }
  }

  /// Where a file's types are.
  enum Place: Equatable {
    case own
    case module(String)
    /// In no module that the command line names.
    case unknown
  }

  func place(of path: String) -> Place {
    let identity = Self.identity(of: path)
    if own?.contains(identity) ?? false { return .own }
    // The innermost folder counts.
    let folder = folders.filter { identity.hasPrefix($0.path) }.max {
      $0.path.utf8.count < $1.path.utf8.count
    }
    if let folder { return .module(folder.name) }
    return own == nil ? .own : .unknown
  }

  /// Every schema of every other module, by module.
  func schemas() -> [(module: String, path: String)] {
    modules.flatMap { module in
      Self.schemas(in: module.folder).filter { place(of: $0) == .module(module.name) }
        .map { (module.name, $0) }
    }
  }

  /// The folders of other modules in which included files are searched.
  var includePaths: [String] {
    var paths: [String] = []
    for module in modules {
      let folders = Self.schemas(in: module.folder).map {
        String($0[..<($0.lastIndex(of: "/") ?? $0.startIndex)])
      }
      for folder in [module.folder] + folders where !paths.contains(folder) {
        paths.append(folder)
      }
    }
    return paths
  }

  /// The modules in whose folders a configuration makes generated code internal.
  var internalModules: Set<String> {
    let names = modules.filter { module in
      // A configuration with errors is reported where that module is compiled.
      (try? Configuration(path: "\(module.folder)/dflat.json"))?.access == .internal
    }
    return Set(names.map(\.name))
  }

  /// The schemas below a folder, sorted by path.
  private static func schemas(in folder: String) -> [String] {
    let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return files.filter { $0.hasSuffix(".fbs") }.sorted().map { "\(folder)/\($0)" }
  }

  /// A single name for all paths of a file.
  private static func identity(of path: String) -> String {
    URL(filePath: path).resolvingSymlinksInPath().standardizedFileURL.path(percentEncoded: false)
      .trimmingTrailingSlashes
  }
}

extension String {
  fileprivate var trimmingTrailingSlashes: String {
    var text = self[...]
    while text.count > 1, text.hasSuffix("/") { text = text.dropLast() }
    return String(text)
  }
}
