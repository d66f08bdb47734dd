// Records with an index whose bytes were changed in the file: they can be deleted and replaced, and
// the index is right afterwards.

import Empire
import Foundation
import Testing

@IndexKeyRecord("id")
@Index("tag")
private struct Labelled: Equatable {
  let id: Int
  var tag: Int
  var note: String

  static let all = (0..<5).map { Labelled(id: $0, tag: -$0, note: $0 == 2 ? marker : "note") }
  static let marker = "MARKERMARKER"
}

struct DamagedRecordTests {
  enum Damage: CaseIterable {
    /// The record cannot be read.
    case unreadable
    /// The record has another value in the index, which has no entry for it.
    case otherValue

    /// Changes the record with the marker in every page of a file.
    func happen(in directory: URL) throws {
      let file = directory.appending(path: "data.mdb")
      var bytes = try Data(contentsOf: file)
      let marker = Data(Labelled.marker.utf8)
      var start = bytes.startIndex
      while let range = bytes.range(of: marker, in: start..<bytes.endIndex) {
        // The last byte of the tag is in front of the note.
        switch self {
        case .unreadable: bytes[range.lowerBound] = 0xFF
        case .otherValue: bytes[range.lowerBound - 1] ^= 0x40
        }
        start = range.upperBound
      }
      #expect(start > bytes.startIndex)
      try bytes.write(to: file)
    }
  }

  enum Mend: CaseIterable {
    case deletion, deletionByKey, deletionOfSet, deletionByIndex, deletionOfAll, replacement

    /// - Returns: The records that are left.
    fileprivate func run(in context: TransactionContext) throws -> [Labelled] {
      var rest = Labelled.all
      let damaged = rest.remove(at: 2)
      switch self {
      case .deletion: try context.delete(damaged)
      case .deletionByKey:
        try context.delete(recordType: Labelled.self, key: damaged.indexKey)
      case .deletionOfSet: #expect(try context.delete(Labelled.query(id: 2)) == 1)
      case .deletionByIndex: #expect(try context.delete(Labelled.query(tag: -2)) == 1)
      case .deletionOfAll:
        #expect(try context.deleteAll(of: Labelled.self) == 5)
        rest = []
      case .replacement:
        let new = Labelled(id: 2, tag: 7, note: "new")
        try context.insert(new)
        rest.insert(new, at: 2)
      }
      return rest
    }
  }

  @Test(
    "A damaged record can be deleted and replaced, and its index is right afterwards",
    arguments: Damage.allCases, Mend.allCases)
  func mending(damage: Damage, mend: Mend) throws {
    try withTemporaryDirectory { directory in
      // The database is closed while its file is changed.
      func open() throws -> Store { Store(database: try LockingDatabase(url: directory)) }
      try open().withTransaction { context in
        for record in Labelled.all { try context.insert(record) }
      }
      try damage.happen(in: directory)
      let store = try open()
      func check(_ rest: [Labelled]) throws {
        #expect(try store.selectAll(of: Labelled.self) == rest)
        let sorted = rest.sorted { $0.tag < $1.tag }
        #expect(try Labelled.select(in: store, tag: .greaterOrEqual(.min)) == sorted)
        try store.withTransaction { context throws in
          #expect(try Labelled.select(in: context, tag: .greaterOrEqual(.min)) == sorted)
        }
      }
      // A part of a transaction that is rolled back changes nothing.
      try store.withTransaction { outer in
        try? store.withTransaction(parent: outer) { inner in
          _ = try mend.run(in: inner)
          throw Rollback()
        }
        try outer.insert(Labelled.all[0])
      }
      let rest = try store.withTransaction { context in
        var rest = try mend.run(in: context)
        // In the same transaction, after the index was discarded.
        let next = Labelled(id: 9, tag: -7, note: "")
        try context.insert(next)
        rest.append(next)
        return rest
      }
      try check(rest)
      try store.insert(Labelled(id: 8, tag: 3, note: ""))
      try store.delete(Labelled(id: 8, tag: 0, note: ""))
      try check(rest)
    }
  }
}
