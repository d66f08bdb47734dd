// The first example of the documentation.

import Empire
import Foundation
import Testing

struct FirstLookTests {
  @Test("Records are stored, found by key and by ranges of keys")
  func firstLook() throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      try store.withTransaction { context in
        try context.insert(Person(city: "Kyoto", name: "Aoi", age: 41))
        try context.insert(Person(city: "Kyoto", name: "Ren", age: 33))
        try context.insert(Person(city: "Lima", name: "Ana", age: 52))
      }
      let people = try store.withTransaction { context in
        try Person.select(in: context, city: "Kyoto", name: .greaterThan("B"))
      }
      #expect(people == [Person(city: "Kyoto", name: "Ren", age: 33)])

      let one: Person? = try store.select(key: Person.IndexKey("Lima", "Ana"))
      #expect(one?.age == 52)
      let some = try Person.select(in: store, limit: 10, city: .lessThanOrEqual("Kyoto"))
      #expect(some.map(\.name) == ["Ren", "Aoi"])
    }
  }
}
