// SchemaTarget: the commands that compile the schemas of a target, in a package or in an Xcode
// project.

import Foundation
import PackagePlugin

/// A target that uses the plugin.
struct SchemaTarget {
  let name: String
  /// Its schemas, sorted by path.
  let schemas: [URL]
  /// Its operations of GraphQL, sorted by path.
  let operations: [URL]
  /// Its Swift files, sorted by path.
  let swift: [URL]
  let configuration: Configuration
  /// The modules with schemas that the target depends on; dependencies come before their
  /// dependents.
  let modules: [SharedSchemas]

  init(name: String, files: [URL], configuration: Configuration, modules: [SharedSchemas]) {
    self.name = name
    let files = files.sorted { $0.path() < $1.path() }
    // The committed schema of an entity is what the generated one evolves from.
    let generated = configuration.graphQL?.schemaNames ?? []
    schemas = files.filter {
      $0.pathExtension == "fbs" && !generated.contains($0.lastPathComponent)
    }
    let graphQLSchemas = configuration.graphQL?.schemas.map(\.filePath) ?? []
    operations = files.filter {
      ["graphql", "gql"].contains($0.pathExtension) && !graphQLSchemas.contains($0.filePath)
    }
    swift = files.filter { $0.pathExtension == "swift" }
    self.configuration = configuration
    self.modules = modules
  }

  /// One command for each schema, one for the namespaces, and one for the operations of GraphQL,
  /// with one for the schema of each entity; none without schemas and operations.
  func commands(output: URL, dflatc: () throws -> URL) throws -> [Command] {
    let entities = operations.isEmpty ? [] : configuration.graphQL?.schemaNames ?? []
    let schemas = schemas + entities.map { output.appending(path: $0) }
    if schemas.isEmpty, operations.isEmpty { return [] }
    let dflatc = try dflatc()
    // Only the compiler knows which schemas a schema includes, so each command depends on all of
    // them.
    let inputs = schemas + configuration.inputs + modules.flatMap(\.inputs)
    let arguments =
      configuration.arguments
      + modules.flatMap { ["--module", "\($0.name)=\($0.directory.filePath)"] }

    reportCommittedCode(of: schemas)
    let ownFiles = self.ownFiles
    var writers: [String: URL] = [:]
    var commands = schemas.compactMap { schema -> Command? in
      for file in Self.generatedNames(of: schema) {
        if let content = ownFiles[file] {
          Diagnostics.error(
            "\(schema.filePath) would write \(file), and \(name) has \(content) in a file of that "
              + "name: rename the schema")
          return nil
        }
        guard let other = writers.updateValue(schema, forKey: file) else { continue }
        Diagnostics.error(
          "two schemas of \(name) would both write \(file): \(other.filePath) and "
            + schema.filePath)
        return nil
      }
      return .buildCommand(
        displayName: "Generating Swift for \(schema.lastPathComponent)",
        executable: dflatc,
        arguments: ["compile", "-o", output.filePath] + arguments
          + schemas.flatMap { ["--beside", $0.filePath] } + [schema.filePath],
        inputFiles: inputs,
        outputFiles: Self.generatedNames(of: schema).map { output.appending(path: $0) })
    }
    commands += graphQLCommands(output: output, dflatc)
    if configuration.declaresNamespaces, !schemas.isEmpty {
      commands.append(
        .buildCommand(
          displayName: "Generating the namespaces of \(name)",
          executable: dflatc,
          arguments: ["module", "-o", output.filePath] + arguments
            + swift.flatMap { ["--swift", $0.filePath] } + schemas.map(\.filePath),
          inputFiles: inputs + swift,
          outputFiles: [output.appending(path: Self.namespacesFile)]))
    }
    return commands
  }

  /// The file with the namespaces of the target, which `dflatc module` writes.
  private static let namespacesFile = "dflat_namespaces_generated.swift"

  /// The Swift files that belong to no schema, with what is in them.
  private var ownFiles: [String: String] {
    var files: [String: String] = [:]
    for file in operationFiles { files[file] = "the code for its operations of GraphQL" }
    if configuration.declaresNamespaces { files[Self.namespacesFile] = "its namespaces" }
    return files
  }

  /// About how many bytes of operations become one file of Swift, which is some ten times as large.
  private static let operationsPerFile = 16_000

  /// The command that makes the schemas of entities, and Swift for the operations.
  private func graphQLCommands(output: URL, _ dflatc: URL) -> [Command] {
    guard let first = operations.first else { return [] }
    guard let graphQL = configuration.graphQL else {
      Diagnostics.warning(
        "\(first.filePath) has no effect: \(Configuration.fileName) of \(name) has no \"graphql\"")
      return []
    }
    let swift = operationFiles
    return [
      .buildCommand(
        displayName: "Generating Swift for the operations of \(name)",
        executable: dflatc,
        arguments: ["graphql", "-o", output.filePath, "--files", "\(swift.count)", locked]
          + configuration.arguments + operations.map(\.filePath),
        inputFiles: operations + configuration.inputs + graphQL.inputs,
        outputFiles: (graphQL.schemaNames + swift).map { output.appending(path: $0) })
    ]
  }

  /// The Swift files for the operations.
  private var operationFiles: [String] {
    if operations.isEmpty || configuration.graphQL == nil { return [] }
    // Swift's compiler needs much memory for large files. The number has to be known before.
    let size = operations.reduce(0) { $0 + $1.fileSize }
    let count = min(100, 1 + size / Self.operationsPerFile)
    return (1...count).map { $0 == 1 ? "graphql_generated.swift" : "graphql_\($0)_generated.swift" }
  }

  /// Reports a target with operations that lacks the library that their code imports.
  /// - Parameter dependencies: All targets that it depends on.
  func requireGraphQLLibrary(among dependencies: [String]) {
    guard !operations.isEmpty, configuration.graphQL?.usesOwnClient == true,
      !dependencies.contains("DflatGraphQL")
    else { return }
    Diagnostics.error(
      "\(name) has GraphQL operations, and the code for them imports DflatGraphQL: add "
        + ".product(name: \"DflatGraphQL\", package: \"dflat\") to its dependencies")
  }

  /// Refuses a schema that is not the committed one, and names the command that writes it.
  private var locked: String {
    "--locked=swift package --allow-writing-to-package-directory dflat-generate "
      + "--graphql-schemas --target \(name)"
  }

  /// The names of the Swift files for a schema.
  private static func generatedNames(of schema: URL) -> [String] {
    ["", "_data_model", "_mutating", "_query"].map { "\(schema.baseName)\($0)_generated.swift" }
  }

  /// Reports Swift files of the target that were generated for its schemas.
  private func reportCommittedCode(of schemas: [URL]) {
    let names = Set(schemas.flatMap(Self.generatedNames))
    guard let first = swift.first(where: { names.contains($0.lastPathComponent) }) else { return }
    Diagnostics.error(
      "\(name) uses DflatPlugin and has generated code of its own, such as \(first.filePath): "
        + "every type would be declared twice. Remove these files, or the plugin from the target")
  }
}

/// A module with schemas of its own.
struct SharedSchemas {
  let name: String
  let directory: URL
  let schemas: [URL]

  /// Its schemas, and the settings with the access level of their types.
  var inputs: [URL] {
    let settings = directory.appending(path: Configuration.fileName)
    let exists = FileManager.default.fileExists(atPath: settings.filePath)
    return schemas + (exists ? [settings] : [])
  }

  /// The modules among some targets, in the order of the targets.
  static func of(_ targets: [any Target]) -> [SharedSchemas] {
    targets.compactMap { $0 as? any SourceModuleTarget }.compactMap { target in
      // A module with types from a schema always depends on Dflat.
      guard target.recursiveTargetDependencies.contains(where: { $0.name == "Dflat" }) else {
        return nil
      }
      let schemas = schemaFiles(in: target.directoryURL)
      if schemas.isEmpty { return nil }
      return SharedSchemas(
        name: target.moduleName, directory: target.directoryURL, schemas: schemas)
    }
  }
}

/// A target's `dflat.json`, as the plugin uses it.
struct Configuration {
  static let fileName = "dflat.json"

  /// The options that pass it to the compiler.
  private(set) var arguments: [String] = []
  /// The files that the output then depends on.
  private(set) var inputs: [URL] = []
  private(set) var declaresNamespaces = true
  /// What is made for GraphQL.
  private(set) var graphQL: GraphQL?

  /// The part for GraphQL, as far as the plugin has to know it.
  struct GraphQL {
    /// Where the schema is.
    let schemas: [URL]
    /// The names of the entities' schemas.
    let schemaNames: [String]
    /// The files that the output depends on: the schema, and what entities evolve from.
    let inputs: [URL]
    /// Whether operations become code of our own, and not initialisers from Apollo's classes.
    let usesOwnClient: Bool
  }

  private struct Content: Decodable {
    var include: [String]?
    var modules: [String: String]?
    var declareNamespaces: Bool?
    var graphql: GraphQLContent?
  }

  private struct GraphQLContent: Decodable {
    var schema: Paths?
    var entities: [String]?
    var client: String?
  }

  /// One path, or several.
  private struct Paths: Decodable {
    var paths: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      paths = try (try? container.decode([String].self)) ?? [container.decode(String.self)]
    }
  }

  init(in directory: URL) { self.init(file: directory.appending(path: Self.fileName)) }

  init(file: URL) {
    guard FileManager.default.fileExists(atPath: file.filePath) else { return }
    arguments = ["--config", file.filePath]
    // If the file is malformed, the compiler reports that during the build.
    let content = (try? Data(contentsOf: file)).flatMap {
      try? JSONDecoder().decode(Content.self, from: $0)
    }
    let folders = (content?.include ?? []) + (content?.modules ?? [:]).keys.sorted()
    let directory = file.deletingLastPathComponent()
    inputs =
      [file]
      + folders.flatMap { path in
        schemaFiles(
          in: URL(filePath: path, directoryHint: .isDirectory, relativeTo: directory)
            .absoluteURL.standardizedFileURL)
      }
    declaresNamespaces = content?.declareNamespaces ?? true
    graphQL = content?.graphql.map { graphQL in
      let schemas = (graphQL.schema?.paths ?? []).map {
        URL(filePath: $0, relativeTo: directory).absoluteURL.standardizedFileURL
      }
      let names = (graphQL.entities ?? []).map { "\($0)_generated.fbs" }
      let committed = names.map { directory.appending(path: $0) }
        .filter { FileManager.default.fileExists(atPath: $0.filePath) }
      return GraphQL(
        schemas: schemas, schemaNames: names, inputs: schemas + committed,
        usesOwnClient: (graphQL.client ?? "dflat") == "dflat")
    }
  }
}

/// The schemas below a directory, sorted by path.
private func schemaFiles(in directory: URL) -> [URL] {
  let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
  return (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "fbs" }
    .sorted { $0.path() < $1.path() }
}

extension URL {
  fileprivate var filePath: String { path(percentEncoded: false) }

  /// The file's size in bytes; 0 if it cannot be read.
  fileprivate var fileSize: Int {
    (try? resourceValues(forKeys: [.fileSizeKey]))?.fileSize ?? 0
  }

  /// The file's name without its extension.
  fileprivate var baseName: String { deletingPathExtension().lastPathComponent }
}
