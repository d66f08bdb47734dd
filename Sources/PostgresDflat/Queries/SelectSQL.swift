// Turns a plan into one SELECT statement.
//
// Rows come by ascending row id, or in the order of one key or index: unknown values before all
// others, in descending order behind them, as in every result. All columns are in the table of the
// objects, so a condition is one expression, and the server chooses among the indexes.
//
// Constants are always parameters, so the text is the same from query to query and its statement is
// found in the cache.

import Dflat

/// A SELECT and its constants.
struct SelectSQL {
  private(set) var text = ""
  private var constants: [Constant] = []
  /// The tables of the indexes that it uses, by name; a key is listed as `__pk` and its place.
  private(set) var indexes: [String] = []
  /// Whether the server ends the result at a limit.
  let isLimited: Bool
  private let table: EntityTable
  /// What comparisons with the key's texts give.
  private let textKeys: IndexAnswers
  /// The columns of the index that answers the plan by itself; empty if there is none.
  private let scanned: [IndexColumn]

  /// - Parameter most: The greatest number of rows; nil for all.
  init(
    _ plan: Plan, _ table: EntityTable, _ selection: Plan.Projection = .rows,
    _ part: Plan.Part = .all, atMost most: Int? = nil
  ) {
    self.table = table
    textKeys = plan.textKeys
    isLimited = most != nil
    scanned = plan.scan.map { table.schema.indexes[$0.index].columns } ?? []
    if let scan = plan.scan { use(table.schema.indexes[scan.index].table) }
    let condition = conditions(
      plan.predicate.map { expression($0) }, start(of: plan, part))
    switch selection {
    case .count:
      text = "SELECT count(*) FROM \(table.quoted)\(condition)"
      return
    case .groupCounts(let positions):
      let columns = positions.map { column($0) }.joined(separator: ", ")
      text = "SELECT count(*), \(columns) FROM \(table.quoted)\(condition) GROUP BY \(columns)"
      return
    case .rows: text = "SELECT rowid, p"
    case .values(let positions):
      text = "SELECT rowid" + positions.map { ", \(column($0))" }.joined()
    }
    text += " FROM \(table.quoted)\(condition) ORDER BY \(order(of: plan))"
    if let most {
      text += " LIMIT \(mark(.integer(Int64(most))))"
    }
  }

  /// Makes the constants the parameters of a statement.
  func bind(to parameters: Parameters) {
    parameters.begin(constants.count)
    for (place, constant) in constants.enumerated() {
      switch constant {
      case .value(let value): parameters.set(place, value)
      case .keyText(let text): parameters.set(place, keyText: text, table.keyTexts)
      case .bytes(let bytes): parameters.set(place, copying: bytes)
      case .list(let list): parameters.set(place, list)
      }
    }
  }

  private mutating func use(_ index: String) {
    if !indexes.contains(index) { indexes.append(index) }
  }

  // MARK: Columns and order

  /// The column of a field: one of the key, or of an index.
  private func column(_ field: FieldDescriptor) -> String {
    if let column = scanned.first(where: { $0.field == field }) {
      return column.columnName.quotedName
    }
    if case .key(let place)? = field.column { return "pk\(place)" }
    guard let column = table.columns.first(where: { $0.field == field }) else {
      preconditionFailure("a plan is about a field without a column")
    }
    return column.columnName.quotedName
  }

  /// The column at a position of the scanned index, or of the primary key.
  private func column(_ position: Int) -> String {
    scanned.isEmpty ? "pk\(position)" : scanned[position].columnName.quotedName
  }

  private mutating func order(of plan: Plan) -> String {
    guard plan.isOrderedByEngine else { return "rowid" }
    if let scan = plan.scan {
      let direction = scan.isDescending ? " DESC NULLS LAST" : " NULLS FIRST"
      return scanned.prefix(scan.orderedColumns)
        .flatMap { parts($0.columnName.quotedName, $0.field) }
        .map { "\($0)\(direction), " }.joined() + "rowid"
    }
    guard let term = plan.query.order.first, let field = term.field else { return "rowid" }
    if case .key(let place)? = field.column { use("__pk\(place)") }
    return "\(column(field))\(term.isDescending ? " DESC" : ""), rowid"
  }

  /// What tells the order of a column: an index has the first bytes of a text only.
  private func parts(_ sql: String, _ field: FieldDescriptor) -> [String] {
    isShortened(field) ? [sql.indexedText(), sql] : [sql]
  }

  /// Whether an index has only the first bytes of a field's text. That of the key has its columns
  /// as they are.
  private func isShortened(_ field: FieldDescriptor) -> Bool {
    field.type == .string && !isKeyText(field)
  }

  /// Whether a field is a text of the key, and is compared by the key's column.
  private func isKeyText(_ field: FieldDescriptor) -> Bool {
    guard field.type == .string, case .key? = field.column else { return false }
    return !scanned.contains { $0.field == field }
  }

  /// A comparison, by which the server finds values in an index.
  private func compare(
    _ column: String, _ comparison: ComparisonOperator, _ mark: String, _ field: FieldDescriptor
  ) -> String {
    let test = "\(column) \(comparison.sql) \(mark)"
    guard isShortened(field) else { return test }
    let bound =
      switch comparison {
      case .equal: "="
      case .less, .lessOrEqual: "<="
      case .greater, .greaterOrEqual: ">="
      case .notEqual: ""
      }
    return bound.isEmpty
      ? test : "(\(column.indexedText()) \(bound) \(mark.indexedText()) AND \(test))"
  }

  // MARK: Conditions

  private func conditions(_ parts: String?...) -> String {
    let known = parts.compactMap { $0 }
    return known.isEmpty ? "" : " WHERE " + known.joined(separator: " AND ")
  }

  private enum Constant {
    case value(Value)
    /// A text as the key's columns have it.
    case keyText(String)
    case bytes([UInt8])
    /// Values that a column may be equal to.
    case list(ValueList)
  }

  private mutating func mark(_ constant: Constant) -> String {
    constants.append(constant)
    return "$\(constants.count)"
  }

  private mutating func mark(_ value: Value) -> String { mark(.value(value)) }

  /// The same for a value that the column of a field is equal to.
  private mutating func mark(_ value: Value, for field: FieldDescriptor) -> String {
    guard isKeyText(field), case .string(let text) = value else { return mark(value) }
    return mark(.keyText(text))
  }

  /// The condition that candidates come behind the query's start, as far as the server can use it
  /// to find the first one.
  private mutating func start(of plan: Plan, _ part: Plan.Part) -> String? {
    guard let start = plan.query.start else { return nil }
    guard let term = plan.query.order.first else {
      return "rowid > \(mark(.integer(start.id)))"
    }
    guard plan.isOrderedByEngine, term.isByStoredValue, let field = term.field else { return nil }
    if term.isDescending {
      guard part != .unknown, let value = start.values[0] else {
        return "\(column(field)) IS NULL"
      }
      return compare(column(field), .lessOrEqual, mark(value), field)
    }
    guard let fields = plan.startFields else { return nil }
    var columns: [String] = []
    var marks: [String] = []
    for (field, value) in zip(fields, start.values.compactMap { $0 }) {
      columns += parts(column(field), field)
      marks += parts(mark(value), field)
    }
    marks.append(mark(.integer(start.id)))
    return "(\(columns.joined(separator: ", ")), rowid) > (\(marks.joined(separator: ", ")))"
  }

  private mutating func expression(_ predicate: IndexPredicate) -> String {
    switch predicate {
    case .never: return "false"
    case .search(let search):
      guard let words = table.words else {
        preconditionFailure("a search is about a type without a full-text index")
      }
      use(words.index.table)
      let query = mark(.string(words.query(search)))
      return "\(words.name.quotedName) @@ convert_from(\(query), 'UTF8')::tsquery"
    case .contains(let index, let values):
      use(index.table)
      return ElementsColumn(index).test(values.map { mark($0) })
    case .and(let parts):
      return "(" + parts.map { expression($0) }.joined(separator: " AND ") + ")"
    case .or(let parts):
      return "(" + parts.map { expression($0) }.joined(separator: " OR ") + ")"
    case .isNull(let field): return "\(used(field)) IS NULL"
    case .bits(let field, let test, let mask):
      let column = used(field)
      let mark = mark(mask)
      return test == .contains ? "(\(column) & \(mark)) = \(mark)" : "(\(column) & \(mark)) <> 0"
    case .oneOf(let field, let values):
      let column = used(field)
      if values.count == 1 { return compare(column, .equal, mark(values[0], for: field), field) }
      let list = ValueList(
        values, field.type, isKeyText(field) ? .stored(table.keyTexts) : .whole)
      let test = "\(column) = ANY(\(mark(.list(list))))"
      guard isShortened(field) else { return test }
      let beginnings = ValueList(values, field.type, .beginnings(String.indexedBytes))
      return "(\(column.indexedText()) = ANY(\(mark(.list(beginnings)))) AND \(test))"
    case .compare(let field, let comparison, let value):
      let column = used(field)
      if field.type == .uint64, case .unsigned(let constant) = value {
        let test = "\(column) \(comparison.sql) \(mark(value))"
        return comparison.unsigned(test, of: column, with: constant)
      }
      if isKeyText(field), case .string(let text) = value {
        return compareKey(column, comparison, text)
      }
      return compare(column, comparison, mark(value), field)
    }
  }

  /// A comparison of a text of the key.
  private mutating func compareKey(
    _ column: String, _ comparison: ComparisonOperator, _ text: String
  ) -> String {
    let isEquality = comparison == .equal || comparison == .notEqual
    if !isEquality, textKeys == .candidates, let bounds = table.keyTexts.bounds(of: text) {
      let isUpper = comparison == .less || comparison == .lessOrEqual
      return isUpper
        ? "\(column) <= \(mark(.bytes(bounds.upper)))"
        : "\(column) >= \(mark(.bytes(bounds.lower)))"
    }
    return
      "\(column) \(comparison.sql) \(mark(isEquality ? .keyText(text) : .value(.string(text))))"
  }

  /// The column of a field, noted as used.
  private mutating func used(_ field: FieldDescriptor) -> String {
    if scanned.isEmpty {
      switch field.column {
      case .key(let place)?: use("__pk\(place)")
      case .index(let place)?: use(table.schema.indexes[place].table)
      case nil: break
      }
    }
    return column(field)
  }
}
