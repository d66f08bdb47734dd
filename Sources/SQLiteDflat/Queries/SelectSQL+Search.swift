// Statements for searches.
//
// A search is a set of row ids, like a condition on an index. Ordered by relevance, the full-text
// table drives the statement: the best rows are chosen by their ids, before any object is read.

import Dflat

extension SelectSQL {
  /// A SELECT of the row ids that the full-text table finds.
  mutating func rowIDs(_ search: SearchCondition) -> String {
    "SELECT rowid FROM \(fullText.table.quoted) WHERE \(match(search))"
  }

  /// A SELECT of the number of rows that the full-text table finds. It has the objects' rows only.
  mutating func count(_ search: SearchCondition) -> String {
    "SELECT count(*) FROM \(fullText.table.quoted) WHERE \(match(search))"
  }

  private var fullText: FullTextTable {
    guard let fullText = sql.fullText else {
      preconditionFailure("a plan searches a type without full-text fields")
    }
    return fullText
  }

  private mutating func match(_ search: SearchCondition) -> String {
    use(fullText.table)
    constants.append(.string(search.fts5(in: fullText)))
    return "\(fullText.table.quoted) MATCH ?"
  }

  /// The statement for a plan whose order is the relevance of a search; nil if the order is of no
  /// interest.
  mutating func ranked(_ plan: Plan, _ selection: Plan.Projection) -> String? {
    let columns: String
    switch selection {
    case .count, .groupCounts: return nil
    case .rows: columns = "m.rowid, m.p"
    case .values(let positions): columns = Self.keyColumns(positions)
    }
    guard let ranking = plan.ranking, let predicate = plan.predicate else { return nil }
    var others = if case .and(let parts) = predicate { parts } else { [predicate] }
    others.removeAll { part in
      if case .search(let search) = part { search === ranking.search } else { false }
    }
    let name = fullText.table.quoted
    let score = "bm25(\(name)\(weights(ranking.search, ranking.weights)))"
    // CROSS JOIN keeps SQLite from reordering the tables.
    let join = others.isEmpty ? "" : " CROSS JOIN \(sql.quoted) AS m ON m.rowid = \(name).rowid"
    var conditions = [match(ranking.search)]
    if !others.isEmpty { conditions.append(condition(.and(others), plan.query.schema)) }
    constants.append(.integer(Int64(most ?? -1)))
    // With a limit, even an infinite one, SQLite keeps the order of the subquery.
    return
      "SELECT \(columns) FROM (SELECT \(name).rowid AS id, \(score) AS score FROM \(name)"
      + "\(join) WHERE \(conditions.joined(separator: " AND ")) ORDER BY score, id LIMIT ?) AS f "
      + "CROSS JOIN \(sql.quoted) AS m ON m.rowid = f.id"
  }

  /// The weights of the full-text table's columns as arguments; none if all are equal.
  private mutating func weights(_ search: SearchCondition, _ weights: [Double]) -> String {
    if weights.allSatisfy({ $0 == 1 }) { return "" }
    var all = fullText.columns.map { _ in 1.0 }
    for (place, weight) in zip(search.indexColumns, weights) { all[place] = weight }
    constants += all.map { .real($0) }
    return all.map { _ in ", ?" }.joined()
  }
}
