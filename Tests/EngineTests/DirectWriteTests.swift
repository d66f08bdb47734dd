// The synchronous write, and the asynchronous one that runs on the thread of its task.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import Testing

@Suite("Writing on the caller's thread")
struct DirectWriteTests {
  private struct Refusal: Error, Equatable {}

  private enum Label { @TaskLocal static var text = "none" }

  @Test(
    "A synchronous write returns what is committed, runs on the calling thread, and throws",
    arguments: TestEngine.all)
  func synchronous(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      var thread: Thread?
      let first = try dflat.write(Post.self) { txn in
        thread = Thread.current
        return try txn.insert(post(1, likes: 1))
      }
      #expect(thread === Thread.current)
      #expect(first._rowid == 1)
      #expect(workspace.posts.all().map(\.likes) == [1])
      let likes = try dflat.write(Post.self, Note.self) { txn in
        try txn.update(first) { $0.likes += 1 }
        return try txn.fetch(for: Post.self).all().map(\.likes)
      }
      #expect(likes == [2])
      #expect(throws: Refusal.self) {
        try dflat.write(Post.self) { txn in
          try txn.insert(post(2))
          throw Refusal()
        }
      }
      #expect {
        try dflat.write(Post.self) { try $0.insert(post(1)) }
      } throws: {
        ($0 as? StorageError)?.cause == .alreadyExists
      }
      #expect(workspace.posts.all().map(\.likes) == [2])
      #expect(throws: WorkspaceError.noTypes) { try dflat.write { _ in } }
      #expect(throws: WorkspaceError.undeclaredType("Note")) {
        try dflat.write(Post.self) { _ = try $0.fetch(for: Note.self) }
      }
      dflat.shutdown()
      #expect(throws: WorkspaceError.shutDown) { try dflat.write(Post.self) { _ in } }
    }
  }

  @Test("Where it would wait for itself, a synchronous write throws", arguments: TestEngine.all)
  func nested(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let errors = Mutex<[String: WorkspaceError]>([:])
      @Sendable func attempt(_ place: String) {
        do { try dflat.write(Post.self) { _ in } } catch {
          errors.withLock { $0[place] = error as? WorkspaceError }
        }
      }
      let watched = dflat.subscribe(fetchedResult: workspace.posts.all()) { _ in
        attempt("callback")
      }
      let done = DispatchSemaphore(value: 0)
      dflat.performChanges([Post.self]) { txn in
        attempt("changes handler")
        txn.try(submit: Blog.PostChangeRequest.creationRequest(post(1)))
      } completionHandler: { _ in
        attempt("completion handler")
        done.signal()
      }
      done.expect("the completion")
      try dflat.write(Note.self) { _ in attempt("another type") }
      watched.cancel()
      let places = ["callback", "changes handler", "completion handler", "another type"]
      for place in places { #expect(errors.withLock { $0[place] } == .nestedWrite, "\(place)") }
    }
  }

  @Test("Nested transactions of two workspaces keep their own views", arguments: TestEngine.all)
  func twoWorkspaces(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { left in
      try withTemporaryWorkspace(engine) { right in
        try left.dflat.write(Post.self) { outer in
          try outer.insert(post(1))
          try right.dflat.write(Post.self) { inner in
            try inner.insert(post(2))
            #expect(left.posts.all().map(\.number) == [1])
            #expect(right.posts.all().map(\.number) == [2])
            #expect(throws: WorkspaceError.nestedWrite) { try left.dflat.write(Post.self) { _ in } }
          }
          #expect(left.posts.all().map(\.number) == [1])
          try outer.insert(post(3))
        }
        #expect(left.posts.all().map(\.number) == [1, 3])
        #expect(right.posts.all().map(\.number) == [2])
      }
    }
  }

  @Test(
    "A snapshot does not see what its own thread commits after it began", arguments: TestEngine.all)
  func insideSnapshot(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      try workspace.dflat.read { context in
        #expect(try context.fetch(for: Post.self).all().count == 1)
        let seen = try workspace.dflat.write(Post.self) { txn in
          try txn.insert(post(2))
          return workspace.posts.all().count
        }
        #expect(seen == 2)
        #expect(try context.fetch(for: Post.self).all().count == 1)
      }
      #expect(workspace.posts.all().count == 2)
    }
  }

  /// Checks that a serial queue runs one block at a time.
  private final class Inside: Sendable {
    private let queue: DispatchQueue
    private let count = Atomic(0)

    init(_ queue: DispatchQueue) {
      self.queue = queue
    }

    func enter() {
      dispatchPrecondition(condition: .onQueue(queue))
      #expect(count.add(1, ordering: .relaxed).newValue == 1)
    }

    func leave() { count.subtract(1, ordering: .relaxed) }
  }

  @Test(
    "With a serial target queue nothing runs in parallel with a synchronous write",
    arguments: TestEngine.all)
  func targetQueue(engine: TestEngine) throws {
    let queue = DispatchQueue(label: "target")
    try withTemporaryWorkspace(engine, settings: TestSettings(targetQueue: queue)) { workspace in
      let inside = Inside(queue)
      let done = DispatchGroup()
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for number in 0..<25 {
          done.enter()
          let number = Int32(thread * 100 + number)
          workspace.dflat.performChanges([Note.self]) { _ in
            inside.enter()
            inside.leave()
          } completionHandler: { _ in
            inside.enter()
            inside.leave()
            done.leave()
          }
          let stored = try? workspace.dflat.write(Post.self) { txn in
            inside.enter()
            defer { inside.leave() }
            return try txn.insert(post(number))
          }
          #expect(stored?.number == number)
        }
      }
      done.expect("the end")
      #expect(workspace.posts.all().count == 100)
      let nested = queue.sync { Result { try workspace.dflat.write(Post.self) { _ in } } }
      #expect(throws: WorkspaceError.nestedWrite) { try nested.get() }
    }
  }

  // MARK: Tasks

  @Test(
    "An asynchronous write runs on its task's thread if nothing blocks it",
    arguments: TestEngine.all.filter(\.writesInTasks))
  func onTask(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      // The very first write may prepare the storage, on a queue.
      try await dflat.write(Post.self) { _ in }
      #expect(try await dflat.write(Post.self) { _ in !isOnWorkspaceQueue() })
      let stored = try await dflat.write(Post.self) { txn in
        #expect(!isOnWorkspaceQueue())
        return try txn.insert(post(1))
      }
      #expect(workspace.posts.all().map(\._rowid) == [stored._rowid])
      // On the task's thread it may have to run twice, which a single attempt does not allow.
      #expect(try await dflat.write(Post.self, attempts: 1) { _ in isOnWorkspaceQueue() })
      await #expect(throws: Refusal.self) {
        try await dflat.write(Post.self) { txn in
          try txn.insert(post(2))
          throw Refusal()
        }
      }
      #expect(workspace.posts.all().count == 1)
    }
  }

  @Test(
    "An asynchronous write that would wait for another transaction waits on a queue, in its position",
    arguments: TestEngine.all.filter(\.writesInTasks))
  func waitsForWriter(engine: TestEngine) async throws {
    try await beyondTasks {
      try withTemporaryWorkspace(engine) { workspace in
        try workspace.store([post(1)])
        let isWriting = DispatchSemaphore(value: 0)
        let mayEnd = DispatchSemaphore(value: 0)
        let isEnded = DispatchSemaphore(value: 0)
        try workspace.abandonWrite {
          workspace.dflat.performChanges([Note.self]) { txn in
            let request = NoteChangeRequest.creationRequest()
            request.key = 1
            txn.try(submit: request)
            isWriting.signal()
            mayEnd.expect("that it may end")
          } completionHandler: {
            #expect($0)
            isEnded.signal()
          }
          isWriting.expect("the right to write")
        } _: {
          mayEnd.signal()
          isEnded.expect("the end of the other")
        }
      }
    }
  }

  @Test("A closure runs in its task, wherever it runs", arguments: TestEngine.all, [1, 8])
  func inTask(engine: TestEngine, attempts: Int) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([post(1)])
      // A single attempt runs on a queue.
      let text = try await Label.$text.withValue("caller") {
        try await dflat.write(Post.self, attempts: attempts) { txn in
          #expect(withUnsafeCurrentTask { $0 != nil })
          #expect(!Task.isCancelled)
          try txn.insert(post(2))
          return Label.text
        }
      }
      #expect(text == "caller")
      let cancelling = Task {
        try await dflat.write(Post.self, attempts: attempts) { txn in
          try txn.insert(post(3))
          withUnsafeCurrentTask { $0?.cancel() }
          #expect(Task.isCancelled)
        }
      }
      await #expect(throws: CancellationError.self) { try await cancelling.value }
      #expect(workspace.posts.all().map(\.number) == [1, 2])
    }
  }

  @Test("A closure that had to wait for its turn runs in its task", arguments: TestEngine.all)
  func inTaskBehindOthers(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([post(1)])
      let mayEnd = DispatchSemaphore(value: 0)
      dflat.performChanges([Post.self]) { _ in
        mayEnd.expect("that others are queued")
      } completionHandler: {
        #expect($0)
      }
      let tasks = (2...9).map { number in
        Task {
          try await Label.$text.withValue("\(number)") {
            try await dflat.write(Post.self) { txn in
              try txn.insert(post(Int32(number)))
              if number == 5 { withUnsafeCurrentTask { $0?.cancel() } }
              return Label.text
            }
          }
        }
      }
      await Task.yield()
      mayEnd.signal()
      for (number, task) in zip(2..., tasks) {
        if number == 5 {
          await #expect(throws: CancellationError.self) { try await task.value }
        } else {
          #expect(try await task.value == "\(number)")
        }
      }
      #expect(Set(workspace.posts.all().map(\.number)) == [1, 2, 3, 4, 6, 7, 8, 9])
    }
  }

  // MARK: Observers

  @Test(
    "Observers are notified before a write returns, in order, and not on its thread",
    arguments: TestEngine.all)
  func observers(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let told = Mutex<[Int]>([])
      let here = ObjectIdentifier(Thread.current)
      let subscription = workspace.dflat.subscribe(fetchedResult: workspace.posts.all()) { posts in
        #expect(ObjectIdentifier(Thread.current) != here)
        told.withLock { $0.append(posts.count) }
      }
      for number in 1...20 {
        try workspace.dflat.write(Post.self) { _ = try $0.insert(post(Int32(number))) }
        #expect(told.withLock { $0 } == Array(1...number))
      }
      subscription.cancel()
    }
  }

  @Test(
    "A slow observer delays the end of writes of its type, and nothing else",
    arguments: TestEngine.all)
  func slowObserver(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let isTold = DispatchSemaphore(value: 0)
      let mayEnd = DispatchSemaphore(value: 0)
      let subscription = dflat.subscribe(fetchedResult: workspace.posts.all()) { _ in
        isTold.signal()
        mayEnd.expect("that the observer may end")
      }
      let ended = Mutex<[Int]>([])
      let ran = DispatchSemaphore(value: 0)
      let isOver = DispatchGroup()
      for number in 1...2 {
        isOver.enter()
        DispatchQueue(label: "writer").async {
          let result = Result {
            try dflat.write(Post.self) { txn in
              try txn.insert(post(Int32(number)))
              ran.signal()
            }
          }
          #expect(throws: Never.self) { try result.get() }
          ended.withLock { $0.append(number) }
          isOver.leave()
        }
        ran.expect("the closure of a transaction")
        if number == 1 { isTold.expect("the observer") }
      }
      // Another type, and readers, are not blocked; both posts are committed.
      try dflat.write(Note.self) { _ = try $0.insert(Note(key: 1)) }
      #expect(eventually { workspace.posts.all().count == 2 })
      #expect(ended.withLock { $0 }.isEmpty)
      mayEnd.signal()
      isTold.expect("the observer again")
      mayEnd.signal()
      isOver.expect("the end")
      #expect(ended.withLock { $0.count } == 2)
      subscription.cancel()
    }
  }
}
