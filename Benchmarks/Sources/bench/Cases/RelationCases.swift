// Relations: 10,000 entries of 1,000 owners, with their owners, and by an owner's name. Both sides
// have run the question before, on files of their own.

import Dflat
import SQLiteDflat

extension Fixture {
  /// A file with entries, each of which has one of a tenth as many owners.
  fileprivate func entries(_ count: Int) throws -> String {
    try template("entries-\(count)") { store in
      var random = Random(seed: 11)
      let owners = (0..<count / 10).map { number in
        Owner(
          handle: "owner-\(number)-\(random.text(2...8))", name: "name \(number)",
          text: random.text(20...200))
      }
      let entries = (0..<count).map { number in
        Entry(
          id: Int64(number), owner: owners[random.number(0...owners.count - 1)].handle,
          title: random.text(8...40), text: random.text(20...200))
      }
      try store.workspace.write(Owner.self) { try $0.insert(contentsOf: owners) }
      for first in stride(from: 0, to: count, by: 50_000) {
        let part = Array(entries[first..<min(first + 50_000, count)])
        try store.workspace.write(Entry.self) { try $0.insert(contentsOf: part) }
      }
    }
  }
}

extension FloorReader {
  fileprivate var entryOwner: FloorBytes { bytes(6) }
  fileprivate var ownerName: FloorBytes { bytes(6) }
}

extension Case {
  private static func relation(
    _ id: String, _ title: String, goal: Double? = 1.3,
    entries: @escaping @Sendable (Fixture) -> Int = { $0.few },
    sides:
      @escaping @Sendable (_ ours: SQLiteWorkspace, _ floor: FloorDatabase) throws -> (
        ours: () throws -> Checksum, floor: () throws -> Checksum
      )
  ) -> Case {
    asking(
      id, title, goal: goal, rounds: goal == nil ? 1 : 10, of: { try $0.entries(entries($0)) },
      sides: sides)
  }

  /// The floor reads the entries, and each owner once, when an entry of it comes first: less work
  /// than a join, which gives each owner ten times.
  static func includeRelation(
    _ id: String, _ title: String = "all entries with their owners, a tenth as many",
    goal: Double? = nil, entries: @escaping @Sendable (Fixture) -> Int
  ) -> Case {
    relation(id, title, goal: goal, entries: entries, sides: including)
  }

  static let includeRelation = includeRelation(
    "include-relation", "10,000 entries with their 1,000 owners", goal: 1.3
  ) { $0.few }

  @Sendable private static func including(
    _ workspace: SQLiteWorkspace, _ database: FloorDatabase
  ) throws -> (ours: () throws -> Checksum, floor: () throws -> Checksum) {
    let entries = try FloorQuery(database, "SELECT rowid, p FROM entry ORDER BY rowid")
    let owner = try FloorQuery(database, "SELECT rowid, p FROM owner WHERE __pk0 = ?")
    return (
      ours: {
        var sum = Checksum()
        let result = try workspace.query(Entry.self).including(Entry.owner).fetch()
        for index in stride(from: 0, to: result.count, by: 100) {
          sum.add(result[index].object._rowid)
          sum.add(result[index].related?._rowid ?? 0)
        }
        return sum
      },
      floor: {
        var list = FloorList()
        var owners = FloorList()
        var places: [String: Int32] = [:]
        var related: [Int32] = []
        try database.execute("BEGIN")
        while try entries.step() {
          let row = FloorRow(id: entries.int64(0), entries.blob(1))
          list.append(row)
          let key = row.reader.entryOwner
          let handle = key.string ?? ""
          if let place = places[handle] {
            related.append(place)
            continue
          }
          owner.bind(1, text: key)
          if try owner.step() { owners.append(FloorRow(id: owner.int64(0), owner.blob(1))) }
          owner.reset()
          places[handle] = Int32(owners.count - 1)
          related.append(Int32(owners.count - 1))
        }
        entries.reset()
        try database.execute("COMMIT")
        var sum = Checksum()
        for index in stride(from: 0, to: list.count, by: 100) {
          sum.add(list[index].id)
          sum.add(owners[Int(related[index])].id)
        }
        return sum
      }
    )
  }

  /// The floor joins through the index on the reference; the owners' names have none.
  static let relationCondition = relation(
    "relation-condition", "entries by their owner's name, of 10,000, for 50 names"
  ) { workspace, database in
    let owners = try FloorQuery(database, "SELECT __pk0, p FROM owner")
    let entries = try FloorQuery(
      database,
      "SELECT e.rowid, e.p FROM entry__f6 s JOIN entry e ON e.rowid = s.rowid WHERE s.f6 = ?")
    let names = (0..<50).map { "name \($0 * 20)" }
    return (
      ours: {
        var sum = Checksum()
        for name in names {
          for entry in try workspace.query(Entry.self).where(Entry.owner.name == name).fetch() {
            sum.add(entry._rowid)
          }
        }
        return sum
      },
      floor: {
        var sum = Checksum()
        for name in names {
          var list = FloorList()
          let name = Array(name.utf8)
          try database.execute("BEGIN")
          while try owners.step() {
            let own = FloorReader(row: owners.blob(1).baseAddress!).ownerName
            guard own.count == name.count, let start = own.start,
              name.elementsEqual(UnsafeRawBufferPointer(start: start, count: own.count))
            else { continue }
            entries.bind(1, text: owners.text(0))
            while try entries.step() {
              list.append(FloorRow(id: entries.int64(0), entries.blob(1)))
            }
            entries.reset()
          }
          owners.reset()
          try database.execute("COMMIT")
          for index in 0..<list.count { sum.add(list[index].id) }
        }
        return sum
      }
    )
  }
}
