// A program of the size of a large public API: its schemas, operations and entities are generated,
// and what is made of them compiles.

import Foundation
import Testing

@testable import DflatGenerator

@Suite("Large programs of dflatc graphql")
struct LargeProgramTests {
  /// A tenth of the size, without `DFLAT_LONG=1`.
  private static let size = isLongRun ? (2000, 200) : (200, 20)

  @Test("compile without a warning", arguments: [size])
  func compiles(types: Int, operations: Int) throws {
    try withTemporaryDirectory { directory in
      let script = Place.sources.deletingLastPathComponent()
        .appending(path: "Scripts/large-graphql.py")
      let made = try Judge.run([
        "python3", script.path(), directory.path(), String(types), String(operations),
      ])
      #expect(made.status == 0, "\(made.output)")
      let options = try text(of: directory.appending(path: "options.txt"))
        .trimmingCharacters(in: .whitespacesAndNewlines)
      let run = try GraphQL.run(
        options, ["operations.graphql"], schemas: ["schema.graphqls"], in: directory)
      #expect(run.status == 0, "\(run.errors)")
      let output = directory.appending(path: "out")
      for name in run.files.keys.sorted() where name.hasSuffix(".fbs") {
        try generate(output.appending(path: name), into: output)
      }
      // Each operation has a file of its own.
      #expect(run.files.keys.filter { $0.hasSuffix("_generated.swift") }.count > operations)
      #expect(try Judge.complaints(about: output, .swift6) == "")
    }
  }
}
