// Copies of files: damaged ones, read-only ones, ones that other programs write, and files with
// tables of another schema.

import Dflat
import DflatTestSupport
import Foundation
import MemoryDflat
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
