// Opening a workspace with errors thrown at once.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Platform
import Testing

@Suite("Opening a workspace")
struct WorkspaceOpeningTests {
  private func inDirectory(_ body: (URL) async throws -> Void) async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await body(URL(fileURLWithPath: directory))
  }

  /// Expects that a workspace cannot be opened, with a reason that contains its path.
  @discardableResult
  private func expectRefusal(
    _ url: URL, _ cause: StorageError.Cause, _ words: String..., isReadOnly: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async -> StorageError? {
    var configuration = SQLiteWorkspace.Configuration()
    configuration.isReadOnly = isReadOnly
    let error = await #expect(throws: StorageError.self, sourceLocation: sourceLocation) {
      _ = try await SQLiteWorkspace.open(url, configuration: configuration)
    }
    #expect(error?.cause == cause, sourceLocation: sourceLocation)
    #expect(error?.path == url.path, sourceLocation: sourceLocation)
    let text = "\(error.map { "\($0)" } ?? "")"
    for word in words + [url.path] {
      #expect(text.contains(word), "\(text)", sourceLocation: sourceLocation)
    }
    #expect(error?.recoverySuggestion?.isEmpty == false, sourceLocation: sourceLocation)
    return error
  }

  @Test("A file with several names, a name that is too long, and a process without descriptors")
  func oddPlaces() async throws {
    try await inDirectory { directory in
      let path = directory.appendingPathComponent("a.db").path
      let errors = Log<String>()
      let dflat = try await SQLiteWorkspace.open(filePath: path)
      try await dflat.write(Post.self) { try $0.insert(post(1)) }
      await dflat.shutdown()
      #expect(link(path, directory.appendingPathComponent("b.db").path) == 0)
      let linked = SQLiteWorkspace(filePath: path)
      linked.errorHandler = { errors.add("\($0)") }
      try await linked.write(Post.self) { try $0.insert(post(2)) }
      await linked.shutdown()
      #expect(errors.events.count == 1)
      #expect(errors.events.first?.contains("the file has 2 names (hard links)") == true)
      let unmade = SQLiteWorkspace(filePath: directory.appendingPathComponent("none.db").path)
      #expect(
        try unmade.query(Post.self).where(Post.likes > 3).explain().plan
          == ["there is no file yet: no object was ever stored"])
      let long = directory.appendingPathComponent(String(repeating: "n", count: 250))
      await expectRefusal(long, .cannotOpen, "too long", "247 bytes")
      await #expect(processExitsWith: .success) { [path = path as String] in
        let dflat = SQLiteWorkspace(filePath: path)
        let errors = Log<String>()
        dflat.errorHandler = { errors.add("\($0)") }
        var taken: [Int32] = []
        while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
        let found = dflat.fetch(for: Post.self).all().count
        // The expectations need some.
        for descriptor in taken { close(descriptor) }
        #expect(found == 0)
        #expect(
          errors.events.first?.contains("no file descriptor is free") == true, "\(errors.events)")
      }
    }
  }

  @Test("By a URL or a path, the file is there when it returns")
  func works() async throws {
    try await inDirectory { directory in
      let url = directory.appendingPathComponent("größe 1.db")
      let dflat = try await SQLiteWorkspace.open(url)
      #expect(FileManager.default.fileExists(atPath: url.path))
      #expect(dflat.filePath == url.path)
      try await dflat.write(Post.self) { try $0.insert(post(1)) }
      await dflat.shutdown()
      let again = try await SQLiteWorkspace.open(filePath: url.path)
      #expect(again.fetch(for: Post.self).all().count == 1)
      await again.shutdown()
      var configuration = SQLiteWorkspace.Configuration()
      configuration.isReadOnly = true
      let reader = try await SQLiteWorkspace.open(url, configuration: configuration)
      #expect(reader.fetch(for: Post.self).all().count == 1)
      await reader.shutdown()
    }
  }

  @Test(
    "Texts in UTF-16 are refused, and the copy that is advised opens",
    arguments: ["UTF-16le", "UTF-16be"])
  func encodings(name: String) async throws {
    try await inDirectory { directory in
      let url = directory.appendingPathComponent("wide.db")
      let connection = try Connection(path: url.path)
      try connection.execute(
        "PRAGMA encoding = '\(name)'; CREATE TABLE own (x); INSERT INTO own VALUES ('Ā')")
      try connection.close()
      let bytes = try Data(contentsOf: url)
      await expectRefusal(url, .cannotOpen, name, "sqlite3 OLD .dump | sqlite3 NEW")
      await expectRefusal(url, .cannotOpen, name, isReadOnly: true)
      let lazy = SQLiteWorkspace(filePath: url.path)
      #expect(throws: StorageError.self) { try lazy.write(Post.self) { _ in } }
      await lazy.shutdown()
      #expect(try Data(contentsOf: url) == bytes)

      let copy = directory.appendingPathComponent("copy.db")
      let shell = Process()
      shell.executableURL = URL(fileURLWithPath: "/bin/sh")
      shell.arguments = ["-c", "sqlite3 '\(url.path)' .dump | sqlite3 '\(copy.path)'"]
      try shell.run()
      shell.waitUntilExit()
      let dflat = try await SQLiteWorkspace.open(copy)
      try await dflat.write(Post.self) { try $0.insert(post(1)) }
      #expect(try dflat.inspect { try $0.value("SELECT x FROM own")?.text } == "Ā")
      await dflat.shutdown()
    }
  }

  @Test("A directory that does not exist, and a path through a file")
  func missingDirectory() async throws {
    try await inDirectory { directory in
      let missing = directory.appendingPathComponent("none")
      await expectRefusal(
        missing.appendingPathComponent("test.db"), .cannotOpen, missing.path, "does not exist",
        "create the directory")
      let file = directory.appendingPathComponent("file")
      try Data().write(to: file)
      await expectRefusal(
        file.appendingPathComponent("test.db"), .cannotOpen, "is a file and no directory")
      await expectRefusal(
        file.appendingPathComponent("a/test.db"), .cannotOpen, "cannot be reached",
        "Not a directory")
      await expectRefusal(directory, .cannotOpen, "it is a directory")
      let loop = directory.appendingPathComponent("loop.db")
      try FileManager.default.createSymbolicLink(
        atPath: loop.path, withDestinationPath: loop.path)
      await expectRefusal(loop, .cannotOpen, "a symbolic link that leads to itself")
      await expectRefusal(
        directory.appendingPathComponent("none.db"), .cannotOpen, "no such file", isReadOnly: true)
      // The initialiser reports nothing before the first transaction, and then the same.
      let workspace = TemporaryFile(path: missing.path + "/test.db")
      #expect(workspace.posts.all().isEmpty && workspace.takeErrors().isEmpty)
      try workspace.write([Post.self]) { _ in Issue.record("the handler ran") }
      let error = try #require(workspace.takeErrors().first)
      #expect(error.cause == .cannotOpen && "\(error)".contains("create the directory"))
    }
  }

  @Test("A directory in place of a file, also when it is only read", arguments: [false, true])
  func directory(isReadOnly: Bool) async throws {
    try await inDirectory { directory in
      await expectRefusal(directory, .cannotOpen, "it is a directory", isReadOnly: isReadOnly)
      var configuration = SQLiteWorkspace.Configuration()
      configuration.isReadOnly = isReadOnly
      let dflat = SQLiteWorkspace(filePath: directory.path, configuration: configuration)
      let error = #expect(throws: StorageError.self) { try dflat.query(Post.self).count() }
      #expect(error?.cause == .cannotOpen && error?.path == directory.path)
      #expect("\(error.map { "\($0)" } ?? "")".contains("it is a directory"))
      #expect(error?.recoverySuggestion == "give the path of a file in it")
      await dflat.shutdown()
    }
  }

  @Test("A path with the shell's name for the home directory")
  func tilde() async throws {
    let error = await #expect(throws: StorageError.self) {
      try await SQLiteWorkspace.open(filePath: "~/dflat tests/notes.db")
    }
    #expect(error?.cause == .cannotOpen)
    #expect(
      error?.recoverySuggestion
        == "Swift does not expand '~': open URL.homeDirectory.appending(path: \"dflat tests/notes.db\")"
    )
  }

  @Test("A file that is not a database", arguments: [false, true])
  func noDatabase(isReadOnly: Bool) async throws {
    try await inDirectory { directory in
      let url = directory.appendingPathComponent("letter.txt")
      let text = Data(String(repeating: "Dear reader, ", count: 100).utf8)
      try text.write(to: url)
      await expectRefusal(
        url, .corruptFile, "no SQLite database", "check the path", isReadOnly: isReadOnly)
      #expect(try Data(contentsOf: url) == text)
    }
  }

  @Test("A missing permission", arguments: ReadOnlyTests.Barrier.available)
  func permission(barrier: ReadOnlyTests.Barrier) async throws {
    try await inDirectory { directory in
      let url = directory.appendingPathComponent("test.db")
      let workspace = TemporaryFile(path: url.path)
      try workspace.store([post(1)])
      await workspace.dflat.shutdown()
      let urls = [url, directory.appendingPathComponent("new.db")]
      let errors = try await beyondTasks {
        barrier.hold(directory.path) { urls.compactMap { failure($0) } }
      }
      let told = try #require(errors).compactMap { $0 as? StorageError }
      // An immutable file is in a directory where another file can be created.
      #expect(told.count == (barrier == .immutableFile ? 1 : 2))
      for error in told {
        #expect([.readOnly, .cannotOpen].contains(error.cause), "\(error)")
        #expect("\(error)".contains(directory.path), "\(error)")
        #expect(error.recoverySuggestion != nil)
      }
    }
  }

  /// Opens in a task, and blocks this thread until it has ended.
  /// - Returns: The error; nil if it succeeded.
  private func failure(_ url: URL) -> (any Error)? {
    let failure = Mutex<(any Error)?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task(executorPreference: TaskQueue()) {
      do { try await SQLiteWorkspace.open(url).shutdown() } catch {
        failure.withLock { $0 = error }
      }
      done.signal()
    }
    done.expect("the workspace")
    return failure.withLock { $0 }
  }

  @Test("SQLite's name for a database in memory is the path of no file")
  func memory() async throws {
    let error = await #expect(throws: StorageError.self) {
      _ = try await SQLiteWorkspace.open(filePath: ":memory:")
    }
    #expect(error?.cause == .cannotOpen)
    #expect(error.map { "\($0)".contains("SQLiteWorkspace.inMemory()") } == true)
  }

  @Test("A URL that is not a file URL")
  func noFileURL() async throws {
    let url = try #require(URL(string: "https://example.org/test.db"))
    let error = await #expect(throws: StorageError.self) {
      _ = try await SQLiteWorkspace.open(url)
    }
    #expect(error?.cause == .cannotOpen)
    #expect("\(error.map { "\($0)" } ?? "")".contains("https://example.org/test.db"))
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = SQLiteWorkspace(url: URL(string: "https://example.org/test.db")!)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("SQLiteWorkspace(url:)") && text.contains("no file URL"), "\(text)")
  }

  @Test("URLs and paths, a default protection level, and memory without settings")
  func initialisers() async throws {
    try await inDirectory { directory in
      let url = directory.appendingPathComponent("test.db")
      let workspaces = [
        SQLiteWorkspace(filePath: url.path), SQLiteWorkspace(url: url),
        SQLiteWorkspace(url: url, configuration: .init()),
        SQLiteWorkspace(url: url, synchronous: .full, writeConcurrency: .serial),
      ]
      #expect(workspaces.allSatisfy { $0.filePath == url.path })
      #expect(!FileManager.default.fileExists(atPath: url.path))
      for (number, dflat) in workspaces.enumerated() {
        try await dflat.write(Post.self) { try $0.insert(post(Int32(number))) }
      }
      #expect(workspaces[0].fetch(for: Post.self).all().count == 4)
      for dflat in workspaces { await dflat.shutdown() }
      let memory = SQLiteWorkspace.inMemory()
      try await memory.write(Post.self) { try $0.insert(post(1)) }
      #expect(memory.fetch(for: Post.self).all().count == 1)
      await memory.shutdown()
    }
  }
}
