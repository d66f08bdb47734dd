// The judge: the Swift compiler takes what is generated, without a warning, and the programs that use it work.

import Foundation
import Testing

@Suite("Generated code")
struct CompilesTests {
  @Test(
    "compiles without warnings in both language modes",
    arguments: Place.schemas(in: Place.schemas), Judge.Mode.allCases)
  func compiles(schema: String, mode: Judge.Mode) throws {
    try withTemporaryDirectory { directory in
      try generate(Place.schemas.appending(path: schema), into: directory)
      #expect(try Judge.complaints(about: directory, mode) == "")
    }
  }

  @Test("compiles for every schema of the corpus", arguments: Place.schemas(in: Place.corpus))
  func corpusCompiles(schema: String) throws {
    try withTemporaryDirectory { directory in
      try generate(Place.corpus.appending(path: schema), into: directory)
      #expect(try Judge.complaints(about: directory, .swift6) == "")
    }
  }

  @Test(
    "does what programs expect of it", arguments: ["everything", "circles", "names", "shadows"])
  func runs(name: String) throws {
    try withTemporaryDirectory { directory in
      try generate(Place.schemas.appending(path: "\(name).fbs"), into: directory)
      try FileManager.default.copyItem(
        at: Place.programs.appending(path: "\(name).swift"),
        to: directory.appending(path: "main.swift"))
      let result = try Judge.runProgram(in: directory)
      #expect(result.status == 0, "\(result.output)")
      #expect(result.output == "all is well\n")
    }
  }

  /// Counted in the compiler's own steps, of which it allows itself a million, so that the speed of the machine does not matter.
  @Test("lets long conditions type-check with little work", arguments: Judge.Mode.allCases)
  func longConditions(mode: Judge.Mode) throws {
    try withTemporaryDirectory { directory in
      try generate(Place.schemas.appending(path: "conditions.fbs"), into: directory)
      try FileManager.default.copyItem(
        at: Place.programs.appending(path: "conditions.swift"),
        to: directory.appending(path: "conditions.swift"))
      let limit = "-solver-scope-threshold=50000"
      #expect(try Judge.complaints(about: directory, mode, frontend: [limit]) == "")
    }
  }
}
