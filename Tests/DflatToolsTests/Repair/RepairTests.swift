// What a repair promises, one promise at a time.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("A repair")
struct RepairTests {
  private static let count = 300

  /// Calls `body` with a folder and a sample file in it.
  private func withSample<R>(
    log: Bool = false, _ change: (inout [UInt8]) throws -> Void = { _ in },
    _ body: (String, SampleFile) throws -> R
  ) throws -> R {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let sample = try SampleFile(count: Self.count, hasLog: log)
    var bytes = sample.bytes
    try change(&bytes)
    try Data(bytes).write(to: URL(filePath: "\(directory)/broken.db"))
    if log { try Data(sample.log).write(to: URL(filePath: "\(directory)/broken.db-wal")) }
    return try body(directory, sample)
  }

  private func repair(_ directory: String, schemas: [String] = []) throws -> RepairReport {
    try Repair.runAndWait(
      from: "\(directory)/broken.db", to: "\(directory)/saved.db", schemas: schemas)
  }

  private func rows(_ path: String, _ sql: String) throws -> [[SQLValue]] {
    let connection = try Connection(path: path)
    defer { try? connection.close() }
    return try connection.rows(sql)
  }

  @Test("It says how many pages it has found")
  func progress() throws {
    try withSample { directory, _ in
      var found: [Int] = []
      let report = try Repair.runAndWait(
        from: "\(directory)/broken.db", to: "\(directory)/saved.db"
      ) { found.append($0) }
      #expect(!found.isEmpty && found == found.sorted(), "\(found)")
      #expect(found.allSatisfy { $0 > 0 && $0 <= report.pages })
    }
  }

  @Test("A sound file becomes one with the same content", arguments: [false, true])
  func soundFile(log: Bool) async throws {
    try withSample(log: log) { directory, sample in
      let report = try repair(directory)
      #expect(report.isComplete && report.damage.isEmpty, "\(report)")
      let posts = try #require(report.tables.first)
      #expect(posts.name == "Post" && posts.hasSchema)
      #expect(posts.whole == sample.posts.count && posts.recovered == 0)
      let (broken, saved) = ("\(directory)/broken.db", "\(directory)/saved.db")
      for sql in [
        "SELECT rowid, * FROM \(SampleFile.table)", "SELECT rowid, * FROM city",
        "SELECT * FROM pair", "SELECT * FROM dictitem_v_dflat_internal__ ORDER BY __pk0",
        "SELECT * FROM dflat_schemas ORDER BY digest", "SELECT * FROM high",
        "SELECT * FROM sqlite_sequence ORDER BY name",
        "SELECT type, name, sql FROM sqlite_master WHERE tbl_name IN ('city', 'high', 'pair', "
          + "'\(SampleFile.table)') AND name NOT LIKE '_dflat%' ORDER BY name",
      ] {
        #expect(try rows(saved, sql) == rows(broken, sql), "\(sql)")
      }
      let data = try DataFile.open(saved)
      defer { data.close() }
      let check = try data.check()
      #expect(check.findings.isEmpty && check.checkedTypes == ["Post"], "\(check)")
    }
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try Data(SampleFile(count: 20, hasLog: false).bytes).write(
      to: URL(filePath: "\(directory)/a.db"))
    let report = try await Repair.run(from: "\(directory)/a.db", to: "\(directory)/b.db")
    #expect(report.isComplete)
  }

  @Test("A program goes on with the new file: indexes are built, row ids are not given again")
  func use() throws {
    try withSample { directory, sample in
      _ = try repair(directory)
      let path = "\(directory)/saved.db"
      let last = try rows(
        path, "SELECT seq FROM sqlite_sequence WHERE name = '\(SampleFile.table)'")
      let workspace = TemporaryFile(path: path)
      #expect(workspace.posts.where(Post.likes == 7).count > 0)
      try workspace.store([post(1)])
      // A step fills 500 rows of all indexes together.
      for _ in 0..<8 { try workspace.dflat.write(Post.self) { _ in } }
      let faults = try workspace.faults()
      #expect(faults.isEmpty, "\(faults)")
      workspace.dflat.shutdown()
      let new = try rows(path, "SELECT rowid FROM \(SampleFile.table) WHERE __pk0 = 's'")
      #expect(new.first?[0].integer == (last.first?[0].integer ?? 0) + 1)
    }
  }

  @Test("The damaged file is not changed, and nothing comes into being beside it")
  func noTrace() throws {
    try withSample(log: true) { directory, sample in
      _ = try repair(directory)
      #expect(try Array(Data(contentsOf: URL(filePath: "\(directory)/broken.db"))) == sample.bytes)
      #expect(
        try Array(Data(contentsOf: URL(filePath: "\(directory)/broken.db-wal"))) == sample.log)
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == [
          "broken.db", "broken.db-wal", "saved.db",
        ])
    }
  }

  @Test("Without header and first page, all objects come back by the schemas in the file")
  func firstPage() throws {
    try withSample { bytes in
      for index in 0..<4096 { bytes[index] = 0 }
    } _: { directory, sample in
      let report = try repair(directory)
      let posts = try #require(report.tables.first { $0.table == SampleFile.table })
      #expect(posts.whole + posts.recovered == sample.posts.count, "\(report)")
      #expect(report.damage.contains { $0.hasPrefix("sqlite_master") })
    }
  }

  @Test("Tables of plain SQL whose names look like indexes of objects come back")
  func namesLikeIndexes() throws {
    try withSample { _ in
    } _: { directory, _ in
      let broken = "\(directory)/broken.db"
      let connection = try Connection(path: broken)
      try connection.execute(
        """
        CREATE TABLE a__f1 (x); INSERT INTO a__f1 VALUES (1);
        CREATE TABLE a__f2 (x); INSERT INTO a__f2 VALUES (2);
        CREATE TABLE \(SampleFile.table)__mine (x); INSERT INTO \(SampleFile.table)__mine VALUES (3);
        PRAGMA wal_checkpoint(TRUNCATE)
        """)
      try connection.close()
      for isDamaged in [false, true] {
        if isDamaged {
          let connection = try Connection(path: broken)
          try connection.execute(
            "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE (' "
              + "WHERE name = 'city'; PRAGMA wal_checkpoint(TRUNCATE)")
          try connection.close()
          try FileManager.default.removeItem(atPath: "\(directory)/saved.db")
        }
        _ = try repair(directory)
        let saved = try rows(
          "\(directory)/saved.db",
          "SELECT x FROM a__f1 UNION ALL SELECT x FROM a__f2 "
            + "UNION ALL SELECT x FROM \(SampleFile.table)__mine")
        #expect(saved == [[.integer(1)], [.integer(2)], [.integer(3)]])
        let file = try DataFile.open("\(directory)/saved.db")
        defer { file.close() }
        #expect(try file.information().otherTables.contains { $0.hasSuffix("__mine") })
      }
    }
  }

  @Test("A file without schemas: with .fbs, and by the form of its rows")
  func withoutSchemas() throws {
    let schema = """
      namespace Blog;
      table Author { handle: string; name: string; }
      table Post (v: "1.0") {
        site: string (primary);
        number: int (primary);
        status: byte = 1;
        likes: int;
        unused: bool;
        author: Author;
      }
      root_type Post;
      """
    for areNamesLost in [false, true] {
      try withSample { _ in
      } _: { directory, sample in
        let broken = "\(directory)/broken.db"
        let connection = try Connection(path: broken)
        try connection.execute("DROP TABLE dflat_schemas; PRAGMA wal_checkpoint(TRUNCATE)")
        let names = try connection.rows(
          "SELECT pageno FROM dbstat WHERE name LIKE 'sqlite_%' AND name NOT LIKE '%auto%' "
            + "AND name <> 'sqlite_sequence'")
        try connection.close()
        if areNamesLost {
          let handle = try FileHandle(forWritingTo: URL(filePath: broken))
          for row in names {
            try handle.seek(toOffset: UInt64((row[0].integer ?? 1) - 1) * 4096)
            try handle.write(contentsOf: Data(count: 4096))
          }
          try handle.close()
        }
        let fbs = "\(directory)/post.fbs"
        try schema.write(toFile: fbs, atomically: true, encoding: .utf8)
        let named = try Repair.runAndWait(
          from: broken, to: "\(directory)/named.db", schemas: [fbs])
        let table = try #require(named.tables.first { $0.table == SampleFile.table })
        #expect(table.hasSchema)
        #expect(table.whole + table.recovered == sample.posts.count, "\(named)")
        let unnamed = try repair(directory)
        let name = areNamesLost ? "recovered_1" : SampleFile.table
        let found = try #require(unnamed.tables.first { $0.table == name }, "\(unnamed)")
        #expect(!found.hasSchema)
        #expect(found.whole + found.recovered == sample.posts.count, "\(found)")
        let stored = try rows("\(directory)/saved.db", "SELECT __pk1, p FROM \(name)")
        for row in stored {
          #expect(sample.posts[Int(row[0].integer ?? 0)] == row[1].blob)
        }
      }
    }
  }

  @Test("Checksums count though neither the table's statement nor its schema is whole")
  func damagedStatement() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let sample = try SampleFile(count: Self.count, hasLog: false, hasChecksums: true)
    var bytes = Data(sample.bytes)
    func damage(_ text: String, behind prefix: String = "") throws {
      var start = bytes.startIndex
      var count = 0
      while let range = bytes.range(of: Data((prefix + text).utf8), in: start..<bytes.endIndex) {
        bytes[range.upperBound - 1] ^= 1
        start = range.upperBound
        count += 1
      }
      #expect(count > 0, "\(text)")
    }
    try damage("_v1_0\" (rowid")
    // The schema's name in its own bytes: its digest is wrong now.
    try damage("blog.Post")
    try damage("<000150:0003")
    try bytes.write(to: URL(filePath: "\(directory)/broken.db"))
    let report = try repair(directory)
    #expect(report.tables.first { $0.table == SampleFile.table }?.hasSchema == false, "\(report)")
    let sql = "SELECT __pk1, p FROM \(SampleFile.table)"
    let found = try rows("\(directory)/saved.db", sql)
    for row in found {
      let number = Int(row[0].integer ?? 0)
      #expect(sample.history[number]?.contains(row[1].blob ?? []) == true, "post \(number)")
    }
    #expect(found.count >= sample.posts.count - 1)
    let data = try DataFile.open("\(directory)/saved.db")
    defer { data.close() }
    #expect(data.types.contains { $0.table == SampleFile.table })
  }

  @Test("What is lost is named by the index of the key")
  func lostKeys() throws {
    let sample = try SampleFile(count: Self.count, hasLog: false)
    let pages = SamplePages(sample)
    let leaf = try #require(sample.pages("leaf") { $0 == SampleFile.table }.dropFirst(2).first)
    let gone = pages.pagesOfPost.filter { $0.value.contains(leaf) }.keys.sorted()
    try withSample { bytes in
      for index in (leaf - 1) * 4096..<leaf * 4096 { bytes[index] = 0 }
    } _: { directory, _ in
      let report = try repair(directory)
      let posts = try #require(report.tables.first)
      #expect(!report.isComplete && posts.lost == gone.count, "\(posts)")
      #expect(posts.lostKeys.map { Int($0[1]) } == gone, "\(posts.lostKeys)")
      #expect(posts.whole == sample.posts.count - gone.count)
    }
  }

  @Test("Where nothing tells what was lost, the report says that more may be")
  func unknownLoss() throws {
    let sample = try SampleFile(count: Self.count, hasLog: false)
    let leaf = try #require(sample.pages("leaf") { $0 == "city" }.dropFirst().first)
    try withSample { bytes in
      for index in (leaf - 1) * 4096..<leaf * 4096 { bytes[index] = 0 }
    } _: { directory, _ in
      let report = try repair(directory)
      let cities = try #require(report.tables.first { $0.table == "city" })
      #expect(cities.mayLackMore && !report.isComplete && cities.whole < 40, "\(cities)")
      #expect(report.tables.first?.isComplete == true)
    }
  }

  @Test("A row with a part that is gone is doubtful, and not among the good ones")
  func doubtful() throws {
    let sample = try SampleFile(count: Self.count, hasLog: false)
    let pages = SamplePages(sample)
    let overflow = try #require(
      sample.pages("overflow") { $0 == SampleFile.table }.dropFirst(3).first)
    let number = try #require(pages.pagesOfPost.first { $0.value.contains(overflow) }?.key)
    try withSample { bytes in
      for index in (overflow - 1) * 4096..<overflow * 4096 { bytes[index] = 0 }
    } _: { directory, _ in
      let report = try repair(directory)
      let posts = try #require(report.tables.first)
      #expect(posts.doubtful == 1 && posts.lost == 0, "\(posts)")
      let kept = try rows(
        "\(directory)/saved.db", "SELECT \"table\", json_extract(keys, '$[1]') FROM dflat_doubtful")
      #expect(kept == [[.text(SampleFile.table), .text("\(number)")]])
      let good = try rows(
        "\(directory)/saved.db", "SELECT 1 FROM \(SampleFile.table) WHERE __pk1 = \(number)")
      #expect(good.isEmpty)
    }
  }

  @Test("A chain of pages is followed by the maps of the file where it is cut")
  func cutChain() throws {
    let sample = try SampleFile(count: Self.count, hasLog: false)
    let pages = sample.pages("overflow") { $0 == SampleFile.table }
    try withSample { bytes in
      for page in pages {
        for index in (page - 1) * 4096..<(page - 1) * 4096 + 4 { bytes[index] = 0x7F }
      }
    } _: { directory, _ in
      let posts = try #require(try repair(directory).tables.first)
      #expect(posts.whole == sample.posts.count && posts.isComplete, "\(posts)")
    }
  }

  @Test(
    "A key that has changed: the object and the index decide, and one of them alone does not",
    arguments: [true, false])
  func changedKey(hasSchema: Bool) throws {
    // The columns of post 121 in its row: the text, and 121 as one byte, which becomes -7.
    let key = Array("<000121:key>".utf8) + [121]
    try withSample { directory, sample in
      let broken = "\(directory)/broken.db"
      if !hasSchema {
        let connection = try Connection(path: broken)
        try connection.execute("DROP TABLE dflat_schemas")
        try connection.close()
      }
      var bytes = [UInt8](try Data(contentsOf: URL(filePath: broken)))
      let place = try #require(
        bytes.indices.first {
          bytes[$0] == key[0] && bytes[$0 / 4096 * 4096] == 13
            && bytes[$0...].starts(with: key)
        })
      bytes[place + key.count - 1] ^= 0x80
      try Data(bytes).write(to: URL(filePath: broken))
      let posts = try #require(try repair(directory).tables.first)
      #expect(posts.doubtful == (hasSchema ? 0 : 1), "\(posts)")
      #expect(posts.whole == sample.posts.count - posts.doubtful && posts.lost == 0)
      let wrong = try rows(
        "\(directory)/saved.db", "SELECT 1 FROM \(SampleFile.table) WHERE __pk1 < 0")
      #expect(wrong.isEmpty)
    }
  }

  @Test("Transactions behind a damaged frame of the log are not lost")
  func behindDamage() throws {
    try withSample(log: true) { directory, sample in
      var log = sample.log
      log[32 + SamplePages.frameSize + 2000] ^= 1
      try Data(log).write(to: URL(filePath: "\(directory)/broken.db-wal"))
      let report = try repair(directory)
      #expect(report.damagedFrames == 1)
      let posts = try #require(report.tables.first)
      #expect(posts.whole + posts.recovered > sample.posts.count * 98 / 100, "\(report)")
    }
  }

  @Test("Whatever bytes a file has, a repair ends with a file or an error, and never a crash")
  func anyBytes() throws {
    let sample = try SampleFile(count: 60, hasLog: true)
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let (broken, saved) = ("\(directory)/broken.db", "\(directory)/saved.db")
    try withSeed { random in
      for round in 0..<(isLongRun ? 2000 : 30) {
        var (bytes, log) = (sample.bytes, sample.log)
        for _ in 0..<random.pick([1, 100, 3000]) {
          let place = Int.random(in: 0..<bytes.count, using: &random)
          // Numbers in headers and pointers matter most.
          let target = random.oneIn(2) ? place / 4096 * 4096 + place % 24 : place
          bytes[target] = random.pick([
            0, 0xFF, 0x7F, 0x80, 5, 13, UInt8.random(in: 0...255, using: &random),
          ])
        }
        if round.isMultiple(of: 5) {
          bytes = bytes.map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        for _ in 0..<random.pick([0, 10]) {
          log[Int.random(in: 0..<log.count, using: &random)] = UInt8.random(
            in: 0...255, using: &random)
        }
        try Data(bytes).write(to: URL(filePath: broken))
        try Data(log).write(to: URL(filePath: broken + "-wal"))
        _ = try Repair.runAndWait(from: broken, to: saved)
        #expect(try rows(saved, "PRAGMA integrity_check") == [[.text("ok")]])
        try FileManager.default.removeItem(atPath: saved)
      }
    }
  }

  @Test("A log that claims a page with an enormous number takes no memory for it")
  func enormousPage() throws {
    try withSample { directory, sample in
      func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }
      var sums: (UInt32, UInt32) = (0, 0)
      func add(_ part: [UInt8]) {
        for start in stride(from: 0, to: part.count, by: 8) {
          func word(_ place: Int) -> UInt32 {
            part[place..<place + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
          }
          sums.0 &+= word(start) &+ sums.1
          sums.1 &+= word(start + 4) &+ sums.0
        }
      }
      let salt: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
      let header = bytes(0x377F_0682) + bytes(3_007_000) + bytes(4096) + bytes(0) + salt
      add(header)
      var log = header + bytes(sums.0) + bytes(sums.1)
      let page = [UInt8](repeating: 7, count: 4096)
      let frame = bytes(0xFFFF_FFFE) + bytes(0xFFFF_FFFE)
      add(frame)
      add(page)
      log += frame + salt + bytes(sums.0) + bytes(sums.1) + page
      try Data(log).write(to: URL(filePath: "\(directory)/broken.db-wal"))
      let report = try repair(directory)
      #expect(report.pages == sample.pageCount && report.damagedFrames == 0)
      #expect(report.tables.first?.whole == sample.posts.count, "\(report)")
    }
  }

  @Test("What cannot be done is an error that says so, and leaves nothing behind")
  func errors() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let (broken, saved) = ("\(directory)/broken.db", "\(directory)/saved.db")
    let missing = #expect(throws: ToolError.self) {
      try Repair.runAndWait(from: broken, to: saved)
    }
    #expect(missing?.kind == .noSuchFile)
    try Data().write(to: URL(filePath: broken))
    let empty = #expect(throws: ToolError.self) { try Repair.runAndWait(from: broken, to: saved) }
    #expect(empty?.kind == .badData)
    try Data("x".utf8).write(to: URL(filePath: saved))
    let taken = #expect(throws: ToolError.self) { try Repair.runAndWait(from: broken, to: saved) }
    #expect(taken?.kind == .storage)
    let nowhere = #expect(throws: ToolError.self) {
      try Repair.runAndWait(from: broken, to: "\(directory)/none/saved.db")
    }
    #expect(nowhere?.kind == .storage)
    let folder = #expect(throws: ToolError.self) {
      try Repair.runAndWait(from: directory, to: "\(directory)/other.db")
    }
    #expect(folder?.kind == .storage)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == [
        "broken.db", "saved.db",
      ])
  }
}
