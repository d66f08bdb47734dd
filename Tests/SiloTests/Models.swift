// The values that most tests use.

import Foundation
import Silo

@Persistable(
  version: 2, table: "tasks",
  shape:
    "id:U title:S created:D modified:D? isDone:B=false count:I owner:@User tags:@{Tag} steps:@[Step] reviewer:@User?"
)
struct Task: Identifiable, Hashable, Sendable, Codable {
  var id: UUID
  var title: String
  @Indexed var created: Date
  var modified: Date?
  var isDone = false
  @Indexed var count: Int
  var owner: RelatedItem<User>
  var tags: RelatedItems<Tag>
  var steps: RelatedList<Step>
  var reviewer: RelatedItem<User>?

  init(
    id: UUID = UUID(), _ title: String = "", created: Date = Date(timeIntervalSince1970: 0),
    count: Int = 0, owner: RelatedItem<User> = .unresolved(id: 1), tags: RelatedItems<Tag> = [],
    steps: RelatedList<Step> = [], reviewer: RelatedItem<User>? = nil
  ) {
    self.id = id
    self.title = title
    self.created = created
    self.count = count
    self.owner = owner
    self.tags = tags
    self.steps = steps
    self.reviewer = reviewer
  }
}

@Persistable(version: 1, table: "users", shape: "id:I name:S email:S? boss:@User?")
struct User: Identifiable, Hashable, Sendable, Codable {
  var id: Int
  var name: String
  @Unique var email: String?
  var boss: RelatedItem<User>?
}

@Persistable(version: 1, table: "tags", shape: "id:S color:S=red")
struct Tag: Identifiable, Hashable, Sendable, Codable {
  var id: String
  var color = "red"
}

@Persistable(version: 1, table: "steps", shape: "id:Place title:S assignee:@User?")
struct Step: Identifiable, Hashable, Sendable, Codable {
  var id: Place
  var title: String
  var assignee: RelatedItem<User>?
}
