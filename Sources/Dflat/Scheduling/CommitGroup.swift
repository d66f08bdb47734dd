// CommitGroup: a transaction of the storage, and the transactions of the workspace that share it.
//
// The first one that writes opens it; those behind write into it, too, each behind a mark of its own, to which it can be
// undone alone. What one has written is seen by those that come later in its lines, before it is committed.

import Dispatch
import Platform

/// Unchecked: `writer` and `tokenAfter` are used under the committer's `usage`; the rest is changed under its `state`. So checks of
/// exclusive use, which each transaction would pay for, would find nothing.
final class CommitGroup: @unchecked Sendable {
  enum Outcome {
    case open, committed
    case failed(any Error)
  }

  /// More would make the first one wait too long.
  private static let mostMembers = 256
  private let mostMembers: Int

  /// Tells it from others of the process; never 0.
  let number = numbers.add(1, ordering: .relaxed).newValue
  private static let numbers = Atomic<Int>(0)

  let writer: any StorageWriter
  /// What other connections had committed when the storage's transaction began; nil if that is not known, or they can commit
  /// meanwhile. See `StorageWriter`.
  let token: CommitToken?
  /// The same when it was committed.
  @exclusivity(unchecked) private(set) var tokenAfter: CommitToken?
  @exclusivity(unchecked) var outcome = Outcome.open
  /// The types of the members.
  @exclusivity(unchecked) private(set) var types: TypeSet = []
  @exclusivity(unchecked) private(set) var members: [CommitMember] = []
  private let deadline: DispatchTime

  /// - Parameters:
  ///   - capabilities: Those of the writer's engine.
  ///   - longest: How long it may wait for more members.
  init(
    _ writer: any StorageWriter, _ capabilities: EngineCapabilities, longest: DispatchTimeInterval
  ) {
    self.writer = writer
    deadline = .now() + longest
    mostMembers = capabilities.canNest ? Self.mostMembers : 1
    token = capabilities.excludesOtherWriters ? writer.token : nil
    tokenAfter = token
  }

  func commit() throws {
    try writer.commit()
    if token != nil { tokenAfter = writer.token }
  }

  func add(_ member: CommitMember) {
    types.formUnion(member.types)
    members.append(member)
  }

  /// The members, who know their group, and are let go of with this.
  func takeMembers() -> [CommitMember] {
    defer { members = [] }
    return members
  }

  var isOpen: Bool { if case .open = outcome { true } else { false } }

  /// Why it was not committed.
  var failure: (any Error)? { if case .failed(let error) = outcome { error } else { nil } }

  /// Whether the group should not grow any more, because it is large.
  var isFull: Bool { members.count >= mostMembers }

  /// The same, also because it has waited long. To look at the clock costs something.
  var isDue: Bool { isFull || (!members.isEmpty && .now() > deadline) }
}
