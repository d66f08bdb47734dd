// MigrationDecisions: what was decided about new objects while old ones could not be migrated.
//
// An old object that is left out may be migrated much later, by another release of the program. An
// object that was stored or deleted in the meantime under the key of its successor is newer, so that
// the successor must not replace it, or come back.

/// Knows which successors of old objects are outdated. Called on the threads of migrations and
/// fetches.
package protocol MigrationDecisions: Sendable {
  /// The successors that are not outdated.
  /// - Parameters:
  ///   - conversions: Old objects of one table, and what their migration makes of them.
  ///   - reader: A view of the state in which they are.
  /// - Returns: For each old object those of its successors that are still to be stored.
  func successorsToStore(
    of conversions: [(old: Row, successors: [Row])], in reader: any StorageReader
  ) throws -> [[Row]]
}
