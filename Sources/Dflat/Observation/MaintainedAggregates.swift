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
  /// - Returns: False if they have to be read again.
  mutating func count(_ difference: Int) -> Bool
  /// Adds a row.
  /// - Returns: False if they have to be read again; so do `remove` and `replace`.
  mutating func admit(_ values: Values) -> Bool
  /// Removes a row that was added.
  mutating func remove(_ values: Values) -> Bool
  /// Replaces a row that was added by another one.
  mutating func replace(_ old: Values, by new: Values) -> Bool
  /// Computes them from all rows.
  mutating func read(_ query: Query, in past: PastView) throws
  /// Computes what a change has made unknown from fewer rows than all, if that is possible. The
  /// changes before it, and what it has not made unknown, are applied.
  /// - Returns: Whether everything is known again; if not, all is to be read.
  mutating func readUnknown(_ query: Query, in past: PastView) throws -> Bool
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

  mutating func count(_ difference: Int) -> Bool {
    var isKnown = true
    for index in accumulators.indices where !accumulators[index].count(difference) {
      isKnown = false
    }
    return isKnown
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

  /// False: their rows are all rows.
  mutating func readUnknown(_ query: Query, in past: PastView) -> Bool { false }

  var results: [AggregateResult] { accumulators.map(\.result) }

  static func areSame(_ left: [AggregateResult], _ right: [AggregateResult]) -> Bool {
    zip(left, right).allSatisfy { $0.isSame(as: $1) }
  }
}

/// Aggregates of each group.
struct GroupedAggregates: MaintainedAggregates {
  private let parts: GroupedParts
  private var groups: GroupedValues
  /// Whether the rows of single groups give the same aggregates as all rows do.
  private let canReadSomeGroups: Bool

  init(_ parts: GroupedParts) {
    self.parts = parts.counted
    groups = GroupedValues(self.parts)
    // A row for which a function fails is in another group for a condition. The rounding of sums
    // depends on the order in which rows are read.
    canReadSomeGroups =
      !ExpressionReaders(parts.expressions).mayFail && !parts.parts.contains(where: \.isRounded)
  }

  var expressions: [ValueExpression] { parts.expressions }

  /// False: the groups of a row have to be known.
  var onlyCounts: Bool { false }

  mutating func count(_ difference: Int) -> Bool { false }

  mutating func admit(_ values: Values) -> Bool { groups.admit(values) }

  mutating func remove(_ values: Values) -> Bool { groups.remove(values) }

  mutating func replace(_ old: Values, by new: Values) -> Bool { groups.replace(old, by: new) }

  mutating func read(_ query: Query, in past: PastView) throws {
    groups = try past.group(parts, query)
  }

  mutating func readUnknown(_ query: Query, in past: PastView) throws -> Bool {
    guard canReadSomeGroups, let unknown = groups.unknownGroups else { return false }
    // A group that is not known and has lost all its rows after that is known again.
    guard let first = unknown.first else { return true }
    let condition = unknown.dropFirst().reduce(parts.condition(keys: first)) {
      .disjunction($0, parts.condition(keys: $1))
    }
    let read = try past.group(
      parts,
      Query(
        schema: query.schema,
        condition: query.condition.map { .conjunction($0, condition) } ?? condition))
    groups.takeUnknown(from: read)
    return true
  }

  var results: [GroupResult] { groups.maintainedResults }

  static func areSame(_ left: [GroupResult], _ right: [GroupResult]) -> Bool {
    left.isSame(as: right)
  }
}
