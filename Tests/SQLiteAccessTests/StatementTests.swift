import SQLiteAccess
import Testing

@Suite("Statements")
struct StatementTests {
  let connection: Connection

  init() throws {
    connection = try Connection(inMemory: nil)
    try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")
  }

  @Test(
    "A value is read back as it was bound",
    arguments: [
      .null, 0, -1, .integer(.min), .integer(.max), 0.0, -1.5, .real(.infinity),
      .real(.leastNonzeroMagnitude), "", "abc", "a\0b\0", "größe 🎈", "e\u{301}",
      .blob([]), .blob([0, 255, 1]),
    ] as [SQLValue])
  func roundTrip(value: SQLValue) throws {
    try connection.execute("INSERT INTO t VALUES (1, ?)", [value])
    #expect(try connection.value("SELECT v FROM t") == value)
  }

  @Test("So is a value of millions of bytes")
  func largeRoundTrip() throws {
    let blob = SQLValue.blob([UInt8](repeating: 7, count: 3_000_000))
    let text = SQLValue.text(String(repeating: "long ", count: 400_000))
    try connection.execute("INSERT INTO t VALUES (1, ?), (2, ?)", [blob, text])
    // Compared outside the expectation, which would print both sides.
    let isSame = try connection.rows("SELECT v FROM t") == [[blob], [text]]
    #expect(isSame)
  }

  @Test("A NaN becomes NULL")
  func nan() throws {
    #expect(try connection.value("SELECT ?", [.real(.nan)]) == .null)
  }

  @Test("Columns are read by type, in place or copied; missing ones are NULL")
  func columns() throws {
    let query = try connection.statement("SELECT 5, 2.5, 'a' || char(0) || 'b', x'0102', NULL")
    #expect(query.columnCount == 5)
    #expect(try query.step())
    #expect(query.int64(0) == 5 && query.double(0) == 5.0)
    #expect(query.double(1) == 2.5)
    #expect(query.string(2) == "a\0b")
    #expect(query.utf8(2).map(Array.init) == [97, 0, 98])
    #expect(Array(query.blob(3)) == [1, 2])
    #expect((0..<5).map(query.type) == [.integer, .real, .text, .blob, .null])
    for column in [4, 5, -1, .max, .min] {
      #expect(query.isNull(column) && query.int64(column) == 0 && query.double(column) == 0)
      #expect(query.string(column) == nil && query.utf8(column) == nil)
      #expect(query.blob(column).isEmpty)
    }
    #expect(try !query.step())
  }

  @Test("Invalid UTF-8 is repaired, and its bytes can be read unchanged")
  func invalidUTF8() throws {
    let query = try connection.statement("SELECT CAST(x'61ff62' AS TEXT)")
    #expect(try query.step())
    #expect(query.string(0) == "a\u{FFFD}b")
    #expect(query.utf8(0).map(Array.init) == [0x61, 0xff, 0x62])
  }

  @Test("Memory is bound in place or copied")
  func bindingMemory() throws {
    let query = try connection.statement("SELECT ?1, ?2, ?3, ?4, ?5")
    let bytes: [UInt8] = [97, 0, 98]
    let rows = try bytes.withUnsafeBytes { bytes in
      try query.bindBlob(1, inPlace: bytes)
      try query.bindText(2, inPlace: bytes)
      try query.bindBlob(3, copying: bytes)
      try query.bindText(4, copying: bytes)
      try query.bindZeros(5, count: 2)
      #expect(try query.step())
      return query.row()
    }
    #expect(rows == [.blob(bytes), "a\0b", .blob(bytes), "a\0b", .blob([0, 0])])
    #expect(throws: SQLiteError.self) { try query.bindZeros(5, count: -1) }
  }

  @Test("Empty memory is an empty value, not NULL")
  func emptyMemory() throws {
    let query = try connection.statement("SELECT ?1, ?2, ?3, ?4")
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    try query.bindBlob(1, inPlace: nothing)
    try query.bindText(2, inPlace: nothing)
    try query.bindBlob(3, copying: nothing)
    try query.bindText(4, copying: nothing)
    #expect(try query.step())
    #expect(query.row() == [.blob([]), "", .blob([]), ""])
  }

  @Test("A reset keeps bindings, clearing makes them NULL")
  func resetAndClear() throws {
    let query = try connection.statement("SELECT ?")
    try query.bind(1, 3)
    #expect(try query.step())
    #expect(query.isRunning)
    query.reset()
    #expect(!query.isRunning)
    #expect(try query.step() && query.int64(0) == 3)
    query.reset()
    query.clearBindings()
    #expect(try query.step() && query.isNull(0))
  }

  @Test("Binding a missing parameter, or while running, is an error", arguments: [0, 2, -1, .max])
  func bindErrors(index: Int) throws {
    let query = try connection.statement("SELECT ?")
    let range = #expect(throws: SQLiteError.self) { try query.bind(index, 1 as Int64) }
    #expect(range?.code == .range)
    try query.bind(1, 2)
    #expect(try query.step())
    let misuse = #expect(throws: SQLiteError.self) { try query.bind(1, 1 as Int64) }
    #expect(misuse?.code == .misuse)
  }

  @Test("A parameter without a value is an error, and NULL is a value")
  func unbound() throws {
    func expect(_ parameter: String, _ body: () throws -> Void) {
      let error = #expect(throws: SQLiteError.self) { try body() }
      #expect(error?.code == .range && error?.message.contains(parameter) == true, "\(error)")
    }
    let query = try connection.statement("SELECT ?, :name")
    expect("parameter 1") { _ = try query.step() }
    try query.bind(1, 5)
    expect(":name") { _ = try query.step() }
    expect(":name") { try query.run() }
    try query.bindNull(2)
    #expect(try query.step() && query.row() == [5, .null])
    query.reset()
    #expect(try query.step() && query.row() == [5, .null])
    expect("0 values for 1 parameters") { _ = try connection.rows("SELECT ?") }
    expect("0 values for 1 parameters") { _ = try connection.value("SELECT ?") }
    expect("parameter 1") { try connection.execute("SELECT 1; SELECT ?") }
    let wide = try connection.statement("SELECT ?" + String(repeating: ", ?", count: 99))
    for index in 1...100 where index != 70 { try wide.bind(index, index) }
    expect("parameter 70") { _ = try wide.step() }
    try wide.bind(70, 70)
    #expect(try wide.step() && wide.int64(99) == 100)
  }

  @Test("Too few and too many values are an error that says how many are needed")
  func counts() throws {
    for values in [[], [1], [1, 2, 3]] as [[SQLValue]] {
      for attempt in [
        { _ = try connection.rows("SELECT ?, ?", values) },
        { _ = try connection.value("SELECT ?, ?", values) },
        { try connection.execute("SELECT ?, ?", values) },
        { try connection.statement("SELECT ?, ?").bind(values) },
      ] {
        let error = #expect(throws: SQLiteError.self) { try attempt() }
        #expect(error?.code == .range, "\(values)")
      }
    }
    #expect(try connection.rows("SELECT ?, ?", [1, 2]) == [[1, 2]])
    // Numbers that the text leaves out need no value.
    let gap = try connection.statement("SELECT ?3")
    try gap.bind(3, 7)
    #expect(try gap.step() && gap.int64(0) == 7)
  }

  @Test("A statement reports its properties")
  func facts() throws {
    let sql = "SELECT id AS a, v FROM t WHERE id = :key AND v > ?2"
    let query = try connection.statement(sql)
    #expect(query.sql == sql && query.isReadOnly)
    #expect(query.columnNames == ["a", "v"])
    #expect(query.parameterCount == 2)
    #expect(query.parameterIndex(":key") == 1 && query.parameterIndex(":none") == nil)
    try query.bind([5, "x"])
    #expect(query.expandedSQL == "SELECT id AS a, v FROM t WHERE id = 5 AND v > 'x'")
    #expect(try !connection.statement("DELETE FROM t").isReadOnly)
  }

  @Test("Exactly one statement can be prepared, with comments around it")
  func oneStatement() throws {
    #expect(try connection.value("/* a */ SELECT 1; -- b\n ; /* c */") == 1)
    for sql in ["", "  ", "-- nothing", ";", "SELECT 1; SELECT 2", "SELECT 1\0"] {
      let error = #expect(throws: SQLiteError.self) { try connection.statement(sql) }
      #expect(error?.code == .misuse, "\(sql)")
    }
    #expect(throws: SQLiteError.self) { try connection.statement("SELECT 1; nonsense") }
    #expect(connection.statementCacheStatistics.inUse == 0)
  }

  @Test("Many statements run in sequence, up to the first that fails")
  func execute() throws {
    let error = #expect(throws: SQLiteError.self) {
      try connection.execute(
        """
        -- a table and what is in it
        CREATE TABLE u (a UNIQUE); INSERT INTO u VALUES (1);;
        SELECT * FROM u; INSERT INTO u VALUES (1); INSERT INTO u VALUES (2)
        """)
    }
    #expect(error?.isUniqueConstraint == true)
    #expect(error?.sql == "INSERT INTO u VALUES (1);")
    #expect(try connection.rows("SELECT a FROM u") == [[1]])
    try connection.execute("")
    try connection.execute(" -- nothing")
    #expect(throws: SQLiteError.self) { try connection.execute("DELETE FROM u; \0") }
    #expect(try connection.rows("SELECT a FROM u") == [[1]])
  }

  @Test("A long script takes linear time")
  func longScript() throws {
    let script = String(repeating: "INSERT INTO t (v) VALUES (1);\n", count: 50_000)
    try connection.begin()
    try connection.execute(script)
    try connection.commit()
    #expect(try connection.value("SELECT count(*) FROM t") == 50_000)
  }

  @Test("Change counts and the last row id are SQLite's")
  func counters() throws {
    let before = connection.totalChanges
    try connection.execute("INSERT INTO t (id) VALUES (10), (20)")
    #expect(connection.lastInsertRowID == 20 && connection.changes == 2)
    try connection.execute("DELETE FROM t WHERE id = 10")
    #expect(connection.changes == 1 && connection.totalChanges == before + 3)
  }
}

@Suite("Errors")
struct ErrorTests {
  @Test("An error contains what failed, where and in which statement")
  func text() throws {
    let connection = try Connection(inMemory: nil)
    let syntax = #expect(throws: SQLiteError.self) {
      try connection.statement("SELECT * FORM t")
    }
    #expect(
      syntax?.description == """
        SQLITE_ERROR: near "FORM": syntax error, at byte 9
          statement: SELECT * FORM t
          database: :memory:
        """)
  }

  @Test("A quotation mark with an accent ends no name and no text")
  func quotation() throws {
    let connection = try Connection(inMemory: nil)
    let name = "a\"\u{301} b\" \"\"c"
    let text = "a'\u{301} b' ''c"
    try connection.execute("CREATE TABLE t (\(Connection.quoted(name)))")
    try connection.execute("INSERT INTO t VALUES (\(SQLValue.text(text)))")
    let found = try connection.value("SELECT \(Connection.quoted(name)) FROM t")
    #expect(found?.text.map { Array($0.utf8) } == Array(text.utf8))
    try connection.savepoint(name)
    try connection.release(savepoint: name)
  }

  @Test("Constraint violations can be distinguished")
  func constraints() throws {
    let connection = try Connection(inMemory: nil)
    try connection.execute(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, u UNIQUE, n NOT NULL DEFAULT 0, c CHECK (c > 0));
      CREATE TABLE k (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID;
      INSERT INTO t (id, u) VALUES (1, 1); INSERT INTO k VALUES (1, 1);
      """)
    func failure(_ sql: String) throws -> SQLiteError {
      let error = #expect(throws: SQLiteError.self) { try connection.execute(sql) }
      return try #require(error)
    }
    let rowID = try failure("INSERT INTO t (id) VALUES (1)")
    #expect(rowID.isConstraint && rowID.isUniqueConstraint && rowID.isPrimaryKeyConstraint)
    let key = try failure("INSERT INTO k VALUES (1, 1)")
    #expect(key.isUniqueConstraint && key.isPrimaryKeyConstraint)
    let unique = try failure("INSERT INTO t (u) VALUES (1)")
    #expect(unique.isUniqueConstraint && !unique.isPrimaryKeyConstraint)
    #expect(unique.message == "UNIQUE constraint failed: t.u")
    #expect(unique.description.hasPrefix("SQLITE_CONSTRAINT_UNIQUE: "))
    let null = try failure("INSERT INTO t (n) VALUES (NULL)")
    #expect(null.isNotNullConstraint && null.isConstraint && !null.isUniqueConstraint)
    #expect(try failure("INSERT INTO t (c) VALUES (-1)").isConstraint)
  }

  @Test("A full database is an error")
  func full() throws {
    let connection = try Connection(inMemory: nil)
    try connection.execute("CREATE TABLE t (a)")
    try connection.setPragma("max_page_count", 4)
    let error = #expect(throws: SQLiteError.self) {
      try connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
    }
    #expect(error?.isDiskFull == true)
  }

  @Test("A busy database is waited for until the timeout")
  func busy() throws {
    try withTemporaryFile { path in
      let first = try makeFilledFile(path)
      let second = try Connection(path: path, busyTimeoutMilliseconds: 150)
      try first.begin(.immediate)
      let clock = ContinuousClock()
      var error: SQLiteError?
      let time = clock.measure {
        error = #expect(throws: SQLiteError.self) { try second.begin(.immediate) }
      }
      #expect(error?.isBusy == true && error?.isBusySnapshot == false)
      #expect(time >= .milliseconds(140) && time < .seconds(400))
      #expect(error?.description.contains("busy timeout") == true)
      second.busyTimeoutMilliseconds = 0
      // A busy machine may interrupt one of the tries for as long as the timeout was.
      let times = (0..<10).map { _ in clock.measure { try? second.begin(.immediate) } }
      #expect(times.contains { $0 < .milliseconds(100) }, "\(times)")

      // With a sufficient timeout it gets the lock.
      second.busyTimeoutMilliseconds = 20_000
      try first.commit()
      try second.begin(.immediate)
      try second.rollback()
    }
  }

  @Test("A transaction with an outdated view cannot write, and the error says to start again")
  func busySnapshot() throws {
    try withTemporaryFile { path in
      let first = try makeFilledFile(path)
      let second = try Connection(path: path)
      try second.begin()
      _ = try second.value("SELECT count(*) FROM t")
      try first.execute("DELETE FROM t WHERE id = 1")
      let error = #expect(throws: SQLiteError.self) {
        try second.execute("DELETE FROM t WHERE id = 2")
      }
      #expect(error?.isBusySnapshot == true && error?.isBusy == true)
      #expect(error?.description.contains("begin again") == true)
    }
  }

  @Test("An error stays valid after later failures, and does not repeat earlier ones")
  func values() throws {
    let connection = try Connection(inMemory: nil)
    _ = #expect(throws: SQLiteError.self) { try connection.execute("nonsense") }
    let misuse = #expect(throws: SQLiteError.self) { try connection.statement("") }
    #expect(misuse?.message == "there is no statement")
    // SQLite refuses this without recording it, so the connection still has the earlier error.
    let name = String(repeating: "f", count: 256)
    let function = #expect(throws: SQLiteError.self) {
      try connection.createFunction(name, argumentCount: 0) { _ in .null }
    }
    #expect(function?.code == .misuse && function?.message.contains("nonsense") == false)
  }
}
