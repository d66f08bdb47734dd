// What members are told once their outcome is known.

extension WriteCoordinator {
  /// What remains to be done without the lease, after groups were closed.
  struct Aftermath {
    /// The deliveries that are ready to run.
    var tickets: [Ticket] = []
    var errors: [any Error] = []

    mutating func add(_ other: Aftermath) {
      tickets += other.tickets
      errors += other.errors
    }
  }

  /// Enqueues the deliveries. Consecutive members with the same types share one delivery: no other
  /// delivery could come between them.
  func deliver(_ members: [CommitMember]) -> [Ticket] {
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
  func deliver(_ run: ArraySlice<CommitMember>) -> Ticket? {
    guard let types = run.first?.types else { return nil }
    for member in run where member.outcome == nil { settled(member) }
    let job: Ticket.Job = {
      for member in run { member.notify(member.outcome) }
      return .nothing
    }
    let callsProgram = run.contains { $0.callsProgram }
    return deliveries.place(types, callsProgram ? .job(job) : .notice(job))
  }

  func startAll(_ tickets: [Ticket]) {
    for ticket in tickets { deliveries.start(ticket) }
  }
}
