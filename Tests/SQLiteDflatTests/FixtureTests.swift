// Files created by other programs, in Fixtures: see the README there.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Files of other programs")
struct FixtureTests {
  enum Fixture: String, CaseIterable, Sendable {
    case complete, unfinished
  }

  /// Runs `body` with a workspace on a copy.
  private func with(
    _ fixture: Fixture, configure: (inout SQLiteWorkspace.Configuration) -> Void = { _ in },
    _ body: (TemporaryFile) throws -> Void
  ) throws {
    try withFixture(fixture.rawValue, configure: configure, body)
  }

  private func expectObjects(_ posts: QueryBuilder<Post>) throws {
    let all = posts.all()
    #expect(all.map(\._rowid) == [1, 2, 3, 4, 5, 7, 8, 9])
    let first = all[0]
    #expect(first.site == "notes" && first.tags == ["a", "b"] && first.isPinned)
    #expect(first.place == Blog.Place(lat: 35, lon: 135.5))
    #expect(first.author == Blog.Author(handle: "ada", name: "Ada"))
    #expect(first.attachment == .photo(Blog.Photo(path: "1.jpg", width: 640)))
    #expect(all[1] == Post(site: "notes", number: 2), "every field at its default")
    #expect(all[3].status == .draft && all[5].status == .archived && all[4].status == .published)
    #expect(all[7].site == "日記" && all[7].place == Blog.Place(lat: 0, lon: 0))
    #expect(all[6].attachment == .link(Blog.Link()))
  }

  private func expectAnswers(_ posts: QueryBuilder<Post>) {
    #expect(posts.where(Post.likes == 5).map(\._rowid) == [1, 7, 8])
    #expect(
      posts.where(Post.likes > 5, orderBy: [Post.likes.descending]).map(\._rowid) == [5, 9, 3])
    #expect(
      posts.all(limit: .limit(3), orderBy: [Post.likes.ascending]).map(\._rowid) == [4, 2, 1])
    #expect(posts.where(Post.attachment._type.isNull).map(\._rowid) == [2, 4, 7, 9])
    #expect(posts.where(Post.attachment.match(Blog.Link.self)).map(\._rowid) == [3, 8])
    let photo = Post.attachment.as(Blog.Photo.self)
    #expect(posts.where(photo.path == "5.jpg").map(\._rowid) == [5])
    #expect(posts.where(photo.path == "gone.jpg").isEmpty)
    let link = Post.attachment.as(Blog.Link.self)
    #expect(posts.where(link.url == "https://one.example").map(\._rowid) == [3])
    #expect(posts.where(Post.site == "日記" && Post.number == -1).map(\._rowid) == [9])
    // Without an index.
    #expect(posts.where(Post.place.lat.isNotNull && Post.likes < 10).map(\._rowid) == [1])
  }

  private func expectDictionary(_ dictionary: any WorkspaceDictionary) {
    #expect(dictionary["is on", Bool.self] == true && dictionary["count", Int.self] == -42)
    #expect(dictionary["limit", UInt.self] == .max && dictionary["half", Float.self] == 0.5)
    #expect(dictionary["third", Double.self] == 0.25 && dictionary["name", String.self] == "Ada")
    #expect(Set(dictionary.keys) == ["is on", "count", "limit", "half", "third", "name"])
  }

  @Test(
    "Objects, conditions with and without indexes, and the dictionary", arguments: Fixture.allCases)
  func reading(fixture: Fixture) throws {
    try with(fixture) { workspace in
      try expectObjects(workspace.posts)
      expectAnswers(workspace.posts)
      expectDictionary(workspace.dflat.dictionary)
    }
  }

  @Test("The same where nothing is written; the file is unchanged", arguments: Fixture.allCases)
  func readingOnly(fixture: Fixture) throws {
    try with(fixture, configure: { $0.isReadOnly = true }) { workspace in
      let before = try Data(contentsOf: URL(fileURLWithPath: workspace.path))
      try expectObjects(workspace.posts)
      expectAnswers(workspace.posts)
      expectDictionary(workspace.dflat.dictionary)
      #expect(try Data(contentsOf: URL(fileURLWithPath: workspace.path)) == before)
    }
  }

  @Test("Complete side tables answer as they are; queries complete the partial ones")
  func indexes() throws {
    let sides = Post._schema.indexes.map(\.table)
    try with(.complete) { workspace in
      let rows = try sides.map { try workspace.sqlite3("SELECT * FROM \($0)") }
      let explanation = try workspace.posts.explain(where: Post.likes == 5)
      #expect(explanation.indexes == [sides[0]])
      expectAnswers(workspace.posts)
      try workspace.write([Post.self]) { _ in }
      #expect(try sides.map { try workspace.sqlite3("SELECT * FROM \($0)") } == rows)
    }
    try with(.unfinished) { workspace in
      #expect(try workspace.posts.explain(where: Post.likes == 5).indexes == [])
      expectAnswers(workspace.posts)
      // The queries have started the build; it is ahead of this in the queue.
      try workspace.write([Post.self]) { _ in }
      expectAnswers(workspace.posts)
      #expect(try workspace.faults() == [])
      #expect(try workspace.posts.explain(where: Post.likes == 5).indexes == [sides[0]])
    }
  }

  @Test(
    "Hand-written SQL reads objects stored and changed here", arguments: Fixture.allCases)
  func writing(fixture: Fixture) throws {
    try with(fixture) { workspace in
      let t = "blog__post_v1_0"
      expectAnswers(workspace.posts)
      try workspace.write([Post.self]) { _ in }
      // A value that only a row without an object has can be used.
      let stored = try workspace.store([post(10, likes: 6, photo: "gone.jpg"), post(11)])
      #expect(stored.map(\._rowid) == [10, 11], "row ids are not used again")
      #expect(throws: TransactionError.objectAlreadyExists) {
        try workspace.change(11) { $0.attachment = .photo(Blog.Photo(path: "5.jpg")) }
      }
      try workspace.write([Post.self]) { txn in
        let fourth = try #require(
          Blog.PostChangeRequest.changeRequest(Post(site: "notes", number: 4)))
        fourth.likes = 44
        fourth.attachment = .link(Blog.Link(url: "u"))
        try txn.submit(fourth)
        try txn.submit(
          try #require(Blog.PostChangeRequest.deletionRequest(Post(site: "journal", number: 1))))
        txn.dictionary["count"] = 7
      }
      #expect(
        try workspace.sqlite3("SELECT rowid, __pk0, __pk1 FROM \(t) WHERE rowid IN (4, 7, 10, 11)")
          == "4|notes|4\n10|s|10\n11|s|11")
      #expect(
        try workspace.sqlite3(
          "SELECT m.rowid, a.f10, b.f20__type, c.f20__u1__f4, d.f20__u2__f4 FROM \(t) m "
            + "JOIN \(t)__f10 a USING (rowid) JOIN \(t)__f20__type b USING (rowid) "
            + "JOIN \(t)__f20__u1__f4 c USING (rowid) JOIN \(t)__f20__u2__f4 d USING (rowid) "
            + "WHERE m.rowid IN (1, 4, 10, 11)")
          == "1|5|2||1.jpg\n4|44|1|u|\n10|6|2||gone.jpg\n11|0|||")
      for side in Post._schema.indexes.map(\.table) {
        #expect(
          try workspace.sqlite3(
            "SELECT count(*), max(rowid) FROM \(side) UNION SELECT count(*), max(rowid) FROM \(t)")
            == "9|11", "\(side) has exactly the objects")
        #expect(
          try workspace.sqlite3(
            "SELECT sql FROM sqlite_master WHERE name = '\(side)'"
          ).contains("DEFAULT") == false)
      }
      #expect(
        try workspace.sqlite3("SELECT seq FROM sqlite_sequence WHERE name = '\(t)'") == "11")
      #expect(
        try workspace.sqlite3("SELECT p FROM blog__post_v0_9 WHERE __pk0 = 'kept'").utf8.count == 0)
      #expect(try workspace.sqlite3("SELECT count(*) FROM blog__post_v0_9") == "1")
      #expect(try workspace.sqlite3("PRAGMA user_version; PRAGMA integrity_check") == "0\nok")
      #expect(
        try workspace.sqlite3(
          "SELECT count(*) FROM dictitem_v_dflat_internal__ WHERE __pk1 = ''") == "6")
      let objects = try flatcReads([1, 4, 10], of: workspace)
      #expect(objects[0]["likes"] as? Int == 5)
      #expect((objects[1]["attachment"] as? [String: Any])?["url"] as? String == "u")
      #expect(objects[1]["likes"] as? Int == 44 && objects[1]["status"] as? String == "Draft")
      #expect((objects[2]["attachment"] as? [String: Any])?["path"] as? String == "gone.jpg")
    }
  }
}
