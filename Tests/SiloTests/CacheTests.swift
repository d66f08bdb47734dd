// Stores that keep some values of another one in memory.

import DflatTestSupport
import MemoryDflat
import Platform
@testable import Silo
import Testing

/// A store that counts what is loaded by id.
private struct CountingStore<Value: Persistable>: ValueStore {
  let base: MemoryValueStore<Value>
  let loaded = Counter()

  final class Counter: Sendable {
    let ids = Mutex(0)
    /// Called after a load, before its answer is passed on.
    let afterLoad = Mutex<(@Sendable () async throws -> Void)?>(nil)
    /// Called before a load.
    let beforeLoad = Mutex<(@Sendable () async throws -> Void)?>(nil)
  }

  var domain: any StoreDomain { base.domain }

  func load(_ ids: [Value.ID]) async throws -> [Value] {
    loaded.ids.withLock { $0 += ids.count }
    if let action = loaded.beforeLoad.withLock({ $0.take() }) { try await action() }
    let values = try await base.load(ids)
    if let action = loaded.afterLoad.withLock({ $0.take() }) { try await action() }
    return values
  }

  func values(_ query: ValueQuery<Value>) async throws -> [Value] { try await base.values(query) }
  func count(_ query: ValueQuery<Value>) async throws -> Int { try await base.count(query) }
  func changes(_ query: ValueQuery<Value>) -> ValueChanges<Value> { base.changes(query) }
  func subscribe(
    changedIDs handler: @escaping @Sendable ([Value.ID]?) -> Void
  ) -> ValueSubscription { base.subscribe(changedIDs: handler) }
  func migrate(step: Int) async throws { try await base.migrate(step: step) }
}

@Suite("Cached stores")
struct CacheTests {
  private let memory = MemoryWorkspace()

  @Test("Values are read once, and at most as many are kept as the limit says")
  func limit() async throws {
    let store = CountingStore(base: MemoryValueStore<User>(in: memory))
    let cached = CachedValueStore(of: store, limit: 8)
    let users = Silos(cached)[User.self]
    try await users.save((0..<20).map { User(id: $0, name: "\($0)") })
    let loads = { store.loaded.ids.withLock { $0 } }
    for _ in 0..<3 { #expect(try await users.load([3, 5, 99]).map(\.id) == [3, 5]) }
    // What is not stored is asked for each time.
    #expect(loads() == 5)
    #expect(try await users.load([5, 6, 3, 5]).map(\.id) == [5, 6, 3, 5])
    #expect(loads() == 6)
    for id in 0..<20 {
      _ = try await users.load(id)
      #expect(cached.cache.count <= 8)
      // Used again and again, it stays.
      _ = try await users.load(3)
    }
    let before = loads()
    #expect(try await users.load(3)?.name == "3")
    #expect(loads() == before)
    #expect(try await users.values().count == 20)
    #expect(cached.cache.count <= 8)
  }

  @Test("Changes are seen at once, whoever makes them")
  func changes() async throws {
    let users = Silos(CachedValueStore(of: MemoryValueStore<User>(in: memory), limit: 8))[User.self]
    let others = Silos(in: memory)[User.self]
    try await others.save([User(id: 1, name: "a"), User(id: 2, name: "b")])
    for name in ["c", "d"] {
      #expect(try await users.load(1) != nil)
      try await users.save(User(id: 1, name: name))
      #expect(try await users.load(1)?.name == name)
      try await others.save(User(id: 1, name: name + name))
      #expect(try await users.load(1)?.name == name + name)
      // A program that uses the workspace itself.
      try await memory.write(Canonical<User>.self) {
        _ = try $0.upsert(Canonical(User(id: 1, name: "direct")))
      }
      #expect(try await users.load(1)?.name == "direct")
    }
    try await others.remove(1)
    #expect(try await users.load(1) == nil)
    #expect(try await users.load(2)?.name == "b")
    try await users.evict(2)
    #expect(try await users.load(2) == nil)
  }

  @Test("A value that is changed while it is read is not cached")
  func overtaken() async throws {
    let store = CountingStore(base: MemoryValueStore<User>(in: memory))
    let users = Silos(CachedValueStore(of: store, limit: 8))[User.self]
    try await users.save(User(id: 1, name: "old"))
    store.loaded.afterLoad.withLock {
      $0 = { try await users.save(User(id: 1, name: "new")) }
    }
    #expect(try await users.load(1)?.name == "old")
    #expect(try await users.load(1)?.name == "new")
  }

  @Test("Values that are loaded together are of one state, also if some are cached")
  func torn() async throws {
    let store = CountingStore(base: MemoryValueStore<User>(in: memory))
    let cached = CachedValueStore(of: store, limit: 8)
    let users = Silos(cached)[User.self]
    try await users.save([User(id: 1, name: "old"), User(id: 2, name: "old")])
    _ = try await users.load(1)
    store.loaded.beforeLoad.withLock {
      $0 = { try await users.save([User(id: 1, name: "new"), User(id: 2, name: "new")]) }
    }
    #expect(try await users.load([1, 2]).map(\.name) == ["new", "new"])
    // A transaction counts from its first change on: its commit is seen before its end.
    let state = cached.cache.state
    cached.cache.beginChange(of: [1])
    #expect(cached.cache.state != state)
    cached.cache.endChange(of: [1])
  }

  @Test("A value is not cached while a transaction is changing it")
  func changing() async throws {
    let cached = CachedValueStore(of: MemoryValueStore<User>(in: memory), limit: 8)
    let silos = Silos(cached)
    try await silos[User.self].save(User(id: 1, name: "a"))
    _ = try await silos[User.self].load(1)
    #expect(cached.cache.count == 1)
    struct Refusal: Error {}
    try? await silos.write { txn in
      try txn[User.self].save(User(id: 1, name: "b"))
      #expect(cached.cache.count == 0)
      cached.cache.insert([User(id: 1, name: "a")], readIn: cached.cache.state)
      #expect(cached.cache.count == 0)
      throw Refusal()
    }
    #expect(try await silos[User.self].load(1)?.name == "a")
    #expect(cached.cache.count == 1)
  }
}
