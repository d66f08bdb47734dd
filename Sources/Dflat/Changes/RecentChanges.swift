// RecentChanges: which rows of a type were written lately, so that the others need not be looked up.
//
// A program fetches objects, and then changes them in transactions. To find out that an object is still what was fetched costs as
// much as its change. It keeps true:
//
//  - every row that transactions of this workspace have updated or deleted is in `rows` from the moment on that it was written,
//    committed or not, unless that was committed before the clock stood at `since`;
//  - between `since` and the last group that was entered, nobody else has committed anything: the generation was the same.
//
// So a row that was fetched at `since` or later, and is not in `rows`, is what is stored, as far as the storage's transaction that
// is open has the same generation: nobody else can commit while it is.

import Synchronization

/// Unchecked: used by transactions of the type, which run one after another.
final class RecentChanges: @unchecked Sendable {
  /// About a megabyte, if the rows are far from each other.
  private static let mostRows = 1 << 15

  // One transaction at a time: exclusivity holds without a check.

  @exclusivity(unchecked) private var rows = RowIDSet()
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var since = Int64.max
  @exclusivity(unchecked) private var generation = 0
  /// The group that was entered last.
  @exclusivity(unchecked) private var group = 0

  /// A transaction is about to write rows of the type into a group.
  ///
  /// What was written before the group was opened can be seen by everybody who reads now. So if too much was written, or others
  /// have committed, it is begun anew.
  func enter(_ group: CommitGroup, _ clock: Clock) {
    if group.number == self.group { return }
    self.group = group.number
    if since < .max, group.generation == generation, count < Self.mostRows { return }
    rows = RowIDSet()
    count = 0
    generation = group.generation
    since = clock.advance()
  }

  /// A row was written. The type's group was entered.
  func wrote(_ id: Int64) {
    rows.insert(id)
    count += 1
  }

  /// Whether a row that was fetched outside of transactions is what is stored.
  /// - Parameter group: One that is open, and stays so until what follows from the answer has ended in it or fails with it.
  func isCurrent(_ row: Row, in group: CommitGroup) -> Bool {
    row.timestamp >= since && group.generation == generation && !rows.contains(row.id)
  }
}

/// The recent changes of a workspace, by entity type.
final class RecentChangesByType: Sendable {
  private let types = Mutex<[ObjectIdentifier: RecentChanges]>([:])

  func of(_ schema: EntitySchema) -> RecentChanges {
    types.withLock { types in
      if let known = types[ObjectIdentifier(schema)] { return known }
      let changes = RecentChanges()
      types[ObjectIdentifier(schema)] = changes
      return changes
    }
  }
}
