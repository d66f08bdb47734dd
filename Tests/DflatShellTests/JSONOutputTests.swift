// What --json prints, where that is not tested with the verb.

import DflatTestSupport
import Foundation
import SQLiteDflat
import Testing

@testable import DflatShell

@Suite("The JSON of the command")
struct JSONOutputTests {
  /// The JSON of a command line that ends with a status.
  private func json(_ arguments: [String], status: Int32 = 0) throws -> Any {
    let result = run(arguments + ["--json"])
    #expect(result.status == status, "\(result)")
    return try JSONSerialization.jsonObject(
      with: Data(result.output.utf8), options: .fragmentsAllowed)
  }

  @Test("Where nothing is found it is null")
  func nothing() throws {
    try withBlog { file in
      for words in [
        ["get", file.path, "Post", "notes", "9"], ["dictionary", file.path, "get", "none"],
        ["dictionary", file.path, "remove", "none"],
      ] {
        let found = try json(words, status: 1)
        #expect(found is NSNull, "\(words)")
      }
    }
  }

  @Test("An entry of the dictionary is printed when it is set or removed, or would be")
  func dictionary() throws {
    try withBlog { file in
      func entry(_ words: [String]) throws -> [String: String]? {
        try json(["dictionary", file.path] + words) as? [String: String]
      }
      let light = ["key": "theme", "kind": "String", "namespace": "", "value": "light"]
      let set = ["set", "theme", "light"]
      #expect(try entry(set + ["--dry-run"]) == light)
      #expect(try entry(["get", "theme"])?["value"] == "dark")
      #expect(try entry(set + ["--yes"]) == light)
      #expect(try entry(["get", "theme"]) == light)
      #expect(try entry(["remove", "theme", "--yes"]) == light)
      for (type, value) in [("int", "-3"), ("double", "2.5"), ("double", "2"), ("bool", "true")] {
        let stored = try entry(["set", "--type", type, "--yes", "k", value])
        let found = try entry(["get", "k"])
        #expect(stored != nil && stored == found)
      }
    }
  }

  @Test("The script of a shell is a text", arguments: ["bash", "zsh", "fish"])
  func completions(shell: String) throws {
    let found = try json(["completions", shell]) as? [String: String]
    #expect(found == ["shell": shell, "script": run(["completions", shell]).output])
  }

  @Test("A dry run says what there is")
  func dryRuns() throws {
    try withBlog { file in
      let copied = try json(["copy", file.path, file.path + ".other", "--dry-run"])
      let types = try #require(copied as? [[String: Any]])
      #expect(types.map { $0["type"] as? String } == ["Post"])
      #expect(types.map { $0["objects"] as? Int } == [3])
      let vacuumed = try json(["vacuum", file.path, "--dry-run"])
      let vacuum = try #require(vacuumed as? [String: Any])
      #expect(vacuum["path"] as? String == file.path && vacuum["bytesBefore"] as? Int ?? 0 > 0)
    }
  }

  @Test("A vacuum names the file as it was named, also through a symbolic link")
  func vacuum() throws {
    try withBlog { file in
      let (path, link) = (file.path + ".copy", file.path + ".link")
      #expect(run(["backup", file.path, path]).status == 0)
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
      for words in [["vacuum", link, "--yes"], ["vacuum", link, "--incremental", "--yes"]] {
        let report = try json(words) as? [String: Any]
        #expect(report?["path"] as? String == link)
      }
    }
  }

  @Test("An export into a file says how much it is, and has no JSON as CSV")
  func export() throws {
    try withBlog { file in
      let path = file.path + ".jsonl"
      let words = ["export", file.path, "Post"]
      let made = try #require(try json(words + ["--output", path]) as? [String: Any])
      #expect(made["path"] as? String == path && made["objects"] as? Int == 3)
      let refused = run(words + ["--format", "csv", "--json"])
      #expect(refused.status == 64 && refused.output.isEmpty, "\(refused)")
      #expect(run(words + ["--json"]).output == run(words).output)
    }
  }

  @Test(
    "An error is an object on standard error",
    arguments: [
      ["query", "FILE", "Post where lkes > 1"], ["query", "FILE", "Pots"], ["inf", "FILE"],
      ["info"], ["info", "FILE.none"], ["export", "FILE", "Post", "--format", "xml"],
      ["get", "FILE", "Post", "a\u{1B}\"b"],
    ])
  func errors(words: [String]) throws {
    try withBlog { file in
      let words = words.map { $0.replacing("FILE", with: file.path) }
      let (plain, result) = (run(words), run(words + ["--json"]))
      #expect(plain.status >= 64 && result.status == plain.status && result.output.isEmpty)
      #expect(result.errors.hasSuffix("\n") && result.errors.count { $0 == "\n" } == 1)
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(result.errors.utf8)) as? [String: Any])
      #expect(object["status"] as? Int == Int(plain.status))
      let message = try #require(object["error"] as? String)
      #expect(plain.errors == "dflat: \(message)\n")
    }
  }

  @Test("The help names everything that a repair reports")
  func repair() throws {
    try withBlog { file in
      file.dflat.shutdown()
      let made = try json(["repair", file.path, "-o", file.path + ".new"])
      let help = run(["help", "repair"]).output
      for name in try #require(made as? [String: Any]).keys {
        #expect(help.contains("\"\(name)\""), "\(name)")
      }
    }
  }
}

@Suite("Calls that make no sense, and what is damaged beside")
struct RefusedCallTests {
  @Test("One answer of a query is printed at a time")
  func answers() throws {
    try withBlog { file in
      for words in [["--count", "--explain"], ["--count", "--select", "site"]] {
        let refused = run(["query", file.path, "Post"] + words)
        #expect(refused.status == 64 && refused.errors.contains("together"), "\(refused)")
      }
    }
  }

  @Test("Backups are kept in a folder, and a file is none")
  func keep() throws {
    try withBlog { file in
      let target = file.path + ".copy"
      let refused = run(["backup", file.path, target, "--keep", "2"])
      #expect(refused.status == 64 && refused.errors.contains("\(target)/"), "\(refused)")
      #expect(!FileManager.default.fileExists(atPath: target))
      #expect(run(["backup", file.path, target + "/", "--keep", "2"]).status == 0)
      #expect(run(["backup", file.path, target, "--keep", "2"]).status == 0)
    }
  }

  @Test("An entry of the dictionary is read and set whatever is damaged beside it")
  func damagedEntry() throws {
    try withBlog { file in
      try file.tamper("UPDATE dictitem_v_dflat_internal__ SET p = x'00' WHERE __pk0 = 'size'")
      let theme = run(["dictionary", file.path, "get", "theme"])
      #expect(theme.status == 0 && theme.output == "dark\n" && theme.errors.isEmpty, "\(theme)")
      #expect(run(["dictionary", file.path, "set", "theme", "light", "--yes"]).status == 0)
      #expect(run(["dictionary", file.path, "get", "theme"]).output == "light\n")
      let size = run(["dictionary", file.path, "get", "size"])
      #expect(size.status == 1 && size.errors.contains("left out"), "\(size)")
      #expect(run(["dictionary", file.path]).status == 1)
      _ = file.takeErrors()
    }
  }

  @Test("Verbs that find a file where they make one end with the same status")
  func taken() throws {
    try withBlog { file in
      let (copy, other) = (file.path + ".copy", file.path + ".other")
      #expect(run(["backup", file.path, copy]).status == 0)
      try "other".write(toFile: other, atomically: true, encoding: .utf8)
      for words in [
        ["backup", file.path, other], ["export", file.path, "Post", "--output", other],
        ["restore", copy, other], ["repair", copy, "-o", other],
      ] {
        let refused = run(words)
        #expect(refused.status == 74 && refused.errors.contains("already"), "\(refused)")
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "other")
      }
    }
  }
}
