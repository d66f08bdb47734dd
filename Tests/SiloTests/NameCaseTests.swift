// Names that differ only in case, which SQLite does not tell apart.

import DflatTestSupport
import Dflat
import Foundation
import MemoryDflat
import Silo
import SQLiteDflat
import Testing

@Persistable(version: 1, table: "IDCard", shape: "id:I x:S")
private struct UpperCard: Identifiable, Equatable {
  var id: Int
  var x: String
}

@Persistable(version: 1, table: "IdCard", shape: "id:I y:S")
private struct LowerCard: Identifiable, Equatable {
  var id: Int
  var y: String
}

@Persistable(version: 1, table: "labelled", shape: "id:I tags:@{Tag} Tags:@{Tag}")
private struct Labelled: Identifiable {
  var id: Int
  var tags: RelatedItems<Tag>
  var Tags: RelatedItems<Tag>
}

@Persistable(version: 1, table: "boxes", shape: "id:I tags:@{Tag}")
private struct LowerBox: Identifiable {
  var id: Int
  var tags: RelatedItems<Tag>
}

@Persistable(version: 2, table: "Boxes", shape: "id:I tags:@{Tag}")
private struct UpperBox: Identifiable {
  var id: Int
  var tags: RelatedItems<Tag>
}

@Suite("Names that differ only in case")
struct NameCaseTests {
  @Test("SQLite refuses a second type with a table whose name differs only in case")
  func refused() async throws {
    try await withTemporaryFile { file in
      let silos = Silos(in: file.dflat)
      try await silos[UpperCard.self].save(UpperCard(id: 7, x: "seven"))
      let other = file.secondWorkspace()
      for cards in [silos[LowerCard.self], Silos(in: other.dflat)[LowerCard.self]] {
        let error = await #expect(throws: StorageError.self) {
          try await cards.save(LowerCard(id: 7, y: "other"))
        }
        #expect(error?.table == "IDCard_v1", "\(error as Any)")
        #expect(error?.message.contains("'IdCard_v1'") == true)
        #expect(error?.recoverySuggestion?.contains("@Persistable(table:)") == true)
        await #expect(throws: StorageError.self) { try await cards.load(7) }
        await #expect(throws: StorageError.self) { try await cards.values() }
        await #expect(throws: StorageError.self) { try await cards.count() }
      }
      #expect(try await silos[UpperCard.self].load(7) == UpperCard(id: 7, x: "seven"))
      await other.dflat.shutdown()
      _ = file.takeErrors()
    }
  }

  @Test("A transaction over both types on SQLite stores nothing")
  func together() async throws {
    try await withTemporaryFile { file in
      let silos = Silos(in: file.dflat)
      await #expect(throws: StorageError.self) {
        try await silos.write { txn in
          try txn[UpperCard.self].save(UpperCard(id: 7, x: "seven"))
          try txn[LowerCard.self].save(LowerCard(id: 7, y: "other"))
        }
      }
      let count = try await silos[UpperCard.self].count()
      #expect(count == 0)
      _ = file.takeErrors()
    }
  }

  @Test("In memory, the types are apart")
  func memory() async throws {
    let silos = Silos(in: MemoryWorkspace())
    try await silos.write { txn in
      try txn[UpperCard.self].save(UpperCard(id: 7, x: "seven"))
      try txn[LowerCard.self].save(LowerCard(id: 7, y: "other"))
    }
    #expect(try await silos[UpperCard.self].load(7) == UpperCard(id: 7, x: "seven"))
    #expect(try await silos[LowerCard.self].load(7) == LowerCard(id: 7, y: "other"))
  }

  @Test("The index of another type's relation is not called a table of another program")
  func relationsOfTypes() async throws {
    try await withTemporaryFile { file in
      let silos = Silos(in: file.dflat)
      try await silos[LowerBox.self].save(LowerBox(id: 1, tags: [.unresolved(id: "a")]))
      try await silos[UpperBox.self].save(UpperBox(id: 2, tags: [.unresolved(id: "a")]))
      let condition = UpperBox.tags.contains(id: "a")
      #expect(try await silos[UpperBox.self].values(where: condition).map(\.id) == [2])
      let errors = file.takeErrors()
      #expect(errors.map(\.table) == ["Boxes__tags"], "\(errors)")
      #expect(errors.first?.message.contains("'boxes__tags' is an index of another type") == true)
      #expect(errors.first?.recoverySuggestion?.contains("RENAME") == false)
    }
  }

  @Test(
    "Relations whose names differ only in case have an index each", arguments: TestEngine.embedded)
  func relations(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { temporary in
      let silo = Silos(in: temporary.workspace)[Labelled.self]
      let (a, b) = ("a", "b")
      try await silo.save([
        Labelled(id: 1, tags: [.unresolved(id: a)], Tags: [.unresolved(id: b)]),
        Labelled(id: 2, tags: [.unresolved(id: b)], Tags: []),
      ])
      #expect(try await silo.values(where: Labelled.tags.contains(id: b)).map(\.id) == [2])
      #expect(try await silo.values(where: Labelled.Tags.contains(id: b)).map(\.id) == [1])
      #expect(temporary.takeErrors().isEmpty)
    }
  }
}
