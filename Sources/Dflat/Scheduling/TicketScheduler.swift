// TicketScheduler: runs jobs in the order of their tickets, on several threads.
//
// In addition to the invariants of `TicketQueues`:
//
//  - A job is accepted or refused under a lock, so it comes either before the closing or after it.
//  - Ready jobs run concurrently, each in its own job queue. A job queue continues with the job
//    that its last one made ready, so a long queue needs no thread switches.
//  - A thread that does its own work runs no other jobs; job queues run those that it made ready.

import Dispatch
import Platform

final class TicketScheduler: Sendable {
  /// Accessed under the lock only.
  private struct State {
    var tickets = TicketQueues()
    /// By the number of the table. The process numbers its tables from 0.
    var queues: [QueueID?] = []
    var isClosed = false

    mutating func queue(of table: Int) -> QueueID {
      if table < queues.count, let queue = queues[table] { return queue }
      if table >= queues.count {
        queues += Array(repeating: nil, count: table + 1 - queues.count)
      }
      let queue = tickets.makeQueue()
      queues[table] = queue
      return queue
    }
  }

  /// After this many jobs a job queue re-enqueues itself at the end of the program's queue, to be
  /// fair.
  private static let mostInARow = 128

  private let state: Mutex<State>
  /// A copy of the state's flag.
  private let closed = Atomic(false)
  private let jobQueues: JobQueues
  /// The queue that contains all jobs, if they run one at a time.
  private let everything: QueueID?
  private let finish: @Sendable (Ticket.FollowUp, Followers) -> Void

  /// Which jobs follow a job that has ended.
  enum Followers {
    /// None, and the thread belongs to a job queue, so it may call the program's handlers.
    case noneInJobQueue
    /// None, and the thread belongs to a caller, so job queues call the handlers.
    case none
    /// At least one job shares a type and must not be kept waiting by this thread.
    case some
  }

  /// - Parameters:
  ///   - isSerial: Whether all jobs run one at a time, whatever queues they name.
  ///   - finish: Does the remaining work of a ticket after it has left its queues.
  init(
    jobQueues: JobQueues, isSerial: Bool,
    finish: @escaping @Sendable (Ticket.FollowUp, Followers) -> Void = { _, _ in }
  ) {
    self.jobQueues = jobQueues
    self.finish = finish
    var state = State()
    everything = isSerial ? state.tickets.makeQueue() : nil
    self.state = Mutex(state)
  }

  /// Whether `close` was called. Every read checks this, so it takes no lock.
  var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// Refuses all later jobs.
  /// - Returns: False if the scheduler was closed before.
  func close() -> Bool {
    state.withLock { state in
      defer {
        state.isClosed = true
        closed.store(true, ordering: .releasing)
      }
      return !state.isClosed
    }
  }

  /// Appends a job to the queues of some types.
  /// - Returns: Whether it was accepted; after `close` no job is.
  func enqueue(_ types: TypeSet, _ job: @escaping Ticket.Job) -> Bool {
    guard let (ticket, isReady) = enter(types, .job(job)) else { return false }
    if isReady { start(ticket) }
    return true
  }

  /// Enqueues a ticket in the queues of some types. If it is ready, the caller starts it, or does
  /// its work and ends it.
  /// - Returns: nil after `close`.
  func enter(_ types: TypeSet, _ work: Ticket.Work) -> (ticket: Ticket, isReady: Bool)? {
    state.withLock { state in
      if state.isClosed { return nil }
      let ticket = ticket(types, work, &state)
      return (ticket, state.tickets.take(ticket))
    }
  }

  /// Enqueues a ticket, also after `close`.
  /// - Returns: The ticket if it is ready; the caller must start it.
  func place(_ types: TypeSet, _ work: Ticket.Work) -> Ticket? {
    state.withLock { state in
      let ticket = ticket(types, work, &state)
      return state.tickets.take(ticket) ? ticket : nil
    }
  }

  /// Enqueues a ticket, also after `close`, that is not ready before it is released.
  func placeHeld(_ types: TypeSet, _ work: Ticket.Work) -> Ticket {
    state.withLock { state in
      let ticket = ticket(types, work, &state, isHeld: true)
      _ = state.tickets.take(ticket)
      return ticket
    }
  }

  /// Makes a ticket, also after `close`, that waits for no other one.
  /// - Returns: The ticket, which is ready; the caller must start it.
  func placeAside(_ work: Ticket.Work) -> Ticket {
    state.withLock { state in
      let ticket = Ticket(queue: nil, work: work)
      _ = state.tickets.take(ticket)
      return ticket
    }
  }

  /// Releases tickets that were held, and starts those that are ready now.
  func release(_ tickets: [Ticket]) {
    let ready = state.withLock { state in tickets.filter { state.tickets.release($0) } }
    for ticket in ready { start(ticket) }
  }

  private func ticket(
    _ types: TypeSet, _ work: Ticket.Work, _ state: inout State, isHeld: Bool = false
  ) -> Ticket {
    if let everything { return Ticket(queue: everything, work: work, isHeld: isHeld) }
    guard let table = types.firstTable else {
      return Ticket(queue: nil, work: work, isHeld: isHeld)
    }
    return Ticket(
      queue: state.queue(of: table), others: types.otherTables.map { state.queue(of: $0) },
      work: work, isHeld: isHeld)
  }

  /// Starts the work of a ready ticket.
  func start(_ ticket: Ticket) {
    switch ticket.work {
    case .job: jobQueues.run(ticket, of: self)
    case .notice: runNotices(ticket)
    case .own(let owner): owner.signal()
    }
  }

  /// Runs a ready ticket, and those that it makes ready, in this job queue.
  func run(_ ticket: Ticket) {
    var next: Ticket? = ticket
    var count = 0
    while let ticket = next {
      if count == Self.mostInARow, jobQueues.areShared { return start(ticket) }
      count += 1
      switch ticket.work {
      case .job(let job), .notice(let job):
        let rest = job()
        let freed = leave(ticket)
        next = nil
        if let first = freed.first { goOn(with: first, &next) }
        for other in freed.others { goOn(with: other, &next) }
        finish(rest, freed.isEmpty ? .noneInJobQueue : .some)
      case .own: preconditionFailure("a job queue was given a ticket of a caller")
      }
    }
  }

  /// Makes a ready ticket the next job of this job queue if it has none, or starts it elsewhere.
  private func goOn(with ticket: Ticket, _ next: inout Ticket?) {
    if next == nil, !ticket.isOwn { next = ticket } else { start(ticket) }
  }

  /// Removes a waiting ticket from its queues. The work of a ready ticket runs all the same.
  func withdraw(_ ticket: Ticket) {
    start(state.withLock { $0.tickets.withdraw(ticket) })
  }

  private func start(_ freed: TicketQueues.Freed) {
    if let first = freed.first { start(first) }
    for other in freed.others { start(other) }
  }

  /// Ends a ticket whose work the caller has done.
  func end(_ ticket: Ticket, _ rest: Ticket.FollowUp) {
    let freed = leave(ticket)
    start(freed)
    finish(rest, freed.isEmpty ? .none : .some)
  }

  /// Runs a notice and those that it makes ready, in a loop and not recursively, since there may be
  /// many.
  private func runNotices(_ ticket: Ticket) {
    var next: Ticket? = ticket
    var others: [Ticket] = []
    while let ticket = next ?? others.popLast() {
      next = nil
      guard case .notice(let job) = ticket.work else {
        start(ticket)
        continue
      }
      let rest = job()
      let freed = leave(ticket)
      next = freed.first
      others += freed.others
      finish(rest, freed.isEmpty ? .none : .some)
    }
  }

  private func leave(_ ticket: Ticket) -> TicketQueues.Freed {
    state.withLock { $0.tickets.leave(ticket) }
  }
}
