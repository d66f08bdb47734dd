// CommitGroup: a transaction of the storage, and the transactions of the workspace that share it.
//
// The first one that writes opens it; those behind write into it, too, each inside a savepoint of its own. What one has written
// is seen by those that come later in its lines, before it is committed.

import Dispatch
import Synchronization

/// A transaction that has run, with whom to tell.
///
/// Unchecked: only `failure` changes, by the transaction's thread, before the member is in its group or in a delivery.
final class Member: @unchecked Sendable {
  let types: TypeSet
  /// The group that it has written into or read from: if that fails, so has it.
  let group: CommitGroup?
  /// Why nothing of it is to be committed; nil if it is good as far as it goes.
  @exclusivity(unchecked) var failure: (any Error)?
  /// What it has changed.
  let writes: WriteSet
  /// Told, when it is known, why it is not committed, nil if it is; and what it has changed.
  typealias Completion = @Sendable (_ failure: (any Error)?, WriteSet) -> Void
  let completion: Completion

  init(
    types: TypeSet, group: CommitGroup?, failure: (any Error)?, writes: WriteSet = WriteSet(),
    completion: @escaping Completion
  ) {
    self.types = types
    self.group = group
    self.failure = failure
    self.writes = writes
    self.completion = completion
  }

  /// Why it is not committed, when that is known; nil if it is.
  var outcome: (any Error)? { failure ?? group?.failure }

  /// Whether it cannot end before a group does.
  func dependsOn(_ group: CommitGroup) -> Bool {
    group === self.group || !group.types.isDisjoint(with: types)
  }
}

/// Unchecked: `writer` is used under the committer's `usage`; the rest is changed under its `state`. So checks of exclusive use,
/// which each transaction would pay for, would find nothing.
final class CommitGroup: @unchecked Sendable {
  enum Outcome {
    case open, committed
    case failed(any Error)
  }

  /// More would make the first one wait too long.
  private static let mostMembers = 128

  /// Tells it from others of the process; never 0.
  let number = numbers.add(1, ordering: .relaxed).newValue
  private static let numbers = Atomic<Int>(0)

  let writer: any StorageWriter
  /// What others had committed when the storage's transaction began; see `StorageEngine`.
  let generation: Int
  @exclusivity(unchecked) var outcome = Outcome.open
  /// The types of the members.
  @exclusivity(unchecked) var types: TypeSet = []
  @exclusivity(unchecked) var members: [Member] = []
  private let deadline: DispatchTime

  /// - Parameter longest: How long it may wait for more members.
  init(_ writer: any StorageWriter, longest: DispatchTimeInterval) {
    self.writer = writer
    deadline = .now() + longest
    generation = writer.generation
  }

  var isOpen: Bool { if case .open = outcome { true } else { false } }

  /// Why it was not committed.
  var failure: (any Error)? { if case .failed(let error) = outcome { error } else { nil } }

  /// Whether the group should not grow any more, because it is large.
  var isFull: Bool { members.count >= Self.mostMembers }

  /// The same, also because it has waited long. To look at the clock costs something.
  var isDue: Bool { isFull || (!members.isEmpty && .now() > deadline) }
}
