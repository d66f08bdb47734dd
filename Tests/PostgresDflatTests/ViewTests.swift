// Views: what plain SQL reads is what programs have stored.

import Dflat
import DflatTestSupport
import Foundation
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Views for plain SQL", .endsSometime)
struct ViewTests {
  private func views(
    _ body: (PostgresWorkspace, PlainConnection) async throws -> Void
  ) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      let server = try PlainConnection()
      try server.run("SET search_path = \"\(schema)\"")
      try await body(dflat, server)
      await dflat.shutdown()
    }
  }

  @Test("All fields of a type have their names and values")
  func fields() async throws {
    try await views { dflat, server in
      try await dflat.createViews(for: Post.self)
      let full = Post(
        site: "s'\u{0}é", number: 7, status: .archived, likes: -3,
        place: Blog.Place(lat: 1.5, lon: -2), author: Blog.Author(handle: "h"),
        tags: ["a", ""], attachment: .link(Blog.Link(url: "u")), isPinned: true)
      try await dflat.write(Post.self) { txn in
        try txn.insert(full)
        try txn.insert(Post(site: "", number: 8))
      }
      let columns = "site, number, status, likes, place, author, tags, attachment, is_pinned"
      let rows = try server.run(
        "SELECT rowid, \(columns) FROM \(Post._schema.table)_view ORDER BY 1")
      let expected: [[String?]] = [
        [
          "1", "s'\u{2400}é", "7", "Archived", "-3", #"{"lat": 1.5, "lon": -2}"#,
          #"{"handle": "h"}"#, #"["a", ""]"#, #"{"type": "Link", "value": {"url": "u"}}"#, "t",
        ],
        ["2", "", "8", "Published", "0", nil, nil, nil, nil, "f"],
      ]
      #expect(rows == expected)
    }
  }

  /// A value that a view must have.
  private enum Value {
    case text(String?)
    case real(Double?)

    init(_ number: (some BinaryInteger)?) { self = .text(number.map { "\($0)" }) }

    func isSame(as column: String?) -> Bool {
      switch self {
      case .text(let text):
        text?.replacing("\0", with: "\u{2400}").utf8.elementsEqual(
          column?.utf8 ?? "missing".utf8) ?? (column == nil)
      case .real(let real):
        real.map { real in
          column.flatMap(Double.init).map { $0 == real || $0.isNaN && real.isNaN } ?? false
        } ?? (column == nil)
      }
    }
  }

  private func names(_ traits: Kit.Trait) -> String {
    let known = [("Soft", Kit.Trait.soft), ("Loud", .loud), ("Fast", .fast)]
    let names = known.filter { traits.contains($0.1) }.map(\.0)
    return names.isEmpty ? "\(traits.rawValue)" : names.joined(separator: " ")
  }

  private func name(_ mood: Kit.Mood?) -> String? {
    mood.map { mood in
      switch mood {
      case .gloomy: "Gloomy"
      case .calm: "Calm"
      case .wild: "Wild"
      case .odd: "Odd"
      }
    }
  }

  /// Expressions over the columns of the view, and their values.
  private func expectations(_ item: Kit.Item) -> [(sql: String, value: Value)] {
    let pet: String? =
      switch item.pet {
      case .cat: "Cat"
      case .dog: "Dog"
      case .point: "Point"
      case .empty: "Empty"
      case nil: nil
      }
    var cat: Kit.Cat?
    if case .cat(let known)? = item.pet { cat = known }
    var dog: Kit.Dog?
    if case .dog(let known)? = item.pet { dog = known }
    var point: Kit.Point?
    if case .point(let known)? = item.pet { point = known }
    return [
      ("name", .text(item.name)), ("serial", Value(item.serial)),
      ("flag", .text(item.flag ? "t" : "f")), ("tiny", Value(item.tiny)),
      ("small", Value(item.small)), ("short_number", Value(item.shortNumber)),
      ("port", Value(item.port)), ("number", Value(item.number)), ("count", Value(item.count)),
      ("long_number", Value(item.longNumber)), ("big", Value(item.big)),
      ("single", .real(Double(item.single))), ("real", .real(item.real)),
      ("plain_title", .text(item.plainTitle)),
      ("maybe_flag", .text(item.maybeFlag.map { $0 ? "t" : "f" })),
      ("maybe_number", Value(item.maybeNumber)), ("maybe_big", Value(item.maybeBig)),
      ("maybe_real", .real(item.maybeReal)), ("mood", .text(name(item.mood))),
      ("maybe_mood", .text(name(item.maybeMood))),
      ("wide", .text(item.wide == .small ? "Small" : item.wide == .huge ? "Huge" : "Middle")),
      ("traits", .text(names(item.traits))), ("word", .text(item.word)),
      ("point ->> 'x'", .real(item.point.map { Double($0.x) })),
      ("box -> 'corner' ->> 'y'", .real(item.box?.corner.y)),
      ("box ->> 'depth'", Value(item.box?.depth)), ("box ->> 'big'", Value(item.box?.big)),
      ("box ->> 'mood'", .text(name(item.box?.mood))),
      ("branch -> 'leaf' ->> 'rank'", Value(item.branch?.leaf?.rank)),
      ("branch ->> 'name'", .text(item.branch?.name)),
      ("branch -> 'box' ->> 'big'", Value(item.branch?.box?.big)), ("pet ->> 'type'", .text(pet)),
      ("pet -> 'value' ->> 'lives'", Value(cat?.lives)),
      ("pet -> 'value' -> 'leaf' ->> 'weight'", .real(cat?.leaf?.weight)),
      ("pet -> 'value' ->> 'age'", Value(dog?.age)),
      ("pet -> 'value' ->> 'mood'", .text(name(dog?.mood))),
      ("pet -> 'value' ->> 'y'", .real(point?.y)),
      ("coalesce(jsonb_array_length(tags), 0)", Value(item.tags.count)),
      ("tags ->> -1", .text(item.tags.last)), ("numbers ->> 0", Value(item.numbers.first)),
      ("leaves -> -1 ->> 'label'", .text(item.leaves.last?.label)),
      ("points -> -1 ->> 'x'", .real(item.points.last.map { Double($0.x) })),
      ("coalesce(jsonb_array_length(pets), 0)", Value(item.pets.count)),
    ]
  }

  @Test("Random objects with fields of all kinds have the values that programs see")
  func randomObjects() async throws {
    try await views { dflat, server in
      try await dflat.createViews(for: Kit.Item.self)
      let items = withSeed { random in
        (0..<100).map { number in
          var builder = Kit.ItemBuilder(
            from: Kit.Item(name: number.isMultiple(of: 2) ? "é\0" : "", serial: UInt64(number)))
          RandomItems.fill(&builder, &random)
          // They are unique.
          builder.badge = nil
          builder.pet = RandomItems.item(&random).pet
          if case .cat? = builder.pet, number > 0 { builder.pet = nil }
          return builder.build()
        }
      }
      try await dflat.write(Kit.Item.self) { try $0.insert(contentsOf: items) }
      let columns = expectations(items[0]).map(\.sql).joined(separator: ", ")
      let rows = try server.run(
        "SELECT \(columns) FROM \"\(Kit.Item._schema.table)_view\" ORDER BY serial")
      #expect(rows.count == items.count)
      for (row, item) in zip(rows, items) {
        for (column, expected) in zip(row, expectations(item)) {
          #expect(expected.value.isSame(as: column), "\(expected): \(column ?? "NULL")")
        }
      }
    }
  }

  @Test("A number of the key finds its row, and nothing can be written")
  func use() async throws {
    try await views { dflat, server in
      try await dflat.prepare(Note.self)
      try await dflat.createViews(for: Note.self)
      try await dflat.createViews(for: Note.self, Post.self)
      try await dflat.write(Note.self) { txn in
        try txn.insert(contentsOf: (1...1000 as ClosedRange<UInt64>).map { Note(key: $0) })
      }
      #expect(try server.run("SELECT count(*) FROM note_view WHERE key % 10 = 0") == [["100"]])
      for statement in [
        "DELETE FROM note_view", "UPDATE note_view SET rowid = 1",
        "INSERT INTO note_view (rowid) VALUES (1)",
      ] {
        #expect(throws: StorageError.self) { _ = try server.run(statement) }
      }
      try await dflat.createViews(for: Desk.Memo.self)
      try await dflat.write(Desk.Memo.self) { txn in
        try txn.insert(contentsOf: (1...1000).map { Desk.Memo(number: $0, rank: $0 * 2) })
      }
      let view = "\(Desk.Memo._schema.table)_view"
      #expect(try server.run("SELECT rank FROM \(view) WHERE number = 9") == [["18"]])
      let plan = try server.run("EXPLAIN SELECT rank FROM \(view) WHERE number = 9")
      #expect(plan.contains { $0[0]?.contains("Index") == true }, "\(plan)")
    }
  }
}
