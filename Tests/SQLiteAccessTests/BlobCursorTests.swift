import SQLiteAccess
import Testing

@Suite("Blob cursors")
struct BlobCursorTests {
  let connection: Connection

  init() throws {
    connection = try Connection(inMemory: nil)
    try connection.execute(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, v);
      INSERT INTO t VALUES (1, x'0102'), (2, x'0304'), (3, x'05'), (4, 77), (5, zeroblob(9000));
      """)
  }

  private func values() throws -> [SQLValue] {
    try connection.rows("SELECT v FROM t WHERE id < 5 ORDER BY id").map { $0[0] }
  }

  private func replace(
    _ row: Int64, by bytes: [UInt8], _ cursor: BlobCursor
  ) throws -> Bool {
    try bytes.withUnsafeBytes { try cursor.replace(row, by: $0) }
  }

  @Test("Blobs of the same length are replaced, row after row, and seen at once")
  func replacing() throws {
    try connection.transaction {
      let cursor = try #require(try BlobCursor(connection, table: "t", column: "v", row: 2))
      #expect(try replace(2, by: [9, 8], cursor))
      #expect(try values() == [.blob([1, 2]), .blob([9, 8]), .blob([5]), 77])
      #expect(try replace(1, by: [7, 7], cursor))
      let long = (0..<9000).map { UInt8(truncatingIfNeeded: $0) }
      #expect(try replace(5, by: long, cursor))
      // A statement may change the row that the cursor is at.
      try connection.execute("UPDATE t SET v = x'0a0b0c' WHERE id = 1")
      #expect(try !replace(1, by: [7, 7], cursor))
      #expect(try replace(1, by: [1, 1, 1], cursor))
    }
    #expect(try values() == [.blob([1, 1, 1]), .blob([9, 8]), .blob([5]), 77])
    #expect(try connection.value("PRAGMA integrity_check") == "ok")
  }

  @Test("Another length, a row that is not there, and what is no blob change nothing")
  func refusals() throws {
    let before = try values()
    try connection.transaction {
      func cursor() throws -> BlobCursor? {
        try BlobCursor(connection, table: "t", column: "v", row: 1)
      }
      let first = try #require(try cursor())
      #expect(try !replace(3, by: [1, 2], first))
      #expect(try !replace(2, by: [1], first))
      #expect(try replace(1, by: [1, 2], first))
      #expect(try !replace(9, by: [1, 2], first))
      // It is of no use after that.
      #expect(try !replace(1, by: [1, 2], first))
      let second = try #require(try cursor())
      #expect(try !replace(4, by: [1, 2], second))
    }
    #expect(try values() == before)
    let noRow = try BlobCursor(connection, table: "t", column: "v", row: 9)
    let noColumn = try BlobCursor(connection, table: "t", column: "w", row: 1)
    #expect(noRow == nil && noColumn == nil)
  }

  @Test("What was replaced is rolled back")
  func rollback() throws {
    let before = try values()
    try connection.begin(.immediate)
    do {
      let cursor = try #require(try BlobCursor(connection, table: "t", column: "v", row: 1))
      #expect(try replace(1, by: [9, 9], cursor))
    }
    try connection.rollback()
    #expect(try values() == before)
  }
}
