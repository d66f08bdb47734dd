// DflatCommand: generates Swift next to a package's schemas, for projects that commit generated
// code.
//
//     swift package dflat-generate [--target NAME]... [--output DIR] [--keep-json]
//       [--declare-namespaces] [--access LEVEL] [--graphql-schemas]
//
// For operations of GraphQL it first writes the schemas of entities, and Swift, beside the target's
// `dflat.json`. With `--graphql-schemas` it writes these schemas and nothing else: targets that use
// DflatPlugin commit them, and the plugin goes on from there.
//
// With `--declare-namespaces` the namespaces of schemas in several folders are declared in a file
// of their own, `dflat_namespaces_generated.swift`, in the folder of the target.
//
// Without `--target` it processes all targets that have .fbs files; without `--output` the files
// are written next to their schemas. A target uses either this command or DflatPlugin: with both,
// every type would be declared twice. A target that commits generated code excludes its schemas and
// `dflat.json` in the manifest, or SwiftPM warns about unhandled files.

import Foundation
import PackagePlugin

@main
struct DflatCommand: CommandPlugin {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  func performCommand(context: PluginContext, arguments: [String]) async throws {
    var extractor = ArgumentExtractor(arguments)
    let names = extractor.extractOption(named: "target")
    let outputs = extractor.extractOption(named: "output")
    var options: [String] = []
    if extractor.extractFlag(named: "keep-json") > 0 { options.append("--keep-json") }
    // The compiler checks it.
    let access = extractor.extractOption(named: "access").flatMap { ["--access", $0] }
    let declaresNamespaces = extractor.extractFlag(named: "declare-namespaces") > 0
    let wantsGraphQLSchemas = extractor.extractFlag(named: "graphql-schemas") > 0
    let wantsHelp = extractor.extractFlag(named: "help") > 0
    if wantsHelp {
      print(
        "usage: swift package dflat-generate [--target NAME]... [--output DIR] [--keep-json] "
          + "[--declare-namespaces] [--access LEVEL] [--graphql-schemas]")
      return
    }
    if let unknown = extractor.remainingArguments.first {
      throw Failure(description: "there is no option '\(unknown)'; see --help")
    }
    guard outputs.count <= 1 else { throw Failure(description: "--output is given twice") }
    let output = outputs.first.map {
      URL(filePath: $0, directoryHint: .isDirectory, relativeTo: context.package.directoryURL)
        .absoluteURL
    }

    let all = context.package.targets.compactMap { $0 as? any SourceModuleTarget }
    for name in names where !all.contains(where: { $0.name == name }) {
      throw Failure(description: "the package has no target '\(name)'")
    }
    let dflatc = try context.tool(named: "dflatc").url
    for target in all where names.isEmpty || names.contains(target.name) {
      try generateForGraphQL(target, isSchemasOnly: wantsGraphQLSchemas, access, dflatc)
      if wantsGraphQLSchemas { continue }
      let folders = Dictionary(grouping: schemas(in: target.directoryURL)) {
        output ?? $0.deletingLastPathComponent()
      }
      // One call declares the namespaces of its schemas. For several calls a further one does so.
      let declaresApart = declaresNamespaces && folders.count > 1
      if declaresApart { try declareNamespaces(of: target, access, dflatc) }
      let options =
        options + access + (declaresNamespaces && !declaresApart ? ["--declare-namespaces"] : [])
      for (folder, schemas) in folders.sorted(by: { $0.key.path() < $1.key.path() }) {
        let files = schemas.map { $0.path(percentEncoded: false) }.sorted()
        let path = folder.path(percentEncoded: false)
        let status = try run(
          dflatc,
          ["compile", "-o", path] + options + configuration(of: target.directoryURL)
            + modules(of: target) + swiftFiles(of: target) + files)
        if status != 0 {
          throw Failure(description: "the schemas of \(target.name) have errors, see above")
        }
        print("\(target.name): \(files.map(\.lastComponent).joined(separator: ", ")) -> \(path)")
      }
    }
  }

  /// Writes the declarations of the namespaces of all schemas of a target.
  private func declareNamespaces(
    of target: any SourceModuleTarget, _ access: [String], _ dflatc: URL
  ) throws {
    let schemas = schemas(in: target.directoryURL).map { $0.path(percentEncoded: false) }.sorted()
    let status = try run(
      dflatc,
      ["module", "-o", target.directoryURL.path(percentEncoded: false)] + access
        + configuration(of: target.directoryURL) + modules(of: target) + swiftFiles(of: target)
        + schemas)
    if status != 0 {
      throw Failure(description: "the schemas of \(target.name) have errors, see above")
    }
  }

  /// Writes what is made for a target's operations of GraphQL, if it has any.
  private func generateForGraphQL(
    _ target: any SourceModuleTarget, isSchemasOnly: Bool, _ access: [String], _ dflatc: URL
  ) throws {
    let directory = target.directoryURL
    let file = directory.appending(path: "dflat.json")
    guard let data = try? Data(contentsOf: file),
      let content = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
      let settings = content["graphql"] as? [String: Any]
    else { return }
    let schemas = settings["schema"] as? [String] ?? [settings["schema"] as? String ?? ""]
    let operations = files(in: directory, "graphql", "gql").map { $0.path(percentEncoded: false) }
      .filter { path in !schemas.contains { path.hasSuffix("/\($0)") } }.sorted()
    if operations.isEmpty { return }
    let path = directory.path(percentEncoded: false)
    let status = try run(
      dflatc,
      ["graphql", "-o", path, "--config", file.path(percentEncoded: false)]
        + (isSchemasOnly ? ["--schemas-only"] : []) + access + operations)
    if status != 0 {
      throw Failure(description: "the operations of \(target.name) have errors, see above")
    }
    print("\(target.name): \(operations.map(\.lastComponent).joined(separator: ", ")) -> \(path)")
  }

  /// Every schema below a directory.
  private func schemas(in directory: URL) -> [URL] { files(in: directory, "fbs") }

  /// The files below a directory. A target that excludes its schemas, as it should, does not list
  /// them among its files.
  private func files(in directory: URL, _ pathExtensions: String...) -> [URL] {
    let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
    return (files?.compactMap { $0 as? URL } ?? []).filter {
      pathExtensions.contains($0.pathExtension)
    }
  }

  /// The Swift files of a target, so that generated code avoids the names of their types.
  private func swiftFiles(of target: any SourceModuleTarget) -> [String] {
    target.sourceFiles.map(\.url)
      .filter {
        $0.pathExtension == "swift" && !$0.lastPathComponent.hasSuffix("_generated.swift")
      }
      .map { $0.path(percentEncoded: false) }.sorted().flatMap { ["--swift", $0] }
  }

  /// The modules of the targets with schemas that a target depends on.
  private func modules(of target: any Target) -> [String] {
    target.recursiveTargetDependencies.compactMap { $0 as? any SourceModuleTarget }
      .filter { dependency in
        dependency.recursiveTargetDependencies.contains { $0.name == "Dflat" }
          && !schemas(in: dependency.directoryURL).isEmpty
      }
      .flatMap {
        ["--module", "\($0.moduleName)=\($0.directoryURL.path(percentEncoded: false))"]
      }
  }

  private func configuration(of directory: URL) -> [String] {
    let file = directory.appending(path: "dflat.json").path(percentEncoded: false)
    return FileManager.default.fileExists(atPath: file) ? ["--config", file] : []
  }

  private func run(_ tool: URL, _ arguments: [String]) throws -> Int32 {
    let process = Process()
    process.executableURL = tool
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}

extension String {
  /// The part behind the last slash.
  fileprivate var lastComponent: Substring { split(separator: "/").last ?? self[...] }
}
