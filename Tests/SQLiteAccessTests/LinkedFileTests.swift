// Files that are read through symbolic links. SQLite's own files are beside the file, not the link.

import Foundation
import SQLiteAccess
import Testing

@Suite("Reading through a symbolic link")
struct LinkedFileTests {
  /// How a link leads to the file.
  enum Way: CaseIterable {
    case direct, relative, chain, folder
  }

  /// Makes a link to `real/a.db` in a directory, and returns its path.
  private func link(_ way: Way, in directory: String) throws -> String {
    func link(_ name: String, to target: String) throws -> String {
      let path = "\(directory)/\(name)"
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
      return path
    }
    switch way {
    case .direct: return try link("link.db", to: "\(directory)/real/a.db")
    case .relative: return try link("link.db", to: "real/a.db")
    case .chain:
      _ = try link("second", to: "real/a.db")
      return try link("first", to: "second")
    case .folder: return try link("folder", to: "real") + "/a.db"
    }
  }

  private func withRealFile(_ body: (_ directory: String, _ path: String) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      try FileManager.default.createDirectory(
        atPath: "\(directory)/real", withIntermediateDirectories: false)
      try body(directory, "\(directory)/real/a.db")
    }
  }

  @Test("Commits in the log that a crash has left are seen", arguments: Way.allCases)
  func leftLog(way: Way) throws {
    try withRealFile { directory, path in
      let writer = try makeFilledFile("\(directory)/b.db")
      try writer.execute("DELETE FROM t WHERE id = 1")
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(
          atPath: "\(directory)/b.db" + suffix, toPath: path + suffix)
      }
      let connection = try Connection.openLeavingNoTrace(path: try link(way, in: directory))
      #expect(try connection.value("SELECT count(*) FROM t") == 99)
      try connection.close()
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: "\(directory)/real").sorted()
          == ["a.db", "a.db-wal"])
    }
  }

  @Test("Commits of a program that has the file open are seen", arguments: Way.allCases)
  func inUse(way: Way) throws {
    try withRealFile { directory, path in
      let writer = try makeFilledFile(path)
      try writer.execute("DELETE FROM t WHERE id = 1")
      let connection = try Connection.openLeavingNoTrace(path: try link(way, in: directory))
      #expect(try connection.value("SELECT count(*) FROM t") == 99)
      #expect(!connection.isWithoutLocks)
    }
  }

  @Test("A commit after the file was opened without locks is noticed", arguments: Way.allCases)
  func laterCommit(way: Way) throws {
    try withRealFile { directory, path in
      try makeFilledFile(path).close()
      let connection = try Connection.openLeavingNoTrace(path: try link(way, in: directory))
      #expect(connection.isWithoutLocks && !connection.isOutdated)
      let writer = try Connection(path: path)
      try writer.execute("DELETE FROM t WHERE id = 1")
      #expect(connection.isOutdated)
      try writer.close()
    }
  }
}
