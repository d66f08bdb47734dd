// Responses are stored as a model in Python says, which was written from the rules alone.

import DflatGenerator
import Foundation
import SeededRandom
import Testing

@Suite("Stored responses and a model in Python")
struct MergeModelTests {
  @Test("Random responses with errors, unknown values, pages and absent fields are merged alike")
  func judged() throws {
    try withTemporaryDirectory { directory in
      func file(_ name: String) throws -> String {
        try text(of: GraphQL.programs.appending(path: name))
      }
      let run = try GraphQL.run(
        file("judged.graphqls"), file("judged.graphql"),
        "--entity User --entity Repo --primary-key id --scalar Date=long:Date --evolve")
      #expect(run.status == 0 && run.errors == "", "\(run.errors)")
      let folder = directory.appending(path: "program")
      for (name, text) in run.files where name.hasSuffix(".swift") {
        try GraphQL.write(text, to: folder.appending(path: name))
      }
      for (name, text) in run.files where name.hasSuffix(".fbs") {
        try GraphQL.write(text, to: directory.appending(path: name))
      }
      for entity in ["User", "Repo"] {
        try generate(directory.appending(path: "\(entity)_generated.fbs"), into: folder)
      }
      try GraphQL.write(file("judged.swift"), to: folder.appending(path: "main.swift"))
      let program = try Judge.buildProgram(
        in: folder, with: Place.modules("DflatGraphQL", "MemoryDflat"))
      let seed = UInt32(truncatingIfNeeded: testSeed())
      let steps = isLongRun ? 20_000 : 500
      let result = try Judge.run([
        "python3", GraphQL.programs.appending(path: "merge-model.py").path(), program, "\(seed)",
        "\(steps)",
      ])
      #expect(result.status == 0, "\(result.output)DFLAT_SEED=\(seed)")
    }
  }
}
