// Copies of a database that other programs use.

import Dflat
import DflatTestSupport
import Dispatch
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Copies of a server in use", .endsSometime)
struct CopyingTests {
  @Test("Copies and metrics make no transaction of another program fail, however long it is open")
  func longTransaction() async throws {
    try await withTwoWorkspaces { dflat, other, _ in
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1, text: "old")) }
      // One that has committed reads in its write transaction.
      try await other.write(Post.self) { try $0.insert(post(1)) }
      let (hasRead, mayWrite) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let writing = onOwnThread {
        try other.write(Note.self, Post.self, attempts: 1) { txn in
          let note = try txn.fetch(for: Note.self).where(Note.key == 1).first
          hasRead.signal()
          mayWrite.expect("the copy")
          // It comes before the change of the note, and after the copy.
          try txn.insert(post(2, photo: note?.text))
        }
      }
      hasRead.expect("the read")
      try await dflat.write(Note.self) { txn in
        try txn.update(Note.self, keys: [1]) { $0.text = "new" }
      }
      try await withSchema { schema in
        let target = postgresWorkspace(schema: schema)
        try await dflat.copy(Note.self, Post.self, to: target)
        #expect(target.fetch(for: Note.self).all().map(\.text) == ["new"])
        #expect(target.fetch(for: Post.self).all().map(\.number) == [1])
        await target.shutdown()
      }
      #expect(await dflat.metrics().logLength != nil)
      mayWrite.signal()
      writing.expect("the transaction")
      #expect(dflat.fetch(for: Post.self).all().map(\.number) == [1, 2])
    }
  }
}
