// Importing what was exported, and what is wrong with other input.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat
import Silo
import Testing

@testable import DflatTools

/// The path of a schema of the test support.
func schemaPath(_ name: String) -> String {
  URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "DflatTestSupport/Schemas/\(name).fbs").path
}

/// What reads bytes in small portions.
func portions(of data: Data, _ size: Int = 1000) -> () throws -> Data? {
  var rest = data
  return {
    let portion = rest.prefix(size)
    rest = rest.dropFirst(size)
    return Data(portion)
  }
}

func portions(of text: String) -> () throws -> Data? { portions(of: Data(text.utf8), 7) }

@Suite("An import")
struct ImportTests {
  /// All objects of a type of a file, as they are exported.
  private func exported(
    _ path: String, _ type: String, _ format: DataFile.ExportFormat = .jsonLines
  ) throws -> Data {
    let file = try DataFile.open(path)
    defer { file.close() }
    var data = Data()
    _ = try file.export(try file.type(named: type), as: format) { data.append($0) }
    return data
  }

  /// The differences of two files.
  private func differences(_ first: String, _ second: String) throws -> [ObjectDifference] {
    let (one, other) = (try DataFile.open(first), try DataFile.open(second))
    defer {
      one.close()
      other.close()
    }
    var found: [ObjectDifference] = []
    _ = try one.differences(from: other) { found.append($0) }
    return found
  }

  @Test(
    "What was exported is the same after an import into a new file",
    arguments: DataFile.ExportFormat.allCases, [false, true])
  func roundTrip(format: DataFile.ExportFormat, isOneTransaction: Bool) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try withTemporaryFile { file in
      try withSeed { random in
        var items: [Kit.Item] = []
        for serial in 0..<(isLongRun ? 3000 : 300) {
          var item = Kit.ItemBuilder(from: RandomItems.item(&random))
          item.serial = UInt64(serial)
          item.badge = serial.isMultiple(of: 2) ? nil : "badge \(serial)"
          if case .cat? = item.pet { item.pet = nil }
          items.append(item.build())
        }
        let stored = items
        try file.dflat.write(Kit.Item.self) { _ = try $0.insert(contentsOf: stored) }
      }
      let data = try exported(file.path, "Item", format)
      let new = "\(directory)/new.db"
      var job = try Import(into: new, type: "Item", schemas: [schemaPath("item")])
      #expect(job.isNewFile)
      job.format = format
      job.isOneTransaction = isOneTransaction
      let report = try job.run(reading: portions(of: data))
      let count = file.dflat.fetch(for: Kit.Item.self).all().count
      #expect(report.problems.isEmpty && report.inserted == count, "\(report)")
      #expect(try differences(file.path, new).isEmpty)
      let copy = TemporaryFile(path: new)
      defer { copy.dflat.shutdown() }
      #expect(
        copy.dflat.fetch(for: Kit.Item.self).all().underlyingArray
          == file.dflat.fetch(for: Kit.Item.self).all().underlyingArray)
      #expect(try unsoundness(of: Kit.Item._schema, copy.foreignConnection()) == [])
      // A second import finds the same objects.
      let again = try job.run(reading: portions(of: data))
      #expect(again.unchanged == count && again.updated == 0, "\(again)")
    }
  }

  @Test("Objects replace those with their keys, and running programs see it")
  func upserts() throws {
    try withTemporaryFile { file in
      try file.store([post(1, likes: 1, photo: "a"), post(2, likes: 2)])
      let result = file.posts.where(Post.likes > 5)
      let changed = DispatchSemaphore(value: 0)
      let subscription = file.dflat.subscribe(fetchedResult: result) { now in
        if now.count == 2 { changed.signal() }
      }
      file.dflat.lookForOtherWriters(every: .milliseconds(5))
      let job = try Import(into: file.path, type: "Post")
      let report = try job.run(
        reading: portions(
          of: """
            {"site":"s","number":1,"likes":10,"attachment_type":"Photo","attachment":{"path":"a"}}

            {"site":"s","number":2,"likes":2}
            {"site":"s","number":3,"likes":30}
            """))
      #expect(report.inserted == 1 && report.updated == 1 && report.unchanged == 1)
      changed.expect("the imported objects")
      subscription.cancel()
      #expect(try file.faults() == [])
      let kept = try file.sqlite3(
        "SELECT count(*) FROM dflat_schemas WHERE \"table\" LIKE '%post%'")
      #expect(kept == "1")
    }
  }

  @Test(
    "A bad line is named by its number and field; the lines before it are stored",
    arguments: [
      (#"{"site":"s","number":2,"likes":"many"}"#, "likes"),
      (#"{"site":"s","number":2,"likes":3000000000}"#, "likes"),
      (#"{"site":"s","number":2,"lkes":3}"#, "lkes"), (#"{"site":"s"}"#, "number"),
      (#"{"site":"s","number":2,"status":"Lost"}"#, "status"),
      (#"{"site":"s","number":2,"author":{"name":7}}"#, "author.name"),
      (#"{"site":"s","number":2,"tags":["a",7]}"#, "tags[1]"),
      (#"{"site":"s","number":2,"attachment":{}}"#, "attachment_type"),
      (#"{"site":"s","number":2,"#, nil), ("7", nil),
      (
        #"{"site":"s","number":2,"attachment_type":"Photo","attachment":{"path":"p"}}"#,
        "attachment.as(Photo).path"
      ),
    ], [false, true])
  func badLines(line: (text: String, field: String?), isOneTransaction: Bool) throws {
    try withTemporaryFile { file in
      try file.store([post(9, photo: "p")])
      var job = try Import(into: file.path, type: "Post")
      job.isOneTransaction = isOneTransaction
      let good = #"{"site":"s","number":1}"#
      let last = #"{"site":"s","number":3}"#
      let report = try job.run(reading: portions(of: "\(good)\n\(line.text)\n\(last)\n"))
      let problem = try #require(report.problems.first)
      #expect(problem.line == 2 && problem.field == line.field, "\(problem)")
      #expect(!problem.message.contains("AnyKey"), "\(problem)")
      #expect(report.nextLine == (isOneTransaction ? 1 : 2))
      #expect(report.inserted == (isOneTransaction ? 0 : 1))
      let numbers = file.posts.all().map(\.number).sorted()
      #expect(numbers == (isOneTransaction ? [9] : [1, 9]))
      // It goes on behind the line that was corrected.
      job.firstLine = try #require(report.nextLine)
      let rest = try job.run(
        reading: portions(of: "\(good)\n{\"site\":\"s\",\"number\":2}\n\(last)\n"))
      #expect(rest.problems.isEmpty && rest.inserted == (isOneTransaction ? 3 : 2), "\(rest)")
      #expect(file.posts.all().map(\.number).sorted() == [1, 2, 3, 9])
    }
  }

  @Test("An object that cannot be stored is found among thousands", arguments: [false, true])
  func oneOfMany(isOneTransaction: Bool) throws {
    try withTemporaryFile { file in
      try file.store([post(-1, photo: "taken")])
      func line(_ number: Int) -> String {
        let path = number == 5500 ? "taken" : "p\(number)"
        return #"{"site":"m","number":\#(number),"attachment_type":"Photo","#
          + #""attachment":{"path":"\#(path)"}}"# + "\n"
      }
      var job = try Import(into: file.path, type: "Post")
      job.isOneTransaction = isOneTransaction
      var progress: [Int] = []
      let report = try job.run(
        reading: portions(of: Data((1...6000).map(line).joined().utf8)),
        progress: { progress.append($0.objects) })
      #expect(report.problems.map(\.line) == [5500])
      #expect(report.inserted == (isOneTransaction ? 0 : 5499), "\(report)")
      #expect(file.posts.where(Post.site == "m").count == report.inserted)
      // What is unique is decided at the end of a transaction.
      #expect(progress == (isOneTransaction ? [5000, 6000] : [5000]))
      #expect(try file.faults(complete: false) == [])
    }
  }

  @Test("A dry run finds all bad lines, compares, and stores nothing")
  func dryRun() throws {
    try withTemporaryFile { file in
      try file.store([post(1, likes: 1), post(2, likes: 2)])
      var job = try Import(into: file.path, type: "Post")
      job.isDryRun = true
      let text = """
        {"site":"s","number":1,"likes":1}
        nothing
        {"site":"s","number":2,"likes":3}
        {"site":"s","number":3,"likes":true}
        {"site":"s","number":4}
        """
      let report = try job.run(reading: portions(of: text))
      #expect(report.problems.map(\.line) == [2, 4])
      #expect(report.unchanged == 1 && report.updated == 1 && report.inserted == 1)
      #expect(file.posts.all().map(\.likes) == [1, 2])
      job.problemLimit = 1
      #expect(try job.run(reading: portions(of: text)).problems.map(\.line) == [2])
    }
  }

  @Test("Records of CSV may have line ends in quotation marks, and any columns")
  func csv() throws {
    try withTemporaryFile { file in
      try file.store([post(9)])
      var job = try Import(into: file.path, type: "Post")
      job.format = .csv
      let text =
        "\u{FEFF}number,site,tags,likes\r\n1,\"a\r\n\"\"b\"\"\",\"[\"\"x\"\"]\",5\r\n2,\"\",,\n"
      let report = try job.run(reading: portions(of: text))
      #expect(report.inserted == 2, "\(report)")
      let posts = file.posts.where(Post.number < 9)
      #expect(posts.map(\.site) == ["a\r\n\"b\"", ""] && posts.map(\.likes) == [5, 0])
      #expect(posts.map(\.tags) == [["x"], []])
      func problem(_ text: String) throws -> ImportProblem? {
        try job.run(reading: portions(of: text)).problems.first
      }
      #expect(try problem("number,site,lkes\n")?.field == "lkes")
      #expect(try problem("number\n1\n")?.field == "site")
      #expect(try problem("number,site,number\n")?.field == "number")
      #expect(try problem("number,site\n1\n")?.line == 2)
      #expect(try problem("number,site\n1,s\nx,s\n")?.line == 3)
      #expect(try problem("number,site\n1,\"s\n2,s\n")?.message.contains("not closed") == true)
      #expect(try problem("number,site\n1,\"s\"s\n")?.line == 2)
      job.firstLine = 3
      #expect(try job.run(reading: portions(of: "number,site\n7,s\n8,s\n")).inserted == 1)
    }
  }

  @Test("Quotation marks with accents, commas and ends of lines survive CSV")
  func accentedQuotes() throws {
    try withTemporaryFile { file in
      let sites = ["\"\u{301}", "a\"\u{FE0F},b", ",\u{301}", "\r\n\u{301}", "\"\"", ""]
      try file.store(sites.map { Post(site: $0, number: 1, tags: [$0]) })
      let data = try exported(file.path, "Post", .csv)
      var job = try Import(
        into: file.path + ".new", type: "Post", schemas: [schemaPath("blog")])
      job.format = .csv
      let report = try job.run(reading: portions(of: data))
      #expect(report.inserted == sites.count && report.problems.isEmpty, "\(report)")
      #expect(try differences(file.path, file.path + ".new").isEmpty)
    }
  }

  @Test("Texts of spaces survive CSV with one column")
  func spaces() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let (schema, path) = ("\(directory)/k.fbs", "\(directory)/k.db")
    try "table K { id: string (primary); } root_type K;"
      .write(toFile: schema, atomically: true, encoding: .utf8)
    let ids = ["a", " ", "\t", "", "  \t"]
    let lines = ids.map { "{\"id\":\"\($0.replacing("\t", with: "\\t"))\"}\n" }.joined()
    let job = try Import(into: path, type: "K", schemas: [schema])
    #expect(try job.run(reading: portions(of: lines)).inserted == ids.count)
    var again = try Import(into: path + ".new", type: "K", schemas: [schema])
    again.format = .csv
    let report = try again.run(reading: portions(of: exported(path, "K", .csv)))
    #expect(report.inserted == ids.count, "\(report)")
    #expect(try differences(path, path + ".new").isEmpty)
  }

  @Test("Words of imported texts are found, and those of replaced texts are not")
  func fullText() throws {
    try withTemporaryFile { file in
      try file.dflat.write(Prose.Essay.self) { txn in
        _ = try txn.insert(Prose.Essay(id: 1, text: "walking slowly"))
        _ = try txn.insert(Prose.Essay(id: 2, text: "sleeping"))
      }
      func found(_ text: String) -> [Int32] {
        file.dflat.fetch(for: Prose.Essay.self).where(Prose.Essay.search(text)).map(\.id)
      }
      #expect(found("walk") == [1])
      let report = try Import(into: file.path, type: "Essay").run(
        reading: portions(
          of: #"{"id":1,"text":"running"}"# + "\n" + #"{"id":3,"text":"a long walk"}"#))
      #expect(report.updated == 1 && report.inserted == 1)
      #expect(found("walk") == [3] && found("run") == [1] && found("sleep") == [2])
      let checked = try DataFile.open(file.path)
      defer { checked.close() }
      #expect(try checked.check().findings.map(\.message) == [])
    }
  }

  @Test(
    "Keys of several fields are the same after an import", arguments: DataFile.ExportFormat.allCases
  )
  func compoundKeys(format: DataFile.ExportFormat) throws {
    try withTemporaryFile { file in
      let slots = [
        Kit.Slot(row: 0, level: -0.1, side: .left, isOpen: false, page: 0),
        Kit.Slot(row: .max, level: 1e300, side: .right, isOpen: true, page: .max, label: ""),
        Kit.Slot(
          row: 7, level: .infinity, side: .right, isOpen: true, page: 1 << 63, label: "a,\n"),
        Kit.Slot(row: 7, level: .leastNonzeroMagnitude, side: .left, isOpen: true, page: 9),
      ]
      try file.dflat.write(Kit.Slot.self) { _ = try $0.insert(contentsOf: slots) }
      let data = try exported(file.path, "Slot", format)
      let new = file.path + ".new"
      var job = try Import(into: new, type: "Slot", schemas: [schemaPath("slot")])
      job.format = format
      #expect(try job.run(reading: portions(of: data)).inserted == 4)
      #expect(try differences(file.path, new).isEmpty)
      #expect(try job.run(reading: portions(of: data)).unchanged == 4)
      let nan = #"{"row":1,"level":"nan","side":"Left","is_open":true,"page":1}"#
      job.format = .jsonLines
      let problem = try job.run(reading: portions(of: nan)).problems.first
      #expect(problem?.line == 1 && problem?.message.contains("level") == true, "\(problem as Any)")
    }
  }

  @Test("The file keeps the schema that its program wrote, with all that it says")
  func keptSchema() throws {
    try withTemporaryFile { file in
      try file.dflat.write(Guild.Writer.self, Guild.Story.self) { txn in
        _ = try txn.insert(Guild.Writer(handle: "ada", name: "Ada", mentor: "bob"))
        _ = try txn.insert(Guild.Story(id: 1, writer: "ada", labels: ["new"]))
      }
      let select = "SELECT group_concat(digest) FROM dflat_schemas"
      let before = try file.sqlite3(select)
      let schema = try file.sqlite3(
        "SELECT count(*) FROM dflat_schemas WHERE instr(schema, CAST('ondelete' AS BLOB)) > 0")
      #expect(Int(schema) ?? 0 > 0)
      for (type, line) in [("Writer", #"{"handle":"bob"}"#), ("Story", #"{"id":2}"#)] {
        let report = try Import(into: file.path, type: type).run(reading: portions(of: line))
        #expect(report.inserted == 1, "\(report)")
      }
      #expect(try file.sqlite3(select) == before)
    }
  }

  @Test("Tables of elements follow an import")
  func sideTables() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = "\(directory)/test.db"
    let workspace = SQLiteWorkspace(filePath: path)
    let chores = Silos(in: workspace)[Chore.self]
    try await chores.save(Chore(id: 1, title: "wash", done: true, tags: ["a", "b"]))
    await workspace.shutdown()
    let file = try DataFile.open(path)
    let type = try #require(file.types.first { $0.table.hasPrefix("chores") })
    var line = Data()
    _ = try file.export(type) { line.append($0) }
    file.close()
    let text = String(decoding: line, as: UTF8.self)
      .replacing(#""id":1"#, with: #""id":2"#).replacing(#""b""#, with: #""c""#)
    let job = try Import(into: path, type: type.table)
    let report = try job.run(reading: portions(of: text))
    #expect(report.inserted == 1, "\(report)")
    let again = SQLiteWorkspace(filePath: path)
    let stored = try again.fetch(for: Canonical<Chore>.self).all().map { try $0.value().tags }
    #expect(stored == [["a", "b"], ["a", "c"]])
    await again.shutdown()
    let checked = try DataFile.open(path)
    defer { checked.close() }
    #expect(try checked.check().findings.map(\.message) == [])
  }

  @Test("A dry run says what the import says of unique values, and of keys that come again")
  func dryRunOfConflicts() throws {
    try withTemporaryFile { file in
      try file.store([post(1, likes: 1, photo: "a"), post(2, likes: 2, photo: "b")])
      func line(_ number: Int, _ photo: String, likes: Int = 0) -> String {
        #"{"site":"s","number":\#(number),"likes":\#(likes),"attachment_type":"Photo","#
          + #""attachment":{"path":"\#(photo)"}}"# + "\n"
      }
      var job = try Import(into: file.path, type: "Post")
      func report(_ lines: [String], dry: Bool) throws -> ImportReport {
        job.isDryRun = dry
        return try job.run(reading: portions(of: lines.joined()))
      }
      // The third line may have the value that the second one gives up.
      let good = [
        line(1, "a", likes: 5), line(1, "c", likes: 5), line(3, "a"), line(1, "c", likes: 5),
        line(3, "a"), line(2, "b", likes: 2),
      ]
      let dry = try report(good, dry: true)
      #expect(file.posts.all().map(\.number).sorted() == [1, 2])
      let real = try report(good, dry: false)
      #expect(dry.problems.isEmpty && real.problems.isEmpty, "\(dry) \(real)")
      #expect(dry.inserted == real.inserted && dry.updated == real.updated)
      #expect(dry.unchanged == real.unchanged && real.objects == 6)
      // A value of a stored object, and one that comes twice.
      let bad = [line(7, "b"), "no\n", line(8, "x"), line(9, "x"), line(10, "y")]
      let found = try report(bad, dry: true)
      #expect(found.problems.map(\.line) == [1, 2, 4] && found.inserted == 2, "\(found)")
      let first = try report(bad, dry: false).problems.first
      #expect(first?.description == found.problems[0].description)
    }
  }

  @Test(
    "Objects exchange unique values in an import, within a transaction",
    arguments: [false, true], [false, true])
  func exchanges(isOneTransaction: Bool, isFar: Bool) throws {
    try withTemporaryFile { file in
      // With many lines in between, they are in different batches.
      let count = isFar ? 6000 : 3
      try file.store((1...count).map { post(Int32($0), photo: "p\($0)") })
      func line(_ number: Int, _ photo: Int) -> String {
        #"{"site":"s","number":\#(number),"attachment_type":"Photo","#
          + #""attachment":{"path":"p\#(photo)"}}"# + "\n"
      }
      // Each gets the value of the next one, and the last one that of the first.
      let lines = (1...count).map { line($0, $0 == count ? 1 : $0 + 1) }.joined()
      var job = try Import(into: file.path, type: "Post")
      job.isOneTransaction = isOneTransaction
      let read = portions(of: Data(lines.utf8), 1 << 16)
      let report = try job.run(reading: read)
      if isFar, !isOneTransaction {
        // The value of the first line of the next batch is still there.
        #expect(report.problems.map(\.line) == [1] && report.updated == 0, "\(report)")
        return
      }
      #expect(report.problems.isEmpty && report.updated == count, "\(report)")
      let photos = file.posts.all().sorted { $0.number < $1.number }.map { post in
        if case .photo(let photo)? = post.attachment { photo.path } else { nil as String? }
      }
      #expect(photos == (1...count).map { "p\($0 == count ? 1 : $0 + 1)" })
      #expect(try file.faults(complete: false) == [])
    }
  }

  @Test("A new file of which nothing is stored is removed", arguments: [false, true])
  func nothingStored(isOneTransaction: Bool) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let new = "\(directory)/new.db"
    func files() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    }
    var job = try Import(into: new, type: "Post", schemas: [schemaPath("blog")])
    job.isOneTransaction = isOneTransaction
    #expect(try job.run(reading: portions(of: "no\n")).problems.count == 1)
    #expect(try files() == [])
    // Only the storage refuses the second one.
    let photo = #""attachment_type":"Photo","attachment":{"path":"p"}}"#
    let twice = (1...2).map { #"{"site":"s","number":\#($0),"# + photo + "\n" }.joined()
    #expect(try job.run(reading: portions(of: twice)).problems.map(\.line) == [2])
    #expect(try files() == (isOneTransaction ? [] : ["new.db"]))
    struct Broken: Error {}
    #expect(throws: Broken.self) { try job.run(reading: { throw Broken() }) }
    #expect(try files() == (isOneTransaction ? [] : ["new.db"]))
  }

  @Test("What cannot be imported is an error that says what to do")
  func errors() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let new = "\(directory)/new.db"
    let missing = #expect(throws: ToolError.self) { try Import(into: new, type: "Post") }
    #expect(missing?.kind == .noSuchFile && missing?.description.contains("--schema") == true)
    let unknown = #expect(throws: ToolError.self) {
      try Import(into: new, type: "Pst", schemas: [schemaPath("blog")])
    }
    #expect(unknown?.description.contains("did you mean 'Post'?") == true)
    #expect(!FileManager.default.fileExists(atPath: new))
    struct Broken: Error {}
    let job = try Import(into: new, type: "Post", schemas: [schemaPath("blog")])
    #expect(throws: Broken.self) { try job.run(reading: { throw Broken() }) }
    let folder = try Import(
      into: "\(directory)/no/new.db", type: "Post", schemas: [schemaPath("blog")])
    let error = #expect(throws: ToolError.self) {
      try folder.run(reading: portions(of: #"{"site":"s","number":1}"#))
    }
    #expect(error?.kind == .storage && error?.description.contains("--from-line 1") == true)
  }
}
