// A program whose module is isolated to the main actor, as in new application templates. The test
// is that it compiles, with all upcoming language features and without an isolation annotation;
// MainActorTests checks that it works. What is generated for it is internal.

import SQLiteDflat

// A program's extensions of generated types.

extension Chores.Home.Chore {
  /// A property that queries, transactions and views all use.
  var isPressing: Bool { urgency == .high && !isDone }

  static let everyday = Chores.Home.Chore.effort < 3 && !Chores.Home.Chore.isDone
}

extension Chores.Home.ChoreChangeRequest {
  func finish() {
    isDone = true
    tags.append("done")
  }
}

extension Chores.Home.ChoreBuilder {
  mutating func postpone() { effort += 1 }
}

nonisolated extension Chores.Home.Person: CustomStringConvertible {
  /// The person's name.
  public var description: String { name ?? "somebody" }
}

extension Chores.Home.Urgency {
  var next: Chores.Home.Urgency { self == .low ? .normal : .high }
}

extension Chores.Home.Proof {
  var isPhoto: Bool { if case .photo = self { true } else { false } }
}

/// The data that a view shows.
public final class Board {
  let dflat: SQLiteWorkspace
  /// State of the main actor, which only the main actor may access.
  var lines: [String] = []
  var subscriptions: [any WorkspaceSubscription] = []

  /// Opens the file at this path.
  public init(path: String) {
    dflat = SQLiteWorkspace(filePath: path, fileProtectionLevel: .noProtection)
  }

  /// Writes with `write`, reads with `read`.
  public func write() async throws -> [String] {
    let first = try await dflat.write(Chores.Home.Chore.self) { txn in
      try txn.insert(
        Chores.Home.Chore(
          title: "dishes", number: 1, urgency: .high, effort: 2, days: [.saturday, .sunday],
          place: Chores.Home.Place(x: 1, y: 2),
          owner: Chores.Home.Person(name: "Ann", knows: Chores.Home.Person(name: "Bob")),
          tags: ["wet"], proof: .photo(Chores.Home.Photo(path: "a.jpg", bytes: [1]))))
    }
    let second = try await dflat.write(Chores.Home.Chore.self) { txn in
      var builder = Chores.Home.ChoreBuilder(from: first)
      builder.number = 2
      builder.proof = nil
      builder.postpone()
      let copy = try txn.insert(builder.build())
      return try txn.update(copy) {
        $0.finish()
        $0.urgency = $0.urgency.next
      }
    }
    let (pressing, everyday) = try await dflat.read { context in
      let all = try context.fetch(for: Chores.Home.Chore.self).all()
      let everyday = try context.fetch(for: Chores.Home.Chore.self).where(
        Chores.Home.Chore.everyday)
      return (all.filter(\.isPressing).map(\.title), everyday.map(\.number))
    }
    let photos = try await dflat.read { context in
      try context.fetch(for: Chores.Home.Chore.self).where(
        Chores.Home.Chore.proof.match(Chores.Home.Photo.self)
          && Chores.Home.Chore.owner.name == "Ann",
        orderBy: [Chores.Home.Chore.effort.descending]
      ).map { "\($0.owner.map { "\($0)" } ?? "") \($0.proof?.isPhoto ?? false)" }
    }
    lines += pressing + photos
    lines += everyday.map { "everyday \($0)" }
    return lines + ["\(second.tags)", "\(second.id == first.id)"]
  }
}
