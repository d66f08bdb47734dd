// Standard output and standard error that cannot be written: the status is that of the work.

import DflatTestSupport
import Foundation
import SQLiteDflat
import Testing

@testable import DflatShell

@Suite("Streams that cannot be written", .endsSometime)
struct BrokenStreamTests {
  /// The status of the program when a shell has redirected its streams.
  private func status(_ arguments: String, _ redirection: String) throws -> Int32 {
    let command = try RunningCommand(script: "\"$0\" \(arguments) \(redirection)")
    return command.end().status
  }

  @Test(
    "A message that cannot be printed does not change the status",
    arguments: [
      "2>/dev/full", "2>&-", "2>&- <&- >&-", "2>/dev/full >/dev/full", "2>&1 >/dev/full",
    ])
  func errors(redirection: String) throws {
    #expect(try status("info nosuch.db", redirection) == 66)
    #expect(try status("inf", redirection) == 64)
    try withBlog { file in
      let path = "'\(file.path)'"
      let found = try status("dictionary \(path) get nothing", redirection)
      let set = try status("dictionary \(path) set a b --yes", redirection)
      #expect(found == 1 && set == 0)
      #expect(file.dflat.dictionary["a"] == "b")
    }
  }

  @Test("Standard output that cannot be written is an error", arguments: [">/dev/full", ">&-"])
  func output(redirection: String) throws {
    try withBlog { file in
      for verb in ["export '\(file.path)' Post", "check '\(file.path)'", "--version"] {
        let told = try status(verb, redirection)
        let silent = try status(verb, redirection + " 2>&-")
        #expect(told == 74 && silent == 74, "\(verb)")
      }
    }
  }

  @Test("A reader of both streams that ends early is an error of the output")
  func reader() throws {
    try withBlog { file in
      // The shell writes until the reader has ended.
      let wait = "trap '' PIPE; while printf x; do :; done 2>/dev/null"
      let script = "{ \(wait); \"$0\" export '\(file.path)' Post; echo $? >&3; } 2>&1 | true"
      let result = try RunningCommand(script: "{ \(script); } 3>&1").end()
      #expect(result.output == "74\n")
    }
  }

  @Test("Messages never go into a file that got the descriptor of a closed stream")
  func closed() throws {
    try withBlog { file in
      let path = file.path + ".jsonl"
      let words = "export '\(file.path)' Post --output '\(path)'"
      let result = try status(words, "<&- >&- 2>&-")
      #expect(result == 0)
      let lines = try String(contentsOfFile: path, encoding: .utf8)
      #expect(lines == run(["export", file.path, "Post"]).output)
    }
  }
}
