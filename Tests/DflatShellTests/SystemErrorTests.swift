// Errors of the system: the message names the file and the reason, and no file is lost.

import DflatTestSupport
import DflatTools
import Foundation
import Testing

@testable import DflatShell

@Suite("Errors of the system")
struct SystemErrorTests {
  @Test(
    "A full disk is named with the file",
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func fullDisk() throws {
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let error = #expect(throws: ToolError.self) {
      try withSystemErrors("posts.jsonl", "written") { try full.write(contentsOf: Data("x".utf8)) }
    }
    #expect(error?.kind == .storage)
    #expect(error?.message == "posts.jsonl cannot be written: No space left on device")
  }

  @Test("A directory is no input")
  func directory() throws {
    try withBlog { file in
      let directory = URL(filePath: file.path).deletingLastPathComponent().path()
      let result = run(["import", file.path, "Post", directory, "--format", "jsonl", "--yes"])
      #expect(result.status == 74)
      #expect(result.errors.contains("\(directory) cannot be read: Is a directory"))
    }
  }

  @Test("An export that fails keeps the file that is there, and leaves no other one")
  func export() throws {
    try withBlog { file in
      let path = file.path + ".jsonl"
      try "old".write(toFile: path, atomically: false, encoding: .utf8)
      let unfinished = path + ".unfinished"
      try FileManager.default.createDirectory(
        atPath: unfinished, withIntermediateDirectories: false)
      let failed = run(["export", file.path, "Post", "--output", path])
      #expect(failed.status == 74 && failed.errors.contains("\(path) cannot be written"))
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "old")
      try FileManager.default.removeItem(atPath: unfinished)
      #expect(run(["export", file.path, "Post", "--output", path]).status == 0)
      #expect(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count == 3)
      #expect(!FileManager.default.fileExists(atPath: unfinished))
    }
  }
}
