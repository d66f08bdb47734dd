// Checks of what a file contains.

import Dflat
import DflatTestSupport
import Foundation
import MemoryDflat
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Checks of a file")
struct IntegrityTests {
  private typealias Kind = IntegrityFinding.Kind

  private func check(_ file: TemporaryFile) async throws -> [IntegrityFinding] {
    try await file.dflat.checkIntegrity(of: Post.self, Desk.Memo.self)
  }

  @Test("A sound file, an empty one, and an engine without a file have no findings")
  func sound() async throws {
    try await withTemporaryFile(.file) { file in
      #expect(try await check(file).isEmpty && !file.fileExists())
      try file.store((1...30).map { post($0, likes: $0, photo: "\($0)", link: "u") })
      var random = SeededGenerator(seed: 8)
      let memos = (0..<50).map { RandomMemos.memo(Int32($0), &random) }
      try await file.dflat.write(Desk.Memo.self) { txn in
        for memo in memos { _ = try? txn.insert(memo) }
      }
      file.dflat.dictionary["key"] = "value"
      try file.settle()
      #expect(try await check(file) == [])
      let memory = MemoryWorkspace()
      #expect(try await memory.checkIntegrity(of: Post.self).isEmpty)
      await memory.shutdown()
      await #expect(throws: WorkspaceError.shutDown) {
        _ = try await memory.checkIntegrity(of: Post.self)
      }
    }
  }

  @Test("Damaged rows, wrong keys and wrong index rows are found")
  func faults() async throws {
    try await withTemporaryFile { file in
      try file.store((1...9).map { post($0, likes: $0, photo: "\($0)") })
      let table = Post._schema.table
      try file.tamper("UPDATE \(table) SET p = substr(p, 1, 10) WHERE rowid = 2")
      try file.tamper("UPDATE \(table) SET __pk1 = 77 WHERE rowid = 3")
      try file.tamper("UPDATE \(table)__f10 SET f10 = 99 WHERE rowid = 4")
      try file.tamper("DELETE FROM \(table)__f10 WHERE rowid = 5")
      try file.tamper("INSERT INTO \(table)__f10 VALUES (1000, 6)")
      try file.tamper("DROP TABLE \(table)__f20__u1__f4")
      let findings = try await check(file)
      #expect(
        findings.map { [$0.kind.rawValue, $0.table ?? "", "\($0.rowid ?? 0)"] } == [
          [Kind.damagedRow.rawValue, table, "2"], [Kind.wrongKey.rawValue, table, "3"],
          [Kind.wrongIndexRow.rawValue, table + "__f10", "4"],
          [Kind.missingIndexRow.rawValue, table + "__f10", "5"],
          [Kind.orphanIndexRow.rawValue, table + "__f10", "1000"],
        ])
      #expect(
        findings.dropFirst().first?.description
          == "wrongKey: table \(table), row 3: the key columns are not the object's key, "
          + "site: \"s\", number: 3")
      #expect(
        findings.dropFirst(2).first?.message
          == "the index has another value than the object, which has likes: 4")
      #expect(try await file.dflat.checkIntegrity(of: Post.self, limit: 2).count == 2)
      // The check changes nothing.
      #expect(try await check(file) == findings)
    }
  }

  @Test("A damaged compound index is found, and told when it is repaired or built anew")
  func compound() async throws {
    try await withTemporaryFile { file in
      let memos = (1...9).map { Desk.Memo(number: $0, archived: $0 % 2 == 0, sortDate: Int64($0)) }
      try await file.dflat.write(Desk.Memo.self) { _ = try $0.insert(contentsOf: memos) }
      let dates = "desk__memo_v1__x__f6__x__f8"
      let query = file.dflat.query(Desk.Memo.self)
        .where(!Desk.Memo.archived && Desk.Memo.sortDate > 2)
      #expect(try query.explain().indexes == [dates])
      #expect(try query.count() == 4)
      func repair() async throws -> Int {
        _ = file.takeEvents()
        #expect(try query.count() == 4)
        try await file.dflat.indexesReady(for: Desk.Memo.self)
        return file.takeEvents().reduce(0) { sum, event in
          if case .indexBuild("desk__memo_v1", let filled, _) = event { sum + filled } else { sum }
        }
      }
      try file.tamper("UPDATE \(dates) SET f8 = 99 WHERE rowid = 4")
      try file.tamper("DELETE FROM \(dates) WHERE rowid = 5")
      try file.tamper("INSERT INTO \(dates) VALUES (1000, 0, 6)")
      let findings = try await check(file)
      #expect(
        findings.map { [$0.kind.rawValue, $0.table ?? "", "\($0.rowid ?? 0)"] } == [
          [Kind.wrongIndexRow.rawValue, dates, "4"], [Kind.missingIndexRow.rawValue, dates, "5"],
          [Kind.orphanIndexRow.rawValue, dates, "1000"],
        ])
      #expect(findings.first?.message.contains("sort_date: 4") == true, "\(findings)")
      #expect(try await repair() == 2)
      #expect(try await check(file) == [])
      try file.tamper("DELETE FROM \(dates)")
      #expect(try await repair() == 9)
      try file.tamper("DROP TABLE \(dates)")
      #expect(try await repair() == 9)
      #expect(try await check(file) == [])
      #expect(try query.explain().indexes == [dates])
    }
  }

  @Test("An index that is not complete is no finding")
  func unfinished() async throws {
    try await withTemporaryFile { file in
      try file.store((1...9).map { post($0, likes: $0) })
      try file.tamper("DELETE FROM \(Post._schema.table)__f10 WHERE rowid > 5")
      #expect(try await check(file) == [])
    }
  }

  @Test("A damaged file is found, wherever it is damaged")
  func damagedFile() async throws {
    try await withTemporaryFile(.file) { file in
      try file.store(
        (1...200).map { post($0, likes: $0, photo: String(repeating: "x", count: 300) + "\($0)") })
      await file.dflat.shutdown(flags: .truncate)
      let sound = try Data(contentsOf: URL(fileURLWithPath: file.path))
      var random = SeededGenerator(seed: 2)
      let other = file.path + "2"
      var found = 0
      for _ in 0..<20 {
        var data = sound
        for _ in 0..<200 {
          data[Int.random(in: 100..<data.count, using: &random)] = .random(
            in: 0...255, using: &random)
        }
        try data.write(to: URL(fileURLWithPath: other))
        let workspace = SQLiteWorkspace(filePath: other)
        workspace.errorHandler = { _ in }
        do {
          let findings = try await workspace.checkIntegrity(of: Post.self)
          found += findings.isEmpty ? 0 : 1
        } catch let error as StorageError {
          found += error.cause == .corruptFile ? 1 : 0
        }
        await workspace.shutdown()
        for suffix in ["", "-wal", "-shm"] {
          try? FileManager.default.removeItem(atPath: other + suffix)
        }
      }
      #expect(found == 20)
      try Data("no database, but some other text".utf8).write(to: URL(fileURLWithPath: other))
      let workspace = SQLiteWorkspace(filePath: other)
      workspace.errorHandler = { _ in }
      #expect(try await workspace.checkIntegrity(of: Post.self).map(\.kind) == [.damagedFile])
      // Findings are not lost if references cannot be read either.
      let kinds = try await workspace.checkIntegrity(of: Guild.Story.self).map(\.kind)
      #expect(kinds == [.damagedFile, .damagedFile])
      await workspace.shutdown()
    }
  }
}
