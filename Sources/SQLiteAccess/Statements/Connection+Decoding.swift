// Rows as values of `Decodable` types.
//
// A row is a flat container: the columns are its keys. A column's value is read in the forms of
// SQLConvertible.swift, and types that are not among those decode themselves from the one value.

extension Connection {
  /// The rows of a statement, decoded.
  ///
  /// ```swift
  /// struct Note: Decodable {
  ///   var id: Int
  ///   var text: String?
  ///   var made: Date
  /// }
  /// let notes = try connection.rows("SELECT * FROM note", decoding: Note.self)
  /// ```
  ///
  /// Columns are found by their names, whatever their order; those without a property are ignored.
  /// Values have the forms of ``SQLConvertible``. A property may also be an enumeration with raw
  /// values, or another type that decodes itself from one of these values. A row has no nested
  /// containers.
  ///
  /// - Parameters:
  ///   - sql: One statement.
  ///   - values: Values for its parameters.
  ///   - type: The type of a row.
  /// - Throws: ``SQLiteError``; a `DecodingError` for a missing column, and for a value that is
  ///   none of its property's type, with the row and the column; what an `init(from:)` throws.
  public func rows<Row: Decodable>(
    _ sql: String, _ values: [SQLValue] = [], decoding type: Row.Type
  ) throws -> [Row] {
    let statement = try statement(sql)
    try statement.bind(values)
    return try statement.rows(decoding: type)
  }

  /// The rows of a statement with named parameters, decoded.
  ///
  /// - Throws: As the same function with an array of values, and ``ResultCode/range`` for a name
  ///   that no parameter has.
  public func rows<Row: Decodable>(
    _ sql: String, _ values: [String: SQLValue], decoding type: Row.Type
  ) throws -> [Row] {
    let statement = try statement(sql)
    try statement.bind(values)
    return try statement.rows(decoding: type)
  }
}

extension Statement {
  fileprivate func rows<Row: Decodable>(decoding type: Row.Type) throws -> [Row] {
    var columns: [String: Int] = [:]
    for (index, name) in columnNames.enumerated() where columns[name] == nil {
      columns[name] = index
    }
    var result: [Row] = []
    while try step() {
      let row = RowDecoder(values: self.row(), columns: columns, number: result.count)
      result.append(try Row(from: row))
    }
    return result
  }
}

/// Reads one row.
private struct RowDecoder: Decoder {
  let values: [SQLValue]
  let columns: [String: Int]
  /// How many rows came before.
  let number: Int
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RowContainer(row: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw DecodingError.typeMismatch([Any].self, context("a row has named columns, no list", []))
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    guard values.count == 1 else {
      throw DecodingError.typeMismatch(
        Any.self,
        context("a single value is read from a row of one column, not of \(values.count)", []))
    }
    return ColumnDecoder(value: values[0], row: self, codingPath: [])
  }

  func context(_ text: String, _ path: [any CodingKey]) -> DecodingError.Context {
    DecodingError.Context(codingPath: path, debugDescription: "row \(number): \(text)")
  }
}

private struct RowContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let row: RowDecoder
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { row.columns.keys.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { row.columns[key.stringValue] != nil }

  private func column(_ key: Key) throws -> ColumnDecoder {
    guard let index = row.columns[key.stringValue] else {
      let names = row.columns.sorted { $0.value < $1.value }.map(\.key).joined(separator: ", ")
      throw DecodingError.keyNotFound(
        key,
        row.context("there is no column \(key.stringValue); the columns are \(names)", [key]))
    }
    return ColumnDecoder(value: row.values[index], row: row, codingPath: [key])
  }

  func decodeNil(forKey key: Key) throws -> Bool { try column(key).decodeNil() }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try column(key).decode(type)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> { try column(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try column(key).unkeyedContainer()
  }

  func superDecoder() -> any Decoder { row }

  func superDecoder(forKey key: Key) throws -> any Decoder { try column(key) }
}

/// Reads the value of one column.
private struct ColumnDecoder: Decoder, SingleValueDecodingContainer {
  let value: SQLValue
  let row: RowDecoder
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw nested([String: Any].self)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw nested([Any].self) }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { value.isNull }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if let convertible = type as? any SQLConvertible.Type {
      guard let result = convertible.init(sqlValue: value) as? T else { throw mismatch(type) }
      return result
    }
    // The standard library's other integers decode themselves from a container of this kind, so
    // they would ask for themselves again.
    if let integer = type as? any FixedWidthInteger.Type {
      guard case .integer(let number) = value, let result = integer.init(exactly: number) as? T
      else { throw mismatch(type) }
      return result
    }
    return try T(from: self)
  }

  private func mismatch(_ type: Any.Type) -> DecodingError {
    if value.isNull {
      return .valueNotFound(
        type, row.context("the column is NULL, which is no \(type)", codingPath))
    }
    var text = value.description
    if text.count > 100 { text = text.prefix(100) + "…" }
    return .typeMismatch(
      type, row.context("the column has \(text), which is no \(type)", codingPath))
  }

  private func nested(_ type: Any.Type) -> DecodingError {
    .typeMismatch(
      type,
      row.context("a column has one value; decode a nested value from it yourself", codingPath))
  }
}
