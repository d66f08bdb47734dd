// Transactions that return results and throw errors.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("write and read")
struct WriteTests {
  @Test("A change by another connection to what a closure has read makes it run again")
  func conflict() async throws {
    try await withTemporaryFile { workspace in
      try workspace.store([post(1, likes: 1), post(2, likes: 1)])
      let second = workspace.secondWorkspace()
      let runs = Mutex(0)
      let sum = try await workspace.dflat.write(Post.self) { txn in
        let all = try txn.fetch(for: Post.self).all()
        let run = runs.withLock { runs in
          runs += 1
          return runs
        }
        if run == 1 {
          _ = try second.write([Post.self]) { txn in
            let request = try #require(Blog.PostChangeRequest.changeRequest(post(2)))
            request.likes = 5
            try txn.submit(request)
          }
        }
        let sum = all.reduce(0) { $0 + $1.likes }
        try txn.insert(post(3, likes: sum))
        return sum
      }
      #expect(sum == 6)
      #expect(runs.withLock { $0 } == 2)
      #expect(workspace.posts.all().map(\.likes) == [1, 5, 6])
      await second.dflat.shutdown()
    }
  }

  @Test("External changes to what a closure has not read are no conflict")
  func noConflict() async throws {
    try await withTemporaryFile { workspace in
      try workspace.store([post(1, likes: 1), post(2, likes: 1)])
      let second = workspace.secondWorkspace()
      let runs = Mutex(0)
      try await workspace.dflat.write(Post.self) { txn in
        runs.withLock { $0 += 1 }
        let one = try #require(try txn.fetch(for: Post.self).where(Post.number == 1).first)
        _ = try second.write([Post.self]) {
          try $0.submit(Blog.PostChangeRequest.creationRequest(post(7)))
        }
        try txn.update(one) { $0.likes = 9 }
      }
      #expect(runs.withLock { $0 } == 1)
      #expect(workspace.posts.all().map(\.likes).count == 3)
      await second.dflat.shutdown()
    }
  }

  @Test("A closure whose reads keep being invalidated gives up after its attempts")
  func attempts() async throws {
    try await withTemporaryFile { workspace in
      try workspace.store([post(1, likes: 0)])
      let second = workspace.secondWorkspace()
      let runs = Mutex(0)
      await #expect {
        try await workspace.dflat.write(Post.self, attempts: 3) { txn in
          runs.withLock { $0 += 1 }
          let one = try txn.fetch(for: Post.self).all()[0]
          _ = try second.write([Post.self]) { txn in
            let request = try #require(Blog.PostChangeRequest.changeRequest(post(1)))
            request.likes += 1
            try txn.submit(request)
          }
          try txn.update(one) { $0.likes += 100 }
        }
      } throws: {
        ($0 as? StorageError)?.cause == .conflict
      }
      #expect(runs.withLock { $0 } == 3)
      #expect(workspace.posts.all().map(\.likes) == [3])
      await second.dflat.shutdown()
    }
  }

  @Test("The error of a taken key has SQLite's code and the statement")
  func takenKey() async throws {
    try await withTemporaryFile { workspace in
      try workspace.store([post(1)])
      let caught = await #expect(throws: StorageError.self) {
        try await workspace.dflat.write(Post.self) { try $0.insert(post(1)) }
      }
      let error = caught?.underlying as? SQLiteError
      #expect(error?.extendedCode == 2067 || error?.extendedCode == 1555)
      #expect(error?.sql?.hasPrefix("INSERT INTO") == true)
    }
  }
}
