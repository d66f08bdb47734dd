// Committer: the right to write, and commits that are shared.
//
// It keeps true:
//
//  - one transaction has the right to write at a time, from its first write to its end; who waits for it gets it in the order
//    of asking;
//  - the storage's transaction is used by one thread at a time: by who has the right to write, and, between those uses, by
//    transactions that read what was written before them and is not committed yet;
//  - an aborted transaction is undone alone;
//  - nobody is told anything before the commit, and then everybody in the order of the transactions. If it fails, or the
//    storage has given the whole up, everybody who depends on it is told so;
//  - whoever leaves a group open has somebody behind it who will close it: one who has, or waits for, the right to write, or
//    one who follows in its lines. Should that one take long without writing, an alarm closes the group. There is no other
//    timer: when nobody waits, a transaction is committed at once.

import Dispatch
import FlatBuffersRuntime
import Platform

final class Committer: Sendable {
  /// A transaction's turn to write.
  struct Turn {
    let group: CommitGroup
    /// Whether it stands behind others in the group, and can be undone alone.
    fileprivate let hasSubtransaction: Bool
  }

  /// Unchecked: used under the lock only.
  private struct State: @unchecked Sendable {
    /// Whether somebody has the right to write.
    var isTaken = false
    /// Who waits for it; it is theirs when they are signalled.
    var waiting = Fifo<DispatchSemaphore>()
    /// The group that is open, or about to be committed by who has the right.
    var group: CommitGroup?
    var hasAlarm = false

    var isIdle: Bool { !isTaken && group == nil }

    /// Gives the right to who has waited longest, if anybody does.
    mutating func passRight() {
      if let next = waiting.popFirst() { next.signal() } else { isTaken = false }
    }
  }

  /// Unchecked: used by who has the right to write.
  private struct Encoding: @unchecked Sendable {
    let builder = FlatBufferBuilder()
  }

  private let state = Mutex(State())
  private let encoding = Encoding()
  /// Held while the storage's transaction is used. Taken before `state`, if both are.
  private let usage = Mutex(())
  /// How long a group waits for those who follow.
  private let longest: DispatchTimeInterval
  private let alarms = DispatchQueue(label: "dflat.alarms")
  private let capabilities: EngineCapabilities
  private let deliveries: TicketScheduler
  private let settled: @Sendable (CommitMember) -> Void
  private let lost: @Sendable (TypeSet) -> Void
  private let failed: @Sendable (any Error) -> Void

  /// - Parameters:
  ///   - capabilities: What the engine can do.
  ///   - deliveries: Where transactions are told how they ended.
  ///   - longest: How long a group stays open for others at most.
  ///   - settled: Called with each transaction that is committed, in their order, before anybody is told.
  ///   - lost: Called with the types of which something may have been read that will not be committed.
  ///   - failed: Called if a commit fails.
  init(
    capabilities: EngineCapabilities, deliveries: TicketScheduler, longest: DispatchTimeInterval = .milliseconds(10),
    settled: @escaping @Sendable (CommitMember) -> Void,
    lost: @escaping @Sendable (TypeSet) -> Void = { _ in },
    failed: @escaping @Sendable (any Error) -> Void
  ) {
    self.capabilities = capabilities
    self.deliveries = deliveries
    self.longest = longest
    self.settled = settled
    self.lost = lost
    self.failed = failed
  }

  // MARK: Turns

  /// What rows are encoded with, one after another. For who has the right to write.
  var builder: FlatBufferBuilder { encoding.builder }

  /// Waits for the right to write.
  /// - Parameter begin: Opens the storage's transaction, if none is open.
  func beginTurn(_ begin: () throws -> any StorageWriter) throws -> Turn {
    let open = takeRight()
    do {
      if let group = open {
        try use { try group.writer.beginSubtransaction() }
        return Turn(group: group, hasSubtransaction: true)
      }
      return turn(in: try use(begin))
    } catch {
      // Nobody else may be there to close it.
      let tickets = state.withLock({ $0.group }).map { settle($0) } ?? []
      passRight()
      startAll(tickets)
      throw error
    }
  }

  /// The same for who must not wait.
  /// - Parameter begin: As above; nil if it would wait.
  /// - Returns: nil if a transaction has the write lease, or a group is open, or `begin` gave
  ///   nothing.
  func beginTurnAtOnce(_ begin: () throws -> (any StorageWriter)?) throws -> Turn? {
    guard takeRightIfIdle() else { return nil }
    do {
      if let writer = try use(begin) { return turn(in: writer) }
    } catch {
      passRight()
      throw error
    }
    passRight()
    return nil
  }

  private func turn(in writer: any StorageWriter) -> Turn {
    let group = CommitGroup(writer, capabilities, longest: longest)
    state.withLock { $0.group = group }
    return Turn(group: group, hasSubtransaction: false)
  }

  /// Whether the write lease is free, and no group waits for its commit.
  var isIdle: Bool { state.withLock { $0.isIdle } }

  /// Uses the storage's transaction. During a turn, or for a moment.
  @inline(__always)
  func use<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    // The lock guards what `body` uses; what it gives is the caller's.
    var result: Result<R, E>?
    usage.withLock { _ in result = Result(catching: body) }
    guard let result else { preconditionFailure("a lock did not run what it was given") }
    return try result.get()
  }

  /// The transaction that is open, if somebody who has ended may have written one of these types into it.
  func written(_ types: TypeSet) -> CommitGroup? {
    state.withLock { state in
      state.group.flatMap { $0.types.isDisjoint(with: types) ? nil : $0 }
    }
  }

  /// Uses the transaction that is open, if somebody who has ended may have written one of these types into it.
  /// - Returns: nil if there is none.
  func read<R: ~Copyable>(
    _ types: TypeSet, _ body: (CommitGroup) throws -> R
  ) throws -> R? {
    guard let written = written(types) else { return nil }
    return try use {
      // It may have been closed before the lock was granted.
      written.isOpen ? try body(written) : nil
    }
  }

  /// Calls `body` while nobody can begin a turn.
  func betweenTurns<R>(_ body: () throws -> R) rethrows -> R {
    _ = takeRight()
    defer { passRight() }
    return try body()
  }

  /// Calls `body` while nobody can begin a turn, and no transaction of the storage is open.
  func betweenGroups(_ body: () -> Void) {
    if let group = takeRight() { startAll(settle(group)) }
    body()
    passRight()
  }

  /// Ends a transaction, and its turn if it has had one. A group that it belongs to stays open for those who follow.
  /// - Parameter commits: Whether the turn's group is committed before this returns.
  func end(_ turn: Turn?, _ member: CommitMember, commits: Bool = false) -> Ticket.Rest {
    if let turn, let error = close(turn, member.failure) {
      member.failure = member.failure ?? error
    }
    let (rest, due) = state.withLock { state -> (Ticket.Rest, CommitGroup?) in
      let rest: Ticket.Rest
      if let group = state.group, turn != nil || member.dependsOn(group) {
        // Also if it has written nothing: those behind it are told after it.
        group.add(member)
        if turn != nil, commits || group.isDue { return (.settling, group) }
        rest = .settling
      } else {
        rest = deliver([member][...]).map { .delivery($0) } ?? .nothing
      }
      if turn != nil { state.passRight() }
      return (rest, nil)
    }
    if let due {
      let tickets = settle(due)
      passRight()
      startAll(tickets)
    }
    return rest
  }

  /// Keeps or undoes what was written in a turn.
  /// - Returns: Why the group is lost, if it is.
  private func close(_ turn: Turn, _ reason: (any Error)?) -> (any Error)? {
    let group = turn.group
    let keeping = reason == nil
    do {
      let isAlive = try use {
        guard group.writer.isAlive else { return false }
        if turn.hasSubtransaction {
          try group.writer.endSubtransaction(keeping: keeping)
        }
        return true
      }
      if isAlive, keeping || turn.hasSubtransaction { return nil }
      let failure = (isAlive ? reason : nil) ?? StorageError.givenUp
      lose(group, failure)
      return failure
    } catch {
      failed(error)
      lose(group, error)
      return error
    }
  }

  // MARK: The end of a group

  /// Closes the group that a transaction has left open, unless somebody else will. Called when it has left its lines.
  /// - Parameters:
  ///   - isFollowed: Whether somebody stands behind it in its lines.
  ///   - isLane: Whether this thread may call the program's handlers, if nobody waits for it.
  ///   - isRinging: Whether it is the alarm that calls.
  func settle(isFollowed: Bool, isLane: Bool = true, isRinging: Bool = false) {
    let group = state.withLock { state -> CommitGroup? in
      // Who has the right comes here, too.
      guard let group = state.group, !state.isTaken else { return nil }
      // Who follows looks at the clock when he has written; if he does not write, the alarm rings.
      if isFollowed, !group.isFull, !isRinging || !group.isDue {
        setAlarm(&state)
        return nil
      }
      state.isTaken = true
      return group
    }
    guard let group else { return }
    var tickets = settle(group)
    passRight()
    // Nobody waits for this thread: it tells the first one itself.
    let first = isFollowed || !isLane ? nil : tickets.popLast()
    startAll(tickets)
    if let first { deliveries.run(first) }
  }

  /// Commits a group. The caller has the right to write.
  /// - Returns: The deliveries that can begin.
  private func settle(_ group: CommitGroup) -> [Ticket] {
    let (tickets, error) = use { () -> ([Ticket], (any Error)?) in
      do {
        try group.commit()
        return (dissolve(group, .committed), nil)
      } catch {
        return (dissolve(group, .failed(error)), error)
      }
    }
    if let error { failed(error) }
    return tickets
  }

  /// Ends a group whose changes the storage has given up, or is to give up.
  private func lose(_ group: CommitGroup, _ error: any Error) {
    startAll(
      use {
        group.writer.rollback()
        return dissolve(group, .failed(error))
      })
  }

  /// Tickets are made under the lock, so that they are in the order of the commits; and before anybody else can use the
  /// storage's transaction, so that who uses it knows of every commit.
  private func dissolve(_ group: CommitGroup, _ outcome: CommitGroup.Outcome) -> [Ticket] {
    state.withLock { state in
      group.outcome = outcome
      state.group = nil
      if case .failed = outcome { lost(group.types) }
      return deliver(group.takeMembers())
    }
  }

  /// Members that stand in the same lines, one behind the other, are told by one delivery: others could not come between them.
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
      for member in run { member.tell(member.outcome) }
      return .nothing
    }
    let callsProgram = run.contains { $0.callsProgram }
    return deliveries.place(types, callsProgram ? .job(job) : .notice(job))
  }

  private func startAll(_ tickets: [Ticket]) {
    for ticket in tickets { deliveries.start(ticket) }
  }

  // MARK: The alarm

  private func setAlarm(_ state: inout State) {
    if state.hasAlarm { return }
    state.hasAlarm = true
    // Held strongly, for a moment: what somebody has a weak reference to is counted slowly ever after.
    alarms.asyncAfter(deadline: .now() + longest) { self.ring() }
  }

  private func ring() {
    let isLeft = state.withLock { state in
      state.hasAlarm = false
      return state.group != nil && !state.isTaken
    }
    // A younger group gets its own alarm.
    if isLeft { settle(isFollowed: true, isRinging: true) }
  }

  // MARK: The right to write

  /// How many wait for the right to write.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// - Returns: The group that is open.
  private func takeRight() -> CommitGroup? {
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

  private func takeRightIfIdle() -> Bool {
    state.withLock { state in
      guard state.isIdle else { return false }
      state.isTaken = true
      return true
    }
  }

  private func passRight() {
    state.withLock { $0.passRight() }
  }
}

extension StorageError {
  fileprivate static let givenUp = StorageError(
    .other, message: "after an error the storage gave up everything that was not committed")
}
