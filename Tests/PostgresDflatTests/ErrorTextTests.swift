// The texts of the server's errors.

import DflatTestSupport
@testable import PostgresDflat
import Testing

@Suite("The texts of the server's errors")
struct ErrorTextTests {
  @Test("They have the code, the statement, and what to do where that is known")
  func texts() throws {
    func error(_ state: String, isLost: Bool = false) -> PostgresError {
      PostgresError(
        state: state, message: "it failed", detail: "the detail", sql: "SELECT 1",
        isConnectionLost: isLost)
    }
    for state in ["40001", "40P01", "55P03", "57014", "42501", "28P01", "53100"] {
      ErrorText(error(state), "it failed (the detail)", "SQLSTATE \(state)", "SELECT 1").check()
    }
    ErrorText(error("", isLost: true), "can be reached").check()
    ErrorText(error("42601"), "it failed", isHelpless: true).check()
    #expect(try publicErrorTypes(of: "PostgresDflat") == ["\(PostgresError.self)"])
  }
}
