// Observing records: who is called, when, how often, and with what.
//
// A transaction is complete when its observers have heard of it, so nothing here has to be waited for.

import DflatTestSupport
@testable import Empire
import Foundation
import Testing

@IndexKeyRecord("room", "number")
@Index("weight")
private struct Chair: Equatable, Sendable {
  let room: String
  let number: Int
  var weight: Int
}

@IndexKeyRecord(keyPrefix: 900, fieldsVersion: 1, "id")
private struct Unreadable: Sendable { let id: Int }
@IndexKeyRecord(keyPrefix: 900, fieldsVersion: 2, "id")
private struct Unread: Sendable { let id: Int }

/// A record that lets something happen when it is read.
private struct Disturbed: IndexKeyRecord, Sendable {
  typealias IndexKey = Tuple<Int>
  typealias Fields = Tuple<EmptyValue>
  static var keyPrefix: IndexKeyRecordHash { 902 }
  static var fieldsVersion: IndexKeyRecordHash { 0 }
  @TaskLocal static var whenRead: (@Sendable () -> Void)?
  let id: Int
  var indexKey: IndexKey { Tuple(id) }
  var fields: Fields { Tuple(EmptyValue()) }

  func serialize(into buffer: inout SerializationBuffer) { id.serialize(into: &buffer.keyBuffer) }

  static func deserialize(
    with deserializer: consuming RecordDeserializer
  ) throws(DeserializeError) -> sending Self {
    whenRead?()
    return Self(id: try Int.unpack(with: &deserializer.keyDeserializer))
  }
}

/// What handlers were called with.
private final class Recorder<Event: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: [Event] = []

  var events: [Event] { lock.withLock { stored } }

  func add(_ event: Event) { lock.withLock { stored.append(event) } }

  /// What has come since the last time.
  func take() -> [Event] {
    lock.withLock {
      defer { stored = [] }
      return stored
    }
  }
}

struct ObservationTests {
  struct Undo: Error {}

  private func withStore<R>(_ body: (Store) throws -> R) throws -> R {
    try withTemporaryDirectory { try body(Store(database: try LockingDatabase(url: $0))) }
  }

  private func chair(_ number: Int, _ weight: Int = 0, room: String = "a") -> Chair {
    Chair(room: room, number: number, weight: weight)
  }

  @Test("A range hears of each transaction that matters once, with what a fresh query gives")
  func ranges() throws {
    try withStore { store in
      let heard = Recorder<[Int]>()
      let limited = Recorder<[Int]>()
      let query = Query("a", last: .range(2..<6))
      let subscriptions = [
        try store.subscribe(to: RecordSet<Chair>.query(query)) {
          heard.add((try? $0.get().map(\.number)) ?? [-1])
        },
        try store.subscribe(
          to: RecordSet<Chair>.query(Query("a", last: .lessThan(9), limit: 2))
        ) { limited.add((try? $0.get().map(\.number)) ?? [-1]) },
      ]
      try store.withTransaction { context in
        for number in 0..<4 { try context.insert(chair(number)) }
      }
      #expect(heard.take() == [[2, 3]])
      #expect(limited.take() == [[3, 2]])
      // Outside of the range, of the window, of the type.
      try store.insert(chair(1, 5))
      try store.insert(chair(3, room: "b"))
      try store.insert(Tree(name: "x"))
      #expect(heard.take() == [] && limited.take() == [])
      // Only its content has changed.
      try store.insert(chair(3, 5))
      #expect(heard.take() == [[2, 3]] && limited.take() == [[3, 2]])
      // The same content, undone, inserted and deleted at once.
      try store.insert(chair(3, 5))
      #expect(throws: Undo.self) {
        try store.withTransaction {
          try $0.insert(chair(4))
          throw Undo()
        }
      }
      try store.withTransaction {
        try $0.insert(chair(4))
        try $0.delete(chair(4))
      }
      #expect(heard.take() == [] && limited.take() == [])
      // Another one takes the place in the window.
      try store.delete(chair(3))
      #expect(heard.take() == [[2]] && limited.take() == [[2, 1]])
      // A nested transaction is a part of its parent; one that is undone is none.
      try store.withTransaction { outer in
        try store.withTransaction(parent: outer) { try $0.insert(chair(5)) }
        try? store.withTransaction(parent: outer) {
          try $0.insert(chair(3))
          throw Undo()
        }
        try outer.insert(chair(4))
      }
      #expect(heard.take() == [[2, 4, 5]] && limited.take() == [[5, 4]])
      for subscription in subscriptions { subscription.cancel() }
      _ = try store.withTransaction { try $0.deleteAll(of: Chair.self) }
      #expect(heard.take() == [])
    }
  }

  @Test("A key hears of its changes and at last of its end; there is no life after that")
  func keys() throws {
    try withStore { store in
      let heard = Recorder<Int>()
      let subscription = try store.subscribe(to: Chair.self, key: Tuple("a", 1)) { event in
        switch event {
        case .updated(let chair): heard.add(chair.weight)
        case .deleted: heard.add(-1)
        case .failed: heard.add(-2)
        }
      }
      try store.insert(chair(2, 7))
      try store.insert(chair(1, 3))
      try store.withTransaction { context in
        try context.insert(chair(1, 4))
        try context.insert(chair(1, 5))
      }
      #expect(heard.take() == [3, 5])
      try store.delete(chair(1))
      try store.insert(chair(1, 6))
      #expect(heard.take() == [-1])
      subscription.cancel()
    }
  }

  @Test("Sets by an index and of a whole type; the present first, if it is wanted")
  func sets() throws {
    try withStore { store in
      try store.insert(chair(1, 3))
      let light = Recorder<[Int]>()
      let all = Recorder<[Int]>()
      let kept = [
        try store.subscribe(
          to: Chair.query(weight: .lessThan(5)), includingPresent: true
        ) { light.add((try? $0.get().map(\.number)) ?? []) },
        try store.subscribe(to: RecordSet<Chair>.all) {
          all.add((try? $0.get().map(\.number)) ?? [])
        },
      ]
      try store.insert(chair(2, 4))
      try store.insert(chair(1, 9))
      try store.insert(chair(1, 8))
      #expect(light.take() == [[1], [2, 1], [2]])
      #expect(all.take() == [[1, 2], [1, 2], [1, 2]])
      withExtendedLifetime(kept) {}
    }
  }

  @Test(
    "Calls are in the order of commits, whatever the thread, and before the transaction is complete"
  )
  func order() async throws {
    try await withTemporaryDirectory { directory in
      // Two databases: the lines are the directory's.
      let stores = try (0..<2).map { _ in Store(database: try LockingDatabase(url: directory)) }
      let counts = Recorder<[Int]>()
      let subscription = try stores[0].subscribe(to: RecordSet<Chair>.all) {
        counts.add((try? $0.get().map(\.number)) ?? [])
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<4 {
          group.addTask {
            for number in 0..<25 {
              let number = task * 100 + number
              try stores[task % 2].insert(Chair(room: "a", number: number, weight: 0))
              #expect(counts.events.contains { $0.contains(number) })
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(counts.events.map(\.count) == Array(1...100))
      subscription.cancel()
    }
  }

  @Test("Transactions that share a commit are heard of one by one, before each is complete")
  func groups() async throws {
    try await withTemporaryDirectory { directory in
      let store = try BackgroundStore(url: directory)
      let heard = Recorder<[Int]>()
      let subscription = try store.subscribe(to: RecordSet<Chair>.all) {
        heard.add((try? $0.get().map(\.number)) ?? [])
      }
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<200 {
          group.addTask {
            do {
              try await store.withTransaction { context in
                try context.insert(Chair(room: "a", number: number, weight: 0))
                if number % 4 == 0 { throw Undo() }
              }
              #expect(heard.events.contains { $0.contains(number) })
            } catch { #expect(number % 4 == 0 && error is Undo) }
          }
        }
      }
      #expect(heard.events.map(\.count) == Array(1...150))
      #expect(heard.events.allSatisfy { $0.allSatisfy { $0 % 4 != 0 } })
      subscription.cancel()
    }
  }

  @Test("What a member of a group has noticed before it is undone, nobody hears")
  func undoneMember() throws {
    try withStore { store in
      let heard = Recorder<[Int]>()
      let subscription = try store.subscribe(to: RecordSet<Chair>.all) {
        heard.add((try? $0.get().map(\.number)) ?? [-1])
      }
      try store.withTransaction { outer in
        // As a group does. A member ends with a look at what is new; then it may still fail.
        nonisolated(unsafe) let outer = outer
        func member(_ number: Int, isCancelled: Bool) throws {
          nonisolated(unsafe) var result: Result<Void, any Error>?
          let done = DispatchSemaphore(value: 0)
          let task = Task.detached {
            while isCancelled && !Task.isCancelled { await Task.yield() }
            result = Result {
              try store.write(parent: outer, isMember: true) {
                try $0.insert(Chair(room: "a", number: number, weight: 0))
              } delivered: { _ in
              }
            }
            done.signal()
          }
          if isCancelled { task.cancel() }
          done.wait()
          try result?.get()
        }
        try member(1, isCancelled: false)
        #expect(throws: CancellationError.self) { try member(2, isCancelled: true) }
        try member(3, isCancelled: false)
      }
      #expect(heard.take() == [[1], [1, 3]])
      subscription.cancel()
    }
  }

  @Test("After cancelling, or letting go, no call begins; a handler may cancel itself")
  func cancelling() throws {
    try withStore { store in
      let heard = Recorder<String>()
      let kept = try store.subscribe(to: RecordSet<Chair>.all) { _ in heard.add("kept") }
      var dropped: StoreSubscription? = try store.subscribe(to: RecordSet<Chair>.all) { _ in
        heard.add("dropped")
      }
      final class Box: @unchecked Sendable { var subscription: StoreSubscription? }
      let box = Box()
      box.subscription = try store.subscribe(to: RecordSet<Chair>.all) { _ in
        heard.add("self")
        box.subscription?.cancel()
      }
      try store.insert(chair(1))
      #expect(heard.take().sorted() == ["dropped", "kept", "self"])
      #expect(dropped != nil)
      dropped = nil
      try store.insert(chair(2))
      #expect(heard.take() == ["kept"])
      kept.cancel()
      kept.cancel()
      try store.insert(chair(3))
      #expect(heard.take() == [])
    }
  }

  @Test("No call begins after cancel() has returned, while others write")
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
        // One that had begun before may find the flag set; a second one may not.
        #expect(late.events.count <= 1)
      }
      try await writing
    }
  }

  @Test("A handler may write, and hears of that, too")
  func writingHandlers() throws {
    try withStore { store in
      let heard = Recorder<Int>()
      let done = DispatchSemaphore(value: 0)
      let subscription = try store.subscribe(to: RecordSet<Chair>.all) { result in
        let chairs = (try? result.get()) ?? []
        heard.add(chairs.count)
        if chairs.count < 5 {
          try? store.insert(Chair(room: "a", number: chairs.count, weight: 0))
        } else {
          done.signal()
        }
      }
      try store.insert(chair(0))
      done.wait()
      #expect(heard.events == [1, 2, 3, 4, 5])
      subscription.cancel()
    }
  }

  @Test("What is committed while somebody subscribes is heard of once or known already")
  func subscribingMeanwhile() throws {
    try withStore { store in
      let heard = Recorder<[Int]>()
      var subscriptions: [StoreSubscription] = []
      // In another thread's transaction, which began before.
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
          heard.add((try? $0.get().map(\.number)) ?? [])
        })
      subscribed.signal()
      ended.wait()
      #expect(heard.take() == [[1]])
      // In a transaction of this thread, which is undone: what it has written is not known.
      try? store.withTransaction { context in
        try context.insert(chair(2))
        subscriptions.append(
          try store.subscribe(to: RecordSet<Chair>.all, includingPresent: true) {
            heard.add((try? $0.get().map { $0.number + 100 }) ?? [])
          })
        throw Undo()
      }
      try store.insert(chair(2))
      #expect(Set(heard.take()) == [[1, 2], [101], [101, 102]])
    }
  }

  @Test("A commit between what a subscriber has read and its registration is not missed")
  func commitMeanwhile() throws {
    try withStore { store in
      try store.insert(Disturbed(id: 1))
      let heard = Recorder<[Int]>()
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
          heard.add((try? $0.get().map(\.id)) ?? [])
        }
      }
      // Behind what there is to hear at first.
      try store.insert(Disturbed(id: 3))
      #expect(heard.events == [[1, 2], [1, 2, 3]])
      subscription.cancel()
    }
  }

  @Test("Many subscribe while many write: nobody ends with something old")
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
      // Behind everything in the line.
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

  @Test("A slow handler holds up neither the writers of a background store nor other types")
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
      // Complete while the handler of the other type still runs.
      try await store.withTransaction { try $0.insert(Tree(name: "a")) }
      #expect(trees.events == [1])
      #expect(
        try await store.withTransaction(readOnly: true) { try $0.count(of: Chair.self) } == 1)
      // What its handler has not heard is not complete.
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
