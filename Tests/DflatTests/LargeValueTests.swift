// Values that are larger than a buffer can be: objects are made of them, and refused when they are
// stored. The limit of 2 GiB is a smaller one here, in processes of the tests' own.

import Dflat
import DflatTestSupport
import FlatBuffersRuntime
import Foundation
import MemoryDflat
import Testing

@Suite("Values that are too large")
struct LargeValueTests {
  @Test("An object with one is made, and every way to store it is refused")
  func objects() async throws {
    await #expect(processExitsWith: .success) {
      FlatBufferBuilder.greatestSize = 4096
      try LargeValueTests.check()
    }
  }

  @Test("A value of a dictionary that no row of SQLite can have stays in memory alone")
  func dictionaryEntry() async {
    await #expect(processExitsWith: .success) {
      let dflat = MemoryWorkspace()
      let errors = ReportedErrors()
      dflat.errorHandler = { errors.add($0) }
      dflat.dictionary["large"] = String(repeating: "x", count: 1_000_000_000)
      dflat.dictionary["after"] = 1
      dflat.shutdown()
      #expect(errors.takeAll().map { ($0 as? DictionaryError)?.cause } == [.notEncodable])
    }
  }

  private static func check() throws {
    let long = String(repeating: "x", count: 5000)
    let half = String(repeating: "y", count: 3000)
    let large = [
      Post(site: "s", number: 1, tags: [long]), Post(site: long, number: 1),
      Post(site: "s", number: 1, tags: [half, half]),
      Post(site: "s", number: 1, author: Blog.Author(handle: half, name: half)),
      Post(site: "s", number: 1, attachment: .link(Blog.Link(url: long))),
      Post(site: "s", number: 1, tags: Array(repeating: "", count: 3000)),
    ]
    let dflat = MemoryWorkspace()
    try dflat.write(Post.self) { txn in
      try txn.insert(Post(site: "s", number: 7, tags: [half]))
      for post in large {
        #expect(throws: StorageError.self) { try txn.insert(post) }
        do { _ = try txn.insert(post) } catch let error as StorageError {
          #expect(error.cause == .invalidValue && "\(error)".contains("4096 bytes"))
        }
        #expect(throws: StorageError.self) { try txn.upsert(post) }
        #expect(post._refusal != nil && post.toData().isEmpty)
        _ = (post.description, post.hashValue, post == post)
        #expect(throws: (any Error).self) { try JSONEncoder().encode(post) }
        let request = Blog.PostChangeRequest.creationRequest(post)
        #expect(throws: StorageError.self) { _ = try txn.submit(request) }
      }
      let request = Blog.PostChangeRequest.creationRequest()
      request.site = "t"
      request.tags = [long]
      #expect(throws: StorageError.self) { _ = try txn.submit(request) }
    }
    // A draft of a stored object, whose other fields are copied beside the new ones.
    try dflat.write(Post.self) { txn in
      let stored = try #require(try txn.query(Post.self).first())
      #expect(throws: StorageError.self) {
        try txn.update(stored) { $0.author = Blog.Author(handle: half, name: nil) }
      }
      #expect(throws: StorageError.self) { try txn.update(stored) { $0.tags = [long] } }
      try txn.update(stored) { $0.likes = 3 }
    }
    let all = dflat.fetch(for: Post.self).all()
    #expect(all.map(\.number) == [7] && all[0].likes == 3 && all[0].tags == [half])
    // Plain values, JSON, and the dictionary.
    let author = Blog.Author(handle: long, name: half)
    #expect(author.toData().isEmpty && author._refusal != nil)
    #expect(throws: DecodingError.self) {
      let json = "{\"site\": \"s\", \"number\": 1, \"tags\": [\"\(long)\"]}"
      _ = try JSONDecoder().decode(Post.self, from: Data(json.utf8))
    }
    let errors = ReportedErrors()
    dflat.errorHandler = { errors.add($0) }
    dflat.dictionary["text"] = long
    dflat.dictionary["author"] = author
    dflat.dictionary["codable"] = [long]
    dflat.dictionary[long] = 1
    dflat.dictionary["small"] = "small"
    #expect(errors.takeAll().count { ($0 as? DictionaryError)?.cause == .notEncodable } == 4)
    #expect(dflat.dictionary["text", String.self] == long)
    #expect(throws: StorageError.self) {
      try dflat.write(Post.self) { $0.dictionary["text"] = long }
    }
    dflat.shutdown()
    #expect(errors.takeAll().allSatisfy { "\($0)".utf8.count < 2000 })
  }
}
