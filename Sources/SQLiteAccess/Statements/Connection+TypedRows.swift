// Rows as tuples of Swift types.

extension Connection {
  /// The rows of a statement, with columns of the given types.
  ///
  ///     let notes = try connection.rows(
  ///       "SELECT id, text, made FROM note WHERE done = ?", [false],
  ///       as: Int.self, String?.self, Date.self)
  ///     for (id, text, made) in notes { … }
  ///
  /// With one type the result is an array of its values. `NULL` needs an optional type.
  ///
  /// - Parameters:
  ///   - sql: One statement.
  ///   - values: Values for its parameters.
  ///   - first: The type of the first column.
  ///   - rest: The types of the other columns.
  /// - Throws: ``SQLiteError``: ``ResultCode/mismatch`` for a value that is none of its column's
  ///   type, ``ResultCode/range`` if the statement has more or fewer columns than types, or more
  ///   or fewer parameters than values.
  public func rows<First: SQLConvertible, each Rest: SQLConvertible>(
    _ sql: String, _ values: [SQLValue] = [], as first: First.Type,
    _ rest: repeat (each Rest).Type
  ) throws(SQLiteError) -> [(First, repeat each Rest)] {
    let statement = try statement(sql)
    try statement.bind(values)
    return try statement.rows(as: first, repeat each rest)
  }

  /// The rows of a statement with named parameters, with columns of the given types.
  ///
  /// - Throws: As the same function with an array of values, and ``ResultCode/range`` for a name
  ///   that no parameter has.
  public func rows<First: SQLConvertible, each Rest: SQLConvertible>(
    _ sql: String, _ values: [String: SQLValue], as first: First.Type,
    _ rest: repeat (each Rest).Type
  ) throws(SQLiteError) -> [(First, repeat each Rest)] {
    let statement = try statement(sql)
    try statement.bind(values)
    return try statement.rows(as: first, repeat each rest)
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

  /// The rows that are left, with columns of the given types.
  ///
  /// - Throws: As ``Connection/rows(_:_:as:_:)``.
  func rows<First: SQLConvertible, each Rest: SQLConvertible>(
    as first: First.Type, _ rest: repeat (each Rest).Type
  ) throws(SQLiteError) -> [(First, repeat each Rest)] {
    var count = 1
    for _ in repeat each rest { count += 1 }
    if count != columnCount {
      throw SQLiteError(
        code: .range, message: "the statement has \(columnCount) columns, not \(count)", sql: sql,
        path: connection.path)
    }
    var result: [(First, repeat each Rest)] = []
    while try step() {
      let value = try value(0, as: first)
      var column = 0
      func next<V: SQLConvertible>(_ type: V.Type) throws(SQLiteError) -> V {
        column += 1
        return try self.value(column, as: type)
      }
      result.append((value, repeat try next(each rest)))
    }
    return result
  }
}
