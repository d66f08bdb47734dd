// Functions of conditions in SQL.

import Dflat
import DflatTestSupport
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Functions in SQL")
struct SQLFunctionTests {
  private struct Refused: Error {}

  @Test("A function of conditions is an SQL function of the same name")
  func registered() throws {
    try withTemporaryFile { workspace in
      let connection = try workspace.foreignConnection()
      let joined = Function("joined") { (text: String, number: Int32?, flag: Bool) in
        "\(text) \(number.map { "\($0)" } ?? "-") \(flag)"
      }
      let high = Function("high") { (number: UInt64) -> UInt64? in number > 1 ? number - 1 : nil }
      let failing = Function("failing") { (_: Double) throws -> Double in throw Refused() }
      try connection.register(joined)
      try connection.register(high)
      try connection.register(failing)
      func value(_ sql: String) throws -> SQLValue? { try connection.rows(sql).first?[0] }
      #expect(try value("SELECT joined('a', 3, 1)") == .text("a 3 true"))
      #expect(try value("SELECT joined('a', NULL, 0)") == .text("a - false"))
      #expect(try value("SELECT joined(NULL, 3, 1)") == .null)
      // A number that does not fit the parameter is unknown.
      #expect(try value("SELECT joined('a', 5000000000, 1)") == .null)
      #expect(try value("SELECT high(-1)") == .integer(-2))
      #expect(try value("SELECT high(0)") == .null)
      #expect(throws: SQLiteError.self) { try value("SELECT failing(1)") }
      #expect(throws: SQLiteError.self) { try value("SELECT high(1, 2)") }
    }
  }
}
