// The plugins in a separate package, which depends on this one like a user's package.

import Foundation
import Testing

@Suite("The plugins")
struct PluginTests {
  private func package(_ targets: String, in directory: URL) throws {
    let root = Place.tests.deletingLastPathComponent().deletingLastPathComponent()
    let manifest = """
      // swift-tools-version: 6.2
      import PackageDescription

      let package = Package(
        name: "App", platforms: [.macOS(.v15)],
        dependencies: [
          .package(name: "dflat", path: "\(root.path())"), .package(path: "Base"),
        ],
        targets: [\(targets)])
      """
    try write(manifest, to: "Package.swift", in: directory)
  }

  private func write(_ text: String, to path: String, in directory: URL) throws {
    let url = directory.appending(path: path)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: url, atomically: false, encoding: .utf8)
  }

  private func swift(_ arguments: String..., in directory: URL) throws -> (Int32, String) {
    guard let command = arguments.first else { return (64, "") }
    return try Judge.run(
      ["swift", command, "--package-path", directory.path()] + Self.scratch + arguments.dropFirst())
  }

  /// In the ordinary build, the package is built into the folder that these tests were built into,
  /// where the library and the schema compiler are up to date: building them again would take
  /// longer than everything else. SwiftPM's lock of the folder is held by `swift test`, which does
  /// nothing there while tests run.
  private static let scratch: [String] = {
    let folder = Judge.build.deletingLastPathComponent().deletingLastPathComponent()
    let names = [folder, Judge.build].map(\.lastPathComponent)
    return names == [".build", "debug"] ? ["--scratch-path", folder.path(), "--ignore-lock"] : []
  }()

  @Test("compile schemas in a build, notice changes, and write beside the schemas")
  func package() throws {
    try withTemporaryDirectory { directory in
      let dflat = ".product(name: \"Dflat\", package: \"dflat\")"
      try package(
        """
        .executableTarget(name: "App", dependencies: [\(dflat)],
          plugins: [.plugin(name: "DflatPlugin", package: "dflat")]),
        .target(name: "Committed", dependencies: [\(dflat)], exclude: ["benchdoc.fbs"]),
        .target(name: "Folders", dependencies: [\(dflat)], exclude: ["One/one.fbs", "Two/two.fbs"]),
        \(sharingTargets) \(answersTarget)
        """, in: directory)
      try writeSharing(in: directory)
      try writeAnswers(in: directory)
      for (name, folder) in [("blog", "App"), ("benchdoc", "Committed")] {
        try write(
          try text(of: Place.golden.appending(path: "\(name)/\(name).fbs")),
          to: "Sources/\(folder)/\(name).fbs", in: directory)
      }
      try write("table Part { x: int; }", to: "Shared/part.fbs", in: directory)
      try write(#"{"include": ["../../Shared"]}"#, to: "Sources/App/dflat.json", in: directory)
      try write("enum Own: byte { A }", to: "Sources/App/part_user.fbs", in: directory)
      try write(
        "import Dflat\npublic enum Blog {}\nprint(Blog.Post(site: \"a\", number: 3).number)\n",
        to: "Sources/App/main.swift", in: directory)
      try write("", to: "Sources/Committed/nothing.swift", in: directory)
      try write("", to: "Sources/Folders/nothing.swift", in: directory)
      for name in ["One", "Two"] {
        try write(
          "namespace Both; table \(name) { x: int; } namespace Both.Only\(name); enum E: byte { a }",
          to: "Sources/Folders/\(name)/\(name.lowercased()).fbs", in: directory)
      }

      var (status, output) = try swift("build", in: directory)
      #expect(status == 0, "\(output)")
      #expect(!output.contains("warning:"), "\(output)")

      // Run with the build's result: types of three modules and two packages.
      (status, output) = try swift("run", "--skip-build", "Visits", in: directory)
      #expect(status == 0 && output.hasSuffix("red 3 left\n"), "\(output)")
      (status, output) = try swift("run", "--skip-build", "Answers", in: directory)
      #expect(status == 0 && output.hasSuffix("one ant, stored as 7\n"), "\(output)")

      try write(
        "include \"part.fbs\"; enum Own: byte { A }", to: "Sources/App/part_user.fbs",
        in: directory)
      (status, output) = try swift("build", in: directory)
      #expect(status == 0, "\(output)")
      try write(
        "include \"part.fbs\"; table User { part: Part; }", to: "Sources/App/part_user.fbs",
        in: directory)
      (status, output) = try swift("build", "--target", "App", in: directory)
      #expect(status != 0)
      #expect(
        output.contains("part_user.fbs:1:34: error: 'Part' is declared in "), "\(output)")
      try write(
        #"{"include": ["../../Shared"], "modules": {"../../Shared": "Parts"}}"#,
        to: "Sources/App/dflat.json", in: directory)
      (_, output) = try swift("build", "--target", "App", in: directory)
      #expect(output.contains("no such module 'Parts'"), "\(output)")

      try write("enum Own: byte { B }", to: "Sources/App/own.fbs", in: directory)
      try write(#"{"include": ["../../Shared"]}"#, to: "Sources/App/dflat.json", in: directory)
      try write(
        "include \"part.fbs\"; enum Own: byte { A }", to: "Sources/App/part_user.fbs",
        in: directory)
      (_, output) = try swift("build", "--target", "App", in: directory)
      #expect(output.contains("error: 'Own' is declared in "), "\(output)")
      try FileManager.default.removeItem(at: directory.appending(path: "Sources/App/own.fbs"))

      // Schemas that would write a file of the plugin's own.
      for (target, schema) in [("App", "dflat_namespaces"), ("Answers", "graphql")] {
        let path = "Sources/\(target)/\(schema).fbs"
        try write("enum Spare: byte { A }", to: path, in: directory)
        (status, output) = try swift("build", "--target", target, in: directory)
        #expect(status != 0)
        #expect(
          output.contains("\(path) would write \(schema)_generated.swift, and \(target) has "),
          "\(output)")
        try FileManager.default.removeItem(at: directory.appending(path: path))
      }

      try write("table Part { x: inte; }", to: "Shared/part.fbs", in: directory)
      (status, output) = try swift("build", in: directory)
      #expect(status != 0)
      #expect(output.contains("part.fbs:1:17: error: "), "\(output)")

      try write(#"{"include": ["nowhere"]}"#, to: "Sources/App/dflat.json", in: directory)
      (status, output) = try swift("build", in: directory)
      #expect(output.contains("dflat.json: error: the include directory \"nowhere\""), "\(output)")
      try write(#"{"access": "privat"}"#, to: "Sources/App/dflat.json", in: directory)
      (status, output) = try swift("build", "--target", "App", in: directory)
      #expect(status != 0)
      #expect(output.contains("dflat.json: error: \"access\" cannot be \"privat\""), "\(output)")
      try write(#"{"access": "internal"}"#, to: "Sources/Places/dflat.json", in: directory)
      (status, output) = try swift("build", "--target", "Visits", in: directory)
      #expect(status != 0)
      #expect(
        output.contains("place.fbs, and what is generated for it is internal to the module Places"),
        "\(output)")

      (status, output) = try swift(
        "package", "--allow-writing-to-package-directory", "dflat-generate", "--target",
        "Committed", in: directory)
      #expect(status == 0, "\(output)")
      #expect(
        try text(of: directory.appending(path: "Sources/Committed/benchdoc_generated.swift"))
          == text(of: Place.golden.appending(path: "benchdoc/benchdoc_generated.swift")))
      (status, output) = try swift("build", "--target", "Committed", in: directory)
      #expect(status == 0, "\(output)")
      (status, output) = try swift(
        "package", "--allow-writing-to-package-directory", "dflat-generate", "--target",
        "Folders", "--declare-namespaces", "--access", "package", in: directory)
      #expect(status == 0, "\(output)")
      for (file, declaration) in [("One/one", "struct One"), ("dflat_namespaces", "enum Both")] {
        let code = try text(
          of: directory.appending(path: "Sources/Folders/\(file)_generated.swift"))
        #expect(code.contains("package nonisolated \(declaration)"), "\(code)")
      }
      (status, output) = try swift("build", "--target", "Folders", in: directory)
      #expect(status == 0, "\(output)")
      try checkAnswersSchema(in: directory)
      try write("enum Own: byte { A }", to: "Sources/App/part_user.fbs", in: directory)
      try write("{}", to: "Sources/App/dflat.json", in: directory)
      try write("// Old", to: "Sources/App/blog_generated.swift", in: directory)
      (status, output) = try swift("build", "--target", "App", in: directory)
      #expect(status != 0)
      #expect(
        output.contains("App uses DflatPlugin and has generated code of its own"), "\(output)")
    }
  }

  // MARK: Sharing

  /// A program that includes schemas of another target, which includes one of another package.
  /// Everything is built with the strictest settings.
  private var sharingTargets: String {
    let settings = """
      swiftSettings: [
        .defaultIsolation(MainActor.self), .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ], plugins: [.plugin(name: "DflatPlugin", package: "dflat")]
      """
    return """
      .target(name: "Places",
        dependencies: [
          .product(name: "Dflat", package: "dflat"), .product(name: "Colors", package: "Base"),
        ], \(settings)),
      .executableTarget(name: "Visits",
        dependencies: ["Places", .product(name: "Dflat", package: "dflat")], \(settings)),
      """
  }

  private func writeSharing(in directory: URL) throws {
    let root = Place.tests.deletingLastPathComponent().deletingLastPathComponent()
    try write(
      """
      // swift-tools-version: 6.2
      import PackageDescription

      let package = Package(
        name: "Base", platforms: [.macOS(.v15)],
        products: [.library(name: "Colors", targets: ["Colors"])],
        dependencies: [.package(name: "dflat", path: "\(root.path())")],
        targets: [
          .target(name: "Colors", dependencies: [.product(name: "Dflat", package: "dflat")],
            plugins: [.plugin(name: "DflatPlugin", package: "dflat")])
        ])
      """, to: "Base/Package.swift", in: directory)
    try write(
      "namespace Map;\nenum Color: byte { Blue, Red }\ntable Owner { name: string (indexed); }\n",
      to: "Base/Sources/Colors/Schemas/color.fbs", in: directory)
    try write("", to: "Base/Sources/Colors/Colors.swift", in: directory)
    try write(
      """
      include "color.fbs";
      namespace Map;
      table Place { x: int (indexed); color: Color; owner: Owner; }
      """, to: "Sources/Places/place.fbs", in: directory)
    try write("enum Side: byte { Right, Left }", to: "Sources/Places/side.fbs", in: directory)
    try write("", to: "Sources/Places/Places.swift", in: directory)
    try write(#"{"access": "internal"}"#, to: "Sources/Visits/dflat.json", in: directory)
    try write(
      """
      include "place.fbs";
      include "side.fbs";
      namespace Map;
      union Thing { Place, Owner }
      table Visit { id: int (primary); place: Place; side: Side; thing: Thing; colors: [Color]; }
      root_type Visit;
      """, to: "Sources/Visits/visit.fbs", in: directory)
    try write(
      """
      import Colors
      import Dflat
      import Places

      let visit = Map.Visit(
        id: 3, place: Map.Place(x: 3, color: .red, owner: Map.Owner(name: "Ann")), side: .left,
        thing: .owner(Map.Owner(name: "Bob")), colors: [.red])
      let condition =
        Map.Visit.place.x > 2 && Map.Visit.place.owner.name == "Ann"
        && Map.Visit.thing.as(Map.Owner.self).name == "Bob" && Map.Visit.side == .left
      _ = condition
      let read = Map.Visit.from(data: visit.toData())
      print("\\(read.colors[0]) \\(read.place?.x ?? 0) \\(read.side)")
      """, to: "Sources/Visits/main.swift", in: directory)
  }

  // MARK: GraphQL

  /// A program with operations of GraphQL.
  private var answersTarget: String {
    """
    .executableTarget(name: "Answers",
      dependencies: [.product(name: "DflatGraphQL", package: "dflat")],
      plugins: [.plugin(name: "DflatPlugin", package: "dflat")]),
    """
  }

  private func writeAnswers(in directory: URL) throws {
    func write(_ text: String, to name: String) throws {
      try self.write(text, to: "Sources/Answers/" + name, in: directory)
    }
    try write(
      """
      {"access": "internal",
       "graphql": {"schema": "zoo.graphqls", "entities": ["zoo_animal"], "primaryKey": "id"}}
      """, to: "dflat.json")
    try write(
      """
      type zoo_animal { id: Int!  name: String!  home: Home  mother: zoo_animal }
      type Home { country: String }
      type Query { animal: zoo_animal }
      """, to: "zoo.graphqls")
    try write("query Animal { animal { id name home { country } } }", to: "Ask/animal.graphql")
    try write(
      """
      import DflatGraphQL
      import Foundation

      let answer = #"{"data": {"animal": {"id": 7, "name": "ant", "home": {"country": "Peru"}}}}"#
      let data = try AnimalQuery.response(from: Data(answer.utf8)).requireData()
      let animal = zooAnimal(data.animal!)
      precondition(animal.home == zoo_animal.Home(country: "Peru"))
      print("one \\(animal.name ?? ""), stored as \\(animal.id)")
      """, to: "main.swift")
  }

  /// The schema of the entity is written into the target, and the next one continues it.
  private func checkAnswersSchema(in directory: URL) throws {
    func schema() throws -> String {
      let (status, output) = try swift(
        "package", "--allow-writing-to-package-directory", "dflat-generate", "--graphql-schemas",
        in: directory)
      #expect(status == 0, "\(output)")
      return try text(
        of: directory.appending(path: "Sources/Answers/zoo_animal_generated.fbs"))
    }
    let first = try schema()
    #expect(first.contains("name: string (id: 2);"), "\(first)")
    try write(
      "query Animal { animal { id name mother { id } } }",
      to: "Sources/Answers/Ask/animal.graphql", in: directory)
    let (status, output) = try swift("build", "--target", "Answers", in: directory)
    #expect(status != 0)
    #expect(
      output.contains("the committed schema of 'zoo_animal' is not up to date")
        && output.contains("dflat-generate --graphql-schemas --target Answers"), "\(output)")
    let second = try schema()
    #expect(second.contains("home: zoo_animal.Home (id: 0, deprecated);"), "\(second)")
    let mother = "mother: long = null (id: 3, references: \"zoo_animal\");"
    #expect(second.contains(mother), "\(second)")
    // The code for operations needs a library, and the manifest can do without it.
    let manifest = try text(of: directory.appending(path: "Package.swift"))
    let library = #".product(name: "DflatGraphQL", package: "dflat")"#
    try write(
      manifest.replacingOccurrences(
        of: library, with: #".product(name: "SQLiteDflat", package: "dflat")"#),
      to: "Package.swift", in: directory)
    let (missing, message) = try swift("build", "--target", "Answers", in: directory)
    #expect(missing != 0 && message.contains("add \(library) to its dependencies"), "\(message)")
    try write(manifest, to: "Package.swift", in: directory)
    // No Swift is written beside it.
    let files = try FileManager.default.contentsOfDirectory(
      atPath: directory.appending(path: "Sources/Answers").path())
    #expect(!files.contains { $0.hasSuffix("_generated.swift") }, "\(files)")
  }
}
