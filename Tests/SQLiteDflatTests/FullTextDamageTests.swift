// Damage to full-text tables, and to what is beside them: no write fails because of a damaged
// table, and no sound one is given up.

import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@testable import Dflat
@testable import SQLiteDflat

@Suite("Damaged full-text tables")
struct FullTextDamageTests: FullTextTesting {
  private func greet(_ ids: ClosedRange<Int32>) -> [Story] { ids.map { story($0, "hello n\($0)") } }

  /// Waits until the table is built. A search may meet the damage while that is done.
  private func build(_ file: TemporaryFile) async throws {
    for _ in 0..<3 {
      try await file.dflat.indexesReady(for: Story.self)
      if try isUsed(file) { return }
    }
  }

  // MARK: Writes

  /// Damage that changes no schema, so that only FTS5 can notice it.
  private static let damage = [
    "DELETE FROM \"%_data\"",
    "UPDATE \"%_data\" SET block = x'00' WHERE id = 10",
    "UPDATE \"%_data\" SET block = zeroblob(3)",
    "UPDATE \"%_data\" SET block = randomblob(40) WHERE id > 10",
    "DELETE FROM \"%_data\" WHERE id > 10",
    "DELETE FROM \"%_config\"",
    "DROP TABLE \"%_docsize\"",
    "DROP TABLE \"%_idx\"",
    "DROP TABLE \"%_data\"; CREATE TABLE \"%_data\" (id INTEGER PRIMARY KEY, block BLOB)",
  ]

  private enum Change: CaseIterable {
    case insertion, update, deletion, deletions, several
  }

  @Test("No write fails because the table is damaged", arguments: damage)
  func writes(sql: String) async throws {
    for change in Change.allCases {
      try await withTemporaryFile { file in
        try store(greet(1...9), in: file)
        try file.tamper(sql.replacing("%", with: words))
        var count = 9
        switch change {
        case .insertion:
          try store(greet(10...10), in: file)
          try store(greet(11...11), in: file)
          count = 11
        case .update:
          for _ in 0..<2 { try update(3, in: file) { $0.title = ($0.title ?? "") + " again" } }
        case .deletion:
          try delete(3, in: file)
          try delete(4, in: file)
          count = 7
        case .deletions:
          let deleted = try await file.dflat.write(Story.self) {
            try $0.delete(where: Story.year < 4)
          }
          #expect(deleted.deleted == 3)
          count = 6
        case .several:
          // A type that has not been written creates tables, a search reads what was written.
          try commit([Story.self, Prose.Essay.self, Verse.Poem.self], in: file) { txn in
            for story in greet(10...12) {
              try txn.submit(Tale.StoryChangeRequest.creationRequest(story))
            }
            try txn.submit(
              Prose.EssayChangeRequest.creationRequest(Prose.Essay(id: 1, text: "running")))
            #expect(found(file, "hello").count == 12, "\(sql)")
            try txn.submit(
              Verse.PoemChangeRequest.creationRequest(Verse.Poem(id: 1, title: "abc", text: "d")))
          }
          count = 12
        }
        #expect(found(file, "hello").count == count, "\(sql), \(change)")
        try await build(file)
        #expect(try isUsed(file) && faults(file) == [], "\(sql), \(change)")
        #expect(found(file, "hello").count == count, "\(sql), \(change)")
        #expect(file.takeErrors().allSatisfy { $0.cause == .corruptFile }, "\(sql), \(change)")
      }
    }
  }

  @Test("Transactions that share a commit are all kept when one of them meets damage")
  func sharedCommit() async throws {
    try await withTemporaryFile { file in
      try store(greet(1...9), in: file)
      try file.tamper("UPDATE \"\(words)_data\" SET block = x'00' WHERE id = 10")
      let dflat = file.dflat
      try await withThrowingTaskGroup(of: Void.self) { group in
        for id in 10..<40 as Range<Int32> {
          let story = story(id, "hello n\(id)")
          group.addTask {
            _ = try await dflat.write(Story.self) { try $0.insert(contentsOf: [story]) }
          }
        }
        try await group.waitForAll()
      }
      #expect(found(file, "hello").count == 39)
      try await build(file)
      #expect(try isUsed(file) && faults(file) == [])
      #expect(file.takeErrors().allSatisfy { $0.cause == .corruptFile })
    }
  }

  @Test("Triggers of another program, and damage")
  func triggersAndDamage() async throws {
    try await withTemporaryFile { file in
      try store(greet(1...9), in: file)
      try file.tamper(
        "CREATE TABLE log (id); CREATE TRIGGER noted AFTER UPDATE ON \(main) "
          + "BEGIN INSERT INTO log VALUES (new.rowid); END; "
          + "UPDATE \"\(words)_data\" SET block = x'00' WHERE id = 10")
      try commit(in: file) { txn in
        for id in 1...3 as ClosedRange<Int32> {
          let story = try #require(file.dflat.fetch(for: Story.self).where(Story.id == id).first)
          let request = try #require(Tale.StoryChangeRequest.changeRequest(story))
          request.title = "bye n\(id)"
          try txn.submit(request)
        }
      }
      #expect(found(file, "bye") == [1, 2, 3] && found(file, "hello").count == 6)
      try await build(file)
      #expect(try isUsed(file) && faults(file) == [])
      #expect(file.takeErrors().allSatisfy { $0.cause == .corruptFile })
    }
  }

  @Test("A table that is damaged while it is being built is built anew by the next build")
  func damageDuringBuild() async throws {
    try await withTemporaryFile { file in
      try store(greet(1...1200), in: file)
      await file.dflat.shutdown()
      // As after the first step of a build.
      try file.tamper(
        "DELETE FROM \"\(words)_docsize\" WHERE id > 500; "
          + "UPDATE \"\(words)_data\" SET block = x'00' WHERE id = 10; "
          + "UPDATE _dflat_index SET verified = 500 WHERE side = '\(words)'")
      let other = file.secondWorkspace()
      let error = await #expect(throws: StorageError.self) {
        try await other.dflat.indexesReady(for: Story.self)
      }
      #expect(error?.cause == .corruptFile && error?.table == words)
      try await build(other)
      #expect(try isUsed(other) && faults(other) == [])
      #expect(found(other, "hello").count == 1200)
      #expect(other.takeErrors().allSatisfy { $0.cause == .corruptFile })
      await other.dflat.shutdown()
    }
  }

  // MARK: Searches

  @Test("A search beside another condition finds each row once, whatever the damage")
  func alternatives() async throws {
    for sql in Self.damage where sql.contains("randomblob") || sql.contains("DELETE FROM \"%_data")
    {
      try await withTemporaryFile { file in
        try store(greet(1...60), in: file)
        try file.tamper(sql.replacing("%", with: words))
        // Rows with small numbers are found without the words.
        let either = Story.id < 20 || Story.search("n5*")
        let expected: Int64 = (1...60).reduce(0) { sum, id in
          id < 20 || "\(id)".hasPrefix("5") ? sum + id : sum
        }
        #expect(try file.dflat.query(Story.self).where(either).sum(Story.id) == expected, "\(sql)")
        var titles: [String] = []
        try file.dflat.query(Story.self).where(either).forEach(Story.title.optional) {
          titles.append($0 ?? "")
        }
        #expect(Set(titles).count == titles.count && titles.count == 29, "\(sql)")
        try await build(file)
        #expect(file.takeErrors().allSatisfy { $0.cause == .corruptFile }, "\(sql)")
      }
    }
  }

  @Test("A workspace that cannot write uses the table again when another one has built it anew")
  func readOnlyAfterDamage() async throws {
    try await withTemporaryFile { file in
      try store(greet(1...9), in: file)
      let reader = TemporaryFile(path: file.path) { $0.isReadOnly = true }
      #expect(try isUsed(reader))
      try file.tamper("DELETE FROM \"\(words)_data\"")
      #expect(found(reader, "hello").count == 9)
      #expect(try !isUsed(reader))
      #expect(found(file, "hello").count == 9)
      try await build(file)
      #expect(try isUsed(file) && faults(file) == [])
      #expect(try isUsed(reader))
      #expect(found(reader, "n3") == [3])
      for workspace in [file, reader] {
        #expect(workspace.takeErrors().map(\.cause) == [.corruptFile])
      }
      await reader.dflat.shutdown()
    }
  }

  @Test("Damage that a search finds when the writer has already looked at the table")
  func foundAfterWrite() async throws {
    try await withTemporaryFile { file in
      try store(greet(1...9), in: file)
      try file.tamper("UPDATE \"\(words)_data\" SET block = randomblob(40) WHERE id > 10")
      try update(5, in: file) { $0.year = 99 }
      #expect(found(file, "hello").count == 9)
      try await build(file)
      #expect(try isUsed(file) && faults(file) == [])
      #expect(file.takeErrors().map(\.cause) == [.corruptFile])
    }
  }

  // MARK: Damaged objects

  /// Overwrites the beginning of the page of a closed file that has a text.
  private func damagePage(with text: String, in file: TemporaryFile) throws {
    let connection = try file.foreignConnection()
    try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let size = Int(try connection.pageSize())
    try connection.close()
    let url = URL(fileURLWithPath: file.path)
    var bytes = try Data(contentsOf: url)
    let place = try #require(bytes.range(of: Data(text.utf8))).lowerBound
    let page = place / size * size
    bytes.replaceSubrange(page..<page + 8, with: [UInt8](repeating: 0xFF, count: 8))
    try bytes.write(to: url)
  }

  @Test(
    "A damaged page of the objects ends a build, and is not taken for damage to the words",
    .endsSometime)
  func damagedObjects() async throws {
    try await withTemporaryFile(.file) { file in
      try store((1...1200).map { story($0, "hello n\($0)", "number \($0) of them") }, in: file)
      try file.tamper("DROP TABLE \"\(words)\"")
      await file.dflat.shutdown()
      try damagePage(with: "number 700 of them", in: file)
      let other = file.secondWorkspace()
      for _ in 0..<2 {
        await #expect(throws: StorageError.self) {
          try await other.dflat.indexesReady(for: Story.self)
        }
      }
      let errors = other.takeErrors()
      #expect(!errors.isEmpty)
      #expect(errors.allSatisfy { $0.cause == .corruptFile && $0.table == main }, "\(errors)")
      await other.dflat.shutdown()
    }
  }

  @Test("A search that meets a damaged page of the objects fails, and keeps the table")
  func damagedObjectFound() async throws {
    try await withTemporaryFile(.file) { file in
      try store((1...1200).map { story($0, "hello n\($0)", "number \($0) of them") }, in: file)
      await file.dflat.shutdown()
      try damagePage(with: "number 700 of them", in: file)
      let other = file.secondWorkspace()
      #expect(try isUsed(other))
      let query = other.dflat.query(Story.self)
      for _ in 0..<2 {
        var seen: [String?] = []
        #expect(throws: (any Error).self) { () throws in
          try query.where(Story.search("hello")).forEach(Story.title.optional) { seen.append($0) }
        }
        #expect(Set(seen).count == seen.count)
      }
      #expect(try query.where(Story.search("n3")).fetch().map(\.id) == [3])
      #expect(try isUsed(other))
      #expect(other.takeErrors().allSatisfy { $0.table != words })
      await other.dflat.shutdown()
    }
  }
}
