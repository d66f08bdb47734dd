// GroupedValues: aggregates for each combination of values of some expressions.
//
// The groups of all rows, each added once, or maintained: the values of a row that has left are
// removed again. Invariants of maintained groups:
//
//  - The last aggregate counts the rows of a group, and groups without rows are not told.
//  - Groups that have lost all rows keep their place for rows to come. When most groups are empty,
//    all is to be computed again, so memory follows the groups that there are.
//  - Groups of which an aggregate is not known are noted, unless there are many.

/// What is computed for which groups.
struct GroupedParts: Sendable {
  let keys: [ValueExpression]
  let parts: [AggregatePart]

  /// Whether only rows are counted.
  var onlyCount: Bool { !parts.isEmpty && parts.allSatisfy { $0.kind == .count } }

  /// The keys, then what is aggregated.
  var expressions: [ValueExpression] { keys + parts.map(\.expression) }

  /// The same with a number of rows at the end, for groups that are maintained.
  var counted: GroupedParts {
    let row = ValueExpression(node: .constant(.bool(true), .bool), type: .bool)
    return GroupedParts(keys: keys, parts: parts + [AggregatePart(kind: .count, expression: row)])
  }

  /// The condition on the rows of a group.
  /// - Parameter values: The group's values; nil for unknown ones.
  func condition(keys values: [Value?]) -> Node {
    let tests = zip(keys, values).map { key, value -> Node in
      guard let value else { return .isNull(key.node, key.type, negated: false) }
      return .comparison(.equal, key.node, .constant(value, key.type), key.type)
    }
    return tests.dropFirst().reduce(tests[0], Node.conjunction)
  }
}

/// A group: its values, nil if they are unknown, and its aggregates.
struct GroupResult: Sendable {
  let keys: [Value?]
  let results: [AggregateResult]

  /// Whether both are the same values; text is compared by its bytes.
  func isSame(as other: GroupResult) -> Bool {
    zip(keys, other.keys).allSatisfy {
      AggregateResult.value($0).isSame(as: .value($1))
    } && zip(results, other.results).allSatisfy { $0.isSame(as: $1) }
  }
}

extension [GroupResult] {
  /// Whether these are the same groups in the same order.
  func isSame(as other: [GroupResult]) -> Bool {
    count == other.count && zip(self, other).allSatisfy { $0.isSame(as: $1) }
  }
}

struct GroupedValues {
  private let types: [ValueType]
  private let empty: [Accumulator]
  private var table = GroupTable()
  private var accumulators: [Accumulator] = []
  // Only of maintained groups:

  /// How many groups have lost all rows.
  private var emptyGroups = 0
  /// Groups of which an aggregate is not known.
  private var unknown: Set<Int> = []
  /// Whether all groups are to be computed again.
  private var isObsolete = false

  /// As many groups as one condition may be about.
  private static let mostUnknownGroups = 16

  init(_ parts: GroupedParts) {
    types = parts.keys.map(\.type)
    empty = parts.parts.map(\.empty)
  }

  /// The values of the groups of which an aggregate is not known; nil if all groups are to be
  /// computed again.
  var unknownGroups: [[Value?]]? {
    isObsolete ? nil : unknown.sorted().map { table.keys(of: $0, types) }
  }

  /// Replaces the groups of which an aggregate is not known.
  /// - Parameter other: At least these groups, computed again.
  mutating func takeUnknown(from other: GroupedValues) {
    for group in unknown { clear(group * empty.count) }
    for group in 0..<other.table.count {
      let (place, source) = (place(like: group, of: other), group * empty.count)
      guard unknown.remove(place / empty.count) != nil else { continue }
      for index in empty.indices {
        accumulators[place + index] = other.accumulators[source + index]
      }
      emptyGroups -= 1
    }
    // Those that were not found have no rows that can be read.
    unknown = []
  }

  /// Takes all rows from the group at a place.
  private mutating func clear(_ place: Int) {
    for index in empty.indices { accumulators[place + index] = empty[index] }
    emptyGroups += 1
  }

  /// The place of a row's first accumulator.
  /// - Parameter values: Those of the expressions.
  @inline(__always)
  private mutating func place(of values: UnsafeBufferPointer<ColumnValue>) -> Int {
    let place = table.group(values[..<types.count]) * empty.count
    if place == accumulators.count { accumulators += empty }
    return place
  }

  /// The place of the group with the same values as a group elsewhere.
  private mutating func place(like group: Int, of other: GroupedValues) -> Int {
    let place = table.group(like: group, of: other.table) * empty.count
    if place == accumulators.count { accumulators += empty }
    return place
  }

  /// Adds a row.
  @inline(__always)
  mutating func add(_ values: UnsafeBufferPointer<ColumnValue>) {
    let place = place(of: values)
    for index in empty.indices { accumulators[place + index].add(values[types.count + index]) }
  }

  /// Adds rows with the same values to aggregates that only count.
  /// - Parameter values: Those of the keys.
  mutating func add(_ count: Int, rowsWith values: UnsafeBufferPointer<ColumnValue>) {
    let place = place(of: values)
    for index in empty.indices { _ = accumulators[place + index].count(count) }
  }

  /// Adds the groups of another part of the rows.
  mutating func add(_ other: GroupedValues) {
    for group in 0..<other.table.count {
      let (place, source) = (place(like: group, of: other), group * empty.count)
      for index in empty.indices {
        accumulators[place + index].add(other.accumulators[source + index])
      }
    }
  }

  /// Adds a row to groups that are maintained.
  /// - Returns: False if they have to be computed again; see `Accumulator`.
  mutating func admit(_ values: UnsafeBufferPointer<ColumnValue>) -> Bool {
    let groups = accumulators.count
    let place = place(of: values)
    if place < groups, accumulators[place + empty.count - 1].count == 0 { emptyGroups -= 1 }
    var isKnown = true
    for index in empty.indices
    where !accumulators[place + index].admit(values[types.count + index]) {
      isKnown = false
    }
    return isKnown || note(unknown: place)
  }

  /// Notes that an aggregate of a group is not known.
  /// - Returns: False.
  private mutating func note(unknown place: Int) -> Bool {
    unknown.insert(place / empty.count)
    if unknown.count > Self.mostUnknownGroups { isObsolete = true }
    return false
  }

  /// Replaces a row that was added by another one.
  /// - Returns: False if the groups have to be computed again.
  mutating func replace(
    _ old: UnsafeBufferPointer<ColumnValue>, by new: UnsafeBufferPointer<ColumnValue>
  ) -> Bool {
    let isSameGroup = zip(old, new).prefix(types.count).allSatisfy { $0.isSame(as: $1) }
    if !isSameGroup {
      let isAdmitted = admit(new)
      return remove(old) && isAdmitted
    }
    let group = place(of: old)
    var isKnown = true
    for index in empty.indices {
      let place = types.count + index
      if !accumulators[group + index].replace(old[place], by: new[place]) { isKnown = false }
    }
    return isKnown || note(unknown: group)
  }

  /// Removes a row that was added.
  /// - Returns: False if the groups have to be computed again.
  mutating func remove(_ values: UnsafeBufferPointer<ColumnValue>) -> Bool {
    let place = place(of: values)
    var isKnown = true
    for index in empty.indices
    where !accumulators[place + index].remove(values[types.count + index]) {
      isKnown = false
    }
    if accumulators[place + empty.count - 1].count > 0 { return isKnown || note(unknown: place) }
    // What is not known any more is not needed.
    unknown.remove(place / empty.count)
    clear(place)
    if emptyGroups >= 64 && emptyGroups * 2 >= table.count { isObsolete = true }
    return !isObsolete
  }

  /// The groups in ascending order of their values, text by its bytes; unknown values come first.
  var results: [GroupResult] {
    unorderedResults.sorted { Value.areAscending($0.keys, $1.keys) }
  }

  /// The groups in any order.
  var unorderedResults: [GroupResult] {
    (0..<table.count).map { group in
      GroupResult(
        keys: table.keys(of: group, types),
        results: empty.indices.map { accumulators[group * empty.count + $0].result })
    }
  }

  /// The groups with rows, without the number of these.
  var maintainedResults: [GroupResult] {
    results.compactMap { group in
      if case .count(0)? = group.results.last { return nil }
      return GroupResult(keys: group.keys, results: group.results.dropLast())
    }
  }
}

extension Value {
  /// Whether some values come before others; nil comes first, and text is ordered by its bytes.
  fileprivate static func areAscending(_ left: [Value?], _ right: [Value?]) -> Bool {
    for (left, right) in zip(left, right) {
      let order = compare(left, right)
      if order != 0 { return order < 0 }
    }
    return false
  }

  private static func compare(_ left: Value?, _ right: Value?) -> Int {
    func order<T: Comparable>(_ left: T, _ right: T) -> Int {
      left < right ? -1 : left > right ? 1 : 0
    }
    switch (left, right) {
    case (nil, nil): return 0
    case (nil, _): return -1
    case (_, nil): return 1
    case (.string(var left)?, .string(var right)?):
      return left.withUTF8 { left in
        right.withUTF8 { compareBytes(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer($0)) }
      }
    case (.real(let left)?, .real(let right)?): return order(left, right)
    case (.integer(let left)?, .integer(let right)?): return order(left, right)
    case (let left?, let right?): return order(left.bits, right.bits)
    }
  }
}
