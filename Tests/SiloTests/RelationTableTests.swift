// The tables of relations to several values in SQLite: what they have, and when they are trusted.

import Dflat
import DflatTestSupport
import Foundation
import PostgresTestSupport
@testable import Silo
import SQLiteDflat
import Testing

@Persistable(version: 1, table: "cards", shape: "id:I text:S tags:@{Tag} users:@[User]")
struct Card: Identifiable, Hashable, Sendable {
  var id: Int
  var text: String
  var tags: RelatedItems<Tag>
  var users: RelatedList<User>

  init(_ id: Int, _ text: String = "", tags: [String] = [], users: [Int] = []) {
    self.id = id
    self.text = text
    self.tags = RelatedItems(tags.map { .unresolved(id: $0) })
    self.users = RelatedList(users.map { .unresolved(id: $0) })
  }

  static let names = ["", "a", "a\0", "A", "é", "e\u{301}", "x", "y"]

  init(_ id: Int, _ random: inout SeededGenerator) {
    func some<T>(_ all: [T]) -> [T] {
      (0..<Int.random(in: 0...4, using: &random)).map { _ in all.randomElement(using: &random)! }
    }
    self.init(
      id, "\(Int.random(in: 0..<3, using: &random))", tags: some(Self.names),
      users: some([-1, 0, 1, 2, .max]))
  }
}

/// The same values, as a program declares them that does not know their users yet.
enum EarlierCards {
  @Persistable(version: 1, table: "cards", shape: "id:I text:S tags:@{Tag}")
  struct Card: Identifiable, Sendable {
    var id: Int
    var text: String
    var tags: RelatedItems<Tag>
  }
}

/// A later version.
enum LaterCards {
  @Persistable(version: 2, table: "cards", shape: "id:I text:S tags:@{Tag}")
  struct Card: Identifiable, Hashable, Sendable {
    var id: Int
    var text: String
    var tags: RelatedItems<Tag>

    @EntityVersion(1, of: Card.self, shape: "id:I text:S tags:@{Tag}")
    struct V1: Identifiable {
      var id: Int
      var text: String
      var tags: RelatedItems<Tag>
    }

    static var migrations: Migrations<Card> {
      Migrations {
        Migrate(from: V1.self, to: Card.self) { old in
          Card(id: old.id, text: old.text, tags: old.tags)
        }
      }
    }
  }
}

/// A later version whose tags are other values.
enum RetypedCards {
  @Persistable(version: 2, table: "cards", shape: "id:I text:S tags:@{User}")
  struct Card: Identifiable, Hashable, Sendable {
    var id: Int
    var text: String
    var tags: RelatedItems<User>

    @EntityVersion(1, of: Card.self, shape: "id:I text:S tags:@{Tag}")
    struct V1: Identifiable {
      var id: Int
      var text: String
      var tags: RelatedItems<Tag>
    }

    static var migrations: Migrations<Card> {
      Migrations {
        Migrate(from: V1.self, to: Card.self) { old in
          Card(id: old.id, text: old.text, tags: [.unresolved(id: old.tags.count)])
        }
      }
    }
  }
}

@Suite("Tables of relations")
struct RelationTableTests {
  private typealias Test = (condition: Dflat.Condition<Canonical<Card>>, passes: (Card) -> Bool)

  private func test(_ random: inout SeededGenerator) -> Test {
    let name = Card.names.randomElement(using: &random)!
    let names = (0..<3).map { _ in Card.names.randomElement(using: &random)! }
    let user = [-1, 0, 1, 2, 3].randomElement(using: &random)!
    func has(_ card: Card, _ name: String) -> Bool {
      card.tags.contains { $0.id.utf8.elementsEqual(name.utf8) }
    }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return (Card.tags.contains(id: name), { has($0, name) })
    case 1: return (Card.users.contains(id: user), { $0.users.contains { $0.id == user } })
    case 2:
      return (Card.tags.containsAny(of: names), { card in names.contains { has(card, $0) } })
    case 3: return (!Card.tags.contains(id: name), { !has($0, name) })
    case 4:
      return (
        Card.tags.contains(id: name) && Card.users.contains(id: user),
        { has($0, name) && $0.users.contains { $0.id == user } }
      )
    case 5:
      return (
        Card.tags.contains(id: name) || Card.users.contains(id: user),
        { has($0, name) || $0.users.contains { $0.id == user } }
      )
    case 6:
      return (
        Card.tags.contains(id: name) && Card.text == "1" && Card.id > 3,
        { has($0, name) && $0.text == "1" && $0.id > 3 }
      )
    default:
      return (Card.tags.contains(id: name) || Card.id == user, { has($0, name) || $0.id == user })
    }
  }

  func found(_ file: TemporaryFile, _ tag: String) async throws -> [Int] {
    try await Silos(in: file.workspace)[Card.self]
      .values(where: Card.tags.contains(id: tag), orderBy: [Card.id.ascending]).map(\.id)
  }

  /// Whether the table answers, now or as soon as it is built.
  func isUsed(_ file: TemporaryFile) throws -> Bool {
    try eventually {
      try file.dflat.fetch(for: Canonical<Card>.self)
        .explain(where: Card.tags.contains(id: "a")).indexes == ["cards__tags"]
    }
  }

  /// The number of steps of building the cards' indexes since the last call.
  func buildSteps(in file: TemporaryFile) async throws -> Int {
    // Events are told later, and in order: when this build is told, so is all before it.
    try await file.workspace.indexesReady(for: Canonical<Tag>.self)
    var tables: [String] = []
    let isTold = eventually {
      for case .indexBuild(let table, _, _) in file.takeEvents() { tables.append(table) }
      return tables.last == "tags_v1"
    }
    #expect(isTold)
    return tables.count { $0 == "cards_v1" }
  }

  /// What the check of a file finds, except that no tags and users are stored.
  func findings(in file: TemporaryFile) async throws -> [String] {
    try await file.workspace.checkIntegrity(of: Canonical<Card>.self)
      .filter { $0.kind != .danglingReference }
      .map { "\($0.kind) \($0.table ?? "") \($0.rowid ?? 0)" }
  }

  @Test("A relation has a table with an index in both directions")
  func layout() async throws {
    try await withTemporaryFile(.file) { file in
      try await Silos(in: file.workspace)[Card.self].save([
        Card(1, tags: ["b", "a"], users: [9, 7, 9]), Card(2, tags: ["a"]), Card(3),
      ])
      #expect(
        try file.sqlite3("SELECT * FROM cards__tags ORDER BY owner, element") == "1|a\n1|b\n2|a")
      #expect(try file.sqlite3("SELECT * FROM cards__users") == "1|7\n1|9")
      for (column, index) in [
        ("owner = 1", "PRIMARY KEY"),
        ("element = 'a'", "COVERING INDEX sqlite_autoindex_cards__tags_2"),
      ] {
        let plan = try file.sqlite3(
          "EXPLAIN QUERY PLAN SELECT * FROM cards__tags WHERE \(column)")
        #expect(plan.contains("SEARCH cards__tags USING \(index)"), "\(plan)")
      }
      let explanation = try file.dflat.fetch(for: Canonical<Card>.self).explain(
        where: Card.tags.contains(id: "a") && Card.users.containsAny(of: [1, 9]))
      #expect(explanation.indexes == ["cards__tags", "cards__users"])
      #expect(explanation.indexedFields == ["tags", "users"])
      #expect(explanation.rowByRow == nil)
      let mixed = try file.dflat.fetch(for: Canonical<Card>.self).explain(
        where: Card.tags.contains(id: "a") && Card.text == "1")
      #expect(mixed.indexes == ["cards__tags"])
      #expect(mixed.rowByRow.map { $0.contains("text") && !$0.contains("tags") } == true)
      // What is about every element, or about none, is looked for in the objects.
      let none = try file.dflat.fetch(for: Canonical<Card>.self).explain(
        where: !Card.tags.contains(id: "a"))
      #expect(none.indexes.isEmpty)
    }
  }

  @Test("Conditions find what they find in memory, whatever happens")
  func random() async throws {
    var random = SeededGenerator(seed: testSeed())
    struct Abort: Error {}
    try await withTemporaryFile(.file) { file in
      var cards = Silos(in: file.workspace)[Card.self]
      var model: [Int: Card] = [:]
      for round in 0..<(isLongRun ? 3000 : 300) {
        let changed = (0..<3).map { _ in Card(Int.random(in: 0..<30, using: &random), &random) }
        let removed = Int.random(in: 0..<30, using: &random)
        let isAborted = Int.random(in: 0..<5, using: &random) == 0
        do {
          try await cards.silos.write { txn in
            try txn[Card.self].remove(removed)
            for card in changed { try txn[Card.self].save(card) }
            if isAborted { throw Abort() }
          }
          model[removed] = nil
          for card in changed { model[card.id] = card }
        } catch is Abort {}
        if round % 40 == 39 {
          // Another program changes a row, or what the table has for it.
          switch Int.random(in: 0..<5, using: &random) {
          case 0:
            try file.tamper("DELETE FROM cards_v1 WHERE __pk0 = \(removed)")
            model[removed] = nil
          case 1: try file.tamper("DELETE FROM cards__tags WHERE element = 'a'")
          case 2:
            try file.tamper("INSERT OR IGNORE INTO cards__users SELECT rowid, 1 FROM cards_v1")
          case 3: try file.tamper("DROP TABLE cards__tags")
          default: try file.tamper("DELETE FROM _dflat_index")
          }
        } else if round % 40 == 19 {
          cards = Silos(in: file.secondWorkspace().workspace)[Card.self]
        }
        for _ in 0..<4 {
          let (condition, passes) = test(&random)
          let wanted = model.values.filter(passes).sorted { $0.id < $1.id }
          #expect(
            try await cards.values(where: condition, orderBy: [Card.id.ascending]) == wanted,
            "\(condition) with the seed \(random.seed)")
          #expect(try await cards.count(where: condition) == wanted.count)
        }
      }
      #expect(try await findings(in: file).isEmpty)
      #expect(try isUsed(file))
      let pairs = model.values.reduce(0) { sum, card in
        sum + Set(card.tags.map { Array($0.id.utf8) }).count
      }
      #expect(try file.sqlite3("SELECT count(*) FROM cards__tags") == "\(pairs)")
    }
  }

  @Test(
    "Engines with an index of elements use it, also for what was stored before",
    arguments: TestEngine.withServers([.sqlite]))
  func engines(engine: TestEngine) async throws {
    var random = SeededGenerator(seed: testSeed())
    let long = String(repeating: "x", count: 300)
    try await withTemporaryWorkspace(engine) { temporary in
      let earlier = Silos(in: temporary.workspace)[EarlierCards.Card.self]
      try await earlier.save(EarlierCards.Card(id: -1, text: "", tags: [.unresolved(id: "a")]))
      let cards = Silos(in: temporary.workspace)[Card.self]
      var model = [-1: Card(-1, tags: ["a"])]
      let many = (100..<150).map { Card($0, &random) }
      try await cards.save(many)
      for card in many { model[card.id] = card }
      for round in 0..<40 {
        var card = Card(Int.random(in: 0..<20, using: &random), &random)
        if round % 3 == 0 { card.tags.insert(id: long + "\(round % 2)") }
        try await cards.save(card)
        model[card.id] = card
        let removed = Int.random(in: 0..<20, using: &random)
        try await cards.remove(removed)
        model[removed] = nil
        let isLong = round % 5 == 0
        let (condition, passes) =
          isLong
          ? (Card.tags.contains(id: long + "1"), { $0.tags.contains(id: long + "1") })
          : test(&random)
        let wanted = model.values.filter(passes).sorted { $0.id < $1.id }
        #expect(
          try await cards.values(where: condition, orderBy: [Card.id.ascending]) == wanted,
          "\(condition) with the seed \(random.seed)")
      }
      for (condition, table) in [
        (Card.tags.contains(id: "a"), "cards__tags"), (Card.users.contains(id: 1), "cards__users"),
      ] {
        #expect(
          try eventually {
            try temporary.workspace.fetch(for: Canonical<Card>.self)
              .explain(where: condition).indexes == [table]
          })
        let wanted = model.values.filter { card in
          table == "cards__tags" ? card.tags.contains(id: "a") : card.users.contains { $0.id == 1 }
        }
        #expect(try await cards.count(where: condition) == wanted.count)
      }
    }
  }

  @Test("A file without the tables is read as well, and gets them")
  func older() async throws {
    try await withTemporaryFile(.file) { file in
      try await Silos(in: file.workspace)[Card.self].save(
        (1...2500).map { Card($0, tags: $0 % 500 == 0 ? ["x"] : ["y", "z"]) })
      try file.tamper("DROP TABLE cards__tags")
      try file.tamper("DELETE FROM _dflat_index WHERE side = 'cards__tags'")
      let second = file.secondWorkspace()
      #expect(try await found(second, "x") == [500, 1000, 1500, 2000, 2500])
      #expect(try isUsed(second))
      #expect(try await found(second, "x") == [500, 1000, 1500, 2000, 2500])
      #expect(try file.sqlite3("SELECT count(*) FROM cards__tags WHERE element = 'z'") == "2495")
    }
  }

  @Test("A key is looked up first, and one element without sorting")
  func statements() async throws {
    try await withTemporaryFile(.file) { file in
      let cards = Silos(in: file.workspace)[Card.self]
      try await cards.save((1...20).map { Card($0, tags: ["a"], users: [$0 % 2]) })
      let all = file.dflat.fetch(for: Canonical<Card>.self)
      let both = try all.explain(where: Card.tags.contains(id: "a") && Card.id == 3)
      #expect(both.plan.contains { $0.contains("CORRELATED") }, "\(both.plan)")
      let one = try all.explain(where: Card.tags.contains(id: "a"))
      #expect(!one.plan.contains { $0.contains("B-TREE") || $0.contains("LIST") }, "\(one.plan)")
      #expect(try await cards.values(where: Card.tags.contains(id: "a") && Card.id == 3).count == 1)
      #expect(
        try await cards.values(
          where: Card.users.containsAny(of: [1, 5]) && Card.id.in([2, 3, 4, 5])
        ).map(\.id) == [3, 5])
      #expect(
        try await cards.values(where: Card.users.contains(id: 1), limit: 2).map(\.id) == [1, 3])
      // More than a statement may have.
      let many = Card.users.containsAny(of: 0..<300) && Card.id.in(Array(1...300))
      #expect(try all.explain(where: many).indexes == ["__pk0"])
      #expect(try await cards.count(where: many) == 20)
    }
  }
}
