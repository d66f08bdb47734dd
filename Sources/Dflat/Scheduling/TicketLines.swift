// TicketLines: the order of jobs that name several lines.
//
// A job takes its place in all of its lines at once, and is ready when it stands at the head of all. So:
//
//  - two jobs with a line in common run in the order in which they took their places, whatever other lines they name;
//  - no two jobs can wait for each other: of those that wait, the one that came first stands behind ready jobs only;
//  - a job that is ready stays at the head of its lines until it leaves them.
//
// Plain data, without threads and locks: its owner guards it.

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

  let job: Job
  // Most stand in one line.
  fileprivate let line: Line?
  fileprivate let others: [Line]
  /// In how many lines others stand before it.
  @exclusivity(unchecked) fileprivate var blockers = 0

  /// - Parameters:
  ///   - line: A line; nil for a ticket that waits for nobody.
  ///   - others: More of them, each one once.
  init(line: Line?, others: [Line] = [], job: @escaping Job) {
    self.line = line
    self.others = others
    self.job = job
  }
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
  /// - Returns: Those that are ready now, and were not before: the one of the first line, and of the others.
  mutating func leave(_ ticket: Ticket) -> (first: Ticket?, others: [Ticket]) {
    count -= 1
    let first = ticket.line.flatMap { leave($0, ticket) }
    return (first, ticket.others.compactMap { leave($0, ticket) })
  }

  private func leave(_ line: Line, _ ticket: Ticket) -> Ticket? {
    let left = line.tickets.popFirst()
    assert(left === ticket, "a ticket left its lines before it stood at their head")
    guard let next = line.tickets.first else { return nil }
    next.blockers -= 1
    return next.blockers == 0 ? next : nil
  }
}
