// Copies of files: damaged ones, read-only ones, ones that other programs write, and files with
// tables of another schema.

import Dflat
import DflatTestSupport
import Foundation
import MemoryDflat
import Platform
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Copies of files")
struct CopyTests {
  private func error(
    _ source: any Workspace, _ target: any Workspace
  ) async -> CopyError? {
    await #expect(throws: CopyError.self) { try await source.copy(Post.self, to: target) }
  }

  @Test("Damaged objects are not left behind without a word")
  func damaged() async throws {
    try await withTemporaryFile(.file) { source in
      try source.store((1...5).map { post($0) })
      try source.tamper("UPDATE blog__post_v1_0 SET p = x'00' WHERE rowid IN (2, 4)")
      let target = MemoryWorkspace()
      guard case .damaged("blog__post_v1_0", 2)? = await error(source.dflat, target) else {
        Issue.record("another error")
        return
      }
      #expect(Set(source.takeErrors().map(\.rowid)) == [2, 4])
      try source.tamper("DELETE FROM blog__post_v1_0 WHERE rowid IN (2, 4)")
      try await source.dflat.copy(Post.self, to: target)
      #expect(target.fetch(for: Post.self).all().map(\._rowid) == [1, 3, 5])
      await target.shutdown()
    }
  }

  @Test("A table of another schema in the target is told, and not changed")
  func otherSchema() async throws {
    try await withTemporaryFile(.file) { target in
      let source = TemporaryFile(path: nil)
      try source.store([post(1)])
      try target.tamper(
        "CREATE TABLE blog__post_v1_0 (rowid INTEGER PRIMARY KEY AUTOINCREMENT, __pk0 TEXT, p BLOB)"
      )
      guard
        case .refused("blog__post_v1_0", 1, let reason)? = await error(source.dflat, target.dflat)
      else {
        Issue.record("another error")
        return
      }
      #expect("\(reason)".contains("__pk1"))
      #expect(try target.sqlite3("SELECT count(*) FROM blog__post_v1_0") == "0")
      await source.dflat.shutdown()
    }
  }

  @Test("A workspace that only reads is a source, and no target")
  func readOnly() async throws {
    try await withTemporaryFile(.file) { writer in
      let stored = try writer.store([post(1), post(2)])
      let reader = TemporaryFile(path: writer.path) { $0.isReadOnly = true }
      let target = MemoryWorkspace()
      try await reader.dflat.copy(Post.self, to: target)
      #expect(target.fetch(for: Post.self).all().map { $0 } == stored)
      await #expect(throws: StorageError.self) {
        try await MemoryWorkspace().copy(Note.self, to: reader.dflat)
      }
      await reader.dflat.shutdown()
      await target.shutdown()
    }
  }

  @Test("A copy whose process was killed goes on where it was")
  func killed() async throws {
    try await withTemporaryFile(.file) { source in
      try source.store((1...3000).map { post($0, likes: $0 % 9) })
      let directory = try makeTemporaryDirectory()
      defer { try? FileManager.default.removeItem(atPath: directory) }
      let original: String = source.path
      let copy: String = directory + "/copy.db"
      await #expect(processExitsWith: .signal(SIGKILL)) {
        [original = original as String, copy = copy as String] in
        let (source, target) = (TemporaryFile(path: original), TemporaryFile(path: copy))
        try await source.dflat.copy(Post.self, to: target.dflat) { progress in
          if progress.done >= 2000 { kill(getpid(), SIGKILL) }
        }
      }
      let target = TemporaryFile(path: copy)
      #expect(target.posts.all().count == 2000)
      try source.remove([5, 1500])
      try source.store([post(4000)])
      let first = Log<Int>()
      let report = try await source.dflat.copy(Post.self, to: target.dflat) { first.add($0.done) }
      #expect(report.tables["blog__post_v1_0"]?.count == 2999)
      #expect(target.posts.all().map { $0 } == source.posts.all().map { $0 })
      #expect(try unsoundness(of: Post._schema, target.foreignConnection()).isEmpty)
      #expect(first.events.first == 2998, "what was there is not stored again")
      await target.dflat.shutdown()
    }
  }

  @Test("At the end another program waits, too")
  func otherProgram() async throws {
    try await withTemporaryFile(.file) { source in
      try source.store([post(1)])
      let target = MemoryWorkspace()
      try await source.dflat.copy(
        Post.self, to: target,
        switchOver: {
          #expect(throws: (any Error).self) {
            let other = try source.foreignConnection()
            try other.execute("PRAGMA busy_timeout = 0")
            try other.execute("DELETE FROM blog__post_v1_0")
          }
        })
      #expect(target.fetch(for: Post.self).all().count == 1)
      await target.shutdown()
    }
  }
}
