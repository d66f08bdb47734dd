// CommitMember: work that ran at the head of its types' queues and is finished when it is
// committed.
//
// Most members are transactions, see `Transaction`. The workspace's internal writes are plain
// members: they share the same groups and are notified in the same order.

/// Unchecked: the thread that runs a member sets its properties before `WriteCoordinator.end` adds
/// it to a group or a delivery under the coordinator's lock. The thread that notifies the member
/// takes that lock afterwards. From then on the member is only read.
class CommitMember: @unchecked Sendable {
  final let types: TypeSet
  /// The group that the member has written into or read from. If the group fails, the member fails
  /// too.
  @exclusivity(unchecked) final var group: CommitGroup?
  /// Why the member must not be committed; nil if it may be.
  @exclusivity(unchecked) final var failure: (any Error)?

  /// What reports to the error hook why a member is not committed.
  enum Reporter {
    /// The caller of `end` has reported the member's own failure, if the hook must hear it. The
    /// delivery reports a failure of the group.
    case callerOfOwnFailure
    /// The delivery.
    case delivery
    /// The caller of `end`, which waits until the group is committed.
    case caller
  }

  private let reporter: Reporter
  private let completion: @Sendable ((any Error)?) -> Void

  /// - Parameters:
  ///   - reporter: What reports to the error hook why it is not committed.
  ///   - completion: Called with the reason why it is not committed; nil if it is.
  init(
    _ types: TypeSet, group: CommitGroup? = nil, failure: (any Error)? = nil,
    reportedBy reporter: Reporter = .callerOfOwnFailure,
    _ completion: @escaping @Sendable ((any Error)?) -> Void = { _ in }
  ) {
    self.types = types
    self.group = group
    self.failure = failure
    self.reporter = reporter
    self.completion = completion
  }

  /// Called after the member is committed, in commit order and before any delivery.
  func committed(at time: Int64) {}

  /// Notifies the code that waits for the outcome, once the outcome is known.
  /// - Parameter failure: Why the member is not committed; nil if it is.
  func notify(_ failure: (any Error)?) { completion(failure) }

  /// Whether the error hook must hear of the error that ends the member, because no caller receives
  /// it and the member does not run again, or because a commit has failed. Plain members run again
  /// after conflicts.
  func needsReport(of error: any Error, isCommit: Bool) -> Bool { !StorageError.isConflict(error) }

  /// Whether the task that awaits its commit was cancelled. Called on any thread.
  var isCancelled: Bool { false }

  /// Whether `notify` may call handlers of the program. Read once the outcome is known.
  var callsProgram: Bool { true }

  /// The types in whose queues the outcome is delivered. Read once it is known.
  var deliveryTypes: TypeSet { types }

  /// Once the outcome is known: why the member is not committed, or nil if it is.
  final var outcome: (any Error)? { failure ?? group?.failure }

  /// What the error hook must hear before the member is notified that it is not committed.
  final var unreportedFailure: (any Error)? {
    if reporter == .caller || failure != nil && reporter != .delivery { return nil }
    guard case .failed(let error, let reason, let isCommit)? = group?.outcome else {
      return failure.flatMap { needsReport(of: $0, isCommit: false) ? $0 : nil }
    }
    return needsReport(of: failure ?? error, isCommit: isCommit) ? reason : nil
  }

  /// Whether the error hook has heard of `failure` from the member.
  final var hasReportedFailure: Bool {
    reporter != .delivery && failure.map { needsReport(of: $0, isCommit: false) } == true
  }

  /// Whether the member's outcome depends on a group that is still open.
  final func dependsOn(_ group: CommitGroup) -> Bool {
    group === self.group || !group.types.isDisjoint(with: types)
  }
}
