// Updates keep all unset fields, whichever program wrote them.

import Dflat
import DflatTestSupport
import FlatBuffersRuntime
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Updates")
struct UpdateTests {
  @Test("An update that does not change a unique value is not refused because of old duplicates")
  func oldDuplicates() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1, photo: "a"), post(2, photo: "b")])
      try workspace.tamper("DROP TABLE blog__post_v1_0__f20__u2__f4")
      let taken = workspace.posts.all()[0].toData()
      try workspace.tamper(
        "UPDATE blog__post_v1_0 SET p = ? WHERE rowid = 2",
        [.blob([UInt8](renumbered(taken, 2)))])
      guard case .updated? = try workspace.change(2, { $0.likes = 9 }) else {
        Issue.record("not updated")
        return
      }
      #expect(throws: TransactionError.objectAlreadyExists) {
        try workspace.change(1) { $0.number = 2 }
      }
    }
  }

  private func renumbered(_ data: Data, _ number: Int32) -> Data {
    var builder = Blog.PostBuilder(from: Post.from(data: data))
    builder.number = number
    return builder.build().toData()
  }

  @Test("What changes nothing leaves the file and its log as they are")
  func nothing() throws {
    try withTemporaryFile { workspace in
      let posts = (1...50 as ClosedRange<Int32>).map { post($0, likes: $0) }
      try workspace.dflat.write(Post.self) { try $0.insert(contentsOf: posts) }
      func contents() throws -> [Data] {
        try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: workspace.path + $0)) }
      }
      let before = try contents()
      #expect(!before[1].isEmpty)
      try workspace.dflat.write(Post.self) { txn in
        #expect(try txn.upsert(contentsOf: posts) == BulkChange(unchanged: 50))
        #expect(try txn.update(where: Post.likes > 0) { $0.likes = $0.likes }.updated == 0)
        try txn.upsert(posts[0])
      }
      #expect(try contents() == before)
    }
  }

  // MARK: Newer schemas

  @Test("Fields of a newer version of a program survive every update by an older one")
  func newerFields() throws {
    try withSeed { random in
      let seed = random.seed
      try withTemporaryFile { workspace in
        for _ in 0..<(isLongRun ? 2_000 : 60) {
          var generator = random
          try workspace.write([Kit.Item.self, KIT.Item.self]) { txn in
            let newer = newerItem(&generator)
            let inserted = try txn.insert(KIT.ItemChangeRequest.creationRequest(newer))
            var expected = inserted
            for _ in 0..<6 {
              let item = try #require(
                workspace.dflat.fetch(for: Kit.Item.self).where(
                  Kit.Item.name == newer.name && Kit.Item.serial == newer.serial
                ).first)
              let request =
                generator.oneIn(5)
                ? Kit.ItemChangeRequest.upsertRequest(
                  Kit.ItemBuilder(from: item).build())
                : try #require(Kit.ItemChangeRequest.changeRequest(item))
              let fields = (0..<generator.pick([1, 1, 3])).map { _ in
                generator.pick(Self.bothFields)
              }
              let source = RandomItems.item(&generator)
              for field in fields { field.set(request, source, &expected) }
              try txn.submit(request)
              let stored = try #require(
                workspace.dflat.fetch(for: KIT.Item.self).where(
                  KIT.Item.name == newer.name && KIT.Item.serial == newer.serial
                ).first)
              if stored != expected {
                Issue.record("DFLAT_SEED=\(seed): \(expected) became \(stored)")
                return
              }
            }
            // A newer program rewrites it in canonical form.
            let request = try #require(KIT.ItemChangeRequest.changeRequest(expected))
            request.title = "\(expected.title ?? "")!"
            guard case .updated(let last) = try txn.submit(request) else {
              Issue.record("not updated")
              return
            }
            #expect(
              KIT.ItemBuilder(from: last).build().toData() == last.toData(), "DFLAT_SEED=\(seed)")
            try txn.submit(try #require(KIT.ItemChangeRequest.deletionRequest(last)))
          }
          random = generator
        }
        #expect(try unsoundness(of: KIT.Item._schema, workspace.foreignConnection()).isEmpty)
      }
    }
  }

  /// A field that both versions have with the same type.
  private struct BothField: Sendable {
    let set: @Sendable (Kit.ItemChangeRequest, Kit.Item, inout KIT.Item) -> Void

    init<Value>(
      _ request: any ReferenceWritableKeyPath<Kit.ItemChangeRequest, Value> & Sendable,
      _ item: any KeyPath<Kit.Item, Value> & Sendable,
      _ next: any WritableKeyPath<KIT.ItemBuilder, Value> & Sendable
    ) {
      set = { change, source, expected in
        change[keyPath: request] = source[keyPath: item]
        var builder = KIT.ItemBuilder(from: expected)
        builder[keyPath: next] = source[keyPath: item]
        expected = builder.build()
      }
    }
  }

  private static let bothFields = [
    BothField(\.flag, \.flag, \.flag), BothField(\.number, \.number, \.number),
    BothField(\.big, \.big, \.big), BothField(\.real, \.real, \.real),
    BothField(\.maybeReal, \.maybeReal, \.maybeReal), BothField(\.title, \.title, \.title),
    BothField(\.word, \.word, \.word), BothField(\.plainTitle, \.plainTitle, \.plainTitle),
    BothField(\.tags, \.tags, \.tags), BothField(\.numbers, \.numbers, \.numbers),
    BothField(\.plainLong, \.plainLong, \.plainLong),
  ]

  /// An object with values that the older schema does not know, at the root and nested.
  private func newerItem(_ random: inout SeededGenerator) -> KIT.Item {
    let item = RandomItems.item(&random)
    var builder = KIT.ItemBuilder(from: KIT.Item.from(data: item.toData()))
    if random.oneIn(2) { builder.extra = "extra \(random.next())" }
    if random.oneIn(2) { builder.extraNumber = Int32(truncatingIfNeeded: random.next()) }
    if random.oneIn(3) { builder.mood = .high }
    if random.oneIn(3) { builder.maybeMood = .even }
    if random.oneIn(3) { builder.pet = .bird(KIT.Bird(name: "bird \(random.next())")) }
    if random.oneIn(3) { builder.pets.append(.bird(KIT.Bird(name: "bird"))) }
    return builder.build()
  }

  @Test("An older version's update leaves a newer one's indexes alone unless their fields change")
  func newerIndexes() throws {
    try withTemporaryFile { workspace in
      try workspace.write([KIT.Item.self]) { txn in
        for serial in 1...3 as ClosedRange<UInt64> {
          _ = try txn.insert(
            KIT.ItemChangeRequest.creationRequest(
              KIT.Item(name: "a", serial: serial, extra: "x\(serial)")))
        }
      }
      try workspace.write([Kit.Item.self]) { txn in
        let request = try #require(
          Kit.ItemChangeRequest.changeRequest(Kit.Item(name: "a", serial: 2)))
        request.title = "changed"
        request.number = 9
        try txn.submit(request)
      }
      let foreign = try workspace.foreignConnection()
      #expect(try unsoundness(of: KIT.Item._schema, foreign, complete: true).isEmpty)
      #expect(
        workspace.dflat.fetch(for: KIT.Item.self).where(KIT.Item.extra == "x2").map(\.number)
          == [9])
    }
  }
}
