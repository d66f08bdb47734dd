// Tables of relations that other programs and other versions change.

import Dflat
import DflatTestSupport
import Foundation
import PostgresTestSupport
@testable import Silo
import SQLiteDflat
import Testing

extension RelationTableTests {
  @Test(
    "A table of another program with the name of a relation's table is left alone",
    arguments: ["cards__tags", "Cards__TAGS"])
  func taken(name: String) async throws {
    try await withTemporaryFile(.file) { file in
      try file.tamper("CREATE TABLE \(name) (owner INTEGER, element TEXT)")
      try file.tamper("INSERT INTO cards__tags VALUES (1, 'mine')")
      try await Silos(in: file.workspace)[Card.self].save([Card(1, tags: ["a"]), Card(2)])
      #expect(try await found(file, "a") == [1])
      #expect(try await found(file, "mine") == [])
      #expect(try file.sqlite3("SELECT * FROM cards__tags") == "1|mine")
      let report = try #require(file.errors.takeAll().first as? StorageError)
      #expect(report.description.contains("a table of another program has the name"), "\(report)")
      // Queries do not ask for a build again and again that cannot end well.
      await #expect(throws: StorageError.self) {
        try await file.workspace.indexesReady(for: Canonical<Card>.self)
      }
      let before = try await buildSteps(in: file)
      #expect(before > 0)
      for _ in 0..<3 { #expect(try await found(file, "a") == [1]) }
      try await Silos(in: file.workspace)[Card.self].save(Card(3))
      let after = try await buildSteps(in: file)
      #expect(after == 0)
    }
  }

  @Test(
    "While a trigger of another program names the table, it is not used",
    arguments: [
      "AFTER DELETE ON cards_v1 BEGIN DELETE FROM cards__tags; END",
      "BEFORE INSERT ON cards__tags WHEN new.element = 'a' BEGIN SELECT RAISE(IGNORE); END",
      "AFTER INSERT ON cards__tags BEGIN UPDATE OR IGNORE cards__tags SET element = 'z'; END",
    ])
  func triggers(sql: String) async throws {
    try await withTemporaryFile(.file) { file in
      let cards = Silos(in: file.workspace)[Card.self]
      try await cards.save([Card(1, tags: ["a"]), Card(2, tags: ["a"])])
      try file.tamper("CREATE TRIGGER other \(sql)")
      #expect(try await cards.remove(1))
      try await cards.save(Card(3, tags: ["a"]))
      await #expect(throws: StorageError.self) {
        try await file.workspace.indexesReady(for: Canonical<Card>.self)
      }
      #expect(try await found(file, "a") == [2, 3])
      try file.tamper("DROP TRIGGER other")
      try await cards.save(Card(4, tags: ["a"]))
      #expect(try isUsed(file))
      #expect(try await found(file, "a") == [2, 3, 4])
    }
  }

  @Test("A table that was renamed is replaced")
  func renamed() async throws {
    try await withTemporaryFile(.file) { file in
      let cards = Silos(in: file.workspace)[Card.self]
      try await cards.save((1...5).map { Card($0, tags: ["a"]) })
      try await cards.save(Card(6, tags: ["a"]))
      #expect(try isUsed(file))
      #expect(try await found(file, "a") == Array(1...6))
      try file.tamper("ALTER TABLE cards__tags RENAME TO mine")
      try await cards.save(Card(7, tags: ["a"]))
      #expect(try isUsed(file))
      #expect(try await found(file, "a") == Array(1...7))
      let plan = try file.sqlite3(
        "EXPLAIN QUERY PLAN SELECT owner FROM cards__tags WHERE element = 'a'")
      #expect(plan.contains("COVERING INDEX"), "\(plan)")
    }
  }

  @Test("Triggers that do not name the table do not keep it from being used")
  func otherTriggers() async throws {
    try await withTemporaryFile(.file) { file in
      let cards = Silos(in: file.workspace)[Card.self]
      try file.tamper("CREATE TABLE log (x)")
      try await cards.save((1...5).map { Card($0, tags: ["a"]) })
      try file.tamper(
        "CREATE TRIGGER other AFTER UPDATE ON cards_v1 BEGIN INSERT INTO log VALUES (old.rowid); END"
      )
      _ = try await found(file, "a")
      #expect(try isUsed(file))
      for round in 0..<3 {
        try await cards.save(Card(1, "\(round)", tags: ["a", "b"]))
        #expect(try await found(file, "b") == [1])
        #expect(try isUsed(file))
      }
      #expect(try file.sqlite3("SELECT count(*) FROM log") == "3")
      #expect(try await findings(in: file).isEmpty)
    }
  }

  @Test("A relation to values with ids of another type gets a new table in the next version")
  func retyped() async throws {
    try await withTemporaryFile(.file) { file in
      try await Silos(in: file.workspace)[Card.self].save((1...5).map { Card($0, tags: ["a"]) })
      let second = file.secondWorkspace()
      let later = Silos(in: second.workspace)[RetypedCards.Card.self]
      try await later.migrate()
      try await later.save(RetypedCards.Card(id: 6, text: "", tags: [.unresolved(id: 1)]))
      #expect(try await later.count(where: RetypedCards.Card.tags.contains(id: 1)) == 6)
      #expect(
        try eventually {
          try second.dflat.fetch(for: Canonical<RetypedCards.Card>.self)
            .explain(where: RetypedCards.Card.tags.contains(id: 1)).indexes == ["cards__tags"]
        })
      #expect(try await later.count(where: RetypedCards.Card.tags.contains(id: 1)) == 6)
    }
  }

  @Test("A program without the index does not make it wrong")
  func programWithoutIndex() async throws {
    try await withTemporaryFile(.file) { file in
      let cards = Silos(in: file.workspace)[Card.self]
      try await cards.save([Card(1, tags: ["a"], users: [7]), Card(2, tags: ["b"], users: [7])])
      #expect(try isUsed(file))
      // Of a retained version only the rows are written.
      let second = file.secondWorkspace()
      let retained = Silos(in: second.workspace)[LaterCards.Card.V1.self]
      try await retained.save(LaterCards.Card.V1(id: 2, text: "", tags: [.unresolved(id: "a")]))
      #expect(try await found(file, "a") == [1, 2])
      #expect(try await found(file, "b") == [])
      #expect(try isUsed(file))
      #expect(try await found(file, "a") == [1, 2])
      // A program that does not know the users leaves them as they are.
      let earlier = Silos(in: second.workspace)[EarlierCards.Card.self]
      try await earlier.save(EarlierCards.Card(id: 1, text: "", tags: []))
      #expect(try await cards.values(where: Card.users.contains(id: 7)).map(\.id) == [1, 2])
      #expect(try await found(file, "a") == [2])
    }
  }

  @Test("Two versions have the table in turn")
  func versions() async throws {
    try await withTemporaryFile(.file) { file in
      try await Silos(in: file.workspace)[Card.self].save(
        (1...300).map { Card($0, tags: [$0 % 3 == 0 ? "a" : "b"]) })
      #expect(try await found(file, "a").count == 100)
      let second = file.secondWorkspace()
      let later = Silos(in: second.workspace)[LaterCards.Card.self]
      #expect(try await later.count(where: LaterCards.Card.tags.contains(id: "a")) == 100)
      try await later.migrate()
      try await later.save(LaterCards.Card(id: 301, text: "", tags: [.unresolved(id: "a")]))
      try await later.remove(3)
      #expect(
        try eventually {
          try second.dflat.fetch(for: Canonical<LaterCards.Card>.self)
            .explain(where: LaterCards.Card.tags.contains(id: "a")).indexes == ["cards__tags"]
        })
      #expect(try await later.count(where: LaterCards.Card.tags.contains(id: "a")) == 100)
      #expect(try file.sqlite3("SELECT count(*) FROM cards__tags") == "300")
    }
  }

  @Test("What is wrong in a table is found by the check of a file")
  func integrity() async throws {
    try await withTemporaryFile(.file) { file in
      try await Silos(in: file.workspace)[Card.self].save([
        Card(1, tags: ["a"]), Card(2, tags: ["b"]),
      ])
      #expect(try await findings(in: file).isEmpty)
      // Without the guards nothing takes the mark away.
      for event in ["insert", "delete"] {
        try file.tamper("DROP TRIGGER dflat_elements_cards__tags_\(event)")
      }
      try file.tamper("DELETE FROM cards__tags WHERE owner = 1")
      try file.tamper("INSERT INTO cards__tags VALUES (2, 'x'), (77, 'y')")
      #expect(
        try await findings(in: file) == [
          "missingIndexRow cards__tags 1", "wrongIndexRow cards__tags 2",
          "orphanIndexRow cards__tags 77",
        ])
      // Since they are gone, the table is not trusted.
      #expect(try await found(file, "x") == [])
      #expect(try await found(file, "a") == [1])
    }
  }
}
