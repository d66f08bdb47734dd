// Migration: objects of one type become objects of another, by a function of values.
//
// A migration is a value. It knows no workspace and no storage: a test calls it with an object that it has made, or read from a
// fixture, and looks at what comes out. Where it is inside a workspace it keeps no type but as closures over rows:
//
//  - a `MigrationSource` is a table that objects come from, with the function that leads from its rows to rows of the new type;
//  - a chain has a source for each version; rows of the oldest go through all functions and are stored once, at the end.

/// How objects of an old type become objects of a new one, where no change that the rules of schemas allow would do.
///
///     let migration = Migration(from: V1.Post.self, to: V2.Post.self) { old in
///       V2.Post(id: old.number, title: old.title, words: old.text.split(separator: " ").count)
///     }
///
/// The function is called in a transaction, perhaps more than once for an object, and must depend on nothing but the object. If it
/// returns nil the object has no successor; if it throws, the object stays what it is and ``MigrationError`` names it.
///
/// A migration is tried without a workspace, with ``migrate(_:)``, and carried out by ``Workspace/migrate(_:step:)`` or
/// ``Workspace/migrateWhenUsed(_:)``. Two that follow one another are chained with ``then(_:)``.
public struct Migration<Old: Atom, New: Atom>: Sendable {
  /// Where objects come from, the tables whose rows were stored last first.
  let sources: [MigrationSource]

  /// A migration between two types.
  ///
  /// - Parameters:
  ///   - old: The type of the objects that are there. Its table must be another than that of the new type: another name, namespace or
  ///     version (`v`).
  ///   - new: The type that they become objects of.
  ///   - keepsOld: Whether the old objects stay in their table, as they were when they were migrated. Otherwise each is removed in the
  ///     transaction that stores its successor.
  ///   - function: Makes the successor of an object; nil if it is to have none.
  public init(
    from old: Old.Type, to new: New.Type, keepsOld: Bool = false,
    _ function: @escaping @Sendable (_ old: Old) throws -> New?
  ) {
    require(
      Old._schema.table != New._schema.table,
      "Migration(from: \(old), to: \(new)): both are stored in the table \(New._schema.table), so that nothing has to be migrated"
    )
    sources = [
      MigrationSource(
        old: Old._schema, successor: New._schema.table, keepsOld: keepsOld
      ) { row in try function(Old(_row: row))?._row }
    ]
  }

  private init(sources: [MigrationSource]) {
    self.sources = sources
  }

  /// What becomes of an object. Nothing is read or stored: for tests, and for objects that come from elsewhere.
  ///
  /// - Parameter old: An object, stored or not.
  /// - Returns: Its successor; nil if it is to have none.
  /// - Throws: What the function throws.
  public func migrate(_ old: Old) throws -> New? {
    // The source that is the migration's own comes last; those before it are of later versions.
    try sources.last?.convert(old._row).map { New(_row: $0) }
  }

  /// This migration and then another one, for files of either version.
  ///
  ///     let migration = v1ToV2.then(v2ToV3)
  ///
  /// Objects of the oldest version go through both functions and are stored once, as the newest.
  ///
  /// - Parameter next: What becomes of this migration's results.
  public func then<Newest: Atom>(_ next: Migration<New, Newest>) -> Migration<Old, Newest> {
    guard let last = next.sources.last else { preconditionFailure("a migration has no source") }
    let ours = sources.map { source in
      require(
        source.old.table != Newest._schema.table,
        "Migration.then(_:): \(Newest.self) is stored in the table \(source.old.table), where the objects come from"
      )
      return MigrationSource(
        old: source.old, successor: source.successor, keepsOld: source.keepsOld
      ) { row in try source.convert(row).flatMap(last.convert) }
    }
    return Migration<Old, Newest>(sources: next.sources + ours)
  }
}

/// A table that objects come from.
struct MigrationSource: Sendable {
  /// What is stored in it.
  let old: EntitySchema
  /// The table of the version that comes next. How far the objects have come is noted under both names, so that it does not matter
  /// whether they went on from there.
  let successor: String
  let keepsOld: Bool
  /// The row of the newest version; nil for an object that has none.
  let convert: @Sendable (Row) throws -> Row?
}
