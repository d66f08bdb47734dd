// How members learn of their outcome, and the error hook of failures.
//
// If the error hook must hear why members were not committed, their deliveries take their places in
// the queues at once, and are held until the hook has returned. So the order "error hook, then
// completion handlers" holds wherever they stand in their queues, and deliveries stay in order.

extension WriteCoordinator {
  /// Enqueues the deliveries. Consecutive members with the same types share one delivery: no other
  /// delivery could come between them.
  /// - Returns: The tickets that are ready.
  func deliver(_ members: Few<CommitMember>) -> Few<Ticket> {
    var tickets = Few<Ticket>()
    if members.count == 1, let member = members.first {
      if let ticket = deliver(member) { tickets.append(ticket) }
      return tickets
    }
    let all = Array(members)
    let types = all.map(\.deliveryTypes)
    var report = FailureReport()
    var start = 0
    while start < all.count {
      let end = types[start...].firstIndex { $0 != types[start] } ?? all.count
      if let ticket = deliver(all[start..<end], types[start], behind: &report) {
        tickets.append(ticket)
      }
      start = end
    }
    if let ticket = place(report) { tickets.append(ticket) }
    return tickets
  }

  /// Enqueues the delivery of one member, as most groups have.
  func deliver(_ member: CommitMember) -> Ticket? {
    let job: Ticket.Job = {
      member.notify(member.outcome)
      return .nothing
    }
    let work: Ticket.Work = member.callsProgram ? .job(job) : .notice(job)
    if member.outcome == nil {
      settled(member)
    } else {
      var report = FailureReport()
      if report.add(member) {
        report.held = [deliveries.placeHeld(member.deliveryTypes, work)]
        return place(report)
      }
    }
    return deliveries.place(member.deliveryTypes, work)
  }

  /// - Parameters:
  ///   - run: Members of the same types.
  ///   - types: Their types.
  ///   - report: What the error hook must hear before.
  private func deliver(
    _ run: ArraySlice<CommitMember>, _ types: TypeSet, behind report: inout FailureReport
  ) -> Ticket? {
    var isHeld = false
    for member in run {
      if member.outcome == nil { settled(member) } else if report.add(member) { isHeld = true }
    }
    let job: Ticket.Job = {
      for member in run { member.notify(member.outcome) }
      return .nothing
    }
    let work: Ticket.Work = run.contains { $0.callsProgram } ? .job(job) : .notice(job)
    if !isHeld { return deliveries.place(types, work) }
    report.held.append(deliveries.placeHeld(types, work))
    return nil
  }

  /// Makes a job that tells the error hook, and then releases the deliveries.
  /// - Returns: nil if there is nothing to report.
  private func place(_ report: FailureReport) -> Ticket? {
    if report.reasons.isEmpty { return nil }
    return deliveries.placeAside(
      .job { [hook, deliveries] in
        for reason in report.reasons { hook.report(reason) }
        deliveries.release(report.held)
        return .nothing
      })
  }

  func startAll(_ tickets: Few<Ticket>) {
    for ticket in tickets { deliveries.start(ticket) }
  }
}

/// What the error hook must hear of the failures of members: why a group has failed once for all of
/// its members.
private struct FailureReport: Sendable {
  private(set) var reasons: [any Error] = []
  /// The groups that `reasons` has.
  private var groups: [CommitGroup] = []
  /// The deliveries that wait until the hook has heard it.
  var held: [Ticket] = []

  /// Adds why a member is not committed.
  /// - Returns: Whether the hook must hear it.
  mutating func add(_ member: CommitMember) -> Bool {
    guard let reason = member.unreportedFailure else { return false }
    if let group = member.group, group.failure != nil {
      if groups.contains(where: { $0 === group }) { return true }
      groups.append(group)
    }
    reasons.append(reason)
    return true
  }
}
