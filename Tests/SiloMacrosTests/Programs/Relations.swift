// Paths of relations: those of related values stand in the brackets of the relation before.

import Silo

@Persistable(version: 1, table: "people", shape: "id:I team:@Team deputy:@Person?")
struct Person: Identifiable {
  var id: Int
  var team: RelatedItem<Team>
  var deputy: RelatedItem<Person>?
}

@Persistable(version: 1, table: "teams", shape: "id:I boss:@Person members:@{Person}")
struct Team: Identifiable {
  var id: Int
  var boss: RelatedItem<Person>
  var members: RelatedItems<Person>
}

func load(_ people: Silo<Person>) async throws {
  _ = try await people.load(1, resolving: \.team[\.boss[\.team]], \.deputy[\.team[\.members.all]])
  _ = try await people.load([1], resolving: \.team[\.members.all[\.deputy[\.team[\.boss]]]])
  _ = try await people.load(1, resolving: \.team[\.boss][\.team])  // ! put each relation
  _ = try await people.load(1, resolving: \.deputy[\.team][\.boss])  // ! put each relation
  _ = try await people.load([1], resolving: \.team[\.boss][\.team])  // ! put each relation
}
