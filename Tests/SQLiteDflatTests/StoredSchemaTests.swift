// The schemas that files keep, judged by flatc: it reads the rows with nothing but them.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("The schemas in a file")
struct StoredSchemaTests {
  private typealias Memo = Desk.Memo

  private static let flatc = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
    .map { "\($0)/flatc" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  /// The rows of a type as JSON, by flatc.
  private func json(_ file: TemporaryFile, _ table: String) throws -> [Data] {
    let connection = try file.foreignConnection()
    defer { try? connection.close() }
    let schemas = try connection.rows(
      "SELECT schema FROM dflat_schemas WHERE \"table\" = ?", [.text(table)])
    #expect(schemas.count == 1, "\(table)")
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    func write(_ value: SQLValue?, _ name: String) throws {
      try Data(try #require(value?.blob)).write(to: URL(filePath: "\(directory)/\(name)"))
    }
    try write(schemas.first?.first, "schema.bfbs")
    let rows = try connection.rows("SELECT p FROM \"\(table)\" ORDER BY rowid")
    for (place, row) in rows.enumerated() { try write(row[0], "row\(place).bin") }
    let process = Process()
    process.executableURL = URL(filePath: try #require(Self.flatc))
    process.currentDirectoryURL = URL(filePath: directory)
    process.arguments =
      ["--json", "--strict-json", "--natural-utf8", "--defaults-json", "--raw-binary"]
      + ["schema.bfbs", "--"] + rows.indices.map { "row\($0).bin" }
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let log = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "flatc: \(log)")
    return try rows.indices.map {
      try Data(contentsOf: URL(filePath: "\(directory)/row\($0).json"))
    }
  }

  /// Stores objects, and expects that flatc reads them back.
  private func expectReadable<T: Atom & Codable & Equatable>(
    _ objects: [T], checksums: Bool = false
  ) throws {
    try withTemporaryFile(configure: { $0.rowChecksums = checksums }) { file in
      try file.dflat.write(T.self) { try $0.insert(contentsOf: objects) }
      let read = try json(file, T._schema.table).map {
        try JSONDecoder().decode(T.self, from: $0)
      }
      #expect(read == objects)
    }
  }

  @Test(
    "flatc turns the rows of a file into JSON, with and without checksums",
    .enabled(if: flatc != nil, "flatc is missing"), arguments: [false, true])
  func rowsAreReadable(checksums: Bool) throws {
    let posts = [
      post(1, likes: 4, photo: "p"), post(2, link: "https://a"), post(3),
      Post(
        site: "ä", number: .min, status: .archived, likes: .max,
        place: Blog.Place(lat: 1.5, lon: -2), author: Blog.Author(handle: "h", name: "n"),
        tags: ["a", "", "ß"], attachment: .photo(Blog.Photo(path: "x", width: 7)), isPinned: true),
    ]
    try expectReadable(posts, checksums: checksums)
    var random = SeededGenerator(seed: 7)
    try expectReadable(
      (0..<100).map { (serial: UInt64) -> Kit.Item in
        var item = Kit.ItemBuilder(from: RandomItems.item(&random))
        // JSON has no such numbers, flatc ends texts at a NUL, and writes the least numbers as 0.
        item.name = "n"
        item.serial = serial
        if !item.real.isFinite { item.real = 2 }
        if !item.single.isFinite { item.single = 2 }
        return item.build()
      }.filter { item in
        let text = "\(item)"
        return item.badge == nil && !["nan", "inf", "\\0", "e-"].contains { text.contains($0) }
      }, checksums: checksums)
    try expectReadable([Memo(number: 1, title: "t", owner: Desk.Owner(handle: "h", floor: 2))])
    try expectReadable([Tale.Story(id: 2, title: "Bye")])
  }

  @Test("The dictionary has a schema", .enabled(if: flatc != nil, "flatc is missing"))
  func dictionary() throws {
    try withTemporaryFile { file in
      file.dflat.dictionary["answer"] = 42
      file.dflat.dictionary.synchronize()
      let json = try json(file, "dictitem_v_dflat_internal__")
      #expect(json.count == 1)
      let text = String(decoding: json[0], as: UTF8.self)
      #expect(text.contains("\"answer\"") && text.contains("42"))
    }
  }

  @Test("There is one row for each table and shape, with its attributes")
  func rows() throws {
    try withTemporaryFile { file in
      try file.store([post(1)])
      let all = "SELECT \"table\", digest, version, date, length(schema) FROM dflat_schemas"
      let first = try file.sqlite3(all)
      #expect(first.split(separator: "\n").count == 1)
      #expect(first.hasPrefix("blog__post_v1_0|\(Post._schema.encoded.digest)|"))
      for attribute in ["primary", "indexed", "unique", "deprecated_22", "Published"] {
        let count = try file.sqlite3(
          "SELECT count(*) FROM dflat_schemas WHERE instr(schema, CAST('\(attribute)' AS BLOB)) > 0"
        )
        #expect(count == "1", "\(attribute)")
      }
      // The same shape again, by another workspace, and another type.
      let second = file.secondWorkspace()
      try second.store([post(2)])
      #expect(try file.sqlite3(all) == first)
      try second.dflat.write(Memo.self) { _ = try $0.insert(Memo(number: 1)) }
      #expect(try file.sqlite3("SELECT count(*) FROM dflat_schemas") == "2")
    }
  }

  @Test("Another shape of a table gets another row")
  func shapes() throws {
    try withTemporaryFile { file in
      try file.dflat.write(Press.Article.self) { _ = try $0.insert(Press.Article(slug: "a")) }
      try file.dflat.write(PRESS.Article.self) {
        _ = try $0.insert(PRESS.Article(slug: "b", votes: 2))
      }
      let counts = try file.sqlite3(
        "SELECT count(*), count(DISTINCT digest) FROM dflat_schemas "
          + "WHERE \"table\" = '\(Press.Article._schema.table)'")
      #expect(counts == "2|2")
    }
  }

  @Test("Fetching writes no schemas, and a file without them works as before")
  func withoutSchemas() throws {
    try withTemporaryFile { file in
      try file.store([post(1)])
      try file.tamper("DROP TABLE dflat_schemas")
      let second = file.secondWorkspace()
      #expect(second.dflat.fetch(for: Post.self).all().count == 1)
      #expect(
        try file.sqlite3("SELECT count(*) FROM sqlite_master WHERE name = 'dflat_schemas'") == "0")
      try second.store([post(2)])
      #expect(try file.sqlite3("SELECT count(*) FROM dflat_schemas") == "1")
      #expect(try file.faults().isEmpty)
    }
  }

  @Test("A transaction that is undone leaves no schema, and the next one writes it")
  func undone() throws {
    struct Stop: Error {}
    try withTemporaryFile { file in
      try file.dflat.write(Memo.self) { _ = try $0.insert(Memo(number: 1)) }
      #expect(throws: Stop.self) {
        try file.dflat.write(Post.self) { txn in
          _ = try txn.insert(post(1))
          throw Stop()
        }
      }
      let count = "SELECT count(*) FROM dflat_schemas WHERE \"table\" = 'blog__post_v1_0'"
      #expect(try file.sqlite3(count) == "0")
      try file.store([post(1)])
      #expect(try file.sqlite3(count) == "1")
    }
  }

  @Test("What else has the name of the table prevents no transaction, and is reported")
  func otherTable() throws {
    for other in [
      "CREATE TABLE dflat_schemas (mine TEXT)", "CREATE VIEW dflat_schemas AS SELECT 1 AS mine",
    ] {
      try withTemporaryFile { file in
        try file.tamper(other)
        try file.store([post(1)])
        #expect(file.dflat.fetch(for: Post.self).all().count == 1)
        #expect(file.takeErrors().map(\.table) == ["dflat_schemas"], "\(other)")
      }
    }
  }
}
