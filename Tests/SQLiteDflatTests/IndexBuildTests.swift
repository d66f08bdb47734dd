// Index builds that run beside the program's transactions.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteAccess
import SQLiteDflat
import Platform
import Testing

@Suite("Building indexes")
struct IndexBuildTests {
  /// When an empty transaction of the type completes, a previously requested step has ended.
  private func waitForStep(_ workspace: TemporaryFile) throws {
    try workspace.write([Post.self]) { _ in }
  }

  private func count(_ workspace: TemporaryFile, _ path: String) throws -> Int64? {
    let connection = try workspace.foreignConnection()
    guard
      try connection.value("SELECT 1 FROM sqlite_master WHERE name = 'blog__post_v1_0__\(path)'")
        != nil
    else { return nil }
    return try connection.value("SELECT count(*) FROM blog__post_v1_0__\(path)")?.integer
  }

  private func faults(_ workspace: TemporaryFile, complete: Bool) throws -> [String] {
    try unsoundness(of: Post._schema, workspace.foreignConnection(), complete: complete)
  }

  @Test(
    "After one query every index of the type is complete and sound, whatever its state before",
    arguments: IndexState.allCases)
  func fromAnyState(state: IndexState) throws {
    var random = SeededGenerator(seed: 11)
    try withTemporaryFile { workspace in
      // Three indexes; together they lack no more rows than one step fills.
      try workspace.store((1...100).map { post(Int32($0), likes: Int32($0 % 7)) })
      let connection = try workspace.foreignConnection()
      try connection.execute("DELETE FROM blog__post_v1_0 WHERE rowid % 5 = 0")
      for index in Post._schema.indexes {
        try connection.execute("DELETE FROM \(index.table) WHERE rowid % 5 = 0")
      }
      try state.impose(on: Post._schema, connection, using: &random)
      #expect(
        workspace.posts.where(Post.likes == 3).count
          == (1...100).count { $0 % 7 == 3 && $0 % 5 != 0 })
      try waitForStep(workspace)
      #expect(try faults(workspace, complete: true) == [])
      let explanation = try workspace.posts.explain(where: Post.likes == 3)
      #expect(explanation.indexes == ["blog__post_v1_0__f10"])
    }
  }

  @Test("Nothing is built unless a query mentions an index")
  func onlyIfMentioned() throws {
    try withTemporaryFile { workspace in
      try workspace.store((1...10).map { post(Int32($0)) })
      try workspace.tamper("DROP TABLE blog__post_v1_0__f10")
      _ = workspace.posts.all()
      _ = workspace.posts.where(Post.number == 3 && Post.isPinned)
      try waitForStep(workspace)
      #expect(try count(workspace, "f10") == nil)
      // An order mentions it, too.
      _ = workspace.posts.all(orderBy: [Post.likes.ascending])
      try waitForStep(workspace)
      #expect(try count(workspace, "f10") == 10)
    }
  }

  /// The queue is blocked until the workspace is shut down, so exactly one step runs.
  private func beginAndShutDown(_ workspace: TemporaryFile) {
    let dflat = workspace.dflat
    let hold = DispatchSemaphore(value: 0)
    dflat.performChanges([Post.self]) { _ in hold.wait() }
    #expect(workspace.posts.where(Post.likes == 3).count == 120)
    let done = DispatchSemaphore(value: 0)
    // By now the first step is accepted, and the second one is not.
    dflat.shutdown { done.signal() }
    hold.signal()
    // A second call would not wait for work that was accepted before.
    done.expect("the end of the shutdown")
  }

  @Test("A step fills at most 500 rows; the build continues by itself, and after a restart")
  func steps() async throws {
    try await withTemporaryFile { workspace in
      try workspace.store((1...1200).map { post(Int32($0), likes: Int32($0 % 10)) })
      await workspace.dflat.shutdown()
      try workspace.tamper("DROP TABLE blog__post_v1_0__f10")
      let second = workspace.secondWorkspace()
      beginAndShutDown(second)
      await second.dflat.shutdown()
      #expect(second.takeErrors().isEmpty)
      let third = workspace.secondWorkspace()
      let steps = Mutex<[IndexProgress]>([])
      let filled = try count(workspace, "f10") ?? 0
      #expect(filled == 500)
      for try await progress in third.dflat.indexProgress(for: Post.self) {
        steps.withLock { $0.append(progress) }
      }
      let told = steps.withLock { $0 }
      #expect(told.allSatisfy { $0.filled <= 500 })
      #expect(Int64(told.reduce(0) { $0 + $1.filled }) + filled == 1200)
      #expect(told.last?.isFinished == true)
      #expect(try count(workspace, "f10") == 1200)
      try await third.dflat.indexesReady(for: Post.self)
      await third.dflat.shutdown()
      #expect(try faults(workspace, complete: true) == [])
    }
  }

  @Test("The event hook receives each step")
  func events() async throws {
    let directory = try makeTemporaryDirectory()
    let events = Mutex<[SQLiteWorkspace.Event]>([])
    let told = DispatchSemaphore(value: 0)
    var configuration = SQLiteWorkspace.Configuration()
    configuration.onEvent = { event in
      guard case .indexBuild = event else { return }
      events.withLock { $0.append(event) }
      told.signal()
    }
    let dflat = SQLiteWorkspace(filePath: directory + "/test.db", configuration: configuration)
    try await dflat.write(Post.self) { txn in
      for number in 1...600 { try txn.insert(post(Int32(number))) }
    }
    let connection = try Connection(path: directory + "/test.db")
    try connection.execute("DELETE FROM blog__post_v1_0__f10")
    try connection.close()
    try await dflat.indexesReady(for: Post.self)
    await dflat.shutdown()
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        for _ in 0..<2 { told.wait() }
        continuation.resume()
      }
    }
    #expect(
      events.withLock { $0 } == [
        .indexBuild(table: "blog__post_v1_0", filled: 500, remaining: 100),
        .indexBuild(table: "blog__post_v1_0", filled: 100, remaining: 0),
      ])
  }

  @Test("Objects that are stored, changed and removed during a build are indexed correctly")
  func duringBuild() async throws {
    try await withTemporaryFile { workspace in
      try workspace.store((1...2000).map { post(Int32($0), likes: Int32($0 % 10)) })
      try workspace.tamper("DELETE FROM blog__post_v1_0__f10")
      async let ready: Void = workspace.dflat.indexesReady(for: Post.self)
      for round in 1...20 {
        try await workspace.dflat.write(Post.self) { txn in
          try txn.insert(post(Int32(3000 + round), likes: 5))
          try txn.delete(post(Int32(round * 90)))
          try txn.update(post(Int32(round * 90 + 1))) { $0.likes = 77 }
          #expect(try txn.fetch(for: Post.self).where(Post.likes == 77).count == round)
        }
        #expect(workspace.posts.where(Post.likes == 77).count == round)
      }
      try await ready
      #expect(try faults(workspace, complete: true) == [])
    }
  }

  @Test(
    "A field becomes unique despite duplicates: both objects stay, the index ends below the second"
  )
  func duplicates() async throws {
    try await withTemporaryFile { workspace in
      let posts = (1...6).map { number in
        post(Int32(number), photo: "\(number).jpg")
      }
      try workspace.store(posts)
      // As a version without the attribute would have left it.
      try workspace.tamper("DROP TABLE blog__post_v1_0__f20__u2__f4")
      try workspace.tamper(
        "UPDATE blog__post_v1_0 SET p = (SELECT p FROM blog__post_v1_0 WHERE rowid = 2) WHERE rowid = 5"
      )
      for _ in 0..<3 {
        let found = workspace.posts.where(Post.attachment.as(Blog.Photo.self).path == "2.jpg")
        #expect(found.map(\._rowid) == [2, 5])
        try waitForStep(workspace)
      }
      #expect(try count(workspace, "f20__u2__f4") == 4)
      let errors = workspace.takeErrors()
      #expect(errors.map(\.cause) == [.alreadyExists])
      #expect(errors.first?.rowid == 5)
      #expect(errors.first?.message.contains("rows 2 and 5") == true)
      await #expect {
        try await workspace.dflat.indexesReady(for: Post.self)
      } throws: {
        ($0 as? StorageError)?.cause == .alreadyExists
      }
      await #expect {
        try await workspace.dflat.write(Post.self) { txn in
          try txn.insert(post(9, photo: "6.jpg"))
        }
      } throws: {
        ($0 as? StorageError)?.cause == .alreadyExists
      }
      // Without the second one the index can be completed.
      try await workspace.dflat.write(Post.self) { txn in
        let second = try #require(try txn.fetch(for: Post.self).all().last { $0._rowid == 5 })
        try txn.delete(second)
      }
      try await workspace.dflat.indexesReady(for: Post.self)
      #expect(try count(workspace, "f20__u2__f4") == 5)
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test("The error hook may wait for a transaction, also in the middle of a build")
  func waitingHook() async throws {
    try await withTemporaryFile { workspace in
      try workspace.store((1...6).map { post($0, photo: "\($0).jpg") })
      try workspace.tamper("DROP TABLE blog__post_v1_0__f20__u2__f4")
      try workspace.tamper(
        "UPDATE blog__post_v1_0 SET p = (SELECT p FROM blog__post_v1_0 WHERE rowid = 2) WHERE rowid = 5"
      )
      let dflat = workspace.dflat
      dflat.errorHandler = { [weak dflat] in
        dflat?.dictionary["error"] = "\($0)"
        dflat?.dictionary.synchronize()
      }
      await #expect(throws: StorageError.self) { try await dflat.indexesReady(for: Post.self) }
      #expect(dflat.dictionary["error", String.self]?.contains("rows 2 and 5") == true)
    }
  }

  @Test("A build that cannot be completed is not repeated because of other types")
  func notRepeated() async throws {
    try await withTemporaryFile { workspace in
      let photo = Post.attachment.as(Blog.Photo.self)
      try workspace.store((1...6).map { post($0, photo: "\($0).jpg") })
      await workspace.dflat.shutdown()
      try workspace.tamper("DROP TABLE blog__post_v1_0__f20__u2__f4")
      try workspace.tamper(
        "UPDATE blog__post_v1_0 SET p = (SELECT p FROM blog__post_v1_0 WHERE rowid = 2) WHERE rowid = 5"
      )
      let filled = Log<Int>()
      let again = TemporaryFile(path: workspace.path) { configuration in
        configuration.onEvent = { if case .indexBuild(_, let rows, _) = $0 { filled.add(rows) } }
      }
      for number: UInt64 in 1...5 {
        #expect(again.posts.where(photo.path == "2.jpg").count == 2)
        try waitForStep(again)
        try await again.dflat.write(Note.self) { txn in try txn.insert(Note(key: number, text: nil))
        }
      }
      try again.remove([5])
      #expect(again.posts.where(photo.path == "2.jpg").count == 1)
      try await again.dflat.indexesReady(for: Post.self)
      // The first five rows, of which the last one is refused, and the sixth one.
      for _ in 0..<2 { filled.wait() }
      #expect(filled.events.filter { $0 > 0 } == [5, 1])
      #expect(again.takeErrors().map(\.cause) == [.alreadyExists])
      await again.dflat.shutdown()
    }
  }
}
