// Golden tests: the exact output for two ordinary schemas.

import DflatSchema
import Foundation
import Testing

@testable import DflatGenerator

@Suite("The text of generated files")
struct GoldenTests {
  @Test("equals the golden files", arguments: ["blog", "benchdoc"])
  func matchesFixtures(name: String) throws {
    let folder = Place.golden.appending(path: name)
    let path = folder.appending(path: "\(name).fbs").path()
    let schema = try #require(SchemaCompiler().compile(file: path).schema)
    var options = GeneratorOptions()
    options.keepsJSON = name == "blog"
    let files = Generator(schema, options: options).generate()
    #expect(files.count == (name == "blog" ? 5 : 4))
    for file in files {
      #expect(file.text == (try text(of: folder.appending(path: file.name))), "\(file.name)")
    }
  }

  @Test(
    "equals the committed code of other tests",
    arguments: [
      "DflatTestSupport", "DflatVerification", "SQLiteDflatTests/MainActorClient",
      "SQLiteDflatTests/TrackerClient",
    ])
  func matchesCommitted(target: String) throws {
    let folder = Place.tests.deletingLastPathComponent().appending(path: target)
    let schemas = folder.appending(path: "Schemas")
    var expected: Set<String> = []
    let paths = Place.schemas(in: schemas).map { schemas.appending(path: $0).path() }
    let referrers = ReferrerMap(files: paths, compiler: SchemaCompiler()).referrers
    for name in Place.schemas(in: schemas) {
      let path = schemas.appending(path: name).path()
      let schema = try #require(SchemaCompiler().compile(file: path).schema)
      var options = GeneratorOptions()
      // Without declared namespaces it uses those of a Swift file beside it.
      options.declaresNamespaces = target.hasSuffix("Client")
      options.access = Self.access[target] ?? .public
      options.referrers = referrers
      for file in Generator(schema, options: options).generate() {
        expected.insert(file.name)
        let committed = try? text(of: folder.appending(path: "Generated/\(file.name)"))
        #expect(
          committed == file.text,
          """
          to write it anew: dflatc \(options.declaresNamespaces ? "--declare-namespaces " : "")\
          --access \(options.access) -o Tests/\(target)/Generated Tests/\(target)/Schemas/*.fbs
          """)
      }
    }
    let found = try FileManager.default.contentsOfDirectory(
      atPath: folder.appending(path: "Generated").path())
    #expect(!expected.isEmpty && Set(found) == expected)
  }

  /// The access levels of committed code that is not public.
  private static let access: [String: AccessLevel] = [
    "SQLiteDflatTests/MainActorClient": .internal, "SQLiteDflatTests/TrackerClient": .package,
  ]

  @Test("equals the code in the documentation")
  func matchesDocumentation() throws {
    let root = Place.tests.deletingLastPathComponent().deletingLastPathComponent()
    let article = try text(of: root.appending(path: "Sources/Dflat/Dflat.docc/GeneratedCode.md"))
    for file in ["note_data_model_generated.swift", "note_query_generated.swift"] {
      let generated = root.appending(path: "Tests/DflatTestSupport/Generated/\(file)")
      #expect(article.contains("```swift\n\(try text(of: generated))```\n"), "\(file)")
    }
  }

  @Test("is left unchanged by the formatter", arguments: AccessLevel.allCases)
  func formatted(access: AccessLevel) throws {
    try withTemporaryDirectory { directory in
      let formatted = directory.appending(path: "formatted")
      let plain = directory.appending(path: "plain")
      for name in Place.schemas(in: Place.schemas) {
        let folder = plain.appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try generate(Place.schemas.appending(path: name), into: folder, access: access)
        try FileManager.default.removeItem(at: folder.appending(path: "Namespaces.swift"))
      }
      try FileManager.default.copyItem(at: plain, to: formatted)
      let configuration = Place.tests.deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: ".swift-format")
      let result = try Judge.run([
        "swift", "format", "-i", "-r", "--configuration", configuration.path(), formatted.path(),
      ])
      #expect(result.status == 0, "\(result.output)")
      let difference = try Judge.run(["diff", "-r", plain.path(), formatted.path()])
      #expect(difference.status == 0, "\(difference.output)")
    }
  }
}
