import SQLiteAccess
import Testing

@Suite("The statement cache")
struct StatementCacheTests {
  @Test("A released statement is reused, reset and without bindings")
  func reuse() throws {
    let connection = try Connection(inMemory: nil)
    for _ in 0..<3 {
      let query = try connection.statement("SELECT ?")
      #expect(!query.isRunning)
      #expect(throws: SQLiteError.self) { try query.step() }
      #expect(query.expandedSQL == "SELECT NULL")
      try query.bind(1, "left over")
      #expect(try query.step())
    }
    let statistics = connection.statementCacheStatistics
    #expect(statistics.misses == 1 && statistics.hits == 2)
    #expect(statistics.idle == 1 && statistics.inUse == 0)
  }

  @Test("Statements whose literals differ only in their normal form are different ones")
  func normalForms() throws {
    let connection = try Connection(inMemory: nil)
    let composed = "\u{F6}"
    let decomposed = "o\u{308}"
    for _ in 0..<2 {
      for text in [composed, decomposed] {
        let length = try connection.value("SELECT length('\(text)')")
        #expect(length == .integer(Int64(text.unicodeScalars.count)))
      }
    }
    let statistics = connection.statementCacheStatistics
    #expect(statistics.misses == 2 && statistics.hits == 2)
    connection.statementCacheCapacity = 1
    #expect(try connection.value("SELECT length('\(composed)')") == .integer(1))
    connection.clearStatementCache()
    #expect(connection.statementCacheStatistics.idle == 0)
  }

  @Test("The same SQL used twice at the same time gives two statements, and both are kept")
  func nested() throws {
    let connection = try Connection(inMemory: nil)
    for round in 0..<2 {
      let outer = try connection.statement("SELECT ?")
      try outer.bind(1, "outer")
      #expect(try outer.step())
      let inner = try connection.statement("SELECT ?")
      try inner.bind(1, "inner")
      #expect(try inner.step())
      #expect(outer.string(0) == "outer" && inner.string(0) == "inner")
      #expect(connection.statementCacheStatistics.misses == 2, "round \(round)")
    }
    #expect(connection.statementCacheStatistics.idle == 2)
  }

  @Test("A released statement holds no lock")
  func droppedHoldsNoLock() throws {
    try withTemporaryFile { path in
      let writer = try makeFilledFile(path)
      let reader = try Connection(path: path, mode: .readOnly)
      do {
        let query = try reader.statement("SELECT * FROM t")
        #expect(try query.step())
        #expect(try writer.checkpoint(.truncate, timeoutMilliseconds: 0).isBusy)
      }
      #expect(try !writer.checkpoint(.truncate, timeoutMilliseconds: 0).isBusy)
    }
  }

  @Test("A unique statement returns at the end of its scope and then holds no lock")
  func unique() throws {
    try withTemporaryFile { path in
      let writer = try makeFilledFile(path)
      let reader = try Connection(path: path, mode: .readOnly)
      func fetch(failing: Bool) throws {
        // Adds something to checkpoint.
        try writer.execute("UPDATE t SET text = text || '.' WHERE id = 1")
        let query = try reader.uniqueStatement("SELECT *, ? FROM t")
        #expect(reader.statementCacheStatistics.inUse == 1)
        #expect(throws: SQLiteError.self) { try reader.close() }
        try query.bind(1, "left over")
        #expect(try query.step())
        #expect(query.sql == "SELECT *, ? FROM t" && query.connection === reader)
        if failing { try query.bind(2, "there is no such parameter") }
        #expect(try writer.checkpoint(.truncate, timeoutMilliseconds: 0).isBusy)
      }
      for _ in 0..<2 {
        try fetch(failing: false)
        #expect(throws: SQLiteError.self) { try fetch(failing: true) }
        #expect(try !writer.checkpoint(.truncate, timeoutMilliseconds: 0).isBusy)
      }
      let statistics = reader.statementCacheStatistics
      #expect(statistics.misses == 1 && statistics.hits == 3)
      #expect(statistics.idle == 1 && statistics.inUse == 0)
      let again = try reader.statement("SELECT *, ? FROM t")
      #expect(throws: SQLiteError.self) { try again.step() }
    }
  }

  @Test("It keeps the most recently used statements, up to its capacity")
  func bounded() throws {
    let connection = try Connection(inMemory: nil, statementCacheCapacity: 3)
    for number in 0..<1000 {
      #expect(try connection.value("SELECT \(number)") == .integer(Int64(number)))
      if number.isMultiple(of: 2) { _ = try connection.value("SELECT 'often'") }
    }
    var statistics = connection.statementCacheStatistics
    #expect(statistics.idle == 3)
    #expect(statistics.hits == 499, "the one used often stayed")
    #expect(statistics.evictions == 1001 - 3)
    // The last ones are cached, and the one before was finalised.
    for (number, hits) in [(999, 500), (998, 501), (997, 501)] {
      _ = try connection.value("SELECT \(number)")
      #expect(connection.statementCacheStatistics.hits == hits, "\(number)")
    }
    connection.statementCacheCapacity = 1
    #expect(connection.statementCacheStatistics.idle == 1)
    connection.statementCacheCapacity = 0
    _ = try connection.value("SELECT 1")
    statistics = connection.statementCacheStatistics
    #expect(statistics.idle == 0 && statistics.inUse == 0)
  }

  @Test("More statements than the capacity can be in use; some are finalised when they return")
  func manyInUse() throws {
    let connection = try Connection(inMemory: nil, statementCacheCapacity: 2)
    var held = try (0..<10).map { _ in try connection.statement("SELECT 1") }
    #expect(connection.statementCacheStatistics.inUse == 10)
    for statement in held { #expect(try statement.step()) }
    held = []
    #expect(connection.statementCacheStatistics.idle == 2)
    try connection.close()
  }

  @Test("Clearing finalises idle statements, and those in use when they return")
  func clear() throws {
    let connection = try Connection(inMemory: nil)
    _ = try connection.value("SELECT 1")
    do {
      let held = try connection.statement("SELECT 2")
      connection.clearStatementCache()
      #expect(try held.step() && held.int64(0) == 2)
      #expect(connection.statementCacheStatistics.idle == 0)
      // The same SQL prepared meanwhile is another statement, which is cached.
      #expect(try connection.value("SELECT 2") == 2)
      #expect(connection.statementCacheStatistics.idle == 1)
    }
    #expect(connection.statementCacheStatistics.idle == 1)
    try connection.close()
  }

  @Test("A kept statement notices a changed schema")
  func schemaChange() throws {
    let connection = try Connection(inMemory: nil)
    try connection.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    let query = try connection.statement("SELECT * FROM t")
    #expect(try query.step() && query.row() == [1])
    query.reset()
    try connection.execute("ALTER TABLE t ADD COLUMN b DEFAULT 2")
    #expect(try query.step() && query.row() == [1, 2])
  }

  @Test("The scoped form returns the statement")
  func scoped() throws {
    let connection = try Connection(inMemory: nil)
    let value = try connection.withStatement("SELECT 7") { query in
      #expect(connection.statementCacheStatistics.inUse == 1)
      return try query.step() ? query.int64(0) : 0
    }
    #expect(value == 7 && connection.statementCacheStatistics.inUse == 0)
  }
}
