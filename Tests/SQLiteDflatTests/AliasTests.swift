// Unions in which several members have the same type: a condition on the type applies to whichever
// of them is stored.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Testing

@Suite("Aliases in unions")
struct AliasTests {
  private typealias Shelf = Kit.Shelf

  @Test("The indexes of all aliases are used together, or none is")
  func plan() throws {
    try withTemporaryFile { workspace in
      try workspace.write([Shelf.self]) { txn in
        for number in 1...40 as ClosedRange<Int32> {
          let thing: Kit.Thing = number % 2 == 0 ? .book(.sample(number)) : .comic(.sample(number))
          _ = try txn.insert(
            Kit.ShelfChangeRequest.creationRequest(Shelf(number: number, thing: thing)))
        }
      }
      let all = workspace.dflat.fetch(for: Shelf.self)
      let condition = Shelf.thing.as(Kit.Book.self).pages == 150
      let plan = try all.explain(where: condition)
      #expect(plan.indexes.count == 3 && plan.rowByRow == nil)
      #expect(all.where(condition).map(\.number) == [3])
      try workspace.tamper("DROP TABLE \"\(plan.indexes[2])\"")
      #expect(try all.explain(where: condition).indexes.isEmpty)
      #expect(all.where(condition).map(\.number) == [3])
    }
  }
}
