// The code of Silo's documentation, as far as it declares types.

import Foundation
import Silo
import Testing

/// Beside the types of other tests.
enum Documented {
  @Persistable(version: 2, table: "documented_users", shape: "id:I fullName:S")
  struct User: Identifiable {
    var id: Int
    var fullName: String
  }

  @Persistable(version: 2, table: "notes", shape: "id:U ownerName:S")
  struct Note: Identifiable {
    var id: UUID
    var ownerName: String
  }
}

extension Documented.User {
  @EntityVersion(1, of: Documented.User.self, shape: "id:I name:S")
  struct V1 { var id: Int; var name: String }

  static var migrations: Migrations<Documented.User> {
    Migrations {
      Migrate(from: V1.self, to: Documented.User.self) { old in
        Documented.User(id: old.id, fullName: old.name)
      }
    }
  }
}

extension Documented.Note {
  @EntityVersion(1, of: Documented.Note.self, shape: "id:U owner:@Documented.User")
  struct V1 { var id: UUID; var owner: RelatedItem<Documented.User> }

  static var migrations: Migrations<Documented.Note> {
    Migrations {
      Migrate(
        from: V1.self, to: Documented.Note.self, reading: Documented.User.V1.self
      ) { old, others in
        Documented.Note(
          id: old.id,
          ownerName: try others.load(Documented.User.V1.self, old.owner.id)?.name ?? "")
      }
    }
  }
}

@Suite("The code of the documentation")
struct DocumentedCodeTests {
  @Test("A step that reads other values")
  func readingStep() throws {
    try Documented.Note.migrations.check()
    let (user, id) = (Documented.User.V1(id: 7, name: "Ada"), UUID())
    let note = try Documented.Note.migrations.migrate(
      Documented.Note.V1(id: id, owner: .unresolved(id: 7)),
      reading: MigrationReader(of: [user]))
    #expect(note?.id == id && note?.ownerName == "Ada")
  }
}
