// DeletionPlan: everything that a deletion does, found before anything is changed.
//
// The rules of the references to the deleted objects are followed, and those of the references to
// the objects that these delete, until nothing new is found. Invariants:
//
//  - Each object is looked at once, so circles end; nothing recurses, so chains may have any
//    length.
//  - An object that refers by "deny" stops the deletion unless it is deleted by it, too.
//  - Only reads happen, in one view, so a refused deletion has changed nothing.
//
// The referring objects of a portion of keys are found by a query, which an index answers. A chain
// would need a query for each of its objects, so after a few of them the references of the whole
// type are read into a dictionary. The same is done for very many keys.

import FlatBuffersRuntime

struct DeletionPlan {
  /// What happens to the objects of one type.
  final class Part {
    let schema: EntitySchema
    /// The objects to delete, in the order in which they were found.
    fileprivate(set) var ids: [Int64] = []
    /// The same objects.
    fileprivate(set) var deleted: Set<Int64> = []
    /// The keys of the deleted objects, if the type has rules.
    fileprivate(set) var keys: Set<KeyValues> = []
    /// The objects that lose a key, with the fields that have one.
    fileprivate(set) var nullified: [Int64: [EntityReference]] = [:]
    /// The keys whose referrers are not found yet.
    fileprivate var pending: [KeyValues] = []
    fileprivate let rules: [Rule]

    fileprivate init(_ schema: EntitySchema) {
      self.schema = schema
      rules = schema.rules.map(Rule.init)
    }

    fileprivate func add(_ id: Int64, _ key: KeyValues?) {
      guard deleted.insert(id).inserted else { return }
      ids.append(id)
      guard !rules.isEmpty, let key else { return }
      keys.insert(key)
      pending.append(key)
    }
  }

  /// A reference with a rule.
  fileprivate final class Rule {
    let schema: EntitySchema
    let reference: EntityReference
    let reader: ReferenceReader
    var queries = 0
    /// All objects that have a key, once they were read.
    var referrers: [KeyValues: [(id: Int64, key: KeyValues?)]]?

    init(_ referrer: EntitySchema.Referrer) {
      schema = referrer.schema
      reference = referrer.reference
      reader = ReferenceReader(referrer.schema, referrer.reference.offsets)
    }
  }

  /// A reference that forbids the deletion, unless its object is deleted, too.
  private struct Denial {
    let rule: Rule
    let id: Int64
    let key: KeyValues
    let target: EntitySchema
  }

  /// The types, in the order in which they were found.
  private(set) var parts: [Part] = []
  private var denials: [Denial] = []
  private let view: any StorageReader

  /// How many queries are made for one reference before all of them are read.
  private static let queryLimit = 8
  /// How many keys a query has at most, so that an index can answer it.
  private static let portion = 250

  /// - Parameters:
  ///   - schema: The type of the objects.
  ///   - objects: The ids and keys of the objects to delete.
  ///   - view: Has all types that the deletion can reach.
  /// - Throws: `DeletionDenied`; `StorageError`.
  init(
    _ schema: EntitySchema, _ objects: [(id: Int64, key: KeyValues?)], in view: any StorageReader
  ) throws {
    self.view = view
    let first = part(of: schema)
    for object in objects { first.add(object.id, object.key) }
    while let part = parts.first(where: { !$0.pending.isEmpty }) {
      let keys = part.pending
      part.pending = []
      for rule in part.rules { try follow(rule, keys, to: part.schema) }
    }
    try checkDenials()
  }

  private mutating func part(of schema: EntitySchema) -> Part {
    if let known = parts.first(where: { $0.schema === schema }) { return known }
    let part = Part(schema)
    parts.append(part)
    return part
  }

  private mutating func follow(_ rule: Rule, _ keys: [KeyValues], to target: EntitySchema) throws {
    let part = part(of: rule.schema)
    for (id, key, referred) in try referrers(rule, keys) {
      switch rule.reference.rule {
      case .nothing: break
      case .cascade: part.add(id, key)
      case .nullify:
        if part.nullified[id]?.contains(where: { $0.offsets == rule.reference.offsets }) != true {
          part.nullified[id, default: []].append(rule.reference)
        }
      case .deny:
        denials.append(Denial(rule: rule, id: id, key: referred, target: target))
      }
    }
  }

  // MARK: Referring objects

  /// The objects that have one of some keys: their ids and keys, and the key that they have.
  private func referrers(
    _ rule: Rule, _ keys: [KeyValues]
  ) throws -> [(id: Int64, key: KeyValues?, referred: KeyValues)] {
    let queries = (keys.count + Self.portion - 1) / Self.portion
    if rule.referrers == nil, rule.queries + queries > Self.queryLimit {
      var all: [KeyValues: [(id: Int64, key: KeyValues?)]] = [:]
      try read(Query(schema: rule.schema), rule) { all[$2, default: []].append(($0, $1)) }
      rule.referrers = all
    }
    if let known = rule.referrers {
      return keys.flatMap { key in
        (known[key] ?? []).map { ($0.id, $0.key, key) }
      }
    }
    var found: [(id: Int64, key: KeyValues?, referred: KeyValues)] = []
    for start in stride(from: 0, to: keys.count, by: Self.portion) {
      rule.queries += 1
      let keys = Array(keys[start..<min(start + Self.portion, keys.count)])
      let wanted = Set(keys)
      let condition = rule.schema.condition(thatRefersBy: rule.reference.offsets, to: keys)
      try read(Query(schema: rule.schema, condition: condition), rule) {
        if wanted.contains($2) { found.append(($0, $1, $2)) }
      }
    }
    return found
  }

  /// Calls `body` with the id, the key and each reference of the objects of a query.
  private func read(
    _ query: Query, _ rule: Rule, _ body: (Int64, KeyValues?, KeyValues) -> Void
  ) throws {
    let schema = rule.schema
    _ = try view.scan(.query(query), .rows) { row in
      guard let table = TableReader(root: row.bytes) else { return true }
      let key = schema.referrers.isEmpty ? nil : schema.key(table)
      rule.reader.forEachKey(table) { values in
        if let referred = rule.reader.key(values) { body(row.id, key, referred) }
      }
      return true
    }
  }

  private func checkDenials() throws {
    for denial in denials {
      let schema = denial.rule.schema
      let part = parts.first { $0.schema === schema }
      if part?.deleted.contains(denial.id) == true { continue }
      let row = try view.row(of: schema, id: denial.id)
      throw DeletionDenied(
        entity: denial.target.layout.swiftName,
        key: denial.target.text(ofKey: denial.key),
        referrer: schema.layout.swiftName,
        referrerKey: row.map { $0.read { schema.describeKey(of: $0) } } ?? "",
        field: schema.name(ofReference: denial.rule.reference.offsets))
    }
  }
}
