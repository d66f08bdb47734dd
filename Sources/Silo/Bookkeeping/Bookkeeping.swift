// What silos keep beside the values of a type, in the same store:
//
//  - a mark for each value that is pinned, or whose last use is known;
//  - a tombstone for each id that was deleted, until the deletion is uploaded;
//  - the ids that were changed while values of older versions could not be migrated; see `Decided`.
//
// All are found by the ids of the values. Their tables are named after the table without its
// version, so that they outlive migrations, and after the type of the id.

import Dflat
import Foundation
import Platform

/// A type that silos use themselves. Its values have no marks and no tombstones, and are stored in
/// the domain of the types that they are used with.
package protocol Bookkeeping: Persistable {}

extension Persistable {
  /// The types that are stored beside the values of this one.
  static var _companions: [any Persistable.Type] {
    if self == StoredUpload.self { return [StoredHold.self] }
    if self is any Bookkeeping.Type { return [] }
    let kept: [any Persistable.Type] = [Mark<Self>.self, Tombstone<Self>.self]
    return RetainedVersions.of(self).older.isEmpty ? kept : kept + [Decided<Self>.self]
  }
}

/// What is known about one value besides its content.
struct Mark<Value: Persistable>: Bookkeeping {
  var id: Value.ID
  var isPinned = false
  /// When it was used last; nil if the value is not stored, or if that is not known.
  var lastUse: Date?
  /// The bytes of its row, as far as they are known.
  var size = 0

  init(id: Value.ID) { self.id = id }

  init(_reading reader: CanonicalReader) throws {
    id = try reader.read(id: 0)
    isPinned = try reader.read(1, default: false)
    // A damaged file may have what is no time.
    lastUse = try (reader.read(2) as Date?).flatMap {
      $0.timeIntervalSinceReferenceDate.isNaN ? nil : $0
    }
    // A damaged file may have any number, and sizes are added up.
    size = min(max(0, try reader.read(3, default: 0)), Int(Int32.max))
  }

  func _write(to writer: inout CanonicalWriter) {
    writer.write(id: id)
    writer.write(isPinned)
    writer.write(lastUse)
    writer.write(size)
  }

  static var _canonical: CanonicalSchema {
    BookkeepingSchemas.schema(of: Self.self, beside: Value.self, "marks") {
      [
        CanonicalProperty("isPinned", Bool.self, default: false),
        CanonicalProperty("lastUse", Date?.self, index: .indexed),
        CanonicalProperty("size", Int.self, default: 0),
      ]
    }
  }

  static var lastUse: Field<Date, Canonical<Self>> { Field(CanonicalFields.offset(2)) }
}

/// That a value was deleted, and must not come back from the server.
struct Tombstone<Value: Persistable>: Bookkeeping {
  var id: Value.ID
  /// Whether it is over when no upload about the value is left. Otherwise it stays until the
  /// program forgets the deletion.
  var isUntilUploaded = false

  init(id: Value.ID) { self.id = id }

  init(_reading reader: CanonicalReader) throws {
    id = try reader.read(id: 0)
    isUntilUploaded = try reader.read(1, default: false)
  }

  func _write(to writer: inout CanonicalWriter) {
    writer.write(id: id)
    writer.write(isUntilUploaded)
  }

  static var _canonical: CanonicalSchema {
    BookkeepingSchemas.schema(of: Self.self, beside: Value.self, "tombstones") {
      [CanonicalProperty("isUntilUploaded", Bool.self, default: false)]
    }
  }
}

extension Tombstone {
  static var isUntilUploaded: Field<Bool, Canonical<Self>> { Field(CanonicalFields.offset(1)) }
}

/// The schemas of marks and tombstones: generic types have no static properties.
enum BookkeepingSchemas {
  private struct State {
    var byType: [ObjectIdentifier: CanonicalSchema] = [:]
    /// Versions of a value share their marks.
    var byName: [String: CanonicalSchema] = [:]
  }

  private static let state = Mutex(State())

  static func schema<B: Persistable, V: Persistable>(
    of type: B.Type, beside values: V.Type, _ kind: String, _ properties: () -> [CanonicalProperty]
  ) -> CanonicalSchema {
    let id = ObjectIdentifier(type)
    if let known = state.withLock({ $0.byType[id] }) { return known }
    let name = "\(V._canonical.name)__\(kind)_\(V.ID._Key.self)"
    let made = CanonicalSchema(
      name, version: 1, type: "\(B.self)", id: V.ID.self,
      [CanonicalProperty("id", V.ID._Key.self)] + properties())
    return state.withLock { state in
      let schema = state.byName[name] ?? made
      state.byName[name] = schema
      state.byType[id] = schema
      return schema
    }
  }
}

/// A value, for all types in one set: its table without the version, and its id.
struct Subject: Hashable {
  /// Compared by its bytes.
  private let key: IDKey<String>

  var text: String { key.key }

  init<V: Persistable>(_ type: V.Type, _ id: V.ID) {
    key = IDKey("\(V._canonical.name)/\(id._key)")
  }

  init(_ text: String) { key = IDKey(text) }
}
