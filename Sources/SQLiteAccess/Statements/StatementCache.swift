// The prepared statements of one connection, by their SQL.
//
// Invariants:
//
//  - A slot owns one prepared statement. It is either idle here or in use by one `Statement`.
//  - At most `capacity` slots are idle; beyond that the least recently used ones are finalised.
//    Slots in use do not count: their users bound their number.
//  - Requesting SQL whose slots are all in use prepares another: two users never share a statement.
//  - An idle statement is reset and has no bindings, so it holds no lock and refers to no external
//    memory.
//
// A slot stays in the dictionary while it is in use, so neither taking nor returning one changes
// the dictionary; only preparing and evicting does.

import CSQLite

/// One prepared statement, idle in the cache or in use.
final class StatementSlot {
  let handle: OpaquePointer
  let sql: String
  let hasParameters: Bool
  let parameters: UnsafeMutablePointer<_Parameters>
  // As with the fields of a connection, exclusivity checks would find nothing.
  @exclusivity(unchecked) var isInUse = true
  /// Whether the cache will take it back; false once it was removed.
  var isCached = true
  @exclusivity(unchecked) var lastUse: UInt64 = 0
  /// Another slot with the same SQL, or with one that Swift considers equal.
  var next: StatementSlot?

  init(handle: OpaquePointer, sql: String) {
    self.handle = handle
    self.sql = sql
    self.hasParameters = sqlite3_bind_parameter_count(handle) > 0
    parameters = .allocate(capacity: 1)
    parameters.initialize(to: _Parameters(of: handle, sql: sql))
  }

  deinit {
    parameters.deinitialize(count: 1)
    parameters.deallocate()
  }
}

/// Statistics of a connection's statement cache.
public struct StatementCacheStatistics: Hashable, Sendable {
  /// Requests that found an idle statement.
  public internal(set) var hits = 0
  /// Requests that had to prepare a statement.
  public internal(set) var misses = 0
  /// Statements that were finalised because of the capacity.
  public internal(set) var evictions = 0
  /// Statements that are idle now.
  public internal(set) var idle = 0
  /// Statements that are in use now.
  public internal(set) var inUse = 0
}

struct StatementCache {
  private var slots: [String: StatementSlot] = [:]
  private var clock: UInt64 = 0
  private(set) var statistics = StatementCacheStatistics()
  private(set) var capacity: Int
  /// The slot that was taken last. Loops request the same SQL again and again, and comparing a
  /// string with itself costs nothing.
  private var latest: StatementSlot?
  /// Whether a statement is in use; the connection then cannot be closed.
  var hasStatementsInUse: Bool { statistics.inUse > 0 }

  init(capacity: Int) {
    self.capacity = max(0, capacity)
  }

  /// Takes an idle statement for `sql`, or returns nil if one has to be prepared.
  mutating func take(_ sql: String) -> StatementSlot? {
    if let latest, !latest.isInUse, latest.sql.hasBytes(of: sql) { return use(latest) }
    var slot = slots[sql]
    while let candidate = slot {
      if !candidate.isInUse, candidate.sql.hasBytes(of: sql) {
        latest = candidate
        return use(candidate)
      }
      slot = candidate.next
    }
    return nil
  }

  private mutating func use(_ slot: StatementSlot) -> StatementSlot {
    slot.isInUse = true
    statistics.hits += 1
    statistics.idle -= 1
    statistics.inUse += 1
    return slot
  }

  /// Adds a statement that was just prepared and is in use.
  mutating func add(_ slot: StatementSlot) {
    statistics.misses += 1
    statistics.inUse += 1
    slot.next = slots.updateValue(slot, forKey: slot.sql)
  }

  /// Returns a statement to the cache.
  mutating func checkIn(_ slot: StatementSlot) {
    assert(slot.isInUse, "a statement is returned that is not in use")
    // The result repeats the error of the last step, which was already reported.
    _ = sqlite3_reset(slot.handle)
    slot.isInUse = false
    statistics.inUse -= 1
    guard slot.isCached else {
      sqlite3_finalize(slot.handle)
      return
    }
    if slot.hasParameters {
      sqlite3_clear_bindings(slot.handle)
      slot.parameters.pointee.reset()
    }
    clock += 1
    slot.lastUse = clock
    statistics.idle += 1
    evict()
    // Walking through all slots each time would be most of what a debug build does.
    if clock.isMultiple(of: 64) { _checkInvariants() }
  }

  /// Changes how many idle statements are kept.
  mutating func setCapacity(_ capacity: Int) {
    self.capacity = max(0, capacity)
    evict()
    _checkInvariants()
  }

  /// Finalises every idle statement now, and those in use when they are returned.
  mutating func clear() {
    for first in slots.values {
      var slot: StatementSlot? = first
      while let current = slot {
        slot = current.next
        current.next = nil
        current.isCached = false
        if !current.isInUse { sqlite3_finalize(current.handle) }
      }
    }
    slots = [:]
    latest = nil
    statistics.idle = 0
    _checkInvariants()
  }

  /// Finalises the least recently used idle statements beyond the capacity.
  ///
  /// It searches all slots. That happens only when a newly prepared statement is returned, and
  /// preparing it cost far more.
  private mutating func evict() {
    while statistics.idle > capacity {
      var oldest: StatementSlot?
      for first in slots.values {
        var slot: StatementSlot? = first
        while let current = slot {
          if !current.isInUse, oldest.map({ current.lastUse < $0.lastUse }) ?? true {
            oldest = current
          }
          slot = current.next
        }
      }
      guard let oldest else { return }
      unlink(oldest)
      oldest.isCached = false
      sqlite3_finalize(oldest.handle)
      statistics.idle -= 1
      statistics.evictions += 1
    }
  }

  private mutating func unlink(_ slot: StatementSlot) {
    if latest === slot { latest = nil }
    guard let first = slots[slot.sql] else { return }
    if first === slot {
      slots[slot.sql] = slot.next
    } else {
      var previous = first
      while let next = previous.next {
        if next === slot {
          previous.next = slot.next
          break
        }
        previous = next
      }
    }
    slot.next = nil
  }

  /// Traps, in debug builds, if an invariant at the top of this file is violated.
  func _checkInvariants() {
    #if DEBUG
      var idle = 0
      var inUse = 0
      var hasLatest = latest == nil
      for (sql, first) in slots {
        var slot: StatementSlot? = first
        while let current = slot {
          precondition(current.isCached && current.sql == sql)
          if current.isInUse { inUse += 1 } else { idle += 1 }
          if current === latest { hasLatest = true }
          slot = current.next
        }
      }
      precondition(idle == statistics.idle && idle <= capacity)
      precondition(inUse <= statistics.inUse)
      precondition(hasLatest, "the statement used last is not in the cache any more")
    #endif
  }
}

extension String {
  /// Whether two statements are the same. Swift considers strings equal whose literals differ in
  /// their normal form; to SQLite they are different texts.
  fileprivate func hasBytes(of other: String) -> Bool {
    let isSame = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in
        left.count == right.count
          && (left.baseAddress == right.baseAddress || left.elementsEqual(right))
      }
    }
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}
