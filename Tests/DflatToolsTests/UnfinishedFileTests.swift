// Files that killed processes have left, and names that are as long as file systems allow.

import DflatTestSupport
import Foundation
import Platform
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("Unfinished files")
struct UnfinishedFileTests {
  /// Calls `body` with a directory and the path of a file in it.
  private func withFile(_ body: (_ directory: String, _ path: String) throws -> Void) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let made = TemporaryFile(path: "\(directory)/blog.db")
    try made.store([post(1)])
    made.dflat.shutdown()
    try body(directory, made.path)
  }

  private func write(_ path: String, _ way: Way, from file: String) throws {
    let data = try DataFile.open(file)
    defer { data.close() }
    switch way {
    case .backup: _ = try data.backup(to: path)
    case .export: _ = try data.export(try data.type(named: "Post"), toFile: path)
    case .repair: _ = try Repair.runAndWait(from: file, to: path)
    }
  }

  enum Way: CaseIterable { case backup, export, repair }

  @Test(
    "What a killed process has left for a file is removed by the next one", arguments: Way.allCases)
  func leftovers(way: Way) throws {
    try withFile { directory, file in
      let new = "\(directory)/new"
      let left = [
        "\(new).unfinished-0123456789abcdef", "\(new).unfinished-0123456789abcdef-journal",
      ]
      let others = ["\(new).unfinished-mine", "\(directory)/other.unfinished-0123456789abcdef"]
      for path in left + others { try Data("x".utf8).write(to: URL(filePath: path)) }
      try write(new, way, from: file)
      let there = (left + others).filter { FileManager.default.fileExists(atPath: $0) }
      #expect(there == others)
      #expect(FileManager.default.fileExists(atPath: new))
    }
  }

  @Test("The file of a living process is not removed")
  func living() throws {
    try withFile { directory, file in
      let new = "\(directory)/new"
      var other: UnfinishedFile? = UnfinishedFile(for: new)
      let path = try #require(other?.path)
      try Data("x".utf8).write(to: URL(filePath: path))
      try write(new, .backup, from: file)
      #expect(FileManager.default.fileExists(atPath: path))
      // Its lock ends with it.
      other = nil
      _ = UnfinishedFile(for: new)
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  @Test("Files have names as long as the file system allows", arguments: Way.allCases)
  func longNames(way: Way) throws {
    try withFile { directory, file in
      // SQLite puts a journal beside a database.
      let name = String(repeating: "ü", count: 123)
      try write("\(directory)/\(name)", way, from: file)
      #expect(
        try Set(FileManager.default.contentsOfDirectory(atPath: directory)) == ["blog.db", name])
    }
  }
}
