// SQLite's process-wide settings. Each test runs in a process of its own.

import CSQLite
import CSQLiteProbe
import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@Suite("Process-wide settings")
struct SQLiteProcessTests {
  /// Uses a database.
  /// - Returns: How many bytes SQLite reports as used meanwhile.
  private static func use() throws -> Int64 {
    let connection = try Connection(inMemory: nil)
    try connection.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    defer { withExtendedLifetime(connection) {} }
    return sqlite3_memory_used()
  }

  @Test("Without the call, no setting is changed")
  func withoutCall() async {
    await #expect(processExitsWith: .success) {
      try #expect(Self.use() > 0)
      #expect(csqlite_probe_has_default_mutexes() != 0)
    }
  }

  @Test("The call replaces the mutexes where that helps, and turns memory statistics off")
  func withCall() async {
    await #expect(processExitsWith: .success) {
      for _ in 0..<2 { try SQLiteProcess.configureForThreads() }
      try #expect(Self.use() == 0)
      // Further calls are fine, even when SQLite is in use.
      try SQLiteProcess.configureForThreads()
      #if canImport(Glibc)
        #expect(csqlite_probe_has_default_mutexes() == 0)
      #else
        #expect(csqlite_probe_has_default_mutexes() != 0)
      #endif
    }
  }

  #if os(Linux)
    /// Changes many pages within a savepoint.
    private static func withSavepoint<R>(
      ofPages count: Int, _ body: (Connection) throws -> R
    ) throws -> R {
      try withTemporaryFile { path in
        let connection = try Connection(path: path)
        try connection.execute(
          """
          PRAGMA journal_mode = WAL; CREATE TABLE t (a);
          WITH n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
          INSERT INTO t SELECT zeroblob(4000) FROM n;
          BEGIN; DELETE FROM t WHERE rowid = 1; SAVEPOINT s; UPDATE t SET a = zeroblob(3999);
          """)
        return try body(connection)
      }
    }

    /// Whether SQLite has a file open for the 25 pages that a savepoint may have to restore.
    private static func usesFileForSavepoint() throws -> Bool {
      try withSavepoint(ofPages: 25) { connection in
        defer { withExtendedLifetime(connection) {} }
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return open.contains { file in
          let target = try? FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/self/fd/\(file)")
          return target?.contains("etilqs_") == true
        }
      }
    }

    @Test("The call keeps what a savepoint may restore in memory", arguments: [false, true])
    func savepoints(isConfigured: Bool) async {
      if isConfigured {
        await #expect(processExitsWith: .success) {
          try SQLiteProcess.configureForThreads()
          try #expect(!Self.usesFileForSavepoint())
        }
      } else {
        await #expect(processExitsWith: .success) { try #expect(Self.usesFileForSavepoint()) }
      }
    }

    @Test("After the call a savepoint may restore any number of pages")
    func largeSavepoints() async {
      await #expect(processExitsWith: .success) {
        try SQLiteProcess.configureForThreads()
        for count in [25, 50, 400, 3000] {
          try Self.withSavepoint(ofPages: count) { connection in
            try connection.execute("ROLLBACK TO s")
            let unchanged = "SELECT count(*) FROM t WHERE length(a) = 4000"
            #expect(try connection.value(unchanged) == .integer(Int64(count) - 1))
          }
        }
      }
    }
  #endif

  @Test("A call that comes too late throws and changes nothing")
  func tooLate() async {
    await #expect(processExitsWith: .success) {
      try #expect(Self.use() > 0)
      let error = #expect(throws: SQLiteError.self) { try SQLiteProcess.configureForThreads() }
      #expect(error?.code == .misuse)
      #expect(error?.message.contains("at the start of the program") == true)
      try #expect(Self.use() > 0)
      #expect(csqlite_probe_has_default_mutexes() != 0)
    }
  }

  @Test("With the changed mutexes several threads read while one writes")
  func threads() async {
    await #expect(processExitsWith: .success) {
      try SQLiteProcess.configureForThreads()
      try withTemporaryFile { path in
        let writer = try makeFilledFile(path)
        let pool = ReaderPool(path: path)
        let group = DispatchGroup()
        let counts = Collected<SQLValue?>()
        for _ in 0..<3 {
          onOwnThread(in: group) {
            for _ in 0..<200 {
              counts.append(
                try? pool.withReader { try $0.value("SELECT count(*) FROM t WHERE id <= 100") })
            }
          }
        }
        for _ in 0..<100 { try writer.execute("INSERT INTO t (text) VALUES ('another')") }
        group.wait()
        #expect(counts.all.count == 600)
        #expect(counts.all.allSatisfy { $0 == .integer(100) })
      }
    }
  }
}
