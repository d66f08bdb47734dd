// What counts as lost of a page: zeros in place of bytes that the reader could not get.

import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@testable import DflatTools

@Suite("Lost parts of pages")
struct LostPartsTests {
  @Test("A sector of zeros is lost where its neighbour is not zero up to it")
  func lostSectors() {
    func page(_ zeros: [Range<Int>], ended end: Int = 4096) -> PageBuffer {
      PageBuffer(size: 4096) { memory in
        for index in 0..<end { memory[index] = zeros.contains { $0.contains(index) } ? 0 : 1 }
        return end < 4096 ? [end..<4096] : []
      }
    }
    func lost(_ zeros: Range<Int>...) -> [Range<Int>] { page(zeros).zeroSectors }
    #expect(lost(1024..<1536) == [1024..<1536])
    #expect(lost(0..<512, 3584..<4096) == [0..<512, 3584..<4096])
    #expect(lost(0..<4096) == [0..<4096])
    // The value before it, or behind it, has zeros there.
    #expect(lost(1000..<1536) == [1024..<1536] && lost(1024..<1560) == [1024..<1536])
    // A value of zeros.
    #expect(lost(1000..<2100).isEmpty && lost(1030..<1530).isEmpty)
    #expect(page([], ended: 1200).lostParts == [1200..<4096])
    #expect(page([1100..<1200], ended: 1200).lostParts == [1200..<4096])
  }

  @Test("A row that the end of the file has cut does not come back with zeros")
  func cutRows() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let sample = try SampleFile(count: 900, hasLog: false)
    let pages = SamplePages(sample)
    for number in stride(from: 7, to: 900, by: 100) {
      guard let page = pages.pagesOfPost[number]?.max() else { continue }
      for missing in [200, 1000, 2000, 3000] {
        try Data(sample.bytes[..<(page * SampleFile.pageSize - missing)])
          .write(to: URL(filePath: "\(directory)/broken.db"))
        try? FileManager.default.removeItem(atPath: "\(directory)/saved.db")
        _ = try Repair.runAndWait(
          from: "\(directory)/broken.db", to: "\(directory)/saved.db")
        let connection = try Connection(path: "\(directory)/saved.db")
        defer { try? connection.close() }
        for row in try connection.rows("SELECT __pk1, p FROM \(SampleFile.table)") {
          let post = try #require(row[0].integer.map { Int($0) })
          let isKnown = row[1].blob.map { sample.history[post]?.contains($0) == true }
          #expect(isKnown == true, "post \(post), page \(page) without \(missing) bytes")
        }
      }
    }
  }

  @Test("An object whose last page has only the end of a text is whole")
  func endOfText() throws {
    try withTemporaryFile { file in
      try file.dflat.write(Guild.Writer.self) { txn in
        for size in 4000..<8300 {
          _ = try txn.insert(
            Guild.Writer(handle: "\(size)", name: String(repeating: "x", count: size)))
        }
      }
      file.dflat.shutdown()
      let report = try Repair.runAndWait(from: file.path, to: file.path + ".new")
      #expect(report.isComplete && report.tables.map(\.whole).max() == 4300)
    }
  }
}
