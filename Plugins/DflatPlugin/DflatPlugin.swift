// DflatPlugin: compiles every .fbs file of a target when the target is built.
//
//     .target(name: "App", dependencies: [...], plugins: [.plugin(name: "DflatPlugin", package: "dflat")])
//
// The four files of each schema go to the plugin's work directory and become sources of the target, and with them a file that
// declares the schemas' namespaces, as far as no Swift file of the target does. Schemas of the targets that this one depends on, in
// this or other packages, can be included: their types are those of that target's module.
//
// A `dflat.json` in the target's directory names further directories, relative to it:
//
//     {"include": ["../Includes"], "modules": {"../Schemas": "SharedModel"}, "declareNamespaces": false}

import Foundation
import PackagePlugin

@main
struct DflatPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target as? any SourceModuleTarget else { return [] }
    let schemas = target.sourceFiles.map(\.url).filter { $0.pathExtension == "fbs" }
      .sorted { $0.path() < $1.path() }
    if schemas.isEmpty { return [] }
    let swift = target.sourceFiles.map(\.url).filter { $0.pathExtension == "swift" }
      .sorted { $0.path() < $1.path() }
    let dflatc = try context.tool(named: "dflatc").url
    let output = context.pluginWorkDirectoryURL
    let configuration = Configuration(of: target.directoryURL)
    let modules = sharedSchemas(of: target)
    // Which schemas a schema includes is known only to the compiler, so each depends on all.
    let inputs = schemas + configuration.inputs + modules.flatMap(\.schemas)
    let arguments =
      configuration.arguments
      + modules.flatMap { ["--module", "\($0.name)=\($0.directory.filePath)"] }

    complain(of: committed(schemas, among: swift), in: target)
    var seen: [String: URL] = [:]
    var commands = schemas.compactMap { schema -> Command? in
      let base = schema.baseName
      if let other = seen.updateValue(schema, forKey: base) {
        Diagnostics.error(
          "\(target.name) has two schemas called \(base).fbs, which would make the same Swift "
            + "files: \(other.filePath) and \(schema.filePath)")
        return nil
      }
      return .buildCommand(
        displayName: "Generating Swift for \(schema.lastPathComponent)",
        executable: dflatc,
        arguments: ["compile", "-o", output.filePath] + arguments
          + schemas.flatMap { ["--beside", $0.filePath] } + [schema.filePath],
        inputFiles: inputs,
        outputFiles: ["", "_data_model", "_mutating", "_query"].map {
          output.appending(path: "\(base)\($0)_generated.swift")
        })
    }
    if configuration.declaresNamespaces {
      commands.append(
        .buildCommand(
          displayName: "Generating the namespaces of \(target.name)",
          executable: dflatc,
          arguments: ["module", "-o", output.filePath] + arguments
            + swift.flatMap { ["--swift", $0.filePath] } + schemas.map(\.filePath),
          inputFiles: inputs + swift,
          outputFiles: [output.appending(path: "dflat_namespaces_generated.swift")]))
    }
    return commands
  }

  // MARK: Other modules

  /// A target that has schemas of its own.
  private struct SharedSchemas {
    let name: String
    let directory: URL
    let schemas: [URL]
  }

  /// The targets with schemas that a target depends on; those that others depend on come first.
  private func sharedSchemas(of target: any Target) -> [SharedSchemas] {
    target.recursiveTargetDependencies.compactMap { $0 as? any SourceModuleTarget }
      .compactMap { dependency in
        // Whatever has types of a schema depends on Dflat.
        guard dependency.recursiveTargetDependencies.contains(where: { $0.name == "Dflat" }) else {
          return nil
        }
        let schemas = schemaFiles(in: dependency.directoryURL)
        if schemas.isEmpty { return nil }
        return SharedSchemas(
          name: dependency.moduleName, directory: dependency.directoryURL, schemas: schemas)
      }
  }

  // MARK: Committed code

  /// Swift files of the target that were generated for its schemas.
  private func committed(_ schemas: [URL], among swift: [URL]) -> [URL] {
    let names = Set(
      schemas.flatMap { schema in
        ["", "_data_model", "_mutating", "_query"].map {
          "\(schema.baseName)\($0)_generated.swift"
        }
      })
    return swift.filter { names.contains($0.lastPathComponent) }
  }

  private func complain(of committed: [URL], in target: any Target) {
    guard let first = committed.first else { return }
    Diagnostics.error(
      "\(target.name) uses DflatPlugin and has generated code of its own, such as "
        + "\(first.filePath): every type would be declared twice. Remove these files, or the "
        + "plugin from the target")
  }
}

/// What the target's `dflat.json` means for the plugin.
private struct Configuration {
  /// The options that name it.
  private(set) var arguments: [String] = []
  /// The files that the output then depends on.
  private(set) var inputs: [URL] = []
  private(set) var declaresNamespaces = true

  private struct Content: Decodable {
    var include: [String]?
    var modules: [String: String]?
    var declareNamespaces: Bool?
  }

  init(of directory: URL) {
    let file = directory.appending(path: "dflat.json")
    guard FileManager.default.fileExists(atPath: file.filePath) else { return }
    arguments = ["--config", file.filePath]
    // A file that cannot be understood is the compiler's to complain about, in the build.
    let content = (try? Data(contentsOf: file)).flatMap {
      try? JSONDecoder().decode(Content.self, from: $0)
    }
    let folders = (content?.include ?? []) + (content?.modules ?? [:]).keys.sorted()
    inputs =
      [file]
      + folders.flatMap { path in
        schemaFiles(
          in: URL(filePath: path, directoryHint: .isDirectory, relativeTo: directory)
            .absoluteURL.standardizedFileURL)
      }
    declaresNamespaces = content?.declareNamespaces ?? true
  }
}

/// The schemas below a directory, in the order of their paths.
private func schemaFiles(in directory: URL) -> [URL] {
  let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
  return (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "fbs" }
    .sorted { $0.path() < $1.path() }
}

extension URL {
  fileprivate var filePath: String { path(percentEncoded: false) }

  /// The file's name without its extension.
  fileprivate var baseName: String { deletingPathExtension().lastPathComponent }
}
