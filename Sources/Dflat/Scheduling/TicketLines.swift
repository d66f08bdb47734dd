// TicketLines: the order of jobs that name several lines.
//
// A job takes its place in all of its lines at once, and is ready when it stands at the head of all. So:
//
//  - two jobs with a line in common run in the order in which they took their places, whatever other lines they name;
//  - no two jobs can wait for each other: of those that wait, the one that came first stands behind ready jobs only;
//  - a job that is ready stays at the head of its lines until it leaves them;
//  - one that waits may be withdrawn: it is as if it had never come.
//
// Plain data, without threads and locks: its owner guards it.

import Dispatch
import Platform

/// The line of an entity type, or whatever else needs an order.
final class Line {
  // Guarded by the owner's lock, as all that changes here: checks of exclusive use would find nothing.
  @exclusivity(unchecked) fileprivate var tickets = Fifo<Ticket>()
}

/// A job's place in its lines.
///
/// Unchecked: what changes is changed by the owner of the lines only, under its lock.
final class Ticket: @unchecked Sendable {
  typealias Job = @Sendable () -> Rest
  /// What a job leaves to be done when it has left its lines.
  enum Rest {
    case nothing
    /// The group that it shares may have to be committed.
    case settling
    /// Somebody is to be told something.
    case delivery(Ticket)
  }

  /// What is done when a ticket is ready, and by which thread.
  enum Work {
    /// Runs in a lane.
    case job(Job)
    /// Runs at once, on the thread that finds the ticket ready: it calls nothing of the program's
    /// and does not wait.
    case notice(Job)
    /// The thread that took the place does it. It waits for the semaphore unless it was ready at
    /// once.
    case own(DispatchSemaphore)
  }

  let work: Work
  // Most stand in one line.
  fileprivate let line: Line?
  fileprivate let others: [Line]
  /// In how many lines others stand before it.
  @exclusivity(unchecked) fileprivate var blockers = 0

  /// - Parameters:
  ///   - line: A line; nil for a ticket that waits for nobody.
  ///   - others: More of them, each one once.
  ///   - work: What is done when it is ready.
  init(line: Line?, others: [Line] = [], work: Work) {
    self.line = line
    self.others = others
    self.work = work
  }
}

extension Ticket {
  /// Whether no lane runs it.
  var isOwn: Bool { if case .own = work { true } else { false } }
}

struct TicketLines {
  /// The tickets that are in lines.
  private(set) var count = 0

  /// Takes a place at the end of all lines of a ticket.
  /// - Returns: Whether it is ready at once.
  mutating func take(_ ticket: Ticket) -> Bool {
    count += 1
    if let line = ticket.line { stand(ticket, in: line) }
    for line in ticket.others { stand(ticket, in: line) }
    return ticket.blockers == 0
  }

  private func stand(_ ticket: Ticket, in line: Line) {
    if !line.tickets.isEmpty { ticket.blockers += 1 }
    line.tickets.append(ticket)
  }

  /// Gives the places of a ready ticket up.
  /// - Returns: Those that are ready now, and were not before.
  mutating func leave(_ ticket: Ticket) -> Freed {
    count -= 1
    let first = ticket.line.flatMap { leave($0, ticket) }
    return Freed(first: first, others: ticket.others.compactMap { leave($0, ticket) })
  }

  /// Takes a ticket that waits out of its lines; one that is ready stays.
  /// - Returns: Those that are ready now, and were not before.
  mutating func withdraw(_ ticket: Ticket) -> Freed {
    if ticket.blockers == 0 { return Freed(first: nil, others: []) }
    count -= 1
    ticket.blockers = 0
    let first = ticket.line.flatMap { withdraw($0, ticket) }
    return Freed(first: first, others: ticket.others.compactMap { withdraw($0, ticket) })
  }

  private func withdraw(_ line: Line, _ ticket: Ticket) -> Ticket? {
    if line.tickets.first === ticket { return leave(line, ticket) }
    line.tickets.remove { $0 === ticket }
    return nil
  }

  /// Tickets that are ready because one has left its lines: of its first line, and of the others.
  struct Freed {
    let first: Ticket?
    let others: [Ticket]

    var isEmpty: Bool { first == nil && others.isEmpty }
  }

  private func leave(_ line: Line, _ ticket: Ticket) -> Ticket? {
    let left = line.tickets.popFirst()
    assert(left === ticket, "a ticket left its lines before it stood at their head")
    guard let next = line.tickets.first else { return nil }
    next.blockers -= 1
    return next.blockers == 0 ? next : nil
  }
}
