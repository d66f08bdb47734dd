// What a workspace tells of its file: the use of its pages, and the readers of its log.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Statistics of a file")
struct StatisticsTests {
  @Test("Each table and index has its pages, as sqlite3 counts them")
  func pages() async throws {
    try await withTemporaryFile(.file) { file in
      let empty = try await file.dflat.statistics()
      #expect(empty.uses.isEmpty && empty.bytes == 0 && !file.fileExists())
      try file.store((1...500).map { post($0, likes: $0, photo: "photo \($0)") })
      let statistics = try await file.dflat.statistics()
      let expected = try file.sqlite3(
        "SELECT name || ' ' || count(*) || ' ' || sum(pgsize) || ' ' || sum(payload) || ' ' "
          + "|| sum(unused) FROM dbstat GROUP BY name ORDER BY sum(pgsize) DESC, name"
      ).split(separator: "\n").map(String.init)
      #expect(
        statistics.uses.map { "\($0.name) \($0.pages) \($0.bytes) \($0.payload) \($0.unused)" }
          == expected)
      let table = Post._schema.table
      #expect(statistics.uses.first { $0.name == table }?.type == "Post")
      #expect(statistics.uses.first { $0.name == "\(table)__f10" }?.type == "Post")
      #expect(statistics.uses.first { $0.name == "_dflat_index" }?.type == nil)
      let pages = Int(try file.sqlite3("PRAGMA page_count")) ?? 0
      #expect(statistics.bytes == pages * 4096 && statistics.logBytes > 0)
      #expect(statistics.uses.reduce(0) { $0 + $1.bytes } <= statistics.bytes)
    }
  }

  #if os(Linux)
    @Test("A snapshot of this program, and a reader of another one, are named")
    func logReaders() async throws {
      try await withTemporaryFile(.file) { file in
        try file.store((1...50).map { post($0, likes: $0) })
        try await expectReaders(file, [])
        let snapshot = try await ownSnapshot(of: file)
        #expect(snapshot.map(\.isOwn) == [true])
        #expect(snapshot.first?.process == getpid())
        #expect((snapshot.first?.snapshotAge ?? -1) >= 0)
        // Another program begins to read, says so, and keeps its state until its input ends.
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["sqlite3", file.path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let commands = "BEGIN; SELECT count(*) FROM \(Post._schema.table);\n"
        input.fileHandleForWriting.write(Data(commands.utf8))
        #expect(try output.fileHandleForReading.read(upToCount: 2) == Data("50".utf8))
        let reader = try #require(try await file.dflat.statistics().logReaders.first)
        #expect(reader.process == process.processIdentifier && !reader.isOwn)
        #expect(reader.program == "sqlite3" && reader.snapshotAge == nil)
        #expect("\(reader)" == "process \(process.processIdentifier) (sqlite3)")
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        try await expectReaders(file, [])
      }
    }

    private func expectReaders(_ file: TemporaryFile, _ processes: [Int32]) async throws {
      // Maintenance of this workspace may read for a moment.
      let readers = try await file.dflat.statistics().logReaders.filter { !$0.isOwn }
      #expect(readers.compactMap(\.process) == processes)
    }

    /// The readers while this program has a snapshot.
    private func ownSnapshot(of file: TemporaryFile) async throws -> [LogReader] {
      let (dflat, isOpen, mayEnd) = (
        file.dflat, DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
      )
      DispatchQueue.global().async {
        dflat.fetchWithinASnapshot {
          #expect(dflat.fetch(for: Post.self).all().count == 50)
          isOpen.signal()
          mayEnd.wait()
        }
      }
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          isOpen.wait()
          continuation.resume()
        }
      }
      defer { mayEnd.signal() }
      return try await dflat.statistics().logReaders
    }
  #endif
}
