// The file: names, columns, settings, and files written by other programs. Examined with the
// command `sqlite3`.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("The file")
struct FileTests {
  @Test("Tables, side tables and indexes have their names and columns")
  func layout() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1, likes: 4, photo: "p"), post(2)])
      let names = try workspace.sqlite3(
        "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' "
          + "AND name NOT GLOB '_dflat_*' AND name <> 'dflat_schemas' ORDER BY name"
      ).split(separator: "\n").map(String.init)
      let sides = ["f10", "f20__type", "f20__u1__f4", "f20__u2__f4"]
        .map { "blog__post_v1_0__\($0)" }
      #expect(names == (["blog__post_v1_0"] + sides + sides.map { "index__\($0)" }).sorted())
      let columns = try workspace.sqlite3(
        "SELECT name || ' ' || type FROM pragma_table_info('blog__post_v1_0')")
      #expect(columns == "rowid INTEGER\n__pk0 TEXT\n__pk1 INTEGER\np BLOB")
      let create = try workspace.sqlite3(
        "SELECT sql FROM sqlite_master WHERE name = 'blog__post_v1_0'")
      #expect(create.contains("AUTOINCREMENT") && create.contains("UNIQUE"))
      #expect(
        try workspace.sqlite3("SELECT rowid, f20__type FROM blog__post_v1_0__f20__type")
          == "1|2\n2|")
      #expect(try workspace.sqlite3("SELECT * FROM blog__post_v1_0__f10") == "1|4\n2|0")
      #expect(
        try workspace.sqlite3("SELECT \"unique\" FROM pragma_index_list('\(sides[3])')") == "1")
      #expect(
        try workspace.sqlite3("SELECT \"unique\" FROM pragma_index_list('\(sides[0])')") == "0")
      #expect(try workspace.sqlite3("PRAGMA user_version") == "0")
      #expect(try workspace.faults().isEmpty)
    }
  }

  @Test("A new file is in WAL mode and has incremental auto-vacuum")
  func settings() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1)])
      #expect(try workspace.sqlite3("PRAGMA journal_mode") == "wal")
      #expect(try workspace.sqlite3("PRAGMA auto_vacuum") == "2")
      #expect(try workspace.sqlite3("PRAGMA integrity_check") == "ok")
    }
  }

  @Test("Values are stored according to their kind")
  func values() throws {
    try withTemporaryFile { workspace in
      try workspace.write([Kit.Item.self]) { txn in
        _ = try txn.insert(
          Kit.ItemChangeRequest.creationRequest(
            Kit.Item(
              name: "a\0b", serial: .max, flag: true, big: .max - 1, real: .nan, mood: .gloomy,
              wide: .huge, title: "t\0")))
      }
      let t = "kit__item_v2"
      #expect(
        try workspace.sqlite3("SELECT typeof(__pk0), hex(__pk0), __pk1 FROM \(t)")
          == "text|610062|-1")
      #expect(try workspace.sqlite3("SELECT typeof(f8), f8 FROM \(t)__f8") == "integer|1")
      #expect(try workspace.sqlite3("SELECT f24 FROM \(t)__f24") == "-2")
      #expect(try workspace.sqlite3("SELECT typeof(f28) FROM \(t)__f28") == "null")
      #expect(try workspace.sqlite3("SELECT typeof(f26), f26 FROM \(t)__f26") == "real|0.0")
      #expect(try workspace.sqlite3("SELECT f50 FROM \(t)__f50") == "-3")
      #expect(try workspace.sqlite3("SELECT f54 FROM \(t)__f54") == "-6")
      #expect(try workspace.sqlite3("SELECT typeof(f62) FROM \(t)__f62") == "null")
    }
  }

  @Test("A deletion removes side rows of every version's indexes; unread ones stay below a gap")
  func versions() throws {
    try withTemporaryFile { workspace in
      try workspace.write([Kit.Item.self, KIT.Item.self]) { txn in
        _ = try txn.insert(
          KIT.ItemChangeRequest.creationRequest(KIT.Item(name: "a", serial: 1, extra: "x")))
        _ = try txn.insert(Kit.ItemChangeRequest.creationRequest(Kit.Item(name: "b", serial: 2)))
        _ = try txn.insert(
          KIT.ItemChangeRequest.creationRequest(KIT.Item(name: "c", serial: 3, extra: "x")))
      }
      let next = workspace.dflat.fetch(for: KIT.Item.self)
      #expect(next.where(KIT.Item.extra == "x").map(\.name) == ["a", "c"])
      #expect(workspace.dflat.fetch(for: Kit.Item.self).all().map(\.name) == ["a", "b", "c"])
      try workspace.write([Kit.Item.self]) { txn in
        for name in ["a", "c"] {
          let item = Kit.Item(name: name, serial: name == "a" ? 1 : 3)
          try txn.submit(try #require(Kit.ItemChangeRequest.deletionRequest(item)))
        }
      }
      let foreign = try workspace.foreignConnection()
      #expect(try unsoundness(of: Kit.Item._schema, foreign).isEmpty)
      #expect(try unsoundness(of: KIT.Item._schema, foreign).isEmpty)
      #expect(next.where(KIT.Item.extra.isNull).map(\.name) == ["b"])
    }
  }

  @Test(
    "Fields unknown to an older version of a program survive its updates as far as it can read")
  func unknownValues() throws {
    try withTemporaryFile { workspace in
      try workspace.write([KIT.Item.self]) { txn in
        _ = try txn.insert(
          KIT.ItemChangeRequest.creationRequest(
            KIT.Item(
              name: "a", serial: 1, mood: .high, maybeMood: .even, pet: .bird(KIT.Bird(name: "b"))))
        )
      }
      let item = workspace.dflat.fetch(for: Kit.Item.self).all()[0]
      #expect(item.mood == .wild, "an unknown enum value reads as the default")
      #expect(item.maybeMood == nil && item.pet == nil)
      let old = workspace.dflat.fetch(for: Kit.Item.self)
      #expect(old.where(Kit.Item.mood == .wild).count == 1)
      #expect(old.where(Kit.Item.maybeMood.isNull && Kit.Item.pet._type.isNull).count == 1)
    }
  }

  @Test("A file in upstream's format opens: created by hand, with rows from flatc")
  func upstreamFile() throws {
    try withTemporaryFile(.file) { workspace in
      let directory = try makeTemporaryDirectory()
      defer { try? FileManager.default.removeItem(atPath: directory) }
      let schema = """
        namespace Blog;
        enum Status: byte { Draft, Published, Archived }
        struct Place { lat: double; lon: double; }
        table Author { handle: string; name: string; }
        table Link { url: string; }
        table Photo { path: string; width: int; }
        union Attachment { Link, Photo }
        table Post { site: string; number: int; status: Status = Published; likes: int; place: Place;
          author: Author; tags: [string]; attachment: Attachment; old_rank: short (deprecated);
          is_pinned: bool; }
        root_type Post;
        """
      try Data(schema.utf8).write(to: URL(fileURLWithPath: directory + "/s.fbs"))
      func blob(_ json: String) throws -> SQLValue {
        try Data(json.utf8).write(to: URL(fileURLWithPath: directory + "/o.json"))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
          "flatc", "--binary", "-o", directory, directory + "/s.fbs", directory + "/o.json",
        ]
        try process.run()
        process.waitUntilExit()
        return .blob([UInt8](try Data(contentsOf: URL(fileURLWithPath: directory + "/o.bin"))))
      }
      let file = try Connection(path: workspace.path)
      // Without auto-vacuum, in DELETE mode, one side table complete, one partial, two missing.
      try file.execute(
        """
        CREATE TABLE blog__post_v1_0 (rowid INTEGER PRIMARY KEY AUTOINCREMENT, __pk0 TEXT,
          __pk1 INTEGER, p BLOB, UNIQUE(__pk0, __pk1));
        CREATE TABLE blog__post_v1_0__f10 (rowid INTEGER PRIMARY KEY, f10 INTEGER);
        CREATE INDEX index__blog__post_v1_0__f10 ON blog__post_v1_0__f10 (f10);
        CREATE TABLE blog__post_v1_0__f20__type (rowid INTEGER PRIMARY KEY, f20__type INTEGER);
        CREATE INDEX index__blog__post_v1_0__f20__type ON blog__post_v1_0__f20__type (f20__type);
        INSERT INTO blog__post_v1_0__f10 VALUES (1, 5), (2, 0), (3, 9);
        INSERT INTO blog__post_v1_0__f20__type VALUES (1, 2), (2, 0);
        """)
      let insert = "INSERT INTO blog__post_v1_0 (__pk0, __pk1, p) VALUES ('s', ?, ?)"
      try file.execute(
        insert,
        [
          1,
          try blob(
            """
            {site: "s", number: 1, likes: 5, place: {lat: 1.5, lon: 2}, attachment_type: "Photo",
             attachment: {path: "a"}, tags: ["x", "y"], author: {name: "n"}}
            """),
        ])
      try file.execute(insert, [2, try blob("{site: \"s\", number: 2}")])
      try file.execute(
        insert,
        [
          3,
          try blob(
            "{site: \"s\", number: 3, likes: 9, attachment_type: \"Link\", attachment: {url: \"u\"}}"
          ),
        ])
      try file.close()

      #expect(workspace.posts.all().map(\.number) == [1, 2, 3])
      let first = workspace.posts.all()[0]
      #expect(first.tags == ["x", "y"] && first.author?.name == "n" && first.place?.lat == 1.5)
      #expect(workspace.posts.where(Post.likes > 4).map(\.number) == [1, 3])
      #expect(workspace.posts.where(Post.attachment._type.isNull).map(\.number) == [2])
      #expect(workspace.posts.where(Post.attachment.match(Blog.Link.self)).map(\.number) == [3])
      #expect(throws: TransactionError.objectAlreadyExists) {
        try workspace.store([post(4, photo: "a")])
      }
      let new = try workspace.store([post(4, photo: "b")])
      #expect(new[0]._rowid >= 4)
      try workspace.remove([1])
      #expect(try workspace.faults(complete: false).isEmpty)
      #expect(try workspace.sqlite3("PRAGMA integrity_check") == "ok")
    }
  }
}
