// All ways of writing at once, from threads and tasks, over overlapping types, at random.
//
// Each transaction increments the likes of a post, the text of a note, or both. So the counters
// show how many transactions were committed, the value that a transaction finds shows its position
// in the order of its type, and each counter delivered to an observer must be a committed one.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteDflat
import Platform
import Testing

@Suite("Mixed writers")
struct MixedWriterTests {
  private enum Form: CaseIterable {
    case queued, synchronous, awaited
  }

  private struct Refusal: Error {}

  /// What one transaction has found: the counters, as it left them.
  private struct Counts: Sendable {
    var post: Int32?
    var note: Int?
  }

  /// The work of a transaction, in a form that works in both contexts.
  private struct Change: Sendable {
    let usesPost: Bool
    let usesNote: Bool
    let isRefused: Bool

    init(_ random: inout SeededGenerator) {
      let choice = Int.random(in: 0..<3, using: &random)
      usesPost = choice != 0
      usesNote = choice != 1
      isRefused = Int.random(in: 0..<8, using: &random) == 0
    }

    func run(_ dflat: SQLiteWorkspace, _ submit: Submit) throws -> Counts {
      var counts = Counts()
      if usesPost {
        let found = try #require(dflat.fetch(for: Post.self).all().first)
        let request = try #require(Blog.PostChangeRequest.changeRequest(found))
        request.likes += 1
        try submit.post(request)
        counts.post = request.likes
      }
      if usesNote {
        let request = try #require(NoteChangeRequest.changeRequest(Note(key: 1)))
        let count = (request.text.flatMap { Int($0) } ?? 0) + 1
        request.text = "\(count)"
        try submit.note(request)
        counts.note = count
      }
      if isRefused { throw Refusal() }
      return counts
    }
  }

  private struct Submit {
    let post: (Blog.PostChangeRequest) throws -> Void
    let note: (NoteChangeRequest) throws -> Void

    init(_ txn: WriteContext) {
      post = { try txn.submit($0) }
      note = { try txn.submit($0) }
    }

    init(_ txn: any TransactionContext) {
      post = { try txn.submit($0) }
      note = { try txn.submit($0) }
    }
  }

  /// Not Swift's thread pool, whose threads other tests block.
  private static let tasks = TaskQueue()

  /// Makes a change, and waits until it has completed.
  private static func perform(
    _ change: Change, _ form: Form, _ dflat: SQLiteWorkspace
  ) throws -> Counts {
    let body: @Sendable (WriteContext) throws -> Counts = { try change.run(dflat, Submit($0)) }
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Result<Counts, any Error>>(.failure(NotRun()))
    switch form {
    case .synchronous:
      return switch (change.usesPost, change.usesNote) {
      case (true, true): try dflat.write(Note.self, Post.self, body: body)
      case (true, false): try dflat.write(Post.self, body: body)
      default: try dflat.write(Note.self, body: body)
      }
    case .awaited:
      Task(executorPreference: tasks) {
        do {
          let counts =
            switch (change.usesPost, change.usesNote) {
            case (true, true): try await dflat.write(Post.self, Note.self, body: body)
            case (true, false): try await dflat.write(Post.self, body: body)
            default: try await dflat.write(Note.self, body: body)
            }
          result.withLock { $0 = .success(counts) }
        } catch {
          result.withLock { $0 = .failure(error) }
        }
        done.signal()
      }
    case .queued:
      let types: [Any.Type] =
        (change.usesPost ? [Post.self] : []) + (change.usesNote ? [Note.self] : [])
      dflat.performChanges(types) { txn in
        let made = Result { try change.run(dflat, Submit(txn)) }
        if case .failure = made { txn.abort() }
        result.withLock { $0 = made }
      } completionHandler: { isCommitted in
        if !isCommitted {
          result.withLock { if case .success = $0 { $0 = .failure(NotRun()) } }
        }
        done.signal()
      }
    }
    try done.wait(for: "the end of a transaction")
    return try result.withLock { try $0.get() }
  }

  private struct NotRun: Error {}

  private static func store(_ workspace: TemporaryFile) throws {
    try workspace.dflat.write(Post.self, Note.self) { txn in
      try txn.insert(post(1))
      try txn.insert(Note(key: 1))
    }
  }

  /// The findings of all clients, with the order in which each thread made them.
  private struct Found: Sendable {
    var posts: [Int32] = []
    var notes: [Int] = []
    var both: [Counts] = []
  }

  @Test("Every transaction runs once, in one order, after earlier ones from its thread")
  func oneOrder() async throws {
    let seed = testSeed()
    let calls = isLongRun ? 1000 : 80
    try await beyondTasks {
      try withTemporaryFile { workspace in
        try Self.store(workspace)
        let dflat = workspace.dflat
        let told = Mutex<[Int32]>([])
        let subscription = dflat.subscribe(fetchedResult: workspace.posts.all()) { posts in
          told.withLock { $0.append(posts[0].likes) }
        }
        let found = Mutex(Found())
        let isDone = DispatchGroup()
        for thread in 0..<4 {
          isDone.enter()
          DispatchQueue(label: "client").async {
            defer { isDone.leave() }
            var random = SeededGenerator(seed: seed &+ UInt64(thread))
            var last = Counts(post: 0, note: 0)
            for _ in 0..<calls {
              let change = Change(&random)
              let form = Form.allCases.randomElement(using: &random) ?? .queued
              do {
                let counts = try Self.perform(change, form, dflat)
                #expect(!change.isRefused, "DFLAT_SEED=\(seed)")
                if let post = counts.post {
                  #expect(post > last.post ?? 0, "DFLAT_SEED=\(seed)")
                  // Observers are notified before the transaction completes.
                  #expect(told.withLock { $0.last ?? 0 } >= post, "DFLAT_SEED=\(seed)")
                  last.post = post
                }
                if let note = counts.note {
                  #expect(note > last.note ?? 0, "DFLAT_SEED=\(seed)")
                  last.note = note
                }
                found.withLock { found in
                  if let post = counts.post { found.posts.append(post) }
                  if let note = counts.note { found.notes.append(note) }
                  if change.usesPost, change.usesNote { found.both.append(counts) }
                }
              } catch {
                #expect(error is Refusal, "DFLAT_SEED=\(seed): \(error)")
              }
            }
          }
        }
        isDone.expect("the end, DFLAT_SEED=\(seed)")
        let all = found.withLock { $0 }
        #expect(all.posts.sorted() == Array(1...Int32(all.posts.count)), "DFLAT_SEED=\(seed)")
        #expect(all.notes.sorted() == Array(1...all.notes.count), "DFLAT_SEED=\(seed)")
        // Transactions over both types have the same order in both.
        let both = all.both.sorted { $0.post ?? 0 < $1.post ?? 0 }.map { $0.note ?? 0 }
        #expect(both == both.sorted(), "DFLAT_SEED=\(seed)")
        // The observer was notified of each of them once, in commit order.
        #expect(told.withLock { $0 } == Array(1...Int32(all.posts.count)), "DFLAT_SEED=\(seed)")
        #expect(workspace.posts.all()[0].likes == Int32(all.posts.count))
        subscription.cancel()
      }
    }
  }

  @Test(
    "A shutdown in between refuses a write or waits for it; writes that returned are stored"
  )
  func shutdown() async throws {
    let seed = testSeed()
    try await beyondTasks {
      for round in 0..<(isLongRun ? 50 : 6) {
        try withTemporaryFile(.file) { workspace in
          try Self.store(workspace)
          let dflat = workspace.dflat
          let stored = Mutex((posts: Int32(0), notes: 0))
          let isDone = DispatchGroup()
          for thread in 0..<3 {
            isDone.enter()
            DispatchQueue(label: "client").async {
              defer { isDone.leave() }
              var random = SeededGenerator(seed: seed &+ UInt64(round * 10 + thread))
              for _ in 0..<200 {
                let change = Change(&random)
                let form = Form.allCases.randomElement(using: &random) ?? .queued
                do {
                  let counts = try Self.perform(change, form, dflat)
                  stored.withLock { stored in
                    if counts.post != nil { stored.posts += 1 }
                    if counts.note != nil { stored.notes += 1 }
                  }
                } catch is Refusal {
                } catch {
                  let isShutDown = error as? WorkspaceError == .shutDown || error is NotRun
                  #expect(isShutDown, "DFLAT_SEED=\(seed): \(error)")
                  return
                }
              }
            }
          }
          #expect(eventually { stored.withLock { Int($0.posts) + $0.notes } > round * 5 })
          dflat.shutdown()
          isDone.expect("the end, DFLAT_SEED=\(seed)")
          let again = workspace.secondWorkspace()
          let (posts, notes) = stored.withLock { $0 }
          #expect(again.posts.all()[0].likes == posts, "DFLAT_SEED=\(seed)")
          let text = again.dflat.fetch(for: Note.self).all()[0].text
          #expect(text.flatMap { Int($0) } ?? 0 == notes, "DFLAT_SEED=\(seed)")
          again.dflat.shutdown()
        }
      }
    }
  }
}
