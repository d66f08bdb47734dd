// DflatPlugin: compiles every .fbs file of a target when the target is built.
//
//     .target(name: "App", dependencies: [...], plugins: [.plugin(name: "DflatPlugin", package: "dflat")])
//
// The four files of each schema go to the plugin's work directory and become sources of the target. Directories that are
// searched for included schemas stand in the target's `dflat.json`, `{"include": ["../Schemas"]}`, relative to the
// target's directory.

import Foundation
import PackagePlugin

@main
struct DflatPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target as? any SourceModuleTarget else { return [] }
    let schemas = target.sourceFiles.map(\.url).filter { $0.pathExtension == "fbs" }
      .sorted { $0.path() < $1.path() }
    let dflatc = try context.tool(named: "dflatc").url
    let output = context.pluginWorkDirectoryURL
    let configuration = configuration(of: target.directoryURL)
    // Which schemas a schema includes is known only to the compiler, so each depends on all.
    let inputs = schemas + configuration.inputs

    var seen: [String: URL] = [:]
    return schemas.compactMap { schema in
      let base = schema.deletingPathExtension().lastPathComponent
      if let other = seen.updateValue(schema, forKey: base) {
        Diagnostics.error(
          "\(target.name) has two schemas called \(base).fbs, which would make the same Swift "
            + "files: \(other.path(percentEncoded: false)) and "
            + schema.path(percentEncoded: false))
        return nil
      }
      return .buildCommand(
        displayName: "Generating Swift for \(schema.lastPathComponent)",
        executable: dflatc,
        arguments: ["compile", "-o", output.path(percentEncoded: false)]
          + configuration.arguments + [schema.path(percentEncoded: false)],
        inputFiles: inputs,
        outputFiles: ["", "_data_model", "_mutating", "_query"].map {
          output.appending(path: "\(base)\($0)_generated.swift")
        })
    }
  }

  private struct Configuration: Decodable {
    var include: [String]?
  }

  /// The options that name the target's `dflat.json`, and the files that the output then depends on.
  private func configuration(of directory: URL) -> (arguments: [String], inputs: [URL]) {
    let file = directory.appending(path: "dflat.json")
    guard FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) else {
      return ([], [])
    }
    let arguments = ["--config", file.path(percentEncoded: false)]
    // A file that cannot be understood is the compiler's to complain about, in the build.
    let content = (try? Data(contentsOf: file)).flatMap {
      try? JSONDecoder().decode(Configuration.self, from: $0)
    }
    let schemas = (content?.include ?? []).flatMap { path in
      let folder = URL(filePath: path, directoryHint: .isDirectory, relativeTo: directory)
      let files = FileManager.default.enumerator(
        at: folder.absoluteURL.standardizedFileURL, includingPropertiesForKeys: nil)
      return (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "fbs" }
        .sorted { $0.path() < $1.path() }
    }
    return (arguments, [file] + schemas)
  }
}
