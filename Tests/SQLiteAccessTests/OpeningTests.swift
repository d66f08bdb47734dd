import Foundation
import SQLiteAccess
import Testing

@Suite("Opening and closing")
struct OpeningTests {
  @Test("A missing file is a distinct error, unless the file is to be created")
  func missingFile() throws {
    try withTemporaryFile { path in
      for mode in [Connection.OpenMode.readOnly, .readWrite, .immutable] {
        let error = #expect(throws: SQLiteError.self) { try Connection(path: path, mode: mode) }
        #expect(error?.isNoSuchFile == true && error?.isCantOpen == true)
        #expect(error?.path == path)
        #expect(error?.description.contains("the file does not exist") == true)
      }
      #expect(!FileManager.default.fileExists(atPath: path))
      try Connection(path: path).execute("CREATE TABLE t (a)")
      #expect(try Connection(path: path, mode: .readOnly).rows("SELECT * FROM t").isEmpty)
    }
  }

  @Test("A directory is an error, but not a missing file")
  func directory() throws {
    try withTemporaryDirectory { path in
      let error = #expect(throws: SQLiteError.self) { try Connection(path: path) }
      #expect(error?.isCantOpen == true && error?.isNoSuchFile == false)
    }
  }

  @Test("No path and a path with NUL are refused", arguments: ["", "a\0b"])
  func badPath(path: String) {
    let error = #expect(throws: SQLiteError.self) { try Connection(path: path) }
    #expect(error?.isCantOpen == true)
  }

  @Test(
    "Every character of a path is literal, in every mode",
    arguments: [
      "plain.db", "with space.db", "a?mode=memory.db", "a#b.db", "50%.db", "%41.db", "a&b=c.db",
      "größe—データ.db", "file:x.db", ":memory:", "a'b\"c;d.db", "a+b.db", "tab\tnew\nline.db",
    ])
  func oddPaths(name: String) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/" + name
      try Connection(path: path).execute("CREATE TABLE t (a); INSERT INTO t VALUES (7)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [name])
      for mode in [Connection.OpenMode.readWrite, .readOnly, .immutable] {
        let connection = try Connection(path: path, mode: mode)
        #expect(try connection.value("SELECT a FROM t") == 7)
        #expect(connection.path == path)
      }
    }
  }

  @Test(
    "Names that are special in SQLite are ordinary files", arguments: [":memory:", "file:y.db"])
  func relativeOddNames(name: String) throws {
    // Opens a missing file read-only: if the name had a special meaning, this would succeed or
    // report another error than a missing file.
    let error = #expect(throws: SQLiteError.self) { try Connection(path: name, mode: .readOnly) }
    #expect(error?.isNoSuchFile == true)
  }

  @Test("A read-only connection reads and does not write")
  func readOnly() throws {
    try withTemporaryFile { path in
      let writer = try makeFilledFile(path)
      let reader = try Connection(path: path, mode: .readOnly)
      #expect(try reader.value("SELECT count(*) FROM t") == 100)
      #expect(reader.isReadOnly && !writer.isReadOnly)
      let error = #expect(throws: SQLiteError.self) { try reader.execute("DELETE FROM t") }
      #expect(error?.isReadOnly == true)
    }
  }

  @Test("An immutable WAL file needs no files beside it")
  func immutable() throws {
    try withTemporaryFile { path in
      try makeFilledFile(path).close()
      // The -shm file cannot be created: its name is a dangling link.
      try FileManager.default.createSymbolicLink(
        atPath: path + "-shm", withDestinationPath: "/no such directory/shm")
      let readOnly = try Connection(path: path, mode: .readOnly, busyTimeoutMilliseconds: 0)
      #expect(throws: SQLiteError.self) { try readOnly.value("SELECT count(*) FROM t") }
      let immutable = try Connection(path: path, mode: .immutable)
      #expect(try immutable.value("SELECT count(*) FROM t") == 100)
    }
  }

  @Test("In-memory databases are private, or shared by name")
  func inMemory() throws {
    let own = try Connection(inMemory: nil)
    try own.execute("CREATE TABLE t (a)")
    #expect(throws: SQLiteError.self) { try Connection(inMemory: nil).execute("SELECT * FROM t") }

    let name = "shared? #%\(UUID())"
    let first = try Connection(inMemory: name)
    try first.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    #expect(try Connection(inMemory: name).value("SELECT a FROM t") == 1)
    #expect(!FileManager.default.fileExists(atPath: name))
  }

  @Test("A file that is damaged or not a database is an error at the first statement")
  func noDatabase() throws {
    try withTemporaryFile { path in
      try Data(repeating: 65, count: 5000).write(to: URL(fileURLWithPath: path))
      let connection = try Connection(path: path)
      let error = #expect(throws: SQLiteError.self) { try connection.rows("SELECT * FROM t") }
      #expect(error?.isCorrupt == true && error?.code == .notADatabase)
    }
  }

  @Test("A connection closes only when no statement is in use, and then returns errors")
  func closing() throws {
    let connection = try Connection(inMemory: nil)
    var statement: Statement? = try connection.statement("SELECT 1")
    #expect(try statement?.step() == true)
    let error = #expect(throws: SQLiteError.self) { try connection.close() }
    #expect(error?.isBusy == true)
    #expect(!connection.isClosed)
    statement = nil
    try connection.close()
    try connection.close()
    #expect(connection.isClosed)
    for use in [
      { _ = try connection.statement("SELECT 1") }, { try connection.execute("SELECT 1") },
      { try connection.begin() }, { try connection.rollback() },
      { _ = try connection.dataVersion() }, { try connection.checkpoint(.restart) },
      { try connection.createFunction("f", argumentCount: 0) { _ in .null } },
      { try connection.trace(nil) }, { _ = try connection.pragma("page_size") },
    ] as [() throws -> Void] {
      let error = #expect(throws: SQLiteError.self) { try use() }
      #expect(error?.isClosed == true)
    }
    connection.interrupter.interrupt()
  }

  @Test("A statement keeps its connection open")
  func statementKeepsConnection() throws {
    var connection: Connection? = try Connection(inMemory: nil)
    let statement = try #require(try connection?.statement("SELECT 41 + 1"))
    connection = nil
    #expect(try statement.step())
    #expect(statement.int64(0) == 42)
  }

  @Test("Releasing everything closes the file")
  func droppingCloses() throws {
    try withTemporaryFile { path in
      do {
        let connection = try makeFilledFile(path)
        _ = try connection.statement("SELECT * FROM t").step()
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
      }
      // The last connection to close removes the log.
      #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }
  }

  @Test("Closing does not checkpoint the log if that is turned off")
  func noCheckpointOnClose() throws {
    try withTemporaryFile { path in
      let connection = try makeFilledFile(path)
      #expect(connection.checkpointsOnClose)
      connection.checkpointsOnClose = false
      #expect(!connection.checkpointsOnClose)
      try connection.close()
      #expect(FileManager.default.fileExists(atPath: path + "-wal"))
    }
  }

  @Test("An unknown identifier in double quotes is an error, not a string")
  func doubleQuotes() throws {
    try withTemporaryFile { path in
      let connection = try Connection(path: path)
      try connection.execute("CREATE TABLE t (a)")
      #expect(throws: SQLiteError.self) { try connection.value("SELECT \"b\" FROM t") }
      #expect(throws: SQLiteError.self) {
        try connection.execute("CREATE INDEX i ON t (\"b\")")
      }
      #expect(try connection.rows("SELECT \"a\" FROM t").isEmpty)
    }
  }
}
