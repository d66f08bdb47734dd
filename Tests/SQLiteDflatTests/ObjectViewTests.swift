// Views of objects for plain SQL.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Objects in plain SQL")
struct ObjectViewTests {
  private func insert(_ items: [Kit.Item], in workspace: TemporaryFile) throws {
    try workspace.write([Kit.Item.self]) { txn in
      for item in items { _ = try txn.insert(Kit.ItemChangeRequest.creationRequest(item)) }
    }
  }

  @Test("Fields are columns with the values that SQL expects")
  func columns() throws {
    try withTemporaryFile { workspace in
      let item = Kit.Item(
        name: "n", serial: .max, flag: true, tiny: -5, single: 0.5, real: .nan, plainBig: 7,
        mood: .gloomy, wide: .huge, traits: [.soft, .fast], title: "a\"b\\\n\u{1}",
        box: Kit.Box(corner: Kit.Point(x: 1, y: 2), depth: 3, mood: .calm, big: .max),
        pet: .cat(Kit.Cat(name: "c", lives: 9)), tags: ["x", "é"], numbers: [1, .min],
        leaves: [Kit.Leaf(label: "l", weight: .infinity, rank: .max), Kit.Leaf()],
        pets: [.dog(Kit.Dog()), .point(Kit.Point(x: 1, y: 2)), .empty(Kit.Empty())])
      try insert([item, Kit.Item(name: "bare", serial: 1)], in: workspace)
      let connection = try Connection(path: workspace.path, mode: .readOnly)
      try connection.createView(of: Kit.Item.self)
      func value(_ column: String, of name: String = "n") throws -> SQLValue? {
        try connection.value("SELECT \(column) FROM Item WHERE name = ?", [.text(name)])
      }
      #expect(try value("serial") == "18446744073709551615")
      #expect(try value("flag") == 1 && value("tiny") == -5 && value("single") == 0.5)
      #expect(try value("real") == .null && value("plain_big") == 7 && value("number") == 3)
      #expect(try value("mood") == "Gloomy" && value("wide") == "Huge")
      #expect(try value("traits") == "Soft Fast")
      #expect(try value("title") == "a\"b\\\n\u{1}" && value("word") == "plain")
      #expect(
        try value("box")
          == #"{"corner":{"x":1.0,"y":2.0},"depth":3,"mood":"Calm","big":18446744073709551615}"#)
      #expect(try value("pet_type") == "Cat" && value("pet ->> '$.lives'") == 9)
      #expect(try value("tags") == #"["x","é"]"#)
      #expect(try value("numbers") == "[1,-9223372036854775808]")
      #expect(try value("json_array_length(leaves)") == 2)
      let leaf = #"{"label":"l","weight":null,"rank":18446744073709551615}"#
      #expect(try value("leaves -> 0") == .text(leaf))
      #expect(try value("pets_type") == #"["Dog","Point","Empty"]"#)
      #expect(try value("pets -> 1") == #"{"x":1.0,"y":2.0}"#)
      #expect(try value("pets -> 2") == "{}")
      #expect(try value("_json ->> '$.title'") == "a\"b\\\n\u{1}")
      #expect(try value("_problem") == .null && value("_rowid") == 1)
      // What is absent is NULL; what has a default is that, as in Swift.
      for absent in ["title", "maybe_number", "maybe_flag", "maybe_mood", "point", "branch"] {
        #expect(try value(absent, of: "bare") == .null, "\(absent)")
      }
      #expect(try value("pet", of: "bare") == .null && value("pet_type", of: "bare") == .null)
      #expect(try value("number", of: "bare") == 3 && value("mood", of: "bare") == "Wild")
      #expect(try value("tags", of: "bare") == "[]" && value("real", of: "bare") == 1.5)
      // What conditions cannot ask.
      let counts = try connection.rows(
        "SELECT t.value, count(*) FROM Item, json_each(tags) AS t GROUP BY 1 ORDER BY 1",
        as: String.self, Int.self)
      #expect(counts.map(\.0) == ["x", "é"] && counts.map(\.1) == [1, 1])
    }
  }

  @Test("The JSON of random objects is that of their Codable form")
  func json() throws {
    try withSeed { random in
      try withTemporaryFile { workspace in
        var items: [Kit.Item] = []
        for serial in 0..<(isLongRun ? 2000 : 100) {
          var builder = Kit.ItemBuilder(from: Kit.Item(name: "n", serial: UInt64(serial)))
          RandomItems.fill(&builder, &random)
          builder.badge = nil
          if case .cat = builder.pet { builder.pet = nil }
          items.append(builder.build())
        }
        try insert(items, in: workspace)
        let connection = try workspace.foreignConnection()
        try connection.createView(of: Kit.Item.self, named: "things")
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
          positiveInfinity: "∞", negativeInfinity: "∞", nan: "∞")
        let texts = try connection.rows("SELECT _json FROM things ORDER BY _rowid", as: String.self)
        #expect(texts.count == items.count)
        for (text, item) in zip(texts, items) {
          var expected = String(decoding: try encoder.encode(item), as: UTF8.self)
          expected = expected.replacing("\"∞\"", with: "null")
          let found = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary
          let same = try JSONSerialization.jsonObject(with: Data(expected.utf8)) as? NSDictionary
          #expect(found != nil && found == same, "\(text)\n\(expected)")
          #expect(try connection.value("SELECT json_valid(?)", [.text(text)]) == 1)
        }
        // The same functions by themselves, on the table.
        #expect(
          try connection.rows(
            "SELECT dflat_json('things', p) FROM main.kit__item_v2 ORDER BY rowid", as: String.self)
            == texts)
      }
    }
  }

  @Test("A view belongs to its connection; the file and other connections do not know it")
  func temporary() throws {
    try withTemporaryFile { workspace in
      try insert([Kit.Item(name: "n", serial: 1)], in: workspace)
      let connection = try workspace.foreignConnection()
      let other = try workspace.foreignConnection()
      let schema = try other.rows("SELECT * FROM main.sqlite_schema ORDER BY name")
      let version = try other.schemaVersion()
      try connection.createView(of: Kit.Item.self)
      try connection.createView(of: Kit.Item.self)
      try connection.createView(of: Post.self)
      try connection.createView(of: Kit.Item.self, named: "odd \" name'; --")
      #expect(try connection.value("SELECT name FROM \"odd \"\" name'; --\"") == "n")
      #expect(try other.rows("SELECT * FROM main.sqlite_schema ORDER BY name") == schema)
      #expect(try other.schemaVersion() == version)
      #expect(throws: SQLiteError.self) { try other.rows("SELECT * FROM Item") }
      #expect(throws: SQLiteError.self) { try connection.execute("DELETE FROM Item") }
      // Nothing that is stored in the file can call the functions.
      try other.execute("CREATE VIEW stored AS SELECT dflat_json('Item', p) FROM kit__item_v2")
      let stored = #expect(throws: SQLiteError.self) { try connection.rows("SELECT * FROM stored") }
      #expect(stored?.message.contains("unsafe use of dflat_json") == true)
      #expect(throws: SQLiteError.self) {
        try connection.execute("CREATE INDEX i ON kit__item_v2 (dflat_json('Item', p))")
      }
    }
  }

  @Test("A name that stands for another type, and unknown names, are errors")
  func names() throws {
    try withTemporaryFile { workspace in
      try insert([Kit.Item(name: "n", serial: 1)], in: workspace)
      let connection = try workspace.foreignConnection()
      try connection.createView(of: Kit.Item.self, named: "a")
      let taken = #expect(throws: SQLiteError.self) {
        try connection.createView(of: Post.self, named: "a")
      }
      #expect(taken?.code == .misuse)
      #expect(try connection.value("SELECT name FROM a") == "n")
      func message(_ sql: String) -> String? {
        #expect(throws: SQLiteError.self) { try connection.rows(sql) }?.message
      }
      let table = "FROM kit__item_v2"
      let type = message("SELECT dflat_field('b', p, 'name') \(table)")
      #expect(type?.contains("there are views of a") == true)
      let field = message("SELECT dflat_field('a', p, 'b') \(table)")
      #expect(field?.contains("no field b") == true)
      #expect(message("SELECT dflat_json('a', 'text')")?.contains("no blob") == true)
      let nulls = try connection.rows("SELECT dflat_json('a', NULL), dflat_problem('a', NULL)")
      #expect(nulls == [[.null, .null]])
    }
  }

  @Test("A damaged object is an error of the query that reads it, and can be left out")
  func damaged() throws {
    try withTemporaryFile { workspace in
      try insert((1...3).map { Kit.Item(name: "n\($0)", serial: 1) }, in: workspace)
      try workspace.tamper("UPDATE kit__item_v2 SET p = x'0102' WHERE rowid = 2")
      let connection = try workspace.foreignConnection()
      try connection.createView(of: Kit.Item.self)
      let error = #expect(throws: SQLiteError.self) { try connection.rows("SELECT name FROM Item") }
      #expect(error?.isCorrupt == true && error?.message.contains("kit__item_v2") == true)
      #expect(
        try connection.rows("SELECT name FROM Item WHERE _problem IS NULL", as: String.self)
          == ["n1", "n3"])
      #expect(
        try connection.rows("SELECT _rowid FROM Item WHERE _problem IS NOT NULL", as: Int.self)
          == [2])
    }
  }

  @Test("Hostile bytes give values or errors")
  func hostile() throws {
    try withTemporaryFile { workspace in
      let item = Kit.Item(
        name: "n", serial: 9, flag: true, title: "title", badge: "b",
        box: Kit.Box(corner: Kit.Point(x: 1, y: 2), depth: 3),
        branch: Kit.Branch(leaf: Kit.Leaf(label: "l", rank: 4), name: "branch"),
        pet: .cat(Kit.Cat(name: "c", leaf: Kit.Leaf(label: "m"))), tags: ["a", "b"],
        numbers: [1, 2], leaves: [Kit.Leaf()], pets: [.dog(Kit.Dog()), .point(Kit.Point())])
      let good = [UInt8](item.toData())
      try insert([item], in: workspace)
      let connection = try workspace.foreignConnection()
      try connection.createView(of: Kit.Item.self)
      let columns = "SELECT name FROM pragma_table_info('Item')"
      let fields = try connection.rows(columns, as: String.self).filter { !$0.hasPrefix("_") }
      let calls = fields.map { "dflat_field('Item', ?1, '\($0)')" }.joined(separator: ", ")
      let query = try connection.statement("SELECT dflat_json('Item', ?1), \(calls)")
      let problem = try connection.statement("SELECT dflat_problem('Item', ?)")
      try withSeed { random in
        var sound = 0
        for place in 0..<good.count * (isLongRun ? 100 : 4) {
          var bytes = good
          for _ in 0..<random.pick([1, 1, 2, 5]) {
            bytes[Int.random(in: 0..<good.count, using: &random)] = random.pick([
              0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255),
            ])
          }
          if random.oneIn(10) { bytes.removeLast(place % good.count) }
          try problem.bind(1, bytes)
          #expect(try problem.step())
          let isSound = problem.isNull(0)
          problem.reset()
          try query.bind(1, bytes)
          do {
            let row = try query.step() ? query.row() : []
            #expect(isSound && row.count == fields.count + 1)
            #expect(
              try connection.value("SELECT json_valid(?)", [row[0]]) == 1, "\(row[0])")
            sound += 1
          } catch let error as SQLiteError {
            #expect(!isSound && error.isCorrupt, "\(error)")
          }
          query.reset()
        }
        #expect(sound > 0)
      }
    }
  }
}
