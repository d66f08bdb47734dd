// The write lease, group commits, and what members are notified of when the storage fails.

import DflatTestSupport
import Dispatch
import Foundation
import FlatBuffersRuntime
import Platform
import Testing

@testable import Dflat

/// A storage writer that records its calls and fails on demand. Used by one thread at a time.
final class RecordingWriter: StorageWriter {
  var notes: [String] = []
  var failsCommit = false
  var losesSubtransaction = false
  var mayBeJoined = true
  /// The threads that have used it.
  private(set) var threads: Set<ThreadIdentity> = []
  private var isStillAlive = true

  var isAlive: Bool {
    get {
      threads.insert(.current)
      return isStillAlive
    }
    set { isStillAlive = newValue }
  }

  private func note(_ call: String) {
    threads.insert(.current)
    notes.append(call)
  }

  func beginSubtransaction() { note("begin") }
  func endSubtransaction(keeping: Bool) throws {
    note(keeping ? "keep" : "undo")
    if !keeping, losesSubtransaction { throw StorageError(.other, message: "no such savepoint") }
  }
  func commit() throws {
    note("commit")
    if failsCommit || !isAlive { throw StorageError(.diskFull, message: "disk full") }
  }
  func rollback() { note("rollback") }
  var token: CommitToken? {
    threads.insert(.current)
    return .unshared
  }

  func insert(_ schema: EntitySchema, _ bytes: UnsafeRawBufferPointer) -> Int64 { 1 }
  func insert(_ schema: EntitySchema, keepingIDOf row: Row) {}
  func update(_ schema: EntitySchema, from old: Row, to new: Row, changing fields: FieldSet) {}
  func delete(_ schema: EntitySchema, id: Int64) {}
  func rows(_ request: ReadRequest, mark: ReadMark) -> RowBuffer { RowBuffer() }
  func lastID(of schema: EntitySchema) -> Int64? {
    note("read")
    return nil
  }
}

@Suite("The coordinator")
struct WriteCoordinatorTests {
  let writer = RecordingWriter()
  let told = Told()
  let hook: ErrorHook
  let deliveries: TicketScheduler
  let coordinator: WriteCoordinator
  let posts: TypeSet = [Blog.Post._schema]
  let notes: TypeSet = [Note._schema]

  final class Told: Sendable {
    let outcomes = Mutex<[Bool]>([])
    let good = Mutex(0)
    let errors = Mutex(0)
    let lost = Mutex<TypeSet>([])
    let group = DispatchGroup()
  }

  /// No group is closed by its deadline, however slow the machine is.
  init() { self.init(longest: .seconds(3600)) }

  init(
    longest: DispatchTimeInterval, _ capabilities: EngineCapabilities = EngineCapabilities()
  ) {
    let told = told
    hook = ErrorHook(writers: capabilities.writersAtOnce)
    hook.handler = { _ in told.errors.withLock { $0 += 1 } }
    deliveries = TicketScheduler(jobQueues: JobQueues(target: nil), isSerial: false)
    coordinator = WriteCoordinator(
      capabilities: capabilities, deliveries: deliveries, longest: longest,
      settled: { _ in told.good.withLock { $0 += 1 } },
      lost: { types in told.lost.withLock { $0.formUnion(types) } },
      hook: hook)
  }

  func member(
    _ types: TypeSet, of group: CommitGroup?, isGood: Bool = true
  ) -> CommitMember {
    told.group.enter()
    let failure = isGood ? nil : TransactionError.aborted
    return CommitMember(types, group: group, failure: failure) { [told] failure in
      told.outcomes.withLock { $0.append(failure == nil) }
      told.group.leave()
    }
  }

  /// A transaction that writes and ends, and is followed by another one.
  @discardableResult
  func write(
    _ types: TypeSet, isAborted: Bool = false, isFollowed: Bool = true
  ) throws -> CommitGroup {
    let turn = try coordinator.acquireLease { writer }
    finish(
      coordinator.end(turn, member(types, of: turn.group, isGood: !isAborted)), isFollowed)
    return turn.group
  }

  /// A transaction that ends without writing.
  func end(
    _ types: TypeSet, of group: CommitGroup? = nil, isFollowed: Bool = true
  ) {
    finish(coordinator.end(nil, member(types, of: group)), isFollowed)
  }

  func finish(_ rest: Ticket.FollowUp, _ isFollowed: Bool) {
    switch rest {
    case .nothing: break
    case .settling: coordinator.settle(isFollowed: isFollowed)
    case .delivery(let ticket): deliveries.run(ticket)
    }
  }

  var outcomes: [Bool] {
    told.group.expect("what all members are told")
    return told.outcomes.withLock { $0 }
  }

  @Test("A group has one commit, and a subtransaction for each member but the first")
  func commit() throws {
    try write(posts)
    try write(posts)
    try write(posts, isAborted: true)
    end(posts, isFollowed: false)
    #expect(outcomes == [true, true, false, true])
    #expect(told.good.withLock { $0 } == 3)
    #expect(writer.notes == ["begin", "keep", "begin", "undo", "commit"])
  }

  @Test("A group that was left open while another thread waited for the lease is committed")
  func leftOpen() throws {
    let lease = try coordinator.acquireLease { writer }
    let isWritten = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [coordinator] in
      coordinator.withLeases { _ = isWritten.expect("the end of the transaction") }
    }
    let isWaiting = eventually { coordinator.waitingCount == 1 }
    #expect(isWaiting)
    finish(coordinator.end(lease, member(notes, of: lease.group)), false)
    isWritten.signal()
    #expect(outcomes == [true])
  }

  @Test("A transaction does not join a group that the storage has rolled back")
  func deadGroup() throws {
    try write(posts)
    writer.isAlive = false
    let next = RecordingWriter()
    let lease = try coordinator.acquireLease { next }
    let isNext = lease.group.writer as AnyObject === next
    #expect(isNext)
    finish(coordinator.end(lease, member(posts, of: lease.group)), false)
    #expect(outcomes == [false, true])
    #expect(next.notes == ["commit"])
  }

  @Test(
    "A group that may have no more members is committed before the next transaction begins",
    arguments: [false, true])
  func outdatedGroup(failsCommit: Bool) throws {
    try write(posts)
    writer.mayBeJoined = false
    writer.failsCommit = failsCommit
    let next = RecordingWriter()
    let lease = try coordinator.acquireLease { [writer, told] in
      #expect(writer.notes == ["commit"])
      return next
    }
    finish(coordinator.end(lease, member(posts, of: lease.group)), false)
    #expect(outcomes == [!failsCommit, true])
    #expect(told.errors.withLock { $0 } == (failsCommit ? 1 : 0))
    #expect(next.notes == ["commit"])
  }

  @Test("Where the engine cannot nest, each transaction is committed alone")
  func withoutNesting() throws {
    let test = WriteCoordinatorTests(
      longest: .seconds(3600), EngineCapabilities(canNest: false))
    try test.write(posts)
    try test.write(posts)
    #expect(test.outcomes == [true, true])
    #expect(test.writer.notes == ["commit", "commit"])
  }

  @Test("Where other connections can commit meanwhile, no group has a token to rely on")
  func tokens() throws {
    let exclusive = try write(posts)
    #expect(exclusive.token == .unshared && exclusive.tokenAfter == .unshared)
    end(posts, isFollowed: false)
    let test = WriteCoordinatorTests(
      longest: .seconds(3600), EngineCapabilities(excludesOtherWriters: false))
    let shared = try test.write(posts)
    test.end(posts, isFollowed: false)
    #expect(test.outcomes == [true, true])
    #expect(shared.token == nil && shared.tokenAfter == nil)
  }

  @Test("The types of a failed group are reported")
  func doubts() throws {
    try write(posts)
    end(posts, isFollowed: false)
    #expect(outcomes == [true, true])
    #expect(told.lost.withLock { $0 }.isEmpty)
    writer.failsCommit = true
    try write(posts)
    try write(notes, isFollowed: false)
    #expect(outcomes == [true, true, false, false])
    #expect(told.lost.withLock { $0 } == [Blog.Post._schema, Note._schema])
    #expect(told.good.withLock { $0 } == 2)
  }

  @Test("A transaction without a follower is committed at once")
  func alone() throws {
    try write(posts, isFollowed: false)
    #expect(outcomes == [true])
    try write(posts, isFollowed: false)
    #expect(outcomes == [true, true])
    #expect(writer.notes == ["commit", "commit"])
  }

  @Test("A member that has read only other types does not wait for the group")
  func others() throws {
    try write(posts)
    end(notes)
    told.outcomes.withLock { #expect($0 == [true]) }
    #expect(writer.notes == [])
    end(posts, isFollowed: false)
    #expect(outcomes == [true, true, true])
  }

  @Test("A follower of an aborted transaction is notified after it")
  func behindAborted() throws {
    try write(posts)
    try write(notes, isAborted: true)
    end(notes)
    told.outcomes.withLock { #expect($0 == []) }
    end(posts, isFollowed: false)
    #expect(outcomes.count == 4)
  }

  @Test("A failed commit is reported to the members that depend on it, and to no others")
  func failedCommit() throws {
    let group = try write(posts)
    // This member has read uncommitted changes.
    end(posts, of: group)
    // This member follows, but has read nothing.
    end(posts)
    writer.failsCommit = true
    try write(notes, isFollowed: false)
    // Deliveries of different types run concurrently.
    #expect(outcomes.filter { $0 }.count == 1)
    #expect(told.errors.withLock { $0 } == 1)
    #expect(told.good.withLock { $0 } == 1)
    // The next group is independent.
    writer.failsCommit = false
    try write(posts, isFollowed: false)
    #expect(outcomes.last == true)
  }

  @Test("A member that has read from a group fails if the group fails meanwhile")
  func readerOfFailed() throws {
    let group = try write(posts)
    writer.failsCommit = true
    try write(notes, isFollowed: false)
    end(posts, of: group)
    #expect(outcomes == [false, false, false])
  }

  @Test("If the storage rolls back the whole transaction, all its members fail")
  func lost() throws {
    try write(posts)
    writer.losesSubtransaction = true
    try write(notes, isAborted: true)
    #expect(outcomes == [false, false])
    #expect(told.errors.withLock { $0 } == 1)
    #expect(writer.notes.last == "rollback")
    writer.losesSubtransaction = false
    try write(posts, isFollowed: false)
    #expect(outcomes == [false, false, true])
  }

  @Test("An aborted first transaction leaves no storage transaction open")
  func abortedFirst() throws {
    try write(posts, isAborted: true)
    #expect(outcomes == [false])
    #expect(writer.notes == ["rollback"])
    #expect(try coordinator.read(posts) { _ in true } == nil)
  }

  @Test("Later transactions can read uncommitted changes until the commit")
  func uncommitted() throws {
    let group = try write(posts)
    #expect(try coordinator.read(posts) { $0 === group } == true)
    #expect(try coordinator.read(notes) { _ in true } == nil)
    end(posts, isFollowed: false)
    #expect(try coordinator.read(posts) { _ in true } == nil)
  }

  @Test("A slow follower does not delay the commit of earlier transactions")
  func alarm() throws {
    let impatient = WriteCoordinatorTests(longest: .milliseconds(1))
    try impatient.write(posts)
    // No further transaction ends, so the alarm closes the group.
    #expect(impatient.outcomes == [true])
  }

  @Test(
    "The write lease passes on in request order, and a group stays open for waiting transactions")
  func fairness() throws {
    let turn = try coordinator.acquireLease { writer }
    let order = Mutex<[Int]>([])
    let done = DispatchGroup()
    for number in 0..<6 {
      done.enter()
      // The coordinator guards what the block changes.
      nonisolated(unsafe) let test = self
      DispatchQueue(label: "waiter \(number)").async {
        defer { done.leave() }
        guard let turn = try? test.coordinator.acquireLease({ test.writer }) else { return }
        order.withLock { $0.append(number) }
        test.finish(
          test.coordinator.end(turn, test.member(test.notes, of: turn.group)), false)
      }
      let isWaiting = eventually { coordinator.waitingCount > number }
      #expect(isWaiting, "waiter \(number) does not wait")
    }
    finish(coordinator.end(turn, member(posts, of: turn.group)), false)
    done.expect("the write lease for all waiting transactions")
    #expect(order.withLock { $0 } == [0, 1, 2, 3, 4, 5])
    #expect(outcomes.count == 7)
    #expect(writer.notes.filter { $0 == "commit" }.count == 1)
  }

  @Test(
    "A transaction that must not wait gets the lease only if it is free and no group is open"
  )
  func atOnce() throws {
    let turn = try #require(try coordinator.acquireLeaseIfFree { writer })
    #expect(try coordinator.acquireLeaseIfFree { writer } == nil)
    #expect(!coordinator.isIdle)
    finish(coordinator.end(turn, member(posts, of: turn.group)), true)
    // The lease is free, but the group is open for followers.
    #expect(try coordinator.acquireLeaseIfFree { writer } == nil)
    end(posts, isFollowed: false)
    #expect(outcomes == [true, true])
    #expect(coordinator.isIdle)
    // A begin that is refused or fails changes nothing.
    #expect(try coordinator.acquireLeaseIfFree { nil } == nil)
    #expect(throws: TransactionError.self) {
      try coordinator.acquireLeaseIfFree { throw TransactionError.aborted }
    }
    #expect(coordinator.isIdle)
    #expect(writer.notes == ["commit"])
  }
}

extension Ticket.FollowUp {
  var isSettling: Bool { if case .settling = self { true } else { false } }
}
