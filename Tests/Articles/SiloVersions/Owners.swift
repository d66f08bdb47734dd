// Sources/Silo/Silo.docc/Versions.md
import Foundation
import Silo

@Persistable(version: 2, table: "users")
struct User: Identifiable {
  var id: UUID
  var fullName: String
}

extension User {
  @EntityVersion(1, of: User.self)
  struct V1 {
    var id: UUID
    var name: String
  }

  static var migrations: Migrations<User> {
    Migrations {
      Migrate(from: V1.self, to: User.self) { User(id: $0.id, fullName: $0.name) }
    }
  }
}

@Persistable(version: 2, table: "notes")
struct Note: Identifiable {
  var id: UUID
  var ownerName: String
}

extension Note {
  typealias V2 = Note

  @EntityVersion(1, of: Note.self)
  struct V1 {
    var id: UUID
    var owner: RelatedItem<User>
  }

  static var migrations: Migrations<Note> {
    Migrations {
      // block 4
    }
  }
}
