// Swift for GraphQL operations: it compiles without warnings, and decodes and stores what a server
// answers. The server is graphql-core, which answers the very requests that generated code makes.

import Diagnostics
import DflatGenerator
import DflatSchema
import Foundation
import GraphQLSchema
import Testing

@Suite("GraphQL responses")
struct ResponseTests {
  @Test(
    "compile without warnings in all language modes",
    arguments: isLongRun ? Judge.Mode.allCases : [.mainActor])
  func compiles(mode: Judge.Mode) throws {
    try withTemporaryDirectory { directory in
      try StarWars.write(into: directory)
      #expect(try Judge.complaints(about: directory, mode) == "")
    }
  }

  @Test(
    "compile without entities and with other scalars",
    arguments: some(AccessLevel.allCases, each: 3))
  func compilesAlone(access: AccessLevel) throws {
    try withTemporaryDirectory { directory in
      var options = try StarWars.options()
      options.access = access
      options.entities = []
      options.scalars = ["Date": "URL", "Mass": "Foundation.Decimal", "Notes": "GraphQLValue"]
      try StarWars.write(into: directory, options)
      #expect(try Judge.complaints(about: directory, .mainActor) == "")
    }
  }

  @Test("are decoded, stored and merged as a server sends them")
  func runs() throws {
    try withTemporaryDirectory { directory in
      try StarWars.write(into: directory)
      try FileManager.default.copyItem(
        at: Place.programs.appending(path: "starwars.swift"),
        to: directory.appending(path: "main.swift"))
      let program = try Judge.buildProgram(
        in: directory, with: Place.modules("DflatGraphQL", "MemoryDflat"))
      let requests = directory.appending(path: "requests.json")
      let answers = directory.appending(path: "answers.json")
      let asked = try Judge.run([program, "requests"])
      try #require(asked.status == 0, "\(asked.output)")
      try asked.output.write(to: requests, atomically: false, encoding: .utf8)
      let answered = try Judge.run(
        [
          "python3", Place.starWars.appending(path: "server.py").path(),
          Place.starWars.appending(path: "schema.graphqls").path(),
        ], input: requests)
      try #require(answered.status == 0, "\(answered.output)")
      try answered.output.write(to: answers, atomically: false, encoding: .utf8)
      let result = try Judge.run([program, answers.path()])
      #expect(result.status == 0)
      #expect(result.output == "all is well\n")
    }
  }

  @Test("have the text of the golden files")
  func matchesGolden() throws {
    let files = try StarWars.generate().files
    for name in [
      "HeroDetailsQuery", "SearchQuery", "BirthdaysQuery", "GraphQLTypes", "Character_inits",
    ] {
      let file = try #require(files.first { $0.name == "\(name)_generated.swift" })
      let golden = try text(of: Place.golden.appending(path: "starwars/\(file.name)"))
      #expect(file.text == golden, "\(name)")
    }
  }

  @Test("have the text of the benchmarks' files")
  func matchesBenchmarks() throws {
    let bench = Place.sources.deletingLastPathComponent()
      .appending(path: "Benchmarks/Sources/bench")
    let people = bench.appending(path: "GraphQL/people")
    let schema = try #require(
      GraphQLSchema.Schema.load(files: [people.path() + ".graphqls"]).value)
    let operations = try #require(
      Operations.load(files: [people.path() + ".graphql"], schema: schema).value)
    let person = SchemaCompiler().compile(file: bench.appending(path: "Schemas/person.fbs").path())
    var options = GraphQLResponseOptions()
    options.access = .internal
    options.entities = [GraphQLEntity(name: "Person", schema: try #require(person.schema))]
    let result = GraphQLResponseGenerator(
      schema: schema, operations: operations, options: options
    ).generate()
    try StarWars.keep(result.files)
    #expect(result.files.count == 4)
    for file in result.files where !file.name.hasPrefix("GraphQLTypes") {
      #expect(
        try file.text == text(of: bench.appending(path: "Generated/\(file.name)")), "\(file.name)")
    }
  }
}

/// The Star Wars schema, its operations and its entities.
enum StarWars {
  static func options() throws -> GraphQLResponseOptions {
    var options = GraphQLResponseOptions()
    options.scalars = ["Mass": "double"]
    for name in ["Character", "Starship"] {
      let result = SchemaCompiler().compile(
        file: Place.starWars.appending(path: "\(name).fbs").path())
      guard let schema = result.schema else {
        throw Unusable(
          description: result.diagnostics.map { $0.rendered() }.joined(separator: "\n"))
      }
      options.entities.append(GraphQLEntity(name: name, schema: schema))
    }
    return options
  }

  static func generate(
    _ operations: String? = nil, _ options: GraphQLResponseOptions? = nil
  ) throws -> GraphQLResponseGenerator.Result {
    let schema = try #require(
      GraphQLSchema.Schema.load(
        files: [Place.starWars.appending(path: "schema.graphqls").path()]
      ).value)
    let text = try operations ?? text(of: Place.starWars.appending(path: "operations.graphql"))
    let read = Operations.read(
      [GraphQLSource(path: "operations.graphql", text: text)], schema: schema)
    guard let operations = read.value else {
      return GraphQLResponseGenerator.Result(files: [], diagnostics: read.diagnostics)
    }
    let generator = GraphQLResponseGenerator(
      schema: schema, operations: operations,
      options: try options ?? self.options())
    return generator.generate()
  }

  /// Writes all Swift files of the program.
  static func write(into directory: URL, _ options: GraphQLResponseOptions? = nil) throws {
    let result = try generate(nil, options)
    if result.files.isEmpty {
      throw Unusable(description: result.diagnostics.map { $0.rendered() }.joined(separator: "\n"))
    }
    let entities = try (options ?? self.options()).entities
    var generator = GeneratorOptions()
    generator.access = try (options ?? self.options()).access
    let files =
      result.files + entities.flatMap { Generator($0.schema, options: generator).generate() }
    for file in files {
      try file.text.write(
        to: directory.appending(path: file.name), atomically: false, encoding: .utf8)
    }
    try keep(files)
  }

  /// Writes what is generated into the folder that the environment variable `DFLAT_KEEP` names.
  static func keep(_ files: [GeneratedFile]) throws {
    guard let path = ProcessInfo.processInfo.environment["DFLAT_KEEP"] else { return }
    for file in files {
      try file.text.write(
        to: URL(filePath: path).appending(path: file.name), atomically: false, encoding: .utf8)
    }
  }
}
