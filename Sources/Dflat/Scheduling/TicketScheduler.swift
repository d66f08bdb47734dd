// TicketScheduler: jobs in the order of their tickets, on several threads.
//
// It keeps true what `TicketLines` does, and:
//
//  - a job is accepted or refused under a lock, so it comes either before the closing or after it;
//  - jobs that are ready run at the same time, each in a lane of its own; a lane goes on with the job that its last one let
//    go, so a long line costs no change of threads;
//  - a thread that does its own work runs no job of others: what it lets go of is run by lanes.

import Dispatch
import Platform

final class TicketScheduler: Sendable {
  /// Unchecked: used under the lock only.
  private struct State: @unchecked Sendable {
    var tickets = TicketLines()
    var lines: [ObjectIdentifier: Line] = [:]
    var isClosed = false

    mutating func line(of type: EntitySchema) -> Line {
      let id = ObjectIdentifier(type)
      if let line = lines[id] { return line }
      let line = Line()
      lines[id] = line
      return line
    }
  }

  /// After so many jobs a lane goes to the end of the program's queue.
  private static let mostInARow = 128

  private let state = Mutex(State())
  /// The same as the state's.
  private let closed = Atomic(false)
  private let lanes: Lanes
  /// The line in which all jobs stand, if they run one at a time.
  private let everything: Everything?
  private let finish: @Sendable (Ticket.Rest, Followers) -> Void

  /// Unchecked: used under the lock only.
  private struct Everything: @unchecked Sendable {
    let line = Line()
  }

  /// Who comes behind work that has ended.
  enum Followers {
    /// Nobody, and the thread is a lane's: it may call handlers of the program.
    case noneInLane
    /// Nobody, and the thread is a caller's: lanes call the handlers.
    case none
    /// Somebody who shares a type. Nobody is made to wait for this thread.
    case some
  }

  /// - Parameters:
  ///   - isSerial: Whether all jobs run one at a time, whatever lines they name.
  ///   - finish: Does what is left to be done, after a ticket has left its lines.
  init(
    lanes: Lanes, isSerial: Bool,
    finish: @escaping @Sendable (Ticket.Rest, Followers) -> Void = { _, _ in }
  ) {
    self.lanes = lanes
    self.finish = finish
    everything = isSerial ? Everything() : nil
  }

  /// Whether `close` was called. Asked at each reading, so without the lock.
  var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// Refuses all later jobs.
  /// - Returns: Whether this call did it.
  func close() -> Bool {
    state.withLock { state in
      defer {
        state.isClosed = true
        closed.store(true, ordering: .releasing)
      }
      return !state.isClosed
    }
  }

  /// Puts a job at the end of the lines of some types.
  /// - Returns: Whether it was accepted; after `close` none is.
  func enqueue(_ types: TypeSet, _ job: @escaping Ticket.Job) -> Bool {
    guard let (ticket, isReady) = enter(types, .job(job)) else { return false }
    if isReady { start(ticket) }
    return true
  }

  /// Takes a place at the end of the lines of some types. If the ticket is ready, the caller starts
  /// it, or does its work and ends it.
  /// - Returns: nil after `close`.
  func enter(_ types: TypeSet, _ work: Ticket.Work) -> (ticket: Ticket, isReady: Bool)? {
    state.withLock { state in
      if state.isClosed { return nil }
      let ticket = ticket(types, work, &state)
      return (ticket, state.tickets.take(ticket))
    }
  }

  /// Takes a place at the end of its lines, also after `close`.
  /// - Returns: The ticket if it is ready. The caller starts it.
  func place(_ types: TypeSet, _ work: Ticket.Work) -> Ticket? {
    state.withLock { state in
      let ticket = ticket(types, work, &state)
      return state.tickets.take(ticket) ? ticket : nil
    }
  }

  private func ticket(_ types: TypeSet, _ work: Ticket.Work, _ state: inout State) -> Ticket {
    if let everything { return Ticket(line: everything.line, work: work) }
    let types = types.types
    return Ticket(
      line: types.first.map { state.line(of: $0) },
      others: types.dropFirst().map { state.line(of: $0) }, work: work)
  }

  /// Sees to it that the work of a ready ticket is done.
  func start(_ ticket: Ticket) {
    switch ticket.work {
    case .job: lanes.run { self.run(ticket) }
    case .notice: runNotices(ticket)
    case .own(let owner): owner.signal()
    }
  }

  /// Runs a ready ticket, and those that follow it, in this lane.
  func run(_ ticket: Ticket) {
    var next: Ticket? = ticket
    var count = 0
    while let ticket = next {
      if count == Self.mostInARow, lanes.areShared { return start(ticket) }
      count += 1
      switch ticket.work {
      case .job(let job), .notice(let job):
        let rest = job()
        let freed = leave(ticket)
        next = nil
        if let first = freed.first { goOn(with: first, &next) }
        for other in freed.others { goOn(with: other, &next) }
        finish(rest, freed.isEmpty ? .noneInLane : .some)
      case .own: preconditionFailure("a lane was given what a caller does")
      }
    }
  }

  /// Makes a ready ticket the next one of a lane that has none, or starts it.
  private func goOn(with ticket: Ticket, _ next: inout Ticket?) {
    if next == nil, !ticket.isOwn { next = ticket } else { start(ticket) }
  }

  /// Takes a ticket that waits out of its lines. The work of one that is ready is done all the same.
  func withdraw(_ ticket: Ticket) {
    start(state.withLock { $0.tickets.withdraw(ticket) })
  }

  private func start(_ freed: TicketLines.Freed) {
    if let first = freed.first { start(first) }
    for other in freed.others { start(other) }
  }

  /// Ends a ticket whose work the caller has done.
  func end(_ ticket: Ticket, _ rest: Ticket.Rest) {
    let freed = leave(ticket)
    start(freed)
    finish(rest, freed.isEmpty ? .none : .some)
  }

  /// Runs a notice, and those that are ready then: not one inside of the other, since there may be
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

  private func leave(_ ticket: Ticket) -> TicketLines.Freed {
    state.withLock { $0.tickets.leave(ticket) }
  }
}
