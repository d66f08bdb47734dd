// Read-only workspaces, and files that cannot be written.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Where nothing can be written")
struct ReadOnlyTests {
  /// Ways to prevent all writes.
  enum Barrier: String, CaseIterable, Sendable {
    /// `chattr +i` on the file: its directory is writable.
    case immutableFile
    /// `chattr +i` on the directory: no file can be created beside it.
    case immutableDirectory
    /// A volume that is mounted read-only.
    case readOnlyVolume
    /// The permissions of the directory and the file; the superuser ignores them.
    case permissions

    /// The barriers that can be set up on this system.
    static let available = allCases.filter { barrier in
      guard let directory = try? makeTemporaryDirectory() else { return false }
      defer { try? FileManager.default.removeItem(atPath: directory) }
      func canMake(_ name: String) -> Bool {
        FileManager.default.createFile(atPath: "\(directory)/\(name)", contents: nil)
      }
      guard canMake("test.db") else { return false }
      let isOpen = barrier.hold(directory) { canMake("a") }
      return isOpen.map { barrier == .immutableFile || !$0 } ?? false
    }

    /// Calls `body` with the barrier in place; nil if it cannot be set up.
    func hold<R>(_ directory: String, _ body: () throws -> R) rethrows -> R? {
      guard Self.run(commands(directory).up) else { return nil }
      defer { lift(directory) }
      return try body()
    }

    /// Removes the barrier.
    func lift(_ directory: String) { _ = Self.run(commands(directory).down) }

    private func commands(_ directory: String) -> (up: [String], down: [String]) {
      switch self {
      case .immutableFile:
        (["chattr", "+i", directory + "/test.db"], ["chattr", "-i", directory + "/test.db"])
      case .immutableDirectory: (["chattr", "+i", directory], ["chattr", "-i", directory])
      case .readOnlyVolume:
        (["mount", "-o", "bind,ro", directory, directory], ["umount", "-l", directory])
      case .permissions:
        (["chmod", "-R", "a-w", directory], ["chmod", "-R", "u+w", directory])
      }
    }

    private static func run(_ command: [String]) -> Bool {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = command
      process.standardError = Pipe()
      guard (try? process.run()) != nil else { return false }
      process.waitUntilExit()
      return process.terminationStatus == 0
    }
  }

  /// A directory with a properly closed file that has a post with one like.
  private func withClosedFile(_ body: (_ directory: String, _ path: String) throws -> Void) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = directory + "/test.db"
    let workspace = TemporaryFile(path: path)
    try workspace.store([post(1, likes: 1, photo: "a")])
    workspace.dflat.shutdown()
    try body(directory, path)
  }

  /// The outcome of a transaction that must not run.
  private func refusal(_ workspace: TemporaryFile) throws -> [StorageError.Cause] {
    let outcome = try workspace.write([Post.self]) { _ in Issue.record("the handler ran") }
    #expect(!outcome.isCommitted)
    return workspace.takeErrors().map(\.cause)
  }

  @Test("There is a way to keep the superuser from writing")
  func barriers() {
    #expect(!Barrier.available.isEmpty)
  }

  @Test(
    "A file that cannot be written is read, and transactions are refused",
    arguments: Barrier.available, [false, true])
  func reading(barrier: Barrier, isReadOnly: Bool) throws {
    try withClosedFile { directory, path in
      let workspace = TemporaryFile(path: path) { $0.isReadOnly = isReadOnly }
      let isHeld: Void? = try barrier.hold(directory) {
        #expect(workspace.posts.all().map(\.number) == [1])
        #expect(workspace.posts.where(Post.likes == 1).count == 1)
        workspace.dflat.fetchWithinASnapshot {
          #expect(workspace.posts.where(Post.likes == 1).count == 1)
          #expect(workspace.posts.where(Post.likes == 2).isEmpty)
        }
        #expect(workspace.takeErrors().isEmpty)
        let causes = try refusal(workspace)
        #expect(causes == [.readOnly] || (!isReadOnly && causes == [.cannotOpen]))
        #expect(workspace.posts.all().count == 1)
      }
      #expect(isHeld != nil)
      #expect(workspace.takeErrors().isEmpty)
      if isReadOnly {
        #expect(try refusal(workspace) == [.readOnly])
      } else {
        // With the barrier removed, the next transaction works, and a file read without locks is
        // reopened.
        try workspace.store([post(2)])
        #expect(workspace.posts.all().count == 2)
      }
      workspace.dflat.shutdown()
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test(
    "External changes to a file that is read without locks are noticed",
    arguments: Barrier.available)
  func foreignChange(barrier: Barrier) throws {
    try withClosedFile { directory, path in
      let workspace = TemporaryFile(path: path) { $0.isReadOnly = true }
      _ = barrier.hold(directory) { #expect(workspace.posts.where(Post.likes == 1).count == 1) }
      let other = TemporaryFile(path: path)
      try other.store([post(2, likes: 1)])
      #expect(workspace.posts.where(Post.likes == 1).count == 2, "while the other has it open")
      other.dflat.shutdown()
      _ = barrier.hold(directory) { #expect(workspace.posts.where(Post.likes == 1).count == 2) }
      workspace.dflat.shutdown()
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test("A snapshot of a file that is read without locks ends with an error when the file changes")
  func snapshotOfChangedFile() throws {
    let barrier = try #require(Barrier.available.first { $0 != .immutableFile })
    try withClosedFile { directory, path in
      let workspace = TemporaryFile(path: path) { $0.isReadOnly = true }
      workspace.dflat.fetchWithinASnapshot {
        _ = barrier.hold(directory) { #expect(workspace.posts.all().count == 1) }
        let other = TemporaryFile(path: path)
        #expect(throws: Never.self) { try other.store([post(2)]) }
        other.dflat.shutdown()
        #expect(workspace.posts.all().isEmpty)
        #expect(workspace.takeErrors().map(\.cause) == [.busy])
      }
      #expect(workspace.posts.all().count == 2)
      workspace.dflat.shutdown()
    }
  }

  @Test("A file that is read without locks and changes meanwhile gives no object twice")
  func valuesOfChangedFile() throws {
    let barrier = try #require(Barrier.available.first { $0 != .immutableFile })
    try withClosedFile { directory, path in
      let workspace = TemporaryFile(path: path) { $0.isReadOnly = true }
      var numbers: [Int32] = []
      let isHeld: Void? = barrier.hold(directory) {
        let error = #expect(throws: StorageError.self) {
          () throws in
          try workspace.dflat.query(Post.self).forEach(Post.number.required) { number in
            numbers.append(number)
            if numbers.count > 1 { return }
            barrier.lift(directory)
            try workspace.tamper("CREATE TABLE other (a)")
          }
        }
        #expect(error?.cause == .busy)
      }
      #expect(isHeld != nil && numbers == [1])
      // What passes nothing on before it is complete begins anew.
      #expect(workspace.posts.all().count == 1)
      workspace.dflat.shutdown()
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test("Commits that are only in the log are not ignored: if they cannot be read, it is an error")
  func logWithoutSharedMemory() throws {
    let barrier = try #require(Barrier.available.first { $0 != .immutableFile })
    try withTemporaryFile { original in
      try original.store([post(1), post(2)])
      let directory = try makeTemporaryDirectory()
      defer { try? FileManager.default.removeItem(atPath: directory) }
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(
          atPath: original.path + suffix, toPath: directory + "/test.db" + suffix)
      }
      let workspace = TemporaryFile(path: directory + "/test.db") { $0.isReadOnly = true }
      _ = barrier.hold(directory) {
        #expect(workspace.posts.all().isEmpty)
        let errors = workspace.takeErrors()
        #expect(errors.map(\.cause) == [.readOnly])
        #expect(errors.first?.message.contains("copy the file") == true)
      }
      #expect(workspace.posts.all().count == 2)
      workspace.dflat.shutdown()
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test(
    "A read-only workspace changes nothing in the file, sees external changes, and has no flags")
  func beside() throws {
    try withTemporaryFile(.file) { writing in
      let reading = TemporaryFile(path: writing.path) { $0.isReadOnly = true }
      #expect(reading.posts.all().isEmpty)
      #expect(reading.takeErrors().map(\.cause) == [.cannotOpen], "the file must exist")
      #expect(try refusal(reading) == [.readOnly])
      #expect(!writing.fileExists())
      try writing.store([post(1)])
      #expect(reading.posts.all().count == 1)
      try writing.store([post(2)])
      #expect(reading.posts.all().count == 2)
      #expect(try refusal(reading) == [.readOnly])
      reading.dflat.shutdown(flags: [.truncate])
      #expect(reading.takeErrors().map(\.cause) == [.readOnly])
      #expect(try writing.sqlite3("PRAGMA journal_mode") == "wal")
    }
  }

  /// A file with 200 posts as a crash leaves it during a change of all of them, outside WAL mode.
  private func crash(_ directory: String) throws -> String {
    try withTemporaryFile { workspace in
      let text = String(repeating: "x", count: 2000)
      try workspace.store((0..<200).map { post($0, photo: text + "\($0)") })
      workspace.dflat.shutdown(flags: [.truncate])
      let program = try Connection(path: workspace.path)
      try program.execute("PRAGMA cache_size = 5")
      try program.begin(.immediate)
      try program.execute("UPDATE blog__post_v1_0 SET p = zeroblob(length(p))")
      let path = directory + "/crashed.db"
      for suffix in ["", "-journal"] {
        try FileManager.default.copyItem(atPath: workspace.path + suffix, toPath: path + suffix)
      }
      try program.rollback()
      return path
    }
  }

  @Test(
    "A change interrupted by a crash is rolled back by a writer, and is invisible to other readers")
  func interruptedChange() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = try crash(directory)
    let before = FileManager.default.contents(atPath: path)
    let reading = TemporaryFile(path: path) { $0.isReadOnly = true }
    let found = reading.posts.all().count
    #expect(found == 0)
    let errors = reading.takeErrors()
    #expect(errors.map(\.cause) == [.readOnly])
    #expect(errors.first?.message.contains("half changed") == true)
    reading.dflat.shutdown()
    #expect(FileManager.default.contents(atPath: path) == before)
    let writing = TemporaryFile(path: path)
    #expect(writing.posts.all().count == 200)
    writing.dflat.shutdown()
    #expect(FileManager.default.contents(atPath: path) != before)
  }

  @Test("A read-only workspace queries without a missing index, and does not try to build it")
  func missingIndex() throws {
    try withClosedFile { _, path in
      let foreign = try Connection(path: path)
      try foreign.execute("DROP TABLE blog__post_v1_0__f10")
      try foreign.close()
      let workspace = TemporaryFile(path: path) { $0.isReadOnly = true }
      #expect(workspace.posts.where(Post.likes == 1).count == 1)
      workspace.dflat.shutdown()
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test("A lock held by another program is waited for until the configured timeout")
  func busy() throws {
    try withTemporaryFile(configure: { $0.busyTimeout = .milliseconds(80) }) { workspace in
      try workspace.store([post(1)])
      let foreign = try workspace.foreignConnection()
      try foreign.begin(.immediate)
      let began = ContinuousClock.now
      #expect(throws: TransactionError.others) { try workspace.store([post(2)]) }
      let waited = ContinuousClock.now - began
      #expect(waited >= .milliseconds(70) && waited < .seconds(400))
      let errors = workspace.takeErrors()
      #expect(errors.map(\.cause) == [.busy])
      let error = errors.first?.underlying as? SQLiteError
      #expect(error?.isBusy == true && error?.sql?.hasPrefix("BEGIN") == true)
      #expect(workspace.posts.all().count == 1, "readers do not wait")
      try foreign.commit()
      try workspace.store([post(2)])
      #expect(workspace.posts.all().count == 2)
    }
  }

  @Test("If no file can be created the handler does not run; once it can, the next one does")
  func directoryAppears() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let workspace = TemporaryFile(path: directory + "/later/test.db")
    for _ in 0..<2 { #expect(try refusal(workspace) == [.cannotOpen]) }
    #expect(workspace.posts.all().isEmpty)
    try FileManager.default.createDirectory(
      atPath: directory + "/later", withIntermediateDirectories: false)
    try workspace.store([post(1)])
    #expect(workspace.posts.all().count == 1)
    workspace.dflat.shutdown()
    #expect(workspace.takeErrors().isEmpty)
  }

  @Test("The configured hook receives errors")
  func hook() throws {
    let told = ErrorBox()
    var configuration = SQLiteWorkspace.Configuration()
    configuration.onError = { told.add($0) }
    configuration.isReadOnly = true
    let dflat = SQLiteWorkspace(filePath: "/no such directory/a.db", configuration: configuration)
    #expect(dflat.fetch(for: Post.self).all().isEmpty)
    #expect(told.count == 1)
    dflat.shutdown()
  }
}
