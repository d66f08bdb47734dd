// UploadLease: which process sends the uploads of a queue.
//
// What is being sent is known to one process only, so of the processes that share a store one at a
// time sends: the one that has the queue's lease, a row beside the uploads. Invariants:
//
//  - An upload begins in a transaction that finds the lease with this process's holder.
//  - A lease is taken from another holder only if its process has ended, or if it was not renewed
//    while this process watched for the whole patience. Clocks of two machines are not compared.
//  - What a process knows of the uploads in a domain is forgotten when it loses the lease. A move,
//    which puts uploads before others, removes the leases in the same transaction.
//
// A process that was suspended for longer than the patience loses the lease. What it was sending
// may then reach the server once more, as after a crash.

import Dflat
import Foundation
import Platform

/// The lease of a queue, as it is stored.
@Persistable(version: 1, table: "silo_leases", shape: "id:S holder:U process:S renewals:I")
struct StoredLease: Identifiable, Sendable {
  /// The name of the queue.
  var id: String
  /// The runs that have it. Each has a new one after it has given the lease up.
  var holder: UUID
  var process: String
  var renewals: Int
}

extension StoredLease: Bookkeeping {}

/// The lease was taken by another process.
struct LostLease: Error {
  let domain: any StoreDomain
}

/// The leases that the runs of one queue have in this process.
final class UploadLease: Sendable {
  /// The lease of another holder, and since when it has not been renewed.
  private struct Sighting {
    let domain: any StoreDomain
    let holder: UUID
    let renewals: Int
    let since: ContinuousClock.Instant
  }

  /// What has come of holding a lease.
  private enum Answer {
    case held
    /// It was held, and another process has removed or taken it.
    case lost
    case other(StoredLease)
  }

  private struct State {
    var patience = Duration.seconds(10)
    var runs = 0
    /// nil while there are no runs.
    var holder: UUID?
    var held: [(domain: any StoreDomain, renewed: ContinuousClock.Instant)] = []
    /// How often the lease of a domain was lost.
    var losses: [ObjectIdentifier: Int] = [:]
    var sightings: [Sighting] = []

    mutating func lose(_ domain: any StoreDomain) {
      held.removeAll { $0.domain === domain }
      losses[ObjectIdentifier(domain), default: 0] += 1
    }
  }

  private let state = Mutex(State())
  /// The holders in this process that may still have a lease.
  private static let holders = Mutex<Set<UUID>>([])

  /// How long a lease of a process that may be alive is respected if it is not renewed.
  var patience: Duration {
    get { state.withLock(\.patience) }
    set { state.withLock { $0.patience = newValue } }
  }

  /// Begins a run, which may hold leases until as many runs have ended.
  func beginRun() {
    state.withLock { state in
      state.runs += 1
      if state.holder != nil { return }
      let holder = UUID()
      state.holder = holder
      _ = Self.holders.withLock { $0.insert(holder) }
    }
  }

  /// Ends a run. The last one gives the leases up.
  /// - Throws: The errors of the storage. Other processes get the leases then, too, but later.
  func endRun(_ queue: String) async throws {
    let ended = state.withLock { state -> (holder: UUID, domains: [any StoreDomain])? in
      state.runs -= 1
      guard state.runs == 0, let holder = state.holder.take() else { return nil }
      let domains = state.held.map(\.domain)
      for domain in domains { state.lose(domain) }
      state.sightings = []
      return (holder, domains)
    }
    guard let (holder, domains) = ended else { return }
    defer { _ = Self.holders.withLock { $0.remove(holder) } }
    for domain in domains {
      try await domain.write([StoredLease.self]) { transaction in
        let lease = try transaction.load(StoredLease.self, [queue]).first
        if lease?.holder == holder { _ = try transaction.remove(StoredLease.self, [queue]) }
      }
    }
  }

  /// Takes the leases that can be had, and renews those that are due.
  /// - Returns: The domains whose uploads may be sent: those with a lease, and those that no other
  ///   process uses.
  /// - Throws: The errors of the storage.
  func hold(_ queue: String, in domains: [any StoreDomain]) async throws -> [any StoreDomain] {
    var held: [any StoreDomain] = []
    for domain in domains where try await hold(queue, in: domain) { held.append(domain) }
    return held
  }

  private func hold(_ queue: String, in domain: any StoreDomain) async throws -> Bool {
    if !domain.isShared { return true }
    let (holder, renewed, patience, sighting) = state.withLock { state in
      (
        state.holder, state.held.first { $0.domain === domain }?.renewed, state.patience,
        state.sightings.first { $0.domain === domain }
      )
    }
    guard let holder else { return false }
    let now = ContinuousClock.now
    if let renewed {
      if now - renewed < patience / 3 { return true }
    } else if let lease = try await domain.store(of: StoredLease.self).load(queue),
      !Self.mayTake(lease, sighting, patience, now)
    {
      note(lease, in: domain, at: now)
      return false
    }
    let answer = try await domain.write([StoredLease.self]) { transaction -> Answer in
      let lease = try transaction.load(StoredLease.self, [queue]).first
      if renewed != nil, lease?.holder != holder { return .lost }
      if let lease, lease.holder != holder, !Self.mayTake(lease, sighting, patience, now) {
        return .other(lease)
      }
      try transaction.save([
        StoredLease(
          id: queue, holder: holder, process: ProcessIdentity.current,
          renewals: (lease?.renewals ?? 0) &+ 1)
      ])
      return .held
    }
    switch answer {
    case .lost:
      // This is noted before the lease is taken again: see `check`.
      lose(domain)
      return try await hold(queue, in: domain)
    case .other(let lease):
      note(lease, in: domain, at: now)
      return false
    case .held:
      state.withLock { state in
        state.sightings.removeAll { $0.domain === domain }
        state.held.removeAll { $0.domain === domain }
        state.held.append((domain, now))
      }
      return true
    }
  }

  /// How often the lease of a domain was lost. What was known before a loss may be outdated.
  func losses(of domain: any StoreDomain) -> Int {
    state.withLock { $0.losses[ObjectIdentifier(domain)] ?? 0 }
  }

  /// Whether the lease of another holder is over.
  private static func mayTake(
    _ lease: StoredLease, _ sighting: Sighting?, _ patience: Duration,
    _ now: ContinuousClock.Instant
  ) -> Bool {
    if lease.process == ProcessIdentity.current {
      if !holders.withLock({ $0.contains(lease.holder) }) { return true }
    } else if ProcessIdentity.hasEnded(lease.process) {
      return true
    }
    guard let sighting, sighting.holder == lease.holder, sighting.renewals == lease.renewals
    else { return false }
    return now - sighting.since > patience
  }

  private func note(
    _ lease: StoredLease, in domain: any StoreDomain, at now: ContinuousClock.Instant
  ) {
    state.withLock { state in
      let known = state.sightings.first { $0.domain === domain }
      if known?.holder == lease.holder, known?.renewals == lease.renewals { return }
      state.sightings.removeAll { $0.domain === domain }
      state.sightings.append(
        Sighting(
          domain: domain, holder: lease.holder, renewals: lease.renewals, since: now))
    }
  }

  /// Notes that the lease of a domain is lost.
  func lose(_ domain: any StoreDomain) { state.withLock { $0.lose(domain) } }

  /// A check for the transactions of a domain in which uploads begin.
  /// - Parameters:
  ///   - queue: The name of the queue.
  ///   - domain: The domain.
  ///   - losses: How often the lease had been lost when the upload was picked.
  /// - Returns: Throws `LostLease` if the lease is not held, or was lost since then; the errors of
  ///   the storage.
  func check(
    _ queue: String, in domain: any StoreDomain, losses: Int
  ) -> @Sendable (any StoreTransaction) throws -> Void {
    if !domain.isShared { return { _ in } }
    let holder = state.withLock(\.holder)
    return { [self] transaction in
      let lease = try transaction.load(StoredLease.self, [queue]).first
      if holder == nil || lease?.holder != holder || self.losses(of: domain) != losses {
        throw LostLease(domain: domain)
      }
    }
  }
}
