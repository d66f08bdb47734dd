import Foundation
import SQLiteAccess
import Testing

@Suite("Pragmas and file settings")
struct PragmaTests {
  @Test(
    "A pragma that takes its value is accepted",
    arguments: [
      ("journal_mode", "WAL"), ("synchronous", "normal"), ("synchronous", "FULL"),
      ("synchronous", 0), ("temp_store", "memory"), ("foreign_keys", "on"), ("foreign_keys", true),
      ("cache_size", -4000), ("main.cache_size", "100"), ("user_version", 77),
      ("secure_delete", "fast"), ("locking_mode", "normal"),
    ] as [(String, SQLValue)])
  func accepted(name: String, value: SQLValue) throws {
    try withTemporaryFile { path in
      try Connection(path: path).setPragma(name, value)
    }
  }

  @Test("A pragma that does not take its value is an error with both values")
  func refused() throws {
    // An in-memory database cannot be in WAL mode; SQLite shows that only when the mode is read
    // back.
    let memory = try Connection(inMemory: nil)
    let error = #expect(throws: SQLiteError.self) { try memory.setPragma("journal_mode", "wal") }
    #expect(error?.code == .pragmaRefused)
    #expect(error?.message == "journal_mode should be 'wal' and is 'memory'")
    try memory.setPragma("journal_mode", "wal", expecting: "memory")

    for (name, value) in [("no_such_pragma", 1), ("synchronous", "sometimes")]
      as [(String, SQLValue)]
    {
      let error = #expect(throws: SQLiteError.self) { try memory.setPragma(name, value) }
      #expect(error?.code == .pragmaRefused, "\(name)")
    }
  }

  @Test("A name with other characters is refused", arguments: ["", "a b", "x;DROP", "é", "a=1"])
  func names(name: String) throws {
    let connection = try Connection(inMemory: nil)
    let error = #expect(throws: SQLiteError.self) { try connection.pragma(name) }
    #expect(error?.code == .misuse)
  }

  @Test("Setting auto_vacuum on a file with content is an error")
  func autoVacuumTooLate() throws {
    try withTemporaryFile { path in
      let connection = try Connection(path: path)
      try connection.setPragma("journal_mode", "wal")
      try connection.execute("CREATE TABLE t (a)")
      let error = #expect(throws: SQLiteError.self) {
        try connection.setPragma("auto_vacuum", "incremental")
      }
      #expect(error?.code == .pragmaRefused)
    }
  }

  @Test("A new file gets incremental auto-vacuum and WAL mode, as seen by another connection")
  func newFile() throws {
    try withTemporaryFile { path in
      let connection = try Connection(path: path)
      #expect(
        try connection.prepareDatabaseFile(
          DatabaseFileSettings(pageSize: 8192, synchronous: .full)))
      #expect(try connection.pragma("synchronous") == 2)
      #expect(try !connection.prepareDatabaseFile())
      #expect(try connection.pragma("synchronous") == 1)
      let other = try Connection(path: path, mode: .readOnly)
      #expect(try other.pragma("journal_mode") == "wal")
      #expect(try other.pragma("auto_vacuum") == 2)
      #expect(try other.pageSize() == 8192)
    }
  }

  @Test("A file with content keeps its page size and auto-vacuum mode")
  func existingFile() throws {
    try withTemporaryFile { path in
      try Connection(path: path).execute("PRAGMA page_size = 1024; CREATE TABLE t (a)")
      let connection = try Connection(path: path)
      #expect(try !connection.prepareDatabaseFile(DatabaseFileSettings(pageSize: 8192)))
      #expect(try connection.pragma("auto_vacuum") == 0)
      #expect(try connection.pageSize() == 1024)
      #expect(try connection.pragma("journal_mode") == "wal")
    }
  }

  @Test("A page size that SQLite does not support is an error")
  func badPageSize() throws {
    try withTemporaryFile { path in
      let connection = try Connection(path: path)
      let error = #expect(throws: SQLiteError.self) {
        try connection.prepareDatabaseFile(DatabaseFileSettings(pageSize: 1000))
      }
      #expect(error?.code == .pragmaRefused)
    }
  }

  @Test("Many connections may prepare one new file at the same time")
  func preparedByMany() throws {
    for _ in 0..<10 {
      try withTemporaryFile { path in
        let errors = Collected<String>()
        DispatchQueue.concurrentPerform(iterations: 6) { number in
          do {
            let connection = try Connection(path: path)
            try connection.prepareDatabaseFile()
            try connection.execute("CREATE TABLE t\(number) (a)")
          } catch {
            errors.append("\(error)")
          }
        }
        #expect(errors.all == [])
        let connection = try Connection(path: path)
        #expect(try connection.pragma("auto_vacuum") == 2)
        #expect(try connection.value("SELECT count(*) FROM sqlite_schema") == 6)
      }
    }
  }

  @Test("Turning on WAL mode waits for readers in the old mode")
  func waitsForReaders() throws {
    try withTemporaryFile { path in
      let reader = try Connection(path: path)
      try reader.execute("CREATE TABLE t (a)")
      try reader.begin()
      #expect(try reader.rows("SELECT * FROM t").isEmpty)
      let connection = try Connection(path: path, busyTimeoutMilliseconds: 100)
      let time = ContinuousClock().measure {
        let error = #expect(throws: SQLiteError.self) { try connection.prepareDatabaseFile() }
        #expect(error?.isBusy == true)
      }
      #expect(time >= .milliseconds(90) && time < .seconds(200))
      try reader.commit()
      try connection.prepareDatabaseFile()
      #expect(try Connection(path: path).pragma("journal_mode") == "wal")
    }
  }

  @Test("Incremental vacuum frees as many pages as requested, and the file shrinks")
  func incrementalVacuum() throws {
    try withTemporaryFile { path in
      let connection = try makeFilledFile(path, rows: 10_000)
      try connection.checkpoint(.truncate)
      func fileSize() throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.size] as? Int)
      }
      let full = try fileSize()
      let pages = try connection.pageCount()
      #expect(full == (try connection.pageSize()) * pages)
      try connection.execute("DELETE FROM t WHERE id > 100")
      let free = try connection.freelistCount()
      #expect(free > pages / 2)
      #expect(try connection.incrementalVacuum(pages: 0) == 0)
      #expect(try connection.incrementalVacuum(pages: 10) == 10)
      #expect(try connection.freelistCount() == free - 10)
      // Freeing a page may also free a page of the pointer map.
      #expect(try connection.incrementalVacuum() >= free - 10)
      #expect(try connection.freelistCount() == 0)
      try connection.checkpoint(.truncate)
      #expect(try fileSize() < full / 10)
      #expect(try connection.pragma("integrity_check") == "ok")
    }
  }

  @Test("Without incremental auto-vacuum no pages are freed")
  func noVacuum() throws {
    let connection = try Connection(inMemory: nil)
    try connection.execute("CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000))")
    try connection.execute("DELETE FROM t")
    #expect(try connection.incrementalVacuum() == 0)
    #expect(try connection.freelistCount() > 0)
  }
}
