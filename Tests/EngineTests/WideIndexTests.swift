// Compound indexes of as many fields as are allowed, and of many long texts.

import Dflat
import DflatTestSupport
import Testing

@Suite("Wide compound indexes")
struct WideIndexTests {
  private typealias Sheet = Broad.Sheet

  @Test(
    "Objects with long texts in all fields are stored, found and ordered",
    arguments: TestEngine.all)
  func longTexts(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      var random = SeededGenerator(seed: 7)
      // Such texts cannot be compressed.
      let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
      let sheets = (1...8 as ClosedRange<Int32>).map { id in
        let texts = (0..<12).map { _ in
          String((0..<300).map { _ in letters[Int.random(in: letters.indices, using: &random)] })
        }
        return Sheet(
          id: id, t0: "same", t1: texts[1], t2: texts[2], t3: texts[3], t4: texts[4], t5: texts[5],
          t6: texts[6], t7: texts[7], t8: texts[8], t9: texts[9], t10: texts[10], t11: texts[11],
          n0: id, n19: -id)
      }
      try await dflat.write(Sheet.self) { try $0.insert(contentsOf: sheets) }
      try await dflat.write(Sheet.self) { txn in
        try txn.update(Sheet(id: 3)) { $0.t1 = String(repeating: "z", count: 300) }
      }
      let same = dflat.query(Sheet.self).where(Sheet.t0 == "same")
      #expect(try same.orderBy(Sheet.t1.descending).fetch().first?.id == 3)
      let last = try #require(sheets.last)
      let found = try same.where(Sheet.t1 == last.t1 && Sheet.t11 == last.t11).fetch()
      #expect(found.map(\.id) == [8])
    }
  }
}
