// The plugin for targets of Xcode projects, which Xcode describes differently from how SwiftPM
// describes package targets.
//
// The target's `dflat.json` is the one among its files, or otherwise the one in the folder with the
// target's name.

#if canImport(XcodeProjectPlugin)
  import Foundation
  import PackagePlugin
  import XcodeProjectPlugin

  extension DflatPlugin: XcodeBuildToolPlugin {
    func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command] {
      let files = target.inputFiles.map(\.url)
      let folder = context.xcodeProject.directoryURL.appending(path: target.displayName)
      let configuration =
        files.first { $0.lastPathComponent == Configuration.fileName }
        ?? folder.appending(path: Configuration.fileName)
      let schemaTarget = SchemaTarget(
        name: target.displayName, files: files, configuration: Configuration(file: configuration),
        modules: target.dependencies.flatMap(Self.sharedSchemas))
      return try schemaTarget.commands(output: context.pluginWorkDirectoryURL) {
        try context.tool(named: "dflatc").url
      }
    }

    /// The modules with schemas that a dependency adds.
    private static func sharedSchemas(of dependency: XcodeTargetDependency) -> [SharedSchemas] {
      switch dependency {
      case .product(let product):
        return SharedSchemas.of(product.targets.flatMap { $0.recursiveTargetDependencies + [$0] })
      case .target(let target):
        let schemas = target.inputFiles.map(\.url).filter { $0.pathExtension == "fbs" }
        return Dictionary(grouping: schemas) { $0.deletingLastPathComponent() }
          .sorted { $0.key.path() < $1.key.path() }
          .map { SharedSchemas(name: target.displayName, directory: $0.key, schemas: $0.value) }
      @unknown default: return []
      }
    }
  }
#endif
