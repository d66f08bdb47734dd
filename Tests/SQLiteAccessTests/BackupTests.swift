import Foundation
import SQLiteAccess
import Testing

@Suite("Backup")
struct BackupTests {
  @Test("A copy holds everything, including what is still in the log", arguments: [nil, 1, 7])
  func copy(pagesPerStep: Int?) throws {
    try withTemporaryDirectory { directory in
      let source = try makeFilledFile(directory + "/a.db", rows: 500)
      var steps: [Int] = []
      try source.backup(to: directory + "/b.db", pagesPerStep: pagesPerStep) { remaining, total in
        #expect(remaining < total)
        steps.append(remaining)
        return true
      }
      #expect(steps.last == 0 && steps == steps.sorted(by: >))
      #expect(steps.count > 1 || pagesPerStep == nil)
      let copy = try Connection(path: directory + "/b.db", mode: .readOnly)
      #expect(try copy.rows("SELECT * FROM t") == source.rows("SELECT * FROM t"))
      #expect(try copy.pragma("integrity_check") == "ok")
    }
  }

  @Test("The content of the destination is replaced")
  func replaces() throws {
    try withTemporaryFile { path in
      let source = try makeFilledFile(path, rows: 3)
      let destination = try Connection(inMemory: nil)
      try destination.execute("CREATE TABLE old (a)")
      // An in-memory database adopts the source's page size as long as it is private.
      try source.backup(to: destination)
      #expect(try destination.rows("SELECT name FROM sqlite_schema") == [["t"]])
    }
  }

  @Test("If the progress handler ends it, the destination is unchanged")
  func stopped() throws {
    try withTemporaryDirectory { directory in
      let source = try makeFilledFile(directory + "/a.db", rows: 500)
      let destination = try Connection(path: directory + "/b.db")
      try destination.execute("CREATE TABLE old (a)")
      let error = #expect(throws: SQLiteError.self) {
        try source.backup(to: destination, pagesPerStep: 1) { remaining, total in
          remaining > total / 2
        }
      }
      #expect(error?.code == .abort)
      #expect(try destination.rows("SELECT name FROM sqlite_schema") == [["old"]])
    }
  }

  @Test(
    "A file that a copy has created is removed if the copy ends early", arguments: [false, true])
  func stoppedFile(isInMemory: Bool) throws {
    try withTemporaryDirectory { directory in
      let source = try isInMemory ? Connection(inMemory: nil) : makeFilledFile(directory + "/a.db")
      if isInMemory { try source.execute("CREATE TABLE t (a)") }
      let path = directory + "/b.db"
      let error = #expect(throws: SQLiteError.self) {
        try source.backup(to: path, pagesPerStep: 1) { _, _ in false }
      }
      #expect(error?.code == .abort)
      func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory)
          .filter { $0.hasPrefix("b.db") }
      }
      #expect(try names() == [])
      // One that was there stays as it was.
      let old = try Connection(path: path)
      try old.execute("CREATE TABLE old (a)")
      try old.close()
      #expect(throws: SQLiteError.self) {
        try source.backup(to: path, pagesPerStep: 1) { _, _ in false }
      }
      #expect(try names() == ["b.db"])
      #expect(
        try Connection(path: path).rows("SELECT name FROM sqlite_schema") == [["old"]])
    }
  }

  @Test("Steps without a page are refused", arguments: [0, -1, .min])
  func emptySteps(pages: Int) throws {
    try withTemporaryDirectory { directory in
      let source = try makeFilledFile(directory + "/a.db")
      var steps = 0
      let error = #expect(throws: SQLiteError.self) {
        try source.backup(to: directory + "/b.db", pagesPerStep: pages) { _, _ in
          steps += 1
          return steps < 1000
        }
      }
      #expect(error?.code == .misuse && error?.description.contains("\(pages)") == true)
      #expect(!FileManager.default.fileExists(atPath: directory + "/b.db"))
    }
  }

  @Test("Other connections write while the copy is made, and it is a single state")
  func meanwhile() throws {
    try withTemporaryDirectory { directory in
      let source = try makeFilledFile(directory + "/a.db", rows: 500)
      let other = try Connection(path: directory + "/a.db")
      var writes = 0
      try source.backup(to: directory + "/b.db", pagesPerStep: 3) { _, _ in
        if writes < 5 {
          writes += 1
          #expect(throws: Never.self) {
            try other.execute("UPDATE t SET text = ?", [.text("round \(writes)")])
          }
        }
        return true
      }
      let copy = try Connection(path: directory + "/b.db")
      #expect(try copy.rows("SELECT DISTINCT text FROM t") == [["round 5"]])
    }
  }

  @Test("A destination in use is waited for, until the timeout fails the copy")
  func busy() throws {
    try withTemporaryDirectory { directory in
      let source = try makeFilledFile(directory + "/a.db")
      source.busyTimeoutMilliseconds = 50
      let holder = try Connection(path: directory + "/b.db")
      try holder.execute("CREATE TABLE old (a)")
      try holder.begin(.exclusive)
      let error = #expect(throws: SQLiteError.self) {
        try source.backup(to: directory + "/b.db")
      }
      #expect(error?.isBusy == true)
      try holder.rollback()
      try holder.close()
      try source.backup(to: directory + "/b.db")
    }
  }

  @Test("A database cannot be copied onto itself")
  func itself() throws {
    let connection = try Connection(inMemory: nil)
    #expect(throws: SQLiteError.self) { try connection.backup(to: connection) }
  }
}
