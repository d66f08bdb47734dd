// When a fetched object can be changed without another lookup, and when it must be looked up again.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import SQLiteDflat
import Testing

@Suite("Rows known to be current")
struct CurrentRowTests {
  /// Ten posts, as they were fetched after their transaction.
  private func withPosts(_ body: (TemporaryFile, [Post]) throws -> Void) throws {
    try withTemporaryFile(configure: { $0.tracesStatements = true }) { workspace in
      try workspace.store((0..<10).map { post($0) })
      try body(workspace, Array(workspace.posts.all()))
      let faults = try workspace.faults()
      #expect(faults == [])
    }
  }

  private static func like(_ post: Post, _ txn: any TransactionContext) {
    guard let request = Blog.PostChangeRequest.changeRequest(post) else { return }
    request.likes += 1
    txn.try(submit: request)
  }

  private static func show(_ post: Post, _ path: String, _ txn: any TransactionContext) {
    guard let request = Blog.PostChangeRequest.changeRequest(post) else { return }
    request.attachment = .photo(Blog.Photo(path: path))
    txn.try(submit: request)
  }

  /// The number of lookups by row id.
  private func lookUps(_ workspace: TemporaryFile) -> Int {
    workspace.takeEvents().count { event in
      guard case .statement(let sql, _) = event else { return false }
      return sql.hasPrefix("SELECT") && sql.hasSuffix("rowid = ?")
    }
  }

  @Test("Unchanged rows are not looked up by transactions that run together")
  func known() throws {
    try withPosts { workspace, posts in
      #expect(lookUps(workspace) == 0)
      workspace.together(10) { Self.like(posts[$0], $1) }
      // The first one does not know yet whether there were external changes.
      #expect(lookUps(workspace) <= 1)
      #expect(workspace.posts.all().map(\.likes) == Array(repeating: 1, count: 10))
      // The earlier fetched rows are no longer current.
      workspace.together(10) { Self.like(posts[$0], $1) }
      #expect(lookUps(workspace) == 10)
      #expect(workspace.posts.all().map(\.likes) == Array(repeating: 2, count: 10))
      let again = Array(workspace.posts.all())
      workspace.together(10) { number, txn in
        if number < 5 { Self.like(again[9 - number], txn) } else { Self.like(posts[number], txn) }
      }
      #expect(workspace.posts.all().map(\.likes) == [2, 2, 2, 2, 2, 4, 4, 4, 4, 4])
    }
  }

  @Test("A row changed by an earlier transaction has that transaction's value, committed or not")
  func changedBefore() throws {
    try withPosts { workspace, posts in
      workspace.together(5) { number, txn in
        switch number {
        case 0: Self.like(posts[0], txn)
        case 1: Self.like(posts[3], txn)
        case 2: Self.show(posts[3], "a", txn)
        case 3:
          if let request = Blog.PostChangeRequest.deletionRequest(posts[4]) {
            txn.try(submit: request)
          }
        default:
          #expect(Blog.PostChangeRequest.changeRequest(posts[4]) == nil)
          Self.like(posts[3], txn)
        }
      }
      let all = workspace.posts.all()
      #expect(all.count == 9)
      #expect(all[3].likes == 2)
      #expect(all[3].attachment == .photo(Blog.Photo(path: "a")))
    }
  }

  @Test("A row changed by an aborted transaction is unchanged")
  func aborted() throws {
    try withPosts { workspace, posts in
      workspace.together(4) { number, txn in
        Self.like(posts[number == 0 ? 0 : 3], txn)
        if number == 1 { txn.abort() }
      }
      #expect(workspace.posts.all()[3].likes == 2)
    }
  }

  @Test("A row that another program has changed meanwhile is looked up")
  func foreign() throws {
    try withPosts { workspace, posts in
      let other = workspace.secondWorkspace()
      try other.change(3) { $0.likes = 40 }
      try other.remove([4])
      workspace.together(6) { number, txn in
        switch number {
        case 0: Self.like(posts[0], txn)
        case 1: Self.show(posts[3], "a", txn)
        case 2: Self.like(posts[3], txn)
        case 3: #expect(Blog.PostChangeRequest.changeRequest(posts[4]) == nil)
        default: Self.like(posts[5], txn)
        }
      }
      let all = workspace.posts.all()
      #expect(all.count == 9)
      #expect(all[3].likes == 41)
      #expect(all[3].attachment == .photo(Blog.Photo(path: "a")))
      #expect(all[4].likes == 2)
      other.dflat.shutdown()
    }
  }

  @Test(
    "The same for the first transaction of a type, while the writer is open for another type"
  )
  func foreignBesideOthers() throws {
    try withPosts { workspace, posts in
      let other = workspace.secondWorkspace()
      try other.change(3) { $0.likes = 40 }
      workspace.together(2, of: [Post.self, Note.self]) { number, txn in
        if number == 1 { return Self.like(posts[3], txn) }
        let request = NoteChangeRequest.creationRequest()
        request.key = 1
        txn.try(submit: request)
      }
      #expect(workspace.posts.all()[3].likes == 41)
      other.dflat.shutdown()
    }
  }

  @Test("Objects from another file say nothing about this one")
  func otherFile() throws {
    try withPosts { workspace, posts in
      try withPosts { other, _ in
        // The commit clock of that workspace is ahead.
        for _ in 0..<5 { try other.change(3) { $0.likes += 7 } }
        let foreign = Array(other.posts.all())
        #expect(foreign.map(\._rowid) == posts.map(\._rowid))
        workspace.together(3) { number, txn in
          Self.like(number == 0 ? posts[0] : foreign[3], txn)
        }
        #expect(workspace.posts.all()[3].likes == 2)
      }
    }
  }

  @Test("An idle workspace needs no lookup either")
  func idle() throws {
    try withPosts { workspace, posts in
      try workspace.write([Post.self]) { Self.like(posts[0], $0) }
      let again = Array(workspace.posts.all())
      _ = workspace.takeEvents()
      for number in 0..<4 {
        try workspace.write([Post.self]) { txn in
          Self.like(again[2 * number], txn)
          Self.show(again[2 * number + 1], "\(number)", txn)
        }
      }
      #expect(lookUps(workspace) == 0)
      // Earlier external changes are found; rows without such changes are still updated.
      let other = workspace.secondWorkspace()
      let latest = Array(workspace.posts.all())
      try other.change(3) { $0.likes = 40 }
      for number in [3, 2, 4] {
        let outcome = try workspace.write([Post.self]) { Self.like(latest[number], $0) }
        #expect(outcome.isCommitted)
      }
      #expect(workspace.posts.all().map(\.likes) == [2, 0, 2, 41, 2, 0, 1, 0, 0, 0])
      other.dflat.shutdown()
    }
  }

  /// The file, opened again by a workspace that has written nothing.
  private func reopened(_ file: TemporaryFile) -> TemporaryFile {
    TemporaryFile(path: file.path) { $0.tracesStatements = true }
  }

  @Test("Objects that were fetched before the first transaction of their type are not looked up")
  func fetchedFirst() throws {
    try withPosts { file, _ in
      let workspace = reopened(file)
      let posts = Array(workspace.posts.all())
      let third = try #require(workspace.posts.where(Post.number == 3 && Post.site == "s").first)
      let fourth = try #require(
        workspace.dflat.fetchWithinASnapshot { workspace.posts.where(Post.number == 4).first })
      _ = workspace.takeEvents()
      for number in 0..<3 {
        try workspace.write([Post.self]) { Self.like(posts[number], $0) }
      }
      try workspace.write([Post.self]) { txn in
        Self.like(third, txn)
        Self.like(fourth, txn)
        Self.show(posts[5], "a", txn)
        let request = try #require(Blog.PostChangeRequest.deletionRequest(posts[6]))
        try txn.submit(request)
      }
      try workspace.write([Post.self]) { txn in
        let request = try #require(Blog.PostChangeRequest.deletionRequest(posts[7]))
        try txn.submit(request)
      }
      #expect(lookUps(workspace) == 0)
      // Those that were changed since are.
      try workspace.write([Post.self]) { Self.like(posts[1], $0) }
      #expect(lookUps(workspace) == 1)
      #expect(workspace.posts.all().map(\.likes) == [1, 2, 1, 1, 1, 0, 0, 0])
      workspace.dflat.shutdown()
    }
  }

  @Test("After a commit of another program what was fetched before it is looked up")
  func foreignBeforeFirst() throws {
    try withPosts { file, _ in
      let workspace = reopened(file)
      let posts = Array(workspace.posts.all())
      try file.change(3) { $0.likes = 40 }
      try file.remove([4])
      try workspace.write([Post.self]) { txn in
        Self.like(posts[3], txn)
        #expect(Blog.PostChangeRequest.changeRequest(posts[4]) == nil)
        #expect(Blog.PostChangeRequest.deletionRequest(posts[4]) == nil)
      }
      #expect(lookUps(workspace) > 0)
      #expect(workspace.posts.all().map(\.likes) == [0, 0, 0, 41, 0, 0, 0, 0, 0])
      workspace.dflat.shutdown()
    }
  }

  @Test("A transaction that has read something takes a row for current, too")
  func afterReading() throws {
    try withPosts { file, posts in
      let other = file.secondWorkspace()
      _ = file.takeEvents()
      try file.write([Post.self]) { txn in
        #expect(file.posts.where(Post.likes > 5).isEmpty)
        Self.like(posts[2], txn)
        Self.like(posts[3], txn)
      }
      #expect(lookUps(file) == 0)
      // One that is younger than the state that the transaction reads is not current in it.
      try file.write([Post.self]) { txn in
        #expect(file.posts.all().count == 10)
        try other.change(5) { $0.likes = 50 }
        let young = try #require(fetchElsewhere(file, 5))
        #expect(young.likes == 50)
        let request = try #require(Blog.PostChangeRequest.changeRequest(young))
        #expect(request.likes == 0)
      }
      other.dflat.shutdown()
    }
  }

  /// A post as a thread outside of the transaction fetches it.
  private func fetchElsewhere(_ file: TemporaryFile, _ number: Int32) -> Post? {
    let found = Mutex<Post?>(nil)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let post = file.posts.where(Post.number == number).first
      found.withLock { $0 = post }
      done.signal()
    }
    done.expect("the other thread")
    return found.withLock { $0 }
  }

  /// The action of another program while a transaction that has not read the second post is about
  /// to change it.
  enum Meanwhile: CaseIterable {
    case change, changeAnother, remove
  }

  /// The first transaction is committed, and another program commits, between the second one's
  /// reads and its first change.
  @Test(
    "A change by another program after uncommitted objects were read is a conflict if it concerns them",
    arguments: Meanwhile.allCases, [false, true])
  func conflictAfterUncommitted(with change: Meanwhile, queries: Bool) throws {
    try withPosts { workspace, posts in
      let other = workspace.secondWorkspace()
      let isQueued = DispatchSemaphore(value: 0)
      let isCommitted = DispatchSemaphore(value: 0)
      let latest = Array(workspace.posts.all())
      workspace.dflat.performChanges(
        [Post.self],
        changesHandler: { txn in
          isQueued.expect("the second transaction")
          Self.like(latest[0], txn)
        }
      ) {
        #expect($0)
        isCommitted.signal()
      }
      let done = DispatchSemaphore(value: 0)
      let refused = change != .changeAnother
      workspace.dflat.performChanges(
        [Post.self],
        changesHandler: { txn in
          let found = queries ? workspace.posts.where(Post.number == 2)[0] : latest[2]
          let request = Blog.PostChangeRequest.changeRequest(found)
          isCommitted.expect("the first transaction's commit")
          do {
            switch change {
            case .change: try other.change(2) { $0.likes += 10 }
            case .changeAnother: try other.change(5) { $0.likes += 10 }
            case .remove: try other.remove([2])
            }
          } catch { Issue.record(error) }
          request?.likes += 1
          if let request { txn.try(submit: request) }
        }
      ) {
        #expect($0 != refused)
        done.signal()
      }
      isQueued.signal()
      done.expect("the second transaction")
      #expect(workspace.takeErrors().map(\.cause).contains(.conflict) == refused)
      other.dflat.shutdown()
    }
  }

  @Test(
    "A change by another program after a row was relied on is a conflict if it concerns the row",
    arguments: Meanwhile.allCases, [false, true])
  func conflict(with change: Meanwhile, queries: Bool) throws {
    try withPosts { workspace, posts in
      let other = workspace.secondWorkspace()
      let refused = change != .changeAnother
      for isFirst in [true, false] {
        // Gives the transaction a row to rely on.
        try workspace.write([Post.self]) { Self.like(workspace.posts.all()[0], $0) }
        let latest = Array(workspace.posts.all())
        let before = latest.map(\.likes)
        _ = workspace.takeEvents()
        let outcome = try workspace.write([Post.self]) { txn in
          let request = try #require(Blog.PostChangeRequest.changeRequest(latest[2]))
          #expect(lookUps(workspace) == 0)
          switch change {
          case .change: try other.change(2) { $0.likes += 10 }
          case .changeAnother: try other.change(5) { $0.likes += 10 }
          case .remove:
            try other.remove([2])
            if !isFirst { try other.store([post(2)]) }
          }
          if queries {
            // Either from the state in which the row was relied on, or from none.
            for _ in 0..<2 {
              let likes = workspace.posts.all().map(\.likes)
              if refused { #expect(likes.isEmpty) } else { #expect(likes[2] == before[2]) }
            }
          }
          request.likes += 1
          txn.try(submit: request)
        }
        #expect(outcome.isCommitted != refused)
        let causes = workspace.takeErrors().map(\.cause)
        #expect(causes.contains(.conflict) == refused)
        if change == .remove { break }
        #expect(workspace.posts.all()[2].likes == before[2] + (refused ? 10 : 1))
      }
      other.dflat.shutdown()
    }
  }
}
