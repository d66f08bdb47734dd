// WriteCoordinator: write leases and group commit.
//
// Invariants:
//
//  - A transaction holds a write lease from its first write to its end. There are as many, each
//    with a slot, as the engine can have write transactions: mostly one. Waiting transactions get
//    them in the order in which they asked.
//  - The transactions that hold them have no type in common, since those wait in queues. One of
//    them at a time writes the tables that belong to all types, such as that of dictionaries, and
//    it has begun after the end of the one before. If it has begun already, that is a conflict: to
//    wait would be too late, and the server could not see whom it waits for.
//  - One thread at a time uses the storage transaction: the lease holder, or, while the holder does
//    not use it, a transaction that reads uncommitted changes of the types it names. If the engine
//    binds it to a thread, they have that thread make their calls: see `StorageTransactionSlot`.
//  - An aborted transaction is rolled back alone.
//  - Members are notified only after the commit, in transaction order. If the commit fails, or the
//    storage rolls back the whole storage transaction, every member that depends on it is notified
//    of the failure.
//  - The error hook hears why a group has failed on a thread that holds no lease. The deliveries of
//    the members that it concerns are held until it has heard it: see `deliver(_:)`.
//  - A group stays open only if a later transaction will close it: one that holds or waits for the
//    write lease, or one that follows in the same queues. If that one runs for long without
//    writing, an alarm closes the group. There is no other timer: if nothing waits, a transaction
//    is committed at once.

import Dispatch
import FlatBuffersRuntime
import Platform

final class WriteCoordinator: Sendable {
  /// A transaction's hold of the write lease.
  struct Lease {
    let group: CommitGroup
    /// Whether the group has earlier members. The transaction then runs in a subtransaction and can
    /// be rolled back alone.
    fileprivate let hasSubtransaction: Bool
  }

  /// Lock order: the use of a slot before `state`.
  private let state: Mutex<CommitState>
  let slots: [StorageTransactionSlot]
  /// Held while one thread takes all leases: two could not both get them.
  private let takingAll = Mutex(())
  /// The maximum time that a group stays open for later members.
  private let longest: DispatchTimeInterval
  private let alarms = DispatchQueue(label: "dflat.alarms")
  let capabilities: EngineCapabilities
  let deliveries: TicketScheduler
  let settled: @Sendable (CommitMember) -> Void
  private let lost: @Sendable (TypeSet) -> Void
  let hook: ErrorHook

  /// - Parameters:
  ///   - capabilities: What the engine can do.
  ///   - deliveries: Schedules the notification of members.
  ///   - longest: The maximum time that a group stays open for later members.
  ///   - settled: Called with each committed transaction, in commit order, before any delivery.
  ///   - lost: Called with the types of a failed group. Transactions may have read changes of these
  ///     types that will not be committed.
  ///   - hook: Receives the errors of commits that fail.
  init(
    capabilities: EngineCapabilities, deliveries: TicketScheduler,
    longest: DispatchTimeInterval = .milliseconds(10),
    settled: @escaping @Sendable (CommitMember) -> Void,
    lost: @escaping @Sendable (TypeSet) -> Void = { _ in },
    hook: ErrorHook
  ) {
    self.capabilities = capabilities
    slots = hook.postponed.indices.map {
      StorageTransactionSlot($0, hook, hasThread: capabilities.bindsWritersToThread)
    }
    state = Mutex(CommitState(slots: slots.count))
    precondition(
      slots.count == 1
        || slots.count > 1 && !capabilities.canNest
          && !capabilities.excludesOtherWriters,
      "an engine with several writers shares no commits, and excludes no other writers")
    self.deliveries = deliveries
    self.longest = longest
    self.settled = settled
    self.lost = lost
    self.hook = hook
  }

  // MARK: Leases

  /// Waits for the write lease.
  ///
  /// - Parameters:
  ///   - writesShared: Whether the tables of all types may be written.
  ///   - joins: Whether the transaction may join an open group. If not, that is committed before.
  ///   - beforeWaiting: Called before this waits for other transactions, and before the group of
  ///     one is joined.
  ///   - begin: Opens the storage transaction if none is open.
  func acquireLease(
    writingShared writesShared: Bool = false, joining joins: Bool = true,
    beforeWaiting: () -> Void = {}, _ begin: () throws -> any StorageWriter
  ) throws -> Lease {
    let (slot, open) = takeLeaseToJoin(mayJoin: joins, beforeWaiting)
    // The only lease is enough.
    if writesShared, slots.count > 1, let waiter = state.withLock({ $0.takeShared(slot) }) {
      beforeWaiting()
      waiter.wait()
    }
    do {
      if let group = open {
        beforeWaiting()
        assert(capabilities.canNest, "a group of an engine that cannot nest was left open")
        let isAlive = try group.use {
          if group.writer.isAlive { try group.writer.beginSubtransaction() }
          return group.writer.isAlive
        }
        if isAlive { return Lease(group: group, hasSubtransaction: true) }
        // A read has failed in such a way that the storage rolled everything back.
        startAll(failGroup(group, StorageError.givenUp, reporting: StorageError.givenUp))
      }
      // This may wait for another process for long. No thread can use what is not open yet.
      let count = sharedCount
      let group = try slots[slot].callAlone { try self.group(in: slot, of: begin(), count) }
      return lease(of: slot, in: group)
    } catch {
      // There may be no other transaction that would close the group.
      passLease(slot, closing: state.withLock { $0.slots[slot].group })
      throw error
    }
  }

  /// How many transactions that might write the tables of all types have ended, if there can be
  /// several at once.
  var sharedCount: Int { slots.count == 1 ? 0 : state.withLock { $0.sharedCount } }

  /// Lets the holder of a lease write the tables of all types.
  /// - Parameter count: `sharedCount` before the state that the transaction reads.
  /// - Throws: `StorageError` with `.conflict` if another transaction has written them since.
  func takeShared(_ lease: Lease, since count: Int) throws {
    if slots.count == 1 { return }
    if !state.withLock({ $0.takeShared(lease.group.slot.number, since: count) }) {
      throw StorageError(
        .conflict,
        message: "another transaction of the workspace changes a dictionary at the same time"
      ).withinWorkspace()
    }
  }

  /// Takes the write lease without waiting.
  /// - Parameter begin: Opens the storage transaction; returns nil if it would have to wait.
  /// - Returns: nil if the lease is held, a group is open, or `begin` returned nil.
  func acquireLeaseIfFree(_ begin: () throws -> (any StorageWriter)?) throws -> Lease? {
    guard let slot = state.withLock({ $0.takeLeaseIfIdle() }) else { return nil }
    do {
      let count = sharedCount
      let group = try slots[slot].callAlone {
        try begin().map { self.group(in: slot, of: $0, count) }
      }
      if let group { return lease(of: slot, in: group) }
    } catch {
      passLease(slot)
      throw error
    }
    passLease(slot)
    return nil
  }

  private func group(
    in slot: Int, of writer: any StorageWriter, _ sharedCount: Int
  ) -> CommitGroup {
    CommitGroup(writer, capabilities, in: slots[slot], sharedCount: sharedCount, longest: longest)
  }

  private func lease(of slot: Int, in group: CommitGroup) -> Lease {
    state.withLock { $0.slots[slot].group = group }
    return Lease(group: group, hasSubtransaction: false)
  }

  /// Whether no transaction holds a write lease, and no group waits for its commit.
  var isIdle: Bool { state.withLock { $0.isIdle } }

  /// The open group, if a member of it may have written one of these types.
  func written(_ types: TypeSet) -> CommitGroup? {
    state.withLock { state in
      state.group { !$0.types.isDisjoint(with: types) }
    }
  }

  /// Calls `body` while holding all write leases.
  func withLeases<R>(_ body: () throws -> R) rethrows -> R {
    let taken = takeAllLeases()
    // The transaction that left a group open has found the lease taken: nothing else closes it.
    defer { for (slot, open) in taken { passLease(slot, closing: open) } }
    return try body()
  }

  /// Calls `body` while holding all write leases and while no storage transaction is open.
  func withoutOpenGroup(_ body: () -> Void) {
    let taken = takeAllLeases()
    // `body` may wait for a completion handler.
    for (_, open) in taken { if let open { startAll(settle(open)) } }
    body()
    for (slot, _) in taken { passLease(slot) }
  }

  /// Ends a transaction and returns its lease if it holds one. Its group stays open for later
  /// members.
  /// - Parameter commits: Whether the group is committed before this returns.
  func end(_ lease: Lease?, _ member: CommitMember, commits: Bool = false) -> Ticket.FollowUp {
    if let lease, let tickets = close(lease, member) {
      passLease(lease.group.slot.number)
      startAll(tickets)
      return .nothing
    }
    let (rest, due) = state.withLock { state -> (Ticket.FollowUp, CommitGroup?) in
      let rest: Ticket.FollowUp
      let number = lease?.group.slot.number
      let open =
        number.map { state.slots[$0].group } ?? state.group { member.dependsOn($0) }
      if let group = open {
        // Also a member that has written nothing: later members must be notified after it.
        group.add(member)
        if lease != nil, commits || group.isDue { return (.settling, group) }
        rest = .settling
      } else {
        rest = deliver(member).map { .delivery($0) } ?? .nothing
      }
      if let number { state.passLease(number) }
      return (rest, nil)
    }
    if let due { passLease(due.slot.number, closing: due) }
    return rest
  }

  /// Keeps or rolls back what was written under a lease.
  /// - Returns: The deliveries that are ready if the whole group has failed, of which this is the
  ///   last member; nil if it has not.
  private func close(_ lease: Lease, _ member: CommitMember) -> Few<Ticket>? {
    let group = lease.group
    let reason = member.failure
    let keeping = reason == nil
    do {
      let isAlive = try group.use {
        guard group.writer.isAlive else { return false }
        if lease.hasSubtransaction {
          try group.writer.endSubtransaction(keeping: keeping)
        }
        return true
      }
      if isAlive, keeping || lease.hasSubtransaction { return nil }
      // After a conflict the other members may run again, too.
      let isConflict = (reason as? StorageError)?.cause == .conflict
      let failure = (isAlive || isConflict ? reason : nil) ?? StorageError.givenUp
      // What the storage has thrown in this member is why it rolled back the others.
      let cause = reason as? StorageError
      let isReported = cause != nil && member.hasReportedFailure
      return failGroup(
        group, failure, reporting: isReported ? nil : cause ?? failure, endingWith: member)
    } catch {
      return failGroup(group, error, reporting: error, endingWith: member)
    }
  }

  // MARK: The end of a group

  /// Closes the group that a transaction left open, unless a later transaction will. Called after
  /// the transaction has left its queues.
  /// - Parameters:
  ///   - isFollowed: Whether another job follows in its queues.
  ///   - isJobQueue: Whether this thread may call the program's handlers if no other job waits for
  ///     it.
  ///   - isRinging: Whether the alarm is the caller.
  func settle(isFollowed: Bool, isJobQueue: Bool = true, isRinging: Bool = false) {
    let group = state.withLock { state -> CommitGroup? in
      // The lease holder calls this, too.
      guard let slot = state.slots.firstIndex(where: \.isLeft), let group = state.slots[slot].group
      else { return nil }
      // The following transaction checks the deadline after it has written. If it does not write,
      // the alarm closes the group.
      if isFollowed, !group.isFull, !isRinging || !group.isDue {
        setAlarm(&state)
        return nil
      }
      state.takeLeftLease(slot)
      return group
    }
    guard let group else { return }
    var tickets = settle(group)
    passLease(group.slot.number)
    // No job waits for this thread, so it runs the last delivery itself.
    let first = isFollowed || !isJobQueue ? nil : tickets.popLast()
    startAll(tickets)
    if let first { deliveries.run(first) }
  }

  /// Commits a group. The caller holds the write lease.
  /// - Returns: The deliveries that are ready.
  private func settle(_ group: CommitGroup) -> Few<Ticket> {
    group.use {
      do {
        try group.commit { try checkCancellation(of: group) }
        return dissolve(group, .committed)
      } catch is CancellationError {
        return dissolve(group, .failed(CancellationError(), unreported: nil))
      } catch {
        return dissolve(group, .failed(error, unreported: error, isCommit: true))
      }
    }
  }

  /// Throws if the tasks that await the members of a group were cancelled, and no other transaction
  /// can have read what they have written.
  private func checkCancellation(of group: CommitGroup) throws {
    if capabilities.excludesOtherWriters { return }
    let areCancelled = state.withLock { _ in
      !group.members.isEmpty && group.members.allSatisfy { $0.isCancelled }
    }
    if areCancelled { throw CancellationError() }
  }

  /// Passes a lease, after committing the group that is still open.
  private func passLease(_ slot: Int, closing group: CommitGroup?) {
    let tickets = group.map { settle($0) }
    passLease(slot)
    if let tickets { startAll(tickets) }
  }

  /// Fails a group whose changes the storage has rolled back or must roll back.
  /// - Parameters:
  ///   - error: What its members get.
  ///   - reason: What the error hook hears; nil if it has heard it.
  ///   - last: The member that has just ended, if one has.
  /// - Returns: The deliveries that are ready.
  private func failGroup(
    _ group: CommitGroup, _ error: any Error, reporting reason: (any Error)?,
    endingWith last: CommitMember? = nil
  ) -> Few<Ticket> {
    group.use {
      group.writer.rollback()
      return dissolve(group, .failed(error, unreported: reason), endingWith: last)
    }
  }

  /// Closes a group and enqueues its deliveries. This happens under the lock, so deliveries are in
  /// commit order, and before any other thread can use the storage transaction, so its next user
  /// knows of every commit.
  private func dissolve(
    _ group: CommitGroup, _ outcome: CommitGroup.Outcome, endingWith last: CommitMember? = nil
  ) -> Few<Ticket> {
    state.withLock { state in
      group.outcome = outcome
      state.slots[group.slot.number].group = nil
      if case .failed = outcome { lost(group.types) }
      var members = group.takeMembers()
      if let last { members.append(last) }
      return deliver(members)
    }
  }

  // MARK: The alarm

  private func setAlarm(_ state: inout CommitState) {
    if state.hasAlarm { return }
    state.hasAlarm = true
    // A strong reference, held briefly. A weak one would slow down reference counting of the
    // coordinator for the rest of its life.
    alarms.asyncAfter(deadline: .now() + longest) { self.ring() }
  }

  private func ring() {
    let isLeft = state.withLock { state in
      state.hasAlarm = false
      return state.slots.contains(where: \.isLeft)
    }
    // A group that was opened since then sets its own alarm.
    if isLeft { settle(isFollowed: true, isRinging: true) }
  }

  // MARK: The write lease

  /// The number of transactions that wait for a write lease.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// The number of those that have one, and wait until they may write the tables of all types.
  var waitingForSharedCount: Int { state.withLock { $0.waitingForShared.count } }

  /// Waits for a lease.
  /// - Parameter beforeWaiting: Called if it has to wait.
  /// - Returns: Its slot, and the group that is open there.
  private func takeLease(
    _ beforeWaiting: () -> Void = {}
  ) -> (slot: Int, open: CommitGroup?) {
    let taken: Int
    switch state.withLock({ $0.takeOrAwaitLease() }) {
    case .taken(let slot): taken = slot
    case .waiting(let waiter):
      beforeWaiting()
      taken = waiter.wait()
    }
    return (taken, state.withLock { $0.slots[taken].group })
  }

  /// Waits for a lease, with an open group only if that may have one more member.
  private func takeLeaseToJoin(
    mayJoin: Bool, _ beforeWaiting: () -> Void
  ) -> (slot: Int, open: CommitGroup?) {
    let (slot, open) = takeLease(beforeWaiting)
    guard let open, !mayJoin || !open.writer.mayBeJoined else { return (slot, open) }
    beforeWaiting()
    startAll(settle(open))
    return (slot, nil)
  }

  private func takeAllLeases() -> [(slot: Int, open: CommitGroup?)] {
    takingAll.withLock { _ in slots.map { _ in takeLease() } }
  }

  private func passLease(_ slot: Int) { state.withLock { $0.passLease(slot) } }
}
