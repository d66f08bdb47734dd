// A first look at Empire.

import Empire

@IndexKeyRecord("city", "name")
struct Person {
  let city: String
  let name: String
  var age: Int
}

func firstLook(directory: String) throws {
  let store = try Store(path: directory)

  try store.withTransaction { context in
    try context.insert(Person(city: "Kyoto", name: "Aoi", age: 41))
    try context.insert(Person(city: "Kyoto", name: "Ren", age: 33))
    try context.insert(Person(city: "Lima", name: "Ana", age: 52))
  }

  // The compiler knows which queries the order of the keys answers, and the types of their values.
  let people = try Person.select(in: store, city: "Kyoto", name: .greaterThan("B"))
  let one: Person? = try store.select(key: Person.IndexKey("Lima", "Ana"))
  let inLima = try store.count(Person.query(city: "Lima"))
  print(people.map(\.name), one?.age ?? 0, inLima)
}
