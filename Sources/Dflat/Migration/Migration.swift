// Migration: converts objects of one type to objects of another, by a function on values.
//
// A migration is a value. It knows no workspace and no storage: a test calls it with an object that
// it has made, or read from a fixture, and checks the result. Inside a workspace its types are
// erased to closures over rows:
//
//  - a `MigrationSource` is a table with old objects, with the function that converts its rows to
//    rows of the new type;
//  - a chain has a source for each version; rows of the oldest go through all functions and are
//    stored once, at the end.

/// Converts objects of an old type to objects of a new one, for changes that the compatibility
/// rules of schemas do not allow.
///
///     let migration = Migration(from: V1.Post.self, to: V2.Post.self) { old in
///       V2.Post(id: old.number, title: old.title, words: old.text.split(separator: " ").count)
///     }
///
/// The function is called in a transaction, perhaps more than once for an object, and must depend
/// on nothing but the object. If it returns nil the object has no successor; if it throws, the
/// object is left unchanged and ``MigrationError`` names it.
///
/// To try a migration without a workspace, call ``migrate(_:)``; ``Workspace/migrate(_:step:)`` and
/// ``Workspace/migrateWhenUsed(_:)`` carry it out. Migrations of successive versions are chained
/// with ``then(_:)``.
public struct Migration<Old: Atom, New: Atom>: Sendable {
  /// The tables with old objects. The table of the latest version comes first.
  let sources: [MigrationSource]

  /// A migration between two types.
  ///
  /// - Parameters:
  ///   - old: The type of the stored objects. Its table must differ from that of the new type, by
  ///     its name, namespace or version (`v`).
  ///   - new: The type to which they are converted.
  ///   - keepsOld: Whether the old objects stay in their table, as they were when they were
  ///     migrated. Otherwise each is removed in the transaction that stores its successor.
  ///   - function: Makes the successor of an object; nil if it has none.
  public init(
    from old: Old.Type, to new: New.Type, keepsOld: Bool = false,
    _ function: @escaping @Sendable (_ old: Old) throws -> New?
  ) {
    self.init(
      from: old, to: new, keepsOld: keepsOld,
      rows: { old in
        try function(old).map { [$0._row] } ?? []
      })
  }

  /// A migration that makes several objects of one, or none.
  ///
  ///     let migration = Migration.several(from: V1.Trip.self, to: V2.Leg.self) { trip in
  ///       trip.stops.indices.dropLast().map { V2.Leg(of: trip, from: $0) }
  ///     }
  ///
  /// All successors of an object are stored, or none: if one cannot be stored, the object is left
  /// unchanged.
  ///
  /// - Parameters:
  ///   - old: The type of the stored objects.
  ///   - new: The type to which they are converted.
  ///   - keepsOld: Whether the old objects stay in their table.
  ///   - function: Makes the successors of an object.
  public static func several(
    from old: Old.Type, to new: New.Type, keepsOld: Bool = false,
    _ function: @escaping @Sendable (_ old: Old) throws -> [New]
  ) -> Migration {
    Migration(from: old, to: new, keepsOld: keepsOld, rows: { try function($0).map(\._row) })
  }

  private init(
    from old: Old.Type, to new: New.Type, keepsOld: Bool,
    rows: @escaping @Sendable (Old) throws -> [Row]
  ) {
    require(
      Old._schema.table != New._schema.table,
      "Migration(from: \(old), to: \(new)): both are stored in the table \(New._schema.table), so nothing has to be migrated"
    )
    sources = [
      MigrationSource(
        old: Old._schema, successor: New._schema.table, keepsOld: keepsOld, leftOut: nil
      ) { row, _ in try rows(Old(_row: row)) }
    ]
  }

  private init(sources: [MigrationSource]) {
    self.sources = sources
  }

  /// Converts one object. Nothing is read or stored: for tests, and for objects that come from
  /// elsewhere.
  ///
  /// - Parameter old: An object, stored or not.
  /// - Returns: Its successor, the first one if there are several; nil if it has none.
  /// - Throws: What the function throws.
  public func migrate(_ old: Old) throws -> New? {
    try migrateAll(old).first
  }

  /// Converts one object, like ``migrate(_:)``.
  ///
  /// - Parameter old: An object, stored or not.
  /// - Returns: All of its successors.
  /// - Throws: What the function throws.
  public func migrateAll(_ old: Old) throws -> [New] {
    // The migration's own source comes last; those before it are of later versions.
    try sources.last?.convert(old._row) { $1 }.map { New(_row: $0) } ?? []
  }

  /// The same migration, except that an object which cannot be migrated does not stop it.
  ///
  ///     let leftOut = LeftOutObjects()
  ///     try await dflat.migrate(migration.leavingOut(leftOut))
  ///     for error in leftOut.errors { print(error) }
  ///
  /// Such an object is reported to the error hook and stays in its table; reads and transactions go
  /// on without it. A chain leaves out objects of each of its versions.
  ///
  /// - Parameter objects: Collects the objects that are left out.
  /// - Returns: The migration. It must not keep its old objects: which of them are migrated is
  ///   recorded by their order then, and one that was left out would never be tried again.
  public func leavingOut(_ objects: LeftOutObjects) -> Migration {
    require(
      !sources.contains { $0.keepsOld },
      "Migration.leavingOut(_:) was called on a migration that keeps its old objects")
    return Migration(
      sources: sources.map { source in
        var source = source
        source.leftOut = objects
        return source
      })
  }

  /// Chains this migration with another one, for files of either version.
  ///
  ///     let migration = v1ToV2.then(v2ToV3)
  ///
  /// Objects of the oldest version go through both functions and are stored once, as the newest.
  ///
  /// - Parameter next: The migration of this migration's results.
  public func then<Newest: Atom>(_ next: Migration<New, Newest>) -> Migration<Old, Newest> {
    guard let last = next.sources.last else { preconditionFailure("a migration has no source") }
    let ours = sources.map { source in
      require(
        source.old.table != Newest._schema.table,
        "Migration.then(_:): \(Newest.self) is stored in the table \(source.old.table), where the objects come from"
      )
      return MigrationSource(
        old: source.old, successor: source.successor, keepsOld: source.keepsOld,
        leftOut: source.leftOut
      ) { row, current in
        try current(New._schema, source.convert(row, current))
          .flatMap { try last.convert($0, current) }
      }
    }
    return Migration<Old, Newest>(sources: next.sources + ours)
  }
}

/// A table with old objects.
struct MigrationSource: Sendable {
  /// The schema of its rows.
  let old: EntitySchema
  /// The table of the next version. The progress of the migration is recorded under the names of
  /// both tables, so that it does not matter whether the objects were migrated further from there.
  let successor: String
  let keepsOld: Bool
  /// The objects that are left out; nil if one that cannot be migrated stops the migration.
  var leftOut: LeftOutObjects?
  /// Converts a row to rows of the newest version; none for an object without a successor. What
  /// comes of it in the versions between is passed through the second parameter.
  let convert: @Sendable (Row, CurrentRows) throws -> [Row]
}

/// Leaves out the rows of a type about whose keys something was decided.
typealias CurrentRows = (EntitySchema, [Row]) throws -> [Row]
