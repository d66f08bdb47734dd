// Objects read in place.

import Dflat
import DflatTestSupport
import FlatBuffersRuntime
import Testing

@Suite("Scans")
struct ScanTests {
  private struct Refusal: Error {}

  @Test("A scan has the objects of the query, in its order", arguments: TestEngine.all)
  func queries(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...50).map { post($0, likes: $0 % 7) })
      let query = workspace.dflat.query(Post.self).where(Post.likes > 2)
        .orderBy(Post.likes.descending).limit(9).offset(2)
      var numbers: [Int32] = []
      try query.scan { numbers.append($0.number) }
      #expect(numbers == (try query.fetch().map(\.number)))
      try await workspace.dflat.write(Post.self) { txn in
        try txn.insert(post(51, likes: 99))
        var likes: [Int32] = []
        try txn.query(Post.self).where(Post.likes > 6).scan { likes.append($0.likes) }
        #expect(likes == [99])
      }
      var count = 0
      #expect(throws: Refusal.self) {
        try workspace.dflat.query(Post.self).scan { _ in
          count += 1
          if count == 3 { throw Refusal() }
        }
      }
      #expect(count == 3)
    }
  }

  @Test("A scan by keys has the objects that there are, once each", arguments: TestEngine.all)
  func keys(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try await workspace.dflat.write(Note.self) { txn in
        try txn.insert(contentsOf: (0..<900).map { Note(key: $0) })
      }
      // More than one statement has.
      let keys = (500..<1500).map { UInt64($0) }
      var found: [UInt64] = []
      try workspace.dflat.query(Note.self).limit(3).scan(keys: keys) { found.append($0.key) }
      #expect(found.sorted() == Array(500..<900))
      found = []
      try workspace.dflat.query(Note.self).where(Note.key < 503).scan(keys: keys) {
        found.append($0.key)
      }
      #expect(found.sorted() == [500, 501, 502])
      found = []
      try workspace.dflat.query(Note.self).scan(keys: []) { found.append($0.key) }
      #expect(found.isEmpty)
    }
  }
}

extension TableReader {
  fileprivate var number: Int32 { scalar(at: 6, default: 0) }
  fileprivate var likes: Int32 { scalar(at: 10, default: 0) }
  fileprivate var key: UInt64 { scalar(at: 4, default: 0) }
}
