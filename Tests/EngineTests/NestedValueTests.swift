// Values that programs nest without end: objects of them are refused, and nothing overflows a stack
// of 512 KiB.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@Suite("Values that are nested deeply")
struct NestedValueTests {
  private static func shelf(_ depth: Int) -> Kit.Shelf {
    var crate = Kit.Crate(label: "inmost")
    for level in 1..<depth { crate = Kit.Crate(label: "\(level)", inner: crate) }
    return Kit.Shelf(number: 1, crate: crate)
  }

  @Test(
    "An object of them is stored or refused, and can be compared, described and encoded",
    arguments: [60, 70, 73, 200, 1000])
  func objects(depth: Int) throws {
    try onSmallStack {
      let shelf = Self.shelf(depth)
      #expect(!"\(shelf)".isEmpty)
      #expect(shelf == Self.shelf(depth) && Set([shelf, Self.shelf(depth)]).count == 1)
      _ = try? JSONEncoder().encode(shelf)
      #expect(shelf.crate != nil)
      for engine in TestEngine.all {
        try withTemporaryWorkspace(engine) { workspace in
          let dflat = workspace.dflat
          func insert() throws { try dflat.write(Kit.Shelf.self) { _ = try $0.insert(shelf) } }
          if depth == 60 {
            try insert()
            #expect(dflat.fetch(for: Kit.Shelf.self).all().map(\.self) == [shelf])
          } else {
            let error = #expect(throws: StorageError.self) { try insert() }
            #expect(error?.message.contains("nested deeper than") == true)
            #expect(dflat.fetch(for: Kit.Shelf.self).all().isEmpty)
          }
          dflat.dictionary["shelf"] = shelf
          dflat.dictionary.synchronize()
          _ = workspace.takeErrors()
        }
      }
    }
  }
}
