// CommitMember: what has run in the lines of some types, and somebody waits for its end.
//
// Most are transactions, see `Transaction`. The workspace's own errands are written in the same groups and told in the same order.

/// Unchecked: its properties are changed by the thread that runs it, before `Committer.end` puts it into a group or a delivery. That
/// happens under the committer's lock, which the thread that tells it has taken after that; from then on it is only read.
class CommitMember: @unchecked Sendable {
  final let types: TypeSet
  /// The group that it has written into or read from: if that fails, so has it.
  @exclusivity(unchecked) final var group: CommitGroup?
  /// Why nothing of it is to be committed; nil if it is good as far as it goes.
  @exclusivity(unchecked) final var failure: (any Error)?

  init(_ types: TypeSet, group: CommitGroup? = nil, failure: (any Error)? = nil) {
    self.types = types
    self.group = group
    self.failure = failure
  }

  /// It is committed. Called in the order of the commits, before anything is delivered.
  func committed(at time: Int64) {}

  /// Tells whoever waits for its end, when that is known.
  /// - Parameter failure: Why it is not committed; nil if it is.
  func tell(_ failure: (any Error)?) {}

  /// Whether handlers of the program may be called by `tell`. Asked when the outcome is known.
  var callsProgram: Bool { true }

  /// Why it is not committed, when that is known; nil if it is.
  final var outcome: (any Error)? { failure ?? group?.failure }

  /// Whether it cannot end before a group does.
  final func dependsOn(_ group: CommitGroup) -> Bool {
    group === self.group || !group.types.isDisjoint(with: types)
  }
}

/// Something that the workspace has done itself.
///
/// Unchecked: it adds a constant to a member, which is `Sendable` for the reason given there.
final class Errand: CommitMember, @unchecked Sendable {
  private let completion: @Sendable ((any Error)?) -> Void

  /// - Parameter completion: Told why it is not committed; nil if it is.
  init(
    _ types: TypeSet, group: CommitGroup?, failure: (any Error)?,
    _ completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    self.completion = completion
    super.init(types, group: group, failure: failure)
  }

  override func tell(_ failure: (any Error)?) { completion(failure) }
}
