// A complete index without a mark, as other programs leave them: it is verified once, marked, and
// nothing else is built.

import Dflat
import DflatTestSupport
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Complete indexes without a mark")
struct IndexConfirmationTests {
  private static let main = "blog__post_v1_0"
  private let likes = "\(main)__f10"
  private let tag = "\(main)__f20__type"
  private let url = "\(main)__f20__u1__f4"
  private let path = "\(main)__f20__u2__f4"

  /// A file with objects, and side tables only for likes and for paths; the latter is partial. No
  /// guard and no mark says what is right.
  private func withPlainFile(_ body: (TemporaryFile) throws -> Void) throws {
    try withTemporaryFile { workspace in
      try workspace.store((1...40).map { post($0, likes: $0 % 6, photo: "\($0)") })
      let connection = try workspace.foreignConnection()
      for trigger in try connection.rows("SELECT name FROM sqlite_master WHERE type = 'trigger'") {
        try connection.execute("DROP TRIGGER \"\(trigger[0].text ?? "")\"")
      }
      try connection.execute(
        """
        DROP TABLE _dflat_index; DROP TABLE "\(tag)"; DROP TABLE "\(url)";
        DELETE FROM "\(path)" WHERE rowid > 30
        """)
      try connection.close()
      let again = TemporaryFile(path: workspace.path)
      try body(again)
      again.dflat.shutdown()
      #expect(again.takeErrors().isEmpty)
    }
  }

  private func sideTables(_ workspace: TemporaryFile) throws -> [String] {
    try workspace.foreignConnection().rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '\(Self.main)\\_\\_%' "
        + "ESCAPE '\\' ORDER BY name"
    ).compactMap { $0[0].text }
  }

  private func mark(of side: String, _ workspace: TemporaryFile) throws -> Int64? {
    try workspace.foreignConnection().value(
      "SELECT verified FROM _dflat_index WHERE side = ?", [.text(side)])?.integer
  }

  private func rows(of side: String, _ workspace: TemporaryFile) throws -> SQLValue? {
    try workspace.foreignConnection().value("SELECT count(*) FROM \"\(side)\"")
  }

  @Test("A query by it sets its mark; other indexes are neither made nor filled")
  func marks() throws {
    try withPlainFile { workspace in
      for _ in 0..<2 {
        #expect(workspace.posts.where(Post.likes == 3).count == 7)
        try workspace.write([Post.self]) { _ in }
      }
      #expect(try sideTables(workspace) == [likes, path])
      #expect(try mark(of: likes, workspace) == .max)
      #expect(try rows(of: path, workspace) == 30)
      #expect(try workspace.posts.explain(where: Post.likes == 3).indexes == [likes])
    }
  }

  @Test("Wrong values in it are put right, and nothing else is built")
  func repairs() throws {
    try withPlainFile { workspace in
      try workspace.tamper("UPDATE \"\(likes)\" SET f10 = 3 WHERE rowid = 12")
      #expect(workspace.posts.where(Post.likes == 3).count == 7)
      try workspace.write([Post.self]) { _ in }
      #expect(try sideTables(workspace) == [likes, path])
      #expect(try mark(of: likes, workspace) == .max)
      #expect(try rows(of: path, workspace) == 30)
      #expect(workspace.posts.where(Post.likes == 3).count == 7)
      #expect(try workspace.posts.explain(where: Post.likes == 3).indexes == [likes])
    }
  }

  @Test("A query by a missing index, or a program that waits, has all built meanwhile")
  func both() async throws {
    try withPlainFile { workspace in
      #expect(workspace.posts.where(Post.likes == 3).count == 7)
      #expect(workspace.posts.where(Post.attachment._type.isNull).count == 0)
      try workspace.write([Post.self]) { _ in }
      try workspace.write([Post.self]) { _ in }
      #expect(try sideTables(workspace) == [likes, tag, url, path])
      #expect(try workspace.faults(complete: true).isEmpty)
    }
    try await withTemporaryFile { workspace in
      let dflat = workspace.dflat
      try await dflat.write(Post.self) { txn in
        for number in 1...40 as ClosedRange<Int32> { try txn.insert(post(number, likes: number)) }
      }
      try workspace.tamper("DELETE FROM \"\(path)\"; DROP TABLE _dflat_index")
      for _ in 0..<20 { #expect(dflat.fetch(for: Post.self).where(Post.likes == 3).count == 1) }
      try await dflat.indexesReady(for: Post.self)
      #expect(try workspace.faults(complete: true).isEmpty)
    }
  }
}
