// What is stored is where the committed schema says, in every release.

import DflatGenerator
import Foundation
import Testing

@Suite("Committed schemas of GraphQL entities")
struct CommittedSchemaTests {
  private static let schema = """
    type Person { id: ID!  name: String  age: Int  zip: Int  friend: Person }
    type Query { person: Person }
    """
  private static let file = "Person_generated.fbs"

  /// A program with a folder for its committed schemas and one for what is built.
  private struct Program {
    let directory: URL

    init(_ directory: URL) throws {
      self.directory = directory
      try GraphQL.write(
        """
        {"graphql": {"schema": "schema.graphqls", "entities": ["Person"], "primaryKey": "id"}}
        """, to: directory.appending(path: "app/dflat.json"))
      try GraphQL.write(
        CommittedSchemaTests.schema, to: directory.appending(path: "app/schema.graphqls"))
    }

    func select(_ fields: String) throws {
      try GraphQL.write(
        "query A { person { \(fields) } }", to: directory.appending(path: "app/a.graphql"))
    }

    func run(_ options: String...) -> (status: Int32, errors: String) {
      var errors = ""
      let command = CompilerCommand(output: { _ in }, errors: { errors += $0 })
      let folder = directory.path() + "/"
      let status = command.run(
        ["graphql", "--config", folder + "app/dflat.json"]
          + options.map { $0.replacing("DIR/", with: folder) } + [folder + "app/a.graphql"])
      return (status, errors.replacing(folder, with: ""))
    }

    func text(_ path: String) throws -> String? {
      let url = directory.appending(path: path)
      return FileManager.default.fileExists(atPath: url.path())
        ? try String(contentsOf: url, encoding: .utf8) : nil
    }
  }

  @Test("A build refuses a schema that is older than the operations, and says what to run")
  func locked() throws {
    try withTemporaryDirectory { directory in
      let program = try Program(directory)
      // Nothing is committed yet.
      try program.select("id name")
      #expect(program.run("-o", "DIR/built", "--locked=make schemas") == (0, ""))
      #expect(program.run("-o", "DIR/app", "--schemas-only") == (0, ""))
      let first = try #require(try program.text("app/\(Self.file)"))
      #expect(program.run("-o", "DIR/built", "--locked=make schemas") == (0, ""))

      // Two releases that go on from the same schema would use slot 2 for different fields.
      for (fields, line) in [
        ("id name zip", "zip: long = null (id: 2);"),
        ("id name zip age", "age: long = null (id: 2);"),
      ] {
        try program.select(fields)
        try FileManager.default.removeItem(at: directory.appending(path: "built"))
        let refused = program.run("-o", "DIR/built", "--locked=make schemas")
        #expect(refused.status == 1)
        #expect(
          refused.errors.hasPrefix(
            "app/\(Self.file):1:1: error: the committed schema of 'Person' is not up to date\n"))
        #expect(refused.errors.contains("it would have '\(line)'"), "\(refused.errors)")
        #expect(refused.errors.contains("run 'make schemas', and commit the file"))
        #expect(try program.text("built/\(Self.file)") == nil)
        try FileManager.default.createDirectory(
          at: directory.appending(path: "built"), withIntermediateDirectories: true)
      }
      #expect(try program.text("app/\(Self.file)") == first)

      try program.select("id name zip")
      #expect(program.run("-o", "DIR/app", "--schemas-only") == (0, ""))
      #expect(program.run("-o", "DIR/built", "--locked") == (0, ""))
      try program.select("id name zip age")
      #expect(program.run("-o", "DIR/app", "--schemas-only") == (0, ""))
      #expect(program.run("-o", "DIR/built", "--locked") == (0, ""))
      let last = try #require(try program.text("built/\(Self.file)"))
      #expect(
        last.contains("zip: long = null (id: 2);") && last.contains("age: long = null (id: 3);"))
    }
  }

  @Test("--check writes nothing, and finds what is missing or out of date")
  func check() throws {
    try withTemporaryDirectory { directory in
      let program = try Program(directory)
      try program.select("id name friend { id }")
      let missing = program.run("--check")
      #expect(missing.status == 1)
      #expect(
        missing.errors.contains(
          "app/\(Self.file):1:1: error: the schema of 'Person' is missing"), "\(missing.errors)")
      #expect(program.run("-o", "DIR/app") == (0, ""))
      #expect(program.run("--check") == (0, ""))
      #expect(program.run("--check", "-o", "DIR/app") == (0, ""))
      // Comments, blanks and indexes that were added by hand stay.
      let text = try #require(try program.text("app/\(Self.file)"))
      let edited = "// People.\n" + text.replacing("(id: 2)", with: "( id: 2, indexed )")
      #expect(edited != text)
      try GraphQL.write(edited, to: directory.appending(path: "app/\(Self.file)"))
      #expect(program.run("--check") == (0, ""))
      // Swift is compared, too, where a folder is given.
      let swift = directory.appending(path: "app/AQuery_generated.swift")
      try GraphQL.write("// Old\n", to: swift)
      #expect(program.run("--check") == (0, ""))
      let other = program.run("--check", "-o", "DIR/app")
      #expect(other.status == 1)
      #expect(
        other.errors
          == "app/AQuery_generated.swift: error: this file is not up to date: run the command again "
          + "without --check\n")
      try program.select("id name age")
      #expect(program.run("--check").status == 1)
      #expect(try program.text("app/\(Self.file)") == edited)
      #expect(try program.text("app/AQuery_generated.swift") == "// Old\n")
    }
  }

  @Test("Files of operations that are gone are named, and stay")
  func stale() throws {
    try withTemporaryDirectory { directory in
      let program = try Program(directory)
      func select(_ name: String, _ rest: String = "") throws {
        try GraphQL.write(
          "query \(name) { person { id ...F } } fragment F on Person { name }" + rest,
          to: directory.appending(path: "app/a.graphql"))
      }
      func names(_ errors: String) -> [String] {
        errors.split(separator: "\n").filter { $0.hasPrefix("app/") }
          .map { String($0.prefix { $0 != ":" }.dropFirst(4)) }
      }
      try select("Old", " query Same { person { id } }")
      #expect(program.run("-o", "DIR/app", "--fragments") == (0, ""))
      // Files of others, whatever their names are.
      let compile = CompilerCommand(output: { _ in }, errors: { _ in })
      let app = directory.appending(path: "app").path()
      try GraphQL.write(
        "table A { b: int (primary); } root_type A;",
        to: directory.appending(path: "app/GraphQL.fbs"))
      #expect(
        compile.run(["compile", "-o", app, app + "/GraphQL.fbs", app + "/\(Self.file)"]) == 0)
      try GraphQL.write("// Mine.\n", to: directory.appending(path: "app/Other_generated.swift"))
      try GraphQL.write("", to: directory.appending(path: "app/Empty_generated.swift"))

      try select("New")
      let checked = program.run("-o", "DIR/app", "--check", "--fragments")
      #expect(checked.status == 1)
      #expect(
        checked.errors.contains(
          "app/OldQuery_generated.swift: error: this file was generated, and this run would not "
            + "write it: delete it\n"), "\(checked.errors)")
      #expect(
        Set(names(checked.errors)) == [
          "NewQuery_generated.swift", "OldQuery_generated.swift", "SameQuery_generated.swift",
          "Person_inits_generated.swift",
        ], "\(checked.errors)")
      let written = program.run("-o", "DIR/app", "--fragments")
      #expect(written.status == 0)
      #expect(
        written.errors.contains(
          "app/OldQuery_generated.swift: warning: this file was generated, and this run does not "
            + "write it: delete it, unless another run does\n"), "\(written.errors)")
      #expect(names(written.errors) == ["OldQuery_generated.swift", "SameQuery_generated.swift"])
      #expect(try program.text("app/OldQuery_generated.swift") != nil)

      // A run without Swift knows of no Swift, and other settings write other files.
      #expect(program.run("-o", "DIR/app", "--schemas-only") == (0, ""))
      #expect(program.run("-o", "DIR/app", "--check", "--schemas-only") == (0, ""))
      #expect(names(program.run("-o", "DIR/app").errors).count == 3)
      #expect(
        names(program.run("-o", "DIR/app", "--single-file").errors) == [
          "F_generated.swift", "GraphQLTypes_generated.swift", "NewQuery_generated.swift",
          "OldQuery_generated.swift", "Person_fields_generated.swift",
          "Person_inits_generated.swift", "SameQuery_generated.swift",
        ])
      #expect(
        names(program.run("-o", "DIR/app", "--fragments").errors).contains(
          "graphql_generated.swift"))
      for file in ["OldQuery", "SameQuery", "graphql"] {
        try FileManager.default.removeItem(atPath: "\(app)/\(file)_generated.swift")
      }
      #expect(program.run("-o", "DIR/app", "--check", "--fragments") == (0, ""))

      // The schema of an entity that is none any more, and one by hand with such a name.
      let gone = try #require(try program.text("app/\(Self.file)")).replacing(
        "Person", with: "Gone")
      try GraphQL.write(gone, to: directory.appending(path: "app/Gone_generated.fbs"))
      try GraphQL.write(
        "table Mine { a: int; }\n", to: directory.appending(path: "app/Mine_generated.fbs"))
      for option in ["--fragments", "--schemas-only"] {
        let checked = program.run("-o", "DIR/app", "--check", option)
        #expect(
          checked == (
            1,
            "app/Gone_generated.fbs: error: this file was generated, and this run would not write "
              + "it: delete it\n"
          ))
      }
      #expect(program.run("-o", "DIR/app", "--fragments") == (0, ""))
    }
  }

  @Test("A schema that is written to another folder than the committed one gives a warning")
  func elsewhere() throws {
    try withTemporaryDirectory { directory in
      let program = try Program(directory)
      try program.select("id name")
      #expect(program.run("-o", "DIR/app/", "--schemas-only") == (0, ""))
      try program.select("id name age")
      let run = program.run("-o", "DIR/built")
      #expect(run.status == 0)
      #expect(run.errors.contains("app/\(Self.file):1:1: warning: the committed schema of"))
      #expect(program.run("-o", "DIR/app/../app") == (0, ""))
    }
  }
}
