// The strings of a primary key are written in every row, even if they are empty: upstream's readers
// expect them.

import Dflat
import DflatTestSupport
import FlatBuffersRuntime
import Foundation
import SQLiteDflat
import Testing

@Suite("Strings of primary keys")
struct KeyTextTests {
  /// The bytes of a post as older versions wrote them: without a site.
  private func oldPost(number: Int32, likes: Int32, url: String? = nil) -> Data {
    let builder = FlatBufferBuilder()
    var link = FlatBufferBuilder.Offset.none
    if let url {
      let text = builder.string(url)
      builder.startTable(slotCount: 1)
      builder.add(text, at: 4)
      link = builder.endTable()
    }
    builder.startTable(slotCount: 11)
    builder.add(number, at: 6, default: 0)
    builder.add(likes, at: 10, default: 0)
    builder.add(link, at: 20)
    if url != nil { builder.add(UInt8(1), at: 18, default: 0) }
    builder.finish(builder.endTable())
    return Data(builder.bytes)
  }

  private func hasSite(_ data: Data) -> Bool {
    [UInt8](data).withUnsafeBytes { TableReader(root: $0)?.contains(4) == true }
  }

  /// The rows of a table.
  private func blobs(of table: String, in workspace: TemporaryFile) throws -> [[UInt8]] {
    try workspace.sqlite3("SELECT hex(p) FROM \(table)").split(separator: "\n").map { digits in
      stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(digits.dropFirst($0).prefix(2), radix: 16)
      }
    }
  }

  /// A workspace with three posts that lack their site, and side tables to be built.
  private func withOldPosts(_ body: (TemporaryFile) throws -> Void) throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1)])
      try workspace.remove([1])
      for (number, url) in [(1, nil), (2, "u"), (3, nil)] as [(Int32, String?)] {
        let data = oldPost(number: number, likes: number, url: url)
        let hex = data.map { String(format: "%02x", $0) }.joined()
        try workspace.tamper(
          "INSERT INTO blog__post_v1_0 (__pk0, __pk1, p) VALUES ('', \(number), x'\(hex)')")
      }
      try body(workspace)
    }
  }

  /// The sites as flatc reads them, by row; nil where it is missing.
  private func sites(_ workspace: TemporaryFile) throws -> [String?] {
    let rows = try workspace.sqlite3("SELECT rowid FROM blog__post_v1_0 ORDER BY rowid")
      .split(separator: "\n").compactMap { Int($0) }
    return try flatcReads(rows, of: workspace).map { $0["site"] as? String }
  }

  @Test("Builders, finished buffers and decoded objects contain them")
  func buffers() throws {
    let old = oldPost(number: 3, likes: 3, url: "u")
    #expect(!hasSite(old))
    #expect(hasSite(try Post(verifying: old).toData()))
    #expect(try Post(verifying: old).toData() == Post(verifying: old).toData())
    #expect(hasSite(Blog.PostBuilder(from: try Post(verifying: old)).build().toData()))
    #expect(hasSite(Post(site: "", number: 0).toData()))
    #expect(hasSite(Post.from(data: Data([1, 2, 3])).toData()))
    let decoded = try JSONDecoder().decode(
      Post.self, from: Data(#"{"site": "", "number": 4}"#.utf8))
    #expect(hasSite(decoded.toData()))
    #expect(try Post(verifying: Post(verifying: old).toData()) == Post(verifying: old))
  }

  @Test("Creations, copies and changes write them")
  func creations() throws {
    try withTemporaryFile { workspace in
      let old = try Post(verifying: oldPost(number: 3, likes: 3))
      #expect(old.site == "" && old == Post(site: "", number: 3, likes: 3))
      try workspace.write([Post.self]) { txn in
        let plain = Blog.PostChangeRequest.creationRequest()
        plain.number = 1
        try txn.submit(plain)
        try txn.submit(Blog.PostChangeRequest.creationRequest(Post(site: "", number: 2)))
        // A copy of bytes that lack it, unchanged and with a change.
        try txn.submit(Blog.PostChangeRequest.creationRequest(old))
        let changed = Blog.PostChangeRequest.creationRequest(old)
        changed.number = 4
        try txn.submit(changed)
        try txn.submit(Blog.PostChangeRequest.upsertRequest(Post(site: "", number: 5)))
      }
      #expect(try sites(workspace) == ["", "", "", "", ""])
      _ = try workspace.write([Post.self]) { txn in
        let request = try #require(
          Blog.PostChangeRequest.changeRequest(Post(site: "", number: 2)))
        request.likes = 7
        try txn.submit(request)
      }
      #expect(try sites(workspace) == ["", "", "", "", ""])
      #expect(workspace.posts.where(Post.site == "").count == 5)
    }
  }

  @Test("Updates of rows that lack them write them, whatever is changed, but only if something is")
  func updates() throws {
    try withOldPosts { workspace in
      #expect(try sites(workspace) == [nil, nil, nil])
      #expect(workspace.posts.where(Post.site == "").map(\.likes) == [1, 2, 3])
      /// Whether the row stays unchanged.
      func isIdentity(
        _ number: Int32, _ body: @escaping (Blog.PostChangeRequest) -> Void
      ) throws -> Bool {
        let outcome = try workspace.write([Post.self]) { txn -> Bool in
          let request = try #require(
            Blog.PostChangeRequest.changeRequest(Post(site: "", number: number)))
          body(request)
          if case .identity = try txn.submit(request) { return true }
          return false
        }
        return try #require(outcome.result as Bool?)
      }
      #expect(try isIdentity(1) { _ in })
      #expect(try isIdentity(1) { $0.site = "" })
      #expect(try isIdentity(1) { $0.likes = 1 })
      let upserted = try workspace.write([Post.self]) { txn in
        try txn.submit(
          Blog.PostChangeRequest.upsertRequest(Post(site: "", number: 1, likes: 1)))
      }
      guard case .identity? = upserted.result else {
        Issue.record("an upsert that changes nothing wrote something")
        return
      }
      #expect(try sites(workspace) == [nil, nil, nil])
      // A number that could be patched in place, a string behind a union, and a field that is
      // absent.
      #expect(try !isIdentity(1) { $0.likes = 10 })
      #expect(try !isIdentity(2) { $0.attachment = .link(Blog.Link(url: "v")) })
      #expect(try !isIdentity(3) { $0.tags = ["t"] })
      #expect(try sites(workspace) == ["", "", ""])
      #expect(workspace.posts.where(Post.site == "").map(\.likes) == [10, 2, 3])
    }
  }

  @Test(
    "Migrated objects have them, also those that the migration reads from bytes",
    arguments: [false, true])
  func migration(isFromBytes: Bool) async throws {
    try await withTemporaryFile { workspace in
      try workspace.storeFirst([V1.Letter(number: 1, text: "t")])
      let builder = FlatBufferBuilder()
      builder.startTable(slotCount: 4)
      builder.add(Int32(7), at: 8, default: 0)
      builder.finish(builder.endTable())
      let old = Data(builder.bytes)
      try await workspace.dflat.migrate(
        Migration(from: V1.Letter.self, to: V2.Letter.self) { _ in
          isFromBytes ? try V2.Letter(verifying: old) : V2.Letter(id: "", words: 7)
        })
      #expect(workspace.secondLetters == [V2.Letter(id: "", words: 7)])
      let rows = try blobs(of: V2.Letter._schema.table, in: workspace)
      #expect(rows.count == 1)
      for row in rows { #expect(hasSite(Data(row)), "the key has the place of a post's site") }
    }
  }

  @Test("A dictionary item has its key and its namespace, which is empty")
  func dictionary() throws {
    try withTemporaryFile { workspace in
      var dictionary = workspace.dflat.dictionary
      dictionary["", Int.self] = 1
      dictionary["name", String.self] = "Ada"
      dictionary.synchronize()
      let items = try blobs(of: "dictitem_v_dflat_internal__", in: workspace)
      #expect(items.count == 2)
      for bytes in items {
        bytes.withUnsafeBytes { bytes in
          let table = TableReader(root: bytes)
          #expect(table?.string(at: 4) != nil && table?.string(at: 6) == "")
        }
      }
    }
  }
}
