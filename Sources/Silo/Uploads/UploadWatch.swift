// UploadWatch: hears of the changes of uploads in all domains that a queue has, for a run or a
// reader.

import Platform

final class UploadWatch: Sendable {
  private struct State {
    var hasEnded = false
    var domains: [(domain: any StoreDomain, subscription: ValueSubscription)] = []
  }

  private let runs: UploadRuns
  private let state = Mutex(State())

  init(_ runs: UploadRuns) { self.runs = runs }

  /// Follows these domains, and no others. Called by one task.
  func follow(_ domains: [any StoreDomain]) {
    let known = state.withLock(\.domains)
    let new = domains.filter { domain in !known.contains { $0.domain === domain } }
    let kept = known.filter { old in domains.contains { $0 === old.domain } }
    if new.isEmpty, kept.count == known.count { return }
    let runs = runs
    // A subscription may call its handler at once, so no lock is held.
    let added = new.map { domain in
      (
        domain,
        domain.store(of: StoredUpload.self).subscribe { runs.noteChanges($0) }
      )
    }
    state.withLock { if !$0.hasEnded { $0.domains = kept + added } }
    // What has happened before the subscriptions was not heard of.
    if !new.isEmpty { runs.noteChanges(nil) }
  }

  func end() {
    let ended = state.withLock { state in
      state.hasEnded = true
      defer { state.domains = [] }
      return state.domains
    }
    withExtendedLifetime(ended) {}
  }
}
