// Storing a response of a GraphQL server: decoding it, and merging its objects into what is stored.
//
// The floor decodes the same structures and upserts whole objects that the program makes of them. A
// quarter of the objects is stored before, with other values. No checkpoint is in either clock. For
// a page of a list, the floor is the first page.

import Dflat
import DflatGraphQL
import Foundation
import SQLiteDflat

extension Case {
  static let graphqlStore = Case(
    id: "graphql-store", title: "decode and merge a response of 10,000 objects", goal: 1.3,
    floor: .without
  ) { fixture in
    let count = fixture.few
    let template = try fixture.template("people-\(count)") { store in
      _ = try store.workspace.write(Person.self) { txn in
        try txn.insert(
          contentsOf: (0..<count / 4).map { Person(id: "person-\($0 * 4)", name: "old") })
      }
    }
    let json = try response(count)
    func run(
      _ store: @escaping @Sendable (WriteContext, PeopleQuery.Data) throws -> BulkChange
    ) throws -> Outcome {
      let path = try fixture.copy(of: template)
      defer { fixture.discard(path) }
      let workspace = Store(path, walLimit: Store.noCheckpoints)
      _ = try workspace.workspace.write(Person.self) { txn in
        try txn.upsert(Person(id: "person-0", name: "older"))
      }
      let nanoseconds = try time {
        let data = try PeopleQuery.response(from: json).requireData()
        let change = try workspace.workspace.write(Person.self) { try store($0, data) }
        guard change.inserted == count - count / 4, change.updated == count / 4 else {
          throw Disagreement(description: "graphql-store: \(change)")
        }
      }
      try workspace.check()
      var sum = Checksum()
      // A response's objects are stored in the order in which they are met.
      let people = workspace.workspace.query(Person.self).orderBy(Person.id.ascending)
      for person in try people.fetch() {
        sum.add(person.id)
        sum.add(person.name)
        sum.add(person.text)
        sum.add(person.age)
        sum.add(person.height.bitPattern)
        sum.add(person.isActive ? 1 : 0)
        for tag in person.tags { sum.add(tag) }
        sum.add(person.home?.street)
        sum.add(person.bestFriend)
      }
      workspace.close()
      return Outcome(nanoseconds: nanoseconds, checksum: sum)
    }
    return (
      ours: { try run { try $0.store($1) } },
      floor: { try run { try $0.upsert(contentsOf: $1.people.map(Person.init)) } }
    )
  }

  /// The list is a field of a row, which is written as a whole; elements of other pages are not.
  static let graphqlPage = Case(
    id: "graphql-page", title: "append page 100 of a list, 100 objects each, beside page 1",
    goal: 1.2, floor: .without
  ) { fixture in
    let size = 100
    let (pages, few) = (100, 1)
    func template(_ page: Int) throws -> String {
      try fixture.template("friends-\(page)") { store in
        let friends = (0..<(page - 1) * size).map { "friend-\($0)" }
        _ = try store.workspace.write(Person.self) { txn in
          try txn.insert(contentsOf: [Person(id: "person", friends: friends, name: "one")])
        }
      }
    }
    var random = Random(seed: 13)
    let friends = (0..<size).map { number in
      FriendsQuery.Data.Person.Friend(id: "new-\(number)", name: random.text(8...40))
    }
    let json = try JSONEncoder().encode(
      GraphQLResponse(data: FriendsQuery.Data(person: .init(id: "person", friends: friends))))
    func run(_ page: Int) throws -> Outcome {
      let path = try fixture.copy(of: template(page))
      defer { fixture.discard(path) }
      let store = Store(path, walLimit: Store.noCheckpoints)
      _ = try store.workspace.write(Person.self) { txn in
        try txn.upsert(Person(id: "other", name: "first"))
      }
      let nanoseconds = try time {
        let response = try FriendsQuery.response(from: json)
        let change = try store.workspace.write(Person.self) {
          try $0.store(response, \.person.friends, .append)
        }
        guard change == BulkChange(inserted: size, updated: 1) else {
          throw Disagreement(description: "graphql-page: \(change)")
        }
      }
      try store.check()
      let found = store.workspace.find(Person.self, "person")?.friends ?? []
      guard found.count == page * size else {
        throw Disagreement(description: "graphql-page: \(found.count) friends")
      }
      var sum = Checksum()
      for id in found.suffix(size) { sum.add(id) }
      store.close()
      return Outcome(nanoseconds: nanoseconds, checksum: sum)
    }
    return (ours: { try run(pages) }, floor: { try run(few) })
  }

  private static func response(_ count: Int) throws -> Data {
    var random = Random(seed: 12)
    let people = (0..<count).map { number in
      PeopleQuery.Data.Person(
        id: "person-\(number)", name: random.text(8...40),
        text: random.number(0...9) == 0 ? nil : random.text(20...200), age: number % 90,
        height: Double(random.float()), isActive: number % 3 == 0,
        tags: (0..<random.number(0...3)).map { _ in random.text(4...12) },
        home: .init(city: random.text(5...20), street: random.text(8...30)),
        bestFriend: .init(id: "person-\(random.number(0...count - 1))"))
    }
    return try JSONEncoder().encode(GraphQLResponse(data: PeopleQuery.Data(people: people)))
  }
}
