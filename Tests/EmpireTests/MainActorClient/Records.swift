// A client whose module is isolated to the main actor by default, as in new application templates.
// The test is that its records compile without isolation annotations; MainActorTests checks that
// they work.

import Empire
import Foundation

@IndexKeyRecord("id")
@Index("room", "effort")
@CloudKitWebRecord
struct Chore: Equatable {
  let id: Int
  var room: String
  var effort: Int
  var due: Date
  var tags: [String]
  var note: String?
}

extension Chore {
  var isHard: Bool { effort > 3 }

  func easier() -> Chore {
    Chore(id: id, room: room, effort: effort - 1, due: due, tags: tags, note: note)
  }

  static let first = Chore(
    id: 1, room: "kitchen", effort: 5, due: Date(timeIntervalSince1970: 3), tags: ["a"])
}

/// The model of a view.
public final class Ledger {
  let stores: BackgroundableStore
  var lines: [String] = []
  var subscriptions: [StoreSubscription] = []

  /// Creates a ledger in a directory.
  public init(path: String) throws { stores = try BackgroundableStore(path: path) }

  /// Reads and writes in the background.
  public func useBackground() async throws -> [String] {
    let first = Chore.first
    try await stores.background.withTransaction { context in
      try context.insert(first)
      let read = try Chore.select(in: context, id: 1)
      try context.insert(read[0].easier())
    }
    let found = try await stores.background.withTransaction(readOnly: true) { context in
      try Chore.select(in: context, room: "kitchen").filter { $0 == first.easier() }
        .map { "\($0.id) \($0.isHard)" }
    }
    return lines + found
  }

  /// Reads and writes on the main actor, in closures that use its state.
  public func useMain() throws -> [String] {
    let count = try stores.main.withTransaction { context in
      lines.append("began")
      try context.insert(Chore.first)
      try context.insert(
        Chore(id: 2, room: "garden", effort: 1, due: Date(timeIntervalSince1970: 3), tags: []))
      return try context.select(query: Query<Int>(last: .greaterThan(0))).count { (_: Chore) in
        true
      }
    }
    let hard = try Chore.select(in: stores.main, room: "kitchen").filter(\.isHard)
    try stores.main.delete(Chore.first)
    let found: Chore? = try stores.main.select(key: Tuple(1))
    let record = try Chore.first.cloudKitJSON(name: "one")
    lines.append("\(try Chore(cloudKitJSON: record) == Chore.first)")
    return lines + ["\(count) \(hard.count) \(found == nil)"]
  }

  /// Observes records with handlers and sequences.
  public func observe() async throws -> [String] {
    let (reported, teller) = AsyncStream.makeStream(of: String.self)
    subscriptions.append(
      try stores.main.subscribe(to: .query(Query(last: .greaterThan(0)))) {
        (result: Result<[Chore], any Error>) in
        teller.yield("handled \((try? result.get().filter(\.isHard).count) ?? -1)")
        Task { @MainActor in self.lines.append("reported") }
      })
    subscriptions.append(
      try stores.main.subscribe(to: Chore.self, key: Tuple(1)) { event in
        if case .updated(let chore) = event { teller.yield("updated \(chore.effort)") }
      })
    let sets = try stores.main.changes(
      of: RecordSet<Chore>.query(Query(last: .greaterThan(0))), includingPresent: true)
    let first = Chore.first
    try await stores.background.withTransaction { try $0.insert(first) }
    for await line in reported.prefix(2) { lines.append(line) }
    for try await chores in sets.prefix(1) { lines.append("set \(chores.count)") }
    return lines
  }
}
