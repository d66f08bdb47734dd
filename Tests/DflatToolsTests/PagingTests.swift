// Pages of objects, which other programs may have stored under any row id.

import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@testable import DflatTools

@Suite("Pages of objects")
struct PagingTests {
  @Test("Each object is on one page, whatever its row id is", arguments: [true, false])
  func negative(isNamed: Bool) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let made = TemporaryFile(path: "\(directory)/blog.db")
    try made.store((1...10).map { post($0) })
    made.dflat.shutdown()
    let ids = [Int64.min, .min + 1, -7, -6, -2, -1, 0, 1, 8, .max]
    let connection = try Connection(path: made.path)
    let opened = try DataFile.open(made.path)
    let table = try opened.type(named: "Post").table
    opened.close()
    // In two steps: a new id may be that of a later object.
    try connection.execute("UPDATE \(table) SET rowid = rowid + 999")
    for (old, new) in ids.enumerated() {
      try connection.execute("UPDATE \(table) SET rowid = \(new) WHERE rowid = \(1000 + old)")
    }
    if !isNamed { try connection.execute("DELETE FROM dflat_schemas") }
    try connection.close()
    let file = try DataFile.open(made.path)
    defer { file.close() }
    let type = try #require(file.types.first { $0.table == table })
    var found: [Int64] = []
    var isLast = false
    for _ in ids where !isLast {
      let page = try file.page(of: type, after: found.last, limit: 2)
      found += page.objects.compactMap(\.rowID)
      isLast = page.isLast
    }
    #expect(found == ids)
    for id in ids { #expect(try file.object(of: type, rowID: id)?.rowID == id) }
    if isNamed {
      let copied = try file.copy(to: "\(directory)/copy.db", types: ["Post"])
      #expect(copied.map(\.inserted) == [ids.count])
    }
  }
}
