// Interrupting statements by a condition.

import SQLiteAccess
import Testing

@Suite("Interruptions")
struct InterruptionTests {
  let connection: Connection

  init() throws {
    connection = try Connection(inMemory: nil)
  }

  /// A statement that asks some hundred times.
  private func work() throws {
    let count = try connection.value(
      "WITH n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 10000) SELECT count(*) FROM n")
    #expect(count == 10_000)
  }

  private func isInterrupted(_ body: () throws -> Void) -> Bool {
    do {
      try body()
      return false
    } catch {
      #expect((error as? SQLiteError)?.code == .interrupt)
      return true
    }
  }

  @Test("A condition holds until its closure ends, also around and behind another one")
  func nested() throws {
    var isDue = false
    try connection.interrupting(every: 100, when: { isDue }) {
      try connection.interrupting(every: 100_000_000, when: { false }) {
        try work()
        isDue = true
        #expect(isInterrupted { try work() })
        isDue = false
        try work()
      }
      isDue = true
      #expect(isInterrupted { try work() })
      // The inner one alone.
      isDue = false
      try connection.interrupting(every: 100, when: { true }) {
        #expect(isInterrupted { try work() })
      }
      try work()
    }
    isDue = true
    try work()
  }

  @Test("A connection may be closed inside")
  func closed() throws {
    try connection.interrupting(when: { false }) { try connection.close() }
    #expect(connection.isClosed)
  }
}
