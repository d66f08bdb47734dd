// Files that are named by a symbolic link, on the disk of another machine, or from the future.

import DflatTestSupport
import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("A file behind a link")
struct LinkedFileTests {
  /// Calls `body` with a file of two posts, a copy of it with one, and a link to the first one.
  private func withLink(
    _ body: (_ path: String, _ copy: String, _ link: String) throws -> Void
  ) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let (path, copy) = ("\(directory)/a.db", "\(directory)/copy.db")
    let file = TemporaryFile(path: path)
    try file.store([post(1)])
    let connection = try file.foreignConnection()
    try connection.backup(to: copy)
    try connection.close()
    try file.store([post(2)])
    file.dflat.shutdown()
    let link = "\(directory)/link.db"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    try body(path, copy, link)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
  }

  private func count(_ path: String) throws -> Int {
    let file = TemporaryFile(path: path)
    defer { file.dflat.shutdown() }
    return file.posts.all().count
  }

  @Test("A backup takes the place of the file, not of the link")
  func restored() throws {
    try withLink { path, copy, link in
      let report = try DataFile.restore(copy, to: link, replacing: true)
      #expect(report.replaced == path + ".replaced")
      #expect(try count(path) == 1 && count(link) == 1 && count(path + ".replaced") == 2)
    }
  }

  @Test("A file with several hard links is not replaced: the others would lead to the old one")
  func hardLinks() throws {
    try withLink { path, copy, link in
      try FileManager.default.linkItem(atPath: path, toPath: path + ".other")
      for replace in [
        { _ = try DataFile.vacuum(link) },
        { _ = try DataFile.restore(copy, to: path, replacing: true) },
      ] {
        let error = #expect(throws: ToolError.self, performing: replace)
        #expect(error?.message.contains("2 names") == true)
      }
      #expect(try count(path) == 2 && count(path + ".other") == 2)
      #expect(DataFile.areSame(path, path + ".other"))
      let names = try FileManager.default.contentsOfDirectory(
        atPath: URL(filePath: path).deletingLastPathComponent().path)
      // Those that read have made logs.
      let others = names.filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
      #expect(others.sorted() == ["a.db", "a.db.other", "copy.db", "link.db"])
      try FileManager.default.removeItem(atPath: path + ".other")
      _ = try DataFile.vacuum(link)
    }
  }

  @Test("A vacuum rewrites the file, not the link")
  func vacuumed() throws {
    try withLink { path, _, link in
      _ = try DataFile.vacuum(link)
      #expect(try count(path) == 2)
      let names = try FileManager.default.contentsOfDirectory(
        atPath: URL(filePath: path).deletingLastPathComponent().path)
      #expect(names.filter { $0.hasSuffix(".db") }.sorted() == ["a.db", "copy.db", "link.db"])
      #expect(!names.contains { $0.contains("vacuum") }, "\(names)")
    }
  }

  @Test("What a killed vacuum has left is removed by the next one")
  func leftovers() throws {
    try withLink { path, _, _ in
      let left = [".vacuumed", ".vacuumed-journal", ".before-vacuum"].map { path + $0 }
      for path in left { try Data("half".utf8).write(to: URL(filePath: path)) }
      _ = try DataFile.vacuum(path)
      #expect(try count(path) == 2)
      for path in left { #expect(!FileManager.default.fileExists(atPath: path), "\(path)") }
    }
  }

  @Test("What is in the log of a linked file only is seen, and comes back from a repair")
  func logged() throws {
    try withLink { path, _, link in
      let writer = TemporaryFile(path: path)
      defer { writer.dflat.shutdown() }
      try writer.store([post(3)])
      let file = try DataFile.open(link)
      #expect(try file.information().logBytes > 0)
      #expect(try file.fileStatistics().logBytes > 0)
      file.close()
      let (copy, linkToCopy, saved) = (path + ".copy", link + ".copy", path + ".saved")
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
      }
      try FileManager.default.createSymbolicLink(atPath: linkToCopy, withDestinationPath: copy)
      _ = try Repair.runAndWait(from: linkToCopy, to: saved)
      #expect(try count(saved) == 3)
    }
  }

  @Test("Each tool sees what is only in the log that a crash has left beside a linked file")
  func leftLog() throws {
    try withLink { path, copy, link in
      let writer = TemporaryFile(path: path)
      try writer.store([post(3)])
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: path + ".left" + suffix)
      }
      writer.dflat.shutdown()
      let linked = link + ".left"
      // From the folder of the link.
      try FileManager.default.createSymbolicLink(
        atPath: linked, withDestinationPath: "a.db.left")
      let file = try DataFile.open(linked)
      #expect(try file.count("Post") == 3)
      var lines = 0
      let type = try #require(file.types.first)
      #expect(try file.export(type) { lines += $0.count { $0 == UInt8(ascii: "\n") } } == 3)
      #expect(lines == 3)
      _ = try file.backup(to: path + ".backup")
      _ = try file.backup(into: path + ".backups")
      var differences = 0
      let other = try DataFile.open(copy)
      _ = try file.differences(from: other) { _ in differences += 1 }
      other.close()
      file.close()
      #expect(differences == 2)
      _ = try DataFile.restore(linked, to: path + ".restored")
      _ = try DataFile.restore(path + ".backups", to: path + ".newest")
      for made in [".backup", ".restored", ".newest"] { #expect(try count(path + made) == 3) }
      #expect(try DataFile.check(linked).findings.isEmpty)
    }
  }

  @Test("A link that leads to itself or to nothing is named, and so is what is no file")
  func noFile() throws {
    try withLink { path, _, _ in
      let (loop, nothing, pipe) = (path + ".loop", path + ".nothing", path + ".pipe")
      let manager = FileManager.default
      try manager.createSymbolicLink(atPath: loop, withDestinationPath: loop + "2")
      try manager.createSymbolicLink(atPath: loop + "2", withDestinationPath: loop)
      try manager.createSymbolicLink(atPath: nothing, withDestinationPath: "/no/such/file")
      #expect(mkfifo(pipe, 0o600) == 0)
      let folder = URL(filePath: path).deletingLastPathComponent().path
      for (path, message) in [
        (loop, "a symbolic link that leads to itself"), (nothing, "a symbolic link to no file"),
        (pipe, "no ordinary file"), (folder, "a folder"),
      ] {
        func refused(_ body: () throws -> Void) {
          let error = #expect(throws: ToolError.self) { try body() }
          #expect(error?.message.contains(message) == true, "\(error as Any)")
          #expect(error?.advice != nil)
        }
        refused { _ = try DataFile.open(path) }
        refused { _ = try DataFile.openForChanges(path) }
        refused { _ = try DataFile.check(path) }
        refused { _ = try DataFile.vacuum(path) }
        refused { _ = try DataFile.vacuumInSteps(path) }
        if path != folder { refused { _ = try DataFile.restore(path, to: path + ".restored") } }
        if path == pipe { refused { _ = try Import(into: .file(path), type: "Post") } }
      }
    }
  }

  /// Calls `body` with a file of three posts, of which the last one is only in a log that a killed
  /// process has moved away.
  private func withInterrupted(_ body: (_ path: String) throws -> Void) throws {
    try withLink { path, _, _ in
      let writer = TemporaryFile(path: path)
      try writer.store([post(3)])
      let copy = path + ".moved"
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
      }
      writer.dflat.shutdown()
      var status = stat()
      #expect(stat(copy, &status) == 0)
      let kept = copy + ".replaced"
      try Data("\(status.st_dev) \(status.st_ino) \(kept)\n".utf8)
        .write(to: URL(filePath: copy + ".restoring"))
      #expect(rename(copy + "-wal", kept + "-wal") == 0)
      try body(copy)
    }
  }

  @Test("A file whose log a killed process has moved away is not looked at without it")
  func interrupted() throws {
    try withInterrupted { path in
      let names = try namesBeside(path)
      let way = "dflat vacuum \(path) --incremental"
      let error = #expect(throws: ToolError.self) { try DataFile.open(path) }
      #expect("\(error as Any)".contains(way))
      let unchecked = #expect(throws: ToolError.self) { try DataFile.check(path) }
      #expect("\(unchecked as Any)".contains(way))
      let unsaved = #expect(throws: ToolError.self) {
        try Repair.runAndWait(from: path, to: path + ".saved")
      }
      #expect("\(unsaved as Any)".contains(way))
      #expect(try namesBeside(path) == names)
    }
  }

  @Test("It has its log again before it is made smaller", arguments: [false, true])
  func madeSmaller(inSteps: Bool) throws {
    try withInterrupted { path in
      _ = try inSteps ? DataFile.vacuumInSteps(path) : DataFile.vacuum(path)
      #expect(try count(path) == 3)
      #expect(!FileManager.default.fileExists(atPath: path + ".restoring"))
    }
  }

  private func namesBeside(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(
      atPath: URL(filePath: path).deletingLastPathComponent().path
    ).sorted()
  }

  @Test("Another machine's disk, and a clock that went back, are named")
  func hazards() throws {
    let mounts = """
      22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw
      40 22 0:45 / /home rw,nosuid shared:9 master:2 - nfs4 host:/home rw

      """
    #expect(NetworkFileSystem.name(of: "0:45", in: mounts) == "nfs4")
    #expect(NetworkFileSystem.name(of: "8:1", in: mounts) == nil)
    #expect(NetworkFileSystem.name(of: "8:2", in: mounts) == nil)
    try withLink { path, _, _ in
      func hazards() throws -> String {
        let file = try DataFile.open(path)
        defer { file.close() }
        return try file.information().hazards.joined(separator: "\n")
      }
      #expect(try !hazards().contains("clock"))
      try FileManager.default.setAttributes(
        [.modificationDate: Date() + 100_000], ofItemAtPath: path)
      #expect(try hazards().contains("changed in the future"))
    }
  }
  @Test("A copy that was made without the log, which has everything, is named")
  func copyWithoutLog() throws {
    try withTemporaryFile { file in
      try file.store([post(1, likes: 1)])
      let copy = file.path + ".copy"
      func hazards() throws -> String {
        let file = try DataFile.open(copy)
        defer { file.close() }
        return try file.information().hazards.joined(separator: "\n")
      }
      try FileManager.default.copyItem(atPath: file.path, toPath: copy)
      #expect(try hazards().contains("it was made without the file -wal"))
      try FileManager.default.copyItem(atPath: file.path + "-wal", toPath: copy + "-wal")
      #expect(try !hazards().contains("without"))
      file.dflat.shutdown()
      try FileManager.default.removeItem(atPath: copy)
      try FileManager.default.removeItem(atPath: copy + "-wal")
      try FileManager.default.copyItem(atPath: file.path, toPath: copy)
      #expect(try !hazards().contains("without"))
    }
  }
}
