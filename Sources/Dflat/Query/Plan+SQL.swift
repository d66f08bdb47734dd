// What engines that answer a plan with SQL statements share.

extension Plan {
  /// What a statement selects.
  package enum Projection: Sendable {
    /// The row id and the object.
    case rows
    /// Columns of the scanned index, or of the primary key if none is scanned; see
    /// ``covers(_:)``. Without columns, row ids.
    case values([Int])
    /// The number of candidates, regardless of the limit.
    case count
    /// Columns as in `values`, once for each combination of their values, and how many candidates
    /// have it.
    case groupCounts([Int])
  }

  /// The statement's selection for a query that wants group counts, if they can be read in the
  /// order of the scanned index or of the primary key, without sorting.
  package var groupCounts: Projection? {
    guard query.wantsGroupCounts, !query.isCut, let fields = query.reading,
      let positions = covers(fields), isOrdered(by: positions)
    else { return nil }
    return .groupCounts(positions)
  }

  /// Whether the candidates come in an order by some columns of the scanned index, or of the
  /// primary key. Columns before these are fixed by the condition.
  private func isOrdered(by positions: [Int]) -> Bool {
    guard let last = positions.max() else { return false }
    guard let scan else { return predicate == nil && Set(positions) == Set(0...last) }
    let columns = query.schema.indexes[scan.index].columns
    let kinds = IndexPredicate.kinds(of: predicate)
    return (0...last).allSatisfy { place in
      positions.contains(place) || kinds[columns[place].field.path] == .fixed
    }
  }

  /// Which candidates a statement selects.
  package enum Part: Sendable {
    /// All of them.
    case all
    /// Those for which the first sort key is known.
    case known
    /// The others.
    case unknown
  }

  /// The parts in which the candidates are read, in their order. Of one range of values a storage
  /// finds the first one at once, but not of two.
  package var parts: [Part] {
    guard let start = query.start, isOrderedByEngine, let term = query.order.first,
      term.isDescending, term.isByStoredValue, term.field != nil, start.values[0] != nil
    else { return [.all] }
    return [.known, .unknown]
  }

  /// Whether a statement gives exactly what comes behind the query's start.
  package var beginsExactly: Bool {
    query.start != nil && (query.order.isEmpty || startFields != nil)
  }

  /// The fields by whose values, all in ascending order, and row ids a statement finds the start;
  /// nil if it must be found in another way.
  package var startFields: [FieldDescriptor]? {
    guard let start = query.start, isOrderedByEngine else { return nil }
    let fields = query.order.compactMap { $0.isByStoredValue ? $0.field : nil }
    guard fields.count == query.order.count, start.values.allSatisfy({ $0 != nil }),
      query.order.allSatisfy({ !$0.isDescending })
    else { return nil }
    return fields
  }
}

extension ComparisonOperator {
  /// The operator in SQL.
  package var sql: String {
    switch self {
    case .equal: "="
    case .notEqual: "<>"
    default: symbol
    }
  }

  /// A comparison with an unsigned number.
  ///
  /// Unsigned numbers are stored as their bit patterns: those above the signed maximum are stored
  /// as negative numbers, but compare greater than all others.
  ///
  /// - Parameters:
  ///   - test: The same comparison of signed numbers.
  ///   - column: The column that is compared.
  ///   - constant: What it is compared with.
  /// - Returns: The expression.
  package func unsigned(_ test: String, of column: String, with constant: UInt64) -> String {
    let isHigh = constant > UInt64(Int64.max)
    switch self {
    case .equal, .notEqual: return test
    case .less, .lessOrEqual:
      return isHigh ? "(\(column) >= 0 OR \(test))" : "(\(column) >= 0 AND \(test))"
    case .greater, .greaterOrEqual:
      return isHigh ? "(\(column) < 0 AND \(test))" : "(\(column) < 0 OR \(test))"
    }
  }
}
