// Relations that the macro cannot read, because a typealias hides them: the compiler refuses them at
// their properties.

import Silo

@Persistable(version: 1, shape: "id:I")
struct Person: Identifiable, Hashable { var id: Int }

typealias Owner = RelatedItem<Person>
typealias Owners = [RelatedItem<Person>]
typealias Members = RelatedItems<Person>
typealias Ranking = RelatedList<Person>
typealias Number = Int
typealias Numbers = [Int]

@Persistable(
  version: 1,
  shape:
    "id:I owner:Owner deputy:Owner? members:Members ranking:Ranking owners:[Owner] all:Owners others:{Owner} byName:[S:Owner] indexed:Owner lead:@Person team:@{Person} number:I numbers:[I]"
)
struct Club: Identifiable {
  var id: Int
  var owner: Owner  // ! silos follow a relation only if it is a property
  var deputy: Owner?  // ! silos follow a relation only if it is a property
  var members: Members  // ! is spelled RelatedItems, without a typealias
  var ranking: Ranking  // ! is spelled RelatedList, without a typealias
  var owners: [Owner]  // ! is spelled RelatedItem, without a typealias
  var all: Owners  // ! elsewhere store the id
  var others: Set<Owner>  // ! elsewhere store the id
  var byName: [String: Owner]  // ! elsewhere store the id
  @Indexed var indexed: Owner  // ! silos follow a relation only if it is a property
  var lead: RelatedItem<Person>
  var team: RelatedItems<Person>
  @Indexed var number: Number
  var numbers: Numbers
}

@PersistableValue(shape: "owner:Owner count:I")
struct Seat {
  var owner: Owner  // ! silos follow a relation only if it is a property
  var count: Number
}

@PersistableValue(shape: "none:() owner:(Owner,since:I) owners:([S:Owners])")
enum Right {
  case none
  case owner(Owner, since: Int)  // ! silos follow a relation only if it is a property
  case owners([String: Owners])  // ! elsewhere store the id
}

extension Club {
  @EntityVersion(1, of: Other.self, shape: "id:I owner:Owner")
  struct V1 {
    var id: Int
    var owner: Owner  // ! silos follow a relation only if it is a property
  }
}

@Persistable(version: 2, shape: "id:I")
struct Other: Identifiable { var id: Int }
