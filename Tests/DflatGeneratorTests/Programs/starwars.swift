// Asks for operations, decodes what the server answers, and stores it.
//
// With the argument `requests` it prints the requests, otherwise it reads the answers from a file.

import Dflat
import DflatGraphQL
import Foundation
import MemoryDflat

let review = ReviewInput(
  stars: 5, commentary: nil, favoriteColor: .value(ColorInput(red: 1, green: 2, blue: 3)),
  episodes: [.jedi, .newHope], answers: .value(ReviewInput(stars: 1, limit: 7)))
let requests: [(name: String, body: Data)] = [
  ("hero", try HeroDetailsQuery(variables: .init(episode: .value(.empire))).body()),
  ("artoo", try HeroDetailsQuery().body()),
  ("names", try HeroNamesQuery().body()),
  ("born", try BirthdaysQuery(variables: .init(withBorn: true)).body()),
  ("unborn", try BirthdaysQuery(variables: .init(withBorn: false, withName: false)).body()),
  ("aliases", try AliasesQuery().body()),
  ("search", try SearchQuery().body()),
  ("deep", try DeepQuery().body()),
  ("ships", try ShipsQuery().body()),
  ("owners", try OwnersQuery().body()),
  ("review", try CreateReviewMutation(variables: .init(episode: nil, review: review)).body()),
  ("rename", try RenameMutation(variables: .init(id: "1000", name: "Luke")).body()),
  ("broken", try RenameMutation(variables: .init(id: "9999", name: "x")).body()),
]

if CommandLine.arguments[1] == "requests" {
  let texts = requests.map { request in
    let body = String(decoding: request.body, as: UTF8.self)
    return "{\"name\": \"\(request.name)\", " + body.dropFirst()
  }
  print("[\(texts.joined(separator: ",\n"))]")
  exit(0)
}

let answers = try JSONDecoder().decode(
  [String: GraphQLValue].self,
  from: Data(contentsOf: URL(filePath: CommandLine.arguments[1])))
@MainActor func answer<O: GraphQLOperation>(_ type: O.Type, _ name: String) throws -> O.Data {
  let bytes = try JSONEncoder().encode(answers[name]!)
  let data = try O.response(from: bytes).requireData()
  // What was decoded is encoded as it was.
  let again = try JSONDecoder().decode(O.Data.self, from: JSONEncoder().encode(data))
  precondition(again == data && again.hashValue == data.hashValue, name)
  return data
}

// MARK: Decoding

let hero = try answer(HeroDetailsQuery.self, "hero").hero!
precondition(hero.id == "1000" && hero.asHuman!.height == 1.72 && hero.asDroid == nil)
precondition(hero.asHuman!.homePlanet!.place!.asOrbit!.number == 4)
precondition(hero.appearsIn == [.newHope, .empire, .jedi] && hero.asHuman!.isJedi)
precondition(hero.friends!.compactMap { $0?.name }.contains("C-3PO"))
let artoo = try answer(HeroDetailsQuery.self, "artoo").hero!
precondition(artoo.asDroid!.primaryFunction == "Astromech" && artoo.friends == nil)

let born = try answer(BirthdaysQuery.self, "born").heroes
let unborn = try answer(BirthdaysQuery.self, "unborn").heroes
precondition(born[0].born == "19 BBY" && born[0].name == nil && born[1].born == nil)
precondition(born[1].bornIfIncluded == .null && unborn[1].bornIfIncluded == .absent)
precondition(unborn[0].name == "Luke Skywalker" && unborn[0].bestFriend!.name == nil)
precondition(born[0].bestFriend!.name == "R2-D2" && unborn[0].born == nil)

let aliases = try answer(AliasesQuery.self, "aliases")
precondition(aliases.luke!.key == "1000" && aliases.luke!.fullName == "Luke Skywalker")
precondition(aliases.luke!.tall! > 5 && aliases.luke!.height == 1.72 && aliases.luke!.default!)
precondition(aliases.luke!.self_ == "Luke Skywalker")
precondition(aliases.artoo!.asDroid!.owner!.homePlanet!.name == "Tatooine")

let search = try answer(SearchQuery.self, "search").search!
precondition(search.map(\.__typename) == ["Human", "Droid", "Starship"])
precondition(search[0].asHuman!.starships![0].name == "X-Wing" && search[2].asHuman == nil)
precondition(search[1].asDroid!.friends![1] == nil && search[0].asOwner!.id == "1000")
let ships = try answer(ShipsQuery.self, "ships").ships!
precondition(ships[0]!.coordinates == [[1, 2.5], []] && ships[1] == nil)

let created = try answer(CreateReviewMutation.self, "review").createReview!
precondition(
  created.commentary == """
    [null, {"answers": {"limit": 7, "stars": 1}, "commentary": null, "episodes": ["JEDI", \
    "NEW_HOPE"], "favorite_color": {"blue": 3, "green": 2, "red": 1}, "limit": 3, "stars": 5}]
    """, created.commentary!)

let broken = try RenameMutation.response(from: JSONEncoder().encode(answers["broken"]!))
precondition(broken.errors[0].path == ["rename"] && broken.errors[0].locations[0].line == 2)
do {
  _ = try broken.requireData()
  fatalError("errors were not thrown")
} catch { precondition(error.errors.count == 1) }

// An enum value and an object type that are newer than the schema.
let newer = try HeroDetailsQuery.response(
  from: Data(
    """
    {"data": {"hero": {"__typename": "Wookiee", "id": "5", "name": "C", "appearsIn": ["CLONES"]}}}
    """.utf8)
).data!.hero!
precondition(newer.appearsIn == [.unknown("CLONES")] && newer.asHuman == nil)

// What is wrong has its path.
@MainActor func refuses<O: GraphQLOperation>(
  _ type: O.Type, _ json: String, _ path: [GraphQLPathElement]
) {
  do throws(GraphQLDecodingError) {
    _ = try O.response(from: Data(json.utf8))
    fatalError("accepted: \(json)")
  } catch { precondition(error.path == path, "\(error)") }
}
refuses(
  HeroNamesQuery.self, #"{"data": {"heroes": [{"id": "1"}]}}"#,
  [
    "data", "heroes", 0, "__typename",
  ])
refuses(
  ShipsQuery.self, #"{"data": {"ships": [null, {"id": "1", "name": 7}]}}"#,
  [
    "data", "ships", 1, "name",
  ])
refuses(
  ShipsQuery.self, #"{"data": {"ships": [{"id": "1", "name": "", "coordinates": [[1, "a"]]}]}}"#,
  ["data", "ships", 0, "coordinates", 0, 1])
refuses(ShipsQuery.self, #"{"data": {"ships": {}}}"#, ["data", "ships"])
refuses(
  HeroDetailsQuery.self,
  #"""
  {"data": {"hero": {"__typename": "Human", "id": "1", "name": "", "appearsIn": [], "is_jedi": 1}}}
  """#, ["data", "hero", "is_jedi"])
refuses(ShipsQuery.self, "no JSON", [])
refuses(ShipsQuery.self, "{}", [])
refuses(ShipsQuery.self, String(repeating: #"{"extensions": "#, count: 100_000), [])

// MARK: Storing

let dflat = MemoryWorkspace()
@MainActor @discardableResult func store(_ data: some GraphQLStorable & Sendable) throws
  -> BulkChange
{
  try dflat.write(Character.self, Starship.self) { try $0.store(data) }
}
@MainActor func character(_ id: String) -> Character { dflat.find(Character.self, id)! }
@MainActor func human(_ id: String) -> Character.Human {
  guard case .human(let human) = character(id).subtype else { fatalError("\(id) is no human") }
  return human
}
@MainActor func droid(_ id: String) -> Character.Droid {
  guard case .droid(let droid) = character(id).subtype else { fatalError("\(id) is no droid") }
  return droid
}

let first = try store(try answer(HeroDetailsQuery.self, "hero"))
precondition(first == BulkChange(inserted: 5), "\(first)")
precondition(human("1000").friends == ["1002", "1003", "2000", "2001"])
precondition(human("1000").homePlanet?.place?.subtype == .orbit(.init(number: 4, years: 0.83)))
precondition(human("1000").appearsIn == [.newHope, .empire, .jedi] && human("1000").isJedi)
precondition(droid("2000").name == "C-3PO" && human("1002").height == 0)

// The initialisers make the same objects.
precondition(Character(hero) == character("1000"))
precondition(hero.friends!.compactMap { $0.map { Character($0) } }.count == 4)
precondition(Character(newer) == Character(id: "5", subtype: nil))
precondition(Character(search[2]) == nil && Starship(search[2])!.name == nil)
precondition(
  Character(search[0])!.subtype
    == .human(
      .init(
        friends: search[0].asHuman!.friends!.map { $0!.id }, height: 1.72, name: "Luke Skywalker")))
precondition(Starship(search[0].asOwner!.starships![0]).name == "X-Wing")

// Again: nothing is written.
let again = try store(try answer(HeroDetailsQuery.self, "hero"))
precondition(again == BulkChange(unchanged: 5), "\(again)")

// Another selection of the same objects loses nothing.
let names = try store(try answer(HeroNamesQuery.self, "names"))
precondition(names == BulkChange(unchanged: 5), "\(names)")
precondition(human("1000").height == 1.72)

// Null clears, and what is left out stays.
try dflat.write(Character.self) { txn in
  let request = Character(id: "1002", subtype: .human(.init(born: "29 BBY", name: "Han Solo")))
  try txn.upsert(request)
}
try store(try answer(BirthdaysQuery.self, "unborn"))
precondition(human("1002").born == "29 BBY" && human("1002").bestFriend == "1000")
try store(try answer(BirthdaysQuery.self, "born"))
precondition(human("1002").born == nil && human("1002").name == "Han Solo")
precondition(droid("2001").born == "33 BBY" && human("1000").born == "19 BBY")
precondition(human("1003").bestFriend == nil && human("1000").height == 1.72)

// An alias is the field; the field without one counts before others.
try store(try answer(AliasesQuery.self, "aliases"))
precondition(human("1000").height == 1.72 && human("1000").notes == "a farm boy")
precondition(human("1000").default && human("1000").rating == 9)
precondition(droid("2001").primaryFunction == "Astromech")
precondition(droid("2001").owner?.homePlanet?.name == "Tatooine")

// Members of a union, interfaces of several entities, and entities deep inside.
let found = try store(try answer(SearchQuery.self, "search"))
precondition(found.inserted == 2, "\(found)")
precondition(dflat.find(Starship.self, "3001")!.name == "X-Wing")
try store(try answer(ShipsQuery.self, "ships"))
let falcon = dflat.find(Starship.self, "3000")!
precondition(falcon.coordinates.map(\.values) == [[1, 2.5], []] && falcon.pilots == ["1002"])
try store(try answer(OwnersQuery.self, "owners"))
precondition(dflat.find(Starship.self, "3000")! == falcon)
try store(try answer(DeepQuery.self, "deep"))
precondition(droid("2001").friendsConnection != nil && human("1000").rating == 9)

// A mutation's answer.
let renamed = try store(try answer(RenameMutation.self, "rename"))
precondition(renamed == BulkChange(updated: 1) && human("1000").name == "Luke")
precondition(human("1000").height == 1.72 && human("1000").friends.count == 4)

// An object twice in one response: merged once, with the fields of both places.
let twice = try SearchQuery.response(
  from: Data(
    """
    {"data": {"search": [
      {"__typename": "Human", "id": "7", "name": "a", "height": 2, "starships": null,
       "friends": [{"__typename": "Human", "id": "7"}, {"__typename": "Human", "id": "8"}]},
      {"__typename": "Droid", "id": "9", "name": "d",
       "friends": [{"__typename": "Human", "id": "8", "name": "eight"}]}]}}
    """.utf8)
).requireData()
let merged = try store(twice)
precondition(merged == BulkChange(inserted: 3), "\(merged)")
precondition(human("7").friends == ["7", "8"] && human("8").name == "eight")

// An object of another type than the stored one, and one of an unknown type.
try store(
  HeroNamesQuery.Data(heroes: [.init(__typename: "Droid", id: "7", name: "seven")]))
precondition(droid("7").name == "seven")
try store(HeroDetailsQuery.Data(hero: newer))
precondition(character("5").subtype == nil)

// Observers are notified once for a response, and not at all if it changes nothing.
final class Count: @unchecked Sendable {
  private let lock = NSLock()
  private var count = 0
  func add() { lock.withLock { count += 1 } }
  var value: Int { lock.withLock { count } }
}
let count = Count()
let subscription = dflat.subscribe(
  fetchedResult: dflat.fetch(for: Character.self).all()
) { _ in count.add() }
try dflat.write(Character.self) { txn in
  for id in ["1000", "1002", "1003"] { try txn.upsert(Character(id: id, subtype: .droid(.init()))) }
}
precondition(count.value == 1, "\(count.value)")
let restored = try store(try answer(HeroDetailsQuery.self, "hero"))
precondition(restored.updated == 3 && count.value == 2, "\(restored) \(count.value)")
try store(try answer(HeroDetailsQuery.self, "hero"))
precondition(count.value == 2, "\(count.value)")
subscription.cancel()

// A type that the transaction does not list.
do {
  try dflat.write(Character.self) { txn in
    _ = try txn.store(
      ShipsQuery.Data(ships: [.init(id: "1", name: "", coordinates: nil, length: nil, pilots: nil)])
    )
  }
  fatalError("stored a type that is not listed")
} catch { precondition(error is WorkspaceError, "\(error)") }

print("all is well")
