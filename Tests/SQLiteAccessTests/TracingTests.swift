import Foundation
import SQLiteAccess
import Testing

@Suite("Plans, traces and interruption")
struct TracingTests {
  @Test("A plan shows which index is used")
  func plan() throws {
    let connection = try Connection(inMemory: nil)
    try connection.execute("CREATE TABLE t (a, b); CREATE INDEX t_a ON t (a)")
    let plan = try connection.explainQueryPlan("SELECT * FROM t WHERE a = ? ORDER BY b", [1])
    #expect(plan.first?.detail == "SEARCH t USING INDEX t_a (a=?)")
    #expect(plan.planText == "SEARCH t USING INDEX t_a (a=?)\nUSE TEMP B-TREE FOR ORDER BY")
    let nested = try connection.explainQueryPlan("SELECT a FROM t UNION SELECT b FROM t").planText
    #expect(nested.contains("\n  ") && nested.contains("\n    "))
    #expect(throws: SQLiteError.self) { try connection.explainQueryPlan("SELECT * FROM none") }
  }

  @Test("A trace receives each statement with its values, until it is removed")
  func trace() throws {
    let connection = try Connection(inMemory: nil)
    var heard: [String] = []
    try connection.trace { sql, nanoseconds in
      #expect(nanoseconds >= 0)
      heard.append(sql)
    }
    try connection.execute("CREATE TABLE t (a)")
    try connection.execute("INSERT INTO t VALUES (?)", ["it's"])
    #expect(heard == ["CREATE TABLE t (a)", "INSERT INTO t VALUES ('it''s')"])
    var others = 0
    try connection.trace { _, _ in others += 1 }
    try connection.execute("DELETE FROM t")
    try connection.trace(nil)
    try connection.execute("DELETE FROM t")
    #expect(others == 1 && heard.count == 2)
  }

  @Test("Another thread interrupts a long statement")
  func interrupt() throws {
    let connection = try Connection(inMemory: nil)
    let interrupter = connection.interrupter
    let isDone = Collected<Bool>()
    startThread {
      // Repeated until it succeeds: an interruption before the statement begins has no effect.
      while isDone.all.isEmpty {
        interrupter.interrupt()
        Thread.sleep(forTimeInterval: 0.01)
      }
    }
    let error = #expect(throws: SQLiteError.self) {
      try connection.value(
        """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        SELECT count(*) FROM n
        """)
    }
    isDone.append(true)
    #expect(error?.isInterrupted == true)
    try connection.close()
    interrupter.interrupt()
  }

  @Test("SQLite's handle is available for features that this library does not offer")
  func handle() throws {
    let connection = try Connection(inMemory: nil)
    #expect(connection.withHandle { UInt(bitPattern: $0) } != 0)
    #expect(Connection.libraryVersion.hasPrefix("3."))
  }
}
