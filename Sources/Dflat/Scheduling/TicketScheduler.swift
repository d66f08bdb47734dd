// TicketScheduler: jobs in the order of their tickets, on several threads.
//
// It keeps true what `TicketLines` does, and:
//
//  - a job is accepted or refused under a lock, so it comes either before the closing or after it;
//  - jobs that are ready run at the same time, each in a lane of its own; a lane goes on with the job that its last one let
//    go, so a long line costs no change of threads.

import Synchronization

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
  private let finish: @Sendable (Ticket.Rest, _ isFollowed: Bool) -> Void

  /// Unchecked: used under the lock only.
  private struct Everything: @unchecked Sendable {
    let line = Line()
  }

  /// - Parameters:
  ///   - isSerial: Whether all jobs run one at a time, whatever lines they name.
  ///   - finish: Does what a job has left to be done, after it has left its lines. If it is followed, another job waits for
  ///     this thread.
  init(
    lanes: Lanes, isSerial: Bool,
    finish: @escaping @Sendable (Ticket.Rest, _ isFollowed: Bool) -> Void = { _, _ in }
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
    let (isAccepted, ready) = state.withLock { state -> (Bool, Ticket?) in
      if state.isClosed { return (false, nil) }
      return (true, place(types, job, &state))
    }
    if let ready { start(ready) }
    return isAccepted
  }

  /// Puts a job at the end of its lines, also after `close`. The caller starts the ticket if there is one.
  func place(_ types: TypeSet, _ job: @escaping Ticket.Job) -> Ticket? {
    state.withLock { place(types, job, &$0) }
  }

  private func place(
    _ types: TypeSet, _ job: @escaping Ticket.Job, _ state: inout State
  ) -> Ticket? {
    let ticket: Ticket
    if let everything {
      ticket = Ticket(line: everything.line, job: job)
    } else {
      let types = types.types
      ticket = Ticket(
        line: types.first.map { state.line(of: $0) },
        others: types.dropFirst().map { state.line(of: $0) }, job: job)
    }
    return state.tickets.take(ticket) ? ticket : nil
  }

  /// Runs a ready ticket in a lane.
  func start(_ ticket: Ticket) {
    lanes.run { self.run(ticket) }
  }

  /// Runs a ready ticket, and those that follow it, on this thread.
  func run(_ ticket: Ticket) {
    var next: Ticket? = ticket
    var count = 0
    while let ticket = next {
      if count == Self.mostInARow, lanes.areShared { return start(ticket) }
      count += 1
      let rest = ticket.job()
      let (first, others) = state.withLock { $0.tickets.leave(ticket) }
      next = first ?? others.first
      for other in first == nil ? others.dropFirst() : others[...] { start(other) }
      finish(rest, next != nil)
    }
  }
}
