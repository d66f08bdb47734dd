// A file that no program had open when it was opened for reading, so that it is read without locks,
// and that programs use meanwhile.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("A file at rest that a program begins to use")
struct RestingFileTests {
  /// Calls `body` with the path of a file whose posts all have the same number of likes, 0. The
  /// file takes several steps to copy.
  private func withRestingFile(_ body: (String) throws -> Void) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = "\(directory)/test.db"
    try write(path) { txn in
      let author = Blog.Author(handle: "a", name: String(repeating: "n", count: 3000))
      try txn.insert(
        contentsOf: (1...3000).map { Post(site: "s", number: $0, likes: 0, author: author) })
    }
    try body(path)
  }

  /// Writes as a program does that opens the file, and closes it again, which moves the log into
  /// it.
  private func write(_ path: String, _ body: @escaping (WriteContext) throws -> Void) throws {
    let workspace = SQLiteWorkspace(filePath: path)
    try workspace.write(Post.self) { try body($0) }
    workspace.shutdown()
  }

  private func like(_ path: String) throws {
    try write(path) { _ = try $0.update(where: Post.number > 0) { $0.likes += 1 } }
  }

  /// The different numbers of likes in a file.
  private func likes(_ path: String) throws -> Set<Int32> {
    let workspace = SQLiteWorkspace(filePath: path)
    defer { workspace.shutdown() }
    return Set(try workspace.query(Post.self).fetch().map(\.likes))
  }

  @Test("A copy has one state, also if pages change while it is made")
  func copy() throws {
    try withRestingFile { path in
      let data = try DataFile.open(path)
      defer { data.close() }
      let changes = Mutex(0)
      _ = try data.backup(to: path + ".copy") { remaining, total in
        let isFirst = changes.withLock { count in
          count += 1
          return count == 1
        }
        if isFirst, remaining > 0 { #expect(throws: Never.self) { try like(path) } }
      }
      let names = try FileManager.default.contentsOfDirectory(
        atPath: URL(filePath: path).deletingLastPathComponent().path)
      #expect(
        Set(names).subtracting(["test.db-wal", "test.db-shm"]) == ["test.db", "test.db.copy"])
      #expect(try likes(path + ".copy") == [1])
    }
  }

  @Test("A backup in a folder has one state, whole and of the changed pages")
  func folder() throws {
    try withRestingFile { path in
      let folder = path + ".backups"
      for number in 1...2 as ClosedRange<Int32> {
        let data = try DataFile.open(path)
        defer { data.close() }
        let changes = Mutex(0)
        _ = try data.backup(into: folder) { remaining, _ in
          let isFirst = changes.withLock { count in
            count += 1
            return count == 1
          }
          if isFirst, remaining > 0 { #expect(throws: Never.self) { try like(path) } }
        }
        let backup = try #require(try BackupFolder(folder).backups().last)
        try BackupFolder(folder).restore(backup, to: "\(path).restored-\(number)")
        #expect(try likes("\(path).restored-\(number)") == [number])
      }
    }
  }

  @Test("What is committed into a log meanwhile ends no export, and is not in it")
  func export() throws {
    try withRestingFile { path in
      let data = try DataFile.open(path)
      defer { data.close() }
      let workspace = SQLiteWorkspace(filePath: path)
      defer { workspace.shutdown() }
      var lines = 0
      let count = try data.export(try data.type(named: "Post")) { bytes in
        if lines == 0 {
          try workspace.write(Post.self) { _ = try $0.insert(post(9000)) }
        }
        lines += bytes.count { $0 == UInt8(ascii: "\n") }
      }
      #expect(count == 3000 && lines == 3000)
      #expect(try data.count("Post") == 3001)
    }
  }

  @Test("A watch goes on when programs open and close the file")
  func watch() throws {
    try withRestingFile { path in
      let data = try DataFile.open(path)
      defer { data.close() }
      let (stop, began, more) = (
        StopSignal(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
      )
      let keys = Mutex<[[String]]>([])
      let failure = Mutex<(any Error)?>(nil)
      let ended = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        do {
          try data.watch(every: 1, until: stop, began: { began.signal() }) { change in
            keys.withLock { $0.append(change.key) }
            more.signal()
          }
        } catch { failure.withLock { $0 = error } }
        ended.signal()
        more.signal()
      }
      began.expect("the first look")
      for number in 9001...9008 as ClosedRange<Int32> {
        try write(path) { _ = try $0.insert(post(number)) }
        more.expect("a change")
      }
      stop.stop()
      ended.expect("the end of the watch")
      #expect(failure.withLock { $0 == nil })
      #expect(keys.withLock { $0 } == (9001...9008).map { ["s", "\($0)"] })
    }
  }
}
