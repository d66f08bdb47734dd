import SQLiteAccess
import Testing

@Suite("Transactions")
struct TransactionTests {
  let connection: Connection

  init() throws {
    connection = try Connection(inMemory: nil)
    try connection.execute("CREATE TABLE t (a UNIQUE ON CONFLICT ROLLBACK)")
  }

  var content: [Int64] {
    get throws { try connection.rows("SELECT a FROM t ORDER BY a").compactMap { $0[0].integer } }
  }

  func insert(_ value: Int) throws {
    try connection.execute("INSERT INTO t VALUES (?)", [.integer(Int64(value))])
  }

  @Test(
    "A transaction is kept by commit and undone by rollback",
    arguments: [Connection.TransactionKind.deferred, .immediate, .exclusive])
  func commitAndRollback(kind: Connection.TransactionKind) throws {
    for _ in 0..<2 {
      try connection.begin(kind)
      #expect(connection.isInTransaction)
      try insert(1)
      try connection.rollback()
      #expect(!connection.isInTransaction)
      #expect(try content == [])
    }
    try connection.begin(kind)
    try insert(2)
    try connection.commit()
    #expect(try content == [2] && !connection.isInTransaction)
  }

  @Test("Beginning twice and committing without a transaction are errors; rolling back is not")
  func misuse() throws {
    try connection.begin()
    let twice = #expect(throws: SQLiteError.self) { try connection.begin() }
    #expect(twice?.sql == "BEGIN DEFERRED")
    try connection.rollback()
    try connection.rollback()
    #expect(throws: SQLiteError.self) { try connection.commit() }
  }

  @Test("The scoped form commits, or rolls back and rethrows")
  func scoped() throws {
    struct Refusal: Error {}
    #expect(
      try connection.transaction {
        try insert(1)
        return 5
      } == 5)
    #expect(throws: Refusal.self) {
      try connection.transaction {
        try insert(2)
        throw Refusal()
      }
    }
    #expect(try content == [1] && !connection.isInTransaction)
    // SQLite rolls back by itself here, which must not cause another error.
    let conflict = #expect(throws: SQLiteError.self) {
      try connection.transaction {
        try insert(3)
        try insert(1)
      }
    }
    #expect(conflict?.isUniqueConstraint == true)
    #expect(try content == [1])
  }

  @Test("A transaction inside a transaction is kept or undone by itself")
  func nested() throws {
    struct Refusal: Error {}
    func refused(_ kind: Connection.TransactionKind, _ body: () throws -> Void) throws {
      do {
        try connection.transaction(kind) {
          try body()
          throw Refusal()
        }
      } catch is Refusal {}
    }
    try connection.transaction(.deferred) {
      try insert(1)
      for kind in [Connection.TransactionKind.deferred, .immediate, .exclusive] {
        try refused(kind) {
          try insert(2)
          try connection.transaction { try insert(3) }
          #expect(try content == [1, 2, 3])
        }
        #expect(try content == [1] && connection.isInTransaction)
      }
      try connection.transaction {
        try refused(.immediate) { try insert(4) }
        try insert(5)
      }
    }
    #expect(try content == [1, 5] && !connection.isInTransaction)
    // What an inner transaction kept is undone with the outer one.
    #expect(throws: Refusal.self) {
      try connection.transaction {
        try connection.transaction { try insert(6) }
        throw Refusal()
      }
    }
    #expect(try content == [1, 5])
  }

  @Test("A transaction nests in one that begin() or a savepoint began")
  func nestedInManual() throws {
    try connection.begin()
    try connection.transaction { try insert(1) }
    try connection.rollback()
    #expect(try content == [])
    try connection.withSavepoint("s") { try connection.transaction { try insert(2) } }
    #expect(try content == [2] && !connection.isInTransaction)
  }

  @Test("After SQLite has rolled back an outer transaction, an inner one is refused")
  func nestedAfterRollback() throws {
    let error = #expect(throws: SQLiteError.self) {
      try connection.transaction {
        try insert(1)
        // The conflict rolls back everything; the body goes on nevertheless.
        try? connection.transaction { try insert(1) }
        try connection.transaction { try insert(2) }
      }
    }
    #expect(error?.code == .abort)
    #expect(try content == [] && !connection.isInTransaction)
    try connection.transaction { try insert(3) }
    #expect(try content == [3])
  }

  /// Ways in which SQLite rolls back a transaction that has inserted 1.
  enum Loss: CaseIterable {
    case conflict, interruption, otherEnd

    func happen(to connection: Connection) {
      switch self {
      case .conflict: try? connection.execute("INSERT INTO t VALUES (1)")
      case .interruption:
        _ = try? connection.interrupting(every: 1, when: { true }) {
          try connection.execute(
            """
            INSERT INTO t WITH n (x) AS (SELECT 2 UNION ALL SELECT x + 1 FROM n LIMIT 1000)
            SELECT x FROM n
            """)
        }
      case .otherEnd: try? connection.rollback()
      }
    }
  }

  @Test(
    "Nothing is stored of a transaction that SQLite has rolled back, although its closure goes on",
    arguments: Loss.allCases, [false, true])
  func lost(loss: Loss, isNested: Bool) throws {
    var errors: [SQLiteError] = []
    func refused(_ body: () throws -> Void) {
      do {
        try body()
        Issue.record("a statement that is no part of the transaction was run")
      } catch {
        if let error = error as? SQLiteError { errors.append(error) }
      }
    }
    let kept = try connection.statement("INSERT INTO t VALUES (6)")
    let running = try connection.statement("SELECT a FROM t")
    func body() throws {
      try insert(1)
      try #require(try running.step())
      loss.happen(to: connection)
      try #require(!connection.isInTransaction)
      refused { _ = try running.step() }
      #expect(!running.isRunning)
      refused { try connection.execute("INSERT INTO t VALUES (2); INSERT INTO t VALUES (3)") }
      refused { try insert(4) }
      refused { _ = try connection.value("INSERT INTO t VALUES (5) RETURNING a") }
      refused { try kept.run() }
      refused { _ = try connection.uniqueStatement("SELECT 1").step() }
      refused { try connection.begin() }
      refused { try connection.commit() }
      refused { try connection.transaction { try insert(7) } }
      refused { try connection.withSavepoint("s") { try insert(8) } }
      try connection.rollback()
    }
    let end = #expect(throws: SQLiteError.self) {
      try connection.transaction {
        if isNested { try connection.transaction { try body() } } else { try body() }
      }
    }
    #expect(end?.code == .abort)
    #expect(errors.count == 10 && errors.allSatisfy { $0.code == .abort })
    #expect(errors.contains { $0.sql == "INSERT INTO t VALUES (?)" })
    #expect(errors.allSatisfy { $0.description.contains("leave the closure") })
    #expect(try content == [] && !connection.isInTransaction)
    try connection.transaction { try kept.run() }
    #expect(try content == [6])
  }

  @Test("Nor of a savepoint that was the outermost part")
  func lostSavepoint() throws {
    var reached = 0
    let end = #expect(throws: SQLiteError.self) {
      try connection.withSavepoint("s") {
        try insert(1)
        try? insert(1)
        reached += 1
        try? insert(2)
        reached += 1
      }
    }
    #expect(end?.code == .abort && reached == 2)
    #expect(try content == [])
  }

  @Test("Savepoints nest, and are undone and released by name, whatever the name")
  func savepoints() throws {
    let name = "odd \" name; --"
    try connection.begin(.immediate)
    try connection.savepoint("a")
    try insert(1)
    try connection.savepoint(name)
    try insert(2)
    try connection.rollback(to: name)
    try connection.release(savepoint: name)
    try insert(3)
    try connection.release(savepoint: "a")
    #expect(throws: SQLiteError.self) { try connection.release(savepoint: "a") }
    try connection.commit()
    #expect(try content == [1, 3])
  }

  @Test("A scoped savepoint is kept or undone, and the enclosing transaction continues")
  func scopedSavepoint() throws {
    struct Refusal: Error {}
    try connection.begin()
    try connection.withSavepoint("s") { try insert(1) }
    #expect(throws: Refusal.self) {
      try connection.withSavepoint("s") {
        try insert(2)
        throw Refusal()
      }
    }
    try connection.commit()
    #expect(try content == [1])
    // A conflict that rolls back everything also removes the savepoint.
    let error = #expect(throws: SQLiteError.self) {
      try connection.withSavepoint("s") { try insert(1) }
    }
    #expect(error?.isUniqueConstraint == true)
  }

  @Test("The data version changes with external commits only")
  func dataVersion() throws {
    try withTemporaryFile { path in
      let first = try makeFilledFile(path)
      let second = try Connection(path: path)
      let before = try first.dataVersion()
      try first.execute("DELETE FROM t WHERE id = 1")
      #expect(try first.dataVersion() == before)
      try second.execute("DELETE FROM t WHERE id = 2")
      #expect(try first.dataVersion() != before)
    }
  }

  @Test("Statements that begin and end transactions do not use the cache")
  func keptApart() throws {
    connection.statementCacheCapacity = 0
    try connection.transaction {}
    #expect(connection.statementCacheStatistics.misses == 0)
  }
}
