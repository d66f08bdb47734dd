// Reading values of expressions, and aggregates, from any engine.
//
// Values come from the columns of a key or index if the engine has them all there, otherwise from
// the bytes of the rows.

import FlatBuffersRuntime

extension StorageReader {
  /// Calls `body` with the values of expressions for each row of a query's result, in order, until
  /// it returns false. Text is valid during the call only.
  func scanValues(
    of expressions: [ValueExpression], _ query: Query,
    _ body: (UnsafeBufferPointer<ColumnValue>) throws -> Bool
  ) throws {
    if RelationUse.isPossible, let following = self as? FollowingReader {
      return try following.scanValuesFollowing(expressions, query, body)
    }
    let fields = expressions.compactMap(\.field)
    if fields.count == expressions.count, try scanKnownColumns(fields, query, body) { return }
    let readers = ExpressionReaders(expressions)
    try withUnsafeTemporaryAllocation(of: ColumnValue.self, capacity: max(1, expressions.count)) {
      memory in
      memory.initialize(repeating: .null)
      if !readers.roots.isEmpty {
        let values = UnsafeBufferPointer(rebasing: memory[..<expressions.count])
        return try readers.roots.withUnsafeBufferPointer { roots in
          try scan(query) { _, bytes in
            guard let table = TableReader(root: bytes) else { return true }
            for index in roots.indices { memory[index] = roots[index].value(of: table) }
            return try body(values)
          }
        }
      }
      try scan(query) { _, bytes in
        guard let table = TableReader(root: bytes) else { return true }
        return try readers.withValues(of: table, in: memory, body)
      }
    }
    try readers.throwFailure(query.schema)
  }

  /// Reads the values of fields from columns, if possible.
  private func scanKnownColumns(
    _ fields: [FieldDescriptor], _ query: Query,
    _ body: (UnsafeBufferPointer<ColumnValue>) throws -> Bool
  ) throws -> Bool {
    if fields.allSatisfy({ $0.domain == nil }) {
      return try scanColumns(fields, query) { try body($1) }
    }
    return try withUnsafeTemporaryAllocation(of: ColumnValue.self, capacity: fields.count) {
      known in
      known.initialize(repeating: .null)
      return try scanColumns(fields, query) { _, values in
        for index in fields.indices { known[index] = fields[index].reading(values[index]) }
        return try body(UnsafeBufferPointer(known))
      }
    }
  }
}

extension StorageReader {
  /// Computes aggregates over the result of a query.
  func accumulate(_ parts: [AggregatePart], _ query: Query) throws -> [Accumulator] {
    var accumulators = parts.map(\.empty)
    let expressions = parts.map(\.expression)
    try accumulators.withUnsafeMutableBufferPointer { accumulators in
      try scanValues(of: expressions, query) { values in
        for index in accumulators.indices { accumulators[index].add(values[index]) }
        return true
      }
    }
    return accumulators
  }
}
