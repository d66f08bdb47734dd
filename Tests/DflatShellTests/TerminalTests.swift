// What the command shows on a terminal: progress, completions, pages for man.

import DflatTestSupport
import Dispatch
import Foundation
import Platform
import SQLiteAccess
import Testing

@testable import DflatShell

@Suite("On a terminal")
struct TerminalTests {
  @Test("A line says how far something is, and is gone at the end")
  func activity() throws {
    let written = Mutex("")
    let isDrawn = DispatchSemaphore(value: 0)
    let line = ActivityLine(width: 40, delayMilliseconds: 0) { text in
      written.withLock { $0 += text }
      isDrawn.signal()
    }
    let activity = Activity("import", line)
    activity.show(50, of: 100)
    isDrawn.expect("the line")
    activity.end()
    let text = written.withLock { $0 }
    #expect(
      text.hasPrefix("\r\u{1B}[Kimport") && text.hasSuffix("\r\u{1B}[K"), "\(text.debugDescription)"
    )
    activity.end()
    #expect(written.withLock { $0 } == text)
  }

  @Test("What is short shows nothing")
  func shortActivity() {
    let written = Mutex("")
    let activity = Activity(
      "import",
      ActivityLine(width: 40) { text in
        written.withLock { $0 += text }
      })
    activity.show(1, of: 2)
    activity.end()
    #expect(written.withLock { $0 }.isEmpty)
  }

  @Test("Whatever may take long shows that it goes on")
  func longVerbs() throws {
    try withBlog { file in
      let (broken, saved) = (file.path + ".broken", file.path + ".saved")
      for arguments in [
        ["info", file.path, "--count"], ["stats", file.path], ["backup", file.path, broken],
        ["repair", broken, "-o", saved], ["diff", file.path, saved], ["check", file.path],
        ["query", file.path, "Post"], ["query", file.path, "Post", "--count"],
        ["copy", file.path, saved, "--yes"],
        ["export", file.path, "Post", "--output", file.path + ".jsonl"],
        ["import", saved, "Post", file.path + ".jsonl", "--yes"], ["vacuum", saved, "--yes"],
        ["restore", broken, file.path + ".restored"],
      ] {
        let written = Mutex("")
        let line = ActivityLine(width: 60, delayMilliseconds: 0) { text in
          written.withLock { $0 += text }
        }
        let result = run(arguments, activity: line)
        #expect(result.status == 0, "\(arguments): \(result.errors)")
        let text = written.withLock { $0 }
        let begin = "\r\u{1B}[K"
        #expect(
          text.hasPrefix(begin + arguments[0]) && text.hasSuffix(begin),
          "\(arguments): \(text.debugDescription)")
      }
    }
  }

  @Test("Results on the same terminal have lines of their own")
  func sharedTerminal() {
    let written = Mutex("")
    let line = ActivityLine(width: 60, delayMilliseconds: 0) { text in
      written.withLock { $0 += text }
    }
    let activity = Activity("diff", line)
    activity.end()
    written.withLock { $0 += "- Post 1\n" }
    activity.end()
    let text = written.withLock { $0 }
    #expect(text.hasPrefix("\r\u{1B}[Kdiff"), "\(text.debugDescription)")
    #expect(text.hasSuffix("s\r\u{1B}[K- Post 1\n"), "\(text.debugDescription)")
  }

  @Test("The line fits the terminal")
  func lineText() {
    #expect(
      Activity.text("import", 60, 100, seconds: 3, width: 40)
        == "import [##########--------]  60 %  3 s")
    #expect(Activity.text("copy", 1200, nil, seconds: 3, width: 40) == "copy 1200  3 s")
    for width in 0..<120 {
      for done in [0, 1, 99, 100, 101] {
        let text = Activity.text("import", done, 100, seconds: 100, width: width)
        #expect(text.count <= max(0, width - 1), "\(width): \(text)")
      }
    }
  }

  @Test("Texts of a file move no cursor and turn no line")
  func plainTexts() {
    let hostile = "a\u{1B}[2J\u{9B}b\u{61C}\u{2028}\u{2029}\u{202E}c\n\td\u{7F}é"
    #expect(TextTable.plain(hostile) == "a·[2J·b····c⏎·d·é")
    #expect(TextTable.plain(hostile, keepsLines: true) == "a·[2J·b····c\n\td·é")
    var table = TextTable(["\u{1B}c"])
    table.add(["\u{1B}c"])
    #expect(table.text(width: nil) == "·c\n·c\n")
  }

  @Test("A table with ideographs and emoji keeps to the width and to its columns")
  func wideCharacters() {
    var table = TextTable(["title", "likes"])
    table.add(["日本語の長い題名です", "1"])
    table.add(["한국어 😀 e\u{301}", "22"])
    #expect(
      table.text(width: nil)
        == "title                 likes\n日本語の長い題名です  1\n한국어 😀 e\u{301}           22\n")
    #expect(
      table.text(width: 19) == "title         likes\n日本語の長…   1\n한국어 😀 e\u{301}   22\n",
      "\(table.text(width: 19))")
    for width in 20..<30 {
      let lines = table.text(width: width).split(separator: "\n")
      #expect(lines.allSatisfy { String($0).columns <= width }, "\(lines)")
    }
  }

  @Test("Names and messages of a file reach the terminal without what would control it")
  func hostileNames() throws {
    try withTemporaryFile { file in
      try file.store([post(1, likes: 3)])
      let connection = try Connection(path: file.path)
      try connection.execute(
        "CREATE TABLE \"post\u{1B}]0;x\u{7}\u{202E}\nnext: all is well\" "
          + "(rowid INTEGER PRIMARY KEY, __pk0 TEXT, p BLOB)")
      try connection.close()
      for verb in ["info", "check", "schema", "stats"] {
        let shown = run([verb, file.path], width: 200)
        let text = shown.output + shown.errors
        #expect(text.contains("post·]0;x··"), "\(verb): \(text)")
        #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}"), "\(verb): \(text)")
        #expect(!text.contains("\nnext: all is well"), "\(verb): \(text)")
      }
      let none = run(["get", file.path, "\u{1B}[31mPost", "1"])
      #expect(none.status == 64 && !none.errors.contains("\u{1B}"), "\(none.errors)")
    }
  }

  /// What a command prints, if it is installed.
  private func judge(_ program: String, _ arguments: [String], input: String = "") throws -> String?
  {
    let path = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/bin"].map {
      "\($0)/\(program)"
    }
    .first { FileManager.default.isExecutableFile(atPath: $0) }
    guard let path else { return nil }
    let process = Process()
    let (output, source) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.environment = ["LC_ALL": "C.UTF-8", "MANWIDTH": "100", "PATH": "/usr/bin:/bin"]
    process.standardOutput = output
    process.standardError = output
    process.standardInput = source
    try process.run()
    try source.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try source.fileHandleForWriting.close()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(String(decoding: data, as: UTF8.self))")
    return String(decoding: data, as: UTF8.self)
  }

  @Test("The completion of bash offers verbs, options, values and files")
  func bash() throws {
    let script = run(["completions", "bash"]).output
    func completions(_ words: [String]) throws -> [String] {
      let list = words.map { "'\($0)'" }.joined(separator: " ")
      let output = try judge(
        "bash", ["--norc", "-s"],
        input: """
          \(script)
          compopt() { :; }
          COMP_WORDS=(dflat \(list)); COMP_CWORD=\(words.count)
          _dflat
          printf '%s\\n' "${COMPREPLY[@]}"
          """)
      return try #require(output).split(separator: "\n").map(String.init)
    }
    #expect(try completions(["e"]) == ["export"])
    #expect(try Set(completions([""])) == Set(Verb.all.map(\.name) + ["help"]))
    #expect(try completions(["import", "--o"]) == ["--one-transaction"])
    #expect(try completions(["export", "a", "b", "--format", ""]) == ["jsonl", "csv"])
    #expect(try completions(["help", "wa"]) == ["watch"])
    #expect(try completions(["completions", "f"]) == ["fish"])
    #expect(try completions(["info", "/us"]) == ["/usr"])
    _ = try judge("shellcheck", ["--shell=bash", "-"], input: script)
  }

  @Test("The completions of zsh and fish are scripts that these shells accept")
  func otherShells() throws {
    let (zsh, fish) = (run(["completions", "zsh"]).output, run(["completions", "fish"]).output)
    #expect(zsh.hasPrefix("#compdef dflat\n") && zsh.contains("'--from-line["))
    #expect(fish.contains("-l from-line -d 'leaves out the lines before this one' -x\n"))
    #expect(
      fish.contains("-l schema -d 'shows a type by this schema; may be given several times' -r -F"))
    _ = try judge("zsh", ["-n", "-s"], input: zsh)
    _ = try judge("fish", ["--no-execute"], input: fish)
    let none = run(["completions", "tcsh"])
    #expect(none.status == 64 && none.errors.contains("there are bash, zsh, fish"))
  }

  @Test("The pages for man have what the help has")
  func manPages() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    for name in [nil] + Verb.all.map({ Optional($0.name) }) {
      let page = run(["help", "--man"] + (name.map { [$0] } ?? []))
      #expect(page.status == 0 && page.output.hasPrefix(".TH DFLAT"))
      let path = "\(directory)/page.1"
      try page.output.write(toFile: path, atomically: true, encoding: .utf8)
      // Its warnings are what groff does not understand.
      guard let shown = try judge("man", ["--warnings", "-P", "cat", "-l", path]) else { return }
      #expect(!shown.contains("warning:"), "\(name ?? "dflat"): \(shown)")
      let verbs = name.map { [$0] } ?? Verb.all.map(\.name)
      let text = shown.replacing("\n", with: " ").split(separator: " ").joined(separator: " ")
      for verb in Verb.all where verbs.contains(verb.name) {
        for option in verb.allOptions { #expect(text.contains(option.name), "\(option.name)") }
        for (line, _) in verb.examples {
          let words = line.split(separator: " ").joined(separator: " ")
          #expect(text.contains("dflat \(words)"), "\(line)")
        }
      }
    }
    #expect(run(["help", "--man", "nothing"]).status == 64)
    #expect(run(["help", "info", "get"]).status == 64)
  }
}
