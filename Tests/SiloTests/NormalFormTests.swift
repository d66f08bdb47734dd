// Ids that Swift considers equal, and stores do not: the same characters in other bytes.

import DflatTestSupport
import Platform
@testable import Silo
import Testing

@Suite("Ids in different normal forms")
struct NormalFormTests {
  private static let composed = "\u{F6}"
  private static let decomposed = "o\u{308}"
  private static let both = [composed, decomposed]

  private func bytes(_ texts: some Sequence<String>) -> [[UInt8]] {
    texts.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
  }

  @Test("Both are resolved at once, each with its own value", arguments: TestStores.all)
  func resolving(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let asked = Mutex<[String]>([])
      silos[Tag.self].resolve(window: .milliseconds(200)) { ids in
        asked.withLock { $0 += ids }
        return ids.map { Tag(id: $0, color: "\($0.unicodeScalars.count)") }
      }
      let found = try await withThrowingTaskGroup { group in
        for id in Self.both {
          group.addTask { (id, try await silos.resolve(RelatedItem<Tag>(id: id))) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      for (id, tag) in found {
        #expect(tag.id.utf8.elementsEqual(id.utf8))
        #expect(tag.color == "\(id.unicodeScalars.count)")
      }
      #expect(bytes(asked.withLock(\.self)) == bytes(Self.both))
      #expect(try await silos[Tag.self].count() == 2)
      // Deleted while an answer is on its way, one of them stays away.
      await #expect(throws: SiloError.self) {
        _ = try await silos[Tag.self].delete(Self.composed)
        _ = try await silos.resolve(RelatedItem<Tag>(id: Self.composed))
      }
      #expect(try await silos.resolve(RelatedItem<Tag>(id: Self.decomposed)).color == "2")
    }
  }

  @Test("A relation has both, stored and resolved", arguments: TestStores.all)
  func relations(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let tags = RelatedItems<Tag>(ids: Self.both)
      #expect(tags.count == 2)
      try await silos[Tag.self].save(Self.both.map { Tag(id: $0, color: "\($0.utf8.count)") })
      let task = Task("t", tags: tags, steps: [])
      try await silos[Task.self].save(task)
      #expect(try await silos[Tag.self].unresolvedIDs().isEmpty)
      let loaded = try #require(
        try await silos[Task.self].load(task.id, resolving: \.tags.all))
      #expect(bytes(loaded.tags.ids) == bytes(Self.both))
      #expect(bytes(loaded.tags.values.map(\.id)) == bytes(Self.both))
      for id in Self.both {
        #expect(loaded.tags[id: id]?.value?.color == "\(id.utf8.count)")
        let tasks = try await silos[Task.self].values(where: Task.tags.contains(id: id))
        #expect(tasks.map(\.id) == [task.id])
      }
      #expect(loaded == task && loaded.tags == tags)
    }
  }

  @Test("Rules of deletions take out the right one", arguments: TestStores.all)
  func deleting(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      try await silos[Label.self].save(Self.both.map { Label(id: $0) })
      try await silos[Memo.self].save(Memo(1, in: 1, labels: Self.both, marks: Self.both))
      #expect(try await silos[Label.self].delete(Self.composed))
      let memo = try #require(try await silos[Memo.self].load(1))
      #expect(bytes(memo.labels.map(\.id)) == bytes([Self.decomposed]))
      #expect(bytes(memo.marks.ids) == bytes([Self.decomposed]))
    }
  }

  @Test("Items and collections of items are compared by bytes")
  func equality() {
    let (left, right) = (RelatedItem<Tag>(id: Self.composed), RelatedItem<Tag>(id: Self.decomposed))
    #expect(left != right && Set([left, right]).count == 2)
    var items: RelatedItems<Tag> = [left]
    #expect(items != RelatedItems([right]))
    #expect(!items.contains(id: Self.decomposed))
    items.insert(Tag(id: Self.decomposed))
    #expect(items.count == 2 && items[id: Self.composed]?.isResolved == false)
    #expect(items.remove(id: Self.decomposed)?.isResolved == true)
    #expect(items == [left] && items.hashValue == RelatedItems([left]).hashValue)
    #expect(RelatedList<Tag>(ids: [Self.composed]) != RelatedList(ids: [Self.decomposed]))
  }

  @Test("So are ids of several parts")
  func parts() {
    let places = Self.both.map { Place(list: $0, number: 1) }
    #expect(places[0] == places[1])
    #expect(RelatedItem<Seat>(id: places[0]) != RelatedItem(id: places[1]))
    #expect(RelatedItems<Seat>(ids: places).count == 2)
  }

  @Test(
    "A parked upload stops no upload whose ordering key has other bytes", .endsSometime,
    arguments: TestStores.all)
  func orderingKeys(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      for key in Self.both {
        try await silos.write { _ = try $0.enqueue(Sent(orderingKey: key)) }
      }
      let queue = UploadQueue<Sent>(
        in: silos, retry: .exponential(from: .seconds(1), to: .seconds(1)),
        onFailure: { _, _, _ in .park })
      let sent = Mutex<[String]>([])
      try await queue.run(until: .idle) { upload, _ in
        if upload.orderingKey.utf8.elementsEqual(Self.composed.utf8) { throw CancellationError() }
        sent.withLock { $0.append(upload.orderingKey) }
      }
      #expect(bytes(sent.withLock(\.self)) == bytes([Self.decomposed]))
      #expect(try await queue.statuses().map(\.state) == [.parked])
    }
  }
}
