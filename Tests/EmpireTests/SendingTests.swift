// Records that are not `Sendable` leave a transaction: as a public struct, for which the compiler
// infers nothing, or with an object in it. These tests have to compile.

public import Empire
import Foundation
import Testing

/// A public type, which is not `Sendable` by itself.
@IndexKeyRecord("city", "name")
@Index("age")
public struct Resident: Equatable {
  let city: String
  let name: String
  var age: Int
}

/// An object as a value.
private final class Counter: Serializable, Deserializable {
  var count: Int
  init(_ count: Int) { self.count = count }
  var serializedSize: Int { count.serializedSize }
  func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    count.serialize(into: &buffer)
  }
  static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Counter { Counter(try Int.unpack(with: &deserializer)) }
}

@IndexKeyRecord("id")
private struct Counted {
  let id: Int
  var counter: Counter
}

/// An isolation domain that keeps records.
private actor Keeper {
  let store: BackgroundStore
  var residents: [Resident] = []
  var counted: [Counted] = []

  init(_ store: BackgroundStore) { self.store = store }

  func load() async throws {
    residents = try await store.withTransaction { try Resident.select(in: $0, city: "Lima") }
    counted = try await store.withTransaction { try Counted.select(in: $0, id: .lessThan(9)) }
  }

  var sum: Int { residents.map(\.age).reduce(0, +) + counted.map(\.counter.count).reduce(0, +) }
}

struct SendingTests {
  private let ana = Resident(city: "Lima", name: "Ana", age: 52)

  @Test("What the generated functions find is a transaction's result")
  func results() throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      try store.withTransaction { context in
        try context.insert(Resident(city: "Lima", name: "Ana", age: 52))
        try context.insert(Counted(id: 1, counter: Counter(7)))
      }
      let all = try store.withTransaction { context in
        try Resident.select(in: context, city: "Lima", name: .greaterThan("A"))
      }
      #expect(all == [ana])
      #expect(
        try store.withTransaction { try Resident.select(in: $0, city: "Lima", name: "Ana") }
          == [ana])
      #expect(
        try store.withTransaction { try Resident.select(in: $0, limit: 1, age: 52) } == [ana])
      let first = try store.withTransaction { try Counted.select(in: $0, id: 1).first }
      #expect(first?.counter.count == 7)
      let set = try store.withTransaction { try $0.select(Counted.query(id: .lessThan(9))) }
      #expect(set.count == 1)
    }
  }

  @Test("Records found in the background belong to the caller")
  func background() async throws {
    try await withTemporaryDirectory { directory in
      let store = try BackgroundStore(url: directory)
      try await store.withTransaction { context in
        try context.insert(Resident(city: "Lima", name: "Ana", age: 52))
        try context.insert(Counted(id: 1, counter: Counter(7)))
      }
      let keeper = Keeper(store)
      try await keeper.load()
      #expect(await keeper.sum == 59)
    }
  }
}
