// Steps that read values of other types, and changes of values that are not migrated yet.

import DflatTestSupport
import Empire
@testable import EmpireSilo
import Foundation
import PostgresTestSupport
@testable import Silo
import SQLiteDflat
import Testing

@Persistable(version: 3, table: "authors", shape: "id:I names:[S]")
struct Author: Identifiable, Hashable, Sendable {
  var id: Int
  var names: [String]
}

extension Author {
  @EntityVersion(1, of: Author.self, shape: "id:I name:S")
  struct V1: Hashable {
    var id: Int
    var name: String
  }

  @EntityVersion(2, of: Author.self, shape: "id:I name:S initial:S")
  struct V2: Hashable {
    var id: Int
    var name: String
    var initial: String
  }

  static var migrations: Migrations<Author> {
    Migrations {
      Migrate(from: V1.self, to: V2.self) { old in
        V2(id: old.id, name: old.name, initial: String(old.name.prefix(1)))
      }
      Migrate(from: V2.self, to: Author.self) { Author(id: $0.id, names: [$0.name]) }
    }
  }
}

@Persistable(version: 3, table: "books", shape: "id:I label:S")
struct Book: Identifiable, Hashable, Sendable {
  var id: Int
  var label: String
}

extension Book {
  @EntityVersion(1, of: Book.self, shape: "id:I author:@Author.V1")
  struct V1: Hashable {
    var id: Int
    var author: RelatedItem<Author.V1>
  }

  @EntityVersion(2, of: Book.self, shape: "id:I author:I name:S")
  struct V2: Hashable {
    var id: Int
    var author: Int
    var name: String
  }

  static var migrations: Migrations<Book> {
    Migrations {
      Migrate(from: V1.self, to: V2.self, reading: Author.V1.self) { old, others in
        let author = try others.load(Author.V1.self, old.author.id)
        return V2(id: old.id, author: old.author.id, name: author?.name ?? "unknown")
      }
      // The authors of version 2 come from those of version 1.
      Migrate(from: V2.self, to: Book.self, reading: Author.V2.self) { old, others in
        let author = try others.load(Author.V2.self, old.author)
        return Book(id: old.id, label: "\(old.name) \(author?.initial ?? "-")")
      }
    }
  }
}

/// Where versions follow each other: a workspace, or an Empire store.
struct VersionedPlace: Sendable, CustomTestStringConvertible {
  let testDescription: String
  private let engine: TestEngine?

  static let all =
    TestEngine.withServers(TestEngine.embedded).map {
      VersionedPlace(testDescription: "\($0.testDescription)", engine: $0)
    }
    + [VersionedPlace(testDescription: "LMDB", engine: nil)]

  /// Calls `body` with a function that makes silos for some types, as a new process has them.
  func run(_ body: (_ silos: Opener) async throws -> Void) async throws {
    if let engine {
      try await withTemporaryWorkspace(engine) { temporary in
        try await body(Opener(workspace: temporary.workspace))
        _ = temporary.errors.takeAll()
      }
    } else {
      let directory = URL.temporaryDirectory.appending(path: "silo-\(UUID())")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      try await body(Opener(empire: Store(database: try LockingDatabase(url: directory))))
    }
  }

  struct Opener {
    var workspace: (any Workspace)?
    var empire: Store?

    func store<V: Persistable>(_ type: V.Type) -> any ValueStore<V> {
      if let workspace { return WorkspaceValueStore<V>(workspace) }
      return EmpireValueStore<V>(empire!)
    }
  }
}

@Suite("Migrations that read other types")
struct ReadingMigrationTests {
  private func prepare(_ opener: VersionedPlace.Opener) async throws {
    let old = Silos(opener.store(Author.V1.self), opener.store(Book.V1.self))
    try await old[Author.V1.self].save([
      .init(id: 0, name: "Ada"), .init(id: 1, name: "Bob"), .init(id: 2, name: "Cy"),
    ])
    try await old[Book.V1.self].save(
      (0..<1200).map { .init(id: $0, author: RelatedItem(id: $0 % 3)) })
    try await old[Book.V1.self].save(.init(id: 5000, author: RelatedItem(id: 99)))
  }

  @Test("Steps find the values of their own version", arguments: VersionedPlace.all)
  func reading(place: VersionedPlace) async throws {
    try Book.migrations.check()
    try await place.run { opener in
      try await prepare(opener)
      let silos = Silos(opener.store(Book.self), opener.store(Author.self))
      // The authors are used first, and migrated after the books that read them.
      #expect(try await silos[Author.self].load(1) == Author(id: 1, names: ["Bob"]))
      let books = try await silos[Book.self].values(orderBy: [Book.id.ascending])
      #expect(books.count == 1201)
      #expect(books[0].label == "Ada A" && books[1].label == "Bob B" && books[1199].label == "Cy C")
      #expect(books.last?.label == "unknown -")
      #expect(try await silos[Author.self].count() == 3)
    }
  }

  @Test(
    "Values whose others were migrated already are refused and left as they are",
    arguments: VersionedPlace.all)
  func wrongOrder(place: VersionedPlace) async throws {
    try await place.run { opener in
      try await prepare(opener)
      // As a process of its own, which does not know of books.
      try await Silos(opener.store(Author.self))[Author.self].migrate()
      let books = Silos(opener.store(Book.self))[Book.self]
      await #expect(throws: ValueMigrationError.alreadyMigrated(Author.V1.version)) {
        try await books.load(1)
      }
      await #expect(throws: ValueMigrationError.self) {
        try await books.save(Book(id: 1, label: ""))
      }
      if let workspace = opener.workspace {
        #expect(workspace.fetch(for: Canonical<Book.V1>.self).all().count == 1201)
      }
    }
  }

  @Test("Steps that read are tested without a database")
  func values() throws {
    let others = MigrationReader(of: [Author.V1(id: 7, name: "Eve")])
    let old = Book.V1(id: 1, author: RelatedItem(id: 7))
    #expect(try Book.migrations.migrate(old, reading: others)?.label == "Eve E")
    #expect(try Book.migrations.migrate(old)?.label == "unknown -")
    let undeclared = Migrations<Book> {
      Migrate(from: Book.V2.self, to: Book.self, reading: Author.V2.self) { old, others in
        Book(id: old.id, label: try others.load(Author.self, 7)?.names.first ?? "")
      }
    }
    #expect(throws: ValueMigrationError.self) {
      try undeclared.migrate(Book.V2(id: 1, author: 7, name: ""), reading: others)
    }
  }

  @Test(
    "Changes begin with values that are not migrated yet, and do not take them for others",
    arguments: VersionedPlace.all)
  func changes(place: VersionedPlace) async throws {
    try await place.run { opener in
      let old = Silos(opener.store(Letter.V1.self))[Letter.V1.self]
      try await old.save((0..<700).map { .init(id: $0, title: "\($0)") })
      let letters = Silos(opener.store(Letter.self))[Letter.self]
      var changes = letters.changes(orderBy: [Letter.id.ascending]).makeAsyncIterator()
      try await letters.save(Letter(id: 1000, subject: "new", words: []))
      let first = try #require(await changes.next())
      #expect(first.previous.count == 700 && first.values.count == 701)
      #expect(first.insertions.map(\.value.id) == [1000])
      #expect(first.removals.isEmpty && first.updates.isEmpty && first.moves.isEmpty)
      try await letters.save(Letter(id: 5, subject: "changed", words: []))
      let second = try #require(await changes.next())
      #expect(second.updates.map(\.previous.subject) == ["5"])
      #expect(second.removals.isEmpty && second.insertions.isEmpty && second.moves.isEmpty)
    }
  }

  @Test(
    "Watching values migrates them after those that read them", .endsSometime,
    arguments: VersionedPlace.all)
  func changesFirst(place: VersionedPlace) async throws {
    try await place.run { opener in
      try await prepare(opener)
      let silos = Silos(opener.store(Book.self), opener.store(Author.self))
      // The first call of the process.
      let changes = silos[Author.self].changes()
      let books = try await silos[Book.self].values(orderBy: [Book.id.ascending])
      #expect(books.count == 1201)
      #expect(books.first?.label == "Ada A" && books.last?.label == "unknown -")
      #expect(try await silos[Author.self].count() == 3)
      // Those that are migrated only now enter. LMDB converts them for the first state.
      if opener.workspace != nil {
        for await change in changes where change.values.count == 3 { break }
      }
    }
  }

  @Test("Values that were migrated for watchers are not hidden from older programs unnoticed")
  func changesRecordTheVersion() async throws {
    try await withTemporaryWorkspace(.sqlite) { temporary in
      let workspace = temporary.workspace
      let old = Silos(WorkspaceValueStore<Letter.V1>(workspace))[Letter.V1.self]
      try await old.save(.init(id: 1, title: "1"))
      let changes = Silos(in: workspace)[Letter.self].changes()
      // The migration goes on by itself; transactions over its types come behind it.
      try await workspace.write(Canonical<Letter.V1>.self) { _ in }
      #expect(workspace.fetch(for: Canonical<Letter.V1>.self).all().isEmpty)
      await #expect(throws: SiloError.newerVersion(table: "letters", stored: 3, known: 1)) {
        try await old.load(1)
      }
      withExtendedLifetime(changes) {}
    }
  }

  @Test("Watching values of a read-only file records nothing")
  func changesOfAReadOnlyFile() async throws {
    try await withTemporaryFile(.file) { file in
      let old = Silos(in: file.workspace)[Letter.V1.self]
      try await old.save(.init(id: 1, title: "1"))
      var configuration = SQLiteWorkspace.Configuration()
      configuration.isReadOnly = true
      let reader = SQLiteWorkspace(filePath: file.path, configuration: configuration)
      let errors = ReportedErrors()
      reader.errorHandler = { errors.add($0) }
      let changes = Silos(in: reader)[Letter.self].changes()
      await reader.shutdown(flags: [])
      // Only the migration itself reports that it cannot go on.
      #expect(errors.takeAll().count <= 1)
      withExtendedLifetime(changes) {}
    }
  }

  @Test("A damaged record silences no changes of others")
  func damage() async throws {
    try await VersionedPlace.all.last!.run { opener in
      let store = try #require(opener.empire)
      let silos = Silos(opener.store(Tag.self))
      let errors = ReportedErrors()
      silos.errorHandler = { errors.add($0) }
      let tags = silos[Tag.self]
      try await tags.save([Tag(id: "a"), Tag(id: "b")])
      try store.withTransaction { context in
        let row = try #require(try StoredRow.select(in: context, table: "tags_v1").first)
        try context.insert(
          StoredRow(table: row.table, hash: row.hash, number: row.number, bytes: Data([1])))
      }
      var changes = tags.changes().makeAsyncIterator()
      try await tags.save(Tag(id: "c"))
      let change = try #require(await changes.next())
      #expect(change.insertions.map(\.value.id) == ["c"] && change.values.count == 2)
      #expect(errors.takeAll().contains { ($0 as? StorageError)?.cause == .corruptRow })
    }
  }

  @Test("Watching a newer version reports that and ends", arguments: VersionedPlace.all)
  func changesOfANewerVersion(place: VersionedPlace) async throws {
    try await place.run { opener in
      try await Silos(opener.store(Letter.self))[Letter.self].save(
        Letter(id: 1, subject: "s", words: []))
      let silos = Silos(opener.store(Letter.V1.self))
      let errors = ReportedErrors()
      // No lock is held: the handler may use the silo.
      silos.errorHandler = { [weak silos] error in
        errors.add(error)
        _ = silos?[Letter.V1.self].changes()
      }
      for await _ in silos[Letter.V1.self].changes() { Issue.record("a change") }
      #expect(
        errors.takeAll().compactMap { $0 as? SiloError }
          == [.newerVersion(table: "letters", stored: 3, known: 1)])
    }
  }

  @Test(
    "A value that cannot be migrated is left out, and only that one", arguments: VersionedPlace.all)
  func failingValue(place: VersionedPlace) async throws {
    try await place.run { opener in
      let old = Silos(opener.store(Letter.V2.self))[Letter.V2.self]
      try await old.save(
        (0..<600).map { .init(id: $0, title: $0 == 7 ? "fail" : "\($0)", text: "") })
      let letters = Silos(opener.store(Letter.self))[Letter.self]
      #expect(try await letters.count() == 599)
      #expect(try await letters.load(7) == nil)
      #expect(try await letters.load(8)?.subject == "8")
      try await letters.save(Letter(id: 1000, subject: "new", words: []))
      let failure = await #expect(throws: ValueMigrationError.self) { try await letters.migrate() }
      guard case .failed(let version, id: "7", _)? = failure else {
        Issue.record("\(String(describing: failure))")
        return
      }
      #expect(version.number == 2)
      #expect(try await letters.count() == 600)
      #expect(try await letters.remove(1000))
    }
  }

  @Test("A version that no step leads from is refused, and stays", arguments: VersionedPlace.all)
  func unknownVersion(place: VersionedPlace) async throws {
    try await place.run { opener in
      let old = Silos(opener.store(Parcel.V1.self))[Parcel.V1.self]
      try await old.save(.init(id: UUID(), grams: 5))
      let parcels = Silos(opener.store(Parcel.self))[Parcel.self]
      let refusal = SiloError.unknownVersion(table: "parcels", stored: 1, known: [3])
      await #expect(throws: refusal) { try await parcels.values() }
      await #expect(throws: refusal) {
        try await parcels.save(Parcel(id: UUID(), weight: 1, contents: .none))
      }
      #expect(try await old.count() == 1)
    }
  }
}
