// Values as SQL.

import SQLiteAccess
import Testing

@Suite("SQL values")
struct SQLValueTests {
  @Test(
    "A value's description is SQL that gives the value",
    arguments: [
      (.null, "NULL"), (.integer(.min), "-9223372036854775808"), (.integer(7), "7"),
      (.real(0.5), "0.5"), (.real(1e300), "1e+300"), (.real(-0.0), "-0.0"),
      (.real(.infinity), "9e999"), (.real(-.infinity), "-9e999"),
      (.real(.greatestFiniteMagnitude), "1.7976931348623157e+308"),
      (.text("it's"), "'it''s'"), (.text("a'\u{301}b"), "'a''\u{301}b'"), (.text(""), "''"),
      (.text("a\0'b"), "CAST(x'61002762' AS TEXT)"), (.blob([0, 0xAB]), "x'00ab'"),
      (.blob([]), "x''"),
    ] as [(SQLValue, String)])
  func description(value: SQLValue, text: String) throws {
    #expect(value.description.unicodeScalars.elementsEqual(text.unicodeScalars))
    let connection = try Connection(inMemory: nil)
    #expect(try connection.value("SELECT \(value)") == value)
  }

  @Test("A NaN is NULL, as it is stored")
  func notANumber() throws {
    #expect(SQLValue.real(.nan).description == "NULL")
    let connection = try Connection(inMemory: nil)
    #expect(try connection.value("SELECT ?", [.real(.nan)]) == .null)
  }
}
