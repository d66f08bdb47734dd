// TransactionalStore: the part of a store that verification needs, so that real and broken stores
// can be tested in the same way.

/// Reads inside a transaction or a snapshot.
public protocol StoreReader {
  /// The content of a key; nil if it was never written.
  func read(_ key: Key) throws -> CellValue?
  /// The content of the keys of a group, found together by the group; keys that were never written
  /// are left out.
  func read(group: Int64, in space: Int) throws -> [Key: CellValue]
  /// The objects of a family; see `FamilyState`.
  func read(family: Int64) throws -> CellValue
}

/// Reads and writes inside a transaction.
public protocol StoreAccess: StoreReader {
  /// Replaces the content of a key.
  func write(_ key: Key, _ value: CellValue) throws
  /// Appends a number to the content of a key.
  func append(_ key: Key, _ number: Int64) throws
  /// Carries out the operation of a number on a family; see `FamilyOperation`.
  func change(family: Int64, _ number: Int64) throws
}

/// A store with transactions over spaces.
public protocol TransactionalStore: Sendable {
  /// How many spaces there are. Behind them is the space of the families.
  var spaces: Int { get }

  /// Starts a transaction and returns at once.
  ///
  /// - Parameters:
  ///   - spaces: The spaces that it reads and writes, in any order; a space may be listed twice.
  ///     The number of spaces stands for the families.
  ///   - body: Runs once, again after a conflict with another workspace, or not at all if the store
  ///     refuses. An error that it throws rolls the transaction back.
  ///   - completion: Called once with whether the transaction was committed.
  func transact(
    _ spaces: [Int], _ body: @escaping @Sendable (any StoreAccess) throws -> Void,
    _ completion: @escaping @Sendable (Bool) -> Void)

  /// Runs `body` on this thread, with one committed state in view. It may run again.
  func snapshot(_ body: (any StoreReader) throws -> Void) throws

  /// The content of a key, read individually on this thread.
  func lookUp(_ key: Key) -> CellValue?

  /// Unexpected errors since the last call.
  func takeErrors() -> [String]

  /// Waits for everything that was called, and closes the store.
  func close()
}

/// The error that a body throws to roll its transaction back.
public struct WantsAbort: Error {
  /// A request for rollback.
  public init() {}
}
