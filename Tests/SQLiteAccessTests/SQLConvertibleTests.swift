import Foundation
import SQLiteAccess
import Testing

/// An enumeration with raw values, of each kind.
private enum Priority: Int, SQLConvertible { case low, high }
private enum Color: String, SQLConvertible, Codable { case red, green }

/// A type that says itself how it is stored.
private struct Price: SQLConvertible, Equatable {
  var cents: Int64
  var sqlValue: SQLValue { .integer(cents) }
  init(cents: Int64) { self.cents = cents }
  init?(sqlValue: SQLValue) {
    guard let cents = sqlValue.integer else { return nil }
    self.cents = cents
  }
}

@Suite("Swift types in SQL")
struct SQLConvertibleTests {
  let connection: Connection

  init() throws { connection = try Connection(inMemory: nil) }

  /// Binds, reads in each way, and returns the stored form.
  @discardableResult
  private func roundTrip<V: SQLConvertible & Equatable>(
    _ value: V, stored: SQLValue, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> SQLValue {
    let query = try connection.statement("SELECT ?1, :same")
    try query.bind(1, value)
    try query.bind(":same", value)
    #expect(try query.step(), sourceLocation: sourceLocation)
    #expect(query.row() == [stored, stored], sourceLocation: sourceLocation)
    #expect(try query.value(0) == value, sourceLocation: sourceLocation)
    let rows = try connection.rows("SELECT ?", [SQLValue(value)], as: V.self)
    #expect(rows == [value], sourceLocation: sourceLocation)
    return query.value(0)
  }

  @Test("Each type is stored in its one form and read back")
  func forms() throws {
    try roundTrip(true, stored: 1)
    try roundTrip(false, stored: 0)
    try roundTrip(UInt8.max, stored: 255)
    try roundTrip(Int8.min, stored: -128)
    try roundTrip(UInt32.max, stored: 4_294_967_295)
    try roundTrip(Int.min, stored: .integer(.min))
    try roundTrip(Float(0.5), stored: 0.5)
    try roundTrip(Double.infinity, stored: .real(.infinity))
    try roundTrip("größe\0", stored: "größe\0")
    try roundTrip([0, 255] as [UInt8], stored: .blob([0, 255]))
    try roundTrip([] as [UInt8], stored: .blob([]))
    try roundTrip(Data([1, 2, 3])[1...], stored: .blob([2, 3]))
    try roundTrip(Data(), stored: .blob([]))
    let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
    try roundTrip(id, stored: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
    try roundTrip(Date(timeIntervalSince1970: 1.5), stored: 1.5)
    try roundTrip(Date(timeIntervalSince1970: -1e9), stored: .real(-1e9))
    try roundTrip(Priority.high, stored: 1)
    try roundTrip(Color.green, stored: "green")
    try roundTrip(Price(cents: 995), stored: 995)
    try roundTrip(5 as Int?, stored: 5)
    try roundTrip(nil as Date?, stored: .null)
    try roundTrip(SQLValue.null, stored: .null)
    #expect(Double.nan.sqlValue == .null && Float.nan.sqlValue == .null)
  }

  @Test("SQLite's own date functions read a date")
  func dates() throws {
    let date = Date(timeIntervalSince1970: 86_400 * 365)
    let text = try connection.value("SELECT datetime(?, 'unixepoch')", [SQLValue(date)])
    #expect(text == "1971-01-01 00:00:00")
  }

  @Test("What means the same is read, and nothing else")
  func reading() throws {
    let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
    #expect(UUID(sqlValue: "e621e1f8-c36c-495a-93fc-0c247a3e6e5f") == id)
    #expect(UUID(sqlValue: .blob(withUnsafeBytes(of: id.uuid) { Array($0) })) == id)
    #expect(UUID(sqlValue: .blob([1])) == nil && UUID(sqlValue: "e621") == nil)
    #expect(Bool(sqlValue: -3) == true && Bool(sqlValue: 1.0) == nil && Bool(sqlValue: "1") == nil)
    #expect(Int8(sqlValue: 128) == nil && UInt8(sqlValue: -1) == nil && Int(sqlValue: 1.0) == nil)
    #expect(Double(sqlValue: 3) == 3 && Double(sqlValue: "3") == nil && Date(sqlValue: 3) != nil)
    #expect(String(sqlValue: 3) == nil && Data(sqlValue: "a") == nil)
    #expect([UInt8](sqlValue: "a") == nil)
    #expect(Priority(sqlValue: 7) == nil && Color(sqlValue: "blue") == nil)
    #expect(Int?(sqlValue: "a") == nil && Int?(sqlValue: .null) == .some(nil))
    #expect(Int(sqlValue: .null) == nil && String(sqlValue: .null) == nil)
  }

  @Test("Rows are tuples of the types that were asked for")
  func tuples() throws {
    let rows = try connection.rows(
      "SELECT 1, 'a', NULL UNION ALL SELECT 2, NULL, 2.5", as: Int.self, String?.self, Date?.self)
    #expect(rows.map(\.0) == [1, 2] && rows.map(\.1) == ["a", nil])
    #expect(rows.map(\.2) == [nil, Date(timeIntervalSince1970: 2.5)])
    for (number, text) in try connection.rows(
      "SELECT :n, :t", [":n": 7, ":t": "x"], as: UInt8.self, String.self)
    {
      #expect(number == 7 && text == "x")
    }
  }

  @Test("A value of another type, and another number of columns, are errors that name the column")
  func mismatches() throws {
    let type = #expect(throws: SQLiteError.self) {
      try connection.rows("SELECT 1 AS a, 'x' AS b", as: Int.self, Int.self)
    }
    #expect(type?.code == .mismatch)
    #expect(type?.message == "column 1 (b) has 'x', which is no Int")
    let null = #expect(throws: SQLiteError.self) {
      try connection.rows("SELECT NULL AS a", as: Int.self)
    }
    #expect(null?.message == "column 0 (a) has NULL, which is no Int; read it as an optional")
    for sql in ["SELECT 1", "SELECT 1, 2, 3"] {
      let count = #expect(throws: SQLiteError.self) {
        try connection.rows(sql, as: Int.self, Int.self)
      }
      #expect(count?.code == .range)
    }
    let query = try connection.statement("SELECT 300")
    #expect(try query.step())
    #expect(throws: SQLiteError.self) { try query.value(0, as: UInt8.self) }
    #expect(throws: SQLiteError.self) { try query.value(5, as: Int.self) }
  }

  @Test("Parameters are bound by name, and a name that no parameter has is an error")
  func names() throws {
    try connection.execute("CREATE TABLE t (a, b)")
    try connection.execute("INSERT INTO t VALUES (:a, @b)", [":a": 1, "@b": "x"])
    #expect(try connection.rows("SELECT * FROM t") == [[1, "x"]])
    let query = try connection.statement("SELECT :a, $b, :a")
    try query.bind([":a": 1])
    try query.bind("$b", Date(timeIntervalSince1970: 2))
    #expect(try query.step() && query.row() == [1, 2.0, 1])
    query.reset()
    for name in [":b", "a", "", "b"] {
      let error = #expect(throws: SQLiteError.self) { try query.bind(name, 1) }
      #expect(error?.code == .range && error?.message.contains(":a, $b") == true)
      #expect(throws: SQLiteError.self) { try query.bind([name: 1]) }
    }
    let missing = #expect(throws: SQLiteError.self) {
      try connection.execute("INSERT INTO t VALUES (:a, @b)", [":a": 1])
    }
    #expect(missing?.message.contains("@b") == true)
    #expect(try connection.value("SELECT count(*) FROM t") == 1)
  }

  private struct Note: Decodable, Equatable {
    var id: Int
    var text: String?
    var made: Date
    var color: Color
    var data: Data
    var key: UUID
    var large: UInt64
    var isDone: Bool

    enum CodingKeys: String, CodingKey {
      case id, text, made, color, data, key, large
      case isDone = "is_done"
    }
  }

  private let columns =
    "1 AS is_done, 7 AS id, 1.5 AS made, 'red' AS color, x'0102' AS data, 9 AS large, 'extra' AS e"
  private let key = "'E621E1F8-C36C-495A-93FC-0C247A3E6E5F' AS key"

  @Test("Rows are decoded by the names of their columns")
  func decoding() throws {
    let notes = try connection.rows(
      "SELECT \(columns), \(key), 'a' AS text UNION ALL SELECT \(columns), \(key), NULL",
      decoding: Note.self)
    let note = Note(
      id: 7, text: "a", made: Date(timeIntervalSince1970: 1.5), color: .red, data: Data([1, 2]),
      key: try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")), large: 9,
      isDone: true)
    #expect(notes.first == note && notes.last?.text == nil && notes.count == 2)
    // An optional property does not need its column.
    #expect(try connection.rows("SELECT \(columns), \(key)", decoding: Note.self).count == 1)
    #expect(try connection.rows("SELECT :x", [":x": 3], decoding: Int.self) == [3])
    #expect(try connection.rows("SELECT 'green'", decoding: Color.self) == [.green])
  }

  @Test("What cannot be decoded is an error that names the row and the column")
  func decodingErrors() throws {
    struct Nested: Decodable { var id: [Int] }
    func message(_ body: () throws -> Void) -> String {
      do {
        try body()
        return "no error"
      } catch DecodingError.keyNotFound(_, let context) {
        return "key: \(context.debugDescription)"
      } catch DecodingError.typeMismatch(_, let context) {
        return "type: \(context.debugDescription)"
      } catch DecodingError.valueNotFound(_, let context) {
        return "null: \(context.debugDescription)"
      } catch {
        return "\(error)"
      }
    }
    #expect(
      message { _ = try connection.rows("SELECT 7 AS id, 8 AS b", decoding: Note.self) }
        == "key: row 0: there is no column made; the columns are id, b")
    #expect(
      message { _ = try connection.rows("SELECT NULL AS id", decoding: Note.self) }
        == "null: row 0: the column is NULL, which is no Int")
    #expect(
      message {
        _ = try connection.rows("SELECT 1 UNION ALL SELECT 'x'", decoding: Int.self)
      } == "type: row 1: the column has 'x', which is no Int")
    #expect(
      message { _ = try connection.rows("SELECT -1", decoding: UInt64.self) }
        == "type: row 0: the column has -1, which is no UInt64")
    #expect(
      message { _ = try connection.rows("SELECT '[1]' AS id", decoding: Nested.self) }
        .hasPrefix("type: row 0: a column has one value"))
    #expect(
      message { _ = try connection.rows("SELECT 1, 2", decoding: Int.self) }.hasPrefix("type"))
  }
}
