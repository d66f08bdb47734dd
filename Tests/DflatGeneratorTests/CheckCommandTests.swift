// `dflatc check`: result, exit status, text and JSON.

import Foundation
import Testing

@testable import DflatGenerator

@Suite("dflatc check")
struct CheckCommandTests {
  private func run(_ arguments: String...) -> (status: Int32, output: String, errors: String) {
    var output = ""
    var errors = ""
    let command = CompilerCommand(output: { output += $0 }, errors: { errors += $0 })
    return (command.run(["check"] + arguments), output, errors)
  }

  /// Runs `body` with the paths of an old and a new schema in a directory of their own.
  private func withSchemas(
    _ old: String, _ new: String, _ body: (_ old: String, _ new: String, URL) throws -> Void
  ) throws {
    try withTemporaryDirectory { directory in
      let paths = try [("old.fbs", old), ("new.fbs", new)].map { name, text in
        let url = directory.appending(path: name)
        try text.write(to: url, atomically: false, encoding: .utf8)
        return url.path()
      }
      try body(paths[0], paths[1], directory)
    }
  }

  private func note(_ fields: String) -> String {
    "table Note {\n  id: string (primary);\n  \(fields)\n}\nroot_type Note;\n"
  }

  @Test("reports that equal schemas are compatible")
  func equal() throws {
    try withSchemas(note("text: string;"), note("text: string;")) { old, new, _ in
      #expect(run(old, new) == (0, "compatible: no changes\n", ""))
    }
  }

  @Test("says of a default whose enum is reordered that its number has changed")
  func reorderedDefault() throws {
    func schema(_ values: String) -> String {
      "enum C: byte { \(values) }\n" + note("c: C = Main; p: C = Main (indexed);")
    }
    try withSchemas(schema("A, Main, B"), schema("A, B, Main")) { old, new, _ in
      let result = run(old, new)
      #expect(result.status == 2)
      #expect(
        result.output.contains(
          """
          the default of 'c', Main, has changed its number from 1 to 2
              4 |   c: C = Main; p: C = Main (indexed);
                |   ^
          note: defaults are not stored: objects that hold no value read as Main, as before
          """))
      #expect(
        result.output.contains(
          "as Main, as before. The side table 'note__f8' was filled with 1 for them, and is built again"
        ))
      #expect(!result.output.contains("Main to Main"))
    }
  }

  @Test("reports a new required field once")
  func newRequiredField() throws {
    try withSchemas(note("text: string;"), note("text: string; tags: [string] (required);")) {
      old, new, _ in
      let result = run(old, new)
      #expect(result.status == 2)
      #expect(
        result.output.hasPrefix("\(new):3:17: error: 'tags' is new and required\n"),
        "\(result.output)")
      #expect(result.output.hasSuffix("incompatible: 1 of 1 change\n"), "\(result.output)")
    }
  }

  @Test("reports a compatible change as a note, with its effect and both positions")
  func compatible() throws {
    try withSchemas(note("text: string;"), note("body: string;")) { old, new, _ in
      let result = run(old, new)
      #expect(result.status == 0 && result.errors.isEmpty)
      #expect(
        result.output == """
          \(new):3:3: note: 'text' is now called 'body'
              3 |   body: string;
                |   ^~~~
          note: nothing changes on disk, where fields have no names; programs use the new name
          \(old):3:3: note: in the old version
              3 |   text: string;
                |   ^~~~
          compatible: 1 change

          """)
    }
  }

  @Test("reports a noticeable change as a warning")
  func caution() throws {
    try withSchemas(note("n: int;"), note("n: int = 3;")) { old, new, _ in
      let result = run(old, new)
      #expect(result.status == 0)
      #expect(
        result.output.hasPrefix("\(new):3:3: warning: the default of 'n' has changed from 0 to 3\n")
      )
      #expect(result.output.hasSuffix("\ncompatible: 1 change, 1 to be noted\n"))
    }
  }

  @Test("reports an incompatible change as an error, with status 2")
  func incompatible() throws {
    try withSchemas(note("n: int; m: int;"), note("n: long; more: int; added: int;")) {
      old, new, _ in
      let result = run(old, new)
      #expect(result.status == 2 && result.errors.isEmpty)
      #expect(
        result.output.hasPrefix(
          "\(new):3:3: error: 'n' has changed its type from 'int' to 'long'\n"))
      #expect(result.output.contains("\(old):3:3: note: in the old version\n"))
      #expect(result.output.hasSuffix("\nincompatible: 1 of 3 changes\n"))
    }
  }

  @Test("prints JSON in the documented form", arguments: [true, false])
  func json(isCompatible: Bool) throws {
    struct Report: Decodable {
      struct Place: Decodable, Equatable {
        let file: String
        let line: Int
        let column: Int
      }
      struct Change: Decodable {
        let kind: String
        let severity: String
        let subject: String
        let message: String
        let effect: String
        let old: Place
        let new: Place
      }
      let format: Int
      let verdict: String
      let old: String
      let new: String
      let changes: [Change]
    }
    let new = isCompatible ? "// Here.\n" + note("n: int (indexed);") : note("n: [int];")
    try withSchemas(note("n: int;"), new) { old, new, _ in
      let result = run(old, "--json", new)
      #expect(result.status == (isCompatible ? 0 : 2) && result.errors.isEmpty)
      let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
      #expect(report.format == 1 && report.old == old && report.new == new)
      #expect(report.verdict == (isCompatible ? "compatible" : "incompatible"))
      let change = try #require(report.changes.first)
      #expect(report.changes.count == 1)
      #expect(change.kind == (isCompatible ? "index-added" : "field-type-changed"))
      #expect(change.severity == report.verdict && change.subject == "Note.n")
      #expect(change.old == Report.Place(file: old, line: 3, column: 3))
      #expect(change.new == Report.Place(file: new, line: isCompatible ? 4 : 3, column: 3))
      #expect(!change.message.isEmpty && !change.effect.isEmpty)
    }
  }

  @Test("prints an empty list if nothing has changed")
  func emptyJSON() throws {
    try withSchemas(note(""), note("")) { old, new, _ in
      let content = try JSONSerialization.jsonObject(
        with: Data(run("--json", old, new).output.utf8))
      let report = try #require(content as? [String: Any])
      #expect((report["changes"] as? [Any])?.isEmpty == true)
      #expect(Set(report.keys) == ["format", "verdict", "old", "new", "changes"])
    }
  }

  @Test(
    "gives no result for a schema that cannot be read, with status 1", arguments: [true, false])
  func unreadable(isOld: Bool) throws {
    try withSchemas(note(""), "table {") { good, bad, directory in
      for options in [[], ["--json"]] {
        var (output, errors) = ("", "")
        let command = CompilerCommand(output: { output += $0 }, errors: { errors += $0 })
        #expect(command.run(["check"] + options + (isOld ? [bad, good] : [good, bad])) == 1)
        #expect(output.isEmpty && errors.hasPrefix("\(bad):1:"))
        #expect(errors.contains(": error: "))
      }
      let missing = directory.appending(path: "none.fbs").path()
      let result = isOld ? run(missing, good) : run(good, missing)
      #expect(result.status == 1 && result.output.isEmpty)
      #expect(result.errors.contains("\(missing):1:1: error: cannot read the file"))
    }
  }

  @Test("finds included schemas, for each version in its own directories")
  func includes() throws {
    let main = "include \"part.fbs\";\n" + note("part: Part;")
    try withSchemas(main, main) { old, new, directory in
      for (name, text) in [
        ("before", "table Part { x: int; }"), ("after", "table Part { x: long; }"),
      ] {
        let folder = directory.appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try text.write(
          to: folder.appending(path: "part.fbs"), atomically: false, encoding: .utf8)
      }
      let before = directory.appending(path: "before").path()
      let after = directory.appending(path: "after").path()
      #expect(run(old, new).status == 1)
      #expect(run("-I", after, old, new) == (0, "compatible: no changes\n", ""))
      let result = run("--old-include=\(before)", "-I\(after)", old, new)
      #expect(result.status == 2)
      #expect(result.output.hasPrefix("\(after)/part.fbs:1:14: error: 'x' has changed its type"))
      #expect(result.output.contains("\n\(before)/part.fbs:1:14: note: in the old version\n"))

      let settings = directory.appending(path: "dflat.json")
      try #"{"include": ["after"]}"#.write(to: settings, atomically: false, encoding: .utf8)
      #expect(run("--config", settings.path(), old, new).status == 0)
      #expect(run("--config", settings.path(), "--old-include", before, old, new).status == 2)
      #expect(run("--config", old, old, new).status == 1)
    }
  }

  @Test(
    "refuses invalid command lines with status 64",
    arguments: [
      ([], "takes two schemas, the old and the new one, not 0"),
      (["a.fbs"], "not 1"), (["a.fbs", "b.fbs", "c.fbs"], "not 3"),
      (["--json=yes", "a.fbs", "b.fbs"], "--json takes no value"),
      (["--nonsense", "a.fbs", "b.fbs"], "'dflatc check' has no option '--nonsense'"),
      (["-o", "x", "a.fbs", "b.fbs"], "'dflatc check' writes no files"),
      (["a.fbs", "b.fbs", "-I"], "-I needs a path"),
      (["a.fbs", "b.fbs", "--old-include="], "--old-include needs a path"),
      (["--config", "a", "--config", "b", "a.fbs", "b.fbs"], "--config is given twice"),
    ])
  func usage(arguments: [String], message: String) {
    var (output, errors) = ("", "")
    let command = CompilerCommand(output: { output += $0 }, errors: { errors += $0 })
    #expect(command.run(["check"] + arguments) == 64)
    #expect(output.isEmpty && errors.hasPrefix("dflatc: error: ") && errors.contains(message))
  }

  @Test("takes names that look like options after --, and prints help")
  func rest() throws {
    guard case .check(let request) = try Request(["check", "--json", "--", "-a.fbs", "--b.fbs"])
    else {
      return #expect(Bool(false))
    }
    #expect(request.old == "-a.fbs" && request.new == "--b.fbs" && request.printsJSON)
    for arguments in [["check", "--help"], ["check", "-h"], ["help", "check"]] {
      var output = ""
      let command = CompilerCommand(output: { output += $0 }, errors: { _ in })
      #expect(command.run(arguments) == 0)
      #expect(output.contains("usage: dflatc check") && output.contains("2 if it is not"))
      #expect(output.split(separator: "\n").allSatisfy { $0.count <= 90 })
    }
  }
}
