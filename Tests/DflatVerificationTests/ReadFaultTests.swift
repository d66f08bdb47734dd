// Transactions that read before they write, on disks whose reads fail: what could not be read must
// not count as what is not stored.

import Dflat
import DflatTestSupport
import DflatVerification
import Foundation
import Platform
import SQLiteDflat
import Testing

@Suite("Reads in transactions on failing disks")
struct ReadFaultTests {
  /// How the transaction is run.
  enum Way: String, CaseIterable { case write, performChanges }

  private static func post(_ number: Int32, _ name: String) -> Post {
    let author = Blog.Author(handle: "h", name: name + String(repeating: "n", count: 500))
    return Post(site: "s", number: number, author: author)
  }

  private static let before = (1...60).map { post($0, "old") }
  private static let after = (1...40).map { post($0, "new") }

  /// Changes ten by their keys, stores the next ones whether they are there or not, deletes the
  /// last ones, changes the first ten that a query finds, and counts up. Goes on after errors.
  ///
  /// All requests are made before the first is submitted: until then the closure reads without the
  /// write lock, and after a read that fails SQLite has nothing to roll back.
  private static func change(
    _ file: TemporaryFile, _ dictionary: any WorkspaceDictionary,
    _ submit: (Blog.PostChangeRequest?) -> Void
  ) {
    var requests = (11...20).map { number in
      let request = Blog.PostChangeRequest.changeRequest(before[number - 1])
      request?.author = after[number - 1].author
      return request
    }
    requests += (21...40).map { .upsertRequest(after[$0 - 1]) }
    requests += (41...60).map { .deletionRequest(before[$0 - 1]) }
    requests += file.posts.where(Post.number <= 10).map { found in
      let request = Blog.PostChangeRequest.changeRequest(found)
      request?.author = after[Int(found.number) - 1].author
      return request
    }
    for request in requests { submit(request) }
    var dictionary = dictionary
    dictionary["n"] = dictionary["n", default: 0] + 1
  }

  private static func run(_ file: TemporaryFile, _ way: Way) throws -> Bool {
    switch way {
    case .write:
      do {
        try file.dflat.write(Post.self) { txn in
          change(file, txn.dictionary) { if let request = $0 { _ = try? txn.submit(request) } }
        }
        return true
      } catch { return false }
    case .performChanges:
      return try file.write([Post.self]) { txn in
        change(file, txn.dictionary) { if let request = $0 { txn.try(submit: request) } }
      }.isCommitted
    }
  }

  @Test("Some call fails: all of it is done, or nothing", arguments: Way.allCases)
  func failing(way: Way) throws {
    try withTemporaryDirectory { directory in
      let template = "\(directory)/template.db"
      let first = TemporaryFile(path: template)
      try first.store(Self.before)
      try first.dflat.write(Post.self) { $0.dictionary["n"] = 7 }
      first.dflat.shutdown(flags: .truncate)
      let calls = FailingCalls(
        template, in: directory, stride: isLongRun ? 1 : 5, cacheSize: 16 << 10)
      try calls.run {
        try Self.run($0, way)
      } check: { file, isCommitted, call in
        let found = file.posts.all().sorted { $0.number < $1.number }
        #expect(found == (isCommitted ? Self.after : Self.before), call)
        #expect(file.dflat.dictionary["n"] == (isCommitted ? 8 : 7), call)
      }
    }
  }
}
