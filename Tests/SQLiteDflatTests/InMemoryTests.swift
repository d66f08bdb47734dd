// In-memory workspaces: they work like others, and leave nothing behind.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("In-memory workspaces")
struct InMemoryTests {
  private func directory(_ workspace: TemporaryFile) -> String {
    URL(fileURLWithPath: workspace.path).deletingLastPathComponent().path
  }

  @Test("It supports everything that a workspace for a file does", arguments: StorageKind.allCases)
  func sameBehaviour(kind: StorageKind) throws {
    try withTemporaryFile(kind) { workspace in
      #expect(workspace.posts.all().isEmpty && !workspace.fileExists())
      try workspace.store((0..<50).map { post($0, likes: $0 % 5, photo: "\($0)") })
      #expect(workspace.posts.where(Post.likes == 3).count == 10)
      #expect(throws: TransactionError.objectAlreadyExists) {
        try workspace.store([post(100, photo: "7")])
      }
      try workspace.change(3) { $0.likes = 100 }
      try workspace.remove([4])
      #expect(workspace.posts.where(Post.likes > 50).map(\.number) == [3])
      #expect(try workspace.sqlite3("PRAGMA auto_vacuum; PRAGMA journal_mode") == "2\nwal")
      #expect(try workspace.faults().isEmpty)
    }
  }

  @Test(
    "Readers and the writer run concurrently, and snapshots do not change",
    arguments: StorageKind.allCases)
  func concurrency(kind: StorageKind) throws {
    try withTemporaryFile(kind, configure: { $0.walLimit = 64 << 10 }) { workspace in
      try workspace.store((0..<10).map { post($0, likes: 0) })
      workspace.dflat.fetchWithinASnapshot {
        #expect(workspace.posts.all().count == 10)
        // The writer commits inside the snapshot, and readers run inside the transaction.
        for round in 1...20 as ClosedRange<Int32> {
          _ = try? workspace.write([Post.self]) { txn in
            for number in 0..<10 as Range<Int32> {
              let request = try #require(Blog.PostChangeRequest.changeRequest(post(number)))
              request.likes = round
              try txn.submit(request)
            }
            onAnotherThread {
              #expect(workspace.posts.where(Post.likes == round - 1).count == 10)
            }
          }
        }
        #expect(workspace.posts.where(Post.likes == 0).count == 10)
      }
      #expect(workspace.posts.where(Post.likes == 20).count == 10)
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test("Each has its own objects")
  func isolation() throws {
    try withTemporaryFile(.memory) { first in
      try withTemporaryFile(.memory) { second in
        try first.store([post(1)])
        #expect(second.posts.all().isEmpty)
        try second.store([post(1), post(2)])
        #expect(first.posts.all().count == 1 && second.posts.all().count == 2)
      }
      #expect(first.posts.all().count == 1)
    }
  }

  @Test("Nothing is left behind after shutdown, and when the workspace is released")
  func nothingRemains() throws {
    let closed = TemporaryFile(path: nil)
    try closed.store([post(1)])
    #expect(FileManager.default.fileExists(atPath: directory(closed)))
    closed.dflat.shutdown()
    #expect(!FileManager.default.fileExists(atPath: directory(closed)))

    var released: TemporaryFile? = TemporaryFile(path: nil)
    try released?.store([post(1)])
    let path = try #require(released.map(directory))
    #expect(FileManager.default.fileExists(atPath: path))
    released = nil
    #expect(eventually { !FileManager.default.fileExists(atPath: path) })

    let unused = TemporaryFile(path: nil)
    #expect(unused.posts.all().isEmpty)
    #expect(!FileManager.default.fileExists(atPath: directory(unused)))
    unused.dflat.shutdown()
  }

  @Test("The directory of a killed process is removed with the next use; those in use stay")
  func leftovers() throws {
    try withTemporaryFile(.memory) { living in
      try living.store([post(1)])
      let base = URL(fileURLWithPath: directory(living)).deletingLastPathComponent().path
      let left = "\(base)/dflat-memory-\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
      for name in ["lock", "data.db", "data.db-wal"] {
        _ = FileManager.default.createFile(atPath: "\(left)/\(name)", contents: Data([1]))
      }
      let new = TemporaryFile(path: nil)
      try new.store([post(1)])
      #expect(!FileManager.default.fileExists(atPath: left))
      #expect(living.posts.all().count == 1)
      try living.store([post(2)])
      new.dflat.shutdown()
    }
  }

  #if os(Linux)
    @Test("Many workspaces have few files open: four each, and readers of some of them")
    func openFiles() throws {
      let workspaces = (0..<100).map { _ in TemporaryFile(path: nil) }
      for workspace in workspaces {
        try workspace.store([post(1)])
        #expect(workspace.posts.all().count == 1)
      }
      let directories = Set(workspaces.map(directory))
      let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        .compactMap {
          try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        .filter { directories.contains(($0 as NSString).deletingLastPathComponent) }
      // The writer has three. Of a reader that was closed SQLite keeps one, since closing it would
      // release the writer's lock. Sixteen of them, and the last one, keep two readers.
      #expect(open.count <= 4 * workspaces.count + 3 * 17, "\(open.count) files")
      for workspace in workspaces {
        #expect(workspace.posts.all().count == 1)
        workspace.dflat.shutdown()
        #expect(!FileManager.default.fileExists(atPath: directory(workspace)))
        #expect(workspace.takeErrors().isEmpty)
      }
    }
  #endif

  @Test("A process that exits normally leaves nothing, though a workspace is still open")
  func endOfProcess() async throws {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      let workspace = TemporaryFile(path: nil)
      try workspace.store([post(1)])
      guard workspace.fileExists() else { exit(1) }
      print("path:\(workspace.path):")
      exit(0)
    }
    let text = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    let path = try #require(text.split(separator: ":").first { $0.contains("dflat-memory") })
    let directory = URL(fileURLWithPath: String(path)).deletingLastPathComponent().path
    #expect(!FileManager.default.fileExists(atPath: directory))
  }
}
