// TransactionalStore: as much of a store as verification needs, so that real and broken ones can be held to the same promises.

/// Reads inside a transaction or a snapshot.
public protocol StoreReader {
  /// What a key holds; nil if it was never written.
  func read(_ key: Key) throws -> CellValue?
  /// What the keys of a group hold, found together by the group; keys that were never written are left out.
  func read(group: Int64, in space: Int) throws -> [Key: CellValue]
}

/// Reads and writes inside a transaction.
public protocol StoreAccess: StoreReader {
  /// Replaces what a key holds.
  func write(_ key: Key, _ value: CellValue) throws
  /// Puts a number at the end of what a key holds.
  func append(_ key: Key, _ number: Int64) throws
}

/// A store with transactions over spaces.
public protocol TransactionalStore: Sendable {
  /// How many spaces there are.
  var spaces: Int { get }

  /// Calls a transaction and returns at once.
  ///
  /// - Parameters:
  ///   - spaces: What it reads and writes, in any order; a space may stand there twice.
  ///   - body: Runs once, or not at all if the store refuses. An error that it throws undoes everything.
  ///   - completion: Told once whether everything is committed.
  func transact(
    _ spaces: [Int], _ body: @escaping @Sendable (any StoreAccess) throws -> Void,
    _ completion: @escaping @Sendable (Bool) -> Void)

  /// Runs `body` on this thread, with one committed state in view.
  func snapshot(_ body: (any StoreReader) throws -> Void) throws

  /// What a key holds, read on this thread by itself.
  func lookUp(_ key: Key) -> CellValue?

  /// Errors that nobody expects, since the last call.
  func takeErrors() -> [String]

  /// Lets everything that was called end, and closes the store.
  func close()
}

/// What a body throws to have its transaction undone.
public struct WantsAbort: Error {
  /// An order to undo everything.
  public init() {}
}
