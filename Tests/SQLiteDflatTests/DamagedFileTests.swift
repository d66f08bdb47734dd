// Damage that is found when a file is opened: what the error says, and what the hook decides.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import SQLiteAccess
import Testing

@testable import SQLiteDflat

@Suite("A damaged file")
struct DamagedFileTests {
  // MARK: Without a hook

  @Test("The error says what there is, and nothing is changed", arguments: FileDamage.allCases)
  func noHook(damage: FileDamage) async throws {
    let sample = try await DamagedFileSample()
    try damage.apply(to: sample.path)
    let files = try sample.files()
    for hasFolder in [true, false] {
      let error = await sample.expectDamage(sample.configuration(hasFolder: hasFolder))
      let text = "\(error as Any)"
      #expect(text.contains("The newest good backup is of ") == hasFolder, "\(text)")
      #expect(
        text.contains("\"dflat restore \(sample.folder.path) \(sample.path) --replace\"")
          == hasFolder, "\(text)")
      #expect(
        text.contains("\"dflat repair \(sample.path) -o NEW\"") == (damage.content == .pages),
        "\(text)")
      #expect(text.contains("check the path") == (damage.content == .foreign), "\(text)")
      #expect(text.contains("would find nothing") == (damage.content == .nothing), "\(text)")
      #expect(try sample.files() == files)
    }
  }

  @Test("The age of the backup is in words")
  func age() {
    let now = Date(timeIntervalSince1970: 1_795_780_800)
    let ages = [
      (-5.0, "which is in the future"), (1, "1 second old"), (119, "119 seconds old"),
      (120, "2 minutes old"), (7200, "2 hours old"), (28_800, "8 hours old"),
      (200_000, "2 days old"),
    ]
    for (seconds, words) in ages {
      let backup = BackupFolder.Backup(
        number: 1, date: now - seconds, kind: .whole, path: "/b/000001.db", bytes: 1,
        checksum: nil)
      let text = DamagedFile.Advice(
        path: "/my notes.db", content: .pages, backups: BackupFolder("/b"), newest: backup,
        date: now
      ).text
      #expect(text.contains(words), "\(text)")
      if seconds == 28_800 {
        #expect(
          text == """
            keep the file as it is. The newest good backup is of 2026-11-27 04:00 UTC, 8 hours \
            old: restore it with "dflat restore /b '/my notes.db' --replace". Or save what the \
            file still has with "dflat repair '/my notes.db' -o NEW"
            """)
      }
    }
  }

  @Test("A damaged backup is passed over, and the error names the one before it")
  func damagedBackup() async throws {
    let sample = try await DamagedFileSample()
    let (first, second) = (sample.backups[0], sample.backups[1])
    #expect(try sample.folder.newestGoodBackup() == second)
    var bytes = try Data(contentsOf: URL(filePath: second.path))
    bytes[bytes.count / 2] ^= 4
    try bytes.write(to: URL(filePath: second.path))
    #expect(try sample.folder.newestGoodBackup() == first)
    bytes = try Data(contentsOf: URL(filePath: first.path))
    bytes.resetBytes(in: 4096 * 5..<4096 * 9)
    try bytes.write(to: URL(filePath: first.path))
    #expect(try sample.folder.newestGoodBackup() == nil)
    try FileDamage.head.apply(to: sample.path)
    let error = await sample.expectDamage(sample.configuration())
    #expect("\(error as Any)".contains("There is no good backup in \(sample.folder.path)"))
  }

  @Test("Files that are sound, though they look odd, are opened without a question")
  func sound() async throws {
    let asked = Log<DamagedFile>()
    let sample = try await DamagedFileSample()
    let configuration = sample.configuration { file in
      asked.add(file)
      return .fail
    }
    try await sample.expectPosts(600, configuration)
    // A log whose end is missing: what was committed before is read.
    let writer = TemporaryFile(path: sample.path)
    try writer.store([post(1000)])
    try writer.store([post(1001)])
    let copy = sample.directory + "/cut"
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: sample.path + suffix, toPath: copy + suffix)
    }
    await writer.dflat.shutdown()
    let handle = try FileHandle(forWritingTo: URL(filePath: copy + "-wal"))
    try handle.truncate(atOffset: handle.seekToEnd() - 100)
    try handle.close()
    let cut = try await SQLiteWorkspace.open(filePath: copy, configuration: configuration)
    #expect(cut.fetch(for: Post.self).all().count == 601)
    await cut.shutdown()
    // An empty file is a new database.
    let empty = sample.directory + "/empty"
    try Data().write(to: URL(filePath: empty))
    let new = try await SQLiteWorkspace.open(filePath: empty, configuration: configuration)
    #expect(new.fetch(for: Post.self).all().isEmpty)
    await new.shutdown()
    // A directory is no damaged file.
    let error = await #expect(throws: StorageError.self) {
      _ = try await SQLiteWorkspace.open(
        filePath: sample.folder.path, configuration: configuration)
    }
    #expect(error?.cause == .cannotOpen)
    #expect(asked.events.isEmpty)
  }

  @Test("The log of a file that was cut to nothing is kept, whoever looks first")
  func logOfNothing() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let writer = TemporaryFile(path: directory + "/source.db")
    try writer.store((0..<300).map { post($0) })
    let path = directory + "/cut.db"
    let log = try Data(contentsOf: URL(filePath: directory + "/source.db-wal"))
    #expect(log.count > 4096)
    try log.write(to: URL(filePath: path + "-wal"))
    try Data().write(to: URL(filePath: path))
    await writer.dflat.shutdown()
    let uses: [(SQLiteWorkspace) async throws -> Void] = [
      { #expect($0.fetch(for: Post.self).all().isEmpty) },
      { _ = try $0.query(Post.self).count() },
      { dflat in try await dflat.read { _ in _ = try dflat.query(Post.self).count() } },
      { _ = try await $0.check(CheckOptions()) },
      { try await $0.write(Post.self) { try $0.insert(post(1)) } },
      { try await $0.backup(to: directory + "/copy.db") },
      { _ = try await $0.statistics() },
    ]
    for use in uses {
      let asked = Log<DamagedFile.Content>()
      var configuration = SQLiteWorkspace.Configuration()
      configuration.onDamagedFile = { file in
        asked.add(file.content)
        return .fail
      }
      let dflat = SQLiteWorkspace(filePath: path, configuration: configuration)
      do { try await use(dflat) } catch let error as StorageError {
        #expect(error.cause == .corruptFile, "\(error)")
      }
      await dflat.shutdown()
      #expect(asked.events.allSatisfy { $0 == .pages })
      #expect(try Data(contentsOf: URL(filePath: path + "-wal")) == log)
    }
  }

  // MARK: With a hook

  @Test("The hook gets what there is, and decides to fail", arguments: FileDamage.allCases)
  func fail(damage: FileDamage) async throws {
    let sample = try await DamagedFileSample()
    try damage.apply(to: sample.path)
    let files = try sample.files()
    let asked = Log<DamagedFile>()
    let dflat = SQLiteWorkspace(
      filePath: sample.path,
      configuration: sample.configuration { file in
        asked.add(file)
        return .fail
      })
    for _ in 0..<2 {
      let error = #expect(throws: StorageError.self) { try dflat.query(Post.self).count() }
      #expect(error?.cause == .corruptFile)
      await #expect(throws: StorageError.self) {
        try await dflat.write(Post.self) { _ in Issue.record("it runs") }
      }
    }
    await dflat.shutdown()
    let file = try #require(asked.events.first)
    #expect(asked.events.count == 1)
    #expect(file.path == sample.path && file.error.cause == .corruptFile)
    #expect(file.content == damage.content && file.mayBeRepaired == (damage.content == .pages))
    #expect(file.newestGoodBackup == sample.backups[1] && file.backups == sample.folder)
    #expect(file.previousDecisions == 0)
    #expect(try sample.files() == files)
  }

  @Test("The newest backup is restored, and the file kept", arguments: FileDamage.ofDatabases)
  func restore(damage: FileDamage) async throws {
    let sample = try await DamagedFileSample()
    try damage.apply(to: sample.path)
    let damaged = try sample.bytes()
    let log = try? sample.bytes("-wal")
    let kept = Log<String?>()
    try await sample.expectPosts(
      400,
      sample.configuration { file in
        kept.add(try file.restoreNewestBackup())
        return .tryAgain
      })
    #expect(kept.events == [sample.path + ".replaced"])
    #expect(try sample.bytes(".replaced") == damaged)
    #expect((try? sample.bytes(".replaced-wal")) == log)
    #expect(try sample.companions().filter { $0 != ".replaced-wal" } == [".replaced"])
    #expect(try sample.folder.backups() == sample.backups)
    try await sample.expectPosts(400)
  }

  /// What may use the file first.
  enum Use: CaseIterable {
    case open, write, query, snapshot, backup, key, readOnly
  }

  @Test(
    "Whatever uses the file first asks the hook once",
    arguments: Use.allCases, [FileDamage.head, .emptyWithLog])
  func firstUse(use: Use, damage: FileDamage) async throws {
    let sample = try await DamagedFileSample()
    try damage.apply(to: sample.path)
    let asked = Log<Int>()
    var configuration = sample.configuration { file in
      asked.add(file.previousDecisions)
      try file.restoreNewestBackup()
      return .tryAgain
    }
    configuration.isReadOnly = use == .readOnly
    let dflat =
      use == .open || use == .readOnly
      ? try await SQLiteWorkspace.open(filePath: sample.path, configuration: configuration)
      : SQLiteWorkspace(filePath: sample.path, configuration: configuration)
    switch use {
    case .open, .readOnly: break
    case .write: try await dflat.write(Post.self) { try $0.insert(post(9000)) }
    case .query: #expect(try dflat.query(Post.self).count() == 400)
    case .snapshot:
      dflat.fetchWithinASnapshot { #expect(dflat.fetch(for: Post.self).all().count == 400) }
    case .backup: try await dflat.backup(to: sample.directory + "/copy.db")
    case .key:
      #expect(dflat.fetch(for: Post.self).where(Post.site == "s" && Post.number == 7).count == 1)
    }
    #expect(try dflat.query(Post.self).count() == (use == .write ? 401 : 400))
    if use != .readOnly { try await dflat.write(Post.self) { try $0.insert(post(9001)) } }
    #expect(asked.events == [0])
    await dflat.shutdown()
  }

  @Test("The file is moved away, and an empty one begins", arguments: [FileDamage.head, .zeros])
  func moveAway(damage: FileDamage) async throws {
    let sample = try await DamagedFileSample()
    for round in 1...2 {
      // The second time there is a file without any object.
      try (round == 1 ? damage : .zeros).apply(to: sample.path)
      let damaged = try sample.bytes()
      let kept = Log<String?>()
      try await sample.expectPosts(
        0,
        sample.configuration(
          { file in
            kept.add(try file.moveAway())
            return .tryAgain
          }, hasFolder: false))
      let suffix = round == 1 ? ".replaced" : ".replaced-2"
      #expect(kept.events == [sample.path + suffix])
      #expect(try sample.bytes(suffix) == damaged)
    }
    #expect(try sample.companions() == [".replaced", ".replaced-2"])
  }

  @Test("Another file takes the place, if it is a sound database without a log")
  func replace() async throws {
    let sample = try await DamagedFileSample()
    try FileDamage.head.apply(to: sample.path)
    let damaged = try sample.bytes()
    let new = sample.directory + "/new.db"
    try sample.folder.restore(sample.backups[0], to: new)
    try FileManager.default.copyItem(atPath: new, toPath: new + "-wal")
    let errors = Log<StorageError?>()
    try await sample.expectPosts(
      200,
      sample.configuration { file in
        errors.add(failure { _ = try file.replace(by: file.path) })
        errors.add(failure { _ = try file.replace(by: new) })
        unlink(new + "-wal")
        let kept = try file.replace(by: new)
        // It was exchanged, so nothing more is to be done.
        let again = try file.restoreNewestBackup()
        #expect(kept == file.path + ".replaced" && again == nil)
        return .tryAgain
      })
    #expect(errors.events.map { $0?.cause } == [.corruptFile, .cannotOpen])
    #expect(try sample.bytes(".replaced") == damaged)
    #expect(try sample.companions() == [".replaced"])
    #expect(!FileManager.default.fileExists(atPath: new))
  }

  @Test("A hook that asks to try again for ever ends in an error that says so")
  func forEver() async throws {
    let sample = try await DamagedFileSample()
    try FileDamage.head.apply(to: sample.path)
    let asked = Log<Int>()
    let error = await sample.expectDamage(
      sample.configuration { file in
        asked.add(file.previousDecisions)
        return .tryAgain
      })
    #expect(asked.events == Array(0..<10))
    #expect("\(error as Any)".contains("has asked 10 times to try again"), "\(error as Any)")
    #expect("\(error as Any)".contains("The newest good backup is of "))
  }

  @Test("A hook that throws, and one that uses the workspace")
  func failures() async throws {
    struct Refusal: Error {}
    let sample = try await DamagedFileSample()
    try FileDamage.head.apply(to: sample.path)
    let error = await sample.expectDamage(sample.configuration { _ in throw Refusal() })
    #expect(error?.underlying is Refusal)
    #expect("\(error as Any)".contains("onDamagedFile has failed: Refusal()"), "\(error as Any)")
    let workspace = Mutex<SQLiteWorkspace?>(nil)
    let inner = Log<StorageError?>()
    let dflat = SQLiteWorkspace(
      filePath: sample.path,
      configuration: sample.configuration { _ in
        let dflat = workspace.withLock { $0 }
        inner.add(failure { _ = try dflat?.query(Post.self).count() })
        return .fail
      })
    workspace.withLock { $0 = dflat }
    #expect(throws: StorageError.self) { try dflat.query(Post.self).count() }
    #expect("\(inner.events.first as Any)".contains("onDamagedFile uses the workspace"))
    workspace.withLock { $0 = nil }
    await dflat.shutdown()
  }

  @Test(
    "A file that is encrypted or another program's stays", arguments: [FileDamage.text, .random])
  func foreign(damage: FileDamage) async throws {
    let sample = try await DamagedFileSample()
    try damage.apply(to: sample.path)
    let files = try sample.files()
    let new =
      sample.folder.path + "/../" + "backups/"
      + URL(filePath: sample.backups[0].path).lastPathComponent
    let errors = Log<StorageError?>()
    await sample.expectDamage(
      sample.configuration { file in
        errors.add(failure { _ = try file.restoreNewestBackup() })
        errors.add(failure { _ = try file.moveAway() })
        errors.add(failure { _ = try file.replace(by: new) })
        return .tryAgain
      })
    #expect(errors.events.count == 30)
    for error in errors.events {
      #expect(error?.cause == .cannotOpen && "\(error as Any)".contains("left where it is"))
    }
    #expect(try sample.files() == files)
  }

  @Test("A file that is encrypted behind a readable head, and bytes that are nearly a page, stay")
  func nearlyDatabases() async throws {
    let sample = try await DamagedFileSample()
    var bytes = try sample.bytes()
    var random = SystemRandomNumberGenerator()
    func content(_ bytes: Data) throws -> DamagedFile.Content {
      try bytes.write(to: URL(filePath: sample.path))
      return DamagedFile.Content(of: sample.path)
    }
    #expect(try content(bytes) == .pages)
    bytes.replaceSubrange(32..., with: (32..<bytes.count).map { _ in random.next() })
    #expect(try content(bytes) == .foreign)
    #expect(try content(bytes.prefix(4096)) == .nothing)
    #expect(try content(bytes.prefix(32) + Data(count: 100_000)) == .nothing)
    // A leaf with one cell, and with bytes before it that must be free, and counted.
    var page = Data(repeating: 1, count: 4096)
    page.replaceSubrange(0..<10, with: [13, 0, 0, 0, 1, 15, 0, 0, 15, 0])
    #expect(try content(Data(count: 4096) + page) == .pages)
    page[9] = 9
    #expect(try content(Data(count: 4096) + page) == .foreign)
    page[7] = 9
    #expect(try content(Data(count: 4096) + page) == .pages)
  }

  // MARK: Later

  @Test("Damage that is found later asks nobody, and the error says what there is")
  func later() async throws {
    let sample = try await DamagedFileSample()
    let connection = try Connection(path: sample.path)
    let root = try connection.value(
      "SELECT rootpage FROM sqlite_schema WHERE name = 'blog__post_v1_0'")
    let page = Int(try #require(root?.integer))
    try connection.close()
    var bytes = try sample.bytes()
    bytes.resetBytes(in: (page - 1) * 4096..<page * 4096)
    try bytes.write(to: URL(filePath: sample.path))
    let reported = Log<StorageError?>()
    var configuration = sample.configuration { _ in
      Issue.record("the hook is asked")
      return .fail
    }
    configuration.onError = { reported.add($0 as? StorageError) }
    let dflat = try await SQLiteWorkspace.open(filePath: sample.path, configuration: configuration)
    let thrown = await #expect(throws: StorageError.self) {
      try await dflat.read { _ = try $0.fetch(for: Post.self).all() }
    }
    #expect(dflat.fetch(for: Post.self).all().isEmpty)
    let failed = await #expect(throws: (any Error).self) {
      try await dflat.write(Post.self) { try $0.insert(post(9000)) }
    }
    for error in [thrown, reported.events.first ?? nil, failed as? StorageError] {
      let text = "\(error as Any)"
      #expect(error?.cause == .corruptFile, "\(text)")
      #expect(text.contains("The newest backup is of "), "\(text)")
      #expect(text.contains("dflat restore \(sample.folder.path)"), "\(text)")
      #expect(text.contains("dflat repair \(sample.path)"), "\(text)")
    }
    await dflat.shutdown()
    let found = try #require(thrown)
    let file = DamagedFile(sample.path, error: found, backups: sample.folder)
    #expect(file.content == .pages)
    #expect(try file.restoreNewestBackup() == sample.path + ".replaced")
    try await sample.expectPosts(400)
    // What is sound is not replaced, for another process may have done it.
    #expect(try file.restoreNewestBackup() == nil)
    try await sample.expectPosts(400)
    #expect(try sample.companions() == [".replaced"])
  }
}

/// The error of the storage that `body` throws; nil if it succeeds.
private func failure(_ body: () throws -> Void) -> StorageError? {
  do { try body() } catch {
    if let error = error as? StorageError { return error }
    Issue.record(error)
  }
  return nil
}
