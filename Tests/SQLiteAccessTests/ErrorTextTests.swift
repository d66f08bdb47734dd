// The texts of SQLite errors.

import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@Suite("The texts of SQLite errors")
struct ErrorTextTests {
  private func error(_ body: () throws -> Void) -> any Error {
    do { try body() } catch { return error }
    Issue.record("nothing was thrown")
    return CancellationError()
  }

  @Test("They contain the code, the statement, the file, and what to do")
  func texts() throws {
    try withTemporaryFile { path in
      ErrorText(
        error { _ = try Connection(path: path, mode: .readOnly) }, "SQLITE_CANTOPEN", path,
        "the file does not exist", "check that the path is right"
      ).check()
      let connection = try makeFilledFile(path)
      try connection.execute("CREATE TABLE u (a UNIQUE); INSERT INTO u VALUES (1)")
      ErrorText(
        error { try connection.execute("INSERT INTO u VALUES (1)") }, "SQLITE_CONSTRAINT_UNIQUE",
        "u.a", "INSERT INTO u", path, "give the row other values"
      ).check()
      ErrorText(
        error { try connection.execute("SELECT * FROM missing") }, "SQLITE_ERROR", "missing", path,
        isHelpless: true
      ).check()
      let reader = try Connection(path: path, mode: .readOnly)
      ErrorText(
        error { try reader.execute("DELETE FROM t") }, "SQLITE_READONLY", "DELETE FROM t", path,
        "writable"
      ).check()
      let other = try Connection(path: path, busyTimeoutMilliseconds: 0)
      try connection.begin(.immediate)
      ErrorText(
        error { try other.begin(.immediate) }, "SQLITE_BUSY", path, "holds the lock",
        "commit sooner"
      ).check()
      try connection.rollback()
      try other.close()
      ErrorText(error { try other.begin() }, "closed", path, "open another one").check()
    }
    try withTemporaryFile { path in
      try Data(repeating: 65, count: 5000).write(to: URL(fileURLWithPath: path))
      let connection = try Connection(path: path)
      ErrorText(
        error { try connection.execute("SELECT * FROM sqlite_schema") }, "SQLITE_NOTADB", path,
        "something else than an SQLite database", "right file"
      ).check()
    }
  }

  @Test("Every error type of this target is covered here")
  func all() throws {
    #expect(try publicErrorTypes(of: "SQLiteAccess") == ["\(SQLiteError.self)"])
  }
}
