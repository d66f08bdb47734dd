// Backups in a folder: whole ones, and those of changed pages.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import SQLiteAccess
import SeededRandom
import Testing

@testable import SQLiteDflat

@Suite("Backups in a folder")
struct BackupFolderTests {
  /// A workspace whose file and backups are in a directory of the test's own.
  private func withBackups(
    _ configure: (inout SQLiteWorkspace.Configuration) -> Void = { _ in },
    _ body: (_ file: TemporaryFile, _ folder: BackupFolder, _ directory: String) async throws ->
      Void
  ) async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let file = TemporaryFile(path: directory + "/test.db", configure)
    try await body(file, BackupFolder(directory + "/backups"), directory)
    await file.dflat.shutdown()
    let errors = file.takeErrors()
    #expect(errors.isEmpty)
  }

  /// What SQLite's own program says of a file's content.
  private func dump(_ path: String) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["sqlite3", "file:\(path)?immutable=1", ".dump", "PRAGMA integrity_check"]
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: data, as: UTF8.self)
  }

  /// The content of a backup, restored.
  private func dump(_ backup: BackupFolder.Backup, _ folder: BackupFolder) throws -> String {
    let path = folder.path + "-restored.db"
    try folder.restore(backup, to: path)
    defer { unlink(path) }
    return try dump(path)
  }

  @Test("Every backup that is kept can be restored, and is what there was", .endsSometime)
  func random() async throws {
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    for _ in 0..<(isLongRun ? 40 : 4) { try await run(&random, "DFLAT_SEED=\(seed)") }
  }

  private func run(_ random: inout SeededGenerator, _ seed: Comment) async throws {
    let keep = [nil, 1, 2, 3, 5].randomElement(using: &random)!
    var local = random
    try await withBackups { file, folder, directory in
      var expected: [Int: String] = [:]
      var next: Int32 = 0
      for _ in 0..<8 {
        // Without an object there is no file.
        let count = Int32.random(in: (next == 0 ? 1 : 0)...300, using: &local)
        if count > 0 {
          try await file.dflat.write(Post.self) { [next] transaction in
            for number in next..<next + count {
              try transaction.insert(
                post(number, photo: String(repeating: "text \(number) ", count: 20)))
            }
          }
        }
        next += count
        if local.oneIn(3) {
          let number = Int32.random(in: 0...max(1, next), using: &local)
          try await file.dflat.write(Post.self) {
            _ = try $0.delete(where: Post.number < number)
          }
        }
        if local.oneIn(6) { try await file.dflat.vacuum() }
        let made = try await file.dflat.backup(into: folder.path, keep: keep)
        let copy = directory + "/copy.db"
        try await file.dflat.backup(to: copy)
        expected[made.number] = try dump(copy)
        unlink(copy)
        let kept = try folder.backups()
        #expect(kept.last == made)
        #expect(kept.count >= min(keep ?? 8, expected.count))
        if let keep { #expect(kept.count < 2 * max(2, keep)) }
        #expect(kept.first?.kind == .whole)
        for backup in kept {
          let content = try dump(backup, folder)
          #expect(content == expected[backup.number], seed)
        }
      }
    }
    random = local
  }

  @Test("A backup after a small change has the changed pages alone")
  func size() async throws {
    try await withBackups { file, folder, _ in
      try file.store(
        (0..<20_000).map { post($0, photo: "\($0) " + String(repeating: "x", count: 100)) })
      let whole = try await file.dflat.backup(into: folder.path)
      #expect(whole.kind == .whole)
      let progress = Log<Int>()
      try await file.dflat.backup(to: folder.path + "-copy.db") { remaining, total in
        #expect(total * 4096 == whole.bytes)
        progress.add(remaining)
      }
      #expect(progress.events.last == 0 && progress.events.count > 1)
      #expect(progress.events == progress.events.sorted(by: >))
      let nothing = try await file.dflat.backup(into: folder.path)
      #expect(nothing.kind == .changes)
      #expect(nothing.bytes == ChangedPages.headSize)
      try await file.dflat.write(Post.self) {
        try $0.insert(post(-1, photo: "new"))
      }
      let pages = try changedPages(file, since: whole, folder)
      let changes = try await file.dflat.backup(into: folder.path)
      #expect(changes.kind == .changes)
      #expect(changes.bytes <= pages * 4096 * 3 / 2 && changes.bytes > 4096)
      #expect(try folder.backups() == [whole, nothing, changes])
    }
  }

  /// How many pages of a file differ from those of a backup, by comparing bytes.
  private func changedPages(
    _ file: TemporaryFile, since backup: BackupFolder.Backup, _ folder: BackupFolder
  ) throws -> Int {
    let copy = folder.path + "-now.db"
    let connection = try file.foreignConnection()
    try connection.backup(to: copy)
    try connection.close()
    defer { unlink(copy) }
    let (old, new) = (
      try Data(contentsOf: URL(filePath: backup.path)), try Data(contentsOf: URL(filePath: copy))
    )
    return stride(from: 0, to: new.count, by: 4096).count { start in
      start >= old.count || old[start..<start + 4096] != new[start..<start + 4096]
    }
  }

  @Test("A backup that is damaged, missing or exchanged is refused, and another chain begins")
  func damage() async throws {
    try await withBackups { file, folder, directory in
      for number in 1...4 as ClosedRange<Int32> {
        let count: Int32 = number == 1 ? 3000 : 10
        try file.store((0..<count).map { post(number * 10_000 + $0) })
        try await file.dflat.backup(into: folder.path)
      }
      let backups = try folder.backups()
      #expect(backups.map(\.kind) == [.whole, .changes, .changes, .changes])
      let good = try backups.map { try dump($0, folder) }
      for (index, backup) in backups.enumerated() {
        let bytes = try Data(contentsOf: URL(filePath: backup.path))
        for place in [0, 9, 40, 70, 100, bytes.count / 2, bytes.count - 1] {
          var damaged = bytes
          damaged[place] ^= 0x10
          try damaged.write(to: URL(filePath: backup.path))
          try expectRefusal(of: backups[index...], folder)
          try expectGood(backups[..<index], good, folder)
        }
        try bytes.prefix(bytes.count - 1).write(to: URL(filePath: backup.path))
        try expectRefusal(of: backups[index...], folder)
        try FileManager.default.moveItem(atPath: backup.path, toPath: directory + "/away")
        try expectRefusal(of: backups[(index + 1)...], folder)
        try FileManager.default.moveItem(atPath: directory + "/away", toPath: backup.path)
        if index == 0 {
          // A program has written to the whole one.
          let connection = try Connection(path: backup.path)
          // Nothing but one value has changed, so the structure of what is restored would be sound.
          try connection.execute(
            "PRAGMA journal_mode = DELETE; "
              + "UPDATE blog__post_v1_0 SET p = zeroblob(length(p)) WHERE rowid = 1000")
          try connection.close()
          try expectRefusal(of: backups[0...], folder)
        }
        try bytes.write(to: URL(filePath: backup.path))
      }
      try expectGood(backups[...], good, folder)
      var bytes = try Data(contentsOf: URL(filePath: backups[3].path))
      bytes[70] ^= 1
      try bytes.write(to: URL(filePath: backups[3].path))
      let next = try await file.dflat.backup(into: folder.path)
      #expect(next.kind == .whole && next.number == 5)
      #expect(try dump(next, folder) == good[3])
    }
  }

  @Test("A backup that is not in the folder is refused, and none is restored in its place")
  func absent() async throws {
    try await withBackups { file, folder, directory in
      let other = BackupFolder(directory + "/others")
      for number in 1...3 as ClosedRange<Int32> {
        try file.store((0..<(number == 1 ? 1000 : 3)).map { post(number * 10_000 + $0) })
        try await file.dflat.backup(into: folder.path)
        try await file.dflat.backup(into: other.path)
      }
      let backups = try folder.backups()
      try expectRefusal(of: try other.backups()[...], folder)
      // The folder by another name.
      let sameFolder = BackupFolder(directory + "/others/../backups")
      try expectGood(backups[...], try backups.map { try dump($0, folder) }, sameFolder)
      unlink(backups[2].path)
      try expectRefusal(of: [backups[2]], folder)
    }
  }

  @Test("A restored file has its name when it is whole, and replaces no other one")
  func restoredName() async throws {
    try await withBackups { file, folder, directory in
      try file.store(
        (0..<15_000).map { post($0, photo: "\($0) " + String(repeating: "y", count: 500)) })
      try await file.dflat.backup(into: folder.path)
      let path = directory + "/restored.db"
      var calls = 0
      try folder.restore(to: path) { left, _ in
        if left > 0 { calls += 1 }
        let isThere = FileManager.default.fileExists(atPath: path)
        #expect(!isThere)
      }
      #expect(calls > 0)
      unlink(path)
      let error = #expect(throws: StorageError.self) {
        try folder.restore(to: path) { _, _ in
          try? Data("other".utf8).write(to: URL(filePath: path))
        }
      }
      #expect(error?.cause == .cannotOpen, "\(error as Any)")
      #expect(try Data(contentsOf: URL(filePath: path)) == Data("other".utf8))
      let names = try FileManager.default.contentsOfDirectory(atPath: directory)
      #expect(!names.contains { $0.contains("unfinished") }, "\(names)")
    }
  }

  @Test("If an earlier backup cannot be read, another chain begins")
  func unreadable() async throws {
    try await withBackups { file, folder, _ in
      for number in 1...2 as ClosedRange<Int32> {
        try file.store((0..<(number == 1 ? 1000 : 3)).map { post(number * 10_000 + $0) })
        try await file.dflat.backup(into: folder.path)
      }
      let last = try #require(try folder.backups().last)
      unlink(last.path)
      try FileManager.default.createDirectory(
        atPath: last.path, withIntermediateDirectories: false)
      let next = try await file.dflat.backup(into: folder.path)
      #expect(next.kind == .whole && next.number == 3)
    }
  }

  @Test("A chain ends before it has more files than a process may open")
  func longChain() async throws {
    try await withBackups { file, folder, _ in
      try file.store(
        (0..<5000).map { post($0, photo: "\($0) " + String(repeating: "y", count: 500)) })
      for number in 0...100 as ClosedRange<Int32> {
        try file.store([post(100_000 + number)])
        try await file.dflat.backup(into: folder.path, keep: 1000)
      }
      let kinds = try folder.backups().map(\.kind)
      #expect(kinds.count == 101)
      #expect(kinds.indices.filter { kinds[$0] == .whole } == [0, 100])
    }
  }

  @Test("A backup of another history is refused, though the first page is the same in both")
  func otherHistory() async throws {
    try await withBackups { file, folder, directory in
      let other = BackupFolder(directory + "/others")
      func pin(_ pinned: [Int32: Bool], _ folder: BackupFolder) async throws {
        try await file.dflat.write(Post.self) { txn in
          for (number, isPinned) in pinned {
            try txn.update(post(number)) { $0.isPinned = isPinned }
          }
        }
        try await file.dflat.backup(into: folder.path)
      }
      try file.store((0..<3000).map { post($0) })
      try await file.dflat.backup(into: folder.path)
      try await file.dflat.backup(into: other.path)
      try await pin([0: true], folder)
      try await pin([0: false, 1500: true], other)
      try await pin([0: true, 1500: false, 2900: true], folder)
      let backups = try folder.backups()
      let last = try #require(backups.last)
      #expect(backups.map(\.kind) == [.whole, .changes, .changes])
      let foreign = try #require(other.backups().last)
      func firstPage(_ backup: BackupFolder.Backup, _ folder: BackupFolder) throws -> Data {
        let path = directory + "/\(folder == other).db"
        try folder.restore(backup, to: path)
        return try Data(contentsOf: URL(filePath: path)).prefix(4096)
      }
      #expect(try firstPage(backups[1], folder) == firstPage(foreign, other))
      try Data(contentsOf: URL(filePath: foreign.path)).write(to: URL(filePath: backups[1].path))
      try expectRefusal(of: [last], folder)
    }
  }

  @Test("A backup that claims more pages than it can have is refused, and writes none of them")
  func claims() async throws {
    try await withBackups { file, folder, _ in
      for number in 1...2 as ClosedRange<Int32> {
        try file.store((0..<(number == 1 ? 3000 : 10)).map { post(number * 10_000 + $0) })
        try await file.dflat.backup(into: folder.path)
      }
      let backup = try #require(try folder.backups().last)
      let path = backup.path
      var pages = try ChangedPages(headOf: PlainFile(reading: path))
      pages.pageCount = Int(UInt32.max)
      var bytes = try Data(contentsOf: URL(filePath: path))
      bytes.replaceSubrange(0..<ChangedPages.headSize, with: pages.head)
      try bytes.write(to: URL(filePath: path))
      try expectRefusal(of: [backup], folder)
    }
  }

  @Test("A size of pages that no database has is refused, whichever file claims it")
  func pageSizes() async throws {
    try await withBackups { file, folder, _ in
      for number in 1...2 as ClosedRange<Int32> {
        try file.store((0..<(number == 1 ? 3000 : 10)).map { post(number * 10_000 + $0) })
        try await file.dflat.backup(into: folder.path)
      }
      let backups = try folder.backups()
      var bytes = try Data(contentsOf: URL(filePath: backups[1].path))
      let sound = bytes
      var pages = try ChangedPages(headOf: PlainFile(reading: backups[1].path))
      // The product of these is more than the largest number.
      (pages.pageSize, pages.pageCount, pages.entries) = (1 << 31, Int(UInt32.max), Int(UInt32.max))
      bytes.replaceSubrange(0..<ChangedPages.headSize, with: pages.head)
      try bytes.write(to: URL(filePath: backups[1].path))
      try expectRefusal(of: [backups[1]], folder)
      try sound.write(to: URL(filePath: backups[1].path))
      // No power of 2, and 8 bytes at a time do not end with the page.
      var whole = try Data(contentsOf: URL(filePath: backups[0].path))
      (whole[16], whole[17]) = (2, 1)
      try whole.write(to: URL(filePath: backups[0].path))
      try expectRefusal(of: backups[...], folder)
    }
  }

  private func expectRefusal(
    of backups: ArraySlice<BackupFolder.Backup>, _ folder: BackupFolder
  ) throws {
    for backup in backups {
      let error = #expect(throws: StorageError.self) {
        try folder.restore(backup, to: folder.path + "-restored.db")
      }
      #expect(error?.cause == .corruptFile || error?.cause == .cannotOpen, "\(error as Any)")
      #expect(!FileManager.default.fileExists(atPath: folder.path + "-restored.db"))
    }
  }

  private func expectGood(
    _ backups: ArraySlice<BackupFolder.Backup>, _ good: [String], _ folder: BackupFolder
  ) throws {
    for (index, backup) in backups.enumerated() {
      #expect(try dump(backup, folder) == good[index])
    }
  }

  @Test("What a backup that was killed has left is removed, and one that is stopped leaves nothing")
  func unfinished() async throws {
    try await withBackups { file, folder, _ in
      try file.store(
        (0..<15_000).map { post($0, photo: "\($0) " + String(repeating: "y", count: 500)) })
      let engine = file.dflat.engine
      let first = try await file.dflat.backup(into: folder.path)
      try Data([1, 2, 3]).write(to: URL(filePath: folder.path + "/000009-x.db.unfinished"))
      try file.store([post(-1)])
      for isWhole in [false, true] {
        let target = isWhole ? BackupFolder(folder.path + "/other") : folder
        var calls = 0
        let error = #expect(throws: StorageError.self) {
          try engine.backup(into: target, keeping: 1) { _, _ in
            calls += 1
            return calls < 2
          }
        }
        #expect(error?.underlying is SQLiteError)
        #expect(try target.backups() == (isWhole ? [] : [first]))
        let names = try FileManager.default.contentsOfDirectory(atPath: target.path).sorted()
        #expect(!names.contains { $0.contains("unfinished") }, "\(names)")
      }
    }
  }

  @Test("Two backups at a time are refused, not mixed")
  func lock() async throws {
    try await withBackups { file, folder, _ in
      try file.store([post(1)])
      let engine = file.dflat.engine
      var inner: StorageError?
      _ = try engine.backup(into: folder, keeping: nil) { _, _ in
        do { _ = try engine.backup(into: folder, keeping: nil) { _, _ in true } } catch {
          inner = error as? StorageError
        }
        return true
      }
      #expect(inner?.cause == .busy)
      #expect(try folder.backups().count == 1)
    }
  }

  @Test("A damaged database makes no backup, and removes none")
  func damagedSource() async throws {
    try await withBackups { file, folder, directory in
      try file.store(
        (0..<5000).map { post($0, photo: "\($0) " + String(repeating: "z", count: 200)) })
      let good = try await file.dflat.backup(into: folder.path)
      await file.dflat.shutdown()
      var bytes = try Data(contentsOf: URL(filePath: file.path))
      for page in 20..<60 { bytes[page * 4096] ^= 0xFF }
      try bytes.write(to: URL(filePath: file.path))
      let dflat = SQLiteWorkspace(filePath: file.path)
      for target in [folder.path, directory + "/other"] {
        let error = await #expect(throws: StorageError.self) {
          try await dflat.backup(into: target, keep: 1)
        }
        #expect(error?.cause == .corruptFile)
      }
      let copy = directory + "/copy.db"
      let copied = await #expect(throws: StorageError.self) { try await dflat.backup(to: copy) }
      #expect(copied?.cause == .corruptFile && "\(copied as Any)".contains("so is its copy"))
      #expect(!FileManager.default.fileExists(atPath: copy))
      await dflat.shutdown()
      #expect(try folder.backups() == [good])
      #expect(try BackupFolder(directory + "/other").backups() == [])
    }
  }

  @Test("A row with a wrong checksum makes no backup, and removes none")
  func damagedRow() async throws {
    try await withBackups {
      $0.rowChecksums = true
    } _: { file, folder, directory in
      try file.store((0..<100).map { post($0, photo: "photo \($0)") })
      let good = try await file.dflat.backup(into: folder.path, keep: 1)
      await file.dflat.shutdown()
      let connection = try Connection(path: file.path)
      try connection.execute(
        """
        UPDATE blog__post_v1_0 SET p = substr(p, 1, length(p) - 6) || x'7F' \
        || substr(p, length(p) - 4) WHERE rowid = 51
        """)
      try connection.close()
      var configuration = SQLiteWorkspace.Configuration()
      configuration.rowChecksums = true
      let dflat = SQLiteWorkspace(filePath: file.path, configuration: configuration)
      let error = await #expect(throws: StorageError.self) {
        try await dflat.backup(into: folder.path, keep: 1)
      }
      #expect(error?.cause == .corruptFile && error?.rowid == 51, "\(error as Any)")
      await dflat.shutdown()
      #expect(try folder.backups() == [good])
    }
  }

  @Test("Transactions go on while a backup is made, and it has one state", .endsSometime)
  func writers() async throws {
    try await withBackups { file, folder, _ in
      try file.store(
        (0..<5000).map { post($0, photo: "\($0) " + String(repeating: "w", count: 300)) })
      try await file.dflat.backup(into: folder.path)
      let dflat = file.dflat
      let isDone = Atomic(false)
      let writer = onOwnThread {
        var number: Int32 = 10_000
        while !isDone.load(ordering: .acquiring) {
          // Two objects in each transaction.
          try dflat.write(Post.self) { [number] in
            try $0.insert(post(number))
            try $0.insert(post(number + 1))
          }
          number += 2
        }
      }
      for _ in 0..<10 { try await dflat.backup(into: folder.path, keep: 4) }
      isDone.store(true, ordering: .releasing)
      try writer.wait(for: "the writer's end")
      for (index, backup) in try folder.backups().enumerated() {
        let path = folder.path + "-\(index).db"
        try folder.restore(backup, to: path)
        let restored = SQLiteWorkspace(filePath: path)
        let count = try await restored.read { try $0.query(Post.self).count() }
        #expect(count % 2 == 0)
        await restored.shutdown()
      }
    }
  }
}
