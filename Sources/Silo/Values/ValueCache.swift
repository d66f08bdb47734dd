// ValueCache: the values that a `CachedValueStore` has in memory. Invariants:
//
//  - a value that a transaction is changing is not cached, from before its commit until after it;
//  - a value is cached only if nothing has changed in the store since it was read;
//  - if another connection has committed anything, nothing that was read before is cached;
//  - there are no more values than the limit.

import Dflat
import Platform

/// Values in memory, by their ids. For Silo.
public final class ValueCache<Value: Persistable>: Sendable {
  @usableFromInline typealias Key = IDKey<Value.ID._Key>

  @usableFromInline
  struct Entry {
    @usableFromInline let value: Value
    /// When it was used last, as a number of uses.
    var use: Int
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var uses = 0
    /// How often something has changed in the store.
    var changes = 0
    /// The values that transactions are changing, and how many.
    var changing: [Key: Int] = [:]
    /// What other connections had committed when the values were read.
    var token: CommitToken?
    /// The store's present token; nil if others cannot change it, or change it unnoticed.
    var presentToken: (@Sendable () -> CommitToken?)?
  }

  /// What the subscription changes, without a reference to the cache: a weak one would slow down
  /// reference counting of the cache for good.
  private final class Contents: Sendable {
    private let state = Mutex(State())

    func withLock<R>(_ body: (inout sending State) -> sending R) -> sending R {
      state.withLock(body)
    }

    /// - Parameter ids: The values that have changed; nil for possibly all.
    func forget(_ ids: [Value.ID]?) {
      state.withLock { state in
        state.changes += 1
        if let ids {
          for id in ids { state.entries[IDKey(id._key)] = nil }
        } else {
          state.entries = [:]
        }
      }
    }
  }

  private let limit: Int
  private let contents = Contents()
  private let subscription = Mutex<ValueSubscription?>(nil)

  init(_ limit: Int) { self.limit = limit }

  /// Notes that values have changed; nil for possibly all.
  var forgetting: @Sendable ([Value.ID]?) -> Void {
    { [contents] ids in contents.forget(ids) }
  }

  /// Keeps the subscription to a store's changes.
  func keep(_ subscription: ValueSubscription) {
    self.subscription.withLock { $0 = subscription }
  }

  /// Has the token of the store looked at before values are used.
  func compare(with token: @escaping @Sendable () -> CommitToken?) {
    contents.withLock { $0.presentToken = token }
  }

  /// Forgets everything if other connections have committed anything since it was read.
  /// - Returns: Whether what is cached may be used: false if that is not known.
  private func isCurrent() -> Bool {
    guard let token = contents.withLock({ $0.presentToken }) else { return true }
    guard let now = token() else { return false }
    contents.withLock { state in
      if state.token == now { return }
      state.token = now
      state.changes += 1
      state.entries = [:]
    }
    return true
  }

  /// Whether the order of uses does not matter, so that the values may be read as they are.
  var isUnlimited: Bool { limit == .max }

  /// Calls `body` with the values, under the lock.
  @usableFromInline
  func withEntries(_ body: (borrowing [Key: Entry]) -> Void) {
    contents.withLock { body($0.entries) }
  }

  /// The state of the store, to be compared after it was read.
  var state: Int { contents.withLock { $0.changes } }

  /// How many values are cached.
  var count: Int { contents.withLock { $0.entries.count } }

  /// A value: the cached one, or that which a store has, which is cached then.
  func value(
    _ id: Value.ID, load: () async throws -> Value?
  ) async throws -> Value? {
    guard isCurrent() else { return try await load() }
    let known = Value._find(id, in: self)
    if isUnlimited, let known { return known }
    let key = Key(id._key)
    let state = contents.withLock { state in
      if known != nil {
        state.uses += 1
        state.entries[key]?.use = state.uses
      }
      return state.changes
    }
    if let known { return known }
    let value = try await load()
    if let value { insert([value], readIn: state) }
    return value
  }

  /// The cached ones of some values.
  /// - Returns: The values, the ids of the others, and the state in which these are to be read.
  func values(_ ids: [Value.ID]) -> (known: [Key: Value], missing: [Value.ID], state: Int) {
    let isCurrent = isCurrent()
    return contents.withLock { state in
      guard isCurrent else { return ([:], ids, state.changes) }
      var known: [Key: Value] = [:]
      var missing: [Value.ID] = []
      for id in ids {
        let key = Key(id._key)
        if let entry = state.entries[key] {
          state.uses += 1
          state.entries[key]?.use = state.uses
          known[key] = entry.value
        } else {
          missing.append(id)
        }
      }
      return (known, missing, state.changes)
    }
  }

  /// Caches values that were read, unless something has changed since.
  func insert(_ values: [Value], readIn reading: Int) {
    contents.withLock { state in
      guard state.changes == reading else { return }
      // The last ones of many are used next as likely as any.
      for value in values.suffix(limit) {
        let key = Key(value.id._key)
        if state.changing[key] != nil { continue }
        state.uses += 1
        state.entries[key] = Entry(value: value, use: state.uses)
      }
      guard state.entries.count > limit else { return }
      // Several are forgotten at once, so that the order need not be kept.
      let kept = limit - limit / 4
      let oldest = state.entries.sorted { $0.value.use < $1.value.use }
        .prefix(state.entries.count - kept)
      for (key, _) in oldest { state.entries[key] = nil }
    }
  }

  /// Notes that a transaction changes values. `endChange` follows, whether it is committed or not.
  func beginChange(of ids: [Value.ID]) {
    contents.withLock { state in
      // The commit can be read before `endChange`.
      state.changes += 1
      for id in ids {
        let key = Key(id._key)
        state.changing[key, default: 0] += 1
        state.entries[key] = nil
      }
    }
  }

  func endChange(of ids: [Value.ID]) {
    contents.withLock { state in
      state.changes += 1
      for id in ids {
        let key = Key(id._key)
        let rest = state.changing[key, default: 1] - 1
        state.changing[key] = rest == 0 ? nil : rest
      }
    }
  }
}
