// The coordinator of an engine that can have several write transactions at once.

import DflatTestSupport
import Dispatch
import Platform
import Testing

@testable import Dflat

extension WriteCoordinatorTests {
  /// Calls `body` on another thread.
  /// - Returns: Signalled when it has returned.
  func beside(_ body: @escaping () throws -> Void) -> DispatchSemaphore {
    let done = DispatchSemaphore(value: 0)
    // The coordinator guards what the closure uses.
    nonisolated(unsafe) let body = body
    DispatchQueue(label: "beside").async {
      do { try body() } catch { Issue.record(error) }
      done.signal()
    }
    return done
  }

  private static let twoWriters = EngineCapabilities(
    excludesOtherWriters: false, canNest: false, writersAtOnce: 2)

  @Test("As many transactions have a lease as the engine can have; the next one waits for any")
  func severalWriters() throws {
    let test = WriteCoordinatorTests(longest: .seconds(3600), Self.twoWriters)
    let coordinator = test.coordinator
    let first = try coordinator.acquireLease { test.writer }
    let second = try coordinator.acquireLease { test.writer }
    #expect(first.group !== second.group && !coordinator.isIdle)
    let third = test.beside { try test.write([Blog.Post._schema, Note._schema]) }
    #expect(eventually { coordinator.waitingCount == 1 })
    test.finish(coordinator.end(second, test.member(notes, of: second.group)), false)
    third.expect("the lease of the second transaction")
    let everything = test.beside { coordinator.withoutOpenGroup {} }
    #expect(eventually { coordinator.waitingCount == 1 })
    test.finish(coordinator.end(first, test.member(posts, of: first.group)), false)
    everything.expect("all leases")
    #expect(test.outcomes == [true, true, true])
    #expect(coordinator.isIdle)
  }

  @Test("One transaction at a time writes dictionaries, until its end")
  func dictionariesOfSeveralWriters() throws {
    let test = WriteCoordinatorTests(longest: .seconds(3600), Self.twoWriters)
    let coordinator = test.coordinator
    let first = try coordinator.acquireLease(writingShared: true) { test.writer }
    let hasBegun = Mutex(false)
    let second = test.beside {
      let lease = try coordinator.acquireLease(writingShared: true) {
        hasBegun.withLock { $0 = true }
        return test.writer
      }
      test.finish(coordinator.end(lease, test.member(test.notes, of: lease.group)), false)
    }
    #expect(eventually { coordinator.waitingForSharedCount == 1 })
    // What it will read must contain what the first one writes.
    #expect(!hasBegun.withLock { $0 })
    test.finish(coordinator.end(first, test.member(posts, of: first.group)), false)
    second.expect("its turn to write dictionaries")
    #expect(test.outcomes == [true, true])
    #expect(coordinator.isIdle)
  }

  @Test("A transaction that has begun writes dictionaries only if no other one has done so since")
  func dictionariesAfterBeginning() throws {
    let test = WriteCoordinatorTests(longest: .seconds(3600), Self.twoWriters)
    let coordinator = test.coordinator
    let first = try coordinator.acquireLease { test.writer }
    let second = try coordinator.acquireLease(writingShared: true) { test.writer }
    let count = first.group.sharedCount
    func attempt() throws { try coordinator.takeShared(first, since: count) }
    // It does not wait: the server could not see whom it waits for.
    #expect(throws: StorageError.self) { try attempt() }
    test.finish(coordinator.end(second, test.member(notes, of: second.group)), false)
    #expect(throws: StorageError.self) { try attempt() }
    try coordinator.takeShared(first, since: coordinator.sharedCount)
    // Again is nothing new.
    try attempt()
    test.finish(coordinator.end(first, test.member(posts, of: first.group)), false)
    #expect(test.outcomes == [true, true])
    #expect(coordinator.isIdle && coordinator.sharedCount == 2)
  }

  @Test(
    "Waiting for the commit of a type waits for the group that has written it, and for no other")
  func awaitingCommits() throws {
    let test = WriteCoordinatorTests(longest: .seconds(3600), Self.twoWriters)
    let coordinator = test.coordinator
    let (first, second) = (
      try coordinator.acquireLease { test.writer }, try coordinator.acquireLease { test.writer }
    )
    second.group.use { coordinator.awaitCommit(of: test.posts) }
    // As `end` does before the commit.
    first.group.add(test.member(posts, of: first.group))
    let isDone = Mutex(false)
    let waiting = try first.group.use { () throws -> DispatchSemaphore in
      coordinator.awaitCommit(of: test.notes)
      let waiting = test.beside {
        coordinator.awaitCommit(of: test.posts)
        #expect(isDone.withLock { $0 })
      }
      isDone.withLock { $0 = true }
      return waiting
    }
    waiting.expect("the end of the use")
    test.finish(coordinator.end(first, test.member(posts, of: first.group)), false)
    test.finish(coordinator.end(second, test.member(notes, of: second.group)), false)
    #expect(test.outcomes == [true, true, true])
  }
}
