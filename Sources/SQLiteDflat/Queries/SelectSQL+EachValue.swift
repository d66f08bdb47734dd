// Each value of an index once: from value to value, by a look-up for each, past the entries that
// have the same one.

import Dflat

extension SelectSQL {
  /// The statement for the values of a plan's only column, without NULL.
  /// - Parameter positions: The places of the columns that are wanted in the index or key.
  /// - Returns: nil if there is a condition, or if the entries are not in the order of that column.
  static func eachValue(_ plan: Plan, _ sql: TableSQL, _ positions: [Int]) -> SelectSQL? {
    let query = plan.query
    guard query.wantsEachValueOnce, positions == [0], plan.predicate == nil, plan.residual == nil,
      !query.isCut, query.order.isEmpty
    else { return nil }
    if let scan = plan.scan {
      let side = sql.sides[scan.index]
      return SelectSQL(
        eachValueOf: side.columns[0].quoted, in: side.table.quoted, index: side.table, sql)
    }
    // A key of one field has each value once.
    if sql.keyColumns.count < 2 { return nil }
    return SelectSQL(
      eachValueOf: sql.keyColumns[0].quoted, in: sql.quoted, index: sql.keyColumns[0], sql)
  }

  private init(eachValueOf column: String, in table: String, index: String, _ sql: TableSQL) {
    self.init(
      text: "WITH RECURSIVE each(x) AS (SELECT min(\(column)) FROM \(table) UNION ALL SELECT "
        + "(SELECT \(column) FROM \(table) WHERE \(column) > each.x ORDER BY \(column) LIMIT 1) "
        + "FROM each WHERE each.x IS NOT NULL) SELECT x FROM each WHERE x IS NOT NULL",
      sql)
    use(index)
  }
}
