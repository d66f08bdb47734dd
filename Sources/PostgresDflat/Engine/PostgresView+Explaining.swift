// How the server answers a query: its plan, and the statement.

import Dflat

extension PostgresView {
  func explain(_ query: Query) throws -> QueryExplanation {
    let nothing = QueryExplanation(
      statement: nil, plan: ["no object was ever stored"], indexes: [], of: query.schema,
      rowByRow: nil, isSortedInMemory: false)
    return try reading(query.schema, missing: nothing) { table in
      let plan = plan(query, table)
      let positions = query.reading.flatMap(plan.covers)
      var text: String
      var indexes: [String]
      if let key = query.key {
        text = table.selectKey.text
        indexes = table.schema.primaryKey.indices.map { "__pk\($0)" }
        connection.parameters.begin(1 + key.rest.count)
        for (place, value) in ([key.first] + key.rest).enumerated() {
          connection.parameters.set(place, value)
        }
      } else {
        let select = SelectSQL(
          plan, table, plan.groupCounts ?? positions.map { .values($0) } ?? .rows,
          atMost: Self.most(of: plan))
        text = select.text
        indexes = select.indexes
        select.bind(to: connection.parameters)
      }
      let rows = try connection.runOnce("EXPLAIN (COSTS OFF) " + text)
      return QueryExplanation(
        statement: text, plan: (0..<rows.count).map { rows.text($0, 0) }, indexes: indexes,
        of: query.schema,
        rowByRow: query.key == nil ? plan.residual.map { $0.text(in: query.schema) } : nil,
        isSortedInMemory: query.key == nil && plan.isSortedInMemory,
        isCovering: query.key == nil && positions != nil)
    }
  }
}
