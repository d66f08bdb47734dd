// Checks of whole files: what is found, how bad it is, and that programs go on meanwhile.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import SQLiteAccess
import Testing

@testable import SQLiteDflat

@Suite("A check of a file")
struct CheckTests {
  private static let table = Post._schema.table

  private func withChecksums(
    _ body: (TemporaryFile) async throws -> Void
  ) async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let file = TemporaryFile(path: "\(directory)/test.db") { $0.rowChecksums = true }
    try await body(file)
    await file.dflat.shutdown()
  }

  private func lines(_ report: CheckReport) -> [String] {
    report.findings.map {
      "\($0.severity) \($0.kind) \($0.table ?? "-") \($0.row.map(String.init) ?? "-")"
    }
  }

  /// Changes the file without running the triggers that notice it.
  private func tamperUnnoticed(_ file: TemporaryFile, _ sql: String) throws {
    let connection = try file.foreignConnection()
    connection.runsTriggers = false
    try connection.execute(sql)
    try connection.close()
  }

  @Test("A sound file, and one that is not there, have no findings")
  func sound() async throws {
    try await withChecksums { file in
      let empty = try await file.dflat.check()
      #expect(empty.findings.isEmpty && !file.fileExists())
      try file.store((1...30).map { post($0, likes: $0, photo: "\($0)", link: "u") })
      file.dflat.dictionary["key"] = "value"
      file.dflat.dictionary.synchronize()
      var random = SeededGenerator(seed: 8)
      let memos = (0..<50).map { RandomMemos.memo(Int32($0), &random) }
      try await file.dflat.write(Desk.Memo.self) { txn in
        for memo in memos { _ = try? txn.insert(memo) }
      }
      let report = try await file.dflat.check()
      #expect(report.findings == [], "\(report.findings)")
      #expect(Set(report.checkedTypes) == ["Post", "Memo"])
      #expect(report.uncheckedTables == [] && report.nextStep == "do nothing: the file is sound")
      // Another program knows no types.
      let other = TemporaryFile(path: file.path)
      let unknown = try await other.dflat.check()
      #expect(unknown.findings.isEmpty && unknown.checkedTypes.isEmpty)
      #expect(unknown.uncheckedTables == [Self.table, Desk.Memo._schema.table].sorted())
      #expect(unknown.nextStep.hasPrefix("give the schemas"))
      let given = try await other.dflat.check(CheckOptions(of: Post.self, Desk.Memo.self))
      #expect(given.uncheckedTables.isEmpty && given.findings.isEmpty)
      await other.dflat.shutdown()
    }
  }

  @Test("Damage is found with its place, how bad it is, and what to do")
  func damage() async throws {
    try await withChecksums { file in
      try file.store((1...9).map { post($0, likes: $0, photo: "\($0)") })
      file.dflat.dictionary["key"] = "value"
      file.dflat.dictionary.synchronize()
      let connection = try file.foreignConnection()
      var bytes = try #require(
        try connection.value("SELECT p FROM \(Self.table) WHERE rowid = 2")?.blob)
      bytes[bytes.count - 10] ^= 4
      try file.tamper("UPDATE \(Self.table) SET p = ? WHERE rowid = 2", [.blob(bytes)])
      try file.tamper("UPDATE \(Self.table) SET __pk1 = 77 WHERE rowid = 3")
      try file.tamper("UPDATE \(Self.table)__f10 SET f10 = 99 WHERE rowid = 4")
      try file.tamper("UPDATE dflat_schemas SET schema = x'00' WHERE \"table\" = '\(Self.table)'")
      try file.tamper("UPDATE _dflat_index SET verified = 'x' WHERE side = '\(Self.table)__f10'")
      try file.tamper("UPDATE dictitem_v_dflat_internal__ SET p = x'00'")
      let report = try await file.dflat.check()
      #expect(
        lines(report) == [
          "damage damagedRow \(Self.table) 2", "damage wrongKey \(Self.table) 3",
          "damage damagedRow dictitem_v_dflat_internal__ 1",
          "repairable wrongIndexRow \(Self.table)__f10 4",
          "repairable damagedMark _dflat_index -", "note damagedSchema dflat_schemas -",
        ])
      #expect(report.findings.first?.message == "the checksum is not that of the bytes")
      #expect(report.worst == .damage && report.nextStep.hasPrefix("delete the row by its row id"))
      #expect(!report.isCut && report.findings.allSatisfy { !$0.advice.isEmpty })
      var few = CheckOptions()
      few.findingLimit = 2
      let cut = try await file.dflat.check(few)
      #expect(cut.isCut && cut.findings.count == 2)
      // The check changes nothing.
      #expect(try await lines(file.dflat.check()) == lines(report))
      // Without a type the checksum is checked.
      let other = TemporaryFile(path: file.path)
      #expect(try await lines(other.dflat.check()).contains("damage damagedRow \(Self.table) 2"))
      await other.dflat.shutdown()
      try connection.close()
      _ = file.takeErrors()
    }
  }

  @Test("A wrong index that queries use is damage; one that they verify first is not")
  func trusted() async throws {
    try await withChecksums { file in
      try file.store((1...9).map { post($0, likes: $0) })
      try file.settle()
      try tamperUnnoticed(file, "UPDATE \(Self.table)__f10 SET f10 = 99 WHERE rowid = 4")
      let report = try await file.dflat.check()
      #expect(lines(report) == ["damage wrongIndexRow \(Self.table)__f10 4"])
      // The query does give a wrong answer, and the advice helps.
      #expect(file.posts.where(Post.likes == 99).map(\.number) == [4])
      #expect(report.nextStep.hasPrefix("drop the table \(Self.table)__f10"))
      try file.tamper("DROP TABLE \(Self.table)__f10")
      #expect(file.posts.where(Post.likes == 99).isEmpty)
      #expect(try await file.dflat.check().findings.isEmpty)
    }
  }

  @Test("Only a changed default is no finding, before, while and after an index is filled under it")
  func otherDefault() async throws {
    try await withChecksums { file in
      try await file.dflat.write(Press.Article.self) { txn in
        for number in 0..<20 as Range<Int32> {
          let rank = number % 2 == 0 ? 5 : number
          _ = try txn.insert(
            Press.Article(slug: "\(number)", rank: rank, code: number, votes: number))
        }
      }
      let index = "press__article_v1_0__f8"
      let options = CheckOptions(of: PRESS.Article.self)
      // The objects are compared once for each version that the workspace knows.
      func check() async throws -> Set<String> { try await Set(lines(file.dflat.check(options))) }
      #expect(try await check() == [])
      #expect(try await file.dflat.checkIntegrity(of: PRESS.Article.self) == [])
      // The first transaction of the new version marks the index as its own, and as filled nowhere.
      try await file.dflat.write(PRESS.Article.self) { txn in
        _ = try txn.insert(PRESS.Article(slug: "new", rank: 7, code: 100, votes: 100))
      }
      #expect(try await check() == [])
      // What does not depend on the default is compared nevertheless.
      try tamperUnnoticed(file, "UPDATE \(index) SET f8 = 99 WHERE rowid = 4")
      #expect(try await check() == ["repairable wrongIndexRow \(index) 4"])
      try await file.dflat.indexesReady(for: PRESS.Article.self)
      #expect(try await check() == [])
      // Under a complete mark every value is compared.
      try tamperUnnoticed(file, "UPDATE \(index) SET f8 = 5 WHERE rowid = 1")
      #expect(try await check() == ["damage wrongIndexRow \(index) 1"])
    }
  }

  @Test("References without an object and missing fields are notes")
  func notes() async throws {
    try await withChecksums { file in
      let dflat = file.dflat
      try await dflat.write(Guild.Story.self, Guild.Writer.self) { txn in
        _ = try txn.insert(Guild.Writer(handle: "Ada"))
        _ = try txn.insert(Guild.Story(id: 1, title: "a", writer: "Ada"))
        _ = try txn.insert(Guild.Story(id: 2, title: "b", writer: "Nobody", editor: "Ada"))
      }
      let report = try await dflat.check()
      #expect(lines(report) == ["note danglingReference \(Guild.Story._schema.table) 2"])
      #expect(report.findings.first?.message.contains("Nobody") == true)
      #expect(report.nextStep == "do nothing: the file is sound")
      var options = CheckOptions()
      options.checksReferences = false
      #expect(try await dflat.check(options).findings.isEmpty)
      // A table without fields, as another program may write it.
      try await dflat.write(Shop.Order.self) { _ = try $0.insert(Orders.order(1)) }
      let empty: [UInt8] = [8, 0, 0, 0, 4, 0, 4, 0, 4, 0, 0, 0]
      let table = Shop.Order._schema.table
      try file.tamper("UPDATE \(table) SET p = ?", [.blob(empty)])
      let missing = try await dflat.check(options).findings.filter { $0.what == .missingField }
      #expect(missing.count == 1 && missing[0].table == table && missing[0].severity == .note)
      let findings = try await dflat.checkIntegrity(of: Shop.Order.self)
      #expect(!findings.contains { $0.kind == .missingField })
    }
  }

  @Test("Notes end no check, however many there are, and take no place from damage")
  func manyNotes() async throws {
    try await withChecksums { file in
      let dflat = file.dflat
      try await dflat.write(Guild.Story.self, Post.self) { txn in
        for id in 1...20 as ClosedRange<Int64> {
          _ = try txn.insert(Guild.Story(id: id, title: "a", writer: "Nobody"))
        }
        for number in 1...4 as ClosedRange<Int32> { _ = try txn.insert(post(number)) }
      }
      try file.tamper("UPDATE \(Self.table) SET p = x'00' WHERE rowid = 3")
      let both = [
        CheckOptions(of: Guild.Story.self, Post.self),
        CheckOptions(of: Post.self, Guild.Story.self),
      ]
      for var options in both {
        options.findingLimit = 5
        let report = try await dflat.check(options)
        #expect(lines(report).first == "damage damagedRow \(Self.table) 3")
        #expect(report.findings.count == 5 && report.isCut && report.worst == .damage)
        #expect(Set(report.checkedTypes) == ["Story", "Post"])
      }
      var options = CheckOptions()
      options.findingLimit = 1
      let full = try await dflat.check(options)
      #expect(full.findings.map(\.what) == [.damagedRow] && !full.checkedTypes.contains("Post"))
      _ = file.takeErrors()
    }
  }

  @Test("A file that is no database is a finding")
  func noDatabase() async throws {
    try await withChecksums { file in
      try Data("no database, but some other text".utf8).write(to: URL(filePath: file.path))
      let report = try await file.dflat.check(CheckOptions(of: Post.self))
      #expect(lines(report) == ["damage damagedFile - -"])
      #expect(report.nextStep.contains("dflat repair"))
      try FileManager.default.removeItem(atPath: file.path)
    }
  }

  @Test("Transactions go on meanwhile, and the check sees one state")
  func besideWriters() async throws {
    try await withChecksums { file in
      try file.store((1...9000).map { post($0, likes: $0 % 50) })
      try file.settle()
      let calls = Mutex(0)
      var options = CheckOptions()
      options.onProgress = { [dflat = file.dflat] progress in
        let number = calls.withLock { count in
          count += 1
          return count
        }
        // Another thread writes, and the check waits for it.
        let isDone = DispatchSemaphore(value: 0)
        dflat.performChanges([Post.self]) { txn in
          let new = post(Int32(20_000 + number), likes: 3)
          do { try txn.submit(Blog.PostChangeRequest.creationRequest(new)) } catch {
            Issue.record(error)
          }
        } completionHandler: { _ in
          isDone.signal()
        }
        isDone.wait()
      }
      let report = try await file.dflat.check(options)
      #expect(report.findings == [])
      let count = calls.withLock { $0 }
      #expect(count >= 3 && file.posts.all().count == 9000 + count)
    }
  }

  @Test("A cancelled task ends the check")
  func cancellation() async throws {
    try await withChecksums { file in
      try file.store((1...9000).map { post($0, likes: $0 % 50) })
      let hasBegun = AsyncStream<Void>.makeStream()
      let mayGoOn = DispatchSemaphore(value: 0)
      var options = CheckOptions()
      options.onProgress = { progress in
        guard progress.table != nil, progress.rows == 4096 else { return }
        hasBegun.continuation.yield()
        mayGoOn.wait()
      }
      let task = Task { [options] in try await file.dflat.check(options) }
      var begun = hasBegun.stream.makeAsyncIterator()
      await begun.next()
      task.cancel()
      mayGoOn.signal()
      await #expect(throws: CancellationError.self) { _ = try await task.value }
      // A later check is not affected.
      #expect(try await file.dflat.check().findings.isEmpty)
    }
  }

  @Test("Two connections that see the same state find what one finds, in its order")
  func twoConnections() async throws {
    try await withChecksums { file in
      try file.store((1...400).map { post($0, likes: $0, photo: "\($0) \(Array(0...50))") })
      try file.settle()
      try file.tamper("UPDATE \(Self.table) SET __pk1 = 77000 WHERE rowid = 3")
      let root = try #require(
        Int(try file.sqlite3("SELECT rootpage FROM sqlite_master WHERE name = '\(Self.table)'")))
      await file.dflat.shutdown()
      // The count of fragments in the last leaf, which only SQLite's own check looks at.
      let url = URL(filePath: file.path)
      var bytes = try Data(contentsOf: url)
      var leaf = root * 4096
      for start in stride(from: leaf, to: bytes.count, by: 4096) {
        if bytes[start] == 13, bytes[start + 3] == 0 { leaf = start }
      }
      bytes[leaf + 7] ^= 7
      try bytes.write(to: url)
      func check(_ second: Connection?, limit: Int) throws -> (IntegrityCheck, isTogether: Bool) {
        let connection = try Connection(path: file.path, mode: .readOnly)
        defer { try? connection.close() }
        var check = IntegrityCheck(connection, limit, .everything)
        check.leastPages = 1
        check.second = second
        let isTogether = try check.begin()
        for connection in [connection, second] where connection?.isInTransaction == true {
          try connection?.rollback()
        }
        try check.run([TableSQL(Post._schema)])
        return (check, isTogether)
      }
      for limit in [1, 100] {
        let second = try Connection(path: file.path, mode: .readOnly)
        let (one, together) = (try check(nil, limit: limit), try check(second, limit: limit))
        #expect(!one.isTogether && (together.isTogether || ScanSizes.processors == 1))
        #expect(together.0.findings == one.0.findings)
        #expect(one.0.findings.count == min(limit, one.0.findings.count))
        #expect(one.0.findings.first?.kind == .damagedFile)
        #expect(limit == 1 || one.0.findings.contains { $0.kind == .wrongKey })
        #expect(!second.isInTransaction)
        try second.close()
      }
    }
  }

  @Test("Two connections between which another one commits do not check together", .endsSometime)
  func commitsBetween() async throws {
    try await withChecksums { file in
      try file.store((1...400).map { post($0, likes: $0) })
      try file.settle()
      let isDone = Atomic(false)
      let writer = onOwnThread {
        let connection = try file.foreignConnection()
        while !isDone.load(ordering: .acquiring) {
          try connection.execute("UPDATE \(Self.table) SET __pk1 = __pk1 - 1 WHERE rowid = 1")
        }
        try connection.close()
      }
      let (first, second) = (try file.foreignConnection(), try file.foreignConnection())
      var check = IntegrityCheck(first, 1, .everything)
      check.leastPages = 1
      check.second = second
      let query = "SELECT __pk1 FROM \(Self.table) WHERE rowid = 1"
      for _ in 0..<2000 {
        let isTogether = try check.begin()
        if isTogether { #expect(try first.value(query) == second.value(query)) }
        for connection in [first, second] where connection.isInTransaction {
          try connection.rollback()
        }
      }
      isDone.store(true, ordering: .releasing)
      try writer.wait(for: "the writer's end")
      try first.close()
      try second.close()
    }
  }

  @Test("Twice the objects take twice the work")
  func growth() async throws {
    try await withChecksums { file in
      func work() throws -> Int {
        let connection = try file.foreignConnection()
        defer { try? connection.close() }
        var count = 0
        let report = try connection.interrupting(
          every: 100,
          when: {
            count += 1
            return false
          }
        ) { try FileCheck.report(on: connection, of: [Post._schema], CheckOptions()) }
        #expect(report.findings.isEmpty)
        return count
      }
      try file.store((1...2000).map { post($0, likes: $0 % 50) })
      try file.settle()
      let first = try work()
      try file.store((2001...4000).map { post($0, likes: $0 % 50) })
      try file.settle()
      let second = try work()
      #expect(first > 100 && second < first * 22 / 10, "\(first), then \(second)")
    }
  }
}
