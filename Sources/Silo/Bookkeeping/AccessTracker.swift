// AccessTracker: when the values of a silo were used last, as far as that is not stored yet.
//
// A read is no write: the times are collected here and stored in batches. What a process that is
// killed has not stored is lost; its values then seem to have been used a little earlier.
//
// The times are of a clock that never jumps. The time of day is looked up when they are stored.

import Platform

final class AccessTracker<Value: Persistable>: Sendable {
  private struct State {
    var policy = RetentionPolicy.everything
    var times: [IDKey<Value.ID._Key>: (id: Value.ID, time: ContinuousClock.Instant)] = [:]
    /// The time of the last use.
    var latest: ContinuousClock.Instant?
    var adoption = Adoption()
    /// Whether the silo is being trimmed in the background.
    var isTrimming = false
    /// Begins the next trimming when a value is too old.
    var timer: Task<Void, Never>?
  }

  /// How far the values are that get a mark because they have none.
  struct Adoption {
    /// Since when there has been a limited policy: they count as used just before.
    fileprivate(set) var start = ContinuousClock.now
    /// Up to which id they have marks; nil before the first.
    var last: Value.ID?
    /// How many were looked at.
    var count = 0
    var isComplete = false
  }

  /// How many uses are collected before they are stored.
  private static var batch: Int { 512 }

  private let state = Mutex(State())
  /// Whether the policy is limited; also read where a lock would be noticed.
  private let isLimited = Atomic(false)
  /// Lets one trimming after the other pass: each counts what it removes.
  let turn = WriteGate()

  var policy: RetentionPolicy {
    get { state.withLock(\.policy) }
    set {
      state.withLock { state in
        // Without a limit no uses are noted, so values without a mark may have been saved.
        if newValue.isLimited, !state.policy.isLimited { state.adoption = Adoption() }
        state.policy = newValue
        isLimited.store(newValue.isLimited, ordering: .releasing)
      }
    }
  }

  /// Whether uses are collected.
  var isCollecting: Bool { isLimited.load(ordering: .acquiring) }

  /// Notes that values were used.
  /// - Returns: Whether there are enough uses to be stored.
  func note(_ ids: some Sequence<Value.ID>, at time: ContinuousClock.Instant = .now) -> Bool {
    state.withLock { state in
      guard state.policy.isLimited else { return false }
      for id in ids {
        // Different times, so that trimming, which goes on behind a time, does not look at values
        // again that were used together.
        state.latest = state.latest.map { max(time, $0 + .microseconds(1)) } ?? time
        state.times[IDKey(id._key)] = (id, state.latest ?? time)
      }
      return state.times.count >= Self.batch
    }
  }

  /// Takes some uses out, to store them.
  func take(_ count: Int) -> [(id: Value.ID, time: ContinuousClock.Instant)] {
    state.withLock { state in
      let some = state.times.prefix(count)
      for (key, _) in some { state.times[key] = nil }
      return some.map { $0.value }
    }
  }

  /// Puts uses back that could not be stored.
  func putBack(_ uses: [(id: Value.ID, time: ContinuousClock.Instant)]) {
    state.withLock { state in
      for use in uses {
        let key = IDKey(use.id._key)
        let later = max(use.time, state.times[key]?.time ?? use.time)
        state.times[key] = (use.id, later)
      }
    }
  }

  /// When the first of the uses was that are not stored.
  var earliest: ContinuousClock.Instant? {
    state.withLock { $0.times.values.lazy.map(\.time).min() }
  }

  /// Whether a value was used since the uses were stored.
  func isUsed(_ id: Value.ID) -> Bool {
    state.withLock { $0.times[IDKey(id._key)] != nil }
  }

  // MARK: Values that were there before

  /// Which values may be without a mark.
  var adoption: Adoption { state.withLock(\.adoption) }

  /// Stores how far the trimming has come, unless another policy was set since it began.
  func setAdoption(_ adoption: Adoption) {
    state.withLock { state in
      if state.adoption.start == adoption.start { state.adoption = adoption }
    }
  }

  // MARK: Trimming

  /// Begins to trim in the background, unless that has begun.
  func beginTrimming() -> Bool {
    state.withLock { state in
      if state.isTrimming || !state.policy.isLimited { return false }
      state.isTrimming = true
      return true
    }
  }

  /// Replaces the timer.
  func setTimer(_ timer: Task<Void, Never>?) {
    state.withLock { state in
      state.timer?.cancel()
      state.timer = timer
    }
  }

  deinit { state.withLock { $0.timer?.cancel() } }

  func endTrimming() { state.withLock { $0.isTrimming = false } }
}
