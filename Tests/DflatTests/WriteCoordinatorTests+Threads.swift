// On which threads the coordinator uses a storage transaction.

import DflatTestSupport
import Dispatch
import Foundation
import Platform
import Testing

@testable import Dflat

extension WriteCoordinatorTests {
  private static func test(binding isBound: Bool) -> WriteCoordinatorTests {
    WriteCoordinatorTests(
      longest: .seconds(3600), EngineCapabilities(bindsWritersToThread: isBound))
  }

  @Test("All calls of a bound storage transaction are made on one thread, on behalf of any")
  func boundWriter() throws {
    let test = Self.test(binding: true)
    let (coordinator, writer) = (test.coordinator, test.writer)
    // A thread for each: the first member, one that is undone, a reader, and the end of the group.
    let began = Mutex<Set<ThreadIdentity>>([])
    let users = Mutex<Set<ThreadIdentity>>([.current])
    func use(_ body: @escaping () throws -> Void) {
      test.beside {
        users.withLock { _ = $0.insert(.current) }
        try body()
      }.expect("a use of the storage transaction")
    }
    use {
      let lease = try coordinator.acquireLease {
        began.withLock { _ = $0.insert(.current) }
        return writer
      }
      test.finish(coordinator.end(lease, test.member(test.posts, of: lease.group)), true)
    }
    use { try test.write(test.notes, isAborted: true) }
    use {
      let last = try coordinator.read(test.posts) { try $0.writer.lastID(of: Blog.Post._schema) }
      #expect(last == .some(nil))
    }
    use { coordinator.settle(isFollowed: false) }
    #expect(Set(test.outcomes) == [true, false])
    #expect(writer.notes == ["begin", "undo", "read", "commit"])
    #expect(writer.threads.count == 1 && writer.threads == began.withLock(\.self))
    #expect(writer.threads.isDisjoint(with: users.withLock(\.self)))
    // The next one, too, is begun on the job queue's thread; it is rolled back as a whole.
    use { try test.write(test.posts, isAborted: true, isFollowed: false) }
    let lone = Mutex<Set<ThreadIdentity>>([])
    use {
      coordinator.withoutOpenGroup {
        try? coordinator.withLoneWriter({ writer }) { _ in
          lone.withLock { _ = $0.insert(.current) }
        }
      }
    }
    #expect(writer.notes.suffix(2) == ["rollback", "rollback"] && writer.threads.count == 1)
    #expect(lone.withLock(\.self).isSubset(of: users.withLock(\.self)))
  }

  @Test("Other storage transactions are used by the threads that need them")
  func unboundWriter() throws {
    let test = Self.test(binding: false)
    try test.write(test.posts)
    test.beside { try test.write(test.notes, isFollowed: false) }.expect("the second transaction")
    #expect(test.outcomes == [true, true])
    #expect(test.writer.threads.count == 2 && test.writer.threads.contains(.current))
  }

  @Test("What comes too late for a group does not wait until the next one has begun")
  func lateUse() throws {
    let test = Self.test(binding: true)
    let coordinator = test.coordinator
    let group = try test.write(test.posts, isFollowed: false)
    let (hasBegun, mayBegin) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let next = test.beside {
      // As if another process were writing.
      let lease = try coordinator.acquireLease {
        hasBegun.signal()
        mayBegin.wait()
        return test.writer
      }
      test.finish(coordinator.end(lease, test.member(test.notes, of: lease.group)), false)
    }
    hasBegun.expect("the beginning of the next storage transaction")
    let late = test.beside { #expect(group.use { !group.isOpen }) }
    late.expect("the use of a group that is closed")
    mayBegin.signal()
    next.expect("the next transaction")
    #expect(test.outcomes == [true, true])
  }

  @Test("A call thread passes results and errors on, has the caller's state, and ends")
  func callThread() throws {
    struct Refusal: Error {}
    let pointer = ThreadPointer()
    pointer.value = UnsafeMutableRawPointer(bitPattern: 7)
    defer { pointer.value = nil }
    let hasEnded = DispatchSemaphore(value: 0)
    do {
      let thread = CallThread()
      #expect(throws: Refusal.self) { try thread.call { () throws(Refusal) in throw Refusal() } }
      let (identity, value) = thread.call { (ThreadIdentity.current, pointer.value) }
      #expect(identity != .current && value == pointer.value)
      let others = (0..<20).map { _ in
        beside { #expect(thread.call { ThreadIdentity.current } == identity) }
      }
      for other in others { other.expect("a call of one of many threads") }
      pointer.value = nil
      #expect(thread.call { pointer.value } == nil)
      // Signalled by the end of the thread.
      var key = pthread_key_t()
      pthread_key_create(&key) { object in
        #if canImport(Darwin)
          Unmanaged<DispatchSemaphore>.fromOpaque(object).takeRetainedValue().signal()
        #else
          if let object {
            Unmanaged<DispatchSemaphore>.fromOpaque(object).takeRetainedValue().signal()
          }
        #endif
      }
      thread.call {
        _ = pthread_setspecific(key, Unmanaged.passRetained(hasEnded).toOpaque())
      }
    }
    hasEnded.expect("the end of the thread")
  }

  /// A member whose outcome is awaited, without a handler.
  private final class AwaitedMember: CommitMember, @unchecked Sendable {
    let result = CommitOutcome()
    @exclusivity(unchecked) var thread: Thread?
    override var callsProgram: Bool { false }
    override func notify(_ failure: (any Error)?) {
      thread = Thread.current
      result.notify(failure)
    }
  }

  @Test("The committing thread notifies awaiting callers; handlers run on other threads")
  func notices() throws {
    let turn = try coordinator.acquireLease { writer }
    let awaited = AwaitedMember(posts, group: turn.group)
    #expect(coordinator.end(turn, awaited).isSettling)
    #expect(!awaited.result.isKnown)
    coordinator.settle(isFollowed: false, isJobQueue: false)
    #expect(awaited.result.isKnown)
    #expect(awaited.thread === Thread.current)
    try awaited.result.check()
    writer.failsCommit = true
    let second = try coordinator.acquireLease { writer }
    let failing = AwaitedMember(posts, group: second.group)
    _ = coordinator.end(second, failing)
    coordinator.settle(isFollowed: false, isJobQueue: false)
    failing.result.wait()
    #expect(throws: StorageError.self) { try failing.result.check() }
  }
}
