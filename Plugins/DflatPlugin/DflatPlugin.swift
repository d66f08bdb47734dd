// DflatPlugin: compiles every .fbs file of a target when the target is built.
//
//     .target(
//       name: "App", dependencies: [...],
//       plugins: [.plugin(name: "DflatPlugin", package: "dflat")])
//
// The four files of each schema are written to the plugin's work directory and become sources of
// the target, together with a file that declares the schemas' namespaces, except those that a Swift
// file of the target declares. Schemas of targets that this one depends on, in this or other
// packages, can be included: their types are those of that target's module.
//
// A `dflat.json` in the target's directory names more directories, relative to it, and the access
// level of what is generated, which is public otherwise:
//
//     {
//       "include": ["../Includes"], "modules": {"../Schemas": "SharedModel"},
//       "declareNamespaces": false, "access": "internal"
//     }
//
// DflatPlugin+Xcode.swift handles targets of Xcode projects; SchemaTarget.swift has the common
// part.

import Foundation
import PackagePlugin

@main
struct DflatPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target as? any SourceModuleTarget else { return [] }
    let schemaTarget = SchemaTarget(
      name: target.name, files: target.sourceFiles.map(\.url),
      configuration: Configuration(in: target.directoryURL),
      modules: SharedSchemas.of(target.recursiveTargetDependencies))
    schemaTarget.requireGraphQLLibrary(among: target.recursiveTargetDependencies.map(\.name))
    return try schemaTarget.commands(output: context.pluginWorkDirectoryURL) {
      try context.tool(named: "dflatc").url
    }
  }
}
