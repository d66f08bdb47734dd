// Many programs that change the same objects, each with live results.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Live results of several programs", .endsSometime)
struct FollowingProcessTests {
  /// Nanoseconds since a moment that is the same for all processes.
  private static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// A note of another process arrived.
  private struct Arrival: Sendable {
    let key: UInt64
    let milliseconds: Double
  }

  @Test("What another process commits arrives completely and in order, mostly in milliseconds")
  func otherProcess() async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 0)) }
      let log = Log<Arrival>()
      let all = dflat.fetch(for: Note.self).all()
      let subscription = dflat.subscribe(changesOf: all) { change in
        let now = Self.now
        for entry in change.insertions {
          // The text says when the transaction was called.
          guard let text = entry.element.text, let begin = UInt64(text) else { continue }
          log.add(
            Arrival(key: entry.element.key, milliseconds: Double(now - begin) / 1_000_000))
        }
      }
      await #expect(processExitsWith: .success) { [schema = schema as String] in
        let dflat = postgresWorkspace(schema: schema)
        for key in 1...200 as ClosedRange<UInt64> {
          let text = "\(Self.now)"
          try await dflat.write(Note.self) { try $0.insert(Note(key: key, text: text)) }
          // As programs do that wait for their users, so that each commit is delivered alone.
          usleep(2000)
        }
        await dflat.shutdown()
      }
      // It may have committed the first ones before this workspace listened.
      #expect(eventually { log.events.last?.key == 200 })
      #expect(log.events.map(\.key) == Array(1...200))
      let times = log.events.map(\.milliseconds).sorted()
      if times.count == 200 {
        print(
          "pg-live: \(times[100]) ms from the call of a transaction to the live result of another "
            + "process (median of 200; 90 % within \(times[180]) ms)")
      }
      subscription.cancel()
      await dflat.shutdown()
    }
  }

  /// The live results of one program.
  private final class Live: Sendable {
    let dflat: PostgresWorkspace
    private let state = Mutex(State())

    struct State: Sendable {
      var all: [String] = []
      var top: [String] = []
      var popular: [String] = []
      var sum: Int64 = 0
      var isOrdered = true
    }

    private let subscriptions = Mutex<[any WorkspaceSubscription]>([])

    init(_ dflat: PostgresWorkspace) {
      self.dflat = dflat
      let posts = dflat.fetch(for: Post.self)
      watch(posts.all()) { $0.all = $1.map(Self.text) }
      watch(
        posts.where(Post.likes >= 0, limit: .limit(3), orderBy: [Post.likes.descending])
      ) { state, posts in
        state.top = posts.map(Self.text)
        let likes = posts.map(\.likes)
        if likes != likes.sorted(by: >) || Set(state.top).count != likes.count {
          state.isOrdered = false
        }
      }
      watch(posts.where(Post.likes > 50, orderBy: [Post.likes.ascending])) {
        $0.popular = $1.map(Self.text)
      }
      let sum = dflat.subscribe(dflat.query(Post.self).computing(.sum(Post.likes))) {
        [weak self] sum in
        self?.state.withLock { $0.sum = Int64(sum ?? 0) }
      }
      subscriptions.withLock { $0.append(sum) }
    }

    private static func text(_ post: Post) -> String { "\(post.number):\(post.likes)" }

    private func watch(
      _ result: FetchedResult<Post>,
      _ change: @escaping @Sendable (inout State, FetchedResult<Post>) -> Void
    ) {
      state.withLock { change(&$0, result) }
      let subscription = dflat.subscribe(fetchedResult: result) { [weak self] posts in
        self?.state.withLock { change(&$0, posts) }
      }
      subscriptions.withLock { $0.append(subscription) }
    }

    /// Changes some posts, among so many that programs mostly change different ones.
    func changeSomething(_ generator: inout some RandomNumberGenerator) async throws {
      let number = Int32.random(in: 1...30, using: &generator)
      let likes = Int32.random(in: 0...100, using: &generator)
      let isDeletion = Int.random(in: 0..<4, using: &generator) == 0
      try await dflat.write(Post.self, attempts: 10_000) { txn in
        let known = try txn.fetch(for: Post.self).where(Post.number == number).first
        if let known, isDeletion {
          try txn.delete(known)
        } else if let known {
          try txn.update(known) { $0.likes = likes }
        } else {
          try txn.insert(post(number, likes: likes))
        }
      }
    }

    /// Whether all live results are what is stored.
    var agrees: Bool {
      let posts = dflat.fetch(for: Post.self).all().map { $0 }
      let state = state.withLock { $0 }
      let likes = posts.map(\.likes).sorted(by: >)
      return state.all == posts.map(Self.text)
        && state.popular.count == likes.count(where: { $0 > 50 })
        && Set(state.popular).isSubset(of: state.all)
        && state.top.compactMap { Int32($0.split(separator: ":")[1]) } == Array(likes.prefix(3))
        && Set(state.top).isSubset(of: state.all)
        && state.sum == likes.reduce(0) { $0 + Int64($1) }
    }

    var isOrdered: Bool { state.withLock { $0.isOrdered } }

    /// What it has, and what is stored.
    var description: String {
      let posts = dflat.fetch(for: Post.self).all().map(Self.text)
      return "\(state.withLock { $0 }), stored: \(posts)"
    }

    func end() async {
      subscriptions.withLock { $0.forEach { $0.cancel() } }
      await dflat.shutdown()
    }
  }

  @Test("Live results of programs that all write end as what is stored", arguments: [false, true])
  func convergence(sharesCommits: Bool) async throws {
    try await withSchema { schema in
      let programs = (0..<3).map { _ in
        Live(postgresWorkspace(schema: schema) { $0.sharesCommits = sharesCommits })
      }
      try await withThrowingTaskGroup { group in
        for program in programs {
          group.addTask {
            var generator = SystemRandomNumberGenerator()
            for _ in 0..<60 { try await program.changeSomething(&generator) }
          }
        }
        try await group.waitForAll()
      }
      for program in programs {
        #expect(eventually { program.agrees }, "\(program.description)")
        #expect(program.isOrdered)
        await program.end()
      }
    }
  }
}
