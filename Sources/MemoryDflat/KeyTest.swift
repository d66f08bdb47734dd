// Conditions on the values of a key or index: a range of its map, and a test of each entry.

import Dflat

/// A condition on the fields of a sorted map.
struct KeyTest {
  private indirect enum Test {
    case always, never
    case isNull(Int)
    case compare(Int, ComparisonOperator, IndexValue)
    case oneOf(Int, [IndexValue])
    /// `base` is the stored representation of zero.
    case bits(Int, BitTest, mask: Int64, base: Int64)
    case all([Test])
    case any([Test])
  }

  private typealias Range = (least: IndexValue?, greatest: IndexValue?)

  private let test: Test
  /// The ranges of the first fields that contain all matching values; all but the last have a
  /// single value.
  private let ranges: [Range]

  /// - Parameters:
  ///   - predicate: A predicate on some of the fields; nil passes every value.
  ///   - fields: The fields of the map, in its order.
  init(_ predicate: IndexPredicate?, _ fields: [FieldDescriptor]) {
    test = predicate.map { Self.make($0, fields) } ?? .always
    var ranges: [Range] = []
    for place in fields.indices {
      let range = Self.range(of: test, place)
      ranges.append(range)
      guard let least = range.least, let greatest = range.greatest, least == greatest else { break }
    }
    self.ranges = ranges
  }

  /// Whether values come before all that can pass.
  func isBelow(_ values: KeyTuple) -> Bool {
    for (place, range) in ranges.enumerated() {
      guard let least = range.least else { return false }
      let order = IndexValue.compare(values[place], least)
      if order != 0 || place == ranges.count - 1 { return order < 0 }
    }
    return false
  }

  /// Whether values come after all that can pass.
  func isAbove(_ values: KeyTuple) -> Bool {
    for (place, range) in ranges.enumerated() {
      guard let greatest = range.greatest else { return false }
      let order = IndexValue.compare(values[place], greatest)
      if order != 0 || place == ranges.count - 1 { return order > 0 }
    }
    return false
  }

  func passes(_ values: KeyTuple) -> Bool { Self.passes(values, test) }

  private static func make(_ predicate: IndexPredicate, _ fields: [FieldDescriptor]) -> Test {
    func place(_ field: FieldDescriptor) -> Int {
      guard let place = fields.firstIndex(of: field) else {
        preconditionFailure("a plan is about a field that its index does not have")
      }
      return place
    }
    return switch predicate {
    case .never: .never
    case .compare(let field, let comparison, let value):
      .compare(place(field), comparison, IndexValue(value))
    case .oneOf(let field, let values):
      .oneOf(place(field), values.map { IndexValue($0) }.sorted())
    case .isNull(let field): .isNull(place(field))
    case .bits(let field, let test, let mask):
      .bits(place(field), test, mask: mask.bits, base: field.type == .uint64 ? .min : 0)
    case .search: preconditionFailure("this engine has no full-text index")
    case .contains: preconditionFailure("this engine has no indexes of elements")
    case .and(let parts): .all(parts.map { make($0, fields) })
    case .or(let parts): .any(parts.map { make($0, fields) })
    }
  }

  /// The range of a field that contains the values which can pass; a missing bound is nil.
  private static func range(of test: Test, _ place: Int) -> Range {
    switch test {
    case .compare(place, .equal, let value): return (value, value)
    case .compare(place, .less, let value), .compare(place, .lessOrEqual, let value):
      return (nil, value)
    case .compare(place, .greater, let value), .compare(place, .greaterOrEqual, let value):
      return (value, nil)
    case .oneOf(place, let values): return (values.first, values.last)
    case .isNull(place): return (.null, .null)
    case .all(let parts):
      let ranges = parts.map { range(of: $0, place) }
      return (ranges.compactMap(\.least).max(), ranges.compactMap(\.greatest).min())
    case .any(let parts):
      let ranges = parts.map { range(of: $0, place) }
      let least = ranges.compactMap(\.least)
      let greatest = ranges.compactMap(\.greatest)
      return (
        least.count == ranges.count ? least.min() : nil,
        greatest.count == ranges.count ? greatest.max() : nil
      )
    case .always, .never, .bits, .compare, .oneOf, .isNull: return (nil, nil)
    }
  }

  /// Null satisfies `isNull` only.
  private static func passes(_ values: KeyTuple, _ test: Test) -> Bool {
    switch test {
    case .always: return true
    case .never: return false
    case .isNull(let place): return values[place].isNull
    case .all(let parts): return parts.allSatisfy { passes(values, $0) }
    case .any(let parts): return parts.contains { passes(values, $0) }
    case .compare(let place, let comparison, let constant):
      let value = values[place]
      return !value.isNull && comparison.accepts(IndexValue.compare(value, constant))
    case .oneOf(let place, let constants):
      return !values[place].isNull && constants.contains(values[place])
    case .bits(let place, let test, let mask, let base):
      guard case .integer(let number) = values[place] else { return false }
      return test == .contains ? (number ^ base) & mask == mask : (number ^ base) & mask != 0
    }
  }
}

extension ComparisonOperator {
  /// Whether it holds for operands with this comparison result: negative, zero or positive.
  fileprivate func accepts(_ order: Int) -> Bool {
    switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }
}

extension Value {
  /// The bits of a mask.
  fileprivate var bits: Int64 {
    switch self {
    case .integer(let value): value
    case .unsigned(let value): Int64(bitPattern: value)
    case .bool, .real, .string: preconditionFailure("a mask is an integer")
    }
  }
}
