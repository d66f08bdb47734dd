// WriteCoordinator: the write lease and group commit.
//
// Invariants:
//
//  - One transaction at a time holds the write lease, from its first write to its end. Waiting
//    transactions get it in the order in which they asked for it.
//  - One thread at a time uses the storage transaction: the lease holder, or, while the holder does
//    not use it, a transaction that reads uncommitted changes of the types it names.
//  - An aborted transaction is rolled back alone.
//  - Members are notified only after the commit, in transaction order. If the commit fails, or the
//    storage rolls back the whole storage transaction, every member that depends on it is notified
//    of the failure.
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

  /// What remains to be done without the lease, after groups were closed.
  private struct Aftermath {
    /// The deliveries that are ready to run.
    var tickets: [Ticket] = []
    var errors: [any Error] = []
  }

  private let state = Mutex(CommitState())
  /// Encodes rows. Used by the holder of the write lease, while it uses the storage transaction.
  private let builder = Confined(FlatBufferBuilder())
  /// Held while the storage transaction is used. Lock order: `usage` before `state`.
  private let usage = Mutex(())
  /// The maximum time that a group stays open for later members.
  private let longest: DispatchTimeInterval
  private let alarms = DispatchQueue(label: "dflat.alarms")
  private let capabilities: EngineCapabilities
  private let deliveries: TicketScheduler
  private let settled: @Sendable (CommitMember) -> Void
  private let lost: @Sendable (TypeSet) -> Void
  private let hook: ErrorHook

  /// - Parameters:
  ///   - capabilities: What the engine can do.
  ///   - deliveries: Schedules the notification of members.
  ///   - longest: The maximum time that a group stays open for later members.
  ///   - settled: Called with each committed transaction, in commit order, before any delivery.
  ///   - lost: Called with the types of a failed group. Transactions may have read changes of these
  ///     types that will not be committed.
  ///   - hook: Receives the errors of commits that fail. Nothing is reported to it while the storage
  ///     transaction is used.
  init(
    capabilities: EngineCapabilities, deliveries: TicketScheduler,
    longest: DispatchTimeInterval = .milliseconds(10),
    settled: @escaping @Sendable (CommitMember) -> Void,
    lost: @escaping @Sendable (TypeSet) -> Void = { _ in },
    hook: ErrorHook
  ) {
    self.capabilities = capabilities
    self.deliveries = deliveries
    self.longest = longest
    self.settled = settled
    self.lost = lost
    self.hook = hook
  }

  // MARK: Leases

  /// Waits for the write lease.
  /// - Parameter begin: Opens the storage transaction if none is open.
  func acquireLease(_ begin: () throws -> any StorageWriter) throws -> Lease {
    let open = takeLease()
    do {
      if let group = open {
        assert(capabilities.canNest, "a group of an engine that cannot nest was left open")
        let isAlive = try use {
          if group.writer.isAlive { try group.writer.beginSubtransaction() }
          return group.writer.isAlive
        }
        if isAlive { return Lease(group: group, hasSubtransaction: true) }
        // A read has failed in such a way that the storage rolled everything back.
        failGroup(group, StorageError.givenUp)
      }
      // This may wait for another process for long. No thread can use what is not open yet.
      return lease(in: try begin())
    } catch {
      // There may be no other transaction that would close the group.
      passLease(closing: state.withLock { $0.group })
      throw error
    }
  }

  /// Takes the write lease without waiting.
  /// - Parameter begin: Opens the storage transaction; returns nil if it would have to wait.
  /// - Returns: nil if the lease is held, a group is open, or `begin` returned nil.
  func acquireLeaseIfFree(_ begin: () throws -> (any StorageWriter)?) throws -> Lease? {
    guard takeLeaseIfIdle() else { return nil }
    do {
      if let writer = try begin() { return lease(in: writer) }
    } catch {
      passLease()
      throw error
    }
    passLease()
    return nil
  }

  private func lease(in writer: any StorageWriter) -> Lease {
    let group = CommitGroup(writer, capabilities, longest: longest)
    state.withLock { $0.group = group }
    return Lease(group: group, hasSubtransaction: false)
  }

  /// Whether the write lease is free, and no group waits for its commit.
  var isIdle: Bool { state.withLock { $0.isIdle } }

  /// Uses the storage transaction, as the lease holder or for a short read.
  @inline(__always)
  func use<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    // The lock guards what `body` uses; its result belongs to the caller.
    var result: Result<R, E>?
    var reports: [any Error] = []
    usage.withLock { _ in
      hook.postpone()
      result = Result(catching: body)
      reports = hook.endPostponing()
    }
    for error in reports { hook.report(error) }
    guard let result else { preconditionFailure("a lock did not run its closure") }
    return try result.get()
  }

  /// Uses the storage transaction, as the lease holder, with an empty builder to encode rows.
  @inline(__always)
  func useEncoding<R>(_ body: (FlatBufferBuilder) throws -> R) throws -> R {
    try use {
      try builder.withValue { builder in
        defer { builder.reset() }
        return try body(builder)
      }
    }
  }

  /// The open group, if a member of it may have written one of these types.
  func written(_ types: TypeSet) -> CommitGroup? {
    state.withLock { state in
      state.group.flatMap { $0.types.isDisjoint(with: types) ? nil : $0 }
    }
  }

  /// Reads from the open group, if a member of it may have written one of these types.
  /// - Returns: nil if there is no such group.
  func read<R: ~Copyable>(
    _ types: TypeSet, _ body: (CommitGroup) throws -> R
  ) throws -> R? {
    guard let written = written(types) else { return nil }
    return try use {
      // It may have been closed before the lock was granted, or have ended with a failed read.
      written.isOpen && written.writer.isAlive ? try body(written) : nil
    }
  }

  /// Calls `body` while holding the write lease.
  func withLease<R>(_ body: () throws -> R) rethrows -> R {
    let open = takeLease()
    // The transaction that left the group open has found the lease taken: nothing else closes it.
    defer { passLease(closing: open) }
    return try body()
  }

  /// Calls `body` while holding the write lease and while no storage transaction is open.
  func withoutOpenGroup(_ body: () -> Void) {
    let aftermath = takeLease().map { settle($0) } ?? Aftermath()
    // `body` may wait for a completion handler, unless the error hook must be told first.
    let isGood = aftermath.errors.isEmpty
    if isGood { startAll(aftermath.tickets) }
    body()
    passLease()
    if !isGood { complete(aftermath) }
  }

  /// Ends a transaction and returns its lease if it holds one. Its group stays open for later
  /// members.
  /// - Parameter commits: Whether the group is committed before this returns.
  func end(_ lease: Lease?, _ member: CommitMember, commits: Bool = false) -> Ticket.FollowUp {
    var errors: [any Error] = []
    if let lease, let error = close(lease, member.failure, &errors) {
      member.failure = member.failure ?? error
    }
    let (rest, due) = state.withLock { state -> (Ticket.FollowUp, CommitGroup?) in
      let rest: Ticket.FollowUp
      if let group = state.group, lease != nil || member.dependsOn(group) {
        // Also a member that has written nothing: later members must be notified after it.
        group.add(member)
        if lease != nil, commits || group.isDue { return (.settling, group) }
        rest = .settling
      } else {
        rest = deliver([member][...]).map { .delivery($0) } ?? .nothing
      }
      if lease != nil { state.passLease() }
      return (rest, nil)
    }
    if let due { passLease(closing: due) }
    for error in errors { hook.report(error) }
    return rest
  }

  /// Keeps or rolls back what was written under a lease.
  /// - Parameter errors: Receives what is to be reported without the lease.
  /// - Returns: Why the whole group has failed; nil if it has not.
  private func close(
    _ lease: Lease, _ reason: (any Error)?, _ errors: inout [any Error]
  ) -> (any Error)? {
    let group = lease.group
    let keeping = reason == nil
    do {
      let isAlive = try use {
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
      failGroup(group, failure)
      return failure
    } catch {
      errors.append(error)
      failGroup(group, error)
      return error
    }
  }

  // MARK: The end of a group

  /// Closes the group that a transaction left open, unless a later transaction will. Called after
  /// the transaction has left its queues.
  /// - Parameters:
  ///   - isFollowed: Whether another job follows in its queues.
  ///   - isLane: Whether this thread may call the program's handlers if no other job waits for it.
  ///   - isRinging: Whether the alarm is the caller.
  func settle(isFollowed: Bool, isLane: Bool = true, isRinging: Bool = false) {
    let group = state.withLock { state -> CommitGroup? in
      // The lease holder calls this, too.
      guard let group = state.group, !state.isTaken else { return nil }
      // The following transaction checks the deadline after it has written. If it does not write,
      // the alarm closes the group.
      if isFollowed, !group.isFull, !isRinging || !group.isDue {
        setAlarm(&state)
        return nil
      }
      state.isTaken = true
      return group
    }
    guard let group else { return }
    var aftermath = settle(group)
    passLease()
    // No job waits for this thread, so it runs the last delivery itself.
    let first = isFollowed || !isLane ? nil : aftermath.tickets.popLast()
    complete(aftermath)
    if let first { deliveries.run(first) }
  }

  /// Commits a group. The caller holds the write lease.
  private func settle(_ group: CommitGroup) -> Aftermath {
    let (tickets, error) = use { () -> ([Ticket], (any Error)?) in
      do {
        try group.commit()
        return (dissolve(group, .committed), nil)
      } catch {
        let isConflict = (error as? StorageError)?.cause == .conflict
        let isReported =
          !isConflict || state.withLock { _ in group.members.contains { $0.isEndedByConflict } }
        return (dissolve(group, .failed(error)), isReported ? error : nil)
      }
    }
    return Aftermath(tickets: tickets, errors: error.map { [$0] } ?? [])
  }

  /// Passes the lease, after committing the group that is still open.
  private func passLease(closing group: CommitGroup?) {
    let aftermath = group.map { settle($0) }
    passLease()
    if let aftermath { complete(aftermath) }
  }

  /// The error hook is told before the completion handlers. It may wait for other transactions, so
  /// this thread has passed the lease.
  private func complete(_ aftermath: Aftermath) {
    for error in aftermath.errors { hook.report(error) }
    startAll(aftermath.tickets)
  }

  /// Fails a group whose changes the storage has rolled back or must roll back.
  private func failGroup(_ group: CommitGroup, _ error: any Error) {
    startAll(
      use {
        group.writer.rollback()
        return dissolve(group, .failed(error))
      })
  }

  /// Closes a group and enqueues its deliveries. This happens under the lock, so deliveries are in
  /// commit order, and before any other thread can use the storage transaction, so its next user
  /// knows of every commit.
  private func dissolve(_ group: CommitGroup, _ outcome: CommitGroup.Outcome) -> [Ticket] {
    state.withLock { state in
      group.outcome = outcome
      state.group = nil
      if case .failed = outcome { lost(group.types) }
      return deliver(group.takeMembers())
    }
  }

  /// Enqueues the deliveries. Consecutive members with the same types share one delivery: no other
  /// delivery could come between them.
  private func deliver(_ members: [CommitMember]) -> [Ticket] {
    var tickets: [Ticket] = []
    var rest = members[...]
    while let types = rest.first?.types {
      let run = rest.prefix { $0.types == types }
      rest = rest[run.endIndex...]
      if let ticket = deliver(run) { tickets.append(ticket) }
    }
    return tickets
  }

  /// - Parameter run: Members of the same types.
  private func deliver(_ run: ArraySlice<CommitMember>) -> Ticket? {
    guard let types = run.first?.types else { return nil }
    for member in run where member.outcome == nil { settled(member) }
    let job: Ticket.Job = {
      for member in run { member.notify(member.outcome) }
      return .nothing
    }
    let callsProgram = run.contains { $0.callsProgram }
    return deliveries.place(types, callsProgram ? .job(job) : .notice(job))
  }

  private func startAll(_ tickets: [Ticket]) {
    for ticket in tickets { deliveries.start(ticket) }
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
      return state.group != nil && !state.isTaken
    }
    // A group that was opened since then sets its own alarm.
    if isLeft { settle(isFollowed: true, isRinging: true) }
  }

  // MARK: The write lease

  /// The number of transactions that wait for the write lease.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// - Returns: The open group.
  private func takeLease() -> CommitGroup? {
    let (place, group) = state.withLock { state -> (DispatchSemaphore?, CommitGroup?) in
      if !state.isTaken {
        state.isTaken = true
        return (nil, state.group)
      }
      let place = DispatchSemaphore(value: 0)
      state.waiting.append(place)
      return (place, nil)
    }
    guard let place else { return group }
    place.wait()
    return state.withLock { $0.group }
  }

  private func takeLeaseIfIdle() -> Bool { state.withLock { $0.takeLeaseIfIdle() } }

  private func passLease() { state.withLock { $0.passLease() } }
}
