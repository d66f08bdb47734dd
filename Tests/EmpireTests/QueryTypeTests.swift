// The types of queries are those of the key. The tests of the macros contain queries that the
// compiler rejects; these are accepted.

import Empire
import Foundation
import Testing

@IndexKeyRecord("id")
private struct Folder: Equatable {
  let id: UUID
  var name: String
}

@IndexKeyRecord("folder", "number")
@Index("size", "title")
private struct Page: Equatable {
  let folder: Folder.IndexKey
  let number: Int
  var size: UInt
  var title: String
}

/// A key that is not a tuple.
private struct Whole: Equatable, IndexKeyRecord {
  let number: Int

  static var keyPrefix: IndexKeyRecordHash { 1 }
  static var fieldsVersion: IndexKeyRecordHash { 0 }
  var indexKey: Int { number }
  var fields: EmptyValue { EmptyValue() }

  func serialize(into buffer: inout SerializationBuffer) {
    number.serialize(into: &buffer.keyBuffer)
  }

  static func deserialize(
    with deserializer: consuming RecordDeserializer
  ) throws(DeserializeError) -> sending Self {
    Self(number: try Int.unpack(with: &deserializer.keyDeserializer))
  }
}

/// A context in which the record's key type is unknown.
private func records<Record: IndexKeyRecord, Value: QueryComponent>(
  of recordType: Record.Type, in context: TransactionContext, _ last: ComparisonOperator<Value>
) throws -> [Record] {
  try context.uncheckedSelect(Query(last: last))
}

extension TransactionContext {
  /// The function that compares types at run time, without its warning.
  fileprivate func uncheckedSelect<Record: IndexKeyRecord, each Value: QueryComponent, Last>(
    _ query: Query<repeat each Value, Last>
  ) throws -> [Record] {
    try (self as any Selecting).selectAnything(query)
  }
}

private protocol Selecting {
  func selectAnything<Record: IndexKeyRecord, each Value: QueryComponent, Last: QueryComponent>(
    _ query: Query<repeat each Value, Last>
  ) throws -> [Record]
}

extension TransactionContext: Selecting {
  @available(*, deprecated, message: "calls what is deprecated")
  fileprivate func selectAnything<
    Record: IndexKeyRecord, each Value: QueryComponent, Last: QueryComponent
  >(
    _ query: Query<repeat each Value, Last>
  ) throws -> [Record] {
    try select(query: query)
  }
}

struct QueryTypeTests {
  private let folder = Folder(id: UUID(), name: "f")

  private func withPages(_ body: (TransactionContext) throws -> Void) throws {
    try withTemporaryDirectory { directory in
      try Store(url: directory).withTransaction { context in
        try context.insert(folder)
        for number in 0..<4 {
          try context.insert(
            Page(folder: folder.indexKey, number: number, size: UInt(number % 2), title: "t"))
        }
        try context.insert(Triple(a: 1, b: 7, c: "x"))
        try context.insert(Whole(number: 3))
        try body(context)
      }
    }
  }

  @Test("Literals have the types of the key")
  func literals() throws {
    try withPages { context throws in
      let found: [Triple] = try context.select(query: Query(1, last: .equals(7)))
      #expect(found.count == 1)
      #expect(try context.count(RecordSet<Triple>.query(Query(1, 7, last: .lessThan("y")))) == 1)
      #expect(try context.count(RecordSet<Whole>.query(Query(last: .lessThan(9)))) == 1)
      let pages: [Page] = try context.select(
        query: Query(folder.indexKey, last: .greaterOrEqual(2)))
      #expect(pages.map(\.number) == [2, 3])
    }
  }

  @Test("If the compiler cannot know the key, an error names record, component and both types")
  func mismatch() throws {
    try withPages { context throws in
      func expect<Record: IndexKeyRecord>(
        _ recordType: Record.Type, _ component: String, _ expected: String?, _ given: String,
        _ body: () throws -> [Record]
      ) {
        let error = #expect(throws: StoreError.self) { try body() }
        guard case .queryMismatch(let mismatch)? = error else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect(mismatch.record == String(describing: recordType))
        #expect(mismatch.component == component)
        #expect(mismatch.expected == expected)
        #expect(mismatch.given == given)
        #expect(error?.errorDescription?.contains(given) == true)
      }
      expect(Triple.self, "'b'", "UInt", "Int") {
        try context.uncheckedSelect(Query(1, last: .equals(7)))
      }
      expect(Triple.self, "'a'", "Int", "Date") {
        try records(of: Triple.self, in: context, .lessThan(Date()))
      }
      expect(Tree.self, "component 2", nil, "Int") {
        try context.uncheckedSelect(Query("a", last: .equals(7)))
      }
      expect(Page.self, "'number'", "Int", "String") {
        try context.uncheckedSelect(Query(folder.indexKey, last: .equals("")))
      }
      expect(Whole.self, "component 1", "Int", "String") {
        try records(of: Whole.self, in: context, .lessThan(""))
      }
      // Matching types are accepted, including a nested key by its own components.
      #expect(try records(of: Whole.self, in: context, .lessThan(9)) == [Whole(number: 3)])
      let pages: [Page] = try context.uncheckedSelect(Query(folder.id, last: .lessThan(1)))
      #expect(pages.map(\.number) == [0])
    }
  }

  @Test(
    "Sets of an index are read, counted, iterated and deleted, with the index or without it")
  func indexedSets() throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      for number in 0..<6 {
        try store.insert(
          Page(
            folder: folder.indexKey, number: number, size: UInt(number % 3), title: "\(number)"))
      }
      for readOnly in [true, false] {
        try store.withTransaction(readOnly: readOnly) { context throws in
          #expect(
            try context.select(Page.query(size: .lessOrEqual(1))).map(\.number) == [4, 1, 3, 0])
          #expect(try context.count(Page.query(size: .greaterThan(0))) == 4)
          #expect(try context.count(Page.query(limit: 3, size: .greaterThan(0))) == 3)
          #expect(try context.count(Page.query(size: 2, title: .lessThan("3"))) == 1)
          var seen: [Int] = []
          try context.forEach(Page.query(size: .greaterOrEqual(1))) { page in
            seen.append(page.number)
            return seen.count < 3
          }
          #expect(seen == [1, 4, 2])
        }
      }
      #expect(try store.delete(Page.query(size: .within([2, 0, 2]))) == 4)
      #expect(try store.selectAll(of: Page.self).map(\.number) == [1, 4])
      #expect(try store.count(Page.query(size: .greaterOrEqual(0))) == 2)
    }
  }
}
