// Upserts among which objects exchange unique values, as copies and imports store them.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@Suite("Objects that exchange unique values")
struct ExchangeTests {
  private static func item(_ serial: UInt64, _ badge: String?) -> Kit.Item {
    Kit.Item(name: "item", serial: serial, badge: badge)
  }

  /// Calls `body` with a workspace that has three items with the badges a, b, c.
  private func withItems(
    _ engine: TestEngine, _ body: (TemporaryWorkspace) throws -> Void
  ) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.dflat.write(Kit.Item.self) { txn in
        for (serial, badge) in zip(1...3 as ClosedRange<UInt64>, ["a", "b", "c"]) {
          _ = try txn.insert(Self.item(serial, badge))
        }
      }
      try body(workspace)
    }
  }

  private func badges(_ workspace: TemporaryWorkspace) -> [String?] {
    workspace.dflat.fetch(for: Kit.Item.self)
      .all().sorted { $0.serial < $1.serial }.map(\.badge)
  }

  /// Stores items in one transaction.
  private func store(
    _ items: [Kit.Item], _ workspace: TemporaryWorkspace,
    from source: [Kit.Item] = []
  ) throws -> BulkChange {
    try workspace.dflat.write(schemas: [Kit.Item._schema]) { context in
      try context.withExchanges(of: Kit.Item._schema) { upserts in
        var sum = BulkChange()
        for (place, item) in items.enumerated() {
          let change = try upserts.store(item._row, place: place)
          sum = BulkChange(
            inserted: sum.inserted + change.inserted, updated: sum.updated + change.updated,
            unchanged: sum.unchanged + change.unchanged)
        }
        let more = try upserts.storeWaiting { row in
          let serial = Kit.Item(_row: row).serial
          return source.first { $0.serial == serial }?._row
        }
        return BulkChange(
          inserted: sum.inserted, updated: sum.updated + more.updated, unchanged: sum.unchanged)
      }
    }
  }

  @Test("A swap, a rotation, and a value that is passed on", arguments: TestEngine.all)
  func exchanges(engine: TestEngine) throws {
    try withItems(engine) { workspace in
      let ids = workspace.dflat.fetch(for: Kit.Item.self).all().map(\._rowid)
      let all = workspace.dflat.fetch(for: Kit.Item.self).all()
      let changes = Log<[String?]>()
      let subscription = workspace.dflat.subscribe(fetchedResult: all) {
        changes.add($0.map(\.badge))
      }
      let swap = try store([Self.item(1, "b"), Self.item(2, "a")], workspace)
      #expect(swap == BulkChange(updated: 2) && badges(workspace) == ["b", "a", "c"])
      let rotation = try store(
        [Self.item(1, "a"), Self.item(2, "c"), Self.item(3, "b")], workspace)
      #expect(rotation == BulkChange(updated: 3) && badges(workspace) == ["a", "c", "b"])
      let passed = try store(
        [Self.item(4, "a"), Self.item(1, "b"), Self.item(3, "d"), Self.item(2, "c")], workspace)
      #expect(passed == BulkChange(inserted: 1, updated: 2, unchanged: 1))
      #expect(badges(workspace) == ["b", "c", "d", "a"])
      // The objects keep their row ids, and observers see each transaction as one change.
      #expect(
        workspace.dflat.fetch(for: Kit.Item.self).all().map(\._rowid).prefix(3) == ids[...])
      subscription.cancel()
      #expect(
        changes.events == [["b", "a", "c"], ["a", "c", "b"], ["b", "c", "d", "a"]])
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test("An object may get its other values elsewhere, once", arguments: TestEngine.all)
  func elsewhere(engine: TestEngine) throws {
    try withItems(engine) { workspace in
      let source = [Self.item(2, "c"), Self.item(3, "a")]
      let change = try store([Self.item(1, "b")], workspace, from: source)
      #expect(change == BulkChange(updated: 3) && badges(workspace) == ["b", "c", "a"])
    }
  }

  @Test("What is not unique in the end is refused, and named", arguments: TestEngine.all)
  func refused(engine: TestEngine) throws {
    try withItems(engine) { workspace in
      let refusal = #expect(throws: ExchangeRefusal.self) {
        try store([Self.item(4, "x"), Self.item(5, "b"), Self.item(1, "c")], workspace)
      }
      #expect(refusal?.place == 1 && refusal?.error.cause == .alreadyExists)
      #expect(badges(workspace) == ["a", "b", "c"])
      // Two of the rows, and one whose other values are what they were.
      let twice = #expect(throws: ExchangeRefusal.self) {
        try store([Self.item(4, "x"), Self.item(5, "x")], workspace)
      }
      #expect(twice?.place == 1)
      let same = #expect(throws: ExchangeRefusal.self) {
        try store([Self.item(1, "b")], workspace, from: [Self.item(2, "b")])
      }
      #expect(same?.place == 0)
      #expect(badges(workspace) == ["a", "b", "c"])
      // The next transaction is not disturbed.
      let next = try store([Self.item(3, "d")], workspace)
      #expect(next == BulkChange(updated: 1))
      _ = workspace.takeErrors()
    }
  }
}
