// import and copy as people call them.

import DflatTestSupport
import Foundation
import SQLiteDflat
import Testing

@testable import DflatShell

@Suite("Commands that store objects")
struct StoringTests {
  private func lines(_ numbers: ClosedRange<Int>) -> String {
    numbers.map { "{\"site\":\"n\",\"number\":\($0)}\n" }.joined()
  }

  @Test("import asks, says what it would do, reads standard input, and goes on behind a bad line")
  func importing() throws {
    try withBlog { file in
      let path = file.path + ".jsonl"
      try (lines(1...3) + "{\"site\":\"n\",\"number\":\"x\"}\n" + lines(5...5)).write(
        toFile: path, atomically: true, encoding: .utf8)
      let call = ["import", file.path, "Post", path]
      let dry = run(call + ["--dry-run"])
      #expect(dry.status == 65 && dry.output.hasPrefix("Post: 4 would be inserted, 0 would be"))
      #expect(dry.errors.contains("\(path): line 4: number: "), "\(dry.errors)")
      #expect(run(call).status == 64)
      #expect(run(call, answer: "n").status == 1)
      #expect(file.posts.all().count == 3)
      let bad = run(call, answer: "y")
      #expect(bad.status == 65 && bad.output == "Post: 3 inserted, 0 updated, 0 unchanged\n")
      #expect(bad.errors.contains("go on with --from-line 4\n"), "\(bad.errors)")
      let rest = run(call + ["--from-line", "5", "--yes", "--json"])
      #expect(rest.status == 0 && rest.output.contains(#""inserted" : 1,"#), "\(rest)")
      let all = run(
        ["import", file.path, "Post", "-", "--one-transaction", "--yes"],
        input: lines(10...12) + "no\n")
      #expect(all.status == 65 && all.errors.contains("nothing was stored"))
      #expect(all.output == "Post: 0 inserted, 0 updated, 0 unchanged\n")
      #expect(run(["import", file.path, "Post", "-"], answer: "y").status == 64)
      #expect(file.posts.all().count == 7)
      #expect(run(call + ["--from-line", "0"]).status == 64)
      #expect(run(call + ["--format", "xml"]).status == 64)
      #expect(run(["import", file.path, "Post", path + ".none"]).status == 66)
      #expect(run(["import", path + ".db", "Post", path]).status == 66)
    }
  }

  @Test("The built program exports to itself: a file is the same after export and import")
  func roundTrip() throws {
    try withBlog { file in
      for format in ["jsonl", "csv"] {
        let export = try RunningCommand(["export", file.path, "Post", "--format", format]).end()
        #expect(export.status == 0 && export.errors == "3 objects\n")
        let new = file.path + ".\(format).db"
        let command = try RunningCommand(
          ["import", new, "Post", "-", "--format", format, "--schema", blogSchema, "--yes"])
        try command.write(export.output)
        let result = command.end()
        #expect(result.status == 0, "\(result)")
        #expect(result.output == "Post: 3 inserted, 0 updated, 0 unchanged\n")
        let difference = run(["diff", file.path, new, "Post"])
        #expect(difference.status == 0, "\(difference)")
        // The dictionary is not exported.
        let all = run(["diff", file.path, new])
        #expect(all.status == 1 && all.errors == "2 differences\n", "\(all)")
        #expect(all.output.split(separator: "\n").allSatisfy { $0.hasPrefix("- dictionary ") })
      }
    }
  }

  @Test("copy stores all types and the dictionary in another file, after it has asked")
  func copying() throws {
    try withBlog { file in
      let target = file.path + ".other"
      let call = ["copy", file.path, target]
      #expect(run(call + ["--dry-run"]).errors.contains("in \(target): 3 of Post"))
      #expect(run(call, answer: "n").status == 1)
      #expect(!FileManager.default.fileExists(atPath: target))
      let copied = run(call, answer: "y")
      #expect(
        copied.output == """
          type        inserted  updated  unchanged
          Post        3         0        0
          dictionary  2         0        0

          """, "\(copied)")
      #expect(run(["diff", file.path, target]).status == 0)
      #expect(run(["dictionary", target, "get", "theme"]).output == "dark\n")
      let again = run(call + ["Post", "--yes", "--json"])
      #expect(again.output.contains(#""unchanged" : 3"#) && !again.output.contains("dictionary"))
      #expect(run(["copy", file.path, file.path, "--yes"]).status == 64)
    }
  }

  @Test("What is going to be done is told as that, and what is done only afterwards")
  func announcing() throws {
    try withBlog { file in
      let (path, other) = (file.path, file.path + ".other")
      let input = path + ".jsonl"
      try lines(1...1).write(toFile: input, atomically: true, encoding: .utf8)
      #expect(run(["backup", path, other]).status == 0)
      for (call, verb) in [
        (["dictionary", path, "set", "theme", "light"], "be set to light"),
        (["dictionary", path, "remove", "theme"], "be removed"),
        (["copy", path, other], "be stored in \(other): 3 of Post"),
        (["vacuum", other], "be replaced by"),
        (["vacuum", other, "--incremental"], "be given back"),
        (["import", path, "Post", input], "be stored in \(path)"),
        (["restore", path, other, "--replace"], "be replaced by"),
        (["export", path, "Post", "--output", input], "be replaced"),
      ] {
        let asked = run(call, answer: "n")
        #expect(asked.status == 1 && asked.errors.contains("will \(verb)"), "\(asked)")
        if ["import", "restore", "export"].contains(call[0]) { continue }
        let dry = run(call + ["--dry-run"])
        #expect(dry.status == 0 && dry.errors.contains("would \(verb)"), "\(dry)")
      }
    }
  }
}
