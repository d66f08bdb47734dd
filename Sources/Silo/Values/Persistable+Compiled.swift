// What silos do with many values at once, compiled for their type.
//
// The generic code of a library is compiled once, for all types alike, and asks for types and
// functions at run time, at every step. The functions here are requirements of `Persistable` with
// inlinable bodies: the compiler makes them anew in the program's module for each of its types, and
// the library reaches them by one call for many values.

public import Dflat
public import FlatBuffersRuntime

extension Persistable {
  /// The rows of values.
  @inlinable
  public static func _rows(of values: [Self]) -> [DflatRow] {
    let fields = _canonical.fields
    return values.map { value in
      DflatRow { builder in
        CanonicalBuilder(builder).table(fields) { value._write(to: &$0) }
      }
    }
  }

  /// Reads values, in the order of a scan.
  /// - Throws: `UnreadableValue`; the errors of `scan`.
  @inlinable
  public static func _values(_ scan: ((TableReader) throws -> Void) throws -> Void) throws -> [Self]
  {
    let fields = _canonical.fields
    var values: [Self] = []
    try scan { values.append(try _value($0, fields)) }
    return values
  }

  /// Reads the values with some ids, in the order of the ids, by a scan in any order.
  /// - Throws: `UnreadableValue`; the errors of `scan`.
  @inlinable
  public static func _values(
    _ ids: [ID], _ scan: ((TableReader) throws -> Void) throws -> Void
  ) throws -> [Self] {
    let found = try _values(scan)
    // Mostly they come as they were asked for.
    if found.count == ids.count,
      found.indices.allSatisfy({ ID._Key._isSame(found[$0].id._key, ids[$0]._key) })
    {
      return found
    }
    var places: [IDKey<ID._Key>: Int] = [:]
    places.reserveCapacity(found.count)
    for place in found.indices { places[IDKey(found[place].id._key)] = place }
    return ids.compactMap { id in places[IDKey(id._key)].map { found[$0] } }
  }

  /// Reads a value.
  /// - Throws: `UnreadableValue`.
  @inlinable
  static func _value(_ table: TableReader, _ fields: CanonicalFields) throws -> Self {
    do { return try Self(_reading: CanonicalReader(table, fields)) } catch {
      throw _placed(error, table)
    }
  }

  /// The error with the table and the key.
  @usableFromInline
  static func _placed(_ error: any Error, _ table: TableReader) -> any Error {
    guard var error = error as? UnreadableValue else { return error }
    let key = (try? ID._Key._read(table, at: _canonical.keyOffset)).flatMap { $0 }
    error.table = _canonical.entity.table
    error.key = "\(key ?? ID._Key._absentKey)"
    return error
  }

  // MARK: Relations

  /// Notes an item that is to be resolved.
  @inlinable
  public static func _note(_ item: RelatedItem<Self>, in related: RelatedValues<Self>) {
    switch item {
    case .unresolved(let id): related.note(id)
    case .resolved(let value): related.add(value)
    }
  }

  /// Notes items that are to be resolved.
  @inlinable
  public static func _note(_ items: RelatedItems<Self>, in related: RelatedValues<Self>) {
    for item in items.byID.values { _note(item, in: related) }
  }

  /// Notes items that are to be resolved.
  @inlinable
  public static func _note(_ list: RelatedList<Self>, in related: RelatedValues<Self>) {
    for item in list.items { _note(item, in: related) }
  }

  /// Puts the value into an item.
  @inlinable
  public static func _resolve(_ item: inout RelatedItem<Self>, from related: RelatedValues<Self>) {
    if let value = related[item.id] { item = .resolved(value) }
  }

  /// Puts values into items.
  @inlinable
  public static func _resolve(
    _ items: inout RelatedItems<Self>, from related: RelatedValues<Self>
  ) {
    items.byID = items.byID.mapValues { item in
      related[item.id].map { .resolved($0) } ?? item
    }
  }

  /// Puts values into items.
  @inlinable
  public static func _resolve(_ list: inout RelatedList<Self>, from related: RelatedValues<Self>) {
    list.items = list.items.map { item in
      related[item.id].map { .resolved($0) } ?? item
    }
  }

  /// Adds values that were loaded.
  @inlinable
  public static func _add(_ values: [Self], to related: RelatedValues<Self>) {
    for value in values { related.add(value) }
  }

  // MARK: Memory

  /// The cached value with an id; nil if it is not cached.
  @inlinable
  public static func _find(_ id: ID, in cache: ValueCache<Self>) -> Self? {
    let key = IDKey(id._key)
    var found: Self?
    cache.withEntries { found = $0[key]?.value }
    return found
  }
}

/// The values that relations are resolved with, and the ids of those that are not known yet. For
/// Silo; used by one task at a time.
public final class RelatedValues<Value: Persistable> {
  @usableFromInline typealias Key = IDKey<Value.ID._Key>
  /// The places of known values; nil for ids that are not known yet.
  @usableFromInline var places: [Key: Int?] = [:]
  /// The values that are known.
  @usableFromInline var values: [Value] = []
  /// The ids in the order in which they were noted.
  @usableFromInline var noted: [Value.ID] = []

  init() {}

  /// The value with an id; nil if it is not known.
  @inlinable
  subscript(id: Value.ID) -> Value? {
    guard let place = places[Key(id._key)], let place else { return nil }
    return values[place]
  }

  /// Notes the id of an unresolved item.
  @inlinable
  func note(_ id: Value.ID) {
    let key = Key(id._key)
    if places[key] != nil { return }
    places[key] = .some(nil)
    noted.append(id)
  }

  /// Adds a value.
  @inlinable
  func add(_ value: Value) {
    let key = Key(value.id._key)
    if let place = places[key], let place {
      values[place] = value
    } else {
      places[key] = values.count
      values.append(value)
    }
  }
}
