import SQLiteAccess
import Testing

@Suite("Functions")
struct FunctionTests {
  let connection: Connection

  init() throws {
    connection = try Connection(inMemory: nil)
  }

  @Test(
    "A function receives its arguments and returns its result unchanged",
    arguments: [
      .null, 5, .integer(.min), 2.5, "", "a\0ü", .blob([]), .blob([1, 0, 2]),
    ] as [SQLValue])
  func identity(value: SQLValue) throws {
    try connection.createFunction("same", argumentCount: 1) { $0[0] }
    #expect(try connection.value("SELECT same(?)", [value]) == value)
  }

  @Test("Any number of arguments is read by type")
  func arguments() throws {
    try connection.createFunction("joined", argumentCount: nil) { call in
      var text = ""
      for index in 0..<call.count {
        text += call.isNull(index) ? "-" : call.string(index) ?? ""
      }
      return .text(text)
    }
    #expect(try connection.value("SELECT joined()") == "")
    #expect(try connection.value("SELECT joined(1, 'a', NULL, 2.5)") == "1a-2.5")
    try connection.createFunction("product", argumentCount: 2, deterministic: true) { call in
      .real(Double(call.int64(0)) * call.double(1) + Double(call.blob(0).count))
    }
    #expect(try connection.value("SELECT product(3, 1.5)") == 5.5)
  }

  @Test("An error thrown by a function fails the statement, with its description or its code")
  func errors() throws {
    struct Refusal: Error, CustomStringConvertible { var description: String { "not today" } }
    try connection.createFunction("refuse", argumentCount: 0) { _ in throw Refusal() }
    let refusal = #expect(throws: SQLiteError.self) { try connection.value("SELECT refuse()") }
    #expect(refusal?.code == .error && refusal?.message == "not today")
    try connection.createFunction("refuse", argumentCount: 1) { _ in
      throw SQLiteError(code: .tooBig, message: "too much")
    }
    let tooBig = #expect(throws: SQLiteError.self) { try connection.value("SELECT refuse(1)") }
    #expect(tooBig?.code == .tooBig && tooBig?.message == "too much")
  }

  @Test("A function is replaced, removed, and released with the connection")
  func lifetime() throws {
    final class Token {}
    weak var first: Token?
    weak var second: Token?
    do {
      let connection = try Connection(inMemory: nil)
      do {
        let token = Token()
        first = token
        try connection.createFunction("f", argumentCount: 0) { _ in
          withExtendedLifetime(token) { 1 }
        }
      }
      #expect(try connection.value("SELECT f()") == 1 && first != nil)
      try connection.createFunction("f", argumentCount: 0) { _ in 2 }
      #expect(try connection.value("SELECT f()") == 2 && first == nil)
      try connection.removeFunction("f", argumentCount: 0)
      #expect(throws: SQLiteError.self) { try connection.value("SELECT f()") }
      do {
        let token = Token()
        second = token
        try connection.createFunction("f", argumentCount: 0) { _ in
          withExtendedLifetime(token) { 1 }
        }
      }
      #expect(second != nil)
    }
    #expect(second == nil)
  }

  @Test("A bad name or count is an error, and the closure is released")
  func misuse() throws {
    final class Token {}
    weak var kept: Token?
    let name = String(repeating: "f", count: 256)
    do {
      let token = Token()
      kept = token
      let error = #expect(throws: SQLiteError.self) {
        try connection.createFunction(name, argumentCount: 0) { _ in
          withExtendedLifetime(token) { 1 }
        }
      }
      #expect(error?.code == .misuse)
    }
    #expect(kept == nil)
    for count in [128, .max, -2] {
      #expect(throws: SQLiteError.self) {
        try connection.createFunction("f", argumentCount: count) { _ in .null }
      }
    }
  }

  @Test("A function may query its connection")
  func nestedQuery() throws {
    try connection.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
    try connection.createFunction("larger", argumentCount: 1) { [weak connection] call in
      try connection?.value("SELECT count(*) FROM t WHERE a > ?", [call[0]]) ?? .null
    }
    #expect(try connection.rows("SELECT larger(a) FROM t") == [[1], [0]])
  }
}
