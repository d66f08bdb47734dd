// The Swift compiler accepts generated code without a warning, and programs that use it work.

import DflatGenerator
import Foundation
import Testing

@Suite("Generated code")
struct CompilesTests {
  /// Each schema in one of the stricter modes; `AccessTests` compiles the larger ones in all. With
  /// `DFLAT_LONG=1` each in all.
  private static let cases: [(String, Judge.Mode)] =
    Place.schemas(in: Place.schemas).enumerated().flatMap { index, schema in
      let modes = isLongRun ? Judge.Mode.allCases : [index % 2 == 0 ? .swift6 : .mainActor]
      return modes.map { (schema, $0) }
    }

  @Test(
    "compiles without warnings in both language modes, and in modules of the main actor",
    arguments: cases)
  func compiles(schema: String, mode: Judge.Mode) throws {
    try withTemporaryDirectory { directory in
      try generate(Place.schemas.appending(path: schema), into: directory)
      #expect(try Judge.complaints(about: directory, mode) == "")
    }
  }

  @Test("compiles with long defaults and structs in structs that have a key")
  func odd() throws {
    try withTemporaryDirectory { directory in
      let schema = directory.appending(path: "search.fbs")
      try Self.odd.write(to: schema, atomically: false, encoding: .utf8)
      try generate(schema, into: directory)
      #expect(try Judge.complaints(about: directory, .swift6) == "")
    }
  }

  // Lines of generated code are broken where defaults are long, and not inside of them.
  private static let odd = #"""
    struct Inner { a: int (primary); }
    struct Outer { i: Inner; j: short; }

    table Search (v: "1") {
      id: int (primary);
      query: string = "SELECT name, email FROM people WHERE age = 18 AND city = 'Kyoto' ORDER BY name";
      fallback: string = "what stands here is long enough to be broken ?? and has an operator, swift: in it";
      quoted: string = "with \"quotes\" = and a backslash \\ before what looks like = an assignment of a value";
      ratio: float = 0.1 (indexed);
      place: Outer;
    }
    root_type Search;
    """#

  @Test(
    "compiles whatever its namespace is named after: the root, a type, a library or its content",
    arguments: some(
      [
        "Post", "Post.Post", "Post.Author", "Author.Post", "Dflat", "Kind.Kind", "Thing.Post",
        "author", "Dflat.Swift", "Swift", "FlatBuffersRuntime", "Shop.Dflat", "String", "Optional",
        "PostBuilder", "Post.PostChangeRequest",
      ], each: 4))
  func namespaceCompiles(namespace: String) throws {
    try withTemporaryDirectory { directory in
      let schema = directory.appending(path: "post.fbs")
      try "namespace \(namespace);\n\(Self.post)"
        .write(to: schema, atomically: false, encoding: .utf8)
      try generate(schema, into: directory)
      try "import Dflat\nlet isTitle = \(namespace).Post.title == \"t\"\n"
        .write(to: directory.appending(path: "use.swift"), atomically: false, encoding: .utf8)
      #expect(try Judge.complaints(about: directory, .swift6) == "")
    }
  }

  private static let post = """
    enum Kind: byte { First, Second }
    struct Spot { x: int; d: double; kind: Kind; }
    table Author { name: string (indexed); kind: Kind; spot: Spot; }
    union Thing { Author, Spot, Text: string }
    table Post {
      id: int (primary); author: Author; kind: Kind = Second; thing: Thing; all: [Thing];
      title: string (indexed); spot: Spot; authors: [Author]; flag: bool; maybe: double = null;
    }
    root_type Post;
    """

  @Test(
    "compiles beside types of the program that have the names of library types",
    arguments: [false, true])
  func besideOtherTypes(isTold: Bool) throws {
    try withTemporaryDirectory { directory in
      let schema = directory.appending(path: "post.fbs")
      try "namespace Blog;\n\(Self.post)".write(to: schema, atomically: false, encoding: .utf8)
      var names = [
        "Array", "Optional", "Dictionary", "Set", "Swift", "Dflat", "FlatBuffersRuntime", "Row",
        "Field", "Property", "Reference", "Condition", "Atom",
      ]
      // Names that programs rarely use: the compiler has to be given them.
      if isTold {
        names += [
          "String", "Double", "Bool", "Float", "Int", "Int8", "Int32", "EntitySchema",
          "DflatRow", "FlatBufferBuilder",
        ]
      }
      let own = directory.appending(path: "Own.swift")
      try names.map { "public struct \($0) {}" }.joined(separator: "\n")
        .write(to: own, atomically: false, encoding: .utf8)
      try compile(
        schema, into: directory,
        ["--declare-namespaces"] + (isTold ? ["--swift", own.path()] : []))
      #expect(try Judge.complaints(about: directory, .swift6) == "")
    }
  }

  @Test("compiles beside a schema of the module whose types have the names of library types")
  func besideOtherSchemas() throws {
    try withTemporaryDirectory { directory in
      let schema = directory.appending(path: "post.fbs")
      let other = directory.appending(path: "other.fbs")
      try "namespace Blog;\n\(Self.post)".write(to: schema, atomically: false, encoding: .utf8)
      try "table String { x: int; }\nnamespace Blog;\nstruct Int32 { x: int; }\n"
        .write(to: other, atomically: false, encoding: .utf8)
      try compile(schema, into: directory, ["--declare-namespaces", "--beside", other.path()])
      try compile(other, into: directory, ["--beside", schema.path()])
      #expect(try Judge.complaints(about: directory, .swift6) == "")
    }
  }

  /// Runs the command, which knows more of the module than a single schema.
  private func compile(_ schema: URL, into directory: URL, _ options: [String]) throws {
    var errors = ""
    let command = CompilerCommand(output: { _ in }, errors: { errors += $0 })
    let status = command.run(["compile", "-o", directory.path()] + options + [schema.path()])
    #expect(status == 0, "\(errors)")
  }

  @Test("compiles where the schema's own types have the names of libraries")
  func likeLibraries() throws {
    try withTemporaryDirectory { directory in
      let schema = directory.appending(path: "post.fbs")
      try """
      table Dflat { x: int; }
      struct Swift { x: int; }
      enum FlatBuffersRuntime: int { a }
      union Foundation { Dflat, Swift, Text: string }
      table Post {
        id: int (primary); d: Dflat; s: Swift; f: FlatBuffersRuntime; text: string; flag: bool;
        u: Foundation; dflat: [Dflat];
      }
      root_type Post;
      """.write(to: schema, atomically: false, encoding: .utf8)
      try generate(schema, into: directory)
      #expect(try Judge.complaints(about: directory, .swift6) == "")
    }
  }

  @Test(
    "names the schema's line if a field's Swift type does not exist or cannot be stored"
  )
  func unknownSwiftTypes() throws {
    try withTemporaryDirectory { directory in
      let schema = directory.appending(path: "post.fbs")
      try """
      namespace Blog;
      struct Spot { x: long (swift: "Datum"); }
      table Part {
        y: long (swift: "Plain");
      }
      table Post {
        id: int (primary);
        spot: Spot;
        part: Part;
        z: string (swift: "Datum");
      }
      root_type Post;
      """.write(to: schema, atomically: false, encoding: .utf8)
      try generate(schema, into: directory)
      try "struct Plain {}".write(
        to: directory.appending(path: "Own.swift"), atomically: false, encoding: .utf8)
      let output = try Judge.complaints(
        about: directory, .swift6, frontend: ["-diagnostic-style=llvm"])
      for line in [2, 10] {
        #expect(
          output.contains("post.fbs:\(line):")
            && output.contains("cannot find type 'Datum' in scope"),
          "\(output)")
      }
      #expect(
        output.contains("post.fbs:4:")
          && output.contains("type 'Plain' does not conform to protocol 'StorableValue'"),
        "\(output)")
    }
  }

  @Test("compiles for every schema of the corpus", arguments: corpus)
  func corpusCompiles(schemas: [String]) throws {
    try withTemporaryDirectory { directory in
      for (number, name) in schemas.enumerated() {
        var schema = Place.corpus.appending(path: name)
        if schemas.count > 1 {
          let inNamespace = try "namespace Corpus\(number);\n" + text(of: schema)
          schema = directory.appending(path: name)
          try inNamespace.write(to: schema, atomically: false, encoding: .utf8)
        }
        try generate(schema, into: directory, namespacesIn: "Namespaces\(number).swift")
      }
      #expect(try Judge.complaints(about: directory, .swift6) == "")
    }
  }

  /// The schemas of the corpus that are compiled together. Most declare the same names: those that
  /// say nothing of namespaces and include nothing get a namespace each, and every second one of
  /// the others is alone; with `DFLAT_LONG=1` each.
  private static let corpus: [[String]] = {
    var alone: [[String]] = []
    var together: [String] = []
    for name in Place.schemas(in: Place.corpus) {
      let content = try? text(of: Place.corpus.appending(path: name))
      if !isLongRun, content?.contains(/\b(namespace|include)\b/) == false {
        together.append(name)
      } else {
        alone.append([name])
      }
    }
    return some(alone, each: 2)
      + stride(from: 0, to: together.count, by: 30).map {
        Array(together[$0..<min($0 + 30, together.count)])
      }
  }()

  @Test(
    "works as programs expect, whatever its access level",
    arguments: [
      ("everything", AccessLevel.internal), ("circles", .public), ("names", .public),
      ("shadows", .public), ("everyday", .public), ("relations", .package),
    ])
  func runs(name: String, access: AccessLevel) throws {
    try withTemporaryDirectory { directory in
      try generate(Place.schemas.appending(path: "\(name).fbs"), into: directory, access: access)
      try FileManager.default.copyItem(
        at: Place.programs.appending(path: "\(name).swift"),
        to: directory.appending(path: "main.swift"))
      let result = try Judge.runProgram(in: directory)
      #expect(result.status == 0, "\(result.output)")
      #expect(result.output == "all is well\n")
    }
  }

  /// Counted in the compiler's own steps, as `longConditions` does. The worst of these mistakes
  /// takes between 100,000 and 200,000 of them, which is 1.4 s on a quiet machine.
  @Test(
    "reports mistakes with little work, at their place, with the right form",
    arguments: ["wrong-conditions", "wrong-calls"])
  func wrongPrograms(name: String) throws {
    try withTemporaryDirectory { directory in
      try generate(Place.schemas.appending(path: "conditions.fbs"), into: directory)
      let program = try text(of: Place.programs.appending(path: "\(name).txt"))
      try program.write(
        to: directory.appending(path: "wrong.swift"), atomically: false, encoding: .utf8)
      let output = try Judge.complaints(
        about: directory, .swift6,
        frontend: ["-solver-scope-threshold=200000", "-diagnostic-style=llvm"])
      var errors: [Int: [String]] = [:]
      for line in output.split(separator: "\n") where line.contains("wrong.swift:") {
        let parts = line.split(separator: ":", maxSplits: 4)
        guard parts.count == 5, parts[3] == " error", let number = Int(parts[1]) else { continue }
        errors[number, default: []].append(String(parts[4]))
      }
      for (index, line) in program.split(separator: "\n", omittingEmptySubsequences: false)
        .enumerated()
      {
        let found = errors[index + 1] ?? []
        if let mark = line.range(of: " // ! ") {
          #expect(
            found.contains { $0.contains(line[mark.upperBound...]) },
            "line \(index + 1) says \(found)")
        } else {
          #expect(found.isEmpty, "line \(index + 1) says \(found)")
        }
      }
    }
  }

  /// Counted in the compiler's own steps, of which it allows a million, so that the machine's speed
  /// does not matter.
  @Test(
    "lets long conditions type-check with little work",
    arguments: [Judge.Mode.swift5, .mainActor])
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
