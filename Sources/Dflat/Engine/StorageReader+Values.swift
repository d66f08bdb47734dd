// Reading values of expressions, and aggregates, from any engine.
//
// Values come from the columns of a key or index if the engine has them all there, otherwise from
// the bytes of the rows.

import FlatBuffersRuntime

extension StorageReader {
  /// Calls `body` with the values of expressions for each row of a query's result, in order, until
  /// it returns false. Text is valid during the call only.
  /// - Throws: `FunctionError` before the row for which a function has failed, unless the query
  ///   tolerates failures: then the value is unknown.
  func scanValues(
    of expressions: [ValueExpression], _ query: Query,
    _ body: (UnsafeBufferPointer<ColumnValue>) throws -> Bool
  ) throws {
    if let following = self as? FollowingReader {
      return try following.scanValuesFollowing(expressions, query, body)
    }
    if try scanKnownColumns(expressions, query, body) { return }
    let readers = ExpressionReaders(expressions)
    try withUnsafeTemporaryAllocation(of: ColumnValue.self, capacity: max(1, expressions.count)) {
      memory in
      memory.initialize(repeating: .null)
      if !readers.roots.isEmpty {
        let values = UnsafeBufferPointer(rebasing: memory[..<expressions.count])
        return try readers.roots.withUnsafeBufferPointer { roots in
          _ = try scan(.query(query), .bytes) { row in
            guard let table = TableReader(root: row.bytes) else { return true }
            for index in roots.indices { memory[index] = roots[index].value(of: table) }
            return try body(values)
          }
        }
      }
      let mayFail = readers.mayFail
      _ = try scan(.query(query), .bytes) { row in
        guard let table = TableReader(root: row.bytes) else { return true }
        return try readers.withValues(of: table, in: memory) { values in
          if mayFail, readers.hasFailure {
            guard let failures = query.failures else { return false }
            readers.moveFailure(to: failures)
          }
          return try body(values)
        }
      }
    }
    try readers.throwFailure(query.schema)
  }

  /// How the values of expressions for a query's result are found; without expressions, how its
  /// rows are.
  func explain(_ query: Query, _ expressions: [ValueExpression]?) throws -> QueryExplanation {
    guard let expressions else { return try explain(query) }
    if let following = self as? FollowingReader {
      return try following.explainFollowing(expressions, query)
    }
    if query.wantsGroupCounts, !query.isCut, let keys = GroupKeys(expressions) {
      return try explain(query.reading(keys.fields))
    }
    // What is computed needs the rows.
    let isKnown = expressions.allSatisfy { $0.field != nil || $0.constant != nil }
    return try explain(isKnown ? query.reading(expressions.compactMap(\.field)) : query)
  }

  /// Reads the values of fields and constants from columns, if possible.
  private func scanKnownColumns(
    _ expressions: [ValueExpression], _ query: Query,
    _ body: (UnsafeBufferPointer<ColumnValue>) throws -> Bool
  ) throws -> Bool {
    let fields = expressions.compactMap(\.field)
    if fields.count == expressions.count, fields.allSatisfy({ $0.domain == nil }) {
      return try scan(.query(query), .columns(fields)) { try body($0.values) }
    }
    let constants = expressions.map(\.constant)
    guard expressions.indices.allSatisfy({ expressions[$0].field != nil || constants[$0] != nil })
    else { return false }
    let places = expressions.indices.filter { constants[$0] == nil }
    return try withUnsafeTemporaryAllocation(
      of: ColumnValue.self, capacity: max(1, expressions.count)
    ) { known in
      known.initialize(repeating: .null)
      for (place, constant) in constants.enumerated() {
        if let constant { known[place] = constant }
      }
      let all = UnsafeBufferPointer(rebasing: known[..<expressions.count])
      return try scan(.query(query), .columns(fields)) { row in
        let values = row.values
        for index in fields.indices { known[places[index]] = fields[index].reading(values[index]) }
        return try body(all)
      }
    }
  }
}

extension StorageReader {
  /// Computes aggregates over the result of a query.
  func accumulate(_ parts: [AggregatePart], _ query: Query) throws -> [Accumulator] {
    let expressions = parts.map(\.expression)
    // The rounding of a sum depends on the order of its terms.
    if !parts.contains(where: \.isRounded),
      let halves = try valuesConcurrently(
        expressions, query, parts.map(\.empty),
        { accumulators, values in
          for index in accumulators.indices { accumulators[index].add(values[index]) }
        })
    {
      return zip(halves.0, halves.1).map { first, second in
        var both = first
        both.add(second)
        return both
      }
    }
    var accumulators = parts.map(\.empty)
    try accumulators.withUnsafeMutableBufferPointer { accumulators in
      try scanValues(of: expressions, query) { values in
        for index in accumulators.indices { accumulators[index].add(values[index]) }
        return true
      }
    }
    return accumulators
  }

  /// Computes aggregates for each combination of values of some expressions, over the result of a
  /// query.
  func group(_ parts: GroupedParts, _ query: Query) throws -> GroupedValues {
    if let following = self as? FollowingReader {
      return try following.groupFollowing(parts, query)
    }
    if let groups = try countGroups(parts, query) { return groups }
    var groups = GroupedValues(parts)
    if !parts.parts.contains(where: \.isRounded),
      let halves = try valuesConcurrently(parts.expressions, query, groups, { $0.add($1) })
    {
      groups = halves.0
      groups.add(halves.1)
      return groups
    }
    try scanValues(of: parts.expressions, query) { values in
      groups.add(values)
      return true
    }
    return groups
  }

  /// Has the engine count the rows of each group, if it can and nothing else is wanted of them.
  private func countGroups(_ parts: GroupedParts, _ query: Query) throws -> GroupedValues? {
    guard parts.onlyCount, !query.isCut, query.key == nil, let keys = GroupKeys(parts.keys) else {
      return nil
    }
    var groups = GroupedValues(parts)
    let counts = query.with(query.condition, []).groupCounts()
    let isCounted = try scan(.query(counts), .groups(keys.fields)) { group in
      keys.withValues(of: group.values) { groups.add(group.number, rowsWith: $0) }
      return true
    }
    return isCounted ? groups : nil
  }
}
