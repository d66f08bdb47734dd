// Observing records from several threads: cancellation, concurrent commits, streams, slow handlers.

import DflatTestSupport
@testable import Empire
import Foundation
import Testing

struct ObservationThreadsTests {
  @Test("After cancelling or releasing a subscription no call begins; a handler may cancel itself")
  func cancelling() throws {
    try withChairs { store in
      let received = Recorder<String>()
      let kept = try store.subscribe(to: RecordSet<Chair>.all) { _ in received.add("kept") }
      var dropped: StoreSubscription? = try store.subscribe(to: RecordSet<Chair>.all) { _ in
        received.add("dropped")
      }
      final class Box: @unchecked Sendable { var subscription: StoreSubscription? }
      let box = Box()
      box.subscription = try store.subscribe(to: RecordSet<Chair>.all) { _ in
        received.add("self")
        box.subscription?.cancel()
      }
      try store.insert(chair(1))
      #expect(received.take().sorted() == ["dropped", "kept", "self"])
      #expect(dropped != nil)
      dropped = nil
      try store.insert(chair(2))
      #expect(received.take() == ["kept"])
      kept.cancel()
      kept.cancel()
      try store.insert(chair(3))
      #expect(received.take() == [])
    }
  }

  @Test("No call begins after cancel() has returned, while other threads write")
  func cancellingMeanwhile() async throws {
    try await withTemporaryDirectory { directory in
      let store = try BackgroundStore(url: directory)
      async let writing: Void = {
        for number in 0..<200 {
          try await store.withTransaction {
            try $0.insert(Chair(room: "a", number: number, weight: 0))
          }
        }
      }()
      for _ in 0..<100 {
        let isCancelled = Recorder<Bool>()
        let late = Recorder<Bool>()
        let subscription = try store.subscribe(to: RecordSet<Chair>.all) { _ in
          if !isCancelled.events.isEmpty { late.add(true) }
        }
        await Task.yield()
        subscription.cancel()
        isCancelled.add(true)
        await Task.yield()
        // A call that began before may find the flag set; a second call may not.
        #expect(late.events.count <= 1)
      }
      try await writing
    }
  }

  @Test("A handler may write on another queue that it waits for", .endsSometime)
  func writingOnAnotherQueue() throws {
    try withChairs { store in
      let queue = DispatchQueue(label: "another queue")
      let counts = Recorder<Int>()
      let done = DispatchSemaphore(value: 0)
      let subscription = try store.subscribe(to: RecordSet<Chair>.all) { result in
        let count = (try? result.get())?.count ?? 0
        counts.add(count)
        if count > 1 {
          done.signal()
        } else {
          queue.sync { try? store.insert(Chair(room: "a", number: count, weight: 0)) }
        }
      }
      try store.insert(chair(0))
      done.wait()
      #expect(counts.events == [1, 2])
      subscription.cancel()
    }
  }

  @Test("A handler may write, and is notified of its own changes")
  func writingHandlers() throws {
    try withChairs { store in
      let received = Recorder<Int>()
      let done = DispatchSemaphore(value: 0)
      let subscription = try store.subscribe(to: RecordSet<Chair>.all) { result in
        let chairs = (try? result.get()) ?? []
        received.add(chairs.count)
        if chairs.count < 5 {
          try? store.insert(Chair(room: "a", number: chairs.count, weight: 0))
        } else {
          done.signal()
        }
      }
      try store.insert(chair(0))
      done.wait()
      #expect(received.events == [1, 2, 3, 4, 5])
      subscription.cancel()
    }
  }

  @Test("A commit during subscribing is either reported once or part of the first state")
  func subscribingMeanwhile() throws {
    try withChairs { store in
      let received = Recorder<[Int]>()
      var subscriptions: [StoreSubscription] = []
      // In a transaction of another thread that began earlier.
      let (written, subscribed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let ended = DispatchSemaphore(value: 0)
      Thread {
        try? store.withTransaction { context in
          try context.insert(Chair(room: "a", number: 1, weight: 0))
          written.signal()
          subscribed.wait()
        }
        ended.signal()
      }.start()
      written.wait()
      subscriptions.append(
        try store.subscribe(to: RecordSet<Chair>.all) {
          received.add((try? $0.get().map(\.number)) ?? [])
        })
      subscribed.signal()
      ended.wait()
      #expect(received.take() == [[1]])
      // In a transaction of this thread that is rolled back: its changes are not visible.
      try? store.withTransaction { context in
        try context.insert(chair(2))
        subscriptions.append(
          try store.subscribe(to: RecordSet<Chair>.all, includingPresent: true) {
            received.add((try? $0.get().map { $0.number + 100 }) ?? [])
          })
        throw Rollback()
      }
      try store.insert(chair(2))
      #expect(Set(received.take()) == [[1, 2], [101], [101, 102]])
    }
  }

  @Test("A commit between a subscriber's first read and its registration is not missed")
  func commitMeanwhile() throws {
    try withChairs { store in
      try store.insert(Disturbed(id: 1))
      let received = Recorder<[Int]>()
      let once = Recorder<Int>()
      let subscription = try Disturbed.$whenRead.withValue({
        guard once.events.isEmpty else { return }
        once.add(1)
        let done = DispatchSemaphore(value: 0)
        Thread {
          try? store.insert(Disturbed(id: 2))
          done.signal()
        }.start()
        done.wait()
      }) {
        try store.subscribe(to: RecordSet<Disturbed>.all, includingPresent: true) {
          received.add((try? $0.get().map(\.id)) ?? [])
        }
      }
      // After the first update.
      try store.insert(Disturbed(id: 3))
      #expect(received.events == [[1, 2], [1, 2, 3]])
      subscription.cancel()
    }
  }

  @Test(
    "Subscribing reads once, although each read is followed by a commit", arguments: [true, false])
  func commitsWhileSubscribing(includesPresent: Bool) throws {
    try withChairs { store in
      try store.insert(Disturbed(id: 1))
      let reads = Recorder<Int>()
      let received = Recorder<[Int]>()
      let subscription = try Disturbed.$whenRead.withValue({
        reads.add(reads.events.count)
        // Otherwise a subscriber that repeats its reading would not return.
        guard reads.events.count < 20 else { return }
        let done = DispatchSemaphore(value: 0)
        Thread {
          try? store.insert(Tree(name: "a"))
          done.signal()
        }.start()
        done.wait()
      }) {
        try store.subscribe(to: RecordSet<Disturbed>.all, includingPresent: includesPresent) {
          received.add((try? $0.get().map(\.id)) ?? [])
        }
      }
      #expect(reads.events.count == 1)
      try store.insert(Disturbed(id: 2))
      #expect(received.events == (includesPresent ? [[1], [1, 2]] : [[1, 2]]))
      subscription.cancel()
    }
  }

  @Test(
    "A commit that the first read has missed is reported, although its observers were listed before",
    arguments: [true, false])
  func commitAfterTheFirstRead(includesPresent: Bool) throws {
    try withChairs { store in
      try store.insert(Disturbed(id: 1))
      let received = Recorder<[Int]>()
      let (publishing, subscribed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let ended = DispatchSemaphore(value: 0)
      let once = Recorder<Int>()
      let subscription = try Disturbed.$whenRead.withValue({
        Thread {
          Disturbed.$whenRead.withValue({
            // The commit has found the pending observer, and reads for it.
            guard once.events.isEmpty else { return }
            once.add(1)
            publishing.signal()
            subscribed.wait()
          }) {
            try? store.insert(Disturbed(id: 2))
          }
          ended.signal()
        }.start()
        publishing.wait()
      }) {
        try store.subscribe(to: RecordSet<Disturbed>.all, includingPresent: includesPresent) {
          received.add((try? $0.get().map(\.id)) ?? [])
        }
      }
      subscribed.signal()
      ended.wait()
      #expect(received.events == (includesPresent ? [[1], [1, 2]] : [[1, 2]]))
      subscription.cancel()
    }
  }

  @Test("Many subscribe while many write: every observer ends with the latest state")
  func manySubscribers() async throws {
    try await withTemporaryDirectory { directory in
      let store = Store(database: try LockingDatabase(url: directory))
      let last = Recorder<(id: Int, count: Int)>()
      let subscriptions = Recorder<StoreSubscription>()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for number in 0..<60 {
            try store.insert(Chair(room: "a", number: number, weight: 0))
          }
        }
        group.addTask {
          for id in 0..<60 {
            subscriptions.add(
              try store.subscribe(to: RecordSet<Chair>.all, includingPresent: true) {
                last.add((id, (try? $0.get().count) ?? -1))
              })
          }
        }
        try await group.waitForAll()
      }
      // After everything in the queue.
      try store.insert(Chair(room: "a", number: 60, weight: 0))
      for id in 0..<60 {
        let counts = last.events.filter { $0.id == id }.map(\.count)
        #expect(counts == counts.sorted() && Set(counts).count == counts.count, "\(counts)")
        #expect(counts.last == 61)
        #expect(counts.first.map { counts.count == 62 - $0 } ?? false, "\(counts)")
      }
    }
  }

  @Test("Streams: the newest result, the values of a record until it is deleted, errors")
  func streams() async throws {
    try await withTemporaryDirectory { directory in
      let store = try BackgroundStore(url: directory)
      func insert(_ chair: Chair) async throws {
        try await store.withTransaction { try $0.insert(chair) }
      }
      let all = try store.changes(
        of: RecordSet<Chair>.all, includingPresent: true, bufferingPolicy: .unbounded)
      let newest = try store.changes(of: RecordSet<Chair>.all)
      let one = try store.changes(of: Chair.self, key: Tuple("a", 1), bufferingPolicy: .unbounded)
      try await insert(chair(1, 1))
      try await insert(chair(2, 2))
      try await insert(chair(1, 3))
      try await store.withTransaction { try $0.delete(chair(1)) }
      var weights: [Int] = []
      for try await chair in one { weights.append(chair.weight) }
      #expect(weights == [1, 3])
      var results = all.makeAsyncIterator()
      var counts: [Int] = []
      for _ in 0..<5 { counts.append(try await results.next()?.count ?? -1) }
      #expect(counts == [0, 1, 2, 2, 1])
      var last = newest.makeAsyncIterator()
      #expect(try await last.next() == [chair(2, 2)])

      try await store.withTransaction { try $0.insert(Unreadable(id: 1)) }
      let unread = try store.changes(of: RecordSet<Unread>.all, includingPresent: true)
      await #expect(throws: StoreError.migrationUnsupported("Unread", 2, 1)) {
        for try await _ in unread {}
      }
      #expect(throws: SerializeError.nulInString) {
        try store.changes(of: RecordSet<Tree>.query(Query(last: .equals("\0"))))
      }
    }
  }

  @Test("A slow handler delays neither the writers of a background store nor other types")
  func slowHandlers() async throws {
    try await withTemporaryDirectory { directory in
      let store = try BackgroundStore(url: directory)
      let (entered, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let trees = Recorder<Int>()
      let subscriptions = [
        try store.subscribe(to: RecordSet<Chair>.all) { _ in
          entered.signal()
          release.wait()
        },
        try store.subscribe(to: RecordSet<Tree>.all) { trees.add((try? $0.get().count) ?? -1) },
      ]
      let complete = Recorder<Bool>()
      async let slow: Void = {
        try await store.withTransaction {
          try $0.insert(Chair(room: "a", number: 1, weight: 0))
        }
        complete.add(true)
      }()
      await Self.wait(entered)
      // Returns while the handler of the other type still runs.
      try await store.withTransaction { try $0.insert(Tree(name: "a")) }
      #expect(trees.events == [1])
      #expect(
        try await store.withTransaction(readOnly: true) { try $0.count(of: Chair.self) } == 1)
      // A transaction does not return before its own handler has run.
      #expect(complete.events.isEmpty)
      release.signal()
      try await slow
      withExtendedLifetime(subscriptions) {}
    }
  }

  private static func wait(_ semaphore: DispatchSemaphore) async {
    await withCheckedContinuation { continuation in
      Thread {
        semaphore.wait()
        continuation.resume()
      }.start()
    }
  }
}
