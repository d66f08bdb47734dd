// Decisions: which values that come of older versions are outdated, because something was decided
// about their ids since; see `Settlement`.
//
// A step may give values other ids, so that each version has ids of its own. A value of a chain of
// steps is looked up after each of them, with the id that it has there.

import Dflat

/// What a storage knows about ids.
package protocol DecisionTable {
  /// Whether there are values of a type.
  func hasRows<V: Persistable>(_ type: V.Type) throws -> Bool
  /// The values with some ids.
  func load<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> [V]
}

/// The decisions in one state of a storage.
final class Decisions {
  private let table: any DecisionTable
  /// Whether there are decisions about a type's ids, as far as that was looked up.
  private var known: [ObjectIdentifier: Bool] = [:]

  init(_ table: any DecisionTable) { self.table = table }

  /// Whether something was decided about ids of a type.
  func exist<V: Persistable>(about type: V.Type) throws -> Bool {
    if let known = known[ObjectIdentifier(type)] { return known }
    let exist = try table.hasRows(Decided<V>.self)
    known[ObjectIdentifier(type)] = exist
    return exist
  }

  /// Whether something was decided about the id of a value that came of an older version.
  func areNewer<V: Persistable>(than value: V, from version: Int) throws -> Bool {
    guard try exist(about: V.self) else { return false }
    return try table.load(Decided<V>.self, [value.id]).contains { $0.isNewer(than: version) }
  }
}

/// The decisions in a workspace, for its migrations from one version to the newest.
struct WorkspaceDecisions<Old: Persistable, New: Persistable>: MigrationDecisions {
  func successorsToStore(
    of conversions: [(old: Row, successors: [Row])], in reader: any StorageReader
  ) throws -> [[Row]] {
    let migrations = New.migrations
    let decisions = Decisions(ReaderTable(reader: reader))
    let later = [New.self] + migrations.oldTypes.filter { $0.version.number > Old.version.number }
    func exist<V: Persistable>(about type: V.Type) throws -> Bool {
      try decisions.exist(about: type)
    }
    guard try later.contains(where: { try exist(about: $0) }) else {
      return conversions.map(\.successors)
    }
    // The ids that a value has on its way are known only to the steps.
    return try conversions.map { conversion in
      let old = try Canonical<Old>(_row: conversion.old).value()
      let values = try migrations.migrateAll(old, reading: MigrationReader(decisions))
      return values.map { Canonical($0)._row }
    }
  }
}

/// The decisions in a view of a workspace's storage.
private struct ReaderTable: DecisionTable {
  let reader: any StorageReader

  func hasRows<V: Persistable>(_ type: V.Type) throws -> Bool {
    try reader.lastID(of: Canonical<V>._schema) != nil
  }

  func load<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> [V] {
    let schema = Canonical<V>._schema
    let keys = ids.compactMap { $0._key._keyValues(in: schema.primaryKey[...]) }
    return try reader.rows(of: schema, with: keys).compactMap { $0 }.map {
      try Canonical<V>(_row: $0).value()
    }
  }
}

/// A reader for steps that read no other values.
private struct NoOtherValues: MigrationValues {
  let decisions: Decisions

  func load<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) -> [V] { [] }
  func values<V: Persistable>(of type: V.Type) -> [V] { [] }
  func version(of table: String) -> Int? { nil }
  func isOutdated<V: Persistable>(_ value: V, from version: Int) throws -> Bool {
    try decisions.areNewer(than: value, from: version)
  }
}

extension MigrationReader {
  fileprivate convenience init(_ decisions: Decisions) {
    self.init(NoOtherValues(decisions: decisions))
  }
}
