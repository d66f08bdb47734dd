// Damaged rows: they never crash, are left out of results, and are reported with table and row id.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Damaged rows")
struct DamagedRowTests {
  enum Damage: String, CaseIterable, Sendable {
    case truncated, zeroed, random, null, text, empty, number

    func apply(_ workspace: TemporaryFile, row: Int) throws {
      let value =
        switch self {
        case .truncated: "substr(p, 1, length(p) / 2)"
        case .zeroed: "zeroblob(length(p))"
        case .random: "randomblob(length(p))"
        case .null: "NULL"
        case .text: "'some text, no buffer'"
        case .empty: "x''"
        case .number: "12"
        }
      try workspace.tamper("UPDATE blog__post_v1_0 SET p = \(value) WHERE rowid = \(row)")
    }
  }

  @Test("The error hook may fetch, wherever a damaged row was met")
  func fetchingHook() throws {
    try withTemporaryFile { workspace in
      try workspace.store((1...4).map { post($0, likes: $0) })
      try Damage.empty.apply(workspace, row: 2)
      let counts = Mutex<[Int]>([])
      let isInside = Mutex(false)
      let dflat = workspace.dflat
      dflat.errorHandler = { [weak dflat] _ in
        // The same query, which meets the same row.
        let isFirst = isInside.withLock { inside in
          defer { inside = true }
          return !inside
        }
        guard isFirst, let dflat else { return }
        let found = dflat.fetch(for: Post.self).all().count
        counts.withLock { $0.append(found) }
        isInside.withLock { $0 = false }
      }
      #expect(workspace.posts.all().count == 3)
      dflat.fetchWithinASnapshot { #expect(workspace.posts.all().count == 3) }
      #expect(counts.withLock { $0 } == [3, 3])
      try workspace.write([Post.self]) { txn in
        #expect(workspace.posts.all().count == 3)
        try txn.submit(Blog.PostChangeRequest.creationRequest(post(9)))
        #expect(workspace.posts.all().count == 4)
      }
      #expect(counts.withLock { $0.dropLast() }.allSatisfy { $0 == 3 })
      #expect(counts.withLock { $0.count > 3 && $0.last == 4 })
    }
  }

  @Test("A damaged row is left out and reported", arguments: Damage.allCases)
  func leftOut(damage: Damage) throws {
    try withTemporaryFile { workspace in
      try workspace.store((1...4).map { post($0, likes: $0, photo: "\($0)") })
      try damage.apply(workspace, row: 2)
      let photo = Post.attachment.as(Blog.Photo.self)
      let results = [
        workspace.posts.all(),
        workspace.posts.all(orderBy: [Post.status.ascending]),
        workspace.posts.all(orderBy: [Post.likes.ascending]),
        workspace.posts.where(Post.likes < 10),
        workspace.posts.where(Post.isPinned == false),
        workspace.posts.where(photo.width.isNotNull || photo.width.isNull),
        workspace.posts.where(Post.author.name.isNull),
        workspace.posts.where(Post.number.isNotNull && !Post.author.name.isNotNull),
      ]
      for result in results { #expect(result.map(\.number) == [1, 3, 4]) }
      let errors = workspace.takeErrors()
      #expect(errors.count == results.count)
      for error in errors {
        #expect(error.cause == .corruptRow && error.table == "blog__post_v1_0" && error.rowid == 2)
      }
      // It cannot be changed either; the other rows can.
      try workspace.write([Post.self]) { txn in
        #expect(Blog.PostChangeRequest.changeRequest(post(2)) == nil)
        let request = try #require(Blog.PostChangeRequest.changeRequest(post(3)))
        request.likes = 30
        try txn.submit(request)
      }
      #expect(workspace.takeErrors().allSatisfy { $0.rowid == 2 })
      #expect(workspace.posts.where(Post.likes == 30).map(\.number) == [3])
    }
  }

  @Test("Damage that makes a condition false is reported, too")
  func falseByDamage() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(0, photo: "whole.jpg"), post(1, photo: "damaged.jpg")])
      // The length of the string.
      let place = "instr(p, CAST('damaged.jpg' AS BLOB))"
      try workspace.tamper(
        "UPDATE blog__post_v1_0 SET p = CAST(substr(p, 1, \(place) - 5) || x'FFFFFF7F' "
          + "|| substr(p, \(place)) AS BLOB) WHERE rowid = 2")
      let path = Post.attachment.as(Blog.Photo.self).path
      #expect(workspace.posts.where(path.isNotNull).map(\.number) == [0])
      #expect(workspace.takeErrors().map(\.rowid) == [2])
    }
  }

  @Test("A damaged row can be removed by its row id")
  func removed() throws {
    try withTemporaryFile { workspace in
      let stored = try workspace.store([post(1), post(2)])
      try Damage.zeroed.apply(workspace, row: 2)
      try workspace.write([Post.self]) { txn in
        let request = try #require(Blog.PostChangeRequest.deletionRequest(stored[1]))
        try txn.submit(request)
      }
      #expect(workspace.takeErrors().map(\.cause) == [.corruptRow])
      #expect(workspace.posts.all().map(\.number) == [1])
      let faults = try workspace.faults()
      #expect(faults == [])
    }
  }

  @Test(
    "A bulk deletion removes damaged rows that it need not read, also if they are observed",
    arguments: [false, true])
  func removedTogether(isObserved: Bool) throws {
    try withTemporaryFile { workspace in
      let dflat = workspace.dflat
      try dflat.write(Note.self) { try $0.insert(contentsOf: (1...4).map { Note(key: $0) }) }
      try workspace.store((1...4).map { post($0) })
      let notes = Note._schema.table
      try workspace.tamper("UPDATE \(notes) SET p = x'00' WHERE rowid = 2")
      try Damage.zeroed.apply(workspace, row: 3)
      let seen = Log<Int>()
      let subscriptions =
        isObserved
        ? [
          dflat.subscribe(dflat.query(Note.self)) { (notes: FetchedResult<Note>) in
            seen.add(notes.count)
          }, dflat.subscribe(fetchedResult: workspace.posts.all()) { seen.add($0.count) },
        ] : []
      let (one, changes) = try dflat.write(Note.self, Post.self) { txn in
        let one = try txn.delete(where: Note.key == 2)
        var all = BulkChange()
        let changes = try txn.revertible { all = try txn.delete(Post.self, where: .always) }
        #expect(all.deleted == 4)
        return (one, changes)
      }
      #expect(one.deleted == 1)
      // What the damaged one was is not known.
      #expect(changes.count == 3)
      let all = try dflat.write(Note.self) { try $0.delete(Note.self, where: .always) }
      #expect(all.deleted == 3)
      #expect(try workspace.sqlite3("SELECT count(*) FROM \(notes)") == "0")
      #expect(try workspace.sqlite3("SELECT count(*) FROM blog__post_v1_0") == "0")
      withExtendedLifetime(subscriptions) {}
      #expect(workspace.takeErrors().allSatisfy { $0.cause == .corruptRow })
    }
  }

  @Test("As many are deleted as a limit allows, damaged or not", arguments: [false, true])
  func limitedDeletion(isObserved: Bool) async throws {
    try await withTemporaryFile(.file) { workspace in
      let dflat = workspace.dflat
      try workspace.store((1...6).map { post($0, likes: 3) })
      try await dflat.indexesReady(for: Post.self)
      #expect(workspace.posts.where(Post.likes == 3).count == 6)
      try Damage.zeroed.apply(workspace, row: 1)
      let subscription = dflat.subscribe(fetchedResult: workspace.posts.all()) { _ in }
      if !isObserved { subscription.cancel() }
      let change = try await dflat.write(Post.self) {
        try $0.delete(dflat.query(Post.self).where(Post.likes == 3).limit(3))
      }
      #expect(change.deleted == 3)
      #expect(workspace.posts.all().map(\.number) == [4, 5, 6])
      withExtendedLifetime(subscription) {}
      _ = workspace.takeErrors()
    }
  }

  @Test("No change of any byte of a row crashes the program")
  func anyByte() throws {
    try withTemporaryFile { workspace in
      let item = Kit.Item(
        name: "n", serial: 9, flag: true, title: "title", badge: "b",
        box: Kit.Box(corner: Kit.Point(x: 1, y: 2), depth: 3),
        branch: Kit.Branch(leaf: Kit.Leaf(label: "l", rank: 4), name: "branch"),
        pet: .cat(Kit.Cat(name: "c", leaf: Kit.Leaf(label: "m"))), tags: ["a", "b"],
        numbers: [1, 2], leaves: [Kit.Leaf()], pets: [.dog(Kit.Dog()), .point(Kit.Point())])
      try workspace.write([Kit.Item.self]) { txn in
        _ = try txn.insert(Kit.ItemChangeRequest.creationRequest(item))
      }
      let good = [UInt8](workspace.dflat.fetch(for: Kit.Item.self).all()[0].toData())
      let foreign = try workspace.foreignConnection()
      try withSeed { random in
        let queries = Kit.Item.randomQueries()
        for place in 0..<(isLongRun ? good.count * 20 : good.count) {
          var bytes = good
          bytes[place % good.count] = random.pick([
            0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255),
          ])
          try foreign.execute("UPDATE kit__item_v2 SET p = ?", [.blob(bytes)])
          for object in queries.query(&random).fetch(workspace.dflat) {
            _ = object.description
            _ = object.toData()
            _ = object == item
            _ = (object.pet, object.pets, object.branch, object.box, object.leaves, object.tags)
          }
          _ = Kit.Item.from(data: Data(bytes)).hashValue
        }
      }
      #expect(workspace.takeErrors().allSatisfy { $0.cause == .corruptRow })
    }
  }

  @Test("A file that is not a database is reported and not changed")
  func noDatabase() throws {
    try withTemporaryFile(.file) { workspace in
      let text = Data("this is no database, only some text that is long enough".utf8)
      try text.write(to: URL(fileURLWithPath: workspace.path))
      #expect(workspace.posts.all().isEmpty)
      #expect(!workspace.takeErrors().isEmpty)
      let outcome = try workspace.write([Post.self]) { _ in
        Issue.record("the handler ran")
      }
      #expect(!outcome.isCommitted)
      #expect(!workspace.takeErrors().isEmpty)
      #expect(try Data(contentsOf: URL(fileURLWithPath: workspace.path)) == text)
    }
  }
}
