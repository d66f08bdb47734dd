// The command `dflat` as people call it.

import DflatTestSupport
import DflatTools
import Foundation
import Platform
import PostgresTestSupport
import SQLiteDflat
import Testing

@testable import DflatShell

@Suite("The command dflat")
struct ShellCommandTests {
  /// The JSON of a command.
  private func json(_ arguments: [String]) throws -> Any {
    let result = run(arguments)
    #expect(result.status == 0, "\(result.errors)")
    return try JSONSerialization.jsonObject(
      with: Data(result.output.utf8), options: .fragmentsAllowed)
  }

  @Test("info shows types, rows, indexes and hazards")
  func info() throws {
    try withBlog { file in
      let result = run(["info", file.path])
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.output.contains("Post  3     4 of 4 complete  in the file  blog__post_v1_0"))
      #expect(result.output.contains("dictionary: 2 entries"))
      let json = try #require(try json(["info", file.path, "--json"]) as? [String: Any])
      #expect(json["dictionaryEntries"] as? Int == 2)
      #expect(json["journalMode"] as? String == "wal")
      let types = try #require(json["types"] as? [[String: Any]])
      #expect(types.map { $0["name"] as? String } == ["Post"])
      #expect(types[0]["rows"] as? Int == 3)
      #expect(types[0]["rowsAreCounted"] as? Bool == true)
      let indexes = try #require(types[0]["indexes"] as? [[String: Any]])
      #expect(indexes.map { $0["fields"] as? String }.contains("likes"))
      try file.tamper("DROP TABLE blog__post_v1_0__f10")
      let damaged = run(["info", file.path])
      #expect(damaged.output.contains("3 of 4 complete"))
      try FileManager.default.linkItem(atPath: file.path, toPath: file.path + ".other")
      #expect(run(["info", file.path]).output.contains("2 names"))
    }
  }

  @Test("schema prints what dflatc compiles")
  func schema() throws {
    try withBlog { file in
      let result = run(["schema", file.path, "Post"])
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.output.contains("table Post (v: \"1.0\") {\n  site: string (primary);"))
      #expect(result.output.contains("  status: blog.Status = Published;"))
      let path = file.path + ".fbs"
      try result.output.write(toFile: path, atomically: true, encoding: .utf8)
      let again = run(["schema", file.path, "Post", "--schema", path])
      #expect(again.output == result.output)
      let json = try #require(try json(["schema", file.path, "--json"]) as? [String: String])
      #expect(json["blog__post_v1_0"] == result.output)
    }
  }

  @Test("get prints one object, and ends with 1 if there is none")
  func get() throws {
    try withBlog { file in
      let object = try #require(
        try json(["get", file.path, "Post", "notes", "1"]) as? [String: Any])
      #expect(object["status"] as? String == "Draft")
      #expect(object["tags"] as? [String] == ["a", "b"])
      let none = run(["get", file.path, "Post", "notes", "2"])
      #expect(none.status == 1 && none.output.isEmpty && none.errors.contains("there is no Post"))
      #expect(run(["get", file.path, "Post", "notes", "x"]).status == 64)
      #expect(run(["get", file.path, "Post", "notes"]).errors.contains("give site, number"))
    }
  }

  @Test("query prints tables, JSON, counts, selections and explanations")
  func query() throws {
    try withBlog { file in
      let text = "Post where likes > 10 order by likes"
      let all = try #require(try json(["query", file.path, text, "--json"]) as? [[String: Any]])
      #expect(all.map { $0["likes"] as? Int } == [11, 40])
      #expect(run(["query", file.path, text, "--count"]).output == "2\n")
      let selected = run(["query", "--select", "number, likes * 2", file.path, text])
      #expect(selected.output == "number  likes * 2\n1       22\n2       80\n")
      #expect(selected.errors == "2 objects\n")
      let plan = run(["query", file.path, text, "--explain"])
      #expect(plan.output.contains("index: likes (blog__post_v1_0__f10)"), "\(plan.output)")
      let wrong = run(["query", file.path, "Post where lkes > 1"])
      #expect(wrong.status == 64)
      #expect(wrong.errors.contains("did you mean 'likes'?\n  Post where lkes > 1\n"))
      #expect(wrong.errors.contains("             ^~~~\n"))
    }
  }

  @Test("Tables are cut to the terminal's width, and whole elsewhere")
  func width() throws {
    try withTemporaryFile { file in
      let long = String(repeating: "long ", count: 50)
      try file.store([Blog.Post(site: long, number: 1, tags: ["\u{202E}abc\u{7}\n"])])
      for width in [20, 40, 80, 200] {
        let result = run(["query", file.path, "Post"], width: width)
        for line in result.output.split(separator: "\n") { #expect(line.count <= width) }
        #expect(!result.output.contains("\u{202E}") && !result.output.contains("\u{7}"))
      }
      #expect(run(["query", file.path, "Post"]).output.contains(long))
    }
  }

  @Test("export writes all objects as JSON lines or CSV")
  func export() throws {
    try withBlog { file in
      let lines = run(["export", file.path, "Post"])
      #expect(lines.status == 0, "\(lines.errors)")
      #expect(lines.errors == "3 objects\n")
      let posts = try lines.output.split(separator: "\n").map {
        try JSONDecoder().decode(Blog.Post.self, from: Data($0.utf8))
      }
      #expect(posts == file.dflat.fetch(for: Blog.Post.self).all().underlyingArray)
      let csv = run(["export", file.path, "Post", "--format", "csv"]).output
      let first = csv.split(separator: "\r\n").map(String.init)
      #expect(
        first[0].hasPrefix(
          "site,number,status,likes,place,author,tags,attachment_type,attachment,is_pinned"))
      #expect(first[3].contains(#"[""a"",""b""]"#))
      let path = file.path + ".jsonl"
      #expect(run(["export", file.path, "Post", "--output=\(path)"]).status == 0)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == lines.output)
      #expect(run(["export", file.path, "Post", "--format", "xml"]).status == 64)
    }
  }

  @Test("dictionary sets numbers as they are, and refuses those that do not fit")
  func dictionaryNumbers() throws {
    try withBlog { file in
      func stored(_ text: String) -> String? {
        let set = run(
          ["dictionary", file.path, "set", "--type", "double", "--yes", "--", "k", text])
        return set.status == 0 ? run(["dictionary", file.path, "get", "k"]).output : nil
      }
      #expect(stored("-0.0") == "-0\n" && stored("0") == "0\n" && stored("2.5") == "2.5\n")
      #expect(stored("1e400") == nil && stored("-1e400") == nil)
      #expect(stored("inf") == "inf\n" && stored("-inf") == "-inf\n")
    }
  }

  @Test("dictionary lists, gets, sets and removes, and asks first")
  func dictionary() throws {
    try withBlog { file in
      #expect(
        run(["dictionary", file.path]).output
          == "key    kind    value  namespace\nsize   Int     12\ntheme  String  dark\n")
      #expect(run(["dictionary", file.path, "get", "theme"]).output == "dark\n")
      #expect(run(["dictionary", file.path, "get", "none"]).status == 1)
      let set = ["dictionary", file.path, "set", "theme", "light"]
      #expect(run(set).status == 64)
      #expect(run(set, answer: "n").status == 1)
      #expect(run(set + ["--dry-run"]).status == 0)
      #expect(run(["dictionary", file.path, "get", "theme"]).output == "dark\n")
      let changed = run(set, answer: "y")
      #expect(changed.status == 0 && changed.errors.contains("which is dark now"))
      #expect(run(["dictionary", file.path, "get", "theme"]).output == "light\n")
      let other = file.secondWorkspace()
      #expect(other.dflat.dictionary["theme"] == "light")
      #expect(
        run(["dictionary", file.path, "set", "size", "x", "--type", "int", "--yes"]).status == 64)
      #expect(
        run(["dictionary", file.path, "set", "size", "13", "--type", "int", "--yes"]).status == 0)
      #expect(file.secondWorkspace().dflat.dictionary["size"] == 13)
      #expect(run(["dictionary", file.path, "remove", "size", "--yes"]).status == 0)
      #expect(run(["dictionary", file.path, "get", "size"]).status == 1)
      let json = try #require(try json(["dictionary", file.path, "--json"]) as? [[String: Any]])
      #expect(json.map { $0["key"] as? String } == ["theme"])
    }
  }

  @Test("check tells sound files, wrong indexes and damaged objects apart")
  func check() throws {
    try withBlog { file in
      let sound = run(["check", file.path])
      #expect(sound.status == 0)
      #expect(sound.output == "checked: Post\nnext: do nothing: the file is sound\n")
      try file.tamper("UPDATE blog__post_v1_0__f10 SET f10 = 7 WHERE rowid = 2")
      let index = run(["check", file.path])
      #expect(index.status == 1)
      #expect(index.output.contains("repairable: wrongIndexRow: table blog__post_v1_0__f10, row 2"))
      #expect(
        index.output.hasSuffix("next: do nothing: the next query that uses the index repairs it\n"))
      try file.tamper("UPDATE blog__post_v1_0 SET p = x'00112233' WHERE rowid = 1")
      try file.tamper("UPDATE dflat_schemas SET digest = 'x' WHERE \"table\" LIKE 'dict%'")
      let damaged = run(["check", file.path, "--json"])
      #expect(damaged.status == 1)
      let json = try #require(
        try JSONSerialization.jsonObject(with: Data(damaged.output.utf8)) as? [String: Any])
      let findings = try #require(json["findings"] as? [[String: Any]])
      #expect(findings.first?["kind"] as? String == "damagedRow")
      #expect(findings.first?["row"] as? Int == 1)
      #expect(findings.last?["kind"] as? String == "damagedSchema")
      #expect(run(["check", file.path, "--limit", "1"]).output.contains("there may be more"))
      #expect(run(["check", file.path, "--limit", "0"]).status == 64)
      try file.tamper("DROP TABLE dflat_schemas")
      #expect(
        run(["check", file.path]).output.contains("not checked, without a schema: blog__post"))
    }
  }

  @Test("stats shows what takes the pages")
  func stats() throws {
    try withBlog { file in
      let json = try #require(try json(["stats", file.path, "--json"]) as? [[String: Any]])
      let main = try #require(json.first { $0["name"] as? String == "blog__post_v1_0" })
      #expect(main["type"] as? String == "Post" && main["pages"] as? Int == 1)
      #expect(run(["stats", file.path]).output.hasPrefix("name"))
    }
  }

  @Test("backup makes a checked copy of one state, and diff shows what has changed since")
  func backupAndDiff() throws {
    try withBlog { file in
      let copy = file.path + ".copy"
      let made = run(["backup", file.path, copy])
      #expect(made.status == 0 && made.output.contains("checked"), "\(made.errors)")
      #expect(run(["backup", file.path, copy]).status == 74)
      let same = run(["diff", file.path, copy])
      #expect(same.status == 0 && same.output.isEmpty && same.errors == "0 differences\n")
      try file.change(1) { $0.likes = 12 }
      try file.store([post(9)])
      try file.dflat.write(Post.self) { _ = try $0.delete(post(2)) }
      let different = run(["diff", copy, file.path])
      #expect(different.status == 1 && different.errors == "3 differences\n")
      #expect(different.output == "~ Post s, 1\n    likes: 11 → 12\n- Post s, 2\n+ Post s, 9\n")
      let lines = run(["diff", copy, file.path, "Post", "--json"]).output.split(separator: "\n")
      #expect(lines.count == 3 && lines[0].contains(#""kind":"changed""#))
      #expect(run(["diff", copy, file.path, "Pots"]).status == 64)
      let beside = try FileManager.default.contentsOfDirectory(
        atPath: URL(filePath: copy).deletingLastPathComponent().path)
      #expect(!beside.contains { $0.hasPrefix("test.db.copy-") })
      let damaged = file.path + ".damaged"
      var bytes = try Data(contentsOf: URL(filePath: copy))
      let page = try file.sqlite3(
        "SELECT (rootpage - 1) * 4096 FROM sqlite_master WHERE name = 'blog__post_v1_0'")
      let start = try #require(Int(page))
      bytes.replaceSubrange(start..<start + 100, with: Data(repeating: 0xEE, count: 100))
      try bytes.write(to: URL(filePath: damaged))
      let refused = run(["backup", damaged, file.path + ".copy2"])
      #expect(refused.status == 65, "\(refused)")
      #expect(!FileManager.default.fileExists(atPath: file.path + ".copy2"))
      let found = run(["check", damaged])
      #expect(found.status == 1 && found.output.contains("damage: damagedFile"), "\(found)")
    }
  }

  @Test("A file of upstream is shown with a schema, and without")
  func upstream() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let fixtures = tests.appending(path: "SQLiteDflatTests/Fixtures").path
    let schema = tests.appending(path: "DflatTestSupport/Schemas/blog.fbs").path
    let file = "\(fixtures)/complete.db"
    #expect(run(["info", file]).output.contains("blog__post_v1_0  8"))
    let unnamed = run(["query", file, "blog__post_v1_0"])
    #expect(unnamed.status == 0 && unnamed.output.hasPrefix("__pk0 "), "\(unnamed)")
    let named = run(["query", file, "Post where likes > 0", "--schema", schema, "--count"])
    #expect(named.status == 0 && Int(named.output.dropLast()) ?? 0 > 0, "\(named)")
    let all = run(["export", file, "Post", "--schema", schema])
    #expect(all.errors == "8 objects\n", "\(all.errors)")
    #expect(run(["dictionary", file]).status == 0)
    let hint = run(["query", file, "blog__post_v1_0 where likes > 0"])
    #expect(hint.status == 64 && hint.errors.contains("--schema FILE.fbs"))
  }

  @Test("The examples of the help run")
  func examples() throws {
    try withBlog { file in
      let folder = try ExampleFolder(file)
      defer { _ = try? PlainConnection().run("DROP SCHEMA IF EXISTS \(folder.schema) CASCADE") }
      for verb in Verb.all {
        let help = run(["help", verb.name])
        #expect(help.status == 0 && help.output == run([verb.name, "--help"]).output)
        for line in help.output.split(separator: "\n") {
          #expect(line.count <= 98, "\(verb.name): \(line)")
        }
        for (line, _) in verb.examples {
          #expect(help.output.contains("dflat \(line)"))
          let words = try Self.words(line).map { try folder.path($0) }
          // A watch ends after its first look.
          let result = run(words, stopped: true)
          #expect(result.status == 0, "\(line): \(result.errors)")
        }
      }
      #expect(run(["help"]).output.contains("dflat help VERB"))
    }
  }

  /// The words of a command line, as a shell divides it.
  private static func words(_ line: String) -> [String] {
    line.split(separator: "\"", omittingEmptySubsequences: false).enumerated().flatMap {
      place, part in
      place.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [String(part)]
    }
  }

  @Test(
    "A call that makes no sense says so, with status 64",
    arguments: [
      ([], "usage: dflat"), (["inf"], "did you mean 'info'?"), (["info"], "something is missing"),
      (["info", "a", "b"], "'b' is too much"), (["info", "a", "--jsn"], "did you mean --json?"),
      (["query", "a", "b", "--select"], "--select needs a value"),
      (["vacuum", "postgresql://localhost/a"], "works on files"), (["help", "nothing"], "no verb"),
    ])
  func usage(arguments: [String], message: String) {
    let result = run(arguments)
    #expect(result.status == 64 && result.errors.contains(message), "\(result.errors)")
  }

  @Test("A number with a sign is no option")
  func negativeNumbers() throws {
    try withBlog { file in
      let (path, folder) = (file.path + ".numbers", file.path + ".folder")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try "table N { id: int (primary); d: double; } root_type N;".write(
        toFile: "\(folder)/n.fbs", atomically: true, encoding: .utf8)
      let stored = run(
        ["import", path, "N", "-", "--schema", "\(folder)/n.fbs", "--yes"],
        input: #"{"id":-2147483648,"d":1}"#)
      #expect(stored.status == 0, "\(stored.errors)")
      for words in [["-2147483648"], ["--", "-2147483648"], ["--json", "-2147483648"]] {
        let found = run(["get", path, "N"] + words)
        #expect(found.status == 0 && found.output.contains("-2147483648"), "\(found.errors)")
      }
      for (value, type) in [
        ("-5", "int"), ("-2.5", "double"), ("-.5", "double"), ("-1e3", "double"),
      ] {
        let set = run(["dictionary", path, "set", "i", value, "--type", type, "--yes"])
        #expect(set.status == 0, "\(set.errors)")
        let shown = run(["dictionary", path, "get", "i"]).output
        #expect(Double(shown.dropLast()) == Double(value))
      }
      #expect(run(["get", path, "N", "-5"]).status == 1)
      #expect(run(["info", path, "-5"]).errors.contains("'-5' is too much"))
      for word in ["-x", "-5x", "--5"] {
        #expect(run(["get", path, "N", word]).errors.contains("has no option"))
        #expect(!run(["get", path, "N", "--", word]).errors.contains("has no option"))
      }
    }
  }

  @Test(
    "A command line in a message can be run, whatever a file is called",
    arguments: [
      "blog.db", "it's a file.db", "a;b&c.db", "$(x)`y`.db", "ä b.db", "postgresql://u@h/a?b=c&d=e",
      "", "~/a", "#a", "a*.db",
    ])
  func commandLines(path: String) throws {
    let command = try RunningCommand(script: "printf %s \(path.shellWord)")
    #expect(command.end().output == path)
    #expect("a/blog-1.db".shellWord == "a/blog-1.db")
    #expect(run(["repair", "a&b.db"]).errors.contains("dflat repair 'a&b.db' -o NEW"))
  }

  @Test("Files that are missing or damaged have statuses of their own")
  func statuses() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    #expect(run(["info", "\(directory)/none.db"]).status == 66)
    let text = "\(directory)/text.db"
    try String(repeating: "no database ", count: 500).write(
      toFile: text, atomically: true, encoding: .utf8)
    #expect(run(["info", text]).status == 65)
    try withBlog { file in
      #expect(run(["export", file.path, "Post", "-o", "\(directory)/no/such/folder"]).status == 74)
      #expect(run(["query", file.path, "Pots"]).status == 64)
    }
  }
}
