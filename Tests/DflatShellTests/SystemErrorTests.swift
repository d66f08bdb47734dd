// Errors of the system: the message names the file and the reason, and no file is lost.

import DflatTestSupport
import DflatTools
import Foundation
import SQLiteAccess
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
      let folder = URL(filePath: file.path).deletingLastPathComponent().path
      let (copy, path) = (file.path + ".copy", file.path + ".jsonl")
      #expect(run(["backup", file.path, copy]).status == 0)
      try damageTable(of: copy)
      try "old".write(toFile: path, atomically: false, encoding: .utf8)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      let failed = run(["export", copy, "Post", "--output", path, "--yes"])
      #expect(failed.status == 65, "\(failed)")
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "old")
      let namesNow = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      #expect(namesNow == names)
    }
  }

  /// Overwrites the page that has the posts of a file.
  private func damageTable(of path: String) throws {
    let connection = try Connection(path: path, mode: .immutable)
    let page = try #require(
      try connection.value(
        "SELECT rootpage FROM sqlite_master WHERE name = '\(Blog.Post._schema.table)'")?.integer)
    let size = try #require(try connection.pragma("page_size")?.integer)
    try connection.close()
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.seek(toOffset: UInt64((page - 1) * size))
    try handle.write(contentsOf: Data(repeating: 0xFF, count: 100))
    try handle.close()
  }
}
