// How the work grows with the number of values, counted in rows and queries.

import DflatTestSupport
import Empire
@testable import EmpireSilo
import Foundation
import MemoryDflat
import Platform
@testable import Silo
import Testing

/// Counts what transactions ask of a memory store.
final class WorkDomain: StoreDomain {
  struct Work: Equatable {
    var queries = 0
    var values = 0
  }

  private let base: any StoreDomain
  private let counted = Mutex(Work())

  init(_ base: any StoreDomain) { self.base = base }

  var isShared: Bool { base.isShared }

  func store<V: Persistable>(of type: V.Type) -> any ValueStore<V> {
    WorkStore(base: base.store(of: type), countingDomain: self)
  }

  func write<R: Sendable>(
    _ types: [any Persistable.Type],
    _ body: @escaping @Sendable (any StoreTransaction) throws -> R
  ) async throws -> R {
    try await base.write(types) { try body(WorkTransaction($0, self)) }
  }

  func note(_ values: Int) {
    counted.withLock { work in
      work.queries += 1
      work.values += values
    }
  }

  /// The work of a body.
  func work(_ body: () async throws -> Void) async throws -> Work {
    counted.withLock { $0 = Work() }
    try await body()
    return counted.withLock(\.self)
  }
}

final class WorkTransaction: StoreTransaction {
  private let base: any StoreTransaction
  private let domain: WorkDomain

  init(_ base: any StoreTransaction, _ domain: WorkDomain) {
    self.base = base
    self.domain = domain
  }

  func save<V: Persistable>(_ values: [V]) throws {
    domain.note(values.count)
    try base.save(values)
  }

  func remove<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> Int {
    domain.note(ids.count)
    return try base.remove(type, ids)
  }

  func load<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> [V] {
    domain.note(ids.count)
    return try base.load(type, ids)
  }

  func values<V: Persistable>(_ query: ValueQuery<V>) throws -> [V] {
    let values = try base.values(query)
    domain.note(values.count)
    return values
  }

  func count<V: Persistable>(_ query: ValueQuery<V>) throws -> Int {
    domain.note(1)
    return try base.count(query)
  }
}

struct WorkStore<Value: Persistable>: ValueStore {
  let base: any ValueStore<Value>
  let countingDomain: WorkDomain
  var domain: any StoreDomain { countingDomain }

  func load(_ ids: [Value.ID]) async throws -> [Value] { try await base.load(ids) }
  func values(_ query: ValueQuery<Value>) async throws -> [Value] { try await base.values(query) }
  func count(_ query: ValueQuery<Value>) async throws -> Int { try await base.count(query) }
  func changes(_ query: ValueQuery<Value>) -> ValueChanges<Value> { base.changes(query) }
  func subscribe(
    changedIDs handler: @escaping @Sendable ([Value.ID]?) -> Void
  ) -> ValueSubscription { base.subscribe(changedIDs: handler) }
  func migrate(step: Int) async throws { try await base.migrate(step: step) }
}

@Suite("How the work of silos grows")
struct GrowthTests {
  /// The work of a body, over some number of values.
  private func work(
    _ count: Int, prepare: (Silos, Int) async throws -> Void,
    _ body: (Silos, Int) async throws -> Void
  ) async throws -> WorkDomain.Work {
    let domain = WorkDomain(MemoryValueStore<Folder>(in: MemoryWorkspace()).domain)
    func store<V: Persistable>(_ type: V.Type) -> any ValueStore<V> { domain.store(of: type) }
    let silos = Silos(
      store(Folder.self), store(Memo.self), store(Label.self), store(Lock.self))
    try await prepare(silos, count)
    return try await domain.work { try await body(silos, count) }
  }

  private func expectLinear(
    prepare: (Silos, Int) async throws -> Void, _ body: (Silos, Int) async throws -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let few = try await work(200, prepare: prepare, body)
    let many = try await work(800, prepare: prepare, body)
    #expect(many.values <= 6 * few.values, "\(few) \(many)", sourceLocation: sourceLocation)
    #expect(many.queries <= 6 * few.queries, "\(few) \(many)", sourceLocation: sourceLocation)
  }

  /// A chain of folders, each in the one before, with a memo in each.
  private func chain(_ silos: Silos, _ count: Int) async throws {
    try await silos[Folder.self].save((0..<count).map { Folder($0, in: $0 == 0 ? nil : $0 - 1) })
    try await silos[Memo.self].save((0..<count).map { Memo($0, in: $0, labels: ["\($0)"]) })
    try await silos[Label.self].save((0..<count).map { Label(id: "\($0)") })
  }

  @Test("Deleting a chain by rules asks a fixed number of queries by each relation")
  func chains() async throws {
    func delete(_ silos: Silos, _ count: Int) async throws {
      let isDeleted = try await silos[Folder.self].delete(0)
      let left = (try await silos[Folder.self].count(), try await silos[Memo.self].count())
      #expect(isDeleted && left == (0, 0))
    }
    let few = try await work(200, prepare: chain, delete)
    let many = try await work(800, prepare: chain, delete)
    // Besides the rules of the types, which are looked up for each level.
    #expect(many.values <= 6 * few.values && many.queries <= 6 * few.queries, "\(few) \(many)")
    #expect(many.queries <= 2 * 800 + 200, "\(many)")
  }

  @Test("So does deleting many values that many refer to")
  func manyToMany() async throws {
    try await expectLinear(prepare: chain) { silos, count in
      let deleted = try await silos[Label.self].delete((0..<count).map { "\($0)" })
      #expect(deleted == count)
    }
  }

  @Test("Evicting what a chain retains, and what a transaction changes and uploads")
  func evicting() async throws {
    try await expectLinear(prepare: chain) { silos, count in
      try await silos[Folder.self].pin(count - 1)
      await #expect(throws: SiloError.self) { try await silos[Folder.self].evict(0..<count) }
    }
    try await expectLinear(prepare: chain) { silos, count in
      try await silos.write { txn in
        for id in 0..<count { try txn[Label.self].save(Label(id: "\(id)", text: "new")) }
        try txn.enqueue(Sent())
        try txn[Folder.self].evict((0..<count).map { $0 + count })
      }
    }
  }

  /// Sets a policy, and waits for the pass that this begins in the background. No other begins.
  private func limit(_ silo: Silo<Folder>) async {
    silo.retention = .recent(count: 0)
    #expect(await inTime { silo.state.accesses.beginTrimming() })
    await silo.state.accesses.turn.enterAlone()
    silo.state.accesses.turn.leaveAlone()
  }

  @Test("Trimming passes values that were used together and stay")
  func trimming() async throws {
    try await expectLinear { silos, count in
      await limit(silos[Folder.self])
      try await silos.write { txn in
        try txn[Folder.self].pin(0..<count)
        try txn[Folder.self].save((0..<count).map { Folder($0) })
      }
    } _: { silos, _ in
      let gone = try await silos[Folder.self].trim(step: 20)
      #expect(gone == 0)
    }
  }

  @Test("So does trimming where all were used at one time")
  func trimmingTogether() async throws {
    try await expectLinear { silos, count in
      await limit(silos[Folder.self])
      try await silos.write { txn in
        try txn[Folder.self].pin(0..<count)
        try txn[Folder.self].save((0..<count).map { Folder($0) })
      }
      _ = silos[Folder.self].state.accesses.take(count)
      let time = Date(timeIntervalSinceReferenceDate: 1000)
      try await silos[Folder.self].store.domain.store(of: Mark<Folder>.self).save(
        (0..<count).map { id in
          var mark = Mark<Folder>(id: id)
          mark.lastUse = time
          mark.isPinned = true
          return mark
        })
    } _: { silos, _ in
      let gone = try await silos[Folder.self].trim(step: 20)
      #expect(gone == 0)
    }
  }

  @Test("Applying a change of many values")
  func applying() async throws {
    let users = Silos(.memory)[User.self]
    try await users.save((0..<500).map { User(id: $0, name: "\($0 % 7)") })
    let changes = users.changes(orderBy: [User.name.ascending, User.id.ascending])
    var rows = changes.initialValues
    try await silosWrite(users)
    for await change in changes {
      #expect(change.removals.count > 50 && change.insertions.count > 50 && change.moves.count > 50)
      change.apply(to: &rows)
      #expect(rows == change.values)
      break
    }
  }

  private func silosWrite(_ users: Silo<User>) async throws {
    try await users.silos.write { txn in
      try txn[User.self].remove((0..<500).filter { $0 % 3 == 0 })
      try txn[User.self].save((0..<500).filter { $0 % 5 == 1 }.map { User(id: $0, name: "9") })
      try txn[User.self].save((500..<700).map { User(id: $0, name: "\($0 % 5)") })
    }
  }
}

@Suite("What an Empire store reads")
struct EmpireReadingTests {
  private func withStore(
    _ count: Int, _ body: (Store) async throws -> Void
  ) async throws {
    let directory = URL.temporaryDirectory.appending(path: "silo-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let empire = Store(database: try LockingDatabase(url: directory))
    let silos = Silos(EmpireValueStore<User>(empire), EmpireValueStore<Tag>(empire))
    // In another order than that of the ids.
    let ids = (0..<count).map { ($0 * 7919) % count }
    try await silos[User.self].save(ids.map { User(id: $0, name: "\($0 % 10)") })
    try await silos[Tag.self].save(ids.map { Tag(id: "\($0)", color: "\($0 % 10)") })
    try await body(empire)
  }

  private func read<V: Persistable>(
    _ query: ValueQuery<V>, in empire: Store
  ) throws -> (values: [V], rows: Int) {
    try EmpireDomain.run(in: empire, readOnly: true) { transaction in
      let values = try transaction.values(query)
      return (values, transaction.rowsRead)
    }
  }

  private func count<V: Persistable>(
    _ query: ValueQuery<V>, in empire: Store
  ) throws -> (count: Int, rows: Int) {
    try EmpireDomain.run(in: empire, readOnly: true) { transaction in
      (try transaction.count(query), transaction.rowsRead)
    }
  }

  @Test("The first rows, which a migration takes, are read alone", arguments: [500, 4001])
  func firstRows(count: Int) async throws {
    try await withStore(count) { empire in
      let (users, tags, read) = try EmpireDomain.run(in: empire, readOnly: true) { transaction in
        (
          try transaction.rows(of: User.self, limit: 10).map { "\($0.id)" },
          try transaction.rows(of: Tag.self, limit: 10).map { "\($0.id)" }, transaction.rowsRead
        )
      }
      let ids = (0..<10).map { String(($0 * 7919) % count) }
      #expect(users == ids && tags == ids)
      #expect(read == 20)
    }
  }

  @Test("Rows are read as the answer has values, however many are stored", arguments: [500, 4001])
  func rows(count: Int) async throws {
    try await withStore(count) { empire in
      let ids = (0..<count).map { ($0 * 7919) % count }
      #expect(try self.count(ValueQuery<User>(), in: empire) == (count, 0))
      #expect(try self.count(ValueQuery<Tag>(limit: 7), in: empire) == (7, 0))

      let first = try read(ValueQuery<User>(limit: 10), in: empire)
      #expect(first.values.map(\.id) == Array(ids.prefix(10)) && first.rows == 10)
      let tags = try read(ValueQuery<Tag>(limit: 10), in: empire)
      #expect(tags.values.map(\.id) == ids.prefix(10).map(String.init) && tags.rows == 10)
      // Each tenth value satisfies the condition.
      let some = try read(ValueQuery<User>(where: User.name == "3", limit: 5), in: empire)
      #expect(some.values.map(\.id) == Array(ids.filter { $0 % 10 == 3 }.prefix(5)))
      #expect(some.rows <= 100)

      let range = User.id >= 100 && User.id < 120
      let within = try read(ValueQuery<User>(where: range), in: empire)
      #expect(within.values.map(\.id) == ids.filter { (100..<120).contains($0) })
      #expect(within.rows <= 21)
      #expect(try self.count(ValueQuery<User>(where: range), in: empire) == (20, within.rows))
      let words = Tag.id >= "41" && Tag.id < "42"
      let wanted = ids.map(String.init).filter { $0 >= "41" && $0 < "42" }
      let texts = try read(ValueQuery<Tag>(where: words), in: empire)
      #expect(texts.values.map(\.id) == wanted && texts.rows <= wanted.count + 1)
      let ordered = try read(
        ValueQuery<User>(where: User.id > 200, orderBy: [User.id.ascending], limit: 5), in: empire)
      #expect(ordered.values.map(\.id) == [201, 202, 203, 204, 205] && ordered.rows <= 6)
    }
  }

  @Test("The order of insertion stays right when values go and come again")
  func changes() async throws {
    try await withStore(300) { empire in
      let silos = Silos(EmpireValueStore<User>(empire))
      let users = silos[User.self]
      let all = try await users.values()
      try await users.remove(all.prefix(5).map(\.id))
      try await users.save(all[0])
      try await users.save(User(id: all[7].id, name: "changed"))
      let now = try await users.values()
      #expect(now.last == all[0] && now.count == 296)
      #expect(try await users.values(limit: 5) == Array(now.prefix(5)))
      // An older program keeps no such index; its changes end it, and the next one makes it again.
      try empire.withTransaction { context in
        let index = try CompleteIndex.select(
          in: context, table: User._canonical.entity.table, index: RowOrder.insertion)
        #expect(index.count == 1)
        for index in index { try context.delete(index) }
      }
      #expect(try await users.values(limit: 5) == Array(now.prefix(5)))
      try await users.remove(now[0].id)
      #expect(try await users.values(limit: 5) == Array(now[1...5]))
      let first = try read(ValueQuery<User>(limit: 5), in: empire)
      #expect(first.rows == 5 && first.values == Array(now[1...5]))
    }
  }
}
