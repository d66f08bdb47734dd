// CompilerCommand: the program dflatc, without the process around it.
//
// Invariants: nothing is written for an input with errors; a file whose text has not changed is not
// touched. The exit status is 0 only if everything was generated, 1 for errors in inputs and files,
// and 64 for an invalid command line; `check` adds 2 for incompatible schemas.

import DflatSchema
import Foundation
import Platform

/// The compiler's command line.
public struct CompilerCommand {
  /// The version that `--version` prints.
  public static let version = LibraryVersion.current

  private let output: (String) -> Void
  private let errors: (String) -> Void

  /// - Parameters:
  ///   - output: Receives the text for standard output, with its line ends.
  ///   - errors: Receives the text for standard error, with its line ends.
  public init(output: @escaping (String) -> Void, errors: @escaping (String) -> Void) {
    self.output = output
    self.errors = errors
  }

  /// Runs one command line.
  ///
  /// - Parameter arguments: The arguments without the program's name.
  /// - Returns: The exit status.
  public func run(_ arguments: [String]) -> Int32 {
    let request: Request
    do {
      request = try Request(arguments)
    } catch {
      errors("dflatc: error: \(error.message)\n\n\(Help.usage)\nSee 'dflatc --help'.\n")
      return 64
    }
    switch request {
    case .help(let command):
      output(Help.text(for: command))
      return 0
    case .version:
      output("dflatc \(Self.version)\n")
      return 0
    case .compile(let request): return compile(request)
    case .module(let request): return module(request)
    case .check(let request): return check(request)
    case .graphQL(let request): return graphQL(request)
    }
  }

  private func check(_ request: CheckRequest) -> Int32 {
    guard let configuration = configuration(at: request.configuration) else { return 1 }
    let map = ModuleMap(modules: configuration.modules)
    return SchemaCheck(
      request: request, include: configuration.include + map.includePaths, output: output,
      errors: errors
    ).run()
  }

  private func graphQL(_ request: GraphQLRequest) -> Int32 {
    guard let configuration = configuration(at: request.configuration) else { return 1 }
    var request = request
    configuration.graphQL?.complete(&request, folder: configuration.folder)
    request.access = request.access ?? configuration.access
    do { try request.check() } catch {
      errors("dflatc: error: \(error.message)\n")
      return 64
    }
    let command = GraphQLCommand(request: request, errors: errors)
    guard var files = command.run() else { return 1 }
    if request.isSchemasOnly { files.removeAll { $0.isSwift } }
    if let count = request.fileCount {
      files = files.filter { !$0.isSwift } + GeneratedFile.joined(files, count: count)
    }
    if request.commitment == .checked {
      let isWhole = files.filter(\.isSwift).allSatisfy { isWritten($0, in: request.output) }
      return isWhole ? 0 : 1
    }
    return write(files, to: request.output) ? 0 : 1
  }

  /// Whether a folder has a file with this text; an empty path has all. Reports another one.
  private func isWritten(_ file: GeneratedFile, in folder: String) -> Bool {
    if folder.isEmpty { return true }
    let path = "\(folder)/\(file.name)"
    if FileManager.default.contents(atPath: path) == Data(file.text.utf8) { return true }
    let what = FileManager.default.fileExists(atPath: path) ? "is not up to date" : "is missing"
    errors("\(path): error: this file \(what): run the command again without --check\n")
    return false
  }

  /// Reads the configuration file; nil after an error in it.
  private func configuration(at path: String?) -> Configuration? {
    guard let path else { return Configuration() }
    do {
      return try Configuration(path: path)
    } catch {
      errors(error.message + "\n")
      return nil
    }
  }

  private func compile(_ request: CompileRequest) -> Int32 {
    guard let configuration = configuration(at: request.configuration) else { return 1 }
    let map = ModuleMap(
      modules: request.modules + configuration.modules,
      own: request.beside.map { $0 + request.inputs })
    let module = ModuleCheck(files: request.inputs, map: map)
    if report(module.repetitions()) { return 1 }
    var failed = false
    var options = GeneratorOptions()
    options.access = request.access ?? configuration.access ?? .public
    options.keepsJSON = request.keepsJSON
    options.declaresNamespaces = request.declaresNamespaces
    // Schemas that other calls compile belong to the module, too.
    let beside = ModuleCheck(files: request.beside ?? [], map: ModuleMap())
    options.otherTypes = module.names.union(beside.names)
      .union(declarations(in: request.swift))
    var compiler = SchemaCompiler(
      includePaths: request.include + configuration.include + map.includePaths)
    compiler.neighbours = (request.beside ?? []) + request.inputs + map.schemas().map(\.path)
    let referrers = ReferrerMap(
      files: request.inputs + (request.beside ?? []), compiler: compiler)
    options.referrers = referrers.referrers
    let inputs = ModuleMap(own: request.inputs)
    let earlier =
      request.beside == nil
      ? EarlierCalls(directory: request.output, inputs: request.inputs) : nil
    for input in request.inputs {
      let result = compiler.compile(file: input)
      let strays = module.strays(in: result) + referrers.strays(in: result)
      _ = report(result.diagnostics + strays)
      guard let schema = result.schema, strays.isEmpty else {
        failed = true
        continue
      }
      options.imported = ImportedNames(schema, map, namespaces: module.importedNamespaces)
      // An included schema that another call compiles has its namespaces declared there.
      for file in schema.files where inputs.place(of: file.path) != .own {
        options.declaredNamespaces.formUnion(file.namespaces)
      }
      let generator = Generator(schema, options: options)
      if let earlier { _ = report(earlier.collisions(of: generator, in: result)) }
      failed = !write(generator.generate(), to: request.output) || failed
      options.declaredNamespaces.formUnion(generator.file.namespaces)
    }
    return failed ? 1 : 0
  }

  private func module(_ request: ModuleRequest) -> Int32 {
    guard let configuration = configuration(at: request.configuration) else { return 1 }
    let map = ModuleMap(modules: request.modules + configuration.modules, own: request.inputs)
    let module = ModuleCheck(files: request.inputs, map: map)
    if report(module.repetitions()) { return 1 }
    let file = NamespaceSource.file(
      module.namespaces(besides: declarations(in: request.swift)),
      request.access ?? configuration.access ?? .public)
    return write([file], to: request.output) ? 0 : 1
  }

  /// The types that Swift files declare.
  private func declarations(in swift: [String]) -> Set<[String]> {
    var declared: Set<[String]> = []
    for path in swift {
      // A missing file declares nothing; the compiler reports it.
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { continue }
      declared.formUnion(SwiftDeclarations(in: text).types)
    }
    return declared
  }

  /// Prints diagnostics.
  /// - Returns: Whether any of them is an error.
  private func report(_ diagnostics: [Diagnostic]) -> Bool {
    for diagnostic in diagnostics { errors(diagnostic.rendered() + "\n") }
    return diagnostics.contains { $0.severity == .error }
  }

  /// Writes files into a directory; false after an error.
  private func write(_ files: [GeneratedFile], to path: String) -> Bool {
    do {
      let directory = try OutputDirectory(path)
      for file in files { try directory.write(file) }
      return true
    } catch {
      errors("dflatc: error: \(error.message)\n")
      return false
    }
  }
}
