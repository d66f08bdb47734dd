// Where included files are found, and what they declare.

import DflatSchema
import Foundation
import Testing

@Suite("Includes")
struct IncludeTests {
  /// Runs `body` with a folder that contains `files`.
  private func withFiles<Result>(
    _ files: [String: String], _ body: (String) throws -> Result
  ) throws -> Result {
    try withTemporaryDirectory { directory in
      for (path, text) in files {
        let url = URL(fileURLWithPath: directory + "/" + path)
        try FileManager.default.createDirectory(
          at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: url, atomically: true, encoding: .utf8)
      }
      return try body(directory)
    }
  }

  @Test("The including file's folder comes first, then the search paths in order")
  func order() throws {
    let files = [
      "main/main.fbs": "include \"a.fbs\"; include \"b.fbs\"; include \"c.fbs\"; table M {}",
      "main/a.fbs": "table AMain {}",
      "one/a.fbs": "table AOne {}", "one/b.fbs": "table BOne {}",
      "two/a.fbs": "table ATwo {}", "two/b.fbs": "table BTwo {}", "two/c.fbs": "table CTwo {}",
    ]
    try withFiles(files) { directory in
      let compiler = SchemaCompiler(includePaths: ["\(directory)/one", "\(directory)/two"])
      let schema = try #require(compiler.compile(file: "\(directory)/main/main.fbs").schema)
      #expect(
        schema.files.flatMap(\.types).map(\.description) == ["M", "AMain", "BOne", "CTwo"])
      #expect(
        schema.files.map(\.path) == [
          "\(directory)/main/main.fbs", "\(directory)/main/a.fbs", "\(directory)/one/b.fbs",
          "\(directory)/two/c.fbs",
        ])
    }
  }

  @Test("A file is read once, whatever paths include it, and cycles end")
  func once() throws {
    let files = [
      "main.fbs": "include \"sub/a.fbs\"; include \"./sub/../sub/a.fbs\"; table M { a: A; b: B; }",
      "sub/a.fbs": "include \"b.fbs\"; table A { b: B; }",
      "sub/b.fbs": "include \"a.fbs\"; include \"../main.fbs\"; table B { a: A; m: M; }",
    ]
    try withFiles(files) { directory in
      let result = SchemaCompiler().compile(file: "\(directory)/main.fbs")
      let schema = try #require(result.schema)
      #expect(schema.files.map(\.types.count) == [1, 1, 1])
    }
  }

  @Test("A root counts in its own file only, and needs a key only there")
  func roots() throws {
    let files = [
      "main.fbs": "include \"rooted.fbs\"; table M {} root_type R;",
      "rooted.fbs": "table R { a: int; } root_type R;",
    ]
    try withFiles(files) { directory in
      let schema = try #require(
        SchemaCompiler().compile(file: "\(directory)/main.fbs").schema)
      #expect(schema.files.map(\.root) == [nil, QualifiedName("R")])
      let alone = SchemaCompiler().compile(file: "\(directory)/rooted.fbs")
      #expect(alone.diagnostics.map(\.message) == ["the root 'R' has no primary key"])
    }
  }

  @Test("Errors in an included file name that file")
  func errorsInside() throws {
    let files = [
      "main.fbs": "include \"sub/a.fbs\";\ntable M { x: Missing; }",
      "sub/a.fbs": "table A {\n  x: Gone;\n}",
    ]
    try withFiles(files) { directory in
      let result = SchemaCompiler().compile(file: "\(directory)/main.fbs")
      let places = result.diagnostics.compactMap(\.position)
      #expect(
        places == [
          SourcePosition(file: "\(directory)/main.fbs", line: 2, column: 14),
          SourcePosition(file: "\(directory)/sub/a.fbs", line: 2, column: 6),
        ])
    }
  }

  @Test(
    "Unreadable files are reported at the include", arguments: ["sub", "missing.fbs", "/dev/zero"])
  func unreadable(path: String) throws {
    try withFiles(["main.fbs": "\n  include \"\(path)\";\ntable M {}", "sub/x": ""]) { directory in
      let result = SchemaCompiler().compile(file: "\(directory)/main.fbs")
      #expect(result.schema == nil)
      #expect(result.diagnostics.count == 1)
      #expect(result.diagnostics.first?.position?.line == 2)
      #expect(result.diagnostics.first?.position?.column == 11)
    }
  }

  @Test("A chain of thousands of includes needs no stack")
  func longChain() throws {
    var files = ["f0.fbs": "table T0 {}"]
    for index in 1...3000 {
      files["f\(index).fbs"] =
        "include \"f\(index - 1).fbs\"; table T\(index) { t: T\(index - 1); }"
    }
    try withFiles(files) { directory in
      let result = SchemaCompiler().compile(file: "\(directory)/f3000.fbs")
      #expect(result.schema?.types.count == 3001)
    }
  }
}
