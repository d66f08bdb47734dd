// The model: users, forms, and the answers that people give to them.

import Foundation
import Silo

@Persistable(version: 1, table: "users", shape: "id:I name:S")
struct User: Identifiable, Hashable, Sendable, Codable {
  var id: Int
  var name: String
}

@PersistableValue(shape: "text:S kind:Kind")
struct Question: Hashable {
  @PersistableValue(shape: "text:S number:S date:S")
  enum Kind: String { case text, number, date }

  var text: String
  var kind: Kind
}

@Persistable(version: 2, table: "forms", shape: "id:I title:S author:@User questions:[Question]")
struct Form: Identifiable, Hashable, Sendable {
  var id: Int
  var title: String
  /// The author may not be fetched yet.
  var author: RelatedItem<User>
  var questions: [Question]
}

extension Form {
  /// Before questions had a kind.
  @EntityVersion(1, of: Form.self, shape: "id:I title:S author:@User questions:[S]")
  struct V1 {
    var id: Int
    var title: String
    var author: RelatedItem<User>
    var questions: [String]
  }

  static var migrations: Migrations<Form> {
    Migrations {
      Migrate(from: V1.self, to: Form.self) { old in
        Form(
          id: old.id, title: old.title, author: old.author,
          questions: old.questions.map {
            Question(text: $0, kind: $0.hasPrefix("How many") ? .number : .text)
          })
      }
    }
  }

  /// What the fixture of version 1 was written with.
  static let fixture = [
    V1(id: 1, title: "Visit", author: .unresolved(id: 2), questions: ["Where?", "How many?"])
  ]
}

@Persistable(version: 1, table: "answers", shape: "id:U form:@Form texts:[S] isFinal:B=false")
struct Answer: Identifiable, Hashable, Sendable {
  var id: UUID
  var form: RelatedItem<Form>
  var texts: [String]
  var isFinal = false
}

/// An answer that is to be sent.
enum AnswerUpload: Upload {
  case send(UUID)

  var orderingKey: String {
    switch self {
    case .send(let id): id.uuidString
    }
  }
}
