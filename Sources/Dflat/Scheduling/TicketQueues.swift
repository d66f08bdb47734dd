// TicketQueues: the order of jobs that name several queues.
//
// A job is enqueued in all of its queues at once, and is ready when it is at the head of all of
// them. Therefore:
//
//  - two jobs with a queue in common run in the order in which they were enqueued, whatever other
//    queues they name;
//  - there is no deadlock: among the waiting jobs, the one that was enqueued first waits for ready
//    jobs only;
//  - a ready job stays at the head of its queues until it leaves them;
//  - a waiting job can be withdrawn, as if it had never been enqueued.
//
// This is plain data without threads or locks; its owner synchronises access.

import Dispatch
import Platform

/// The queue of an entity type, or of anything else that needs an order.
struct Line: Sendable {
  /// Its place in the list of the `TicketQueues` that made it.
  fileprivate let place: Int
}

/// A job's position in its queues.
final class Ticket: Sendable {
  typealias Job = @Sendable () -> FollowUp
  /// The work that remains when a job has left its queues.
  enum FollowUp: Sendable {
    case nothing
    /// The job's group may have to be committed.
    case settling
    /// A delivery is ready to run.
    case delivery(Ticket)
  }

  /// What happens when a ticket is ready, and on which thread.
  enum Work: Sendable {
    /// Runs in a lane.
    case job(Job)
    /// Runs at once, on the thread that finds the ticket ready. It neither calls the program's code
    /// nor waits.
    case notice(Job)
    /// Done by the thread that enqueued the ticket. It waits for the semaphore unless the ticket
    /// was ready at once.
    case own(DispatchSemaphore)
  }

  let work: Work
  // Most tickets have one queue.
  fileprivate let line: Line?
  fileprivate let others: [Line]
  /// The number of queues in which other tickets are ahead of this one. The owner of the queues
  /// synchronises the accesses, so no operation needs an order of its own.
  private let blocked = Atomic(0)

  fileprivate var blockers: Int {
    get { blocked.load(ordering: .relaxed) }
    set { blocked.store(newValue, ordering: .relaxed) }
  }

  /// - Parameters:
  ///   - line: A queue; nil for a ticket that waits for no other.
  ///   - others: Further queues, without duplicates.
  ///   - work: What happens when the ticket is ready.
  init(line: Line?, others: [Line] = [], work: Work) {
    self.line = line
    self.others = others
    self.work = work
  }
}

extension Ticket {
  /// Whether the ticket's work is done by the calling thread and not by a lane.
  var isOwn: Bool { if case .own = work { true } else { false } }
}

struct TicketQueues {
  /// The number of enqueued tickets.
  private(set) var count = 0
  private var lines: [Fifo<Ticket>] = []

  /// Makes an empty queue.
  mutating func makeLine() -> Line {
    lines.append(Fifo())
    return Line(place: lines.count - 1)
  }

  /// Appends a ticket to all of its queues.
  /// - Returns: Whether it is ready at once.
  mutating func take(_ ticket: Ticket) -> Bool {
    count += 1
    if let line = ticket.line { enqueue(ticket, in: line) }
    for line in ticket.others { enqueue(ticket, in: line) }
    return ticket.blockers == 0
  }

  private mutating func enqueue(_ ticket: Ticket, in line: Line) {
    if !lines[line.place].isEmpty { ticket.blockers += 1 }
    lines[line.place].append(ticket)
  }

  /// Removes a ready ticket from its queues.
  /// - Returns: The tickets that became ready.
  mutating func leave(_ ticket: Ticket) -> Freed {
    count -= 1
    let first = ticket.line.flatMap { leave($0, ticket) }
    return Freed(first: first, others: ticket.others.compactMap { leave($0, ticket) })
  }

  /// Removes a waiting ticket from its queues. A ready ticket stays.
  /// - Returns: The tickets that became ready.
  mutating func withdraw(_ ticket: Ticket) -> Freed {
    if ticket.blockers == 0 { return Freed(first: nil, others: []) }
    count -= 1
    ticket.blockers = 0
    let first = ticket.line.flatMap { withdraw($0, ticket) }
    return Freed(first: first, others: ticket.others.compactMap { withdraw($0, ticket) })
  }

  private mutating func withdraw(_ line: Line, _ ticket: Ticket) -> Ticket? {
    if lines[line.place].first === ticket { return leave(line, ticket) }
    lines[line.place].remove { $0 === ticket }
    return nil
  }

  /// Tickets that became ready because another left its queues: the one in its first queue, and
  /// those in the others.
  struct Freed {
    let first: Ticket?
    let others: [Ticket]

    var isEmpty: Bool { first == nil && others.isEmpty }
  }

  private mutating func leave(_ line: Line, _ ticket: Ticket) -> Ticket? {
    let left = lines[line.place].popFirst()
    assert(left === ticket, "a ticket left its queues before it was at their head")
    guard let next = lines[line.place].first else { return nil }
    next.blockers -= 1
    return next.blockers == 0 ? next : nil
  }
}
