// A program whose module belongs to the main actor, as new application templates have it. That its
// records compile, without a word about isolation, is the test; that they work is looked at by
// MainActorTests.

import Empire
import Foundation

enum Room: String, Codable, CaseIterable { case kitchen, garden }

@IndexKeyRecord("id")
@Index("room", "effort")
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
}

/// Keeps what a view shows.
public final class Ledger {
  let background: BackgroundStore
  var lines: [String] = []
  public init(path: String) throws { background = try BackgroundStore(path: path) }

  public func run() async throws -> [String] {
    try await background.withTransaction { context in
      try context.insert(
        Chore(id: 1, room: "kitchen", effort: 5, due: Date(timeIntervalSince1970: 3), tags: ["a"]))
      let read = try Chore.select(in: context, id: 1)
      try context.insert(read[0].easier())
    }
    let found = try await background.withTransaction(readOnly: true) { context in
      try Chore.select(in: context, room: "kitchen").map { $0.isHard }
    }
    lines += found.map { "\($0)" }
    return lines
  }
}
