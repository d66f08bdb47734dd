// Which inserted objects cannot be deleted, because other objects refer to them by now.
//
// Only references with a rule count, whatever the rule is: the object that refers would be deleted
// or changed, or forbids the deletion, and without the rule it would refer to nothing.

import FlatBuffersRuntime

/// Identifies a stored object.
struct ObjectName: Hashable {
  let table: Int
  let id: Int64

  init(_ schema: EntitySchema, _ id: Int64) {
    table = schema.tableNumber
    self.id = id
  }
}

/// Finds the objects that refer to some objects by references with rules.
private struct ReferrerFinder {
  let view: any StorageReader
  /// How many keys a query has at most, so that an index can answer it.
  private static let portion = 250
  /// How many queries are made at most; otherwise all objects of the type are read.
  private static let queryLimit = 8

  init(_ view: any StorageReader) { self.view = view }

  /// Calls `body` with each object that has one of some keys, and the key.
  /// - Parameter earlier: Objects as they were. What they referred to before does not count.
  func forEachReferrer(
    _ rule: EntitySchema.Referrer, _ keys: Set<KeyValues>, except earlier: [ObjectName: Row],
    _ body: (Int64, KeyValues) -> Void
  ) throws {
    let schema = rule.schema
    let offsets = rule.reference.offsets
    let reader = ReferenceReader(schema, offsets)
    func hadReferred(_ id: Int64, _ key: KeyValues) -> Bool {
      var isFound = false
      earlier[ObjectName(schema, id)]?.read { table in
        reader.forEachKey(table) { if reader.key($0) == key { isFound = true } }
      }
      return isFound
    }
    func read(_ condition: Node?, _ wanted: Set<KeyValues>) throws {
      let query = Query(schema: schema, condition: condition)
      _ = try view.scan(.query(query), .rows) { row in
        guard let table = TableReader(root: row.bytes) else { return true }
        reader.forEachKey(table) { values in
          if let key = reader.key(values), wanted.contains(key), !hadReferred(row.id, key) {
            body(row.id, key)
          }
        }
        return true
      }
    }
    if keys.count > Self.portion * Self.queryLimit { return try read(nil, keys) }
    let all = Array(keys)
    for start in stride(from: 0, to: all.count, by: Self.portion) {
      let portion = Array(all[start..<min(start + Self.portion, all.count)])
      try read(schema.condition(thatRefersBy: offsets, to: portion), Set(portion))
    }
  }
}

extension Transaction {
  /// Finds out which of some objects cannot be deleted without the others: an object refers to it
  /// that stays.
  /// - Parameters:
  ///   - exempt: Keys that other objects are to have afterwards, by types.
  ///   - earlier: Objects as they were, and are again. What they refer to is as it was.
  /// - Returns: What is wrong, by the places of the objects that must stay.
  func refusals(
    toDelete objects: [(row: Row, schema: EntitySchema)],
    exempting exempt: [EntitySchema: Set<KeyValues>], _ earlier: [ObjectName: Row]
  ) throws -> [Int: DeletionDenied] {
    var targets: [EntitySchema: [KeyValues: Int]] = [:]
    var places: [ObjectName: Int] = [:]
    for (place, object) in objects.enumerated() {
      places[ObjectName(object.schema, object.row.id)] = place
      guard !object.schema.referrers.isEmpty,
        let key = object.row.read({ object.schema.key($0) }),
        exempt[object.schema]?.contains(key) != true
      else { continue }
      targets[object.schema, default: [:]][key] = place
    }
    if targets.isEmpty { return [:] }
    return try planning { writer in
      var refusals: [Int: DeletionDenied] = [:]
      // What each object refers to, as long as it may be deleted itself.
      var referred: [Int: [(target: Int, refusal: DeletionDenied)]] = [:]
      for (schema, targets) in targets {
        for rule in schema.rules {
          func refusal(_ key: KeyValues, _ row: Row?) -> DeletionDenied {
            DeletionDenied(
              entity: schema.layout.swiftName, key: schema.text(ofKey: key),
              referrer: rule.schema.layout.swiftName,
              referrerKey: row.map { $0.read { rule.schema.describeKey(of: $0) } } ?? "",
              field: rule.schema.name(ofReference: rule.reference.offsets))
          }
          var outside: [Int: (key: KeyValues, id: Int64)] = [:]
          let keys = Set(targets.keys)
          try ReferrerFinder(writer).forEachReferrer(rule, keys, except: earlier) { id, key in
            guard let target = targets[key] else { return }
            if let place = places[ObjectName(rule.schema, id)] {
              referred[place, default: []].append((target, refusal(key, objects[place].row)))
            } else {
              outside[target] = (key, id)
            }
          }
          for (target, (key, id)) in outside where refusals[target] == nil {
            refusals[target] = refusal(key, try writer.row(of: rule.schema, id: id))
          }
        }
      }
      // What an object refers to that stays has to stay as well.
      var staying = Array(refusals.keys)
      while let place = staying.popLast() {
        for (target, refusal) in referred[place] ?? [] where refusals[target] == nil {
          refusals[target] = refusal
          staying.append(target)
        }
      }
      return refusals
    }
  }
}
