// Stores by themselves: generic code over any store, and what a file may contain.

import DflatTestSupport
import Foundation
import MemoryDflat
import Silo
import SQLiteDflat
import Testing

@Suite("Value stores by themselves")
struct ValueStoreTests {
  /// What a program may write about any store.
  private func use(_ store: some ValueStore<Tag>) async throws {
    var changes = store.changes(ValueQuery()).makeAsyncIterator()
    try await store.save(Tag(id: "a"))
    try await store.save([Tag(id: "b"), Tag(id: "c", color: "blue")])
    let first = try #require(await changes.next())
    #expect(first.insertions.first?.value.id == "a")
    #expect(try await store.load("a")?.color == "red")
    try await store.save(Tag(id: "a", color: "green"))
    #expect(try await store.load("a")?.color == "green")
    #expect(try await store.query(ValueQuery(where: Tag.color == "blue")).map(\.id) == ["c"])
    #expect(try await store.remove("a"))
    #expect(try await !store.remove("a"))
    #expect(try await store.load("a") == nil)
    #expect(try await store.remove(["b", "x"]) == 1)
    #expect(try await store.count(ValueQuery()) == 1)
  }

  @Test("Generic code saves, loads, removes, queries, counts and observes")
  func generic() async throws {
    try await use(MemoryValueStore<Tag>())
    try await use(CachedValueStore(of: MemoryValueStore<Tag>(), limit: 2))
    for place in VersionedPlace.all {
      try await place.run { opener in
        let store: any ValueStore<Tag> = opener.store(Tag.self)
        try await use(store)
      }
    }
  }

  @Test("A file whose rows have any ids is watched and migrated without a crash")
  func rowIDs() async throws {
    try await withTemporaryFile(.file) { file in
      let tags = Silos(in: file.workspace)[Tag.self]
      try await tags.save([Tag(id: "a"), Tag(id: "b"), Tag(id: "c")])
      let old = Silos(in: file.workspace)[Letter.V1.self]
      try await old.save([.init(id: 1, title: "1"), .init(id: 2, title: "2")])
      try file.tamper("UPDATE tags_v1 SET rowid = -9223372036854775808 WHERE rowid = 1")
      try file.tamper("UPDATE tags_v1 SET rowid = 9223372036854775807 WHERE rowid = 3")
      try file.tamper("UPDATE letters_v1 SET rowid = 9223372036854775807 WHERE rowid = 2")
      let other = SQLiteWorkspace(filePath: file.path)
      let silos = Silos(in: other)
      var changes = silos[Tag.self].changes(orderBy: [Tag.id.ascending]).makeAsyncIterator()
      try await silos[Tag.self].save(Tag(id: "b", color: "blue"))
      let change = try #require(await changes.next())
      #expect(change.updates.map(\.value.color) == ["blue"] && change.values.count == 3)
      try await silos[Letter.self].migrate()
      #expect(try await silos[Letter.self].count() == 2)
      await other.shutdown(flags: [])
    }
  }

  enum One {
    @Persistable(version: 1, shape: "id:I")
    struct Item: Identifiable { var id: Int }

    struct Change: Upload {
      var orderingKey: String { "" }
    }
  }

  enum Two {
    @Persistable(version: 1, shape: "id:I")
    struct Item: Identifiable { var id: Int }

    struct Change: Upload {
      var orderingKey: String { "" }
    }
  }

  @Test("Two types in one table, and two uploads with one name, are programmer errors")
  func equalNames() async {
    await #expect(processExitsWith: .failure) {
      let silos = Silos(.memory)
      _ = (silos[One.Item.self], silos[Two.Item.self])
    }
    await #expect(processExitsWith: .failure) {
      let silos = Silos(.memory)
      _ = try await silos.write { try $0.enqueue(One.Change()) }
      _ = try await silos.write { try $0.enqueue(Two.Change()) }
    }
  }
}
