// The schemas that a database keeps, judged by flatc: it reads the rows with nothing but them.

import Dflat
import DflatTestSupport
import Foundation
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("The schemas in a database", .endsSometime)
struct KeptSchemaTests {
  private static let flatc = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
    .map { "\($0)/flatc" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  private func bytes(_ hexadecimal: String?) throws -> Data {
    let digits = Array(try #require(hexadecimal))
    return Data(
      stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(String(digits[$0...$0 + 1]), radix: 16)
      })
  }

  @Test(
    "flatc turns the rows of a database into JSON", .enabled(if: flatc != nil, "flatc is missing"))
  func readable() async throws {
    try await withSchema { schema in
      let posts = [
        post(1, likes: 4, photo: "p"), post(2, link: "https://a"),
        Post(
          site: "ä", number: .min, status: .archived, likes: .max,
          place: Blog.Place(lat: 1.5, lon: -2), author: Blog.Author(handle: "h", name: "n"),
          tags: ["a", "", "ß"], attachment: .photo(Blog.Photo(path: "x", width: 7)),
          isPinned: true),
      ]
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Post.self) { try $0.insert(contentsOf: posts) }
      await dflat.shutdown()
      let server = try PlainConnection()
      let kept = try server.run(
        "SELECT encode(schema, 'hex'), digest, encode(sha256(schema), 'hex'), date "
          + "FROM \(schema).dflat_schemas WHERE \"table\" = '\(Post._schema.table)'")
      #expect(kept.count == 1)
      #expect(kept[0][1] == kept[0][2])
      #expect(kept[0][3]?.hasSuffix("Z") == true)
      let directory = try makeTemporaryDirectory()
      defer { try? FileManager.default.removeItem(atPath: directory) }
      try bytes(kept[0][0]).write(to: URL(filePath: "\(directory)/schema.bfbs"))
      let rows = try server.run(
        "SELECT encode(p, 'hex') FROM \(schema).\"\(Post._schema.table)\" ORDER BY rowid")
      for (place, row) in rows.enumerated() {
        try bytes(row[0]).write(to: URL(filePath: "\(directory)/row\(place).bin"))
      }
      let process = Process()
      process.executableURL = URL(filePath: try #require(Self.flatc))
      process.currentDirectoryURL = URL(filePath: directory)
      process.arguments =
        ["--json", "--strict-json", "--natural-utf8", "--defaults-json", "--raw-binary"]
        + ["schema.bfbs", "--"] + rows.indices.map { "row\($0).bin" }
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      let read = try rows.indices.map {
        try JSONDecoder().decode(
          Post.self, from: Data(contentsOf: URL(filePath: "\(directory)/row\($0).json")))
      }
      #expect(read == posts)
    }
  }

  /// The names of the tables whose schemas are kept.
  private func tables(_ schema: String) throws -> [String?] {
    try PlainConnection().run("SELECT \"table\" FROM \(schema).dflat_schemas ORDER BY 1").map {
      $0[0]
    }
  }

  @Test("A schema is kept once, by the first workspace that writes the type, and by prepare")
  func once() async throws {
    try await withTwoWorkspaces { first, second, schema in
      try await first.prepare(Post.self)
      let prepared = try tables(schema)
      #expect(prepared.contains(Post._schema.table))
      try await first.write(Post.self, Note.self) { txn in
        try txn.insert(post(1))
        try txn.insert(Note(key: 1, text: "a"))
      }
      #expect(try tables(schema).count == prepared.count + 1)
      try await second.write(Note.self) { try $0.insert(Note(key: 2, text: "b")) }
      #expect(try tables(schema).count == prepared.count + 1)
    }
  }

  @Test("A schema is kept although the first transaction of its type was refused")
  func refused() async throws {
    try await withTwoWorkspaces { first, second, schema in
      try await second.prepare(Note.self)
      try await second.write(Note.self) { try $0.insert(Note(key: 1, text: "a")) }
      try PlainConnection().run("DELETE FROM \(schema).dflat_schemas")
      let error = await #expect(throws: StorageError.self) {
        try await first.write(Note.self, attempts: 1) { txn in
          try txn.update(Note.self, keys: [1]) { $0.text = "b" }
          // Another program removes what the ledger has to change, so that COMMIT fails.
          try PlainConnection().run("ALTER TABLE \(schema)._dflat_commits RENAME TO gone")
        }
      }
      #expect(error?.cause == .other, "\(error as Any)")
      try PlainConnection().run("ALTER TABLE \(schema).gone RENAME TO _dflat_commits")
      try await first.write(Note.self) { txn in
        try txn.update(Note.self, keys: [1]) { $0.text = "c" }
      }
      #expect(try tables(schema) == [Note._schema.table])
    }
  }

  @Test("A database whose table of schemas is missing, or cannot be written, works as before")
  func without() async throws {
    try await withTwoWorkspaces { first, second, schema in
      try await first.prepare(Note.self)
      let server = try PlainConnection()
      try server.run("DROP TABLE \(schema).dflat_schemas")
      try await first.write(Note.self) { try $0.insert(Note(key: 1, text: "a")) }
      #expect(try tables(schema) == [Note._schema.table])
      try server.run(
        "DROP TABLE \(schema).dflat_schemas; CREATE TABLE \(schema).dflat_schemas (other int)")
      try await second.write(Note.self) { try $0.insert(Note(key: 2, text: "b")) }
      #expect(second.fetch(for: Note.self).all().count == 2)
    }
  }
}
