// When a side table can be trusted, and for how long.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Side tables changed by other programs")
struct IndexTrustTests {
  private let likes = "blog__post_v1_0__f10"
  private let path = "blog__post_v1_0__f20__u2__f4"

  private func numbers(_ posts: FetchedResult<Post>) -> [Int32] { posts.map(\.number) }

  @Test("A gap made by another program while the file is open hides no object")
  func hole() throws {
    try withTemporaryFile { workspace in
      try workspace.store((0..<5).map { post($0, likes: 7) })
      #expect(workspace.posts.where(Post.likes == 7).count == 5)
      try workspace.tamper("DELETE FROM \(likes) WHERE rowid = 2")
      #expect(workspace.posts.where(Post.likes == 7).count == 5)
    }
  }

  @Test("A transaction does not trust an index that another program changed before its first fetch")
  func holeBeforeTransaction() throws {
    try withTemporaryFile { workspace in
      try workspace.store((0..<5).map { post($0, likes: 7) })
      #expect(workspace.posts.where(Post.likes == 7).count == 5)
      for hole in 2...3 {
        try workspace.tamper("DELETE FROM \(likes) WHERE rowid = \(hole)")
        try workspace.write([Post.self]) { _ in
          for _ in 0..<2 { #expect(workspace.posts.where(Post.likes == 7).count == 5) }
        }
      }
    }
  }

  @Test("A result of verification in an old snapshot does not apply to the current state")
  func snapshotDoesNotVouchForLater() throws {
    try withTemporaryFile { workspace in
      try workspace.store((0..<5).map { post($0, likes: 7) })
      workspace.dflat.fetchWithinASnapshot {
        _ = workspace.posts.all()
        try! workspace.tamper("DELETE FROM \(likes) WHERE rowid = 2")
        #expect(workspace.posts.where(Post.likes == 7).count == 5)
      }
      #expect(workspace.posts.where(Post.likes == 7).count == 5)
    }
  }

  @Test("A result of verification in the current state does not apply to an old snapshot")
  func presentDoesNotVouchForSnapshot() throws {
    try withTemporaryFile { workspace in
      try workspace.store((0..<5).map { post($0, likes: 7) })
      try workspace.tamper("DELETE FROM \(likes) WHERE rowid = 2")
      workspace.dflat.fetchWithinASnapshot {
        _ = workspace.posts.all()
        try! workspace.tamper("INSERT INTO \(likes) (rowid, f10) VALUES (2, 7)")
        onAnotherThread {
          #expect(workspace.posts.where(Post.likes == 7).count == 5)
        }
        #expect(workspace.posts.where(Post.likes == 7).count == 5)
      }
    }
  }

  @Test("A result of verification in an aborted transaction is discarded")
  func abortedTransactionVouchesForNothing() throws {
    try withTemporaryFile { workspace in
      let stored = try workspace.store((0..<5).map { post($0, likes: 7) })
      try workspace.tamper("DELETE FROM \(likes) WHERE rowid IN (1, 2)")
      try workspace.write([Post.self]) { txn in
        for post in stored[..<2] {
          try txn.submit(try #require(Blog.PostChangeRequest.deletionRequest(post)))
        }
        // Now both tables have the same rows.
        #expect(workspace.posts.where(Post.likes == 7).count == 3)
        txn.abort()
      }
      #expect(workspace.posts.where(Post.likes == 7).count == 5)
    }
  }

  @Test("A value that only a row without an object has can be used")
  func orphanDoesNotRefuse() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1, photo: "a"), post(2, photo: "b"), post(3, photo: "c")])
      try workspace.tamper("DELETE FROM blog__post_v1_0 WHERE rowid = 2")
      try workspace.store([post(4, photo: "b")])
      #expect(
        numbers(workspace.posts.where(Post.attachment.as(Blog.Photo.self).path == "b")) == [4])
      #expect(throws: TransactionError.objectAlreadyExists) {
        try workspace.store([post(5, photo: "b")])
      }
    }
  }

  @Test(
    "A unique value is enforced whatever the state of the side table",
    arguments: IndexState.allCases)
  func uniqueness(state: IndexState) throws {
    try withTemporaryFile { workspace in
      try workspace.store((1...6).map { post($0, photo: "\($0)") })
      try workspace.remove([2, 4])
      var random = SeededGenerator(seed: 5)
      try state.impose(on: Post._schema, workspace.foreignConnection(), using: &random)
      #expect(throws: TransactionError.objectAlreadyExists) {
        try workspace.store([post(10, photo: "3")])
      }
      #expect(throws: TransactionError.objectAlreadyExists) {
        try workspace.store([post(10, photo: "6")])
      }
      #expect(throws: TransactionError.objectAlreadyExists) {
        try workspace.change(1) { $0.attachment = .photo(Blog.Photo(path: "5")) }
      }
      try workspace.store([post(10, photo: "2"), post(11), post(12)])
      #expect(numbers(workspace.posts.all()) == [1, 3, 5, 6, 10, 11, 12])
      #expect(
        numbers(workspace.posts.where(Post.attachment.as(Blog.Photo.self).path == "2")) == [10])
    }
  }

  @Test("A field that has become unique is enforced, though its index still exists as a plain one")
  func becameUnique() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1, photo: "a")])
      try workspace.tamper("DROP INDEX index__\(path)")
      try workspace.tamper("CREATE INDEX index__\(path) ON \(path) (f20__u2__f4)")
      let again = workspace.secondWorkspace()
      for workspace in [workspace, again] {
        #expect(throws: TransactionError.objectAlreadyExists) {
          try workspace.store([post(2, photo: "a")])
        }
      }
      again.dflat.shutdown()
    }
  }

  @Test("A field that is no longer unique is not enforced")
  func noLongerUnique() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1, likes: 3)])
      try workspace.tamper("DROP INDEX index__\(likes)")
      try workspace.tamper("CREATE UNIQUE INDEX index__\(likes) ON \(likes) (f10)")
      try workspace.store([post(2, likes: 3)])
      #expect(numbers(workspace.posts.where(Post.likes == 3)) == [1, 2])
      #expect(try workspace.faults().isEmpty)
    }
  }

  @Test(
    "Duplicates under a path that has become unique stay visible; new ones are refused")
  func storedDuplicates() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1, photo: "a"), post(2, photo: "b"), post(3)])
      // As if the path had only been indexed when both were stored.
      try workspace.tamper("DROP INDEX index__\(path)")
      let blob = try workspace.foreignConnection().value(
        "SELECT p FROM blog__post_v1_0 WHERE rowid = 1")
      let copy = Post.from(data: Data(blob?.blob ?? []))
      var builder = Blog.PostBuilder(from: copy)
      builder.number = 9
      let bytes = [UInt8](builder.build().toData())
      try workspace.tamper(
        "INSERT INTO blog__post_v1_0 (rowid, __pk0, __pk1, p) VALUES (9, 's', 9, ?)",
        [.blob(bytes)])
      try workspace.tamper("INSERT INTO \(path) (rowid, f20__u2__f4) VALUES (9, 'a')")

      let isA = Post.attachment.as(Blog.Photo.self).path == "a"
      #expect(numbers(workspace.posts.where(isA)) == [1, 9])
      try workspace.store([post(10, photo: "c")])
      #expect(numbers(workspace.posts.where(isA)) == [1, 9])
      for taken in ["a", "b", "c"] {
        #expect(throws: TransactionError.objectAlreadyExists) {
          try workspace.store([post(11, photo: taken)])
        }
      }
      try workspace.change(3) { $0.likes = 5 }
      #expect(numbers(workspace.posts.all()) == [1, 2, 3, 9, 10])
      _ = workspace.takeErrors()
    }
  }

  @Test("A side table that lost its index and has equal values by damage is repaired")
  func damagedDuplicates() async throws {
    try await withTemporaryFile { workspace in
      try workspace.store([post(1, photo: "a"), post(2, photo: "b"), post(3, photo: "c")])
      try workspace.tamper("DROP INDEX index__\(path)")
      try workspace.tamper("UPDATE \(path) SET f20__u2__f4 = 'a' WHERE rowid = 2")

      try workspace.store([post(4, photo: "d")])
      for taken in ["a", "b", "c", "d"] {
        #expect(throws: TransactionError.objectAlreadyExists) {
          try workspace.store([post(5, photo: taken)])
        }
      }
      try await workspace.dflat.indexesReady(for: Post.self)
      let isA = Post.attachment.as(Blog.Photo.self).path == "a"
      #expect(numbers(workspace.posts.where(isA)) == [1])
      #expect(try workspace.faults().isEmpty)
      // The objects are right: nothing is reported about them.
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test("Renamed tables work, whatever the names of their indexes")
  func renamedTables() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1, photo: "a")])
      // Both tables are dropped with their indexes, whose names stay in use.
      try workspace.tamper("ALTER TABLE blog__post_v1_0 RENAME TO old_main")
      try workspace.tamper("ALTER TABLE \(path) RENAME TO old_side")
      #expect(workspace.posts.all().isEmpty)
      try workspace.store([post(1, photo: "a"), post(2, photo: "b")])
      #expect(throws: TransactionError.objectAlreadyExists) {
        try workspace.store([post(3, photo: "a")])
      }
      // And back again.
      try workspace.tamper("DROP TABLE blog__post_v1_0; DROP TABLE \(path)")
      try workspace.tamper("ALTER TABLE old_main RENAME TO blog__post_v1_0")
      try workspace.tamper("ALTER TABLE old_side RENAME TO \(path)")
      #expect(numbers(workspace.posts.all()) == [1])
      #expect(throws: TransactionError.objectAlreadyExists) {
        try workspace.store([post(3, photo: "a")])
      }
    }
  }

  @Test("An empty union matches nothing and its tag is unknown, with NULL in its index and with 0")
  func emptyUnion() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1, photo: "a"), post(2), post(3, link: "l")])
      try workspace.tamper("UPDATE blog__post_v1_0__f20__type SET f20__type = 0 WHERE rowid = 2")
      #expect(numbers(workspace.posts.where(Post.attachment._type.isNull)) == [2])
      #expect(numbers(workspace.posts.where(Post.attachment._type == 0)).isEmpty)
      #expect(numbers(workspace.posts.where(Post.attachment._type < 2)) == [3])
      #expect(numbers(workspace.posts.where(!Post.attachment.match(Blog.Photo.self))) == [2, 3])
      #expect(numbers(workspace.posts.where(Post.attachment._type.notIn([1]))) == [1])
    }
  }

  @Test(
    "A unique side table of another schema version refuses nothing, and is kept right",
    arguments: [true, false])
  func foreignUnique(isComplete: Bool) throws {
    let side = "blog__post_v1_0__f14__f4"
    func post(_ number: Int32, by handle: String) -> Post {
      Post(site: "s", number: number, author: Blog.Author(handle: handle))
    }
    try withTemporaryFile { workspace in
      try workspace.store([post(1, by: "a"), post(2, by: "b")])
      try workspace.tamper(
        """
        CREATE TABLE \(side) (rowid INTEGER PRIMARY KEY, f14__f4 TEXT);
        CREATE UNIQUE INDEX index__\(side) ON \(side) (f14__f4);
        INSERT INTO \(side) VALUES (1, 'a');
        """)
      if isComplete { try workspace.tamper("INSERT INTO \(side) VALUES (2, 'b')") }
      try workspace.write([Post.self]) { txn in
        _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(3, by: "a")))
        let request = try #require(Blog.PostChangeRequest.changeRequest(post(1, by: "a")))
        request.author?.handle = "b"
        try txn.submit(request)
      }
      #expect(workspace.posts.all().map { $0.author?.handle } == ["b", "b", "a"])
      #expect(
        try workspace.sqlite3("SELECT group_concat(rowid || f14__f4, ' ') FROM \(side)")
          == (isComplete ? "1b 2b 3a" : "1b"))
    }
  }
}
