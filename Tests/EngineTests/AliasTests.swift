// Unions in which several members have the same type: a condition on the type applies to each of
// them.

import Dflat
import DflatTestSupport
import Testing

@Suite("Aliases in unions")
struct AliasTests {
  private typealias Shelf = Kit.Shelf

  private var shelves: [Shelf] {
    [
      Shelf(number: 1, thing: .book(.sample(1))), Shelf(number: 2, thing: .novel(.sample(2))),
      Shelf(number: 3, thing: .comic(.sample(3))), Shelf(number: 4, thing: .word("w")),
      Shelf(number: 5, thing: .line("v")), Shelf(number: 6, thing: .mark(Kit.Spot(x: 1, y: 6))),
      Shelf(number: 7, thing: .blot(Kit.Spot(x: 2, y: 5))), Shelf(number: 8),
    ]
  }

  @Test(
    "A condition on the type reads the stored alias, in every state of the indexes",
    arguments: TestEngine.inEveryIndexState)
  func conditions(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let shelves = shelves
      try workspace.write([Shelf.self]) { txn in
        for shelf in shelves { _ = try txn.insert(Kit.ShelfChangeRequest.creationRequest(shelf)) }
      }
      var random = SeededGenerator(seed: 11)
      try workspace.disturbIndexes(of: Shelf._schema, using: &random)
      let all = workspace.dflat.fetch(for: Shelf.self)
      func found(_ condition: Condition<Shelf>) -> [Int32] { all.where(condition).map(\.number) }
      let thing = Shelf.thing
      let book = thing.as(Kit.Book.self)

      #expect(found(thing.match(Kit.Book.self)) == [1, 2, 3])
      #expect(found(book.pages > 60) == [2, 3])
      #expect(found(!(book.pages > 100)) == [1, 2])
      #expect(found(book.pages + 1 == 151) == [3])
      #expect(found(book.title == "t2" || book.title == "t0") == [2, 3])
      #expect(found(book.title.in(["t1", "t0"])) == [1, 3])
      #expect(found(book.title.notIn(["t1"])) == [2, 3])
      #expect(found(book.title.isNull) == [4, 5, 6, 7, 8])
      #expect(found(book.pages.isNotNull && book.rating >= 1) == [2, 3])
      #expect(found(book.isUsed == true) == [2])
      #expect(found(!book.isUsed) == [1, 3])
      #expect(found(book.cover.color == "c3") == [3])
      #expect(found(book.inside.match(Kit.Sheet.self)) == [1, 2, 3])
      #expect(found(book.inside.as(Kit.Sheet.self).pages == 2) == [3])
      #expect(found(book.inside.as(Kit.Sheet.self).title.isNull) == [1, 2, 4, 5, 6, 7, 8])
      #expect(found(thing.as(String.self) > "u") == [4, 5])
      #expect(found(thing.as(String.self) == "v") == [5])
      #expect(found(thing.as(Kit.Spot.self).y < 6) == [7])
      #expect(found(thing.as(Kit.Spot.self).x.in([1, 2])) == [6, 7])

      #expect(
        all.where(book.pages > 0, orderBy: [book.pages.descending]).map(\.number) == [3, 2, 1])
      #expect(
        all.where(thing.match(String.self), orderBy: [thing.as(String.self).ascending])
          .map(\.number) == [5, 4])
      #expect(
        all.all(limit: .limit(2), orderBy: [book.rating.descending]).map(\.number) == [3, 2])
    }
  }
}
