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
//  - a waiting job can be withdrawn, as if it had never been enqueued;
//  - a job can be held in its queues, and is not ready until it is released.
//
// This is plain data without threads or locks; its owner synchronises access.

import Dispatch
import Platform

/// The queue of an entity type, or of anything else that needs an order.
struct QueueID: Sendable {
  /// Its index among the queues of the `TicketQueues` that made it.
  fileprivate let index: Int
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
    /// Runs in a job queue.
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
  fileprivate let queue: QueueID?
  fileprivate let others: [QueueID]
  /// The number of queues in which other tickets are ahead of this one, and one more while it is
  /// held. The owner of the queues synchronises the accesses, so no operation needs an order of its
  /// own.
  private let blocked = Atomic(0)
  private let held: Atomic<Bool>

  fileprivate var blockers: Int {
    get { blocked.load(ordering: .relaxed) }
    set { blocked.store(newValue, ordering: .relaxed) }
  }

  fileprivate var isHeld: Bool {
    get { held.load(ordering: .relaxed) }
    set { held.store(newValue, ordering: .relaxed) }
  }

  /// - Parameters:
  ///   - queue: A queue; nil for a ticket that waits for no other.
  ///   - others: Further queues, without duplicates.
  ///   - work: What happens when the ticket is ready.
  ///   - isHeld: Whether it waits until it is released.
  init(queue: QueueID?, others: [QueueID] = [], work: Work, isHeld: Bool = false) {
    self.queue = queue
    self.others = others
    self.work = work
    held = Atomic(isHeld)
  }
}

extension Ticket {
  /// All queues of the ticket.
  fileprivate var queues: [QueueID] { (queue.map { [$0] } ?? []) + others }

  /// Whether the ticket's work is done by the calling thread and not by a job queue.
  var isOwn: Bool { if case .own = work { true } else { false } }
}

struct TicketQueues {
  /// The number of enqueued tickets.
  private(set) var count = 0
  private var queues: [Fifo<Ticket>] = []

  /// Makes an empty queue.
  mutating func makeQueue() -> QueueID {
    queues.append(Fifo())
    return QueueID(index: queues.count - 1)
  }

  /// Appends a ticket to all of its queues.
  /// - Returns: Whether it is ready at once.
  mutating func take(_ ticket: Ticket) -> Bool {
    count += 1
    if let queue = ticket.queue { enqueue(ticket, in: queue) }
    for queue in ticket.others { enqueue(ticket, in: queue) }
    if ticket.isHeld { ticket.blockers += 1 }
    _checkInvariants(around: ticket)
    return ticket.blockers == 0
  }

  /// Holds a ticket no longer.
  /// - Returns: Whether it is ready now.
  mutating func release(_ ticket: Ticket) -> Bool {
    assert(ticket.isHeld, "a ticket was released that was not held")
    ticket.isHeld = false
    ticket.blockers -= 1
    _checkInvariants(around: ticket)
    return ticket.blockers == 0
  }

  private mutating func enqueue(_ ticket: Ticket, in queue: QueueID) {
    if !queues[queue.index].isEmpty { ticket.blockers += 1 }
    queues[queue.index].append(ticket)
  }

  /// Removes a ready ticket from its queues.
  /// - Returns: The tickets that became ready.
  mutating func leave(_ ticket: Ticket) -> Freed {
    count -= 1
    let first = ticket.queue.flatMap { leave($0, ticket) }
    let others = ticket.others.compactMap { leave($0, ticket) }
    _checkInvariants(around: ticket)
    return Freed(first: first, others: others)
  }

  /// Removes a waiting ticket from its queues. A ready ticket stays.
  /// - Returns: The tickets that became ready.
  mutating func withdraw(_ ticket: Ticket) -> Freed {
    if ticket.blockers == 0 { return Freed(first: nil, others: []) }
    count -= 1
    ticket.blockers = 0
    let first = ticket.queue.flatMap { withdraw($0, ticket) }
    let others = ticket.others.compactMap { withdraw($0, ticket) }
    _checkInvariants(around: ticket)
    return Freed(first: first, others: others)
  }

  private mutating func withdraw(_ queue: QueueID, _ ticket: Ticket) -> Ticket? {
    if queues[queue.index].first === ticket { return leave(queue, ticket) }
    queues[queue.index].remove { $0 === ticket }
    return nil
  }

  /// Tickets that became ready because another left its queues: the one in its first queue, and
  /// those in the others.
  struct Freed {
    let first: Ticket?
    let others: [Ticket]

    var isEmpty: Bool { first == nil && others.isEmpty }
  }

  private mutating func leave(_ queue: QueueID, _ ticket: Ticket) -> Ticket? {
    let left = queues[queue.index].popFirst()
    assert(left === ticket, "a ticket left its queues before it was at their head")
    guard let next = queues[queue.index].first else { return nil }
    next.blockers -= 1
    return next.blockers == 0 ? next : nil
  }

  /// Traps, in debug builds, if a ticket at the head of one of a ticket's queues is blocked by
  /// another number of queues than those in which it is not at the head.
  ///
  /// Only heads are looked at: a queue may have any length.
  func _checkInvariants(around ticket: Ticket) {
    #if DEBUG
      for queue in ticket.queues {
        guard let head = queues[queue.index].first else { continue }
        let behind = head.queues.count { queues[$0.index].first !== head }
        precondition(
          head.blockers == behind + (head.isHeld ? 1 : 0),
          "a ticket counts other blockers than it has")
      }
    #endif
  }
}
