// Resolvers: what is not stored is asked for, once, and stored.

import DflatTestSupport
import Platform
@testable import Silo
import Testing

@Suite("Resolvers")
struct ResolverTests {
  private struct Offline: Error {}

  /// A server that counts its requests.
  private final class Server: Sendable {
    let requests = Mutex<[[Int]]>([])

    @Sendable
    func users(_ ids: [Int]) -> [User] {
      requests.withLock { $0.append(ids) }
      return ids.filter { $0 < 100 }.map { User(id: $0, name: "user \($0)") }
    }
  }

  @Test(
    "Requests at the same time are one batch, each id once, and the answer is stored",
    arguments: TestStores.all)
  func batching(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let server = Server()
      let users = silos[User.self]
      try await users.save(User(id: 3, name: "stored"))
      users.resolve(window: .milliseconds(200)) { server.users($0) }
      let names = try await withThrowingTaskGroup { group in
        for id in [1, 2, 1, 3, 2, 1] {
          group.addTask { try await silos.resolve(RelatedItem<User>(id: id)).name }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(
        names.sorted() == ["stored"] + Array(repeating: "user 1", count: 3)
          + Array(repeating: "user 2", count: 2))
      let requests = server.requests.withLock { $0 }
      #expect(requests.map { $0.sorted() } == [[1, 2]])
      #expect(try await users.count() == 3)
      // From now on the stored value is enough.
      #expect(try await silos.resolve(RelatedItem<User>(id: 1)).name == "user 1")
      #expect(server.requests.withLock { $0.count } == 1)
    }
  }

  @Test(
    "What a resolver gives reaches watchers", .endsSometime,
    arguments: TestStores.all)
  func watched(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let server = Server()
      let users = silos[User.self]
      users.resolve { server.users($0) }
      let everyone = users.changes(orderBy: [User.id.ascending])
      var changes = everyone.makeAsyncIterator()
      try await users.save(User(id: 3, name: "stored"))
      #expect(await changes.next()?.values.map(\.id) == [3])
      _ = try await silos.resolve(RelatedItem<User>(id: 1))
      let change = await changes.next()
      #expect(change?.insertions.map(\.value.name) == ["user 1"])
      #expect(change?.values.map(\.id) == [1, 3])
    }
  }

  @Test("An id that nobody knows, and a silo without a resolver, are typed errors")
  func unknown() async throws {
    let silos = Silos(.memory)
    await #expect(throws: SiloError.noResolver("User")) {
      try await silos.resolve(RelatedItem<User>(id: 1))
    }
    let server = Server()
    silos[User.self].resolve { server.users($0) }
    await #expect(throws: SiloError.unknownID(type: "User", id: "100")) {
      try await silos.resolve(RelatedItem<User>(id: 100))
    }
  }

  @Test("A resolver that fails, or answers what was not asked, stores nothing")
  func failures() async throws {
    let silos = Silos(.memory)
    let users = silos[User.self]
    users.resolve { _ in throw Offline() }
    await #expect(throws: Offline.self) { try await silos.resolve(RelatedItem<User>(id: 1)) }
    users.resolve { $0.map { User(id: $0, name: "") } + [User(id: 9, name: "")] }
    await #expect(throws: SiloError.unexpectedValue(type: "User", id: "9")) {
      try await silos.resolve(RelatedItem<User>(id: 1))
    }
    #expect(try await users.count() == 0)
  }

  @Test("A resolver that hangs ends with a typed error, and a cancelled request at once")
  func hanging() async throws {
    let silos = Silos(.memory)
    silos[User.self].resolve(timeout: .milliseconds(20)) { _ in
      // Does not listen to its cancellation.
      await withUnsafeContinuation { (_: UnsafeContinuation<[User], Never>) in }
    }
    await #expect(throws: SiloError.resolverTimedOut("User", after: .milliseconds(20))) {
      try await silos.resolve(RelatedItem<User>(id: 1))
    }
    silos[User.self].resolve { _ in
      await withUnsafeContinuation { (_: UnsafeContinuation<[User], Never>) in }
    }
    let request = _Concurrency.Task { try await silos.resolve(RelatedItem<User>(id: 2)) }
    request.cancel()
    await #expect(throws: CancellationError.self) { try await request.value }
  }

  @Test("An answer that waits to be stored when the time is over is not stored")
  func lateStorage() async throws {
    let silos = Silos(.memory)
    let users = silos[User.self]
    let timeout = Duration.milliseconds(200)
    users.resolve(window: .zero, timeout: timeout) { $0.map { User(id: $0, name: "late") } }
    // As a move does; the answer waits behind it.
    await users.state.gate.enterAlone()
    await #expect(throws: SiloError.resolverTimedOut("User", after: timeout)) {
      try await silos.resolve(RelatedItem<User>(id: 1))
    }
    users.state.gate.leaveAlone()
    // Behind the answer.
    await users.state.gate.enterAlone()
    users.state.gate.leaveAlone()
    #expect(try await users.count() == 0)
  }

  @Test("The ids that are referred to and not stored", arguments: TestStores.all)
  func unresolvedIDs(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      try await silos[Task.self].save([
        Task("a", owner: .unresolved(id: 1), tags: RelatedItems(ids: ["x"])),
        Task("b", owner: .unresolved(id: 2), reviewer: .unresolved(id: 3)),
        Task("c", owner: .unresolved(id: 2)),
      ])
      try await silos[User.self].save(User(id: 1, name: "Ada", boss: .unresolved(id: 4)))
      #expect(try await silos[User.self].unresolvedIDs().sorted() == [2, 3, 4])
      #expect(try await silos[Tag.self].unresolvedIDs() == ["x"])
      #expect(try await silos[Step.self].unresolvedIDs().isEmpty)
    }
  }
}
