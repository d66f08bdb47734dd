// Row ids that only another program gives: the least one, and the greatest one.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Testing

@Suite("The least and the greatest row id")
struct LeastRowTests {
  private static let table = "blog__post_v1_0"

  @Test(
    "Indexes are built from the least row id on",
    arguments: ["f10", "f20__type", "f20__u1__f4", "f20__u2__f4"])
  func building(index: String) async throws {
    try await withTemporaryFile(.file) { file in
      try file.store((1...5).map { post($0, likes: 3, photo: "p\($0)") })
      try file.tamper(
        "UPDATE \(Self.table) SET rowid = \(Int64.min) WHERE rowid = 1; "
          + "DROP TABLE IF EXISTS \(Self.table)__\(index)")
      try await file.dflat.indexesReady(for: Post.self)
      #expect(file.posts.where(Post.likes == 3).map(\.number) == [1, 2, 3, 4, 5])
      #expect(file.posts.where(Post.attachment.match(Blog.Photo.self)).count == 5)
      let path = Post.attachment.as(Blog.Photo.self).path
      #expect(file.posts.where(path == "p1").map(\.number) == [1])
      #expect(try await file.dflat.checkIntegrity(of: Post.self) == [])
      #expect(try file.faults() == [])
    }
  }

  @Test("A wrong value of the least row is found")
  func verifying() async throws {
    try await withTemporaryFile(.file) { file in
      try file.store((1...5).map { post($0, likes: 3) })
      try file.tamper(
        "UPDATE \(Self.table) SET rowid = \(Int64.min) WHERE rowid = 1; "
          + "UPDATE \(Self.table)__f10 SET rowid = \(Int64.min), f10 = 4 WHERE rowid = 1; "
          + "DROP TABLE _dflat_index")
      #expect(file.posts.where(Post.likes == 3).count == 5)
      try await file.dflat.indexesReady(for: Post.self)
      #expect(file.posts.where(Post.likes == 3).count == 5)
      #expect(try file.faults() == [])
    }
  }

  @Test("A new object is refused where no row id is left, and the error says so")
  func greatest() async throws {
    try await withTemporaryFile(.file) { file in
      try file.store([post(1)])
      try file.tamper("UPDATE \(Self.table) SET rowid = \(Int64.max) WHERE rowid = 1")
      let error = await #expect(throws: StorageError.self) {
        try await file.dflat.write(Post.self) { try $0.insert(post(2)) }
      }
      #expect(error?.cause == .other, "\(error as Any)")
      #expect(error?.message.contains("no row id is left") == true, "\(error as Any)")
      #expect(file.posts.all().map(\.number) == [1])
      _ = file.takeErrors()
    }
  }
}
