// Turns a plan into one SELECT statement.
//
// Rows come by ascending row id, or in the order of one key or index. A condition on an index
// becomes a set of row ids, `rowid IN (SELECT rowid FROM side WHERE …)`, which SQLite walks in
// ascending order without sorting rows. For the order of an index its side table drives a join.
// Constants are always bound, so the text is the same from query to query and its statement is
// found in the cache.

import Dflat
import SQLiteAccess

/// A SELECT of `rowid, p` and its constants.
struct SelectSQL {
  private(set) var text: String
  private(set) var constants: [Value] = []
  /// The tables of the indexes that it uses, by name; a key is listed under its column.
  private(set) var indexes: [String] = []
  private let sql: TableSQL
  private var table: String { sql.quoted }
  /// The column whose side table drives the join, if there is a join.
  private var driver: FieldDescriptor?

  init(_ plan: Plan, _ sql: TableSQL) {
    self.sql = sql
    text = ""
    let schema = plan.query.schema
    let term = plan.isOrderedByEngine ? plan.query.order.first : nil
    var statement = "SELECT m.rowid, m.p FROM "
    let ordering = term?.field
    if let ordering, case .index(let index)? = ordering.column {
      // CROSS JOIN keeps SQLite from reordering the tables.
      let side = schema.indexes[index].table
      statement += "\(side.quoted) AS s CROSS JOIN \(table) AS m ON m.rowid = s.rowid"
      driver = ordering
      use(side)
    } else {
      statement += "\(table) AS m"
    }
    if let predicate = plan.predicate {
      statement += " WHERE " + condition(predicate, schema)
    }
    if let term, let ordering {
      let column = column(ordering)
      if case .key(let key)? = ordering.column { use("__pk\(key)") }
      let direction = term.isDescending ? " DESC" : ""
      statement += " ORDER BY \(column)\(direction), \(driver == nil ? "m" : "s").rowid"
    } else {
      statement += " ORDER BY m.rowid"
    }
    text = statement
  }

  /// The statement for one key.
  init(_ key: KeyValues, _ sql: TableSQL) {
    self.sql = sql
    text = sql.selectKey
    constants = [key.first] + key.rest
    indexes = sql.keyColumns
  }

  /// Binds the constants. Text is copied.
  func bind(to statement: Statement) throws(SQLiteError) {
    for (index, value) in constants.enumerated() {
      try statement.bind(index + 1, constant: value)
    }
  }

  private mutating func use(_ index: String) {
    if !indexes.contains(index) { indexes.append(index) }
  }

  // MARK: Conditions

  /// A condition on the row `m`.
  private mutating func condition(_ predicate: IndexPredicate, _ schema: EntitySchema) -> String {
    // All conditions on one index or key become one expression.
    if let field = predicate.onlyField {
      if case .index? = field.column, field != driver {
        return "m.rowid IN (" + rowIDs(predicate, schema) + ")"
      }
      if case .key(let key)? = field.column { use("__pk\(key)") }
      return expression(predicate, column: column(field))
    }
    switch predicate {
    case .never: return "0"
    case .and:
      return predicate.partsByField.map { condition($0, schema) }.joined(separator: " AND ")
    case .or:
      // One set of row ids, so that rows come in order and without duplicates.
      let sets = predicate.partsByField.map { rowIDs($0, schema) }
      return "m.rowid IN (" + sets.joined(separator: " UNION ALL ") + ")"
    case .compare, .oneOf, .isNull, .bits: preconditionFailure("each of these is about one field")
    }
  }

  /// A SELECT of the row ids that satisfy a condition.
  private mutating func rowIDs(_ predicate: IndexPredicate, _ schema: EntitySchema) -> String {
    if let field = predicate.onlyField, case .index(let index)? = field.column {
      let side = schema.indexes[index].table
      use(side)
      let inner = expression(predicate, column: field.path.quoted)
      return "SELECT rowid FROM \(side.quoted) WHERE \(inner)"
    }
    return "SELECT m.rowid FROM \(table) AS m WHERE " + condition(predicate, schema)
  }

  private func column(_ field: FieldDescriptor) -> String {
    if case .key(let key)? = field.column { return "m.__pk\(key)" }
    return "s.\(field.path.quoted)"
  }

  /// A condition on one column.
  private mutating func expression(_ predicate: IndexPredicate, column: String) -> String {
    switch predicate {
    case .never: return "0"
    case .and(let parts):
      return "(" + parts.map { expression($0, column: column) }.joined(separator: " AND ") + ")"
    case .or(let parts):
      return "(" + parts.map { expression($0, column: column) }.joined(separator: " OR ") + ")"
    case .isNull: return "\(column) IS NULL"
    case .bits(_, let test, let mask):
      constants.append(mask)
      guard test == .contains else { return "(\(column) & ?) <> 0" }
      constants.append(mask)
      return "(\(column) & ?) = ?"
    case .oneOf(_, let values):
      constants += values
      return "\(column) IN (\(values.map { _ in "?" }.joined(separator: ", ")))"
    case .compare(let field, let comparison, let value):
      if field.type == .uint64, case .unsigned(let constant) = value {
        return unsigned(comparison, constant, column: column)
      }
      constants.append(value)
      return "\(column) \(comparison.sql) ?"
    }
  }

  /// Unsigned numbers are stored as their bit patterns: those above the signed maximum are stored
  /// as negative numbers, but compare greater than all others.
  private mutating func unsigned(
    _ comparison: ComparisonOperator, _ constant: UInt64, column: String
  ) -> String {
    constants.append(.unsigned(constant))
    let test = "\(column) \(comparison.sql) ?"
    let isHigh = constant > UInt64(Int64.max)
    switch comparison {
    case .equal, .notEqual: return test
    case .less, .lessOrEqual:
      return isHigh ? "(\(column) >= 0 OR \(test))" : "(\(column) >= 0 AND \(test))"
    case .greater, .greaterOrEqual:
      return isHigh ? "(\(column) < 0 AND \(test))" : "(\(column) < 0 OR \(test))"
    }
  }
}

extension ComparisonOperator {
  fileprivate var sql: String {
    switch self {
    case .equal: "="
    case .notEqual: "<>"
    default: symbol
    }
  }
}

extension PreparedStatement where Self: ~Copyable {
  /// Binds a constant of a condition. Text is copied.
  func bind(_ index: Int, constant: Value) throws(SQLiteError) {
    switch constant {
    case .bool(let value): try bind(index, value ? 1 : 0 as Int64)
    case .integer(let value): try bind(index, value)
    case .unsigned(let value): try bind(index, Int64(bitPattern: value))
    case .real(let value): try bind(index, value)
    case .string(let value): try bind(index, value)
    }
  }
}
