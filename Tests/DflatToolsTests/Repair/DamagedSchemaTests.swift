// Repairs of files whose own description of their tables is damaged.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("A repair without sqlite_master")
struct DamagedSchemaTests {
  private static let table = SampleFile.table

  /// Calls `body` with the folder of a sample file after plain SQL has changed it, and with what a
  /// repair says of it.
  private func withRepaired<R>(
    _ statements: [String], zeroingRootOf name: String? = nil,
    _ body: (_ saved: Connection, RepairReport, SampleFile) throws -> R
  ) throws -> R {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let sample = try SampleFile(count: 300, hasLog: false)
    let (broken, new) = ("\(directory)/broken.db", "\(directory)/saved.db")
    try Data(sample.bytes).write(to: URL(filePath: broken))
    let connection = try Connection(path: broken)
    let root = try name.map {
      try connection.value("SELECT rootpage FROM sqlite_master WHERE name = ?", [.text($0)])?
        .integer
    }
    try connection.execute("PRAGMA journal_mode = DELETE; PRAGMA writable_schema = ON")
    for statement in statements {
      try connection.execute(statement.replacing("$T", with: Self.table))
    }
    try connection.close()
    if let root = root ?? nil {
      var bytes = try Data(contentsOf: URL(filePath: broken))
      let start = (Int(root) - 1) * SampleFile.pageSize
      bytes.replaceSubrange(
        start..<start + SampleFile.pageSize, with: Data(count: SampleFile.pageSize))
      try bytes.write(to: URL(filePath: broken))
    }
    let report = try Repair.runAndWait(from: broken, to: new)
    let saved = try Connection(path: new)
    defer { try? saved.close() }
    return try body(saved, report, sample)
  }

  private static let forgetSchema = "DELETE FROM dflat_schemas WHERE \"table\" = '$T'"

  private func posts(_ saved: Connection) throws -> [Int: [UInt8]] {
    var posts: [Int: [UInt8]] = [:]
    for row in try saved.rows("SELECT __pk1, p FROM \(Self.table)") {
      if let number = row[0].integer { posts[Int(number)] = row[1].blob }
    }
    return posts
  }

  @Test(
    "Objects come back under their name, with their schema and without it",
    arguments: [
      "UPDATE sqlite_master SET sql = 'CRFATE' || substr(sql, 7) WHERE name = '$T'",
      "UPDATE sqlite_master SET sql = replace(sql, '$T', 'blkg__post_v1_0') WHERE name = '$T'",
      "UPDATE sqlite_master SET sql = replace(sql, 'INTEGER', 'INTEG(R') WHERE name = '$T'",
      "UPDATE sqlite_master SET sql = replace(sql, 'UNIQUE', 'UNIQTE') WHERE name = '$T'",
      "UPDATE sqlite_master SET sql = replace(sql, '__pk1', '__;k1') WHERE name = '$T'",
      "UPDATE sqlite_master SET sql = replace(sql, 'INTEGER, p', 'INTEGER  p') WHERE name = '$T'",
      "UPDATE sqlite_master SET sql = replace(sql, '1 INTEGER', '1 INTEGDR') WHERE name = '$T'",
      "UPDATE sqlite_master SET sql = replace(sql, '0, __pk1', '0, __pk0') WHERE name = '$T'",
      "UPDATE sqlite_master SET sql = replace(sql, '(rowid', '(rowie') WHERE name = '$T'",
      "UPDATE sqlite_master SET sql = replace(sql, ' p BLOB', ' q BLOB') WHERE name = '$T'",
      "UPDATE sqlite_master SET sql = replace(sql, '0 TEXT,', '0 TEXT ') WHERE name = '$T'",
      "UPDATE sqlite_master SET name = 'blkg__post_v1_0' WHERE name = '$T'",
      "UPDATE sqlite_master SET tbl_name = 'blkg__post_v1_0' WHERE name = '$T'",
      "UPDATE sqlite_master SET name = 'x', tbl_name = 'y', sql = 'z' WHERE name = '$T'",
      "DELETE FROM sqlite_master WHERE name = '$T'",
    ], [false, true])
  func objects(damage: String, isSchemaKnown: Bool) throws {
    try withRepaired((isSchemaKnown ? [] : [Self.forgetSchema]) + [damage]) {
      saved, report, sample in
      let posts = try posts(saved)
      #expect(posts == sample.posts, "\(report)")
      let type = report.tables.first { $0.table == Self.table }
      #expect(type?.hasSchema == isSchemaKnown && type?.doubtful == 0 && type?.lost == 0)
      let file = try DataFile.open(saved.path)
      defer { file.close() }
      let findings = try file.check().findings
      #expect(findings.allSatisfy { $0.severity == .note }, "\(findings)")
      // The library builds indexes when it uses them.
      let others = try saved.rows(
        "SELECT name FROM sqlite_master WHERE name LIKE '\(Self.table)#_#_%' ESCAPE '#'")
      #expect(others.isEmpty, "\(others)")
    }
  }

  @Test("One damaged key does not say of which type the keys are", arguments: [false, true])
  func oneKey(isIndexAlone: Bool) throws {
    let changes = [
      Self.forgetSchema, "UPDATE $T SET __pk1 = 'text' WHERE rowid = (SELECT min(rowid) FROM $T)",
      isIndexAlone
        ? "DELETE FROM sqlite_master WHERE name = '$T'"
        : "UPDATE sqlite_master SET sql = 'CREATE TABLE (' WHERE name = '$T'",
    ]
    try withRepaired(changes) { saved, report, sample in
      let posts = try posts(saved)
      #expect(posts.count == sample.posts.count - 1, "\(report)")
      #expect(posts.allSatisfy { sample.posts[$0.key] == $0.value })
    }
  }

  @Test(
    "Rows of a table of plain SQL come back in columns without names",
    arguments: [
      "'CREATE TABLE city ('", "'CREATE TABLE city (id INTEGER); SELECT 1'",
      "replace(sql, 'REAL, data', 'REAL  data')",
    ])
  func plainRows(statement: String) throws {
    let damage = "UPDATE sqlite_master SET sql = \(statement) WHERE name = 'city'"
    try withRepaired([damage]) { saved, report, sample in
      let posts = try posts(saved)
      #expect(posts == sample.posts)
      let cities = try saved.rows("SELECT c1, c2 FROM city ORDER BY rowid")
      let expected: [[SQLValue]] = (1...40).map { (number: Int64) in
        [.text("city \(number)"), .integer(number * 25)]
      }
      #expect(cities == expected, "\(report)")
      #expect(report.notCreated.contains { $0.hasPrefix("table city: ") }, "\(report.notCreated)")
    }
  }

  /// Writes a small sample that does not know the schema of its objects, and has no log.
  /// - Returns: The sample, and the bytes of the file.
  private func sampleWithoutSchema(at path: String) throws -> (SampleFile, Data) {
    let sample = try SampleFile(count: 30, hasLog: false)
    try Data(sample.bytes).write(to: URL(filePath: path))
    let connection = try Connection(path: path)
    try connection.execute("PRAGMA journal_mode = DELETE")
    try connection.execute(Self.forgetSchema.replacing("$T", with: Self.table))
    try connection.close()
    return (sample, try Data(contentsOf: URL(filePath: path)))
  }

  @Test("Objects whose table is lost get into no other one, and their table has its name again")
  func lostTable() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let (broken, new) = ("\(directory)/broken.db", "\(directory)/saved.db")
    let (sample, whole) = try sampleWithoutSchema(at: broken)
    var bytes = whole
    // The types of the first columns of both rows, which are none then.
    let index = SchemaEntry.constraintIndex(of: Self.table)
    for text in ["table\(Self.table)\(Self.table)", "index\(index)\(Self.table)"] {
      let places = bytes.ranges(of: Data(text.utf8))
      #expect(!places.isEmpty)
      for place in places { bytes[place.lowerBound] ^= 1 }
    }
    try bytes.write(to: URL(filePath: broken))
    let report = try Repair.runAndWait(from: broken, to: new)
    let saved = try Connection(path: new)
    defer { try? saved.close() }
    let cities = try saved.value("SELECT count(*) FROM city")
    #expect(cities == .integer(40), "\(report)")
    let posts = try posts(saved)
    #expect(posts == sample.posts, "\(report)")
  }

  @Test("Any bit of what sqlite_master says of a table may change", .endsSometime)
  func anyBit() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let (broken, new) = ("\(directory)/broken.db", "\(directory)/saved.db")
    let (sample, bytes) = try sampleWithoutSchema(at: broken)
    let connection = try Connection(path: broken, mode: .readOnly)
    let statement = try #require(
      try connection.value("SELECT sql FROM sqlite_master WHERE name = '\(Self.table)'")?.text)
    try connection.close()
    let place = try #require(bytes.firstRange(of: Data(statement.utf8)))
    // Before it there are the types of the columns, both names, and the root.
    let bits = ((place.lowerBound - 50) * 8..<place.upperBound * 8)
    try withSeed { random in
      for bit in isLongRun
        ? Array(bits) : (0..<60).map({ _ in bits.randomElement(using: &random)! })
      {
        var damaged = bytes
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        try damaged.write(to: URL(filePath: broken))
        let report = try Repair.runAndWait(from: broken, to: new)
        let saved = try Connection(path: new)
        let exists = try saved.value("SELECT 1 FROM sqlite_master WHERE name = '\(Self.table)'")
        let posts = exists == nil ? [:] : try posts(saved)
        #expect(
          posts == sample.posts,
          "byte \(bit / 8 - place.lowerBound) of the statement, bit \(bit % 8): \(report)")
        try saved.close()
        try FileManager.default.removeItem(atPath: new)
      }
    }
  }

  @Test("Without schema and index a key must stand in its object")
  func keysWithoutWitness() throws {
    let changes = [
      Self.forgetSchema,
      "UPDATE $T SET __pk1 = 123456 WHERE rowid = (SELECT max(rowid) FROM $T)",
    ]
    try withRepaired(changes, zeroingRootOf: SchemaEntry.constraintIndex(of: Self.table)) {
      saved, report, sample in
      let posts = try posts(saved)
      #expect(posts.count == sample.posts.count - 1)
      #expect(posts.allSatisfy { sample.posts[$0.key] == $0.value })
      let type = report.tables.first { $0.table == Self.table }
      #expect(type?.doubtful == 1, "\(report)")
    }
  }
}
