// What the articles in this folder store.
import Foundation
import Silo

@Persistable(version: 1, table: "photos")
struct Photo: Identifiable {
  var id: UUID
}

@Persistable(version: 1, table: "lists")
struct TaskList: Identifiable {
  var id: UUID
}

@PersistableValue
struct Address: Hashable {
  var city: String
}

@Persistable(version: 1, table: "users")
struct User: Identifiable {
  var id: UUID
  var name: String
  var address: Address
  var team: RelatedItem<Team>
}

@Persistable(version: 1, table: "teams")
struct Team: Identifiable {
  var id: UUID
  var lead: RelatedItem<User>
}

@Persistable(version: 1, table: "tags")
struct Tag: Identifiable {
  var id: String
}

@Persistable(version: 1, table: "tasks")
struct Task: Identifiable {
  var id: UUID
  var title: String
  var isDone = false
  var owner: RelatedItem<User>
  var tags: RelatedItems<Tag>
}
