// Connections and pools whose file is removed, moved or replaced while it is open.

import Foundation
import Testing

@testable import SQLiteAccess

@Suite("Files that are replaced while they are open")
struct ReplacedFileTests {
  private func count(_ connection: Connection) throws -> SQLValue? {
    try connection.value("SELECT count(*) FROM t")
  }

  @Test("No commit succeeds after the file was removed, and the open file can be copied")
  func removed() throws {
    try withTemporaryFile { path in
      let connection = try makeFilledFile(path)
      try connection.checkFile()
      try FileManager.default.removeItem(atPath: path)
      #expect(throws: SQLiteError.self) { try connection.checkFile() }
      for change in [
        { try connection.execute("DELETE FROM t") },
        { try connection.execute("DELETE FROM t WHERE id > ?", [5]) },
        { try connection.transaction { try connection.execute("DELETE FROM t") } },
        { try connection.statement("UPDATE t SET text = 'y'").run() },
        { try connection.execute("CREATE TABLE u (a)") },
      ] {
        let error = #expect(throws: SQLiteError.self) { try change() }
        #expect(
          error?.isFileReplaced == true && error?.path == path, "\(String(describing: error))")
        #expect(error?.description.contains("removed or moved while it was open") == true)
        #expect(error?.recoverySuggestion?.contains("backup(to:)") == true)
      }
      #expect(!connection.isInTransaction)
      #expect(try count(connection) == 100)
      try connection.backup(to: path + ".saved")
      let saved = try Connection(path: path + ".saved")
      #expect(try count(saved) == 100)
      try saved.close()
      try connection.close()
    }
  }

  @Test("A file with a rollback journal, too, and one that was opened without settings")
  func rollbackJournal() throws {
    try withTemporaryFile { path in
      let connection = try Connection(path: path)
      try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)")
      #expect(rename(path, path + ".old") == 0)
      let error = #expect(throws: SQLiteError.self) {
        try connection.execute("INSERT INTO t VALUES (2)")
      }
      #expect(error?.isFileReplaced == true)
      #expect(rename(path + ".old", path) == 0)
      try connection.execute("INSERT INTO t VALUES (2)")
      #expect(try count(connection) == 2)
      try connection.close()
    }
  }

  @Test("A connection may end WAL mode, and one in memory has no file")
  func otherModes() throws {
    try withTemporaryFile { path in
      let connection = try makeFilledFile(path)
      try connection.execute("PRAGMA main.journal_mode = DELETE")
      for id in 1...50 { try connection.execute("UPDATE t SET text = 'y' WHERE id = \(id)") }
      try connection.close()
      let memory = try Connection(inMemory: nil)
      try memory.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
      try memory.checkFile()
      #expect(try count(memory) == 1)
    }
  }

  @Test("Readers that are opened later belong to the writer's file, or are refused")
  func pools() throws {
    try withTemporaryFile { path in
      let writer = try makeFilledFile(path)
      let pool = ReaderPool(path: path)
      pool.follow(writer)
      #expect(try pool.withReader { try count($0) } == 100)
      // Another database at the path must not be read with this one's log, and not be changed.
      _ = try makeFilledFile(path + ".other", rows: 3).close()
      let other = try Data(contentsOf: URL(fileURLWithPath: path + ".other"))
      #expect(rename(path + ".other", path) == 0)
      pool.closeIdle()
      let error = #expect(throws: SQLiteError.self) { try pool.withReader { try count($0) } }
      #expect(error?.isFileReplaced == true)
      try writer.close()
      pool.follow(nil)
      pool.close()
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == other)
    }
  }

  @Test("A pool without a writer goes over to the file that is put in place")
  func followingPool() throws {
    try withTemporaryFile { path in
      try makeFilledFile(path).close()
      try makeFilledFile(path + ".other", rows: 3).close()
      let pool = ReaderPool(path: path)
      let old = try pool.checkout()
      #expect(try pool.withReader { try count($0) } == 100)
      #expect(rename(path + ".other", path) == 0)
      pool.closeIdle()
      #expect(try pool.withReader { try count($0) } == 3)
      // A reader of the old file goes on with it, and is not used again.
      #expect(try count(old.connection) == 100)
      old.end()
      let two = try (pool.checkout(), pool.checkout())
      #expect(try count(two.0.connection) == 3 && count(two.1.connection) == 3)
      two.0.end()
      two.1.end()
      pool.close()
    }
  }

  @Test("A commit asks the system once where the path leads")
  func cost() throws {
    try withTemporaryFile { path in
      let connection = try makeFilledFile(path)
      // Links make it two; a plain path has none.
      #expect(connection.looksPerCommit == 1)
      let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
      #expect(symlink(directory, directory + "/link") == 0)
      let linked = try Connection(path: directory + "/link/test.db")
      #expect(linked.looksPerCommit == 2)
    }
  }
}
