// Rows as tuples of Swift types.

extension Connection {
  /// The values of a statement's only column.
  ///
  ///     let texts = try connection.rows("SELECT text FROM note", as: String.self)
  ///
  /// - Throws: As the same function with several types.
  public func rows<Column: SQLConvertible>(
    _ sql: String, _ values: [SQLValue] = [], as type: Column.Type
  ) throws(SQLiteError) -> [Column] {
    let statement = try statement(sql)
    try statement.bind(values)
    return try statement.rows(as: type)
  }

  /// The values of the only column of a statement with named parameters.
  ///
  /// - Throws: As the same function with several types.
  public func rows<Column: SQLConvertible>(
    _ sql: String, _ values: [String: SQLValue], as type: Column.Type
  ) throws(SQLiteError) -> [Column] {
    let statement = try statement(sql)
    try statement.bind(values)
    return try statement.rows(as: type)
  }

  /// The rows of a statement, with columns of the given types.
  ///
  ///     let notes = try connection.rows(
  ///       "SELECT id, text, made FROM note WHERE done = ?", [false],
  ///       as: Int.self, String?.self, Date.self)
  ///     for (id, text, made) in notes { … }
  ///
  /// `NULL` needs an optional type.
  ///
  /// - Parameters:
  ///   - sql: One statement.
  ///   - values: Values for its parameters.
  ///   - first: The type of the first column.
  ///   - second: The type of the second column.
  ///   - rest: The types of the other columns.
  /// - Throws: ``SQLiteError``: ``ResultCode/mismatch`` for a value that is none of its column's
  ///   type, ``ResultCode/range`` if the statement has more or fewer columns than types, or more
  ///   or fewer parameters than values.
  public func rows<First: SQLConvertible, Second: SQLConvertible, each Rest: SQLConvertible>(
    _ sql: String, _ values: [SQLValue] = [], as first: First.Type, _ second: Second.Type,
    _ rest: repeat (each Rest).Type
  ) throws(SQLiteError) -> [(First, Second, repeat each Rest)] {
    let statement = try statement(sql)
    try statement.bind(values)
    return try statement.rows(as: first, second, repeat each rest)
  }

  /// The rows of a statement with named parameters, with columns of the given types.
  ///
  /// - Throws: As the same function with an array of values, and ``ResultCode/range`` for a name
  ///   that no parameter has.
  public func rows<First: SQLConvertible, Second: SQLConvertible, each Rest: SQLConvertible>(
    _ sql: String, _ values: [String: SQLValue], as first: First.Type, _ second: Second.Type,
    _ rest: repeat (each Rest).Type
  ) throws(SQLiteError) -> [(First, Second, repeat each Rest)] {
    let statement = try statement(sql)
    try statement.bind(values)
    return try statement.rows(as: first, second, repeat each rest)
  }
}

extension PreparedStatement where Self: ~Copyable {
  /// The column's value as a value of `type`.
  ///
  ///     let made = try query.value(2, as: Date.self)
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/mismatch`` if it is none of this type. `NULL`
  ///   needs an optional type.
  public func value<V: SQLConvertible>(
    _ column: Int, as type: V.Type = V.self
  ) throws(SQLiteError) -> V {
    let value = value(column)
    if let result = V(sqlValue: value) { return result }
    throw mismatch(value, column, V.self)
  }

  /// The error for a column whose value is none of the type that was asked for.
  func mismatch(_ value: SQLValue, _ column: Int, _ type: Any.Type) -> SQLiteError {
    let name = columnNames.indices.contains(column) ? columnNames[column] : "of that number"
    var text = value.description
    if text.count > 100 { text = text.prefix(100) + "…" }
    return SQLiteError(
      code: .mismatch,
      message: "column \(column) (\(name)) has \(text), which is no \(type)"
        + (value.isNull ? "; read it as an optional" : ""), sql: sql, path: connection.path)
  }

  /// Throws unless the statement has `count` columns.
  private func requireColumns(_ count: Int) throws(SQLiteError) {
    if count != columnCount {
      throw SQLiteError(
        code: .range, message: "the statement has \(columnCount) columns, not \(count)", sql: sql,
        path: connection.path)
    }
  }

  /// The values of the only column in the rows that are left.
  fileprivate func rows<Column: SQLConvertible>(
    as type: Column.Type
  ) throws(SQLiteError) -> [Column] {
    try requireColumns(1)
    var result: [Column] = []
    while try step() { result.append(try value(0, as: type)) }
    return result
  }

  /// The rows that are left, with columns of the given types.
  fileprivate func rows<
    First: SQLConvertible, Second: SQLConvertible, each Rest: SQLConvertible
  >(
    as first: First.Type, _ second: Second.Type, _ rest: repeat (each Rest).Type
  ) throws(SQLiteError) -> [(First, Second, repeat each Rest)] {
    var count = 2
    for _ in repeat each rest { count += 1 }
    try requireColumns(count)
    var result: [(First, Second, repeat each Rest)] = []
    while try step() {
      var column = -1
      func next<V: SQLConvertible>(_ type: V.Type) throws(SQLiteError) -> V {
        column += 1
        return try self.value(column, as: type)
      }
      result.append((try next(first), try next(second), repeat try next(each rest)))
    }
    return result
  }
}
