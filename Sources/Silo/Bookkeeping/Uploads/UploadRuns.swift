// UploadRuns: what all runs of one queue share, whichever object they belong to. Invariants:
//
//  - An ordering key is claimed by one run at most, in one domain, and only that run sends its
//    uploads.
//  - One run at a time looks for uploads, while it has the turn.

import Dflat
import Foundation
import Platform

final class UploadRuns: Sendable {
  private struct Source {
    let domain: any StoreDomain
    /// How often the lease had been lost.
    let losses: Int
    var backlog = UploadBacklog()
  }

  private struct State {
    var sources: [Source] = []
    /// The ids of uploads that were changed since the last look; nil if any may have been.
    var changed: Set<Int64>? = []
    var lastLookAtAll: ContinuousClock.Instant?
    /// The ordering keys of the uploads that are being sent, or are about to be.
    var claimed: Set<OrderingKey> = []
    /// The ordering keys whose claims have ended since uploads were read last. What was read of
    /// their uploads may be gone.
    var released: Set<OrderingKey> = []
    var running: Set<UUID> = []
    /// The longest pause of all queue objects, in seconds.
    var longestPause: TimeInterval = 0
  }

  private let state = Mutex(State())
  let turn = WriteGate()
  let lease = UploadLease()
  /// Raised when something is enqueued, begins or ends.
  let signal: UploadSignal
  let clock: WallClock

  /// How many changed uploads are remembered; of more, all are looked at.
  private static let mostChanges = 1000

  init(_ clock: WallClock) {
    self.clock = clock
    signal = UploadSignal(clock)
  }

  /// The longest pause after a failure, in seconds: no upload pauses longer from now on, whatever
  /// the clock was when it failed.
  var longestPause: TimeInterval { state.withLock(\.longestPause) }

  /// Notes the pauses of a queue object.
  func notePauses(_ retry: UploadRetry) {
    state.withLock { $0.longestPause = max($0.longestPause, retry.longestPause) }
  }

  // MARK: Looking

  /// Begins to look for uploads in some domains.
  func beginLooking(in domains: [any StoreDomain]) {
    let now = clock.now
    let losses = domains.map { lease.losses(of: $0) }
    state.withLock { state in
      state.sources.removeAll { source in
        // Another process may have put uploads before others since a loss.
        !zip(domains, losses).contains { $0 === source.domain && $1 == source.losses }
      }
      for (domain, losses) in zip(domains, losses)
      where !state.sources.contains(where: { $0.domain === domain }) {
        state.sources.append(Source(domain: domain, losses: losses))
      }
      // What other processes do may not be heard of.
      let isShared = domains.contains { $0.isShared }
      let last = state.lastLookAtAll
      if isShared, last.map({ ContinuousClock.now - $0 > .seconds(1) }) ?? true {
        state.changed = nil
        state.lastLookAtAll = .now
      }
      let changed = state.changed
      state.changed = []
      for index in state.sources.indices {
        if let changed {
          state.sources[index].backlog.reconsider(changed)
        } else {
          state.sources[index].backlog.reconsiderAll()
        }
        state.sources[index].backlog.reconsider(at: now, longest: state.longestPause)
      }
    }
  }

  /// Forgets what is known of the uploads in a domain: some may have been put before others. Called
  /// by a move, while no run looks for uploads.
  func forget(_ domain: any StoreDomain) {
    state.withLock { $0.sources.removeAll { $0.domain === domain } }
  }

  /// How often the lease of a domain had been lost when its uploads were looked for.
  func losses(in domain: any StoreDomain) -> Int {
    state.withLock { $0.sources.first { $0.domain === domain }?.losses ?? 0 }
  }

  /// Reads or changes the backlog of a domain.
  func withBacklog<R: Sendable>(
    in domain: any StoreDomain, _ body: @Sendable (inout UploadBacklog) -> R
  ) -> R {
    state.withLock { state in
      var none = UploadBacklog()
      guard let index = state.sources.firstIndex(where: { $0.domain === domain }) else {
        return body(&none)
      }
      return body(&state.sources[index].backlog)
    }
  }

  /// Called before uploads are read.
  /// - Returns: The ordering keys whose uploads must be read again.
  func beginReading() -> Set<OrderingKey> {
    state.withLock { state in
      defer { state.released = [] }
      return state.released
    }
  }

  /// Decides about a candidate; see `UploadBacklog.settle`.
  /// - Returns: Whether it is claimed; nil if it must be read again.
  func settle(
    _ id: Int64, _ stored: StoredUpload?, isBehindOthers: Bool, in domain: any StoreDomain
  ) -> Bool? {
    let now = clock.now
    return state.withLock { state in
      if let stored, state.released.contains(stored.ordering) { return nil }
      guard let index = state.sources.firstIndex(where: { $0.domain === domain }) else {
        return false
      }
      let isBusy = stored.map { state.claimed.contains($0.ordering) } ?? false
      let isClaimed = state.sources[index].backlog.settle(
        id, stored, isBehindOthers: isBehindOthers || isBusy, at: now, longest: state.longestPause)
      if isClaimed, let stored { state.claimed.insert(stored.ordering) }
      return isClaimed
    }
  }

  /// When the next pause ends.
  var nextAttempt: Date? {
    state.withLock { $0.sources.compactMap(\.backlog.nextAttempt).min() }
  }

  /// Notes that uploads were changed; nil if any may have been.
  func noteChanges(_ ids: [Int64]?) {
    state.withLock { state in
      guard let ids, var changed = state.changed else { return state.changed = nil }
      state.changed = nil
      changed.formUnion(ids)
      if changed.count <= Self.mostChanges { state.changed = changed }
    }
    signal.raise()
  }

  // MARK: Sending

  /// Whether uploads are being sent, or are about to be.
  var hasClaims: Bool { state.withLock { !$0.claimed.isEmpty } }

  /// Ends the claim of an ordering key.
  func release(_ orderingKey: OrderingKey) {
    state.withLock { state in
      state.claimed.remove(orderingKey)
      state.released.insert(orderingKey)
      for index in state.sources.indices { state.sources[index].backlog.release(orderingKey) }
    }
    signal.raise()
  }

  /// The idempotency keys of the uploads that are being sent.
  var running: Set<UUID> { state.withLock(\.running) }

  func begin(_ upload: UUID) {
    _ = state.withLock { $0.running.insert(upload) }
    signal.raise()
  }

  func end(_ upload: UUID) {
    _ = state.withLock { $0.running.remove(upload) }
    signal.raise()
  }
}
