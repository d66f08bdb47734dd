// Shared by the tests of generated code: folders, and the compiler.

import DflatGenerator
import DflatSchema
import Foundation

/// Whether long runs were requested: `DFLAT_LONG=1 swift test`.
let isLongRun = ProcessInfo.processInfo.environment["DFLAT_LONG"] == "1"

/// The folders beside this file.
enum Place {
  static let tests = URL(filePath: #filePath).deletingLastPathComponent()
  static let sources = tests.deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Sources")
  /// Expected output. It is only changed by hand.
  static let golden = tests.appending(path: "Golden")
  /// Schemas with difficult names and types.
  static let schemas = tests.appending(path: "Schemas")
  /// Programs that use the code generated for the schema of the same name.
  static let programs = tests.appending(path: "Programs")
  /// A GraphQL schema with operations, entities and a server.
  static let starWars = tests.appending(path: "StarWars")
  static let corpus = tests.deletingLastPathComponent()
    .appending(path: "DflatSchemaTests/Corpus/valid")

  /// The folders of modules of this package.
  static func modules(_ names: String...) -> [String: URL] {
    Dictionary(uniqueKeysWithValues: names.map { ($0, sources.appending(path: $0)) })
  }

  /// The `.fbs` files of a folder, by name.
  static func schemas(in folder: URL) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
    return names.filter { $0.hasSuffix(".fbs") }.sorted()
  }
}

/// Combinations of three lists in which each two elements of different lists stand together: the
/// third list may not be longer than the others. With `DFLAT_LONG=1` all combinations.
func pairs<A, B, C>(_ first: [A], _ second: [B], _ third: [C]) -> [(A, B, C)] {
  first.indices.flatMap { i in
    second.indices.flatMap { j in
      third.indices.filter { isLongRun || $0 == (i + j) % third.count }.map {
        (first[i], second[j], third[$0])
      }
    }
  }
}

/// Each `step`th of some cases that each cost a call of the compiler; with `DFLAT_LONG=1` all.
func some<Case>(_ cases: [Case], each step: Int) -> [Case] {
  isLongRun ? cases : stride(from: 0, to: cases.count, by: step).map { cases[$0] }
}

func text(of url: URL) throws -> String { try String(contentsOf: url, encoding: .utf8) }

/// A directory that is removed after the test.
func withTemporaryDirectory<R>(_ body: (URL) throws -> R) throws -> R {
  let url = FileManager.default.temporaryDirectory
    .appending(path: "dflat-generator-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: url) }
  return try body(url)
}

struct Unusable: Error, CustomStringConvertible {
  let description: String
}

/// Writes the code generated for a schema and for everything it includes, with the namespaces,
/// which stand in a file of their own.
func generate(
  _ path: URL, into directory: URL, access: AccessLevel = .public,
  namespacesIn namespacesFile: String = "Namespaces.swift"
) throws {
  let result = SchemaCompiler(includePaths: [Place.schemas.path()]).compile(file: path.path())
  guard let schema = result.schema else {
    throw Unusable(description: result.diagnostics.map { $0.rendered() }.joined(separator: "\n"))
  }
  var options = GeneratorOptions()
  options.access = access
  for file in schema.files {
    // Treats this file as the compiled one.
    let others = schema.files.filter { $0.path != file.path }
    let whole = Schema(files: [file] + others, types: schema.types)
    for file in Generator(whole, options: options).generate() {
      try file.text.write(
        to: directory.appending(path: file.name), atomically: false, encoding: .utf8)
    }
  }
  // The program's own types, which a schema may name.
  let own = path.deletingPathExtension().appendingPathExtension("swift")
  if FileManager.default.fileExists(atPath: own.path()) {
    try FileManager.default.copyItem(at: own, to: directory.appending(path: "Own.swift"))
  }
  var namespaces: Set<[String]> = []
  for name in schema.types.keys {
    let path = namespacePath(name.namespace)
    for depth in path.indices { namespaces.insert(Array(path[...depth])) }
  }
  let types = Set(
    schema.types.keys.flatMap { name in
      [camel(name.name), name.name].map { namespacePath(name.namespace) + [$0] }
    })
  // A type may serve as the namespace of others.
  let declarations = namespaces.subtracting(types)
    .sorted { ($0.count, $0.joined(separator: ".")) < ($1.count, $1.joined(separator: ".")) }
    .map { namespace in
      let enumeration = "\(access) enum `\(namespace.last ?? "")` {}"
      let outer = namespace.dropLast().map { "`\($0)`" }.joined(separator: ".")
      return outer.isEmpty ? enumeration : "extension \(outer) { \(enumeration) }"
    }
  try declarations.joined(separator: "\n").write(
    to: directory.appending(path: namespacesFile), atomically: false, encoding: .utf8)
}

/// The Swift compiler, with the libraries of this build.
enum Judge {
  enum Mode: String, CaseIterable, Sendable {
    case swift5 = "5"
    case swift6 = "6"
    /// Swift 6 in a module isolated to the main actor, with all upcoming features.
    case mainActor
  }

  /// The directory of the build that the tests run from.
  static let build: URL = {
    let marker = "Modules/Dflat.swiftmodule"
    let executable = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    var candidates = [executable.deletingLastPathComponent()]
    candidates.append(
      Place.tests.deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: ".build/debug"))
    return candidates.first {
      FileManager.default.fileExists(atPath: $0.appending(path: marker).path())
    } ?? candidates[0]
  }()

  private static func arguments(_ mode: Mode) -> [String] {
    var arguments = [
      "-swift-version", mode == .swift5 ? "5" : "6", "-I", build.appending(path: "Modules").path(),
      "-module-name", "Generated", "-package-name", "generated",
    ]
    // The C modules on which the Swift modules are built.
    for module in ["CSQLite", "CSQLiteThreads/include"] {
      arguments += ["-I", Place.sources.appending(path: module).path()]
    }
    var features: [String] = []
    if mode != .swift5 {
      features += ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"]
    }
    if mode == .mainActor {
      arguments += ["-default-isolation", "MainActor"]
      features += [
        "ImmutableWeakCaptures", "InferIsolatedConformances", "NonisolatedNonsendingByDefault",
      ]
    }
    for feature in features { arguments += ["-enable-upcoming-feature", feature] }
    return arguments
  }

  private static func sources(in directory: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path())
      .filter { $0.hasSuffix(".swift") }.sorted().map { directory.appending(path: $0).path() }
  }

  /// The compiler's output for the Swift files of a directory; empty if there is none.
  ///
  /// - Parameter frontend: More options, of the kind that the driver accepts after `-Xfrontend`
  ///   only.
  static func complaints(
    about directory: URL, _ mode: Mode, frontend: [String] = []
  ) throws -> String {
    #if os(macOS)
      let compiler = ["swiftc"] + frontend.flatMap { ["-Xfrontend", $0] }
    #else
      // Calling the frontend directly takes half the time; on macOS only the driver knows the SDK's
      // path.
      let compiler = ["swiftc", "-frontend"] + frontend
    #endif
    let (status, output) = try run(
      compiler + arguments(mode) + ["-typecheck", "-parse-as-library"] + sources(in: directory))
    return status == 0 ? output : "exit status \(status)\n\(output)"
  }

  /// Compiles and runs the Swift files of a directory, and returns the program's output.
  ///
  /// - Parameter others: Further modules that the program uses, with the folders of their sources.
  static func runProgram(
    in directory: URL, with others: [String: URL] = [:]
  ) throws -> (status: Int32, output: String) {
    try run([buildProgram(in: directory, with: others)])
  }

  /// Compiles the Swift files of a directory, and returns the path of the program.
  ///
  /// - Parameter others: Further modules that the program uses, with the folders of their sources.
  static func buildProgram(in directory: URL, with others: [String: URL] = [:]) throws -> String {
    var folders = others
    for module in ["Dflat", "FlatBuffersRuntime", "Platform", "StandardConformances"] {
      folders[module] = Place.sources.appending(path: module)
    }
    let objects = folders.sorted { $0.key < $1.key }.flatMap { module, folder in
      // By source file, because the build keeps the objects of removed sources.
      let files = FileManager.default.enumerator(atPath: folder.path())
      // Code that needs Combine or SwiftUI is a module of its own on Linux.
      return (files?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".swift") }
        .filter { !$0.hasPrefix("Publishers/") && !$0.hasPrefix("Views/") }
        .map { URL(filePath: $0).lastPathComponent }
        .map { build.appending(path: "\(module).build/\($0).o").path() }
    }
    let program = directory.appending(path: "program").path()
    let (status, output) = try run(
      ["swiftc", "-wmo"] + arguments(.swift6) + ["-o", program] + Self.sources(in: directory)
        + objects)
    guard status == 0 else { throw Unusable(description: output) }
    return program
  }

  /// Runs a command, and returns its exit status and its whole output.
  /// - Parameter input: A file for standard input.
  static func run(
    _ arguments: [String], input: URL? = nil
  ) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    // What `Scripts/bootstrap.sh test` installs.
    let modules = Place.sources.deletingLastPathComponent().appending(path: ".build/python").path()
    process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONPATH": modules]) {
      "\($1):\($0)"
    }
    if let input { process.standardInput = try FileHandle(forReadingFrom: input) }
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }
}
