// Files whose directory is not writable.

import Foundation
import SQLiteAccess
import Testing

@Suite("Reading where nothing can be written")
struct FrozenFileTests {
  /// Calls `body` with a properly closed file in WAL mode for which no `-shm` file can be created:
  /// its name is a dangling link, which stops even the superuser.
  private func withFrozenFile(_ body: (_ path: String) throws -> Void) throws {
    try withTemporaryFile { path in
      try makeFilledFile(path).close()
      try block(path)
      try body(path)
    }
  }

  private func block(_ path: String) throws {
    try FileManager.default.createSymbolicLink(
      atPath: path + "-shm", withDestinationPath: "/no such directory/shm")
  }

  private func unblock(_ path: String) throws {
    try FileManager.default.removeItem(atPath: path + "-shm")
  }

  @Test("A properly closed file is read without locks")
  func closedFile() throws {
    try withFrozenFile { path in
      let connection = try Connection.openForReading(path: path)
      #expect(try connection.value("SELECT count(*) FROM t") == 100)
      #expect(connection.isWithoutLocks && !connection.isOutdated)
      #expect(throws: SQLiteError.self) { try connection.execute("DELETE FROM t") }
    }
  }

  @Test("An ordinary file is read with locks")
  func ordinaryFile() throws {
    try withTemporaryFile { path in
      let writer = try makeFilledFile(path)
      let connection = try Connection.openForReading(path: path)
      try writer.execute("DELETE FROM t WHERE id = 1")
      #expect(try connection.value("SELECT count(*) FROM t") == 99)
      #expect(!connection.isWithoutLocks && !connection.isOutdated)
    }
  }

  @Test("A log with commits is not ignored: reading is an error")
  func logBesideFile() throws {
    try withTemporaryDirectory { directory in
      let (path, copy) = (directory + "/a.db", directory + "/b.db")
      let writer = try makeFilledFile(path)
      try writer.execute("DELETE FROM t WHERE id = 1")
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
      }
      try block(copy)
      let error = #expect(throws: SQLiteError.self) { try Connection.openForReading(path: copy) }
      #expect(error?.isReadOnly == true && error?.message.contains("copy the file") == true)
      try unblock(copy)
      #expect(try Connection.openForReading(path: copy).value("SELECT count(*) FROM t") == 99)
    }
  }

  @Test("A missing file, and one that is not a database, have their usual errors")
  func otherErrors() throws {
    try withTemporaryFile { path in
      let missing = #expect(throws: SQLiteError.self) { try Connection.openForReading(path: path) }
      #expect(missing?.isNoSuchFile == true)
      try Data(repeating: 65, count: 5000).write(to: URL(fileURLWithPath: path))
      let damaged = #expect(throws: SQLiteError.self) { try Connection.openForReading(path: path) }
      #expect(damaged?.isCorrupt == true)
    }
  }

  @Test("A change to the file is noticed; a pool reopens it, with locks once that is possible")
  func change() throws {
    try withFrozenFile { path in
      let pool = ReaderPool(path: path)
      let lease = try pool.checkout()
      #expect(try lease.connection.value("SELECT count(*) FROM t") == 100)
      lease.end()
      let isWithoutLocks = try pool.withReader { $0.isWithoutLocks }
      #expect(isWithoutLocks)
      try unblock(path)
      let writer = try Connection(path: path)
      try writer.execute("DELETE FROM t WHERE id = 1")
      try pool.withReader { reader throws in
        #expect(try reader.value("SELECT count(*) FROM t") == 99)
        #expect(!reader.isWithoutLocks)
      }
      #expect(pool.openCount == 1)
    }
  }

  @Test("A pool whose file can no longer be opened frees the place")
  func placeAfterFailure() throws {
    try withFrozenFile { path in
      let pool = ReaderPool(path: path, limit: 1)
      let isWithoutLocks = try pool.withReader { $0.isWithoutLocks }
      #expect(isWithoutLocks)
      try FileManager.default.removeItem(atPath: path)
      #expect(throws: SQLiteError.self) { try pool.withReader { _ in } }
      #expect(pool.openCount == 0)
    }
  }
}
