// Which parameters of a statement have no value yet.
//
// SQLite reads a parameter without a value as NULL and does not say which ones have none. A
// forgotten value would silently select or store something else, so this library keeps one bit for
// each parameter: binding clears it, and a step begins by looking whether any is left. That is one
// instruction or two beside SQLite's hundreds.
//
// A statement belongs to one thread, and so do these bits.

import CSQLite

/// The parameters of a statement that have no value yet, for this library.
public struct _Parameters {
  /// Bit `n` is set as long as parameter `n + 1` has no value; the last bit as long as any of the
  /// parameters from 64 on has none.
  @usableFromInline var unbound: UInt64
  /// The parameters from 64 on that have no value.
  private var unboundFrom64: Set<Int> = []
  /// All parameters of the statement.
  private let all: UInt64
  private let allFrom64: Set<Int>

  /// Reads which parameters a statement has.
  init(of handle: OpaquePointer, sql: String) {
    let count = Int(sqlite3_bind_parameter_count(handle))
    guard count > 0 else {
      (unbound, all, allFrom64) = (0, 0, [])
      return
    }
    var numbers = Set(1...count)
    // `?3` alone makes three parameters, two of which are nowhere. They have no name, as `?` has
    // none.
    if Self.isEveryParameterNamed(sql) {
      numbers = numbers.filter { sqlite3_bind_parameter_name(handle, Int32($0)) != nil }
    }
    allFrom64 = numbers.filter { $0 >= 64 }
    all = numbers.reduce(0) { $0 | Self.bit($1) }
    unbound = all
    unboundFrom64 = allFrom64
  }

  /// Whether the statement has no `?` without a number. One in a text or a comment counts, too:
  /// numbers that are left out then need a value.
  private static func isEveryParameterNamed(_ sql: String) -> Bool {
    let text = sql.utf8
    return !text.indices.contains { index in
      guard text[index] == UInt8(ascii: "?") else { return false }
      let next = text.index(after: index)
      return next == text.endIndex || !(48...57).contains(text[next])
    }
  }

  private static func bit(_ number: Int) -> UInt64 { 1 << UInt64(min(number, 64) - 1) }

  /// Takes note that a parameter, which exists, has a value.
  @inlinable
  mutating func bind(_ number: Int) {
    guard number < 64 else { return bindFrom64(number) }
    unbound &= ~(1 &<< UInt64(truncatingIfNeeded: number &- 1))
  }

  @usableFromInline @inline(never)
  mutating func bindFrom64(_ number: Int) {
    unboundFrom64.remove(number)
    if unboundFrom64.isEmpty { unbound &= ~Self.bit(64) }
  }

  /// Takes note that all parameters have values.
  @usableFromInline
  mutating func bindAll() {
    unbound = 0
    unboundFrom64 = []
  }

  /// No parameter has a value.
  mutating func reset() {
    unbound = all
    if !allFrom64.isEmpty { unboundFrom64 = allFrom64 }
  }

  /// The parameters without a value, in order.
  var unboundNumbers: [Int] {
    (1..<64).filter { unbound & Self.bit($0) != 0 } + unboundFrom64.sorted()
  }
}
