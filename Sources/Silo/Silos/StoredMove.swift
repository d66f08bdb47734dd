// StoredMove: where the values of a table have come from, and whether a silo has left them behind.
//
// A silo that leaves a store gives what it leaves a name, and takes the name with it. It moves back
// by this: for what is left there under a name that it has, and has not been changed since, it has
// newer values. All other values may be the only ones that there are, and no silo replaces them.

import Dflat
import Foundation

@Persistable(
  version: 1, table: "silo_moves", shape: "id:S left:U? count:I=0 digest:W64=0 origins:[U]")
struct StoredMove: Identifiable, Sendable {
  /// The table.
  var id: String
  /// The name of what was left here; nil if a silo uses it, as far as is known.
  var left: UUID?
  /// How many values were left.
  var count = 0
  /// The sum of the hashes of their rows.
  var digest: UInt64 = 0
  /// The names of what the values here have come from.
  var origins: [UUID] = []

  init(id: String) { self.id = id }

  /// Notes that a silo leaves values.
  mutating func leave<V: Persistable>(_ rows: [Canonical<V>], as name: UUID) {
    left = name
    count = rows.count
    digest = Self.digest(of: rows)
  }

  /// Whether these are the values that were left.
  func isUnchanged<V: Persistable>(_ rows: [Canonical<V>]) -> Bool {
    rows.count == count && Self.digest(of: rows) == digest
  }

  /// A digest of the stored bytes. It also changes with properties that only a newer release knows.
  private static func digest<V: Persistable>(of rows: [Canonical<V>]) -> UInt64 {
    rows.reduce(0) { sum, row in
      let hash = row._row.withBytes { bytes in
        // FNV-1a
        bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
      }
      // Mixed, so that the sums of similar rows differ.
      return sum &+ (hash ^ (hash >> 31)) &* 0x9E37_79B9_7F4A_7C15
    }
  }
}

extension StoredMove: Bookkeeping {}

extension Persistable {
  /// The id of the record of moves.
  static var moveID: String { _canonical.entity.table }
}

extension StoreTransaction {
  /// Makes room for the values of a silo that moves here: removes what the silo has left here, and
  /// what is stored beside it.
  /// - Parameters:
  ///   - origin: The record of the store that the silo comes from.
  ///   - name: The name of what it leaves there.
  /// - Throws: `SiloError.storeIsNotEmpty` if there are other values; the errors of the storage.
  func arrive<V: Persistable>(_ type: V.Type, from origin: StoredMove?, leaving name: UUID) throws {
    let present = try storedForms(of: type)
    var record = try load(StoredMove.self, [V.moveID]).first ?? StoredMove(id: V.moveID)
    let origins = origin?.origins ?? []
    let isOwn = record.left.map { origins.contains($0) } ?? false
    if !present.isEmpty {
      guard isOwn, record.isUnchanged(present) else {
        throw SiloError.storeIsNotEmpty("\(V.self)")
      }
      _ = try remove(type, present.compactMap { V.ID(_key: $0.id) })
    }
    if isOwn {
      for companion in V._companions { try removeAll(companion) }
      // Those that could not be migrated have moved, too.
      for version in RetainedVersions.of(V.self).older { try removeRows(version.type) }
    }
    record.origins = origins.filter { $0 != record.left } + [name]
    record.left = nil
    try save([record])
  }

  private func removeAll<V: Persistable>(_ type: V.Type) throws {
    _ = try remove(type, values(ValueQuery<V>()).map { $0.id })
  }

  /// Removes the values of a retained version, also those that cannot be read.
  private func removeRows<Old: Persistable>(_ type: Old.Type) throws {
    guard let retaining = self as? any RetainingTransaction else { return try removeAll(type) }
    let ids = try retaining.rows(of: type, limit: nil).compactMap { Old.ID(_key: $0.id) }
    _ = try remove(type, ids)
  }
}
