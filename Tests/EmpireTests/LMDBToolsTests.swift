// The files are readable and writable by LMDB's own tools.

import Empire
import Foundation
import Testing

@IndexKeyRecord(keyPrefix: 2_872_633_045, "name")
@Index("age")
private struct Exported: Equatable {
  let name: String
  var age: Int
}

struct LMDBToolsTests {
  private func run(_ command: [String], input: String? = nil) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    let (output, text) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardInput = text
    try process.run()
    if let input { try text.fileHandleForWriting.write(contentsOf: Data(input.utf8)) }
    try text.fileHandleForWriting.close()
    let result = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(command)")
    return String(decoding: result, as: UTF8.self)
  }

  /// The entries of a named database: lines of hexadecimal digits, alternating keys and values.
  private func dump(_ name: String, _ directory: URL) throws -> (header: [String], lines: [String])
  {
    let lines = try run(["mdb_dump", "-s", name, directory.path(percentEncoded: false)])
      .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    let end = try #require(lines.firstIndex(of: "HEADER=END"))
    #expect(lines.last == "DATA=END")
    return (Array(lines[..<end]), Array(lines[(end + 1)...].dropLast()))
  }

  @Test("mdb_dump finds the records and the indexes in their databases")
  func dumping() throws {
    try withTemporaryDirectory { directory in
      do {
        let store = Store(database: try LockingDatabase(url: directory))
        try store.insert(Exported(name: "Al", age: 2))
        try store.insert(Exported(name: "B", age: 2))
        try store.insert(Exported(name: "C", age: -1))
      }
      let (header, records) = try dump("empiredb", directory)
      #expect(!header.contains("duplicates=1"))
      #expect(
        records == [
          "ab38e6d5416c00", "2460874f8000000000000002", "ab38e6d54200", "2460874f8000000000000002",
          "ab38e6d54300", "2460874f7fffffffffffffff",
        ])
      let (indexHeader, index) = try dump("empireindexes", directory)
      #expect(indexHeader.contains("duplicates=1"))
      let entries = index.filter { $0.hasPrefix("02ab38e6d5") || $0.hasPrefix("ab38e6d5") }
      let head = try #require(entries.first).prefix(18)
      #expect(
        entries == [
          "\(head)7fffffffffffffff", "ab38e6d54300", "\(head)8000000000000002", "ab38e6d5416c00",
          "\(head)8000000000000002", "ab38e6d54200",
        ])
      let all = try run(["mdb_dump", "-l", directory.path(percentEncoded: false)])
      #expect(all.split(separator: "\n").sorted() == ["empiredb", "empireindexes"])
    }
  }

  @Test(
    "Records that mdb_load has written are read, and the index that it bypassed is rebuilt")
  func loading() throws {
    try withTemporaryDirectory { directory in
      do {
        let store = Store(database: try LockingDatabase(url: directory))
        try store.insert(Exported(name: "Al", age: 2))
      }
      _ = try run(
        ["mdb_load", "-s", "empiredb", directory.path(percentEncoded: false)],
        input: """
          VERSION=3
          format=bytevalue
          type=btree
          mapsize=268435456
          maxreaders=126
          HEADER=END
           ab38e6d54200
           2460874f8000000000000007
          DATA=END

          """)
      let store = Store(database: try LockingDatabase(url: directory))
      #expect(
        try Exported.select(in: store, age: .greaterThan(0))
          == [Exported(name: "Al", age: 2), Exported(name: "B", age: 7)])
    }
  }
}
