// A file whose tables without fields have vtables of 2 bytes, as Google's builder for Swift writes
// them: Fixtures/empty-tables.db.
//
// Of its 40 posts, 19 contain such a table: rows 1 to 6 as author, 7 to 11 as a link, 12 to 15 as a
// photo, 16 to 18 as author and as link, and row 19 consists of it. All other rows have likes,
// tags, authors, links or photos according to their number.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Testing

@Suite("Tables without fields in files of other programs")
struct EmptyTableTests {
  /// The content of a row, by its number.
  private func expected(_ row: Int32) -> Post {
    if row == 19 { return Post(site: "", number: 0) }
    var author: Blog.Author?
    var attachment: Blog.Attachment?
    switch row {
    case ...6: author = Blog.Author()
    case ...11: attachment = .link(Blog.Link())
    case ...15: attachment = .photo(Blog.Photo())
    case ...18:
      author = Blog.Author()
      attachment = .link(Blog.Link())
    case _ where row % 3 == 0: author = Blog.Author(handle: "ada")
    case _ where row % 3 == 1: attachment = .link(Blog.Link(url: "u\(row)"))
    default: attachment = .photo(Blog.Photo(path: "\(row).jpg", width: 640))
    }
    return Post(
      site: "notes", number: row, likes: row, author: author, tags: row % 4 == 0 ? ["a", "b"] : [],
      attachment: attachment, isPinned: row % 5 == 0)
  }

  private var rows: ClosedRange<Int32> { 1...40 }

  @Test("Every object is read, in whole results and by its key")
  func reading() throws {
    try withFixture("empty-tables") { workspace in
      #expect(workspace.posts.all().map { $0 } == rows.map(expected))
      for row in rows {
        let post = expected(row)
        let found = workspace.posts.where(Post.site == post.site && Post.number == post.number)
        #expect(found.map { $0 } == [post] && found.map(\._rowid) == [Int64(row)])
      }
    }
  }

  @Test("Creating one again is refused, and it is found")
  func creatingAgain() throws {
    try withFixture("empty-tables") { workspace in
      for row in rows {
        try workspace.write([Post.self]) { txn in
          let request = Blog.PostChangeRequest.creationRequest(expected(row))
          #expect(throws: TransactionError.objectAlreadyExists) { try txn.submit(request) }
          let found = try #require(Blog.PostChangeRequest.changeRequest(expected(row)))
          #expect(found.likes == expected(row).likes && found.author == expected(row).author)
        }
      }
      #expect(workspace.posts.all().count == 40)
    }
  }

  @Test("Updates keep unset fields; flatc reads what is written, with the key's strings")
  func updates() throws {
    try withFixture("empty-tables") { workspace in
      // In place for the rows with likes, otherwise rewritten; then all rows are rewritten.
      for (round, title) in ["likes", "tags"].enumerated() {
        try workspace.write([Post.self]) { txn in
          for row in rows {
            let request = try #require(Blog.PostChangeRequest.changeRequest(expected(row)))
            if round == 0 { request.likes = 1_000 + row } else { request.tags = [title] }
            guard case .updated = try txn.submit(request) else {
              Issue.record("row \(row) was not updated")
              return
            }
          }
        }
        #expect(
          workspace.posts.all().map { $0 }
            == rows.map { row in
              var post = Blog.PostBuilder(from: expected(row))
              post.likes = 1_000 + row
              if round == 1 { post.tags = [title] }
              return post.build()
            })
        let objects = try flatcReads(rows.map(Int.init), of: workspace)
        for (row, object) in zip(rows, objects) {
          #expect(object["site"] as? String == expected(row).site)
          #expect(object["likes"] as? Int == Int(1_000 + row))
          #expect((object["author"] != nil) == (expected(row).author != nil))
          #expect((object["attachment"] != nil) == (expected(row).attachment != nil))
        }
      }
      #expect(try workspace.faults(complete: false) == [])
    }
  }

  @Test("Conditions on fields of such tables, and beyond them", arguments: IndexState.allCases)
  func conditions(state: IndexState) throws {
    var random = SeededGenerator(seed: 5)
    try withFixture("empty-tables") { workspace in
      try state.impose(on: Post._schema, workspace.foreignConnection(), using: &random)
      func rows<C: QueryExpression<Bool, Post>>(_ condition: C) -> [Int64] {
        workspace.posts.where(condition).map(\._rowid)
      }
      func matching(_ isMatching: (Post) -> Bool) -> [Int64] {
        self.rows.filter { isMatching(expected($0)) }.map(Int64.init)
      }
      let link = Post.attachment.as(Blog.Link.self)
      let photo = Post.attachment.as(Blog.Photo.self)
      for _ in 0..<3 {
        #expect(
          rows(Post.attachment.match(Blog.Link.self))
            == matching { if case .link? = $0.attachment { true } else { false } })
        #expect(
          rows(Post.attachment.match(Blog.Photo.self))
            == matching { if case .photo? = $0.attachment { true } else { false } })
        #expect(rows(Post.attachment._type.isNull) == matching { $0.attachment == nil })
        #expect(
          rows(link.url.isNull)
            == matching {
              if case .link(let link)? = $0.attachment { link.url == nil } else { true }
            })
        #expect(
          rows(link.url.isNotNull)
            == matching {
              if case .link(let link)? = $0.attachment { link.url != nil } else { false }
            })
        #expect(rows(photo.path == "20.jpg") == [20])
        #expect(
          rows(Post.attachment.match(Blog.Photo.self) && photo.path.isNull) == [12, 13, 14, 15])
        #expect(rows(Post.author.handle.isNull) == matching { $0.author?.handle == nil })
        #expect(rows(Post.author.handle == "ada") == matching { $0.author?.handle == "ada" })
        #expect(rows(Post.likes <= 18) == (1...19).map(Int64.init))
        #expect(rows(Post.site == "") == [19] && rows(Post.isPinned) == matching(\.isPinned))
        // The queries have started to build the missing indexes.
        try workspace.write([Post.self]) { _ in }
      }
      #expect(try workspace.faults() == [])
    }
  }

  @Test("Dictionary values that are such tables, or contain some")
  func dictionary() throws {
    try withFixture("empty-tables") { workspace in
      let dictionary = workspace.dflat.dictionary
      #expect(dictionary["author", Blog.Author.self] == Blog.Author())
      #expect(dictionary["post", Post.self] == Post(site: "", number: 0))
      #expect(
        dictionary["wrapped", Post.self]
          == Post(
            site: "s", number: 7, author: Blog.Author(), attachment: .link(Blog.Link())))
      #expect(Set(dictionary.keys) == ["author", "post", "wrapped"])
    }
  }
}
