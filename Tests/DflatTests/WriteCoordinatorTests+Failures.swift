// What the error hook hears of groups that fail, and when.

import DflatTestSupport
import Dispatch
import Platform
import Testing

@testable import Dflat

extension WriteCoordinatorTests {
  /// A member whose caller gets the error.
  private final class AwaitedMember: CommitMember, @unchecked Sendable {
    override func needsReport(of error: any Error, isCommit: Bool) -> Bool { isCommit }
  }

  /// How a group fails.
  enum Failure: CaseIterable {
    case commit, lostSubtransaction, deadAtTheEnd, deadAtTheBeginning, outdated, withoutGroup
  }

  /// Has the group fail in which posts and notes were written.
  private func fail(_ failure: Failure) throws {
    switch failure {
    case .commit:
      writer.failsCommit = true
      coordinator.settle(isFollowed: false)
    case .lostSubtransaction:
      writer.losesSubtransaction = true
      try write(posts, isAborted: true, isFollowed: false)
    case .deadAtTheEnd:
      let lease = try coordinator.acquireLease { writer }
      writer.isAlive = false
      finish(coordinator.end(lease, member(posts, of: lease.group)), false)
    case .deadAtTheBeginning, .outdated:
      writer.isAlive = failure == .outdated
      writer.mayBeJoined = failure != .outdated
      writer.failsCommit = true
      let next = RecordingWriter()
      let lease = try coordinator.acquireLease { next }
      finish(coordinator.end(lease, member(posts, of: lease.group)), false)
    case .withoutGroup:
      writer.failsCommit = true
      coordinator.withoutOpenGroup {}
    }
  }

  @Test(
    "However a group fails, the error hook hears it once, before any of its members",
    arguments: Failure.allCases)
  func hookFirst(failure: Failure) throws {
    let early = Mutex<[Bool]>([])
    hook.handler = { [told] _ in
      told.errors.withLock { $0 += 1 }
      early.withLock { $0 += told.outcomes.withLock { $0.filter { !$0 } } }
    }
    try write(posts)
    try write(notes)
    try fail(failure)
    #expect(outcomes.filter { !$0 }.count >= 2)
    #expect(told.errors.withLock { $0 } == 1)
    #expect(early.withLock { $0 } == [])
  }

  @Test("A member behind another delivery is not notified while the error hook runs")
  func hookBesideDelivery() throws {
    // Both are in the queue of a delivery that is running; the note is a witness for its end.
    let (isHeard, witness) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let first = deliveries.place(
      [Blog.Post._schema, Note._schema],
      .job {
        _ = isHeard.expect("the call of the error hook")
        return .nothing
      })
    deliveries.start(try #require(first))
    let early = Mutex<[Bool]?>(nil)
    hook.handler = { [told] _ in
      isHeard.signal()
      _ = witness.expect("the delivery that was in front of the member")
      early.withLock { $0 = told.outcomes.withLock { $0 } }
    }
    try write(posts)
    writer.failsCommit = true
    let isReady = deliveries.place(
      notes,
      .job {
        witness.signal()
        return .nothing
      })
    #expect(isReady == nil)
    coordinator.settle(isFollowed: false)
    #expect(outcomes == [false])
    #expect(early.withLock { $0 } == [])
  }

  @Test("The error hook hears of a failure if a member has no caller, or the commit has failed")
  func hookForMembersWithoutCaller() throws {
    func write(awaited: Bool, failing reason: (any Error)? = nil) throws {
      let lease = try coordinator.acquireLease { writer }
      let next =
        awaited
        ? AwaitedMember(posts, group: lease.group, failure: reason)
        : member(posts, of: lease.group)
      finish(coordinator.end(lease, next), true)
    }
    writer.failsCommit = true
    try write(awaited: true)
    coordinator.settle(isFollowed: false)
    #expect(told.errors.withLock { $0 } == 1)
    try write(awaited: true)
    try write(awaited: false)
    coordinator.settle(isFollowed: false)
    #expect(outcomes == [false])
    #expect(told.errors.withLock { $0 } == 2)
    // The storage rolls everything back because of an error that only the other one's caller gets.
    try write(awaited: false)
    let lease = try coordinator.acquireLease { writer }
    writer.isAlive = false
    let reason = StorageError(.diskFull, message: "disk full")
    let heard = Mutex<[StorageError?]>([])
    hook.handler = { error in heard.withLock { $0.append(error as? StorageError) } }
    _ = coordinator.end(lease, AwaitedMember(posts, group: lease.group, failure: reason))
    #expect(outcomes == [false, false])
    #expect(heard.withLock { $0.map { $0?.cause } } == [.diskFull])
  }

  @Test("What an internal write fails with is reported once, before it is notified")
  func internalWrites() throws {
    let early = Mutex<[Bool]>([])
    hook.handler = { [told] _ in
      told.errors.withLock { $0 += 1 }
      early.withLock { $0 += told.outcomes.withLock { $0 } }
    }
    func end(_ lease: WriteCoordinator.Lease?, _ reason: StorageError) {
      told.group.enter()
      let member = CommitMember(
        posts, group: lease?.group, failure: reason, reportedBy: .delivery
      ) { [told] failure in
        told.outcomes.withLock { $0.append(failure == nil) }
        told.group.leave()
      }
      finish(coordinator.end(lease, member), false)
    }
    let full = StorageError(.diskFull, message: "disk full")
    end(nil, full)
    #expect(outcomes == [false])
    #expect(told.errors.withLock { $0 } == 1)
    #expect(early.withLock { $0 } == [])
    end(try coordinator.acquireLease { writer }, full)
    #expect(outcomes == [false, false])
    #expect(told.errors.withLock { $0 } == 2)
    // It runs again after a conflict.
    end(try coordinator.acquireLease { writer }, StorageError(.conflict, message: "conflict"))
    #expect(outcomes == [false, false, false])
    #expect(told.errors.withLock { $0 } == 2)
  }
}
