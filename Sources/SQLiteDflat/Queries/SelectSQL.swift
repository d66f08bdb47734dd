// Turns a plan into one SELECT statement.
//
// Rows come by ascending row id, or in the order of one key or index. A condition on an index
// becomes a set of row ids, `rowid IN (SELECT rowid FROM side WHERE …)`, which SQLite walks in
// ascending order without sorting rows. For the order of an index its side table drives a join.
// Values that an index has are read from its side table alone.
//
// A query that begins at a position of its order reads from there on, if the order is one that an
// index or key delivers. With values in descending order the rows of unknown ones come last; they
// are read by a second statement, since SQLite finds only one range in an index.
//
// Constants are always bound, so the text is the same from query to query and its statement is
// found in the cache.

import Dflat
import SQLiteAccess

/// A SELECT and its constants.
struct SelectSQL {
  /// How many constants a statement may have: fewer than SQLite's parameters, which are 32,766.
  static let mostConstants = 30_000
  /// How many comparisons a statement may have, where one with a list counts once: SQLite takes
  /// half a second to prepare 2,500, and half a minute for 10,000.
  static let mostComparisons = 2000
  private(set) var text: String
  var constants: [Value] = []
  /// The tables of the indexes that it uses, by name; a key is listed under its column.
  private(set) var indexes: [String] = []
  let sql: TableSQL
  /// The number of the best candidates that are selected; nil for all.
  let most: Int?
  private var table: String { sql.quoted }
  /// The table of the objects.
  var mainTable: String { sql.table }

  /// - Parameter most: Of candidates in the order of their relevance, the number of the best that
  ///   are selected; nil for all.
  init(
    _ plan: Plan, _ sql: TableSQL, _ selection: Plan.Projection = .rows, _ part: Plan.Part = .all,
    atMost most: Int? = nil
  ) {
    self.sql = sql
    self.most = most
    text = ""
    text = plan.scan.map { scan($0, plan, selection, part) } ?? select(plan, selection, part)
  }

  /// The statement for one key.
  init(_ key: KeyValues, _ sql: TableSQL) {
    self.sql = sql
    most = nil
    text = sql.selectKey
    constants = [key.first] + key.rest
    indexes = sql.keyColumns
  }

  /// A statement without constants.
  init(text: String, _ sql: TableSQL) {
    self.sql = sql
    self.text = text
    most = nil
  }

  /// Binds the constants. Text is copied.
  func bind(to statement: Statement) throws(SQLiteError) {
    for (index, value) in constants.enumerated() {
      try statement.bind(index + 1, constant: value)
    }
  }

  mutating func use(_ index: String) {
    if !indexes.contains(index) { indexes.append(index) }
  }

  // MARK: Statements

  /// The statement for a plan with one index.
  private mutating func scan(
    _ scan: IndexScan, _ plan: Plan, _ selection: Plan.Projection, _ part: Plan.Part
  ) -> String {
    let side = sql.sides[scan.index]
    use(side.table)
    let condition = conditions(
      plan.predicate.map { expression($0, prefix: "s.") }, start(of: plan, "s.", part))
    let direction = scan.isDescending ? " DESC" : ""
    let ordered = side.columns.prefix(scan.orderedColumns)
    let order =
      " ORDER BY " + ordered.map { "s.\($0.quoted)\(direction), " }.joined() + "s.rowid"
    switch selection {
    case .count: return "SELECT count(*) FROM \(side.table.quoted) AS s\(condition)"
    case .groupCounts(let positions):
      let columns = Self.columns(positions.map { "s.\(side.columns[$0].quoted)" }, of: "s")
      return "SELECT \(columns), count(*) FROM \(side.table.quoted) AS s\(condition) "
        + "GROUP BY \(columns)"
    case .values(let positions):
      let columns = Self.columns(positions.map { "s.\(side.columns[$0].quoted)" }, of: "s")
      return "SELECT \(columns) FROM \(side.table.quoted) AS s\(condition)\(order)"
    case .rows where scan.orderedColumns > 0:
      // CROSS JOIN keeps SQLite from reordering the tables.
      return "SELECT m.rowid, m.p FROM \(side.table.quoted) AS s CROSS JOIN \(table) AS m "
        + "ON m.rowid = s.rowid\(condition)\(order)"
    case .rows:
      return "SELECT m.rowid, m.p FROM \(table) AS m WHERE m.rowid IN "
        + "(SELECT s.rowid FROM \(side.table.quoted) AS s\(condition)) ORDER BY m.rowid"
    }
  }

  /// The statement for a plan with the primary key, or with several indexes of single fields.
  private mutating func select(
    _ plan: Plan, _ selection: Plan.Projection, _ part: Plan.Part
  ) -> String {
    if plan.ranking != nil, let text = ranked(plan, selection) { return text }
    if let text = containing(plan, selection) { return text }
    if case .count = selection, case .search(let search)? = plan.predicate,
      plan.query.start == nil
    {
      return count(search)
    }
    let condition = conditions(
      plan.predicate.map { self.condition($0, plan.query.schema) }, start(of: plan, "m.", part))
    let columns: String
    switch selection {
    case .count: return "SELECT count(*) FROM \(table) AS m\(condition)"
    case .groupCounts(let positions):
      let columns = Self.keyColumns(positions)
      return "SELECT \(columns), count(*) FROM \(table) AS m\(condition) GROUP BY \(columns)"
    case .rows: columns = "m.rowid, m.p"
    case .values(let positions): columns = Self.keyColumns(positions)
    }
    if case .rows = selection, !plan.isOrderedByEngine, plan.query.limit == nil,
      plan.predicate?.narrowsKey == true
    {
      // SQLite would look at each row rather than sort what it finds by the key.
      return "SELECT m.rowid, m.p FROM \(table) AS m WHERE m.rowid IN "
        + "(SELECT m.rowid FROM \(table) AS m\(condition)) ORDER BY m.rowid"
    }
    let start = "SELECT \(columns) FROM \(table) AS m\(condition) ORDER BY "
    guard plan.isOrderedByEngine, let term = plan.query.order.first, let field = term.field else {
      return start + "m.rowid"
    }
    if case .key(let key)? = field.column { use("__pk\(key)") }
    return start + "\(column(field, prefix: ""))\(term.isDescending ? " DESC" : ""), m.rowid"
  }

  /// The statement for the objects that have one element: their row ids come from its index in
  /// order, so nothing is sorted, and a limit ends the reading.
  private mutating func containing(_ plan: Plan, _ selection: Plan.Projection) -> String? {
    guard case .contains(let index, let values)? = plan.predicate, values.count == 1,
      case .rows = selection, plan.query.start == nil
    else { return nil }
    use(index.table)
    constants += values
    return "SELECT m.rowid, m.p FROM \(index.table.quoted) AS s CROSS JOIN \(table) AS m "
      + "ON m.rowid = s.owner WHERE s.element = ? ORDER BY s.owner"
  }

  /// Columns that are selected; without any, the row id of a table.
  private static func columns(_ columns: [String], of table: String) -> String {
    columns.isEmpty ? "\(table).rowid" : columns.joined(separator: ", ")
  }

  /// Columns of the primary key that are selected of `m`; without any, its row id.
  static func keyColumns(_ positions: [Int]) -> String {
    columns(positions.map { "m.__pk\($0)" }, of: "m")
  }

  // MARK: Conditions

  private func conditions(_ parts: String?...) -> String {
    let known = parts.compactMap { $0 }
    return known.isEmpty ? "" : " WHERE " + known.joined(separator: " AND ")
  }

  /// The condition that candidates come behind the query's start, as far as SQLite can use it to
  /// find the first one.
  /// - Parameter prefix: The table in whose order the candidates come, with a point.
  private mutating func start(of plan: Plan, _ prefix: String, _ part: Plan.Part) -> String? {
    guard let start = plan.query.start else { return nil }
    guard let term = plan.query.order.first else {
      constants.append(.integer(start.id))
      return "\(prefix)rowid > ?"
    }
    guard plan.isOrderedByEngine, term.isByStoredValue, let field = term.field else { return nil }
    if term.isDescending {
      let column = column(field, prefix: prefix == "m." ? "" : prefix)
      guard part != .unknown, let value = start.values[0] else { return "\(column) IS NULL" }
      constants.append(value)
      return "\(column) <= ?"
    }
    guard let fields = plan.startFields else { return nil }
    var (columns, marks) = ("", "")
    for (field, value) in zip(fields, start.values) {
      columns += column(field, prefix: prefix == "m." ? "" : prefix) + ", "
      marks += "?, "
      if let value { constants.append(value) }
    }
    constants.append(.integer(start.id))
    return "(\(columns)\(prefix)rowid) > (\(marks)?)"
  }

  /// A condition on the row `m`.
  mutating func condition(_ predicate: IndexPredicate, _ schema: EntitySchema) -> String {
    // All conditions on one index or key become one expression.
    if let field = predicate.onlyField {
      if case .index? = field.column { return "m.rowid IN (" + rowIDs(predicate, schema) + ")" }
      if case .key(let key)? = field.column { use("__pk\(key)") }
      return expression(predicate, prefix: "")
    }
    switch predicate {
    case .never: return "0"
    case .and:
      let parts = predicate.partsByField
      let hasKey = parts.contains(where: \.fixesKey)
      return parts.map { part in
        guard hasKey, case .contains(let index, let values) = part else {
          return condition(part, schema)
        }
        // The key leaves few objects; those with the elements may be many.
        return "EXISTS (" + rowIDs(index, values, ofOwner: true) + ")"
      }.joined(by: " AND ")
    case .or:
      // One set of row ids, so that rows come in order and without duplicates.
      let sets = predicate.partsByField.map { rowIDs($0, schema) }
      return "m.rowid IN (" + Self.union(sets[...]) + ")"
    case .search(let search): return "m.rowid IN (" + rowIDs(search) + ")"
    case .contains(let index, let values): return "m.rowid IN (" + rowIDs(index, values) + ")"
    case .compare, .oneOf, .isNull, .bits: preconditionFailure("each of these is about one field")
    }
  }

  /// A SELECT of the row ids that satisfy a condition.
  private mutating func rowIDs(_ predicate: IndexPredicate, _ schema: EntitySchema) -> String {
    if let field = predicate.onlyField, case .index(let index)? = field.column {
      let side = schema.indexes[index].table
      use(side)
      return "SELECT rowid FROM \(side.quoted) WHERE " + expression(predicate, prefix: "")
    }
    if case .search(let search) = predicate { return rowIDs(search) }
    if case .contains(let index, let values) = predicate { return rowIDs(index, values) }
    return "SELECT m.rowid FROM \(table) AS m WHERE " + condition(predicate, schema)
  }

  /// A SELECT of the row ids of the objects that have one of some elements.
  /// - Parameter ofOwner: Whether only the row `m` is looked at.
  private mutating func rowIDs(
    _ index: ElementIndex, _ values: [Value], ofOwner: Bool = false
  ) -> String {
    use(index.table)
    constants += values
    let test =
      values.count == 1
      ? "= ?" : "IN (\(values.map { _ in "?" }.joined(separator: ", ")))"
    return "SELECT owner FROM \(index.table.quoted) WHERE \(ofOwner ? "owner = m.rowid AND " : "")"
      + "element \(test)"
  }

  /// The row ids of some SELECTs together. SQLite takes at most 500 in a row.
  private static func union(_ selects: ArraySlice<String>) -> String {
    if selects.count <= 400 { return selects.joined(separator: " UNION ALL ") }
    let middle = selects.startIndex + selects.count / 2
    return [selects[..<middle], selects[middle...]]
      .map { "SELECT rowid FROM (\(union($0)))" }.joined(separator: " UNION ALL ")
  }

  /// The column of a field: one of the main table `m` for a key, or one of a side table.
  /// - Parameter prefix: The name of the side table, with a point.
  private func column(_ field: FieldDescriptor, prefix: String) -> String {
    if prefix.isEmpty, case .key(let key)? = field.column { return "m.__pk\(key)" }
    return prefix + field.path.quoted
  }

  /// A condition on columns of one table.
  private mutating func expression(_ predicate: IndexPredicate, prefix: String) -> String {
    switch predicate {
    case .never: return "0"
    case .search, .contains: preconditionFailure("this is about no column")
    case .and(let parts):
      return "(" + parts.map { expression($0, prefix: prefix) }.joined(by: " AND ") + ")"
    case .or(let parts):
      return "(" + parts.map { expression($0, prefix: prefix) }.joined(by: " OR ") + ")"
    case .isNull(let field): return "\(column(field, prefix: prefix)) IS NULL"
    case .bits(let field, let test, let mask):
      let column = column(field, prefix: prefix)
      constants.append(mask)
      guard test == .contains else { return "(\(column) & ?) <> 0" }
      constants.append(mask)
      return "(\(column) & ?) = ?"
    case .oneOf(let field, let values):
      let column = column(field, prefix: prefix)
      if let list = JSONList(values) {
        constants.append(.string(list.text))
        return "\(column) IN (SELECT value FROM json_each(?))"
      }
      constants += values
      // With one value as an equality, which an order can follow.
      if values.count == 1 { return "\(column) = ?" }
      return "\(column) IN (\(values.map { _ in "?" }.joined(separator: ", ")))"
    case .compare(let field, let comparison, let value):
      let column = column(field, prefix: prefix)
      if field.type == .uint64, case .unsigned(let constant) = value {
        constants.append(value)
        return comparison.unsigned("\(column) \(comparison.sql) ?", of: column, with: constant)
      }
      constants.append(value)
      return "\(column) \(comparison.sql) ?"
    }
  }
}

extension RandomAccessCollection<String> {
  /// The conditions with a connective between them. SQLite reads a long row of them as a tree that
  /// is as deep as there are conditions, and takes at most 1,000 levels, so halves have
  /// parentheses.
  fileprivate func joined(by connective: String) -> String {
    if count <= 64 { return joined(separator: connective) }
    let halves = [prefix(count / 2), dropFirst(count / 2)].map { "(\($0.joined(by: connective)))" }
    return halves.joined(separator: connective)
  }
}

extension IndexPredicate {
  /// Whether it leaves a range of the first field of the key.
  fileprivate var narrowsKey: Bool {
    switch self {
    case .compare(let field, .less, _), .compare(let field, .lessOrEqual, _),
      .compare(let field, .greater, _), .compare(let field, .greaterOrEqual, _):
      if case .key(0)? = field.column { true } else { false }
    case .and(let parts): parts.contains(where: \.narrowsKey) && !parts.contains(where: \.fixesKey)
    default: false
    }
  }

  /// Whether it leaves few values of a field of the key.
  fileprivate var fixesKey: Bool {
    switch self {
    case .compare(let field, .equal, _), .oneOf(let field, _):
      if case .key? = field.column { true } else { false }
    default: false
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
