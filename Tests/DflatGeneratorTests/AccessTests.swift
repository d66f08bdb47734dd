// The access level of generated declarations: what is generated for the package or the module alone
// is the same as what is public, and compiles and works in every language mode.

import DflatSchema
import Foundation
import Testing

@testable import DflatGenerator

@Suite("The access level")
struct AccessTests {
  /// Every schema of the tests.
  static let schemas =
    Place.schemas(in: Place.schemas).map { Place.schemas.appending(path: $0) }
    + Place.schemas(in: Place.corpus).map { Place.corpus.appending(path: $0) }
    + ["blog", "benchdoc"].map { Place.golden.appending(path: "\($0)/\($0).fbs") }

  private func files(_ schema: Schema, _ access: AccessLevel) -> [GeneratedFile] {
    var options = GeneratorOptions()
    options.access = access
    options.declaresNamespaces = true
    return Generator(schema, options: options).generate()
  }

  @Test("is the only difference, and no declaration keeps another one")
  func isTheOnlyDifference() throws {
    for path in Self.schemas {
      let compiler = SchemaCompiler(includePaths: [Place.schemas.path()])
      let schema = try #require(compiler.compile(file: path.path()).schema, "\(path.path())")
      let open = files(schema, .public)
      for access in [AccessLevel.package, .internal] {
        for (file, published) in zip(files(schema, access), open) {
          let (code, words) = (Code(file.text), Code(published.text))
          #expect(code.levels.subtracting([access.rawValue]).isEmpty, "\(file.name)")
          #expect(code.rest == words.rest, "\(file.name) of \(path.lastPathComponent)")
        }
      }
    }
  }

  /// Each schema in each mode, each mode with each level, and each level with each schema.
  private static let cases = pairs(
    ["everything.fbs", "relations.fbs", "everyday.fbs", "names.fbs"], Judge.Mode.allCases,
    [AccessLevel.package, .internal])

  @Test(
    "compiles without warnings in every language mode, beside imports of the program's",
    arguments: cases)
  func compiles(schema: String, mode: Judge.Mode, access: AccessLevel) throws {
    try withTemporaryDirectory { directory in
      try generate(Place.schemas.appending(path: schema), into: directory, access: access)
      // Without a level: these are public in some modes, internal in others.
      try "import Dflat\nimport FlatBuffersRuntime\n".write(
        to: directory.appending(path: "Imports.swift"), atomically: false, encoding: .utf8)
      #expect(try Judge.complaints(about: directory, mode) == "")
    }
  }

  // MARK: GraphQL

  private let heroes = """
    interface Hero { id: ID!  name: String  kind: Kind! }
    enum Kind { GOOD BAD }
    type Human implements Hero { id: ID!  name: String  kind: Kind!  height: Float }
    type Robot implements Hero { id: ID!  name: String  kind: Kind!  task: String }
    type Query { hero(kind: Kind): Hero }
    """
  private let asking = """
    query Ask($kind: Kind) { hero(kind: $kind) { id name kind ... on Robot { task } } }
    """

  @Test(
    "is that of everything for GraphQL",
    arguments: ["", "--files 1", "--client apollo --api-namespace API"])
  func graphQL(options: String) throws {
    func files(_ access: AccessLevel) throws -> [String: String] {
      let run = try GraphQL.run(
        heroes, asking, "--entity Hero --primary-key id --access \(access) " + options)
      #expect(run.status == 0, "\(run.errors)")
      return run.files
    }
    let open = try files(.public)
    #expect(open.values.contains { $0.contains("public init") })
    for access in [AccessLevel.package, .internal] {
      for (name, text) in try files(access) where name.hasSuffix(".swift") {
        let (code, words) = (Code(text), Code(open[name] ?? ""))
        #expect(code.levels.subtracting([access.rawValue]).isEmpty, "\(name)")
        #expect(code.rest == words.rest, "\(name)")
      }
    }
  }

  @Test("of code for GraphQL is the one that dflat.json says, unless the command line says another")
  func graphQLSettings() throws {
    try withTemporaryDirectory { directory in
      let settings = directory.appending(path: "dflat.json")
      try GraphQL.write(#"{"access": "internal"}"#, to: settings)
      for (options, start) in [
        ("", "\nnonisolated"), (" --access package", "\npackage nonisolated"),
      ] {
        let run = try GraphQL.run(
          heroes, asking,
          "--entity Hero --primary-key id --config \(settings.path())" + options)
        #expect(run.status == 0, "\(run.errors)")
        #expect(
          run.files["AskQuery_generated.swift"]?.contains("\(start) struct AskQuery:") == true)
      }
    }
  }

  @Test(
    "lets code for GraphQL compile in one file or several, beside imports of the program's",
    arguments: pairs(Judge.Mode.allCases, AccessLevel.allCases, [false, true]))
  func graphQLCompiles(mode: Judge.Mode, access: AccessLevel, isJoined: Bool) throws {
    try withTemporaryDirectory { directory in
      var options = try StarWars.options()
      options.access = access
      try StarWars.write(into: directory, options)
      if isJoined {
        let parts = try StarWars.generate(nil, options).files
        for file in parts {
          try FileManager.default.removeItem(at: directory.appending(path: file.name))
        }
        for file in GeneratedFile.joined(parts, count: 2) {
          try file.text.write(
            to: directory.appending(path: file.name), atomically: false, encoding: .utf8)
        }
      }
      try "import Dflat\nimport DflatGraphQL\nimport Foundation\n".write(
        to: directory.appending(path: "Imports.swift"), atomically: false, encoding: .utf8)
      #expect(try Judge.complaints(about: directory, mode) == "")
    }
  }

  // MARK: Settings

  /// Runs a command line on a schema, with a `dflat.json`, and returns what it wrote or printed.
  private func run(_ settings: String, _ options: [String]) throws -> (errors: String, text: String)
  {
    try withTemporaryDirectory { directory in
      let folder = directory.path() + "/"
      try "namespace A; table Note { id: string; }".write(
        toFile: folder + "note.fbs", atomically: false, encoding: .utf8)
      try settings.write(toFile: folder + "dflat.json", atomically: false, encoding: .utf8)
      var errors = ""
      let command = CompilerCommand(output: { _ in }, errors: { errors += $0 })
      let status = command.run(
        options + ["-o", folder, "--config", folder + "dflat.json", folder + "note.fbs"])
      #expect((status == 0) == errors.isEmpty)
      let name = options.first == "module" ? "dflat_namespaces" : "note"
      let written = try? text(of: directory.appending(path: "\(name)_generated.swift"))
      return (errors.replacing(folder, with: ""), written ?? "")
    }
  }

  @Test("is public unless the command line or dflat.json says another; the command line counts")
  func settings() throws {
    for (settings, options, declaration) in [
      ("{}", [], "public nonisolated"), (#"{"access": "internal"}"#, [], "  nonisolated"),
      (#"{"access": "package"}"#, [], "package nonisolated"),
      (#"{"access": "internal"}"#, ["--access", "package"], "package nonisolated"),
      (#"{"access": "internal"}"#, ["--access=public"], "public nonisolated"),
    ] {
      let compiled = try run(settings, ["compile"] + options)
      #expect(compiled.errors == "")
      #expect(compiled.text.contains("\(declaration) struct Note"), "\(settings) \(options)")
      let namespaces = try run(settings, ["module"] + options)
      let start = declaration.replacing("  ", with: "\n")
      #expect(namespaces.text.contains("\(start) enum A"), "\(settings) \(options)")
    }
  }

  @Test(
    "is refused where it is none",
    arguments: [
      (
        #"{"access": "privat"}"#,
        "\"access\" cannot be \"privat\"; the choices are public, package, internal"
      ),
      (
        #"{"access": "interal"}"#,
        "\"access\" cannot be \"interal\"; did you mean 'internal'? The choices are public, "
          + "package, internal"
      ),
      (#"{"access": true}"#, "expected {\"include\": [\"directory\", ...], "),
      (#"{"acces": "internal"}"#, "there is no setting \"acces\", only \"access\", "),
    ])
  func refused(settings: String, message: String) throws {
    for command in ["compile", "module"] {
      let result = try run(settings, [command])
      #expect(result.errors.hasPrefix("dflat.json: error: \(message)"), "\(result.errors)")
      #expect(result.text == "")
    }
  }

  // MARK: Other modules

  @Test("of a module decides whether another may use its types; an unused namespace is free")
  func internalModule() throws {
    try withTemporaryDirectory { directory in
      let folder = directory.path() + "/"
      func write(_ text: String, to name: String) throws -> String {
        try GraphQL.write(text, to: directory.appending(path: name))
        return folder + name
      }
      func run(_ command: String, _ input: String) -> (status: Int32, errors: String) {
        var errors = ""
        let compiler = CompilerCommand(output: { _ in }, errors: { errors += $0 })
        let status = compiler.run(
          [command, "-o", folder + "out", "--module", "Shared=\(folder)Shared", input])
        return (status, errors.replacing(folder, with: ""))
      }
      _ = try write("namespace Map; table Place { x: int; }", to: "Shared/place.fbs")
      let visit = try write(
        "include \"place.fbs\"; namespace Map; table Visit { place: Place; all: [Place]; }",
        to: "App/visit.fbs")
      let other = try write("namespace Map; table Other { x: int; }", to: "App/other.fbs")
      let namespaces = directory.appending(path: "out/dflat_namespaces_generated.swift")

      _ = try write(#"{"access": "internal"}"#, to: "Shared/dflat.json")
      let refused = run("compile", visit)
      #expect(refused.status == 1)
      for place in ["1:51", "1:65"] {
        #expect(
          refused.errors.contains(
            "App/visit.fbs:\(place): error: 'Map.Place' is declared in Shared/place.fbs, and what "
              + "is generated for it is internal to the module Shared"), "\(refused.errors)")
      }
      #expect(refused.errors.contains(#"note: say "access": "package" in the dflat.json"#))
      #expect(run("module", other).status == 0)
      #expect(try text(of: namespaces).contains("enum Map {}"))

      for access in ["package", "public"] {
        _ = try write("{\"access\": \"\(access)\"}", to: "Shared/dflat.json")
        #expect(run("compile", visit) == (0, ""))
        #expect(run("module", other).status == 0)
        #expect(try !text(of: namespaces).contains("enum Map"))
      }
    }
  }
}

/// Generated Swift, without comments and spaces, by what stands before its declarations.
private struct Code {
  /// The words for access levels that declarations and imports begin with.
  var levels: Set<String> = []
  /// Everything else, without what depends on where lines are broken.
  var rest = ""

  init(_ text: String) {
    let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }
      .filter { !$0.hasPrefix("//") && !$0.hasPrefix("#") || $0.hasPrefix("#sourceLocation") }
    // Sorted, and each once: the condition of an import has a second one.
    var imports: Set<String> = []
    for line in lines {
      var words = line.split(separator: " ")
      let start = words.firstIndex { !$0.hasPrefix("@") } ?? 0
      if Self.all.contains(words[start]) {
        let level = words.remove(at: start)
        // What only the content of declarations needs.
        if level != "internal" || words[start] != "import" { levels.insert(String(level)) }
      }
      // The name of a schema would stand in backquotes.
      if words.contains("public") { levels.insert("public") }
      if words.first == "import" {
        imports.insert(String(words[1]))
      } else {
        rest += words.joined()
      }
    }
    rest = imports.sorted().joined(separator: " ") + rest.replacing(",]", with: "]")
  }

  private static let all: Set<Substring> = ["public", "package", "internal", "open"]
}
