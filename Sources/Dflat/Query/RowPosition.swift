// RowPosition: a place in the order of a query, between two rows. It remains when those rows are
// removed.
//
// It consists of the values of the sort keys and the row id of the row before it. Row ids are never
// reused, and rows with equal values are ordered by id, so the position stays meaningful when rows
// are inserted and deleted around it.

import FlatBuffersRuntime

/// A place in a query's order: behind the row with these values and this id.
@usableFromInline package struct RowPosition: Sendable {
  /// The values of the sort keys; nil for unknown ones. Positions in a collection are integers.
  package let values: [Value?]
  /// The row id.
  package let id: Int64

  /// Creates a position.
  package init(values: [Value?], id: Int64) {
    self.values = values
    self.id = id
  }

  /// The position behind a row of a query's result.
  /// - Throws: `FunctionError` if the order calls a function that fails; `QueryError` if the row
  ///   has a text that is not UTF-8, which no position can name.
  init(behind row: Row, in query: Query) throws {
    let keys = query.order.map(SortKey.init)
    values = try row.read { table in
      Result {
        try keys.map { key in
          let value = key.value(of: table)
          try key.program.throwFailure(query.schema)
          if case .string(let text)? = value, key.positions == nil, !key.isText(text, of: table) {
            throw QueryError.undecodableText(query.schema, row.id)
          }
          return value
        }
      }
    }.get()
    id = row.id
  }
}

/// A position, compiled for comparisons with rows.
struct RowStart {
  private let keys: [SortKey]
  private let position: RowPosition

  init(_ position: RowPosition, _ order: [OrderTerm]) {
    keys = order.map(SortKey.init)
    self.position = position
  }

  /// What is evaluated for rows.
  var programs: [Program] { keys.map(\.program) }

  /// Whether a row comes behind the position.
  func isBefore(_ bytes: UnsafeRawBufferPointer, _ id: Int64) -> Bool {
    guard !keys.isEmpty else { return id > position.id }
    guard let table = TableReader(root: bytes) else { return false }
    for (key, value) in zip(keys, position.values) {
      let order = key.compare(table, to: value)
      if order != 0 { return (order > 0) != key.isDescending }
    }
    return id > position.id
  }
}

extension SortKey {
  /// Whether a row has the bytes of a text.
  fileprivate func isText(_ text: String, of row: TableReader) -> Bool {
    var text = text
    return program.withScratch { scratch in
      guard let bytes = program.utf8(program.result, row, scratch) else { return false }
      return text.withUTF8 { equalBytes(bytes, UnsafeRawBufferPointer($0)) }
    }
  }

  /// The value of a row; nil if it is unknown. For an order by a collection, the position in it.
  func value(of row: TableReader) -> Value? {
    program.withScratch { value(of: row, $0) }
  }

  private func value(of row: TableReader, _ scratch: ScratchMemory) -> Value? {
    if positions != nil { return position(row, scratch).map { .integer(Int64($0)) } }
    return program.value(program.result, type, row, scratch)
  }

  /// Negative if the row has the smaller value.
  fileprivate func compare(_ row: TableReader, to other: Value?) -> Int {
    if type == .string, positions == nil {
      return program.withScratch { scratch in
        guard let bytes = program.utf8(program.result, row, scratch) else {
          return other == nil ? 0 : -1
        }
        guard case .string(var text)? = other else { return 1 }
        return text.withUTF8 { compareBytes(bytes, UnsafeRawBufferPointer($0)) }
      }
    }
    guard let value = value(of: row) else { return other == nil ? 0 : -1 }
    guard let other else { return 1 }
    func order<T: Comparable>(_ left: T, _ right: T) -> Int {
      left < right ? -1 : left > right ? 1 : 0
    }
    return switch (value, other) {
    case (.integer(let left), .integer(let right)): order(left, right)
    case (.unsigned(let left), .unsigned(let right)): order(left, right)
    case (.real(let left), .real(let right)): order(left, right)
    case (.bool(let left), .bool(let right)): order(left ? 1 : 0, right ? 1 : 0)
    default: preconditionFailure("a position has a value of another type than its sort key")
    }
  }
}
