// Cases that read.

import Empire

extension Case {
  /// Fetches records one by one, in a single transaction or in one transaction each.
  private static func get(_ id: String, _ title: String, upstream: Double, each: Bool) -> Case {
    Case(id: id, title: title, goal: 1.25, upstream: upstream) { fixture in
      let url = try fixture.filled("few", fixture.entries)
      let store = try fixture.store(url)
      // A directory of its own: two environments on one directory would share its locks and its
      // map.
      let floor = try FloorDatabase(fixture.copy(of: url))
      let entries = fixture.entries
      return (
        ours: {
          var sum = Checksum()
          let nanoseconds = try time {
            if each {
              for entry in entries {
                let found: Entry? = try store.withTransaction(readOnly: true) {
                  try $0.select(key: Entry.IndexKey(entry.group, entry.title))
                }
                if let found { sum.add(found) }
              }
            } else {
              try store.withTransaction(readOnly: true) { context in
                for entry in entries {
                  let found: Entry? = try context.select(
                    key: Entry.IndexKey(entry.group, entry.title))
                  if let found { sum.add(found) }
                }
              }
            }
          }
          return Outcome(nanoseconds: nanoseconds, checksum: sum)
        },
        floor: {
          var sum = Checksum()
          let nanoseconds = try time {
            if each {
              for entry in entries {
                sum.add(try floor.get(entry, in: floor.beginReading()))
                floor.endReading()
              }
            } else {
              let transaction = try floor.beginReading()
              for entry in entries { sum.add(try floor.get(entry, in: transaction)) }
              floor.endReading()
            }
          }
          return Outcome(nanoseconds: nanoseconds, checksum: sum)
        }
      )
    }
  }

  static let getEach = get(
    "empire-get-each", "select by full key, a read-only transaction each", upstream: 2.1,
    each: true)
  static let get = get(
    "empire-get", "select by full key, one transaction", upstream: 2.8, each: false)

  /// Fetches all records of a group, or of the type.
  private static func select(
    _ id: String, _ title: String, upstream: Double?,
    _ prepare:
      @escaping @Sendable (Fixture) throws -> (name: String, entries: [Entry], group: Int?),
    repeats: Int = 1
  ) -> Case {
    Case(id: id, title: title, goal: 1.25, upstream: upstream) { fixture in
      let (name, entries, group) = try prepare(fixture)
      let url = try fixture.filled(name, entries)
      let store = try fixture.store(url)
      let floor = try FloorDatabase(fixture.copy(of: url))
      func measure(_ work: () throws -> [Entry]) throws -> Outcome {
        var found: [Entry] = []
        let nanoseconds = try time { for _ in 0..<repeats { found = try work() } }
        return Outcome(nanoseconds: nanoseconds, checksum: Checksum(found))
      }
      return (
        ours: {
          try measure {
            try store.withTransaction(readOnly: true) { context in
              if let group { return try Entry.select(in: context, group: group) }
              return try Entry.select(in: context, group: .greaterOrEqual(.min))
            }
          }
        },
        floor: { try measure { try floor.select(group: group) } }
      )
    }
  }

  static let range = select(
    "empire-range", "a sixth of 10,000 records by the first component", upstream: 12.7,
    { ("few", $0.entries, 2) }, repeats: 6)
  static let rangeOfMany = select(
    "empire-range-1m", "1,000 of 1,000,000 records by the first component", upstream: nil,
    { ("many", Entry.make($0.many, groups: max(1, $0.many / 1000)), 0) }, repeats: 10)
  static let scan = select(
    "empire-scan", "all 10,000 records", upstream: 4.9, { ("few", $0.entries, nil) })
}
