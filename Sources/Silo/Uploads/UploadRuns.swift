// UploadRuns: what all runs of one queue share, whichever object they belong to. Invariant: a key
// is claimed by one run at most, and only a run that has claimed it sends its uploads.

import Foundation
import Platform

final class UploadRuns: Sendable {
  private struct State {
    var keys: Set<String> = []
    /// How often keys were claimed.
    var claims = 0
    var running: Set<UUID> = []
  }

  private let state = Mutex(State())
  /// Raised when something is enqueued, begins or ends.
  let signal = UploadSignal()

  /// The keys whose uploads are being sent, and how often any were claimed until now.
  var claimed: (keys: Set<String>, claims: Int) { state.withLock { ($0.keys, $0.claims) } }

  /// Claims keys.
  /// - Parameters:
  ///   - keys: Keys that were not claimed by then.
  ///   - claims: How often any were claimed when the uploads were looked up. If another run has
  ///     claimed keys since, the uploads may be sent already.
  /// - Returns: Whether they are claimed now.
  func claim(_ keys: [String], at claims: Int) -> Bool {
    state.withLock { state in
      guard state.claims == claims else { return false }
      if keys.isEmpty { return true }
      state.claims += 1
      state.keys.formUnion(keys)
      return true
    }
  }

  /// Ends a claim.
  func release(_ key: String) {
    _ = state.withLock { $0.keys.remove(key) }
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
