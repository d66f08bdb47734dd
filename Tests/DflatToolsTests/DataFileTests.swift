// Files opened for reading: what they show, and that nothing of it shows afterwards.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("A file that is looked at")
struct DataFileTests {
  /// The files in a directory with their sizes and times. They are not opened: a process that
  /// closes a file loses its locks on it.
  private func state(_ directory: String) throws -> [String: String] {
    var state: [String: String] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
      var status = stat()
      #expect(stat("\(directory)/\(name)", &status) == 0)
      // Every reader of a log writes to its index.
      let time = name.hasSuffix("-shm") ? "" : "\(status.st_mtim)"
      state[name] = "\(status.st_size) \(time)"
    }
    return state
  }

  @Test("A file that was opened for changes is alone after that, unless a program uses it")
  func changesWithoutTrace() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = "\(directory)/blog.db"
    let made = TemporaryFile(path: path)
    try made.store([post(1)])
    made.dflat.shutdown()
    func names() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }
    #expect(try names() == ["blog.db"])
    let file = try DataFile.openForChanges(path)
    #expect(try file.query("Post").objects.count == 1)
    file.close()
    #expect(try names() == ["blog.db"])
    // Beside a program that reads.
    let other = try Connection(path: path, mode: .readOnly)
    #expect(try other.rows("SELECT count(*) FROM sqlite_master").count == 1)
    let again = try DataFile.openForChanges(path)
    #expect(try again.query("Post").objects.count == 1)
    again.close()
    #expect(try names() == ["blog.db", "blog.db-shm", "blog.db-wal"])
    #expect(try other.rows("SELECT count(*) FROM sqlite_master").count == 1)
    try other.close()
  }

  private func look(_ path: String) throws -> [Int] {
    let data = try DataFile.open(path)
    defer { data.close() }
    return try data.query("Post order by number", selecting: "number").objects.map {
      guard case .integer(let number)? = try $0.values()["number"] else { return -1 }
      return Int(number)
    }
  }

  /// How a file may be found.
  enum Situation: String, CaseIterable, Sendable {
    /// A program has it open, and its log has transactions.
    case inUse
    /// No program uses it: there is no log.
    case closed
    /// With a rollback journal, as upstream may leave it.
    case withJournal
    /// With a log, but no `-shm`: copied, or left by a crash of the machine.
    case withLogOnly
    /// With a log and a `-shm` of a program that was killed.
    case killed
  }

  @Test("Looking at a file leaves no trace", arguments: Situation.allCases)
  func noTrace(situation: Situation) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try withTemporaryFile { file in
      try file.store([post(1), post(2)])
      let path = "\(directory)/copy.db"
      func copy(_ suffix: String) throws {
        try FileManager.default.copyItem(atPath: file.path + suffix, toPath: path + suffix)
      }
      switch situation {
      case .inUse:
        let folder = URL(filePath: file.path).deletingLastPathComponent().path
        let before = try state(folder)
        #expect(try look(file.path) == [1, 2])
        #expect(try state(folder) == before)
        // The last connection of another program would remove the log if the workspace had lost
        // its locks.
        #expect(try file.sqlite3("PRAGMA wal_checkpoint(TRUNCATE)") == "0|0|0")
        try file.store([post(3)])
        #expect(try look(file.path) == [1, 2, 3])
        #expect(file.fileExists("-wal"))
        return
      case .closed, .withJournal:
        let workspace = SQLiteWorkspace(filePath: path)
        try workspace.write(Post.self) { _ = try $0.insert(contentsOf: [post(1), post(2)]) }
        workspace.shutdown(flags: situation == .withJournal ? .truncate : [])
        if situation == .withJournal {
          let connection = try Connection(path: path)
          try connection.execute("PRAGMA journal_mode = DELETE")
          try connection.close()
        }
      case .withLogOnly, .killed:
        try copy("")
        try copy("-wal")
        if situation == .killed { try copy("-shm") }
      }
      let before = try state(directory)
      #expect(try look(path) == [1, 2], "\(situation)")
      #expect(try state(directory) == before, "\(situation)")
    }
  }

  @Test("A file that is being read sees later transactions")
  func following() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = "\(directory)/test.db"
    func add(_ number: Int32) throws {
      let workspace = SQLiteWorkspace(filePath: path)
      try workspace.write(Post.self) { _ = try $0.insert(post(number)) }
      workspace.shutdown()
    }
    try add(1)
    let data = try DataFile.open(path)
    defer { data.close() }
    #expect(try data.count("Post") == 1)
    try add(2)
    #expect(try data.count("Post") == 2)
    let workspace = SQLiteWorkspace(filePath: path)
    try workspace.write(Post.self) { _ = try $0.insert(post(3)) }
    #expect(try data.count("Post") == 3)
    workspace.shutdown()
    try add(4)
    #expect(try data.count("Post") == 4)
  }

  @Test("Objects are shown as programs encode them")
  func objects() throws {
    try withTemporaryFile { file in
      var random = SeededGenerator(seed: 11)
      var items: [Kit.Item] = []
      for serial in 0..<50 {
        var item = Kit.ItemBuilder(from: RandomItems.item(&random))
        item.serial = UInt64(serial)
        item.badge = nil
        items.append(item.build())
      }
      let stored = items
      try file.dflat.write(Kit.Item.self) { _ = try $0.insert(contentsOf: stored) }
      let data = try DataFile.open(file.path)
      defer { data.close() }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
      let found = try data.query("Item").objects.map { try $0.json() }
      #expect(found == (try items.map { try encoder.encode($0) }))
      let type = try data.type(named: "Item")
      let item = items[17]
      let object = try data.object(of: type, key: [item.name, "\(item.serial)"])
      #expect(try object?.json() == (try encoder.encode(item)))
      #expect(try data.object(of: type, key: ["no such name", "0"]) == nil)
      #expect(throws: ToolError.self) { try data.object(of: type, key: ["one"]) }
      #expect(throws: ToolError.self) { try data.object(of: type, key: ["a", "b"]) }
    }
  }

  @Test("A type is shown by a schema file, by the schema in the file, or without names")
  func sources() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try withTemporaryFile { file in
      try file.store([post(7, likes: 300, photo: "p")])
      func first(_ schemas: [String] = []) throws -> (StoredType.Origin, String) {
        let data = try DataFile.open(file.path, schemas: schemas)
        defer { data.close() }
        let type = try #require(data.types.first)
        let object = try data.query(type.table).objects.first
        return (type.origin, String(decoding: try object?.json() ?? Data(), as: UTF8.self))
      }
      let kept = try first()
      #expect(kept.1.contains(#""likes":300"#) && kept.1.contains(#""attachment_type":"Photo""#))
      guard case .kept(let version, _) = kept.0 else {
        Issue.record("\(kept.0)")
        return
      }
      #expect(version == "0.1.0")
      let schema = "\(directory)/post.fbs"
      try """
      namespace Blog;
      table Post (v: "1.0") { place: string (primary); n: int (primary); s: byte; hearts: int; }
      root_type Post;
      """.write(toFile: schema, atomically: true, encoding: .utf8)
      let given = try first([schema])
      #expect(given.0 == .file(schema))
      #expect(given.1 == #"{"hearts":300,"n":7,"place":"s","s":0}"#)
      try file.tamper("DROP TABLE dflat_schemas")
      let unnamed = try first()
      #expect(unnamed.0 == .unknown)
      #expect(unnamed.1.hasPrefix(#"{"__pk0":"s","__pk1":7,"f10":300,"f18":2"#), "\(unnamed.1)")
      #expect(unnamed.1.contains(#""f4":"s","f6":7"#), "\(unnamed.1)")
      let data = try DataFile.open(file.path)
      defer { data.close() }
      let error = #expect(throws: ToolError.self) {
        try data.query("blog__post_v1_0 where f10 > 3")
      }
      #expect(error?.description.contains("--schema") == true)
    }
  }

  @Test("What is no file, no database or no schema is an error that says so")
  func errors() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let missing = #expect(throws: ToolError.self) { try DataFile.open("\(directory)/none.db") }
    #expect(missing?.kind == .noSuchFile)
    let text = "\(directory)/text.db"
    try String(repeating: "no database ", count: 500).write(
      toFile: text, atomically: true, encoding: .utf8)
    let wrong = #expect(throws: ToolError.self) { try DataFile.open(text) }
    #expect(wrong?.kind == .badData, "\(String(describing: wrong))")
    let empty = "\(directory)/empty.db"
    try Data().write(to: URL(filePath: empty))
    let data = try DataFile.open(empty)
    defer { data.close() }
    #expect(data.types.isEmpty)
    let schema = #expect(throws: ToolError.self) {
      try DataFile.open(empty, schemas: ["\(directory)/none.fbs"])
    }
    #expect(schema?.kind == .badData)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == [
        "empty.db", "text.db",
      ])
  }

  @Test(
    "A reference leads to the fields of the other object",
    arguments: [
      ("writer.name = 'Ada'", [1]), ("writer.mentor.name = 'Bob'", [1]), ("writer = 'bob'", [2]),
      ("writer.age > 40", [2]), ("writer.related is null", [3]), ("writer is null", []),
      ("writer.town.name like 'B%'", [1]), ("parent.likes >= 5", [2]),
      ("parent.writer.name = 'Ada'", [2]), ("labels.any { $0.name = 'new' }", [2]),
    ])
  func references(condition: String, ids: [Int64]) throws {
    try withTemporaryFile { file in
      try file.dflat.write(Guild.Writer.self, Guild.Story.self, Guild.Label.self) { txn in
        _ = try txn.insert(
          Guild.Writer(
            handle: "ada", name: "Ada", town: Guild.Town(name: "Bonn"), mentor: "bob"))
        _ = try txn.insert(Guild.Writer(handle: "bob", name: "Bob", age: 50))
        _ = try txn.insert(Guild.Label(name: "new"))
        _ = try txn.insert(Guild.Story(id: 1, likes: 5, writer: "ada"))
        _ = try txn.insert(Guild.Story(id: 2, writer: "bob", labels: ["new"], parent: 1))
        _ = try txn.insert(Guild.Story(id: 3, writer: "nobody"))
      }
      let data = try DataFile.open(file.path)
      defer { data.close() }
      let answer = try data.query("Story where \(condition) order by id", selecting: "id")
      let found = try answer.objects.map { try $0.values()["id"] }
      #expect(found == ids.map { .integer($0) }, "\(condition)")
    }
  }

  @Test("One state of each file is compared, whatever is committed meanwhile")
  func differencesOfOneState() throws {
    try withTemporaryFile { file in
      try file.store((1...3).map { post($0) })
      let before = try DataFile.open(file.path)
      let path = file.path + ".copy"
      _ = try before.backup(to: path)
      before.close()
      try file.change(1) { $0.likes = 12 }
      let (first, second) = (try DataFile.open(path), try DataFile.open(file.path))
      defer {
        first.close()
        second.close()
      }
      var keys: [[String]] = []
      _ = try first.differences(from: second) { difference in
        keys.append(difference.key)
        if keys.count == 1 {
          try file.dflat.write(Post.self) { _ = try $0.delete(post(3)) }
          try file.store([post(9)])
        }
      }
      #expect(keys == [["s", "1"]], "\(keys)")
    }
  }

  @Test("Entries of dictionaries are compared like objects, by the bytes of their keys")
  func differencesOfDictionaries() throws {
    try withTemporaryFile { first in
      try withTemporaryFile { second in
        for file in [first, second] { try file.store([post(1)]) }
        func differences(_ names: [String]? = nil) throws -> [String] {
          let (one, other) = (try DataFile.open(first.path), try DataFile.open(second.path))
          defer {
            one.close()
            other.close()
          }
          var found: [String] = []
          let count = try one.differences(from: other, types: names) {
            found.append("\($0.kind) \($0.type) \($0.key) \($0.fields.map(\.name))")
          }
          #expect(count == found.count)
          return found
        }
        #expect(try differences() == [])
        try first.dflat.write(Post.self) { context in
          var dictionary = context.dictionary
          dictionary["theme"] = "dark"
          dictionary["\u{E9}"] = 1
          dictionary["sizes", [Int].self] = [1, 2]
        }
        #expect(try differences().count == 3 && differences(["Post"]) == [])
        try second.dflat.write(Post.self) { context in
          var dictionary = context.dictionary
          dictionary["theme"] = "light"
          dictionary["e\u{301}"] = 2
          dictionary["sizes", [Int].self] = [1, 2]
        }
        let found = try differences()
        #expect(
          Set(found) == [
            #"changed dictionary ["theme"] ["string"]"#,
            "onlyInFirst dictionary [\"\u{E9}\"] []",
            "onlyInSecond dictionary [\"e\u{301}\"] []",
          ], "\(found)")
        #expect(found.count == 3)
        let data = try DataFile.open(second.path)
        defer { data.close() }
        #expect(try data.dictionaryEntry("\u{E9}") == nil)
        #expect(try data.dictionaryEntry("e\u{301}")?.value == "2")
      }
    }
  }

  @Test("A signal ends a check")
  func stoppedCheck() throws {
    try withTemporaryFile { file in
      try file.store((1...500).map { post($0, likes: $0) })
      let data = try DataFile.open(file.path)
      defer { data.close() }
      let stop = StopSignal()
      #expect(try data.check(until: stop).findings.isEmpty)
      stop.stop()
      #expect(throws: ToolError.self) { try data.check(until: stop) }
    }
  }

  @Test("Texts and numbers differ if their bytes do")
  func differencesOfForms() throws {
    try withTemporaryFile { first in
      try withTemporaryFile { second in
        try first.store([post(1, photo: "caf\u{E9}"), post(2)])
        try second.store([post(1, photo: "cafe\u{301}"), post(2)])
        let (one, other) = (try DataFile.open(first.path), try DataFile.open(second.path))
        defer {
          one.close()
          other.close()
        }
        var found: [String] = []
        let count = try one.differences(from: other) {
          found.append("\($0.key) \($0.fields.map(\.name))")
        }
        #expect(count == 1 && found == [#"["s", "1"] ["attachment"]"#], "\(found)")
      }
    }
  }

  @Test("An entry of a kind that is not known is listed, and hides no other one")
  func unknownKind() throws {
    try withTemporaryFile { file in
      file.dflat.dictionary["a"] = 1
      file.dflat.dictionary["b"] = "text"
      file.dflat.dictionary.synchronize()
      let table = "dictitem_v_dflat_internal__"
      let bytes = try #require(
        try file.foreignConnection().value("SELECT p FROM \(table) WHERE __pk0 = 'a'")?.blob)
      // One of these bytes is the kind.
      var isFound = false
      for place in bytes.indices where bytes[place] == 1 && !isFound {
        var changed = bytes
        changed[place] = 99
        try file.tamper("UPDATE \(table) SET p = ? WHERE __pk0 = 'a'", [.blob(changed)])
        let data = try DataFile.open(file.path)
        defer { data.close() }
        let entries = (try? data.dictionary()) ?? []
        if entries.first?.kind != "unknown" { continue }
        isFound = true
        #expect(entries.map(\.key) == ["a", "b"])
        #expect(try data.dictionaryEntry("b")?.value == "text")
      }
      #expect(isFound)
      _ = file.takeErrors()
    }
  }

  @Test("Whatever bytes stand for a schema in the file: objects, or a reason, and never a crash")
  func damagedSchemas() throws {
    try withTemporaryFile { file in
      try file.store((1...3).map { post($0, likes: $0) })
      file.dflat.shutdown()
      let connection = try Connection(path: file.path)
      let select = "SELECT schema FROM dflat_schemas WHERE \"table\" LIKE '%post%'"
      let sound = try #require(try connection.rows(select).first?[0].blob)
      var (refused, shown) = (0, 0)
      try withSeed { random in
        for _ in 0..<(isLongRun ? 20_000 : 200) {
          var bytes = sound
          for _ in 0...Int.random(in: 0..<4, using: &random) {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[place] = bytes[place] &+ 1
            case 2: bytes[place] = 0
            default: bytes.removeLast(min(bytes.count / 2, place / 8))
            }
          }
          try connection.execute(
            "UPDATE dflat_schemas SET schema = ? WHERE \"table\" LIKE '%post%'", [.blob(bytes)])
          let data = try DataFile.open(file.path)
          defer { data.close() }
          let type = try #require(data.types.first { $0.table.contains("post") })
          if type.problem != nil { refused += 1 }
          do {
            shown += try data.query("`\(type.table)`").objects.count
            _ = try data.check()
          } catch is ToolError {}
        }
      }
      try connection.close()
      #expect(shown > 0 && refused > 0)
    }
  }
}
