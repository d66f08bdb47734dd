// Damaged files, and processes that end or find the same damage.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import SQLiteAccess
import Testing

@testable import SQLiteDflat

@Suite("A damaged file and processes")
struct DamagedFileProcessTests {
  @Test("A process that is killed before the exchange leaves the file as it was")
  func killed() async throws {
    let sample = try await DamagedFileSample()
    try FileDamage.firstPageOfZeros.apply(to: sample.path)
    let damaged = try sample.bytes()
    let (path, folder): (String, String) = (sample.path, sample.folder.path)
    // Before anything is done, and when the backup was copied.
    for isCopied in [false, true] {
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [path = path as String, folder = folder as String, isCopied = isCopied as Bool] in
        let configuration = DamagedFileSample.configuration(BackupFolder(folder)) { file in
          if isCopied {
            try file.restoreNewestBackup { remaining, _ in
              if remaining == 0 { kill(getpid(), SIGKILL) }
            }
          }
          kill(getpid(), SIGKILL)
          return .fail
        }
        _ = try await SQLiteWorkspace.open(filePath: path, configuration: configuration)
      }
      #expect(try sample.bytes() == damaged)
      #expect(
        try sample.companions() == (isCopied ? [".restoring", ".restoring-copy"] : []))
    }
    await sample.expectDamage(sample.configuration())
    #expect(try sample.bytes() == damaged)
    try await sample.expectPosts(
      400,
      sample.configuration {
        try $0.restoreNewestBackup()
        return .tryAgain
      })
    #expect(try sample.companions() == [".replaced"])
    #expect(try sample.bytes(".replaced") == damaged)
  }

  @Test("A process that was killed while it exchanged the files has lost no log", arguments: 0...3)
  func interrupted(step: Int) async throws {
    let sample = try await DamagedFileSample()
    let writer = TemporaryFile(path: sample.path)
    try writer.store([post(1000)])
    let copy = sample.directory + "/test.db.copy"
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: sample.path + suffix, toPath: copy + suffix)
    }
    await writer.dflat.shutdown()
    let stamp = try #require(FileStamp(copy))
    let kept = copy + ".replaced"
    // The new name is noted; the log has it; the file has both names; another file is in its place.
    try Data("\(stamp.file.device) \(stamp.file.number) \(kept)\n".utf8)
      .write(to: URL(filePath: copy + ".restoring"))
    if step > 0 { #expect(rename(copy + "-wal", kept + "-wal") == 0) }
    if step > 1 { #expect(link(copy, kept) == 0) }
    if step > 2 {
      try sample.folder.restore(to: copy + ".new")
      #expect(rename(copy + ".new", copy) == 0)
    }
    var looking = SQLiteWorkspace.Configuration()
    looking.isReadOnly = true
    if step == 1 || step == 2 {
      let error = await #expect(throws: StorageError.self) {
        _ = try await SQLiteWorkspace.open(filePath: copy, configuration: looking)
      }
      #expect(error?.cause == .cannotOpen && "\(error as Any)".contains(kept + "-wal"))
    } else {
      let reader = try await SQLiteWorkspace.open(filePath: copy, configuration: looking)
      #expect(reader.fetch(for: Post.self).all().count == (step == 0 ? 601 : 400))
      await reader.shutdown()
    }
    if step == 1 {
      // As long as a program has it open, nothing is put back, and nothing is forgotten.
      let other = open(copy, O_RDONLY)
      let error = await #expect(throws: StorageError.self) {
        _ = try await SQLiteWorkspace.open(filePath: copy)
      }
      #expect(error?.cause == .busy)
      close(other)
    }
    let dflat = try await SQLiteWorkspace.open(filePath: copy)
    #expect(dflat.fetch(for: Post.self).all().count == (step < 3 ? 601 : 400))
    await dflat.shutdown()
    for suffix in [".restoring", ".replaced", ".replaced-wal"] {
      // The log stays with its file.
      let isThere = step == 3 && suffix != ".restoring"
      #expect(FileManager.default.fileExists(atPath: copy + suffix) == isThere, "\(suffix)")
    }
  }

  @Test("At whatever moment a restoring process is killed, one of the files is there, with its log")
  func killedAtAnyMoment() async throws {
    let sample = try await DamagedFileSample()
    let writer = TemporaryFile(path: sample.path)
    try writer.store([post(1000)])
    var counts: Set<Int> = []
    for round in 0..<(isLongRun ? 200 : 8) {
      let copy = "\(sample.directory)/\(round).db"
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: sample.path + suffix, toPath: copy + suffix)
      }
      let (folder, delay) = (sample.folder.path, UInt32.random(in: 0..<3000))
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [copy = copy as String, folder = folder as String, delay = delay as UInt32] in
        try BackupFolder(folder).restore(replacing: copy) { remaining, _ in
          if remaining > 0 { return }
          Thread.detachNewThread {
            usleep(delay)
            kill(getpid(), SIGKILL)
          }
        }
        while true { pause() }
      }
      let dflat = try await SQLiteWorkspace.open(filePath: copy)
      let count = try await dflat.read { try $0.query(Post.self).count() }
      await dflat.shutdown()
      counts.insert(count)
      #expect(count == 601 || count == 400, "after \(delay) µs")
      for suffix in [".restoring", ".restoring-copy"] {
        #expect(!FileManager.default.fileExists(atPath: copy + suffix), "\(suffix), \(delay) µs")
      }
      if count == 601 { continue }
      let kept = try await SQLiteWorkspace.open(filePath: copy + ".replaced")
      #expect(try await kept.read { try $0.query(Post.self).count() } == 601, "after \(delay) µs")
      await kept.shutdown()
    }
    if isLongRun { #expect(counts == [400, 601]) }
    await writer.dflat.shutdown()
  }

  @Test("What a process that was killed has noted of another file is not used")
  func otherNote() async throws {
    let sample = try await DamagedFileSample()
    // The exchange was finished: the log belongs to the file that was replaced.
    let kept = sample.path + ".replaced"
    try Data("an old log".utf8).write(to: URL(filePath: kept + "-wal"))
    for text in ["1 2 \(kept)\n", "", "nonsense", "1 2 /etc/passwd\n"] {
      for suffix in [".restoring", ".restoring-copy", ".restoring-copy-journal"] {
        try Data(text.utf8).write(to: URL(filePath: sample.path + suffix))
      }
      try await sample.expectPosts(600)
      #expect(try sample.companions() == [".replaced-wal"])
    }
  }

  @Test("Two processes that find the damage at once restore it once", .endsSometime)
  func twoProcesses() async throws {
    let sample = try await DamagedFileSample()
    for round in 0..<(isLongRun ? 20 : 2) {
      try FileDamage.head.apply(to: sample.path)
      let damaged = try sample.bytes()
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<2 {
          let (directory, folder) = (sample.directory, sample.folder.path)
          group.addTask { await Self.runProcess(directory, folder, round * 2 + number) }
        }
      }
      let names = try sample.companions()
      #expect(names.count == round + 1 && !names.contains(".restoring"), "\(names)")
      #expect(try sample.bytes(round == 0 ? ".replaced" : ".replaced-\(round + 1)") == damaged)
      try await sample.expectPosts(402)
    }
  }

  /// Opens the file when the other process does, restores it, and adds a post.
  private static func runProcess(_ directory: String, _ folder: String, _ number: Int) async {
    await #expect(processExitsWith: .success) {
      [directory = directory as String, folder = folder as String, number = number as Int] in
      let marks = [number, number ^ 1].map { "\(directory)/ready-\($0)" }
      let configuration = DamagedFileSample.configuration(BackupFolder(folder)) { file in
        try Data().write(to: URL(filePath: marks[0]))
        _ = eventually { FileManager.default.fileExists(atPath: marks[1]) }
        try file.restoreNewestBackup()
        return .tryAgain
      }
      let dflat = try await SQLiteWorkspace.open(
        filePath: directory + "/test.db", configuration: configuration)
      try await dflat.write(Post.self) { try $0.insert(post(Int32(5000 + number))) }
      await dflat.shutdown()
    }
  }

  @Test("Two workspaces of a process restore the file once")
  func twoWorkspaces() async throws {
    let sample = try await DamagedFileSample()
    try FileDamage.listOfTables.apply(to: sample.path)
    let restored = Log<String?>()
    let configuration = sample.configuration { file in
      restored.add(try file.restoreNewestBackup())
      return .tryAgain
    }
    let group = DispatchGroup()
    for number in 0..<4 as Range<Int32> {
      let path = sample.path
      onOwnThread(in: group) {
        let dflat = SQLiteWorkspace(filePath: path, configuration: configuration)
        do {
          try dflat.write(Post.self) { try $0.insert(post(5000 + number)) }
        } catch { Issue.record(error) }
        dflat.shutdown()
      }
    }
    await beyond { group.expect("the ends") }
    #expect(restored.events.compactMap(\.self) == [sample.path + ".replaced"])
    try await sample.expectPosts(404)
  }

  private func beyond(_ body: @escaping @Sendable () -> Void) async {
    try? await beyondTasks { body() }
  }

  @Test("A file that a program has open is not replaced")
  func inUse() async throws {
    let sample = try await DamagedFileSample()
    let other = TemporaryFile(path: sample.path)
    try other.store([post(1000)])
    let bytes = try sample.bytes()
    let refused = #expect(throws: StorageError.self) {
      try sample.folder.restore(replacing: sample.path)
    }
    #expect(refused?.cause == .busy && "\(refused as Any)".contains("\(getpid())"))
    #expect(try sample.bytes() == bytes)
    // Its locks are still there.
    try other.store([post(1001)])
    #expect(other.posts.all().count == 602)
    await other.dflat.shutdown()
    #expect(try sample.companions() == [])
    let kept = try sample.folder.restore(sample.backups[0], replacing: sample.path)
    #expect(kept == sample.path + ".replaced")
    try await sample.expectPosts(200)
    let missing = #expect(throws: StorageError.self) {
      try sample.folder.restore(replacing: sample.directory + "/none.db")
    }
    #expect(missing?.cause == .cannotOpen)
  }

  @Test("A path that is a symbolic link still is one after the file was restored")
  func symbolicLink() async throws {
    let sample = try await DamagedFileSample()
    try FileDamage.head.apply(to: sample.path)
    let alias = sample.directory + "/alias.db"
    let replaced = sample.path + ".replaced"
    try FileManager.default.createSymbolicLink(
      atPath: alias, withDestinationPath: sample.path)
    let dflat = try await SQLiteWorkspace.open(
      filePath: alias,
      configuration: sample.configuration {
        let kept = try $0.restoreNewestBackup()
        #expect(kept == replaced)
        return .tryAgain
      })
    #expect(dflat.fetch(for: Post.self).all().count == 400)
    await dflat.shutdown()
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: alias) == sample.path)
    #expect(try sample.companions() == [".replaced"])
  }
}
