// Persistable: plain Swift values that a silo stores.
//
// A value has a canonical representation: a row with one slot for each property, in the order of
// declaration. The macro describes the row and converts in both directions; all conversions of
// single properties are in `PersistableProperty`.

public import Dflat
public import FlatBuffersRuntime

/// A plain Swift value that silos store. `@Persistable` makes the conformance.
///
///     @Persistable(version: 1, table: "users")
///     struct User: Identifiable, Hashable, Sendable {
///       var id: UUID
///       var name: String
///     }
public protocol Persistable: Identifiable, Sendable where ID: PersistableID {
  /// The description of the canonical representation, for Silo.
  static var _canonical: CanonicalSchema { get }
  /// Writes the properties in the order of their slots, for Silo.
  func _write(to writer: inout CanonicalWriter)
  /// Reads the properties, for Silo.
  /// - Throws: `UnreadableValue` if a stored property cannot be read.
  init(_reading reader: CanonicalReader) throws
  /// Visits the items of all relations, for Silo.
  func _visitRelated<Visitor: RelatedVisitor>(_ visitor: inout Visitor)
  /// The relations that retain values or have a rule for deletions, for Silo.
  static var _relations: [any ValueRelation] { get }
  /// The newest version of the type, for Silo.
  static var _newest: any Persistable.Type { get }
  /// The steps from retained versions to this one; by default none.
  static var migrations: Migrations<Self> { get }

  // Made by the compiler for each type; see Persistable+Compiled.swift.

  /// The rows of values, for Silo.
  static func _rows(of values: [Self]) -> [DflatRow]
  /// Reads values, in the order of a scan, for Silo.
  static func _values(_ scan: ((TableReader) throws -> Void) throws -> Void) throws -> [Self]
  /// Reads the values with some ids, in the order of the ids, for Silo.
  static func _values(
    _ ids: [ID], _ scan: ((TableReader) throws -> Void) throws -> Void
  ) throws -> [Self]
  /// Notes an item that is to be resolved, for Silo.
  static func _note(_ item: RelatedItem<Self>, in related: RelatedValues<Self>)
  /// Notes items that are to be resolved, for Silo.
  static func _note(_ items: RelatedItems<Self>, in related: RelatedValues<Self>)
  /// Notes items that are to be resolved, for Silo.
  static func _note(_ list: RelatedList<Self>, in related: RelatedValues<Self>)
  /// Puts the value into an item, for Silo.
  static func _resolve(_ item: inout RelatedItem<Self>, from related: RelatedValues<Self>)
  /// Puts values into items, for Silo.
  static func _resolve(_ items: inout RelatedItems<Self>, from related: RelatedValues<Self>)
  /// Puts values into items, for Silo.
  static func _resolve(_ list: inout RelatedList<Self>, from related: RelatedValues<Self>)
  /// Adds values that were loaded, for Silo.
  static func _add(_ values: [Self], to related: RelatedValues<Self>)
  /// The cached value with an id, for Silo.
  static func _find(_ id: ID, in cache: ValueCache<Self>) -> Self?
}

extension Persistable {
  /// Nothing: most values have no relations.
  public func _visitRelated<Visitor: RelatedVisitor>(_ visitor: inout Visitor) {}

  /// The type itself, unless it is a retained version.
  public static var _newest: any Persistable.Type { Self.self }

  /// None: most relations have no rules.
  public static var _relations: [any ValueRelation] { [] }
}
