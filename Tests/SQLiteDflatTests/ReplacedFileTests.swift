// Whatever a person or another program can do to a workspace's file while it is open.
//
// What was acknowledged is never lost without a word: the next transaction is refused, new readers
// report what has happened instead of finding nothing, and a backup has everything.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import SQLiteAccess
import Testing

@testable import SQLiteDflat

@Suite("Files that are replaced while they are open")
struct ReplacedFileTests {
  /// A workspace whose file is in a directory `data` of a directory of the test's own.
  private func withDirectory(
    _ body: (_ workspace: TemporaryFile, _ directory: String) async throws -> Void
  ) async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try FileManager.default.createDirectory(
      atPath: directory + "/data", withIntermediateDirectories: false)
    let workspace = TemporaryFile(path: directory + "/data/test.db") {
      $0.idleDelay = .seconds(3600)
    }
    try await body(workspace, directory)
    await workspace.dflat.shutdown()
    let errors = workspace.takeErrors()
    #expect(errors.isEmpty)
  }

  private func numbers(_ path: String) async throws -> [Int32] {
    let dflat = SQLiteWorkspace(filePath: path)
    let numbers = try await dflat.read { try $0.fetch(for: Post.self).all().map(\.number) }
    await dflat.shutdown()
    return numbers.sorted()
  }

  /// Writes objects, from a number on, until one is refused.
  private func refusal(
    _ dflat: SQLiteWorkspace, from first: Int32, atOnce: Bool
  ) async throws -> (error: StorageError?, acknowledged: [Int32]) {
    var acknowledged: [Int32] = []
    let deadline = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < deadline {
      let number = first + Int32(acknowledged.count)
      do {
        try await dflat.write(Post.self) { try $0.insert(post(number)) }
      } catch let error as StorageError {
        return (error, acknowledged)
      }
      acknowledged.append(number)
      if atOnce { break }
    }
    return (nil, acknowledged)
  }

  @Test(
    "The next transaction is refused, new readers say why, and a backup has everything",
    arguments: Accident.allCases)
  func accident(_ accident: Accident) async throws {
    try await withDirectory { workspace, directory in
      let dflat = workspace.dflat
      for number in 1...5 as ClosedRange<Int32> {
        try await dflat.write(Post.self) { try $0.insert(post(number)) }
      }
      try accident.happen(to: workspace.path, in: directory + "/data")
      let (error, more) = try await refusal(dflat, from: 6, atOnce: !accident.isOfLog)
      #expect(error?.cause == .fileReplaced && error?.path == workspace.path)
      #expect(error?.message.contains(accident.words) == true, "\(String(describing: error))")
      #expect(error?.recoverySuggestion?.contains("backup(to:)") == true)

      dflat.engine.readers.closeIdle()
      _ = workspace.takeErrors()
      await #expect(throws: (any Error).self) {
        try await dflat.read { try $0.fetch(for: Post.self).all() }
      }
      _ = dflat.fetch(for: Post.self).all()
      let reported = workspace.takeErrors()
      #expect(reported.contains { $0.cause == .fileReplaced }, "\(reported)")

      let copy = directory + "/backup.db"
      try await dflat.backup(to: copy)
      let acknowledged = Array(1...5) + more
      #expect(try await numbers(copy) == acknowledged)

      await dflat.shutdown(flags: [.vacuum, .truncate])
      #expect(workspace.takeErrors().contains { $0.cause == .fileReplaced })
      // A log that was removed is saved by the connection that has it open.
      if accident == .logRemoved || accident == .logIndexRemoved {
        #expect(try await numbers(workspace.path) == acknowledged)
      }
    }
  }

  @Test("A file that is put back is used as before", arguments: [Accident.moved, .directoryMoved])
  func putBack(_ accident: Accident) async throws {
    try await withDirectory { workspace, directory in
      let dflat = workspace.dflat
      try await dflat.write(Post.self) { try $0.insert(post(1)) }
      try accident.happen(to: workspace.path, in: directory + "/data")
      let (error, _) = try await refusal(dflat, from: 2, atOnce: true)
      #expect(error?.cause == .fileReplaced)
      let path = accident == .moved ? workspace.path : directory + "/data"
      try FileManager.default.moveItem(atPath: path + ".old", toPath: path)
      try await dflat.write(Post.self) { try $0.insert(post(2)) }
      dflat.engine.readers.closeIdle()
      #expect(dflat.fetch(for: Post.self).all().map(\.number) == [1, 2])
      _ = workspace.takeErrors()
    }
  }

  private final class Progress: Sendable {
    let acknowledged = Mutex<[Int32]>([0])
    let commits = DispatchSemaphore(value: 0)
    let isGone = Atomic(false)
  }

  @Test("All that writers have been told is in the backup, whenever the file is removed")
  func writersBeside() async throws {
    try await withDirectory { workspace, directory in
      let dflat = workspace.dflat
      try await dflat.write(Post.self) { try $0.insert(post(0)) }
      let progress = Progress()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 1...4 as ClosedRange<Int32> {
          group.addTask {
            for number in (writer * 100_000)... {
              let wasGone = progress.isGone.load(ordering: .acquiring)
              do {
                try await dflat.write(Post.self) { try $0.insert(post(number)) }
              } catch let error as StorageError where error.cause == .fileReplaced {
                return
              }
              #expect(!wasGone, "a transaction was committed after the file was removed")
              progress.acknowledged.withLock { $0.append(number) }
              progress.commits.signal()
            }
          }
        }
        group.addTask {
          try await beyondTasks { for _ in 0..<50 { try progress.commits.wait(for: "a commit") } }
          try FileManager.default.removeItem(atPath: workspace.path)
          progress.isGone.store(true, ordering: .releasing)
        }
        try await group.waitForAll()
      }
      try await dflat.backup(to: directory + "/backup.db")
      let stored = try await numbers(directory + "/backup.db")
      #expect(stored == progress.acknowledged.withLock { $0 }.sorted())
      await dflat.shutdown()
      _ = workspace.takeErrors()
    }
  }

  @Test("Two workspaces on one file both notice")
  func twoWorkspaces() async throws {
    try await withDirectory { workspace, directory in
      let second = workspace.secondWorkspace()
      try await workspace.dflat.write(Post.self) { try $0.insert(post(1)) }
      try await second.dflat.write(Post.self) { try $0.insert(post(2)) }
      try FileManager.default.removeItem(atPath: workspace.path)
      for (number, one) in [(3, workspace), (4, second)] as [(Int32, TemporaryFile)] {
        let (error, _) = try await refusal(one.dflat, from: number, atOnce: true)
        #expect(error?.cause == .fileReplaced)
        let copy = directory + "/backup\(number).db"
        try await one.dflat.backup(to: copy)
        #expect(try await numbers(copy) == [1, 2])
        await one.dflat.shutdown()
        _ = one.takeErrors()
      }
    }
  }

  @Test("A relative path keeps its meaning, and links in a path are followed")
  func paths() async throws {
    try await withDirectory { workspace, directory in
      let link = directory + "/link"
      try FileManager.default.createSymbolicLink(
        atPath: link, withDestinationPath: directory + "/data")
      let dflat = SQLiteWorkspace(filePath: link + "/test.db")
      try await dflat.write(Post.self) { try $0.insert(post(1)) }
      try await workspace.dflat.write(Post.self) { try $0.insert(post(2)) }
      #expect(dflat.fetch(for: Post.self).all().count == 2)
      // The link leads elsewhere from now on.
      try FileManager.default.removeItem(atPath: link)
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory)
      let (error, _) = try await refusal(dflat, from: 3, atOnce: true)
      #expect(error?.cause == .fileReplaced)
      try await workspace.dflat.write(Post.self) { try $0.insert(post(3)) }
      await dflat.shutdown()
      #expect(try await numbers(workspace.path) == [1, 2, 3])
    }
    let relative = SQLiteEngine(path: "some/file.db", SQLiteWorkspace.Configuration())
    #expect(relative.path == FileManager.default.currentDirectoryPath + "/some/file.db")
  }

  @Test("A workspace that only reads follows a file that is put in place of its own")
  func readersFollow() async throws {
    try await withDirectory { workspace, directory in
      try await workspace.dflat.write(Post.self) { try $0.insert(post(1)) }
      await workspace.dflat.shutdown()
      let other = SQLiteWorkspace(filePath: directory + "/other.db")
      try await other.write(Post.self) { try $0.insert(post(7)) }
      await other.shutdown()
      let readOnly = TemporaryFile(path: workspace.path) { $0.isReadOnly = true }
      #expect(readOnly.dflat.fetch(for: Post.self).all().map(\.number) == [1])
      #expect(rename(directory + "/other.db", workspace.path) == 0)
      // A reader that is in use all the time looks at the path from time to time.
      #expect(
        eventually { readOnly.dflat.fetch(for: Post.self).all().map(\.number) == [7] })
      #expect(readOnly.dflat.fetch(for: Post.self).where(Post.likes >= 0).map(\.number) == [7])
      await readOnly.dflat.shutdown()
      #expect(readOnly.takeErrors().isEmpty)
    }
  }

  @Test("A file that was only read and is replaced by another one is read again before a change")
  func writersFollow() throws {
    try withTemporaryFile(.file) { workspace in
      try workspace.store([post(1, likes: 1), post(2, likes: 2)])
      workspace.dflat.shutdown()
      let other = TemporaryFile(path: workspace.path + ".other")
      try other.store([post(1, likes: 7), post(2, likes: 8)])
      other.dflat.shutdown()
      let late = TemporaryFile(path: workspace.path)
      let posts = late.posts.all()
      #expect(rename(other.path, workspace.path) == 0)
      let outcome = try late.write([Post.self]) { txn in
        for post in posts {
          let request = try #require(Blog.PostChangeRequest.changeRequest(post))
          request.attachment = .photo(Blog.Photo(path: "\(post.number)"))
          try txn.submit(request)
        }
      }
      #expect(outcome.isCommitted)
      #expect(late.posts.all().map(\.likes) == [7, 8])
      #expect(try late.faults() == [])
      late.dflat.shutdown()
      #expect(late.takeErrors().isEmpty)
    }
  }

  @Test("What was known of the dictionary's rows is not used for those of another file")
  func dictionaryFollows() throws {
    try withTemporaryFile(.file) { workspace in
      func fill(_ file: TemporaryFile, _ items: [(String, String)]) {
        for (key, value) in items {
          file.dflat.dictionary[key] = value
          file.dflat.dictionary.synchronize()
        }
        file.dflat.shutdown()
      }
      fill(workspace, [("color", "red"), ("size", "1")])
      let other = TemporaryFile(path: workspace.path + ".other")
      fill(other, [("size", "2"), ("color", "blue"), ("name", "n")])
      let late = TemporaryFile(path: workspace.path)
      #expect(late.dflat.dictionary["color", String.self] == "red")
      #expect(rename(other.path, workspace.path) == 0)
      late.dflat.dictionary["color"] = "green"
      late.dflat.dictionary.synchronize()
      late.dflat.shutdown()
      #expect(late.takeErrors().isEmpty)
      let last = TemporaryFile(path: workspace.path)
      let found = ["color", "size", "name"].map { last.dflat.dictionary[$0, String.self] }
      #expect(found == ["green", "2", "n"])
      #expect(Set(last.dflat.dictionary.keys) == ["color", "size", "name"])
      last.dflat.shutdown()
    }
  }

  @Test("An index is not trusted for what another file had in place")
  func indexesFollow() throws {
    try withTemporaryFile(.file) { workspace in
      try workspace.store((1...3).map { post($0, likes: $0) })
      workspace.dflat.shutdown()
      let table = "blog__post_v1_0"
      let other = TemporaryFile(path: workspace.path + ".other")
      try FileManager.default.copyItem(atPath: workspace.path, toPath: other.path)
      // Nothing watches over the index, and it is changed; SQLite's version is the same.
      let version = try other.sqlite3("PRAGMA schema_version")
      let guards = try other.sqlite3(
        "SELECT group_concat('DROP TRIGGER \"' || name || '\"', ';') FROM sqlite_master "
          + "WHERE type = 'trigger'")
      try other.tamper(
        "\(guards); UPDATE \(table)__f10 SET f10 = 9; PRAGMA schema_version = \(version)")
      let late = TemporaryFile(path: workspace.path) { $0.isReadOnly = true }
      #expect(late.posts.where(Post.likes == 2).map(\.number) == [2])
      #expect(rename(other.path, workspace.path) == 0)
      late.dflat.engine.readers.closeIdle()
      #expect(late.posts.where(Post.likes == 2).map(\.number) == [2])
      #expect(try late.posts.explain(where: Post.likes == 2).indexes == [])
      late.dflat.shutdown()
      #expect(late.takeErrors().isEmpty)
    }
  }

  @Test("Keys are looked at in the other file, too")
  func keysFollow() throws {
    try withTemporaryFile(.file) { workspace in
      try workspace.store([post(1)])
      workspace.dflat.shutdown()
      let table = "blog__post_v1_0"
      let other = TemporaryFile(path: workspace.path + ".other")
      try FileManager.default.copyItem(atPath: workspace.path, toPath: other.path)
      try other.tamper(
        """
        ALTER TABLE \(table) RENAME TO old;
        CREATE TABLE \(table) (rowid INTEGER PRIMARY KEY AUTOINCREMENT, \
        __pk0 TEXT COLLATE NOCASE, __pk1 INTEGER, p BLOB, UNIQUE (__pk0, __pk1));
        INSERT INTO \(table) SELECT * FROM old;
        DROP TABLE old
        """)
      let late = TemporaryFile(path: workspace.path) { $0.isReadOnly = true }
      #expect(late.posts.where(Post.site == "S").isEmpty)
      #expect(rename(other.path, workspace.path) == 0)
      late.dflat.engine.readers.closeIdle()
      _ = late.posts.where(Post.site == "S")
      #expect(late.takeErrors().contains { $0.message.contains("NOCASE") })
      late.dflat.shutdown()
    }
  }

  @Test("An in-memory workspace whose directory is removed says so")
  func inMemory() async throws {
    let workspace = TemporaryFile(path: nil)
    try await workspace.dflat.write(Post.self) { try $0.insert(post(1)) }
    let directory = URL(fileURLWithPath: workspace.path).deletingLastPathComponent()
    try FileManager.default.removeItem(at: directory)
    let (error, _) = try await refusal(workspace.dflat, from: 2, atOnce: true)
    #expect(error?.cause == .fileReplaced)
    try withTemporaryPath { _ in }
    let target = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: target) }
    try await workspace.dflat.backup(to: target + "/saved.db")
    #expect(try await numbers(target + "/saved.db") == [1])
    await workspace.dflat.shutdown()
    _ = workspace.takeErrors()
  }

  // MARK: What does no harm

  @Test("Programs that work with the file as SQLite does are in nobody's way")
  func harmless() async throws {
    try await withDirectory { workspace, directory in
      let dflat = workspace.dflat
      for number in 1...50 as ClosedRange<Int32> {
        try await dflat.write(Post.self) { try $0.insert(post(number)) }
      }
      let all = Array(1...50 as ClosedRange<Int32>)
      // A hard link, permissions, a vacuum, another journal mode, a checkpoint that cuts the log.
      #expect(link(workspace.path, directory + "/link.db") == 0)
      #expect(chmod(workspace.path, 0o444) == 0)
      try await dflat.write(Post.self) { try $0.insert(post(51)) }
      #expect(chmod(workspace.path, 0o644) == 0)
      #expect(try workspace.sqlite3("VACUUM") == "")
      try await dflat.write(Post.self) { try $0.insert(post(52)) }
      #expect(try workspace.sqlite3("PRAGMA journal_mode = DELETE").contains("locked"))
      #expect(try workspace.sqlite3("PRAGMA wal_checkpoint(TRUNCATE)").hasPrefix("0"))
      try await dflat.write(Post.self) { try $0.insert(post(53)) }
      dflat.engine.readers.closeIdle()
      #expect(dflat.fetch(for: Post.self).all().map(\.number).sorted() == all + [51, 52, 53])
      // A restored copy is a change like any other.
      try await dflat.backup(to: directory + "/backup.db")
      try await dflat.write(Post.self) { try $0.insert(post(54)) }
      #expect(try workspace.sqlite3(".restore \(directory)/backup.db") == "")
      #expect(dflat.fetch(for: Post.self).all().count == 53)
      try await dflat.write(Post.self) { try $0.insert(post(55)) }
      #expect(dflat.fetch(for: Post.self).all().count == 54)
    }
  }

  /// Changes of the contents, which only reading can notice.
  enum Damage: CaseIterable, Sendable {
    case cutInTheMiddle, logCutToNothing, logCutInTheMiddle, logOverwritten
  }

  @Test(
    "What is missing in damaged files is an error, and never an empty result",
    arguments: Damage.allCases)
  func damage(_ damage: Damage) async throws {
    try await withDirectory { workspace, directory in
      let dflat = workspace.dflat
      for number in 1...200 as ClosedRange<Int32> {
        try await dflat.write(Post.self) { try $0.insert(post(number)) }
        // Some of the objects are in the file, the others in the log.
        if number == 100 {
          #expect(try workspace.sqlite3("PRAGMA wal_checkpoint(TRUNCATE)").hasPrefix("0"))
        }
      }
      let log = workspace.path + "-wal"
      func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
      }
      switch damage {
      case .cutInTheMiddle: #expect(truncate(workspace.path, try size(workspace.path) / 2) == 0)
      case .logCutToNothing: #expect(truncate(log, 0) == 0)
      case .logCutInTheMiddle: #expect(truncate(log, try size(log) / 2) == 0)
      case .logOverwritten:
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        try file.write(contentsOf: Data(repeating: 0x5a, count: try size(log)))
        try file.close()
      }
      dflat.engine.readers.closeIdle()
      for round in 1...2 {
        let found = dflat.fetch(for: Post.self).all().count
        let errors = workspace.takeErrors()
        #expect(found == 200 || !errors.isEmpty, "\(found) objects, and no error")
        if damage == .logCutToNothing, round == 1 {
          #expect(errors.contains { $0.cause == .fileReplaced }, "\(errors)")
        }
        _ = try? await dflat.write(Post.self) { try $0.insert(post(1000)) }
        _ = try? await dflat.write(Post.self) { try $0.delete(post(1000)) }
        dflat.engine.readers.closeIdle()
      }
      await dflat.shutdown()
      _ = workspace.takeErrors()
    }
  }

  // MARK: Backups

  @Test("A backup is one state, beside transactions; it overwrites nothing and leaves nothing")
  func backups() async throws {
    try await withDirectory { workspace, directory in
      let dflat = workspace.dflat
      let copy = directory + "/backup.db"
      await #expect(throws: StorageError.self) { try await dflat.backup(to: copy) }
      #expect(!FileManager.default.fileExists(atPath: copy))
      for number in 1...300 as ClosedRange<Int32> {
        try await dflat.write(Post.self) { try $0.insert(post(number)) }
      }
      async let more: Void = {
        for number in 301...400 as ClosedRange<Int32> {
          try await dflat.write(Post.self) { try $0.insert(post(number)) }
        }
      }()
      try await dflat.backup(to: copy)
      try await more
      let stored = try await numbers(copy)
      #expect(stored.count >= 300 && stored == Array(1...Int32(stored.count)))
      // Nothing is overwritten.
      for path in [copy, workspace.path, directory + "/missing/backup.db"] {
        let error = await #expect(throws: StorageError.self) {
          try await dflat.backup(to: path)
        }
        #expect(error?.cause == .cannotOpen && error?.path == path)
      }
      #expect(try await numbers(copy) == stored)
    }
  }
}
