// Stores and their transactions.

import Empire
import Foundation
import Testing

struct StoreTests {
  struct Refusal: Error, Equatable {}

  enum Kind: CaseIterable, Sendable {
    case plain, locking

    func store(_ directory: URL) throws -> Store {
      switch self {
      case .plain: Store(database: try Database(url: directory))
      case .locking: Store(database: try LockingDatabase(url: directory))
      }
    }
  }

  @discardableResult
  private func withStore<R>(_ kind: Kind, _ body: (Store) throws -> R) throws -> R {
    try withTemporaryDirectory { try body(kind.store($0)) }
  }

  private func names(_ store: Store) throws -> [String] {
    try Tree.select(in: store, name: .greaterOrEqual("")).map(\.name)
  }

  @Test("Insert, select, delete", arguments: Kind.allCases)
  func conveniences(kind: Kind) throws {
    try withStore(kind) { store in
      try store.insert(Person(city: "A", name: "1", age: 1))
      try Person(city: "A", name: "1", age: 2).insert(in: store)
      let person: Person? = try store.select(key: Person.IndexKey("A", "1"))
      #expect(person?.age == 2)
      let none: Person? = try store.select(key: Tuple("A", "2"))
      #expect(none == nil)
      try store.delete(Person(city: "A", name: "1", age: 99))
      #expect(throws: MDBError.recordNotFound) {
        try store.delete(Person(city: "A", name: "1", age: 2))
      }
      try store.withTransaction { context in
        try Person(city: "B", name: "1", age: 1).insert(in: context)
        try Person.delete(in: context, city: "B", name: "1")
        #expect(throws: MDBError.recordNotFound) {
          try Person.delete(in: context, key: Person.IndexKey("B", "1"))
        }
        #expect(throws: MDBError.recordNotFound) {
          try context.delete(recordType: Person.self, key: Tuple("B", "1"))
        }
      }
    }
  }

  @Test("An error rolls back the transaction; the store remains usable", arguments: Kind.allCases)
  func errors(kind: Kind) throws {
    try withStore(kind) { store in
      for _ in 0..<200 {
        #expect(throws: Refusal()) {
          try store.withTransaction { context in
            try context.insert(Tree(name: "x"))
            throw Refusal()
          }
        }
      }
      #expect(try names(store).isEmpty)
      #expect(throws: MDBError.permissionDenied) {
        try store.withTransaction(readOnly: true) { try $0.insert(Tree(name: "x")) }
      }
      #expect(throws: MDBError.permissionDenied) {
        try store.withTransaction(readOnly: true) { try $0.delete(Tree(name: "x")) }
      }
      try store.insert(Tree(name: "y"))
      #expect(try names(store) == ["y"])
    }
  }

  @Test("A cancelled task changes nothing", arguments: Kind.allCases)
  func cancellation(kind: Kind) async throws {
    let task = Task {
      try withStore(kind) { store in
        withUnsafeCurrentTask { $0?.cancel() }
        #expect(throws: CancellationError.self) { try store.insert(Tree(name: "x")) }
        #expect(throws: CancellationError.self) { try names(store) }
        #expect(throws: CancellationError.self) {
          try store.withTransaction { outer in
            try store.withTransaction(parent: outer) { try $0.insert(Tree(name: "x")) }
          }
        }
        try withTemporaryDirectory { directory in
          #expect(throws: CancellationError.self) { try Store(url: directory) }
        }
        return store
      }
    }
    _ = try await task.value
  }

  @Test("A context that outlives its block throws", arguments: Kind.allCases)
  func outlived(kind: Kind) throws {
    try withStore(kind) { store in
      for readOnly in [true, false] {
        var kept: TransactionContext?
        try store.withTransaction(readOnly: readOnly) { kept = $0 }
        let context = try #require(kept)
        #expect(throws: StoreError.noActiveContext) { try context.insert(Tree(name: "x")) }
        #expect(throws: StoreError.noActiveContext) {
          let _: Tree? = try context.select(key: Tuple("x"))
        }
        #expect(throws: StoreError.noActiveContext) {
          try Tree.select(in: context, name: .greaterThan(""))
        }
        #expect(throws: StoreError.noActiveContext) {
          try store.withTransaction(parent: context) { _ in }
        }
      }
      // A context that joined a transaction ends with its own block.
      try store.withTransaction { outer in
        var kept: TransactionContext?
        try store.withTransaction(readOnly: true) { kept = $0 }
        let context = try #require(kept)
        #expect(throws: StoreError.noActiveContext) {
          try Tree.select(in: context, name: .greaterThan(""))
        }
        try outer.insert(Tree(name: "x"))
      }
    }
  }

  @Test(
    "A context that was kept stays ended while other transactions read, on any thread",
    arguments: Kind.allCases
  )
  func keptContexts(kind: Kind) async throws {
    try await withTemporaryDirectory { directory in
      let store = try kind.store(directory)
      try store.insert(Tree(name: "x"))
      func expectEnded(_ context: TransactionContext?) throws {
        let context = try #require(context)
        #expect(throws: StoreError.noActiveContext) {
          let _: Tree? = try context.select(key: Tuple("x"))
        }
      }
      // The first context's transaction may be restarted, but not for the kept context.
      var kept: TransactionContext?
      var keptView: TransactionContext?
      try store.withTransaction(readOnly: true) { context in
        kept = context
        try store.withTransaction(readOnly: true) { keptView = $0 }
      }
      for _ in 0..<3 {
        try store.withTransaction(readOnly: true) { context in
          try expectEnded(kept)
          try expectEnded(keptView)
          #expect(try context.count(of: Tree.self) == 1)
        }
        try expectEnded(kept)
        // A view that was kept does not keep its transaction alive.
        kept = nil
        try store.withTransaction(readOnly: true) { _ in
          try store.withTransaction(readOnly: true) { keptView = $0 }
        }
        try store.withTransaction(readOnly: true) { kept = $0 }
      }
      // Each transaction sees all earlier commits, on whichever thread the previous one ran.
      for number in 0..<20 {
        try store.insert(Tree(name: "\(number)"))
        let count = try await Task.detached {
          try store.withTransaction(readOnly: true) { try $0.count(of: Tree.self) }
        }.value
        #expect(count == number + 2)
        #expect(throws: Refusal()) {
          try store.withTransaction(readOnly: true) { _ in throw Refusal() }
        }
      }
    }
  }

  @Test(
    "A nested transaction becomes part of its parent or is rolled back", arguments: Kind.allCases,
    [true, false])
  func nested(kind: Kind, explicit: Bool) throws {
    try withStore(kind) { store in
      try store.withTransaction { outer in
        let parent = explicit ? outer : nil
        try outer.insert(Tree(name: "outer"))
        try store.withTransaction(parent: parent) { try $0.insert(Tree(name: "kept")) }
        #expect(throws: Refusal()) {
          try store.withTransaction(parent: parent) { context in
            try context.insert(Tree(name: "dropped"))
            #expect(throws: MDBError.self) { try outer.insert(Tree(name: "meanwhile")) }
            throw Refusal()
          }
        }
        if !explicit {
          // Convenience functions and reads join as well, and see uncommitted changes.
          try store.insert(Tree(name: "convenient"))
          #expect(try names(store) == ["convenient", "kept", "outer"])
          let found: Tree? = try store.select(key: Tree.IndexKey("outer"))
          #expect(found != nil)
          #expect(throws: MDBError.permissionDenied) {
            try store.withTransaction(readOnly: true) { try $0.insert(Tree(name: "x")) }
          }
          // Nor does a transaction inside of it write.
          #expect(throws: MDBError.failure(22, "")) {
            try store.withTransaction(readOnly: true) { _ in
              try store.insert(Tree(name: "x"))
            }
          }
        } else {
          #expect {
            try store.withTransaction(parent: outer, readOnly: true) { _ in }
          } throws: {
            if case MDBError.failure(-30782, _) = $0 { true } else { false }
          }
        }
        try outer.insert(Tree(name: "zuletzt"))
      }
      #expect(try names(store).suffix(3) == ["kept", "outer", "zuletzt"])
    }
  }

  @Test(
    "Inside a read-only transaction, reading joins it and writing fails", arguments: Kind.allCases)
  func nestedInReader(kind: Kind) throws {
    try withStore(kind) { store throws in
      try store.withTransaction(readOnly: true) { outer throws in
        #expect(try names(store).isEmpty)
        for parent in [outer, nil] {
          #expect {
            try store.withTransaction(parent: parent) { try $0.insert(Tree(name: "x")) }
          } throws: {
            if case MDBError.failure(Int(EINVAL), _) = $0 { true } else { false }
          }
        }
      }
      try store.insert(Tree(name: "x"))
      #expect(try names(store) == ["x"])
    }
  }

  @Test("A parent of another directory is rejected")
  func otherParent() throws {
    try withStore(.plain) { one in
      try withStore(.plain) { two in
        try one.withTransaction { context in
          #expect(throws: StoreError.noActiveStore) {
            try two.withTransaction(parent: context) { _ in }
          }
        }
      }
    }
  }

  @Test("Records are present when a directory is opened again, with and without locking")
  func reopening() throws {
    try withTemporaryDirectory { directory in
      try Store(path: directory.path()).insert(Tree(name: "a"))
      let locking = Store(database: try LockingDatabase(path: directory.path()))
      try locking.insert(Tree(name: "b"))
      let plain = try Store(url: directory)
      try plain.insert(Tree(name: "c"))
      #expect(try names(locking) == ["a", "b", "c"])
      #expect(try names(plain) == ["a", "b", "c"])
    }
    #expect {
      try Store(path: "/nowhere/at/all")
    } throws: {
      if case MDBError.failure(2, _) = $0 { true } else { false }
    }
  }

  @Test("The map grows when it is full, even for one large transaction")
  func growth() throws {
    try withTemporaryDirectory { directory in
      do {
        let database = try LockingDatabase(url: directory, mapSize: .growing(from: 1 << 16))
        let store = Store(database: database)
        try store.withTransaction { context in
          for number in 0..<2_000 {
            try context.insert(
              Triple(a: number, b: 0, c: "", note: String(repeating: "x", count: 1000)))
          }
        }
        #expect(try Triple.select(in: store, a: .greaterOrEqual(0)).count == 2_000)
      }
      let small = Store(database: try LockingDatabase(url: directory, mapSize: .fixed(1 << 16)))
      #expect {
        for number in 0..<2_000 {
          try small.insert(
            Triple(a: number, b: 1, c: "", note: String(repeating: "x", count: 1000)))
        }
      } throws: {
        if case MDBError.failure(-30792, _) = $0 { true } else { false }
      }
    }
  }

  @Test("withTransaction may be awaited")
  func awaiting() async throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "empire-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    let store = try Store(url: url)
    // In an async function, both calls use the synchronous form, with and without `await`;
    // Programs/Wrong.swift has the other one.
    try store.withTransaction { try $0.insert(Tree(name: "x")) }
    #expect(try names(store) == ["x"])
  }
}
