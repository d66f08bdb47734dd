// Aggregates and sets of keys that follow the data.

import Dflat
import DflatTestSupport
import Observation
import Platform
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Aggregates that follow the data")
struct LiveValueTests {
  @Test("A count is delivered at first, and when it has changed", arguments: TestEngine.all)
  func counts(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...5).map { post($0, likes: $0) })
      let heard = Mutex<[Int]>([])
      let liked = workspace.dflat.query(Post.self).where(Post.likes > 2)
      let subscription = workspace.dflat.subscribe(liked.computing(.count)) { number in
        heard.withLock { $0.append(number) }
      }
      try workspace.change(1) { $0.likes = 9 }
      // This changes an object that is counted, but not the count.
      try workspace.change(4) { $0.likes = 8 }
      try workspace.remove([3, 4])
      #expect(heard.withLock { $0 } == [3, 4, 2])
      subscription.cancel()
      try workspace.remove([1])
      #expect(heard.withLock { $0 }.count == 3)
    }
  }

  @Test("The answer that was fetched is not shown again", arguments: TestEngine.all)
  func firstAnswer(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...5).map { post($0, likes: $0) })
      let liked = workspace.dflat.query(Post.self).where(Post.likes > 2)
      let (number, posts) = (
        try LiveValue(liked.computing(.count), on: nil), try LiveValue(liked, on: nil)
      )
      let changes = Atomic(0)
      func track(_ read: () -> Void) {
        withObservationTracking(read) { changes.add(1, ordering: .relaxed) }
      }
      track { _ = number.value }
      track { _ = posts.value }
      // What both subscriptions begin with is delivered before the end of a transaction.
      try workspace.change(1) { $0.likes = 2 }
      #expect(changes.load(ordering: .relaxed) == 0)
      try workspace.change(1) { $0.likes = 9 }
      #expect(changes.load(ordering: .relaxed) == 2)
      #expect(number.value == 4 && posts.value.count == 4)
    }
  }

  @Test("Random changes and the same aggregates computed again", arguments: TestEngine.all)
  func random(engine: TestEngine) throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 60 : 4) { try round(engine, &random) }
    }
  }

  private struct State: Equatable {
    var count = -1
    var likes: Int64?
    var least: Int32?
    var greatest: Int32?
    var average: Double?
    var first = -1
  }

  private func round(_ engine: TestEngine, _ random: inout SeededGenerator) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let bound = Int32.random(in: 0...10, using: &random)
      let query = dflat.query(Post.self).where(Post.likes >= bound && !Post.isPinned)
      let heard = Mutex(State())
      let keys = Mutex<Set<Int32>>([])
      let subscriptions: [any WorkspaceSubscription] = [
        dflat.subscribe(query.computing(.count)) { value in heard.withLock { $0.count = value } },
        dflat.subscribe(query.computing(.sum(Post.likes))) { value in
          heard.withLock { $0.likes = value }
        },
        dflat.subscribe(query.computing(.min(Post.likes))) { value in
          heard.withLock { $0.least = value }
        },
        dflat.subscribe(query.computing(.max(Post.likes))) { value in
          heard.withLock { $0.greatest = value }
        },
        dflat.subscribe(query.computing(.average(Post.likes))) { value in
          heard.withLock { $0.average = value }
        },
        dflat.subscribe(query.limit(3).computing(.count)) { value in
          heard.withLock { $0.first = value }
        },
      ]
      for _ in 0..<30 {
        let numbers = (0..<Int.random(in: 1...4, using: &random)).map { _ in
          Int32.random(in: 0..<20, using: &random)
        }
        let likes = Int32.random(in: 0...15, using: &random)
        let choice = Int.random(in: 0..<4, using: &random)
        try workspace.write([Post.self]) { txn in
          for number in Set(numbers) {
            switch choice {
            case 0: try txn.submit(Blog.PostChangeRequest.upsertRequest(post(number, likes: likes)))
            case 1:
              let request = Blog.PostChangeRequest.changeRequest(post(number))
              request?.isPinned.toggle()
              if let request { try txn.submit(request) }
            case 2:
              if let request = Blog.PostChangeRequest.deletionRequest(post(number)) {
                try txn.submit(request)
              }
            default:
              try txn.submit(
                Blog.PostChangeRequest.upsertRequest(post(number, likes: likes &+ number)))
            }
          }
        }
        keys.withLock { $0.formUnion(numbers) }
        let (count, sum, least, greatest, average) = try query.values(
          .count, .sum(Post.likes), .min(Post.likes), .max(Post.likes), .average(Post.likes))
        let expected = State(
          count: count, likes: sum, least: least, greatest: greatest, average: average,
          first: try query.limit(3).count())
        let now = heard.withLock { $0 }
        #expect(now == expected, "DFLAT_SEED=\(random.seed)")
      }
      for subscription in subscriptions { subscription.cancel() }
    }
  }

  @Test("A live value shows the newest value", arguments: TestEngine.all)
  func liveValue(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...5).map { post($0, likes: $0) })
      let query = workspace.dflat.query(Post.self).where(Post.likes > 2)
      let total = try LiveValue(query.computing(.sum(Post.likes)), on: nil)
      #expect(total.value == 12)
      try workspace.change(1) { $0.likes = 100 }
      #expect(total.value == 112)
    }
  }

  @Test("A set of keys follows the objects", arguments: TestEngine.all)
  func keySets(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store((1...5).map { post($0, likes: $0) })
      func key(_ number: Int32) -> CompositeKey<String, Int32> { CompositeKey("s", number) }
      let all = try await dflat.keySet(of: dflat.query(Post.self))
      let liked = try await dflat.keySet(of: dflat.query(Post.self).where(Post.likes > 2))
      let first = try await dflat.keySet(of: dflat.query(Post.self).limit(2))
      #expect(all.count == 5 && liked.count == 3 && first.count == 2)
      #expect(all.missing(from: [key(9), key(1), key(9), key(7)]) == [key(9), key(7)])
      try await dflat.write(Post.self) { txn in
        try txn.delete(where: Post.number <= 2)
        try txn.update(where: Post.number == 3) { $0.number = 30 }
        try txn.insert(contentsOf: [post(6, likes: 9), post(7)])
      }
      #expect(Set(all.keys) == Set([30, 4, 5, 6, 7].map(key)))
      #expect(Set(liked.keys) == Set([30, 4, 5, 6].map(key)))
      #expect(Set(first.keys) == Set([30, 4].map(key)))
      #expect(!all.contains(key(3)) && all.contains(key(30)))
      await dflat.shutdown()
      await #expect(throws: WorkspaceError.self) {
        _ = try await dflat.keySet(of: dflat.query(Post.self))
      }
    }
  }

  @Test("A set of keys begins where its query does", arguments: TestEngine.all)
  func partsOfKeySets(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...8).map { post($0, likes: $0) })
      let query = workspace.dflat.query(Post.self).orderBy(Post.likes.ascending).offset(2)
      let part = try await workspace.dflat.keySet(of: query.limit(3))
      let rest = try await workspace.dflat.keySet(of: query)
      func numbers(_ set: KeySet<Post>) -> [Int32] { set.keys.map(\.parts.1).sorted() }
      #expect(numbers(part) == [3, 4, 5] && numbers(rest) == [3, 4, 5, 6, 7, 8])
      try workspace.remove([1])
      #expect(numbers(part) == [4, 5, 6] && numbers(rest) == [4, 5, 6, 7, 8])
    }
  }

  @Test("A live sum of floating-point numbers is what asking gives", arguments: TestEngine.all)
  func realSums(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      typealias Memo = Desk.Memo
      try workspace.dflat.write(Memo.self) { txn in
        for (number, weight) in [(1, 0.7), (2, 0.2), (3, 0.3)] as [(Int32, Double)] {
          try txn.insert(Memo(number: number, weight: weight))
        }
      }
      let query = workspace.dflat.query(Memo.self).where(Memo.weight < 0.5)
      let log = Log<Double?>()
      let subscription = workspace.dflat.subscribe(query.computing(.sum(Memo.weight))) {
        log.add($0)
      }
      try workspace.dflat.write(Memo.self) { txn in
        try txn.update(where: Memo.number == 1) { $0.weight = 0.1 }
      }
      let asked = try query.sum(Memo.weight)
      #expect(log.events.last == asked)
      subscription.cancel()
    }
  }

  @Test("A result with an offset is watched", arguments: TestEngine.all)
  func offsets(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...6).map { post($0, likes: $0) })
      let query = workspace.dflat.query(Post.self).orderBy(Post.likes.descending)
      let part = try query.offset(1).limit(2).fetch()
      #expect(part.map(\.number) == [5, 4])
      let heard = Mutex<[[Int32]]>([])
      let subscription = workspace.dflat.subscribe(fetchedResult: part) { result in
        heard.withLock { $0.append(result.map(\.number)) }
      }
      try workspace.change(1) { $0.likes = 0 }
      try workspace.change(2) { $0.likes = 50 }
      try workspace.remove([2])
      try workspace.remove([5])
      #expect(heard.withLock { $0 } == [[6, 5], [5, 4], [4, 3]])
      subscription.cancel()
    }
  }

  @Test("Sections are the runs of equal values", arguments: TestEngine.all)
  func sections(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([
        post(1, likes: 2, link: "b"), post(2, likes: 1), post(3, likes: 2), post(4, likes: 1),
        post(5, likes: 3),
      ])
      let query = workspace.dflat.query(Post.self).orderBy(Post.number.descending)
      let sections = try query.sectioned(by: Post.likes)
      #expect(sections.map(\.key) == [1, 2, 3])
      #expect(sections.map { $0.map(\.number) } == [[4, 2], [3, 1], [5]])
      #expect(sections.map(\.startIndex) == [0, 2, 4])
      let byLink = try query.sectioned(by: Post.attachment.as(Blog.Link.self).url)
      #expect(byLink.map(\.key) == [nil, "b"])
      let live = LiveQuery(
        try query.ordered(bySection: Post.likes, isDescending: true).fetch(),
        in: workspace.dflat, on: nil)
      try workspace.change(5) { $0.likes = 1 }
      #expect(
        live.result.sectioned(by: Post.likes).map { $0.map(\.number) } == [[3, 1], [5, 4, 2]])
    }
  }

  @Test("A cursor belongs to its query", arguments: TestEngine.all)
  func cursors(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...9).map { post($0, likes: $0 / 2) })
      let query = workspace.dflat.query(Post.self).orderBy(Post.likes.descending)
      let first = try query.page(size: 3)
      #expect(first.objects.map(\.number) == [8, 9, 6])
      let cursor = try #require(first.next)
      // What comes and goes between two pages does not move the others.
      try workspace.remove([6, 9])
      try workspace.store([post(20, likes: 100), post(21, likes: 3), post(22, likes: 2)])
      let sent = try JSONDecoder().decode(
        QueryCursor.self, from: JSONEncoder().encode(cursor))
      #expect(sent == cursor)
      let second = try query.page(size: 3, after: sent)
      #expect(second.objects.map(\.number) == [7, 21, 4])
      let limited = query.limit(4)
      let part = try limited.page(size: 3)
      #expect(try limited.page(size: 3, after: part.next).objects.count == 1)
      #expect(try limited.page(size: 3, after: part.next).next == nil)
      for other in [
        query.orderBy(Post.likes.ascending), query.where(Post.likes > 1),
        query.orderBy(Post.likes.descending, Post.number.ascending), query.orderBy([]),
      ] {
        let error = #expect(throws: QueryError.self) { try other.page(size: 3, after: cursor) }
        #expect(error?.cause == .foreignCursor)
      }
      #expect(throws: QueryError.self) {
        _ = try workspace.dflat.query(Note.self).page(size: 3, after: cursor)
      }
      // An order by a collection is another one if the collection is.
      let numbers: [Int32] = [4, 3, 2, 1]
      let listed = try query.orderBy(numbers.firstIndex(of: Post.likes)).page(size: 1)
      let reversed = Array(numbers.reversed())
      for order in [reversed.firstIndex(of: Post.likes), reversed.lastIndex(of: Post.likes)] {
        let error = #expect(throws: QueryError.self) {
          _ = try query.orderBy(order).page(size: 1, after: listed.next)
        }
        #expect(error?.cause == .foreignCursor)
      }
      #expect(try query.page(size: .max).objects.count == 10)
    }
  }

  @Test("A cursor is one text, and no other text is a cursor", arguments: [TestEngine.memory])
  func cursorTexts(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...4).map { post($0, likes: -$0) })
      let query = workspace.dflat.query(Post.self)
        .orderBy(Post.likes.ascending, Post.site.ascending, Post.author.handle.ascending)
        .where(!Post.isPinned).limit(3)
      let cursor = try #require(try query.page(size: 1).next)
      let json = String(decoding: try JSONEncoder().encode(cursor), as: UTF8.self)
      #expect(json.first == "\"" && json.last == "\"" && json.hasSuffix(".2.i-4.t73.n\""))
      #expect(try JSONDecoder().decode(QueryCursor.self, from: Data(json.utf8)) == cursor)
      for text in ["", "x", "1.2", "1.2.-3", "1.2.3.i", "1.2.3.t7", "1.2.3.b2", "1.2.3.nn"] {
        #expect(throws: DecodingError.self) {
          _ = try JSONDecoder().decode(QueryCursor.self, from: Data("\"\(text)\"".utf8))
        }
      }
    }
  }

  @Test("Several objects are not the only one", arguments: TestEngine.all)
  func onlyOne(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...3).map { post($0, likes: $0) })
      let query = workspace.dflat.query(Post.self)
      #expect(try query.where(Post.likes == 2).only()?.number == 2)
      #expect(try query.where(Post.likes == 7).only() == nil)
      let error = #expect(throws: QueryError.self) { _ = try query.where(Post.likes > 1).only() }
      #expect(error?.cause == .severalObjects)
      #expect("\(error!)".contains("likes > 1"))
      #expect(throws: QueryError.self) {
        _ = try query.select(Post.attachment.as(Blog.Link.self).url.required)
      }
    }
  }
}
