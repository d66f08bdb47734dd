// What members are told once their outcome is known.

extension WriteCoordinator {
  /// What remains to be done without the lease, after groups were closed.
  struct PendingNotifications {
    /// The deliveries that are ready to run.
    var tickets = Few<Ticket>()
    var errors: [any Error] = []

    mutating func add(_ other: PendingNotifications) {
      for ticket in other.tickets { tickets.append(ticket) }
      errors += other.errors
    }
  }

  /// Enqueues the deliveries. Consecutive members with the same types share one delivery: no other
  /// delivery could come between them.
  func deliver(_ members: Few<CommitMember>) -> Few<Ticket> {
    var tickets = Few<Ticket>()
    if members.count == 1, let member = members.first {
      if let ticket = deliver(member) { tickets.append(ticket) }
      return tickets
    }
    let all = Array(members)
    let types = all.map(\.deliveryTypes)
    var start = 0
    while start < all.count {
      let end = types[start...].firstIndex { $0 != types[start] } ?? all.count
      if let ticket = deliver(all[start..<end], types[start]) { tickets.append(ticket) }
      start = end
    }
    return tickets
  }

  /// Enqueues the delivery of one member, as most groups have.
  func deliver(_ member: CommitMember) -> Ticket? {
    if member.outcome == nil { settled(member) }
    let job: Ticket.Job = {
      member.notify(member.outcome)
      return .nothing
    }
    return deliveries.place(member.deliveryTypes, member.callsProgram ? .job(job) : .notice(job))
  }

  /// - Parameters:
  ///   - run: Members of the same types.
  ///   - types: Their types.
  private func deliver(_ run: ArraySlice<CommitMember>, _ types: TypeSet) -> Ticket? {
    for member in run where member.outcome == nil { settled(member) }
    let job: Ticket.Job = {
      for member in run { member.notify(member.outcome) }
      return .nothing
    }
    let callsProgram = run.contains { $0.callsProgram }
    return deliveries.place(types, callsProgram ? .job(job) : .notice(job))
  }

  func startAll(_ tickets: Few<Ticket>) {
    for ticket in tickets { deliveries.start(ticket) }
  }
}
