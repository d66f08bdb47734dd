// Accumulator: one aggregate of many values.
//
// Unknown values count for `count` only. Sums of integers are exact; whether they fit the result's
// type is decided at the end. A sum, a count and an average can also be maintained by removing
// values; a minimum or maximum cannot, if the removed value was the extreme one.

import FlatBuffersRuntime

/// What is computed.
enum AggregateKind: Sendable {
  /// The number of objects.
  case count
  /// The number of objects for which the expression is known.
  case countKnown
  case sum, average, minimum, maximum
}

struct Accumulator {
  private let kind: AggregateKind
  private let type: ValueType
  /// The number of values, or of objects for `count`.
  private(set) var count = 0
  private var sum = WideSum()
  private var realSum = 0.0
  private var bestNumber: ColumnValue = .null
  private var bestText: [UInt8]?

  init(_ kind: AggregateKind, _ type: ValueType) {
    self.kind = kind
    self.type = type
  }

  @inline(__always)
  mutating func add(_ value: ColumnValue) {
    switch kind {
    case .count: count &+= 1
    case .countKnown:
      if case .null = value { return }
      count &+= 1
    case .sum, .average: addTerm(value)
    case .minimum, .maximum: take(value)
    }
  }

  /// Adds or removes objects of a `count`.
  /// - Returns: False if more have left than were there: another connection has added them, and
  ///   that was not delivered yet.
  mutating func count(_ difference: Int) -> Bool {
    count &+= difference
    return count >= 0
  }

  @inline(__always)
  private mutating func addTerm(_ value: ColumnValue) {
    switch value {
    case .integer(let number):
      if type == .uint64 { sum.add(UInt64(bitPattern: number)) } else { sum.add(number) }
    case .real(let number): realSum += number
    case .null, .text: return
    }
    count &+= 1
  }

  private mutating func take(_ value: ColumnValue) {
    switch value {
    case .null: return
    case .text(let bytes):
      let isBetter =
        bestText?.withUnsafeBytes {
          let order = compareBytes(bytes, $0)
          return kind == .minimum ? order < 0 : order > 0
        } ?? true
      if isBetter { bestText = Array(bytes) }
    case .integer, .real:
      if count == 0 || isBetter(value) { bestNumber = value }
    }
    count &+= 1
  }

  private func isBetter(_ value: ColumnValue) -> Bool {
    switch (value, bestNumber) {
    case (.integer(let new), .integer(let old)) where type == .uint64:
      let (new, old) = (UInt64(bitPattern: new), UInt64(bitPattern: old))
      return kind == .minimum ? new < old : new > old
    case (.integer(let new), .integer(let old)): return kind == .minimum ? new < old : new > old
    case (.real(let new), .real(let old)): return kind == .minimum ? new < old : new > old
    default: return false
    }
  }

  /// Adds the values of another part of the rows. Not for sums that are rounded.
  mutating func add(_ other: Accumulator) {
    switch kind {
    case .count, .countKnown: count &+= other.count
    case .sum, .average:
      sum.add(other.sum)
      count &+= other.count
    case .minimum, .maximum:
      if other.count == 0 { return }
      let values = count &+ other.count
      if let text = other.bestText {
        text.withUnsafeBytes { take(.text($0)) }
      } else {
        take(other.bestNumber)
      }
      count = values
    }
  }

  /// Replaces a value that was added by another one.
  /// - Returns: False if the aggregate has to be computed again.
  mutating func replace(_ old: ColumnValue, by new: ColumnValue) -> Bool {
    if old.isSame(as: new) { return true }
    let isAdmitted = admit(new)
    return remove(old) && isAdmitted
  }

  /// Adds a value to those of a result that is maintained.
  /// - Returns: False if the aggregate has to be computed again: the rounding errors of a sum
  ///   depend on the order of its terms.
  mutating func admit(_ value: ColumnValue) -> Bool {
    add(value)
    guard case .real = value else { return true }
    return kind != .sum && kind != .average
  }

  /// Removes a value that was added.
  /// - Returns: False if the aggregate has to be computed again.
  mutating func remove(_ value: ColumnValue) -> Bool {
    if case .null = value, kind != .count { return true }
    // Otherwise see `count`.
    guard count(-1) else { return false }
    switch (kind, value) {
    case (.count, _), (.countKnown, _): return true
    case (.sum, .integer(let number)), (.average, .integer(let number)):
      if type == .uint64 { sum.subtract(UInt64(bitPattern: number)) } else { sum.subtract(number) }
      return true
    // See `admit`.
    case (.sum, _), (.average, _): return false
    case (.minimum, .text(let bytes)), (.maximum, .text(let bytes)):
      return bestText.map { $0.withUnsafeBytes { !equalBytes(bytes, $0) } } ?? false
    case (.minimum, _), (.maximum, _): return !value.isSame(as: bestNumber)
    }
  }

  /// NaN is unknown: the sum of both infinities.
  private func known(_ number: Double) -> Value? { number.isNaN ? nil : .real(number) }

  /// The result. The value of a sum that does not fit is nil, as are the average and the extremes
  /// of nothing.
  var result: AggregateResult {
    switch kind {
    case .count, .countKnown: .count(count)
    case .sum where type == .float || type == .double: .value(known(realSum))
    case .sum where type == .uint64: .value(sum.unsigned.map { .unsigned($0) })
    case .sum: .value(sum.signed.map { .integer($0) })
    case .average:
      .value(count == 0 ? nil : known((realSum + sum.real) / Double(count)))
    case .minimum, .maximum:
      .value(
        bestText.map { .string(String(decoding: $0, as: UTF8.self)) }
          ?? bestNumber.constant(type))
    }
  }
}

/// The result of an aggregate without its Swift type.
enum AggregateResult: Sendable {
  case count(Int)
  case value(Value?)

  /// Whether both are the same value; text is compared by its bytes.
  func isSame(as other: AggregateResult) -> Bool {
    switch (self, other) {
    case (.count(let left), .count(let right)): left == right
    case (.value(nil), .value(nil)): true
    case (.value(.string(let left)?), .value(.string(let right)?)):
      left.utf8.elementsEqual(right.utf8)
    case (.value(let left?), .value(let right?)): left.bits == right.bits
    default: false
    }
  }
}

/// An aggregate without its Swift types.
struct AggregatePart: Sendable {
  let kind: AggregateKind
  let expression: ValueExpression

  /// Whether the result is rounded, so that it depends on the order of the values.
  var isRounded: Bool {
    (kind == .sum || kind == .average)
      && (expression.type == .float || expression.type == .double)
  }

  /// The aggregate of nothing.
  var empty: Accumulator { Accumulator(kind, expression.type) }
}
