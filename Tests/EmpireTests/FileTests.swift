// A store's directory: reader slots, and files that are removed, moved or replaced while they are
// open.

import Empire
import Foundation
import Testing

@Suite("Files of a store")
struct FileTests {
  private func makeDirectories(_ url: URL) throws -> (data: String, copy: String) {
    for name in ["data", "copy"] {
      try FileManager.default.createDirectory(
        at: url.appendingPathComponent(name), withIntermediateDirectories: false)
    }
    return (url.appendingPathComponent("data").path, url.appendingPathComponent("copy").path)
  }

  private func names(_ path: String) throws -> [String] {
    try Store(path: path).withTransaction(readOnly: true) { context in
      let people: [Person] = try Person.select(in: context, city: "A")
      return people.map(\.name)
    }
  }

  @Test(
    "A transaction fails after the file was removed, and a backup has everything",
    arguments: [true, false])
  func removed(locking: Bool) throws {
    try withTemporaryDirectory { url in
      let (data, copy) = try makeDirectories(url)
      let store =
        locking
        ? Store(database: try LockingDatabase(path: data))
        : Store(database: try Database(path: data))
      for name in ["1", "2"] { try store.insert(Person(city: "A", name: name, age: 1)) }
      try FileManager.default.removeItem(atPath: data + "/data.mdb")
      #expect(throws: MDBError.fileReplaced) {
        try store.insert(Person(city: "A", name: "3", age: 1))
      }
      #expect(throws: MDBError.failure(Int(EBUSY), "")) {
        try store.withTransaction { _ in try store.backup(to: copy) }
      }
      try store.backup(to: copy)
      #expect(try names(copy) == ["1", "2"])
    }
  }

  @Test("Transactions that share a commit all fail, and what was awaited before is in the backup")
  func background() async throws {
    try await withTemporaryDirectory { url in
      let (data, copy) = try makeDirectories(url)
      let store = try BackgroundStore(path: data)
      try await store.withTransaction { try $0.insert(Person(city: "A", name: "1", age: 1)) }
      try FileManager.default.moveItem(atPath: data, toPath: data + ".old")
      await withTaskGroup(of: Void.self) { group in
        for number in 2...20 {
          group.addTask {
            await #expect(throws: MDBError.fileReplaced) {
              try await store.withTransaction {
                try $0.insert(Person(city: "A", name: "\(number)", age: 1))
              }
            }
          }
        }
      }
      try store.backup(to: copy)
      #expect(try names(copy) == ["1"])
    }
  }

  private static func fill(_ store: Store, _ count: Int) throws {
    for number in 0..<count {
      try store.insert(Triple(a: number, b: 0, c: "", note: String(repeating: "x", count: 100_000)))
    }
  }

  /// Writes so much that the map grows.
  static func fill(_ directory: String) throws {
    let database = try LockingDatabase(path: directory, mapSize: .growing(from: 1 << 20))
    try fill(Store(database: database), 40)
  }

  @Test("A backup can be made after another process has let the file grow")
  func backupOfGrown() throws {
    try withTemporaryDirectory { url in
      let (data, copy) = try makeDirectories(url)
      let database = try LockingDatabase(path: data, mapSize: .growing(from: 1 << 20))
      let store = Store(database: database)
      try store.insert(Person(city: "A", name: "1", age: 1))
      let child = try ChildProcess.start("fill", URL(filePath: data))
      child.waitUntilExit()
      try store.backup(to: copy)
      #expect(try names(copy) == ["1"])
      #expect(try Store(path: copy).count(of: Triple.self) == 40)
    }
  }

  static func openReplaced(_ directory: String) {
    let error = #expect(throws: MDBError.fileReplaced) { try LockingDatabase(path: directory) }
    #expect(error?.description.contains("while another process had") == true)
  }

  @Test(
    "A file that was replaced while a process has it open is not opened, and loses nothing",
    arguments: [40, 41, 42])
  func restored(commits: Int) throws {
    try withTemporaryDirectory { url in
      let (data, copy) = try makeDirectories(url)
      do {
        let backup = Store(database: try LockingDatabase(path: copy))
        for age in 1...commits { try backup.insert(Person(city: "A", name: "\(age)", age: age)) }
      }
      do {
        let store = Store(database: try LockingDatabase(path: data))
        for age in 1...3 { try store.insert(Person(city: "A", name: "old", age: age)) }
        #expect(rename(copy + "/data.mdb", data + "/data.mdb") == 0)
        let child = try ChildProcess.start("open a replaced file", URL(filePath: data))
        child.waitUntilExit()
        #expect(child.terminationStatus == 0)
        #expect(throws: MDBError.fileReplaced) {
          try store.insert(Person(city: "A", name: "new", age: 4))
        }
      }
      let store = Store(database: try LockingDatabase(path: data))
      #expect(try store.count(of: Person.self) == commits)
      try store.insert(Person(city: "A", name: "new", age: 4))
      #expect(try store.count(of: Person.self) == commits + 1)
    }
  }

  #if os(Linux)
    /// Writes more than half of the map, without address space for a larger one.
    static func fillWithLittleSpace(_ directory: String) throws {
      let database = try LockingDatabase(path: directory, mapSize: .growing(from: 64 << 20))
      let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        .split(separator: " ").first.flatMap { UInt($0) }
      let space = try #require(pages) * UInt(sysconf(Int32(_SC_PAGESIZE))) + (100 << 20)
      var limit = rlimit(rlim_cur: rlim_t(space), rlim_max: rlim_t(space))
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
      try fill(Store(database: database), 400)
    }

    @Test("The rest of the map can be used when there is no address space for a larger one")
    func littleSpace() throws {
      try withTemporaryDirectory { url in
        let child = try ChildProcess.start("fill with little space", url)
        child.waitUntilExit()
        #expect(child.terminationStatus == 0)
        #expect(try Store(url: url).count(of: Triple.self) == 400)
      }
    }
  #endif

  static func openOnFullDisk(_ directory: String) throws {
    let error = #expect(throws: MDBError.failure(Int(ENOSPC), "")) {
      try LockingDatabase(path: directory)
    }
    let hasDataFile = FileManager.default.fileExists(atPath: directory + "/data.mdb")
    #expect(error?.description.contains(hasDataFile ? "data.mdb" : "lock.mdb") == true)
    #expect(error?.description.contains("transaction") == false)
    // Nothing is left that could not be opened.
    try FileManager.default.removeItem(atPath: directory + "/full")
    let store = Store(database: try LockingDatabase(path: directory))
    try store.insert(Person(city: "A", name: "1", age: 1))
    #expect(try store.count(of: Person.self) == 1)
  }

  #if os(Linux)
    @Test(
      "Opening on a full disk is an error, and works when there is space",
      arguments: [65_536, 65_536 - 8_192 - 4_096])
    func fullDisk(occupied: Int) throws {
      try withTemporaryDirectory { url in
        // In a mount namespace of its own, where that is allowed. The lock file has 8 KiB.
        let script = """
          mount -t tmpfs -o size=64k none "$0" || exit 77
          head -c \(occupied) /dev/zero > "$0/full"
          exec "$@"
          """
        let child = try ChildProcess.start(
          "open on a full disk", url,
          through: ["unshare", "-rm", "sh", "-c", script, url.path(percentEncoded: false)])
        child.waitUntilExit()
        #expect(child.terminationReason == .exit)
        #expect([0, 1, 77].contains(child.terminationStatus))
        if child.terminationStatus == 1 { Issue.record("the child has failed, or 'unshare' has") }
      }
    }
  #endif

  @Test("A directory is opened for as many readers as are asked for; an empty path is refused")
  func readers() throws {
    #expect(throws: MDBError.failure(Int(ENOENT), "")) { try Store(path: "") }
    #expect(throws: MDBError.failure(Int(ENOENT), "")) { try LockingDatabase(path: "") }
    try withTemporaryDirectory { url in
      let store = Store(
        database: try LockingDatabase(url: url, mapSize: .growing(from: 1 << 20), maxReaders: 2))
      try store.insert(Person(city: "A", name: "1", age: 1))
      // Each thread has a transaction of its own. The main one of this test has two, by two stores.
      let held = DispatchSemaphore(value: 0)
      let done = DispatchSemaphore(value: 0)
      for _ in 0..<2 {
        Thread.detachNewThread {
          do {
            try store.withTransaction(readOnly: true) { _ in
              held.signal()
              done.wait()
            }
          } catch { Issue.record(error) }
          held.signal()
        }
      }
      held.wait()
      held.wait()
      let error = #expect(throws: MDBError.readersFull) {
        try store.withTransaction(readOnly: true) { _ in }
      }
      #expect(error?.recoverySuggestion?.contains("maxReaders") == true)
      done.signal()
      done.signal()
      held.wait()
      held.wait()
      try store.withTransaction(readOnly: true) { _ in }
    }
  }
}
