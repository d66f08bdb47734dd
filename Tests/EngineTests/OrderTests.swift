// The order of transactions, and what runs at the same time.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import Testing

@Suite("The order of transactions")
struct OrderTests {
  @Test(
    "Transactions and snapshots of two workspaces on one thread do not mix",
    arguments: TestEngine.all)
  func twoWorkspaces(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { one in
      try withTemporaryWorkspace(engine) { two in
        try one.store([post(1)])
        try two.store([post(1), post(2)])
        one.dflat.fetchWithinASnapshot {
          #expect(one.posts.all().count == 1)
          onAnotherThread {
            _ = try? one.store([post(5)])
            _ = try? two.store([post(5)])
          }
          #expect(one.posts.all().count == 1)
          #expect(two.posts.all().count == 3)
          two.dflat.fetchWithinASnapshot {
            #expect(two.posts.all().count == 3)
            onAnotherThread { _ = try? two.store([post(6)]) }
            #expect(two.posts.all().count == 3)
            #expect(one.posts.all().count == 1)
          }
          #expect(two.posts.all().count == 4)
        }
        try one.write([Note.self]) { _ in
          // Another workspace is read as usual, even a type that this transaction does not list.
          #expect(two.posts.all().count == 4)
        }
      }
    }
  }

  /// Where closures and handlers run.
  enum Queues: CaseIterable {
    case own, ownSerial, serialTarget, serialOnConcurrentTarget

    var settings: TestSettings {
      let target: DispatchQueue? =
        switch self {
        case .own, .ownSerial: nil
        case .serialTarget: DispatchQueue(label: "serial")
        case .serialOnConcurrentTarget: DispatchQueue(label: "concurrent", attributes: .concurrent)
        }
      return TestSettings(
        targetQueue: target, isSerial: self == .ownSerial || self == .serialOnConcurrentTarget)
    }
  }

  private static let types: [[Any.Type]] = [
    [Post.self], [Note.self], [Kit.Item.self], [Kit.Slot.self], [Post.self, Note.self],
    [Note.self, Post.self], [Kit.Slot.self, Kit.Item.self, Post.self],
    [Post.self, Kit.Item.self, Note.self, Kit.Slot.self], [Note.self, Note.self],
  ]

  private func withWorkspace(
    _ engine: TestEngine, _ queues: Queues, _ body: (any Workspace) throws -> Void
  ) throws {
    try withTemporaryWorkspace(engine, settings: queues.settings) { try body($0.dflat) }
  }

  /// Waits with a timeout, so that a deadlock is a failure and not a hang.
  private func wait(_ semaphore: DispatchSemaphore, _ location: SourceLocation = #_sourceLocation) {
    semaphore.expect("a signal", sourceLocation: location)
  }

  private func insert(_ type: Any.Type, _ number: Int, _ txn: any TransactionContext) {
    switch type {
    case is Post.Type: txn.try(submit: Blog.PostChangeRequest.creationRequest(post(Int32(number))))
    case is Note.Type:
      let request = NoteChangeRequest.creationRequest()
      request.key = UInt64(number)
      txn.try(submit: request)
    default: break
    }
  }

  @Test(
    "Transactions with a type in common run in the order of the calls, on any queues",
    arguments: TestEngine.all, Queues.allCases)
  func callOrder(engine: TestEngine, queues: Queues) throws {
    try withWorkspace(engine, queues) { dflat in
      var random = SeededGenerator(seed: 42)
      let begun = Mutex<[Int]>([])
      let ended = Mutex<[Int]>([])
      let told = Mutex<[Int]>([])
      let done = DispatchGroup()
      let calls = (0..<400).map { _ in Int.random(in: Self.types.indices, using: &random) }
      let names = Self.types.map { Set($0.map(ObjectIdentifier.init)) }
      let areShared = names.map { left in names.map { !left.isDisjoint(with: $0) } }
      for (number, call) in calls.enumerated() {
        done.enter()
        dflat.performChanges(
          Self.types[call],
          changesHandler: { txn in
            begun.withLock { $0.append(number) }
            if number % 3 != 0 { insert(Self.types[call][0], number, txn) }
            if number % 7 == 0 { txn.abort() }
            ended.withLock { $0.append(number) }
          },
          completionHandler: { isCommitted in
            #expect(isCommitted == (number % 7 != 0))
            told.withLock { $0.append(number) }
            done.leave()
          })
      }
      done.expect("the end")
      for log in [begun.withLock { $0 }, ended.withLock { $0 }, told.withLock { $0 }] {
        #expect(log.count == calls.count)
        var position = [Int](repeating: 0, count: calls.count)
        for (index, number) in log.enumerated() { position[number] = index }
        for later in calls.indices {
          for earlier in 0..<later
          where position[earlier] > position[later] && areShared[calls[earlier]][calls[later]] {
            Issue.record("\(later) came before \(earlier)")
          }
        }
      }
      let numbers = dflat.fetch(for: Post.self).all().map { Int($0.number) }
      #expect(numbers.sorted() == numbers)
    }
  }

  @Test(
    "Calls from many threads over overlapping lists have one order for all types",
    arguments: TestEngine.all)
  func oneOrder(engine: TestEngine) throws {
    try withWorkspace(engine, .own) { dflat in
      let logs = Mutex<[ObjectIdentifier: [Int]]>([:])
      let done = DispatchGroup()
      let threads = 4
      let calls = 100
      for _ in 0..<(threads * calls) { done.enter() }
      DispatchQueue.concurrentPerform(iterations: threads) { thread in
        var random = SeededGenerator(seed: UInt64(thread))
        for call in 0..<calls {
          let types = Self.types[Int.random(in: Self.types.indices, using: &random)]
          dflat.performChanges(
            types,
            changesHandler: { txn in
              logs.withLock { logs in
                for name in Set(types.map(ObjectIdentifier.init)) {
                  logs[name, default: []].append(thread * calls + call)
                }
              }
              insert(types[0], thread * calls + call, txn)
            }, completionHandler: { _ in done.leave() })
        }
      }
      done.expect("the end")
      let orders = logs.withLock { Array($0.values) }
      // Any two transactions that are in two logs are in the same order in both.
      for left in orders {
        for right in orders {
          let common = Set(left).intersection(right)
          #expect(left.filter(common.contains) == right.filter(common.contains))
        }
      }
    }
  }

  @Test(
    "Closures of disjoint types run at the same time, before their first submit",
    arguments: TestEngine.all)
  func parallel(engine: TestEngine) throws {
    try withWorkspace(engine, .own) { dflat in
      let inside = DispatchGroup()
      let done = DispatchGroup()
      let types: [Any.Type] = [Post.self, Note.self, Kit.Item.self, Kit.Slot.self]
      for _ in types { inside.enter(); done.enter() }
      for (number, type) in types.enumerated() {
        dflat.performChanges([type]) { txn in
          // Reading does not take the write lock.
          _ = dflat.fetch(for: Post.self)
          inside.leave()
          inside.expect("the end")
          insert(type, number, txn)
        } completionHandler: { _ in
          done.leave()
        }
      }
      done.expect("the end")
    }
  }

  @Test(
    "A closure may wait for a transaction of another type that was called after it",
    arguments: TestEngine.all)
  func waitsForOther(engine: TestEngine) throws {
    try withWorkspace(engine, .own) { dflat in
      let other = DispatchSemaphore(value: 0)
      let done = DispatchSemaphore(value: 0)
      dflat.performChanges([Post.self]) { txn in
        dflat.performChanges([Note.self]) { txn in
          insert(Note.self, 1, txn)
        } completionHandler: { _ in
          other.signal()
        }
        wait(other)
        #expect(dflat.fetch(for: Post.self).all().isEmpty)
        insert(Post.self, 1, txn)
      } completionHandler: { _ in
        done.signal()
      }
      wait(done)
      #expect(dflat.fetch(for: Note.self).all().count == 1)
    }
  }

  @Test(
    "A closure that has not written may wait for the previous commit", arguments: TestEngine.all)
  func waitsForPredecessor(engine: TestEngine) throws {
    try withWorkspace(engine, .own) { dflat in
      let first = DispatchSemaphore(value: 0)
      let done = DispatchSemaphore(value: 0)
      let both = DispatchSemaphore(value: 0)
      dflat.performChanges([Post.self]) { txn in
        both.wait()
        insert(Post.self, 1, txn)
      } completionHandler: { _ in
        first.signal()
      }
      dflat.performChanges([Post.self]) { txn in
        // It sees the data that are not committed yet.
        #expect(dflat.fetch(for: Post.self).all().count == 1)
        wait(first)
        #expect(dflat.fetch(for: Post.self).all().count == 1)
        insert(Post.self, 2, txn)
      } completionHandler: { isCommitted in
        #expect(isCommitted)
        done.signal()
      }
      both.signal()
      wait(done)
      #expect(dflat.fetch(for: Post.self).all().count == 2)
    }
  }

  @Test(
    "A slow completion handler delays later completions of its type, and nothing else",
    arguments: TestEngine.all)
  func slowHandler(engine: TestEngine) throws {
    try withWorkspace(engine, .own) { dflat in
      let slow = DispatchSemaphore(value: 0)
      let isInside = DispatchSemaphore(value: 0)
      let ran = DispatchSemaphore(value: 0)
      let other = DispatchSemaphore(value: 0)
      let done = DispatchSemaphore(value: 0)
      let told = Mutex<[Int]>([])
      dflat.performChanges([Post.self]) { txn in
        insert(Post.self, 1, txn)
      } completionHandler: { _ in
        isInside.signal()
        wait(slow)
        told.withLock { $0.append(1) }
      }
      wait(isInside)
      dflat.performChanges([Post.self]) { txn in
        insert(Post.self, 2, txn)
      } completionHandler: { _ in
        told.withLock { $0.append(2) }
        done.signal()
      }
      // The closure runs, and its changes are committed.
      dflat.performChanges([Note.self]) { txn in
        insert(Note.self, 1, txn)
        ran.signal()
      } completionHandler: { _ in
        other.signal()
      }
      wait(ran)
      wait(other)
      dflat.performChanges([Post.self]) { _ in
        #expect(dflat.fetch(for: Post.self).all().count == 2)
        ran.signal()
      }
      wait(ran)
      #expect(told.withLock { $0 } == [])
      slow.signal()
      wait(done)
      #expect(told.withLock { $0 } == [1, 2])
    }
  }
}
