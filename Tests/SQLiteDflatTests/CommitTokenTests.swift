// The token of what a snapshot or transaction reads, with other workspaces on the file.

import Dflat
import DflatTestSupport
import Platform
import Testing

@Suite("Commit tokens of contexts")
struct CommitTokenTests {
  @Test("The token of a snapshot is that of its state, and unknown once another has committed")
  func snapshots() throws {
    try withTemporaryFile { file in
      let (dflat, other) = (file.dflat, file.secondWorkspace().dflat)
      try other.write(Post.self) { txn in
        try txn.insert(post(1))
        var dictionary = txn.dictionary
        dictionary["count"] = 1
      }
      let token = try #require(try dflat.commitToken())
      try dflat.read { context in
        #expect(context.commitToken == token)
        #expect(try context.storedValue("count", as: Int.self) == 1)
        try other.write(Post.self) { txn in
          try txn.insert(post(2))
          var dictionary = txn.dictionary
          dictionary["count"] = 2
        }
        #expect(try dflat.commitToken() != token)
        // Also in a read that joins the snapshot.
        try dflat.read { inner in
          #expect(inner.commitToken == nil)
          let count = try inner.storedValue("count", as: Int.self)
          #expect(count == 1)
          #expect(try inner.fetch(for: Post.self).all().count == 1)
        }
      }
      try dflat.read { context in
        #expect(context.commitToken != token && context.commitToken != nil)
        let count = try context.storedValue("count", as: Int.self)
        #expect(count == 2)
      }
    }
  }

  @Test("A transaction knows its token when it writes; if what it read changes it runs again")
  func transactions() throws {
    try withTemporaryFile { file in
      let (dflat, other) = (file.dflat, file.secondWorkspace().dflat)
      var found: [Int?] = []
      try dflat.write(Post.self) { txn in
        found.append(try txn.storedValue("count", as: Int.self))
        #expect(txn.commitToken == nil)
        if found.count == 1 {
          try other.write {
            var dictionary = $0.dictionary
            dictionary["count"] = 1
          }
        }
        try txn.beginWriting()
        #expect(txn.commitToken != nil)
      }
      #expect(found == [nil, 1])
      #expect(dflat.isWritable && dflat.isShared)
    }
  }
}
