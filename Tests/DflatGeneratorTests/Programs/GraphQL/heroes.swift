// Objects made from Apollo's results equal the expected ones, whichever Apollo it is.

import Dflat

func expect(_ left: Character, _ right: Character) {
  precondition(left == right, "\(left) is not \(right)")
}

let luke: ResultMap = [
  "__typename": "Human", "id": "1000", "name": "Luke", "appearsIn": ["EMPIRE", nil, "HOLIDAY"],
  "rank": 7, "height": 1.72, "born": "19 BBY",
  "homeWorld": [
    "__typename": "Planet", "name": "Tatooine", "grid": [[1, 2], nil, []] as [[Int]?],
    "moons": [["__typename": "Planet", "name": "Ghomrassen"] as ResultMap] as [ResultMap?],
  ] as ResultMap,
  "friends": [
    ["__typename": "Droid", "id": "2001", "name": "R2-D2"], nil,
    ["__typename": "Human", "id": "1002", "name": "Han"],
  ] as [ResultMap?],
]
expect(
  Character(hero(luke)),
  Character(
    id: "1000",
    subtype: .human(
      Character.Human(
        appearsIn: [.empire] + unknownEpisode, born: "19 BBY", friends: ["2001", "1002"],
        height: 1.72,
        home: Character.Planet(
          grid: [Character.IntList(values: [1, 2]), Character.IntList(values: [])],
          moons: [Character.Planet(name: "Ghomrassen")], name: "Tatooine"),
        name: "Luke", rank: 7))))

let artoo: ResultMap = [
  "__typename": "Droid", "id": "2001", "name": "R2-D2", "appearsIn": ["JEDI"] as [String?],
  "primaryFunction": "Astromech",
  "parts": [
    ["__typename": "Wheel", "size": 3], ["__typename": "Arm", "joints": 2],
  ] as [ResultMap?],
]
expect(
  Character(hero(artoo)),
  Character(
    id: "2001",
    subtype: .droid(
      Character.Droid(
        appearsIn: [.jedi], name: "R2-D2",
        parts: [
          Character.Part(subtype: .wheel(Character.Wheel(size: 3))),
          Character.Part(subtype: .arm(Character.Arm(joints: 2))),
        ], primaryFunction: "Astromech"))))

// Objects below have initialisers of their own; a type that is not known yet has no subtype.
let friends = hero(luke).friends ?? []
expect(
  Character(friends[0]!),
  Character(id: "2001", subtype: .droid(Character.Droid(name: "R2-D2"))))
expect(
  Character(hero(["__typename": "Wookiee", "id": "9", "appearsIn": [String?]()])),
  Character(id: "9"))

// A selection without the key gets it from the caller; an alias is followed.
expect(
  Character(
    id: "3",
    crew(["__typename": "Human", "name": "Leia", "friends": nil])),
  Character(id: "3", subtype: .human(Character.Human(name: "Leia"))))
expect(
  Character(human(["__typename": "Human", "id": "4", "name": "Wilhuff", "feet": 5.5])),
  Character(id: "4", subtype: .human(Character.Human(height: 5.5, name: "Wilhuff"))))

print("all is well")
