// CommitGroup: a storage transaction, and the workspace transactions that share it.
//
// The first member that writes opens the group. Later members write into the same storage
// transaction, each in its own subtransaction, so that each can be rolled back alone. What a member
// has written is visible to later transactions in its queues before it is committed.

import Dispatch
import Platform

/// A transaction's reads from a group.
protocol UncommittedReader: AnyObject, Sendable {
  /// Called while the storage transaction is used, just before the group's commit.
  func keep(from reader: any StorageReader) throws
}

/// Unchecked: `writer`, `tokenAfter` and `readers` are accessed in `use` of the slot, all other
/// state under the write coordinator's lock. Exclusivity checks would find nothing here, and every
/// transaction would pay for them.
final class CommitGroup: @unchecked Sendable {
  enum Outcome {
    case open, committed
    /// - Parameters:
    ///   - unreported: What the error hook hears of it; nil if it has heard it.
    ///   - isCommit: Whether the commit itself has failed, and not a member.
    case failed(any Error, unreported: (any Error)?, isCommit: Bool = false)
  }

  /// A larger group would delay the completion of its first member too long.
  private static let mostMembers = 256
  private let mostMembers: Int

  /// A process-wide unique number, never 0.
  let number = numbers.add(1, ordering: .relaxed).newValue
  private static let numbers = Atomic<Int>(0)

  let writer: any StorageWriter
  /// Where the storage transaction is used.
  let slot: StorageTransactionSlot
  /// The commit token when the storage transaction began. nil if it is unknown or if other
  /// connections can commit while the transaction is open. See `StorageWriter`.
  let token: CommitToken?
  /// How many transactions had written the tables of all types when this one began.
  let sharedCount: Int
  /// The commit token after the commit.
  @exclusivity(unchecked) private(set) var tokenAfter: CommitToken?
  /// The transactions that have read from the group and may not have begun to write.
  @exclusivity(unchecked) var readers: [any UncommittedReader] = []
  @exclusivity(unchecked) var outcome = Outcome.open
  /// The entity types of all members.
  @exclusivity(unchecked) private(set) var types: TypeSet = []
  @exclusivity(unchecked) private(set) var members = Few<CommitMember>()
  private let deadline: DispatchTime

  /// - Parameters:
  /// The capabilities of the writer's engine.
  /// The maximum time to wait for more members.
  init(
    _ writer: any StorageWriter, _ capabilities: EngineCapabilities,
    in slot: StorageTransactionSlot,
    sharedCount: Int = 0, longest: DispatchTimeInterval
  ) {
    self.writer = writer
    self.sharedCount = sharedCount
    self.slot = slot
    deadline = .now() + longest
    mostMembers = capabilities.canNest ? Self.mostMembers : 1
    token = capabilities.excludesOtherWriters ? writer.token : nil
    tokenAfter = token
  }

  /// Uses the storage transaction, as the lease holder or for a short read.
  @inline(__always)
  func use<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    try slot.use(while: isOpen, body)
  }

  /// - Parameter check: Called directly before the storage is asked to commit. If it throws,
  ///   nothing is stored.
  func commit(checking check: () throws -> Void) throws {
    // Only their transactions lose something if this fails.
    for reader in readers { try? reader.keep(from: writer) }
    readers = []
    try writer.commit(checking: check)
    if token != nil { tokenAfter = writer.token }
  }

  func add(_ member: CommitMember) {
    types.formUnion(member.types)
    members.append(member)
  }

  /// Removes and returns the members. Members reference their group; this breaks the cycle.
  func takeMembers() -> Few<CommitMember> {
    defer { members.removeAll() }
    return members
  }

  var isOpen: Bool { if case .open = outcome { true } else { false } }

  /// Why the group was not committed.
  var failure: (any Error)? { if case .failed(let error, _, _) = outcome { error } else { nil } }

  /// Whether the group has reached its maximum size.
  var isFull: Bool { members.count >= mostMembers }

  /// Whether the group is full or has waited long enough. Reading the clock has a cost.
  var isDue: Bool { isFull || (!members.isEmpty && .now() > deadline) }
}
