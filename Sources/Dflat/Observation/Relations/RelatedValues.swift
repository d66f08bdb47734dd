// RelatedValues: what a result knows of the objects that one of its relations leads to.
//
// Conditions and orders look values of these objects up by their keys. Invariants:
//
//  - the values of each key that is looked up were read before, as they were at this point of the
//    deliveries;
//  - they are kept, and follow the changes of the other objects, unless neither the values that are
//    kept nor those after a change can make the condition true.

import FlatBuffersRuntime

/// Unchecked: it is used by the deliveries of its result's types, which run one at a time.
final class RelatedValues: @unchecked Sendable {
  let path: TargetPath
  /// What the condition demands of the other object alone; nil if a row may match whatever the
  /// other object is, or without one.
  let condition: Node?
  /// The fields of the other object whose values are looked up.
  private let fields: [FieldDescriptor]
  private let readers: ExpressionReaders
  private let references: ReferenceReader
  // Used by one delivery at a time, which accesses it only briefly.

  @exclusivity(unchecked) private var known: [KeyValues: Entry] = [:]

  /// The values of an object's fields; nil if there is no object.
  struct Entry {
    var values: [Value?]?

    func isSame(as other: Entry) -> Bool {
      switch (values, other.values) {
      case (nil, nil): true
      case (let left?, let right?):
        left.elementsEqual(right) { left, right in
          left.map(StoredKey.init) == right.map(StoredKey.init)
        }
      default: false
      }
    }
  }

  /// - Parameter fields: The fields, among them perhaps the object itself.
  init(_ path: TargetPath, _ fields: [FieldDescriptor], _ condition: Node?) {
    let fields = fields.filter { !$0.isObject }
    self.path = path
    self.fields = fields
    self.condition = condition
    readers = ExpressionReaders(fields.map(\.expression))
    references = ReferenceReader(path.keys)
  }

  /// The number of keys whose values are kept.
  var count: Int { known.count }

  /// A call with the value of a field of the other object, or with true for the object itself.
  func lookUp(_ target: TargetField, of schema: EntitySchema) -> Node {
    let place = target.field.isObject ? nil : fields.firstIndex(of: target.field)
    return .call(
      FunctionCall(
        name: target.name(in: schema), isDeterministic: true,
        arguments: path.keys.map { FunctionArgument(.field($0), $0.type) },
        type: target.field.type, isLookUp: true
      ) { [unowned self] key in
        guard let key = KeyValues(count: key.count, { key[$0] }), let values = known[key]?.values
        else { return nil }
        guard let place else { return .bool(true) }
        return values[place]
      })
  }

  /// The keys that some rows refer to.
  func keys(of rows: some Sequence<Row>) -> Set<KeyValues> {
    var keys: Set<KeyValues> = []
    for row in rows {
      row.read { table in
        references.forEachKey(table) { if let key = references.key($0) { keys.insert(key) } }
      }
    }
    return keys
  }

  /// Whether a row refers to one of some keys.
  func leads(_ row: Row, toOneOf keys: [KeyValues: Entry]) -> Bool {
    var leads = false
    row.read { table in
      references.forEachKey(table) { key in
        if let key = references.key(key), keys[key] != nil { leads = true }
      }
    }
    return leads
  }

  // MARK: Reading

  /// Those of some keys whose values are not known.
  func unknown(_ keys: Set<KeyValues>) -> [KeyValues] { keys.filter { known[$0] == nil } }

  /// Reads the values of some keys.
  func read(_ keys: [KeyValues], in past: PastView) throws {
    for (key, row) in zip(keys, try past.rows(with: keys)) {
      known[key] = Entry(values: values(row))
    }
  }

  /// Forgets everything but the values of some keys.
  func keep(_ keys: Set<KeyValues>) { known = known.filter { keys.contains($0.key) } }

  private func values(_ row: Row?) -> [Value?]? {
    guard let row else { return nil }
    return readers.withValues(of: row) { values in
      fields.indices.map { values[$0].constant(fields[$0].type) }
    }
  }

  // MARK: Changes

  /// What some changes of the other objects make of the values.
  /// - Returns: The new values of the keys whose values are other ones now.
  func changes(_ touches: [RelatedSide.Touch]) -> [KeyValues: Entry] {
    var old: [KeyValues: Entry] = [:]
    var new: [KeyValues: Entry] = [:]
    for touch in touches {
      let change = touch.change
      if let row = change.old, let key = path.target.keyValues(of: row) {
        old[key] = Entry(values: values(row))
      }
      if let row = change.new, let key = path.target.keyValues(of: row) {
        new[key] = Entry(values: values(row))
      }
    }
    // Without a row that has the key now, there is no object.
    for key in old.keys where new[key] == nil { new[key] = Entry(values: nil) }
    return new.filter { key, entry in !entry.isSame(as: old[key] ?? Entry(values: nil)) }
  }

  func apply(_ changes: [KeyValues: Entry]) { known.merge(changes) { $1 } }
}
