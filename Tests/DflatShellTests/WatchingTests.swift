// watch and query --watch, as a program that a person ends.

import DflatTestSupport
import Foundation
import Platform
import SQLiteDflat
import Testing

@testable import DflatShell

@Suite("Commands that go on until they are ended")
struct WatchingTests {
  @Test("watch prints what is committed, and ends with 0 when it is interrupted")
  func watch() throws {
    try withBlog { file in
      let command = try RunningCommand(["watch", file.path])
      #expect(command.nextError().hasPrefix("watching \(file.path)"))
      try file.change(1) { $0.likes = 12 }
      #expect(command.nextLine() == "~ Post s, 1")
      #expect(command.nextLine() == "    likes: 11 → 12")
      try file.store([post(9)])
      #expect(command.nextLine() == "+ Post s, 9")
      try file.remove([2])
      #expect(command.nextLine() == "- Post s, 2")
      command.interrupt()
      let end = command.end()
      #expect(end.status == 0 && end.output.isEmpty && end.errors.isEmpty, "\(end)")
    }
  }

  @Test("watch --json prints an object in each line")
  func json() throws {
    try withBlog { file in
      let command = try RunningCommand(["watch", file.path, "Post", "--json"])
      #expect(command.nextError().hasPrefix("watching"))
      try file.change(1) { $0.likes = 12 }
      #expect(
        command.nextLine()
          == #"{"fields":[{"name":"likes","new":"12","old":"11"}],"key":["s","1"],"#
          + #""kind":"updated","row":1,"table":"\#(Post._schema.table)","type":"Post"}"#)
      command.interrupt()
      #expect(command.end().status == 0)
      #expect(run(["watch", file.path, "Pots"]).status == 64)
    }
  }

  @Test("A second interrupt ends a program that the first one does not end")
  func secondInterrupt() throws {
    try withBlog { file in
      let command = try RunningCommand(["watch", file.path, "--json"])
      #expect(command.nextError().hasPrefix("watching"))
      // More than a pipe takes: it waits until the test reads.
      try file.store((100..<5100).map { post($0) })
      #expect(command.nextLine() != nil)
      command.interruptUntilItEnds()
      #expect(command.end().status == 128 + SIGINT)
    }
  }

  @Test("query --watch prints the answer again when it changes")
  func query() throws {
    try withBlog { file in
      let command = try RunningCommand(
        ["query", file.path, "Post where likes > 10", "--count", "--watch"])
      #expect(command.nextLine() == "2")
      try file.store([post(8, likes: 1)])
      try file.store([post(9, likes: 90)])
      #expect(command.nextLine() == "")
      #expect(command.nextLine() == "3")
      command.interrupt()
      let end = command.end()
      #expect(end.status == 0 && end.output.isEmpty, "\(end)")
      let wrong = run(["query", file.path, "Post where lkes > 1", "--watch"], stopped: true)
      #expect(wrong.status == 64)
    }
  }

  @Test("serve prints an address that opens a page, and ends with 0 when it is interrupted")
  func serve() throws {
    try withBlog { file in
      let command = try RunningCommand(["serve", file.path])
      #expect(command.nextError().hasPrefix("showing \(file.path)"))
      let line = try #require(command.nextLine())
      #expect(line.wholeMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+\/\?token=[0-9a-f]{64}/) != nil)
      command.interrupt()
      let end = command.end()
      #expect(end.status == 0 && end.output.isEmpty, "\(end)")
      let json = run(["serve", file.path, "--json", "--allow-changes"], stopped: true)
      #expect(json.status == 0 && json.output.contains("\"address\" : \"http://127.0.0.1:"))
      #expect(run(["serve", file.path + ".none"]).status == 66)
    }
  }
}
