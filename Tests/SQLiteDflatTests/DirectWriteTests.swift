// The synchronous write, and the awaited one that runs on the thread of its task.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteAccess
import SQLiteDflat
import Platform
import Testing

@Suite("Writing on the caller's thread")
struct DirectWriteTests {
  // MARK: Tasks

  @Test("With the program's own queue, and in serial workspaces, awaited writes run on that queue")
  func onQueue() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let queue = DispatchQueue(label: "target")
    let targeted = SQLiteWorkspace(
      filePath: directory + "/a.db", fileProtectionLevel: .noProtection, targetQueue: queue)
    let serial = SQLiteWorkspace(
      filePath: directory + "/b.db", fileProtectionLevel: .noProtection, writeConcurrency: .serial)
    for _ in 0..<2 {
      try await targeted.write(Post.self) { _ in
        dispatchPrecondition(condition: .onQueue(queue))
        #expect(isOnWorkspaceQueue())
      }
      try await serial.write(Post.self) { _ in #expect(isOnWorkspaceQueue()) }
    }
    await targeted.shutdown()
    await serial.shutdown()
  }

  @Test("The first awaited write, which opens the file, runs on a queue, and the next ones do not")
  func firstWrite() async throws {
    try await withTemporaryFile { workspace in
      let dflat = workspace.dflat
      let first = try await dflat.write(Post.self) { _ in isOnWorkspaceQueue() }
      let second = try await dflat.write(Post.self) { _ in isOnWorkspaceQueue() }
      #expect(first && !second)
    }
  }

  @Test("An awaited write that would wait for another connection waits on a queue, in its order")
  func waitsForConnection() async throws {
    try await beyondTasks {
      try withTemporaryFile(.file) { workspace in
        try workspace.store([post(1)])
        let other = try workspace.foreignConnection()
        try workspace.abandonWrite {
          try other.begin(.immediate)
        } _: {
          try other.rollback()
        }
        try other.close()
      }
    }
  }

  // MARK: Observers

  @Test("A synchronous write runs again after external changes, as often as allowed")
  func conflicts() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1, likes: 0)])
      let second = workspace.secondWorkspace()
      func write(attempts: Int, conflicts: Int) throws -> Int {
        var runs = 0
        try workspace.dflat.write(Post.self, attempts: attempts) { txn in
          runs += 1
          let one = try txn.fetch(for: Post.self).all()[0]
          if runs <= conflicts {
            _ = try second.dflat.write(Post.self) { try $0.update(one) { $0.likes += 1 } }
          }
          try txn.update(one) { $0.likes += 100 }
        }
        return runs
      }
      #expect(try write(attempts: 3, conflicts: 2) == 3)
      #expect(workspace.posts.all().map(\.likes) == [102])
      #expect {
        _ = try write(attempts: 3, conflicts: 3)
      } throws: {
        ($0 as? StorageError)?.cause == .conflict
      }
      #expect(workspace.posts.all().map(\.likes) == [105])
      second.dflat.shutdown()
    }
  }
}
