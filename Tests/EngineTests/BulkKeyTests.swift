// Many objects by their keys in one call, against a dictionary: keys come several times, are there
// or not, and closures change other objects meanwhile.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@Suite("Many objects by their keys")
struct BulkKeyTests {
  /// A key of five parts out of few, so that many are equal.
  private static func slot(_ random: inout SeededGenerator, _ label: String) -> Kit.Slot {
    Kit.Slot(
      row: [0, 1, .max].randomElement(using: &random) ?? 0,
      level: [-0.0, 0, 1.5, .infinity].randomElement(using: &random) ?? 0,
      side: random.oneIn(2) ? .left : .right, isOpen: random.oneIn(2),
      page: [0, .max, 1 << 63].randomElement(using: &random) ?? 0, label: label)
  }

  @Test("Every call does what one change after the other does", arguments: TestEngine.all)
  func model(engine: TestEngine) throws {
    try withSeed { random in
      try withTemporaryWorkspace(engine) { workspace in
        let dflat = workspace.dflat
        var model: [Kit.Slot.ID: String?] = [:]
        for round in 0..<(isLongRun ? 200 : 12) {
          let slots = (0..<Int.random(in: 0...60, using: &random)).map {
            Self.slot(&random, "\(round) \($0)")
          }
          var (inserted, updated, deleted, missing) = (0, 0, 0, 0)
          let result: BulkChange
          switch Int.random(in: 0...3, using: &random) {
          case 0, 1:
            for slot in slots {
              if model.updateValue(slot.label, forKey: slot.id) == nil {
                inserted += 1
              } else {
                updated += 1
              }
            }
            result = try dflat.write(Kit.Slot.self) { try $0.upsert(contentsOf: slots) }
          case 2:
            // With the third one, another object is changed: one that comes later, mostly.
            let last = slots.map(\.id).last { model[$0] != nil }
            var other: Kit.Slot.ID?
            var seen: Set<Kit.Slot.ID> = []
            for key in slots.map(\.id) where seen.insert(key).inserted {
              guard let label = model[key] else {
                missing += 1
                continue
              }
              model[key] = (label ?? "") + "+"
              updated += 1
              if updated == 3, let last, last != key {
                other = last
                model[last] = "meanwhile"
              }
            }
            let meanwhile = other
            result = try dflat.write(Kit.Slot.self) { txn in
              var count = 0
              return try txn.update(Kit.Slot.self, keys: slots.map(\.id)) { draft in
                draft.label = (draft.label ?? "") + "+"
                count += 1
                if count == 3, let meanwhile {
                  try txn.update(Kit.Slot.self, keys: [meanwhile]) { $0.label = "meanwhile" }
                }
              }
            }
          default:
            let keys = Set(slots.map(\.id))
            deleted = keys.filter { model.removeValue(forKey: $0) != nil }.count
            missing = keys.count - deleted
            result = try dflat.write(Kit.Slot.self) { try $0.delete(Kit.Slot.self, keys: keys) }
          }
          let expected = BulkChange(
            inserted: inserted, updated: updated, deleted: deleted, missing: missing)
          #expect(result == expected, "DFLAT_SEED=\(random.seed), round \(round)")
          let stored = dflat.fetch(for: Kit.Slot.self).all()
          #expect(
            Dictionary(uniqueKeysWithValues: stored.map { ($0.id, $0.label) }) == model,
            "DFLAT_SEED=\(random.seed), round \(round)")
        }
      }
    }
  }

  @Test(
    "An array may give a unique value from one object to the next, and have an object twice",
    arguments: TestEngine.all)
  func uniqueValues(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      func stored() -> [String] {
        workspace.posts.all(orderBy: [Post.number.ascending]).map {
          if case .photo(let photo) = $0.attachment {
            "\($0.number) \(photo.path ?? "")"
          } else {
            ""
          }
        }
      }
      @discardableResult func upsert(_ pairs: [(Int32, String)]) throws -> BulkChange {
        try dflat.write(Post.self) { txn in
          try txn.upsert(contentsOf: pairs.map { post($0, photo: $1) })
        }
      }
      let first = try upsert([(1, "a"), (2, "b")])
      #expect(first == BulkChange(inserted: 2))
      // A new object takes what one has given up, and gives it to the next.
      let second = try upsert([(1, "c"), (3, "a"), (3, "d"), (4, "a"), (1, "e"), (5, "c")])
      #expect(second == BulkChange(inserted: 3, updated: 3))
      #expect(stored() == ["1 e", "2 b", "3 d", "4 a", "5 c"])
      let error = #expect(throws: StorageError.self) { try upsert([(6, "f"), (7, "b")]) }
      #expect(error?.cause == .alreadyExists)
      #expect(stored().count == 5)
    }
  }

  @Test("A key that is not UTF-8 is that of no other object", arguments: TestEngine.all)
  func notUTF8(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      var bytes = Array(Guild.Label(name: "a?", rank: 2).toData())
      let place = try #require(bytes.firstRange(of: Array("a?".utf8)))
      bytes[place.lowerBound + 1] = 0xFF
      let raw = try Guild.Label(verifying: Data(bytes))
      // What a reader makes of these bytes.
      let repaired = Guild.Label(name: "a\u{FFFD}", rank: 1)
      try dflat.write(Guild.Label.self) { try $0.upsert(contentsOf: [repaired]) }
      for expected in [BulkChange(inserted: 2), BulkChange(unchanged: 2)] {
        let result = try dflat.write(Guild.Label.self) {
          try $0.upsert(contentsOf: [raw, Guild.Label(name: "b", rank: 3)])
        }
        #expect(result == expected)
      }
      let stored = dflat.fetch(for: Guild.Label.self).all()
      #expect(stored.map(\.rank).sorted() == [1, 2, 3])
    }
  }
}
