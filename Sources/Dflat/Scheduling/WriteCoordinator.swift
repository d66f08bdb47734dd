// WriteCoordinator: the write lease and group commit.
//
// Invariants:
//
//  - One transaction at a time holds the write lease, from its first write to its end. Waiting
//    transactions get it in the order in which they asked for it.
//  - If the engine can have several write transactions, there are as many leases, each with a lane.
//    The transactions that hold them have no type in common, since those wait in queues. Only one
//    of them at a time writes dictionaries, which belong to all.
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

    mutating func add(_ other: Aftermath) {
      tickets += other.tickets
      errors += other.errors
    }
  }

  /// Lock order: the use of a lane before `state`.
  private let state: Mutex<CommitState>
  private let lanes: [WriteLane]
  /// Held while one thread takes all leases: two could not both get them.
  private let takingAll = Mutex(())
  /// The maximum time that a group stays open for later members.
  private let longest: DispatchTimeInterval
  private let alarms = DispatchQueue(label: "dflat.alarms")
  private let capabilities: EngineCapabilities
  let deliveries: TicketScheduler
  let settled: @Sendable (CommitMember) -> Void
  private let lost: @Sendable (TypeSet) -> Void
  private let hook: ErrorHook

  /// - Parameters:
  ///   - capabilities: What the engine can do.
  ///   - deliveries: Schedules the notification of members.
  ///   - longest: The maximum time that a group stays open for later members.
  ///   - settled: Called with each committed transaction, in commit order, before any delivery.
  ///   - lost: Called with the types of a failed group. Transactions may have read changes of these
  ///     types that will not be committed.
  ///   - hook: Receives the errors of commits that fail. Nothing is reported to it while the
  ///     storage transaction is used.
  init(
    capabilities: EngineCapabilities, deliveries: TicketScheduler,
    longest: DispatchTimeInterval = .milliseconds(10),
    settled: @escaping @Sendable (CommitMember) -> Void,
    lost: @escaping @Sendable (TypeSet) -> Void = { _ in },
    hook: ErrorHook
  ) {
    self.capabilities = capabilities
    lanes = hook.postponed.indices.map { WriteLane($0, hook) }
    state = Mutex(CommitState(lanes: lanes.count))
    assert(lanes.count == 1 || !capabilities.canNest, "an open group in each of several lanes")
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
  ///   - writesDictionaries: Whether dictionaries will be written.
  ///   - begin: Opens the storage transaction if none is open.
  func acquireLease(
    writingDictionaries writesDictionaries: Bool = false, _ begin: () throws -> any StorageWriter
  ) throws -> Lease {
    let (lane, open) = takeLease()
    // The storage transaction begins later, so it sees what the one before has written.
    if writesDictionaries { takeDictionaries(lane) }
    do {
      if let group = open {
        assert(capabilities.canNest, "a group of an engine that cannot nest was left open")
        let isAlive = try group.use {
          if group.writer.isAlive { try group.writer.beginSubtransaction() }
          return group.writer.isAlive
        }
        if isAlive { return Lease(group: group, hasSubtransaction: true) }
        // A read has failed in such a way that the storage rolled everything back.
        failGroup(group, StorageError.givenUp)
      }
      // This may wait for another process for long. No thread can use what is not open yet.
      return lease(of: lane, in: try begin())
    } catch {
      // There may be no other transaction that would close the group.
      passLease(lane, closing: state.withLock { $0.lanes[lane].group })
      throw error
    }
  }

  /// Waits until the holder of a lease may write dictionaries. It may until it returns the lease.
  func takeDictionaries(_ lease: Lease) { takeDictionaries(lease.group.lane.number) }

  private func takeDictionaries(_ lane: Int) {
    // The only lease is enough.
    if lanes.count > 1 { state.withLock { $0.takeDictionaries(lane) }?.wait() }
  }

  /// Takes the write lease without waiting.
  /// - Parameter begin: Opens the storage transaction; returns nil if it would have to wait.
  /// - Returns: nil if the lease is held, a group is open, or `begin` returned nil.
  func acquireLeaseIfFree(_ begin: () throws -> (any StorageWriter)?) throws -> Lease? {
    guard let lane = state.withLock({ $0.takeLeaseIfIdle() }) else { return nil }
    do {
      if let writer = try begin() { return lease(of: lane, in: writer) }
    } catch {
      passLease(lane)
      throw error
    }
    passLease(lane)
    return nil
  }

  private func lease(of lane: Int, in writer: any StorageWriter) -> Lease {
    let group = CommitGroup(writer, capabilities, in: lanes[lane], longest: longest)
    state.withLock { $0.lanes[lane].group = group }
    return Lease(group: group, hasSubtransaction: false)
  }

  /// Whether no transaction holds a write lease, and no group waits for its commit.
  var isIdle: Bool { state.withLock { $0.isIdle } }

  /// Calls `body` while no commit is in progress.
  func betweenCommits<R>(_ body: () throws -> R) throws -> R { try using(lanes[...], body) }

  private func using<R>(_ rest: ArraySlice<WriteLane>, _ body: () throws -> R) throws -> R {
    guard let lane = rest.first else { return try body() }
    return try lane.use { try using(rest.dropFirst(), body) }
  }

  /// The open group, if a member of it may have written one of these types.
  func written(_ types: TypeSet) -> CommitGroup? {
    state.withLock { state in
      state.group { !$0.types.isDisjoint(with: types) }
    }
  }

  /// Reads from the open group, if a member of it may have written one of these types.
  /// - Returns: nil if there is no such group.
  func read<R: ~Copyable>(
    _ types: TypeSet, _ body: (CommitGroup) throws -> R
  ) throws -> R? {
    guard let written = written(types) else { return nil }
    return try written.use {
      // It may have been closed before the lock was granted, or have ended with a failed read.
      written.isOpen && written.writer.isAlive ? try body(written) : nil
    }
  }

  /// Calls `body` while holding all write leases.
  func withLeases<R>(_ body: () throws -> R) rethrows -> R {
    let taken = takeAllLeases()
    // The transaction that left a group open has found the lease taken: nothing else closes it.
    defer { for (lane, open) in taken { passLease(lane, closing: open) } }
    return try body()
  }

  /// Calls `body` while holding all write leases and while no storage transaction is open.
  func withoutOpenGroup(_ body: () -> Void) {
    let taken = takeAllLeases()
    var aftermath = Aftermath()
    for (_, open) in taken { if let open { aftermath.add(settle(open)) } }
    // `body` may wait for a completion handler, unless the error hook must be told first.
    let isGood = aftermath.errors.isEmpty
    if isGood { startAll(aftermath.tickets) }
    body()
    for (lane, _) in taken { passLease(lane) }
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
      let number = lease?.group.lane.number
      let open =
        number.map { state.lanes[$0].group } ?? state.group { member.dependsOn($0) }
      if let group = open {
        // Also a member that has written nothing: later members must be notified after it.
        group.add(member)
        if lease != nil, commits || group.isDue { return (.settling, group) }
        rest = .settling
      } else {
        rest = deliver([member][...]).map { .delivery($0) } ?? .nothing
      }
      if let number { state.passLease(number) }
      return (rest, nil)
    }
    if let due { passLease(due.lane.number, closing: due) }
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
      guard let lane = state.lanes.firstIndex(where: \.isLeft), let group = state.lanes[lane].group
      else { return nil }
      // The following transaction checks the deadline after it has written. If it does not write,
      // the alarm closes the group.
      if isFollowed, !group.isFull, !isRinging || !group.isDue {
        setAlarm(&state)
        return nil
      }
      state.lanes[lane].isTaken = true
      return group
    }
    guard let group else { return }
    var aftermath = settle(group)
    passLease(group.lane.number)
    // No job waits for this thread, so it runs the last delivery itself.
    let first = isFollowed || !isLane ? nil : aftermath.tickets.popLast()
    complete(aftermath)
    if let first { deliveries.run(first) }
  }

  /// Commits a group. The caller holds the write lease.
  private func settle(_ group: CommitGroup) -> Aftermath {
    let (tickets, error) = group.use { () -> ([Ticket], (any Error)?) in
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

  /// Passes a lease, after committing the group that is still open.
  private func passLease(_ lane: Int, closing group: CommitGroup?) {
    let aftermath = group.map { settle($0) }
    passLease(lane)
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
      group.use {
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
      state.lanes[group.lane.number].group = nil
      if case .failed = outcome { lost(group.types) }
      return deliver(group.takeMembers())
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
      return state.lanes.contains(where: \.isLeft)
    }
    // A group that was opened since then sets its own alarm.
    if isLeft { settle(isFollowed: true, isRinging: true) }
  }

  // MARK: The write lease

  /// The number of transactions that wait for a write lease.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// The number of those that have one, and wait until they may write dictionaries.
  var waitingForDictionariesCount: Int { state.withLock { $0.waitingForDictionaries.count } }

  /// Waits for a lease.
  /// - Returns: Its lane, and the group that is open there.
  private func takeLease() -> (lane: Int, open: CommitGroup?) {
    let (lane, place) = state.withLock { state -> (Int, LeasePlace?) in
      if let lane = state.takeLease() { return (lane, nil) }
      let place = LeasePlace()
      state.waiting.append(place)
      return (-1, place)
    }
    let taken = place?.wait() ?? lane
    return (taken, state.withLock { $0.lanes[taken].group })
  }

  private func takeAllLeases() -> [(lane: Int, open: CommitGroup?)] {
    takingAll.withLock { _ in lanes.map { _ in takeLease() } }
  }

  private func passLease(_ lane: Int) { state.withLock { $0.passLease(lane) } }
}
