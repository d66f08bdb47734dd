// MaintainedAggregates: aggregates, and groups of them, that follow the rows of a query's result.
//
// Each change of a row is applied to them. Some changes cannot be: when the least or greatest value
// has left, and for sums of floating-point numbers, whose rounding depends on the order of the
// terms. They are then to be read again.

import FlatBuffersRuntime

/// Aggregates that are maintained row by row.
protocol MaintainedAggregates {
  /// What is told of them.
  associatedtype Results
  typealias Values = UnsafeBufferPointer<ColumnValue>

  /// What they need to know of a row.
  var expressions: [ValueExpression] { get }
  /// Whether all are numbers of rows, for which no row has to be read.
  var onlyCounts: Bool { get }
  /// Counts rows that have entered, less those that have left. Only if `onlyCounts`.
  mutating func count(_ difference: Int)
  /// Adds a row.
  /// - Returns: False if they have to be read again; so do `remove` and `replace`.
  mutating func admit(_ values: Values) -> Bool
  /// Removes a row that was added.
  mutating func remove(_ values: Values) -> Bool
  /// Replaces a row that was added by another one.
  mutating func replace(_ old: Values, by new: Values) -> Bool
  /// Computes them from all rows.
  mutating func read(_ query: Query, in past: PastView) throws
  /// The results now.
  var results: Results { get }
  /// Whether two results are the same values.
  static func areSame(_ left: Results, _ right: Results) -> Bool
}

/// Aggregates over all rows.
struct SingleAggregates: MaintainedAggregates {
  let onlyCounts: Bool
  private let parts: [AggregatePart]
  private var accumulators: [Accumulator]

  init(_ parts: [AggregatePart]) {
    self.parts = parts
    accumulators = parts.map(\.empty)
    onlyCounts = parts.allSatisfy { $0.kind == .count }
  }

  var expressions: [ValueExpression] { parts.map(\.expression) }

  mutating func count(_ difference: Int) {
    for index in accumulators.indices { accumulators[index].count(difference) }
  }

  mutating func admit(_ values: Values) -> Bool {
    var isKnown = true
    for index in accumulators.indices where !accumulators[index].admit(values[index]) {
      isKnown = false
    }
    return isKnown
  }

  mutating func remove(_ values: Values) -> Bool {
    var isKnown = true
    for index in accumulators.indices where !accumulators[index].remove(values[index]) {
      isKnown = false
    }
    return isKnown
  }

  mutating func replace(_ old: Values, by new: Values) -> Bool {
    var isKnown = true
    for index in accumulators.indices
    where !accumulators[index].replace(old[index], by: new[index]) {
      isKnown = false
    }
    return isKnown
  }

  mutating func read(_ query: Query, in past: PastView) throws {
    accumulators = try past.accumulate(parts, query)
  }

  var results: [AggregateResult] { accumulators.map(\.result) }

  static func areSame(_ left: [AggregateResult], _ right: [AggregateResult]) -> Bool {
    zip(left, right).allSatisfy { $0.isSame(as: $1) }
  }
}

/// Aggregates of each group.
struct GroupedAggregates: MaintainedAggregates {
  private let parts: GroupedParts
  private var groups: GroupedValues

  init(_ parts: GroupedParts) {
    self.parts = parts.counted
    groups = GroupedValues(self.parts)
  }

  var expressions: [ValueExpression] { parts.expressions }

  /// False: the groups of a row have to be known.
  var onlyCounts: Bool { false }

  mutating func count(_ difference: Int) {}

  mutating func admit(_ values: Values) -> Bool { groups.admit(values) }

  mutating func remove(_ values: Values) -> Bool { groups.remove(values) }

  mutating func replace(_ old: Values, by new: Values) -> Bool { groups.replace(old, by: new) }

  mutating func read(_ query: Query, in past: PastView) throws {
    groups = try past.group(parts, query)
  }

  var results: [GroupResult] { groups.maintainedResults }

  static func areSame(_ left: [GroupResult], _ right: [GroupResult]) -> Bool {
    left.isSame(as: right)
  }
}
