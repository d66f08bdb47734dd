// Transactions inside of transactions of other stores of the same directory, on one thread: they
// are nested, and never wait for each other.

import Empire
import Foundation
import Testing

@Suite("Several stores of one directory on one thread")
struct NestedStoresTests {
  /// How two stores of a directory are opened.
  enum Pair: CaseIterable, Sendable {
    case locking, plain, lockingThenPlain, plainThenLocking

    func open(_ url: URL) throws -> (Store, Store) {
      func locking() throws -> Store { Store(database: try LockingDatabase(url: url)) }
      func plain() throws -> Store { try Store(path: url.path) }
      return switch self {
      case .locking: (try locking(), try locking())
      case .plain: (try plain(), try plain())
      case .lockingThenPlain: (try locking(), try plain())
      case .plainThenLocking: (try plain(), try locking())
      }
    }
  }

  private func names(_ store: Store) throws -> [String] {
    try store.selectAll(of: Tree.self).map(\.name)
  }

  private struct Refused: Error {}

  @Test("A write of one store is part of the other one's transaction", arguments: Pair.allCases)
  func writing(_ pair: Pair) throws {
    try withTemporaryDirectory { url in
      let (first, second) = try pair.open(url)
      for (outer, inner) in [(first, second), (second, first)] {
        try outer.withTransaction { context throws in
          try context.insert(Tree(name: "a"))
          try inner.insert(Tree(name: "b"))
          try outer.insert(Tree(name: "c"))
          #expect(try names(inner) == ["a", "b", "c"])
          #expect(try context.count(of: Tree.self) == 3)
          #expect(throws: Refused.self) {
            try inner.withTransaction { context throws in
              try context.deleteAll(of: Tree.self)
              try outer.insert(Tree(name: "d"))
              #expect(try names(outer) == ["d"])
              throw Refused()
            }
          }
          try inner.withTransaction(parent: context) { try $0.insert(Tree(name: "e")) }
        }
        #expect(try names(first) == ["a", "b", "c", "e"])
        #expect(try names(second) == ["a", "b", "c", "e"])
        #expect(throws: Refused.self) {
          try outer.withTransaction { _ in
            try inner.deleteAll(of: Tree.self)
            throw Refused()
          }
        }
        #expect(try inner.deleteAll(of: Tree.self) == 4)
      }
    }
  }

  @Test("A read of one store sees the other one's transaction", arguments: Pair.allCases)
  func reading(_ pair: Pair) throws {
    try withTemporaryDirectory { url in
      let (first, second) = try pair.open(url)
      try first.withTransaction { context throws in
        try context.insert(Tree(name: "a"))
        try second.withTransaction(readOnly: true) { reader throws in
          #expect(try reader.count(of: Tree.self) == 1)
          // Nothing is written in it, whichever store is asked.
          for store in [first, second] {
            #expect(throws: MDBError.failure(Int(EINVAL), "")) {
              try store.insert(Tree(name: "b"))
            }
          }
        }
        #expect(throws: MDBError.failure(Int(EBUSY), "")) { try second.backup(to: url.path) }
      }
      #expect(try names(second) == ["a"])
    }
  }

  @Test("Inside of a read, a write is an error, whichever store is asked", arguments: Pair.allCases)
  func writingInsideReading(_ pair: Pair) throws {
    try withTemporaryDirectory { url in
      let (first, second) = try pair.open(url)
      try first.withTransaction(readOnly: true) { _ throws in
        for store in [first, second] {
          #expect(throws: MDBError.failure(Int(EINVAL), "")) {
            try store.insert(Tree(name: "a"))
          }
        }
      }
      #expect(try names(second) == [])
    }
  }

  @Test(
    "Observers of each store are told once, after the outermost commit", arguments: Pair.allCases)
  func observing(_ pair: Pair) throws {
    try withTemporaryDirectory { url in
      let (first, second) = try pair.open(url)
      let counts = Confirmations()
      let subscriptions = try [first, second].map { store in
        try store.subscribe(to: RecordSet<Tree>.all) { counts.add((try? $0.get().count) ?? -1) }
      }
      try first.withTransaction { context throws in
        try second.insert(Tree(name: "a"))
        try context.insert(Tree(name: "b"))
        #expect(counts.all == [])
      }
      #expect(counts.all == [2, 2])
      for subscription in subscriptions { subscription.cancel() }
    }
  }

  @Test("Stores of different directories have transactions of their own")
  func directories() throws {
    try withTemporaryDirectory { one in
      try withTemporaryDirectory { other in
        let first = Store(database: try LockingDatabase(url: one))
        let second = try Store(url: other)
        #expect(throws: Refused.self) {
          try first.withTransaction { context throws in
            try second.insert(Tree(name: "a"))
            #expect(throws: StoreError.noActiveStore) {
              try second.withTransaction(parent: context) { try $0.insert(Tree(name: "b")) }
            }
            throw Refused()
          }
        }
        #expect(try names(second) == ["a"])
      }
    }
  }
}

/// Numbers that handlers have received.
private final class Confirmations: @unchecked Sendable {
  // The lock protects the numbers.
  private let lock = NSLock()
  private var numbers: [Int] = []
  var all: [Int] { lock.withLock { numbers } }
  func add(_ number: Int) { lock.withLock { numbers.append(number) } }
}
