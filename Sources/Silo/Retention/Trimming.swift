// Trimming: has the values go that a retention policy does not keep.
//
// All work is done in transactions of bounded size: in steps, which grow only where many values
// were used at one time. In the background each waits until the silo has no writers, so that none
// waits for more than one step; but not for ever, or a silo that is always busy would grow without
// a limit. A step that fails is tried again with the next change.

import Dflat
import Foundation

extension Silo {
  /// How many values one transaction changes in the background.
  private static var stepSize: Int { 100 }

  /// Notes that values were used, and has them trimmed if that may be due.
  func noteUse(of ids: some Sequence<Value.ID>, isChange: Bool = false) {
    let areMany = state.accesses.note(ids)
    if (isChange || areMany), state.accesses.beginTrimming() {
      Task(priority: .utility) { await trimInBackground() }
    }
  }

  private func trimInBackground() async {
    // Changes that follow each other closely are looked at once.
    try? await Task.sleep(for: .milliseconds(200))
    // One pass waits for another at most.
    await state.accesses.turn.enterAlone()
    defer { state.accesses.turn.leaveAlone() }
    // What is changed from now on is looked at anew.
    state.accesses.endTrimming()
    do {
      try await trimAlone(step: Self.stepSize) {
        for _ in 0..<50 where state.gate.isBusy {
          try? await Task.sleep(for: .milliseconds(20))
        }
      }
    } catch WorkspaceError.shutDown {
      // The program has ended what this is for.
    } catch {
      // What was not stored is kept for the next time.
      silos.report(error, from: store.domain)
    }
  }

  /// Stores when values were used, and has the values go that the retention policy does not keep.
  ///
  /// A silo does this by itself, in steps, when it is not written to. Call it before the program is
  /// suspended, and in tests.
  ///
  /// - Parameter step: How many values one transaction changes at most.
  /// - Returns: How many values went.
  /// - Throws: `SiloError.newerVersion`, `SiloError.unknownVersion`, `SiloError.unknownReferrer`;
  ///   the errors of the storage.
  @discardableResult
  public func trim(step: Int = 100) async throws -> Int {
    precondition(step > 0, "trim(step:) was called with \(step)")
    await state.accesses.turn.enterAlone()
    defer { state.accesses.turn.leaveAlone() }
    try await requireVersion()
    return try await trimAlone(step: step) {}
  }

  @discardableResult
  private func trimAlone(step: Int, pause: () async -> Void) async throws -> Int {
    let policy = state.accesses.policy
    guard policy.isLimited else { return 0 }
    try await correctMarks(step, pause)
    try await storeUses(step, policy, pause)
    try await adopt(step, policy, pause)
    var scan = TrimScan<Value>(policy: policy)
    if policy.size != nil {
      // All marks are read, which no writer is to wait for.
      let marks = try await store.domain.store(of: Mark<Value>.self).values(ValueQuery())
      scan.bytes = marks.reduce(0) { $0 + ($1.lastUse == nil ? 0 : $1.size) }
    }
    while !scan.isComplete {
      await pause()
      let (now, state) = (scan, state)
      scan = try await silos.write([Value.self]) { txn in
        var next = now
        try next.step(step, in: txn, isUsed: state.accesses.isUsed)
        return next
      }
    }
    scheduleTrimming(policy, scan)
    return scan.evicted
  }

  /// Has the silo trimmed again when the next value is too old, if nothing happens before.
  private func scheduleTrimming(_ policy: RetentionPolicy, _ scan: TrimScan<Value>) {
    guard let age = policy.age.map({ $0 / .seconds(1) }) else {
      return state.accesses.setTimer(nil)
    }
    let now = silos.clock.now
    let next: Date
    let longest: TimeInterval
    if let use = scan.nextUse {
      longest = max(age, 1)
      next = max(use.addingTimeInterval(age), now.addingTimeInterval(1))
    } else if scan.hasManaged {
      // They are too old, and go some time after they are no longer managed.
      longest = max(age, 60)
      next = now.addingTimeInterval(longest)
    } else {
      return state.accesses.setTimer(nil)
    }
    let wait = TimedWait(silos.clock, time: next, longest: longest)
    // What keeps the silo is the program, not the timer.
    state.accesses.setTimer(
      Task(priority: .utility) { [weak state, weak silos] in
        while true {
          let rest = wait.rest
          if rest <= 0 { break }
          // Clocks differ, and any number may be stored.
          let pause = Duration.seconds(min(3600, max(0.001, rest)))
          guard (try? await Task.sleep(for: pause)) != nil else { return }
        }
        guard let state, let silos, state.accesses.beginTrimming() else { return }
        Task(priority: .utility) { await Silo(state, of: silos).trimInBackground() }
      })
  }

  private func storeUses(
    _ step: Int, _ policy: RetentionPolicy, _ pause: () async -> Void
  ) async throws {
    while true {
      let uses = state.accesses.take(step)
      if uses.isEmpty { return }
      do {
        await pause()
        try await silos.write([Value.self]) { try $0.storeUses(of: Value.self, uses, policy) }
      } catch {
        state.accesses.putBack(uses)
        throw error
      }
    }
  }

  /// Gives marks to the values that have none: those that were stored before there was a policy, or
  /// whose uses were lost. They are older than those that were used since there is a policy.
  private func adopt(
    _ step: Int, _ policy: RetentionPolicy, _ pause: () async -> Void
  ) async throws {
    while true {
      var adoption = state.accesses.adoption
      if adoption.isComplete { return }
      await pause()
      let (after, start, before) = (adoption.last, adoption.start, adoption.count)
      // Without an index a page reads all values, so pages are larger than steps.
      let size = step * 10
      let last = try await silos.write([Value.self]) { txn -> Value.ID? in
        let store = try txn.access(Value.self)
        let marked = ValueQuery<Mark<Value>>(where: Mark<Value>.lastUse.isNotNull)
        if after == nil, try store.count(marked) == store.count(ValueQuery<Value>()) { return nil }
        let key = Field<Value.ID._Key, Canonical<Value>>(Value._canonical.keyOffset)
        let page = try store.values(
          ValueQuery<Value>(
            where: after.map { key > $0._key }, orderBy: [key.ascending], limit: size))
        let marks = try store.load(Mark<Value>.self, page.map { $0.id })
        let known = IDSet<Value>(marks.lazy.filter { $0.lastUse != nil }.map { $0.id })
        // Those that were used since the uses were stored get the time of that use.
        let unknown = page.lazy.map { $0.id }.filter {
          !known.contains($0) && !state.accesses.isUsed($0)
        }
        let uses = unknown.enumerated().map { ($1, start - .microseconds(before + $0 + 1)) }
        try txn.storeUses(of: Value.self, uses, policy)
        return page.count < size ? nil : page.last?.id
      }
      adoption.last = last
      adoption.count += size
      adoption.isComplete = last == nil
      state.accesses.setAdoption(adoption)
    }
  }
}

extension Silo {
  /// Gives a time before the uses that are not stored yet to marks with a time in the future, which
  /// were stored while the clock was ahead. Their order stays.
  private func correctMarks(_ step: Int, _ pause: () async -> Void) async throws {
    let lastUse = Mark<Value>.lastUse
    while true {
      let wrong = ValueQuery<Mark<Value>>(
        where: lastUse > silos.clock.now, orderBy: [lastUse.ascending], limit: step)
      if try await store.domain.store(of: Mark<Value>.self).count(wrong) == 0 { return }
      await pause()
      let (clock, accesses) = (silos.clock, state.accesses)
      try await silos.write([Value.self]) { txn in
        let store = try txn.access(Value.self)
        let now = clock.now
        let age = accesses.earliest.map { (.now - $0) / .seconds(1) } ?? 0
        let time = now.addingTimeInterval(-max(0, age))
        let marks = try store.values(
          ValueQuery<Mark<Value>>(
            where: lastUse > now, orderBy: [lastUse.ascending], limit: step))
        try store.save(
          marks.enumerated().map { place, mark in
            var mark = mark
            // Times differ from the next one that a date can have.
            mark.lastUse = time.addingTimeInterval(-1e-6 * Double(marks.count - place))
            return mark
          })
      }
    }
  }
}

extension SilosTransaction {
  /// Stores when values were used.
  fileprivate func storeUses<V: Persistable>(
    of type: V.Type, _ uses: [(id: V.ID, time: ContinuousClock.Instant)],
    _ policy: RetentionPolicy
  ) throws {
    let store = try access(type)
    let ids = uses.map { $0.id }
    var sizes: [IDKey<V.ID._Key>: Int] = [:]
    for value in try store.load(type, ids) {
      sizes[IDKey(value.id._key)] =
        policy.size == nil ? 0 : Canonical(value)._row.withBytes(\.count)
    }
    var marks: [IDKey<V.ID._Key>: Mark<V>] = [:]
    for mark in try store.load(Mark<V>.self, ids) { marks[IDKey(mark.id._key)] = mark }
    let (now, instant) = (silos.clock.now, ContinuousClock.now)
    try store.save(
      uses.compactMap { use -> Mark<V>? in
        let key = IDKey(use.id._key)
        // It may have been removed in the meantime.
        guard let size = sizes[key] else { return nil }
        var mark = marks[key] ?? Mark(id: use.id)
        let time = now.addingTimeInterval(-((instant - use.time) / .seconds(1)))
        // A time in the future was stored while the clock was ahead.
        mark.lastUse = mark.lastUse.map { $0 > now ? time : max($0, time) } ?? time
        if policy.size != nil { mark.size = size }
        return mark
      })
  }

  /// Removes values that the server still has, and their marks.
  /// - Returns: How many were stored.
  func forget<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> Int {
    let store = try access(type)
    willChange(type, ids)
    _ = try store.remove(Mark<V>.self, ids)
    return try store.remove(type, ids)
  }
}

/// The values of a silo in the order of their last use, as far as they were looked at.
private struct TrimScan<Value: Persistable> {
  let policy: RetentionPolicy
  /// The bytes of all rows, if the policy limits them.
  var bytes = 0
  private(set) var evicted = 0
  private(set) var isComplete = false
  /// When the first value was used that is not due.
  private(set) var nextUse: Date?
  /// Whether values that are due stay.
  private(set) var hasManaged = false
  /// The last use of the value that was looked at last, and those that stay with the same one.
  private var cursor: Date?
  private var kept = IDSet<Value>()

  init(policy: RetentionPolicy) { self.policy = policy }

  /// Looks at the next values.
  mutating func step(
    _ count: Int, in transaction: SilosTransaction, isUsed: (Value.ID) -> Bool
  ) throws {
    let store = try transaction.access(Value.self)
    var excess = 0
    if let limit = policy.count { excess = try store.count(ValueQuery<Value>()) - limit }
    let now = transaction.silos.clock.now
    let oldest = policy.age.map { now.addingTimeInterval(-($0 / .seconds(1))) }
    let lastUse = Mark<Value>.lastUse
    // Those that stay are read again with the others of their time, so where many have one time,
    // pages grow.
    let count = max(count, kept.count)
    let marks = try store.values(
      ValueQuery<Mark<Value>>(
        where: cursor.map { lastUse >= $0 } ?? lastUse.isNotNull,
        orderBy: [lastUse.ascending], limit: count + kept.count))
    let new = marks.filter { !kept.contains($0.id) && $0.lastUse != nil }
    func isDue(_ mark: Mark<Value>, _ bytes: Int) -> Bool {
      if excess > 0 { return true }
      if let size = policy.size, bytes > size { return true }
      guard let oldest, let time = mark.lastUse else { return false }
      return time < oldest
    }
    guard let first = new.first, isDue(first, bytes) else {
      nextUse = new.first?.lastUse
      return isComplete = true
    }
    let managed = try RetentionCheck.managed(Value.self, new.map { $0.id }, in: transaction)
    let stored = IDSet<Value>(try store.load(Value.self, new.map { $0.id }).lazy.map { $0.id })
    var due: [Value.ID] = []
    for mark in new {
      guard isDue(mark, bytes) else {
        nextUse = mark.lastUse
        isComplete = true
        break
      }
      if mark.lastUse != cursor {
        cursor = mark.lastUse
        kept = IDSet()
      }
      if managed.contains(mark.id) || isUsed(mark.id) {
        kept.insert(mark.id)
        hasManaged = true
        continue
      }
      due.append(mark.id)
      bytes -= mark.size
      if stored.contains(mark.id) { excess -= 1 }
    }
    // Nothing becomes of older values that could not be migrated.
    _ = try store.remove(Mark<Value>.self, due.filter { !stored.contains($0) })
    evicted += try transaction.forget(Value.self, due.filter { stored.contains($0) })
    if new.count < count { isComplete = true }
  }
}
