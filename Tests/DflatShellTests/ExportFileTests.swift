// export into a file: what it never overwrites, and what only if a person wants it.

import DflatTestSupport
import Foundation
import Platform
import Testing

@testable import DflatShell

@Suite("Exporting into a file")
struct ExportFileTests {
  /// Everything in a folder, by its name.
  private func contents(of folder: String) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      contents[name] = FileManager.default.contents(atPath: "\(folder)/\(name)")
    }
    return contents
  }

  /// Calls `body` with a folder that has a closed file, `blog.db`.
  private func withFolder(_ body: (_ folder: String) throws -> Void) throws {
    let folder = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try withBlog { file in
      #expect(run(["backup", file.path, "\(folder)/blog.db"]).status == 0)
    }
    try body(folder)
  }

  @Test("The file that is read is never overwritten, whatever it is called")
  func itself() throws {
    try withFolder { folder in
      let path = "\(folder)/blog.db"
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder)/link.db", withDestinationPath: "blog.db")
      #expect(link(path, "\(folder)/second.db") == 0)
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder)/folder", withDestinationPath: ".")
      let before = try contents(of: folder)
      let ownFiles = [
        "blog.db", "link.db", "second.db", "folder/blog.db", "./blog.db", "blog.db-wal",
        "blog.db-shm", "blog.db-journal", "folder/blog.db-wal",
      ]
      for name in ownFiles {
        for source in [path, "\(folder)/link.db"] {
          let result = run(["export", source, "Post", "--output", "\(folder)/\(name)", "--yes"])
          #expect(result.status == 64, "\(name): \(result)")
          #expect(result.errors.contains("name another file"), "\(result.errors)")
          #expect(try contents(of: folder) == before)
        }
      }
    }
  }

  @Test("Another file is replaced only if a person wants it, and keeps its mode")
  func replaced() throws {
    try withFolder { folder in
      let (path, output) = ("\(folder)/blog.db", "\(folder)/posts.jsonl")
      let old = Data("old".utf8)
      #expect(FileManager.default.createFile(atPath: output, contents: old))
      #expect(chmod(output, 0o600) == 0)
      func content() -> Data? { FileManager.default.contents(atPath: output) }
      let words = ["export", path, "Post", "--output", output]
      let refused = run(words)
      #expect(refused.status == 74 && content() == old, "\(refused)")
      #expect(refused.errors.contains("there is a file \(output) already"), "\(refused.errors)")
      #expect(refused.errors.contains("--yes"))
      #expect(run(words, answer: "n").status == 1 && content() == old)
      let lines = Data(run(["export", path, "Post"]).output.utf8)
      #expect(run(words, answer: "y").status == 0 && content() == lines)
      var status = stat()
      #expect(stat(output, &status) == 0 && status.st_mode & 0o777 == 0o600)
      try old.write(to: URL(filePath: output))
      #expect(run(words + ["--yes"]).status == 0 && content() == lines)
      let names = try contents(of: folder).keys.sorted()
      #expect(names == ["blog.db", "posts.jsonl"])
    }
  }

  @Test("A file behind a link is replaced, and the link stays")
  func linked() throws {
    try withFolder { folder in
      let (path, link) = ("\(folder)/blog.db", "\(folder)/link.jsonl")
      #expect(FileManager.default.createFile(atPath: "\(folder)/posts.jsonl", contents: Data()))
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "posts.jsonl")
      #expect(run(["export", path, "Post", "--output", link, "--yes"]).status == 0)
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "posts.jsonl")
      #expect(FileManager.default.contents(atPath: "\(folder)/posts.jsonl")?.isEmpty == false)
    }
  }

  @Test("An export that is interrupted leaves what was there, and nothing else")
  func interrupted() throws {
    try withFolder { folder in
      let output = "\(folder)/posts.jsonl"
      let call = ["export", "\(folder)/blog.db", "Post", "--output", output, "--yes"]
      for old in [nil, Data("old".utf8)] {
        if let old { try old.write(to: URL(filePath: output)) }
        let before = try contents(of: folder)
        let result = run(call, stopped: true)
        #expect(result.status == 74 && result.errors.contains("interrupted"), "\(result)")
        #expect(try contents(of: folder) == before)
      }
      #expect(run(call).status == 0)
    }
  }

  @Test("Folders and pipes are refused, and files of others with a similar name stay")
  func others() throws {
    try withFolder { folder in
      let path = "\(folder)/blog.db"
      #expect(mkfifo("\(folder)/pipe", 0o600) == 0)
      for name in ["\(folder)/pipe", folder] {
        let result = run(["export", path, "Post", "--output", name, "--yes"])
        #expect(result.status == 74 && result.errors.contains("no ordinary file"), "\(result)")
      }
      let other = "\(folder)/posts.jsonl.unfinished"
      #expect(FileManager.default.createFile(atPath: other, contents: Data("mine".utf8)))
      #expect(run(["export", path, "Post", "--output", "\(folder)/posts.jsonl"]).status == 0)
      #expect(FileManager.default.contents(atPath: other) == Data("mine".utf8))
    }
  }
}
