// Conditions on the elements of vectors of unions.

import Dflat
import DflatTestSupport
import Platform
import Testing

private typealias Shelf = Kit.Shelf
private typealias Parcel = Kit.Parcel

@Suite("Vectors of unions in conditions")
struct UnionVectorTests {
  /// Members of every kind, and several with one type: tables, strings and structs.
  private let shelves = [
    Shelf(number: 1),
    Shelf(number: 2, things: [.book(.sample(1)), .word("w")]),
    Shelf(number: 3, things: [.novel(.sample(2)), .comic(.sample(3)), .line("v")]),
    Shelf(number: 4, things: [.mark(Kit.Spot(x: 1, y: 6)), .blot(Kit.Spot(x: 2, y: 5))]),
    Shelf(number: 5, things: [.line("w"), .word("v")]),
    Shelf(number: 6, things: [.comic(.sample(1)), .blot(Kit.Spot(x: 1, y: 9))]),
  ]

  private func withShelves(
    _ engine: TestEngine, _ body: (TemporaryWorkspace) throws -> Void
  ) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.dflat.write(Shelf.self) { try $0.insert(contentsOf: shelves) }
      try body(workspace)
    }
  }

  @Test("Elements are counted, and asked for members and their fields", arguments: TestEngine.all)
  func conditions(engine: TestEngine) throws {
    try withShelves(engine) { (workspace: TemporaryWorkspace) throws -> Void in
      let query = workspace.dflat.query(Shelf.self)
      func found<C: QueryExpression<Bool, Shelf>>(_ condition: C) throws -> [Int32] {
        let numbers = try query.where(condition).fetch().map(\.number)
        #expect(try query.where(condition).count() == numbers.count)
        #expect(try query.where(condition).keys() == numbers)
        return numbers
      }
      let things = Shelf.things
      #expect(try found(things.count == 2) == [2, 4, 5, 6])
      #expect(try found(things.count == 0) == [1])
      #expect(try found(things.contains(Kit.Book.self)) == [2, 3, 6])
      #expect(try found(things.contains(String.self)) == [2, 3, 5])
      #expect(try found(!things.contains(Kit.Spot.self)) == [1, 2, 3, 5])
      #expect(try found(things.any { $0.match(Kit.Book.self) }) == [2, 3, 6])
      #expect(try found(things.all { $0.match(Kit.Spot.self) }) == [1, 4])
      #expect(
        try found(things.all { $0.match(Kit.Book.self) || $0.match(String.self) }) == [1, 2, 3, 5])
      #expect(try found(things.any { $0.as(Kit.Book.self).pages > 60 }) == [3])
      #expect(try found(things.any { $0.as(String.self) == "v" }) == [3, 5])
      #expect(try found(things.any { $0.as(Kit.Spot.self).y < 6 }) == [4])
      #expect(try found(things.any { $0.as(Kit.Book.self).cover.color == "c3" }) == [3])
      #expect(
        try found(things.any { $0.as(Kit.Book.self).inside.match(Kit.Sheet.self) }) == [2, 3, 6])
      // The fields of another member are unknown, so `all` is not true with one of these.
      #expect(try found(things.all { $0.as(String.self) >= "v" }) == [1, 5])
      #expect(try found(!things.any { $0.as(String.self) == "v" }) == [1])
      #expect(try found(things.any { $0.as(Kit.Spot.self).isNull }) == [2, 3, 5, 6])
      #expect(try found(things.any { $0 == nil }) == [])
      // Fields of the object, and of elements of the same vector.
      #expect(try found(things.any { $0.as(Kit.Spot.self).y > Shelf.number }) == [4, 6])
      #expect(
        try found(
          things.any { spot in
            things.any { $0.as(Kit.Book.self).pages > spot.as(Kit.Spot.self).x }
          }) == [6])
      #expect(
        try query.orderBy(things.count.descending, Shelf.number.ascending).keys()
          == [3, 2, 4, 5, 6, 1])
      #expect(try query.sum(things.count) == 11)
    }
  }

  @Test("A condition is told in the schema's names", arguments: [TestEngine.memory])
  func names(engine: TestEngine) throws {
    try withShelves(engine) { workspace in
      let condition = Shelf.things.any {
        $0.match(String.self) || $0.as(Kit.Spot.self).x > 1 && $0.as(String.self) == "v"
      }
      let explanation = try workspace.dflat.query(Shelf.self)
        .where(condition && Shelf.things.count > 1).explain()
      #expect(
        explanation.rowByRow
          == "things.any { $0.match(Word, Line) || $0.as(Mark).x|$0.as(Blot).x > 1 "
          + "&& $0.as(Word)|$0.as(Line) == \"v\" } && things.count > 1")
    }
  }

  @Test("The objects of a relation are asked for their elements", arguments: TestEngine.all)
  func related(engine: TestEngine) throws {
    try withShelves(engine) { workspace in
      let dflat = workspace.dflat
      try dflat.write(Parcel.self) { txn in
        try txn.insert(contentsOf: (1...7).map { Parcel(number: $0, shelf: $0) })
        try txn.insert(Parcel(number: 8))
      }
      let query = dflat.query(Parcel.self)
      let things = Parcel.shelf.things
      #expect(try query.where(things.contains(Kit.Book.self)).keys() == [2, 3, 6])
      #expect(try query.where(things.count == 3).keys() == [3])
      #expect(try query.where(things.any { $0.as(Kit.Book.self).pages > 60 }).keys() == [3])
      #expect(try query.where(things.any { $0.as(String.self) == "v" }).keys() == [3, 5])
      #expect(try query.where(things.any { $0.as(Kit.Spot.self).y < 6 }).keys() == [4])
      #expect(try query.where(things.all { $0.match(Kit.Spot.self) }).keys() == [1, 4])
    }
  }

  @Test("A live result follows the elements", arguments: TestEngine.all)
  func live(engine: TestEngine) throws {
    try withShelves(engine) { workspace in
      let dflat = workspace.dflat
      let heard = Mutex<[Int32]>([])
      let query = dflat.query(Shelf.self)
        .where(Shelf.things.any { $0.as(Kit.Book.self).pages > 60 })
      let subscription = dflat.subscribe(query.computing(.count)) { _ in }
      let result = dflat.subscribe(fetchedResult: try query.fetch()) { result in
        heard.withLock { $0 = result.map(\.number) }
      }
      try dflat.write(Shelf.self) { txn in
        try txn.update(Shelf(number: 1)) { $0.things = [.word("x"), .comic(.sample(3))] }
      }
      #expect(heard.withLock { $0 } == [1, 3])
      try dflat.write(Shelf.self) { txn in
        try txn.update(Shelf(number: 3)) { $0.things.remove(at: 1) }
        try txn.update(Shelf(number: 1)) { $0.things[1] = .novel(.sample(1)) }
      }
      #expect(heard.withLock { $0 } == [3])
      subscription.cancel()
      result.cancel()
    }
  }

  @Test(
    "Members that a version of the schema does not know are no elements", arguments: TestEngine.all)
  func unknownMembers(engine: TestEngine) throws {
    typealias Old = Press.Article
    typealias New = PRESS.Article
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try dflat.write(New.self) { txn in
        try txn.insert(
          New(
            slug: "a",
            media: [.film(PRESS.Film(path: "f")), .image(PRESS.Image(path: "q", width: 1))],
            code: 1, votes: 1))
        try txn.insert(New(slug: "b", media: [.film(PRESS.Film(path: "g"))], code: 2, votes: 2))
      }
      let old = dflat.query(Old.self)
      #expect(try old.select(Old.media.count.required) == [1, 0])
      #expect(try old.fetch().map(\.media.count) == [1, 0])
      #expect(try old.where(Old.media.all { $0.match(Press.Picture.self) }).count() == 2)
      #expect(try old.where(Old.media.any { $0.as(Press.Picture.self).path == "q" }).count() == 1)
      #expect(try old.where(Old.media.any { $0._type.isNull }).count() == 0)
      let new = dflat.query(New.self)
      #expect(try new.select(New.media.count.required) == [2, 1])
      #expect(try new.where(New.media.contains(PRESS.Film.self)).count() == 2)
    }
  }
}
