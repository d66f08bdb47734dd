// The values that indexes have for rows.

package import FlatBuffersRuntime

extension IndexColumn {
  /// Calls `body` with the column's value for a row. The value is valid until `body` returns.
  @inline(__always)
  package func withValue<R>(of row: TableReader, _ body: (ColumnValue) throws -> R) rethrows -> R {
    let value = reader.read(row)
    guard isFolded, case .text(let bytes) = value else { return try body(value) }
    return try CaseFolding.withFolded(bytes) { try body(.text($0)) }
  }

  /// Whether two rows have the same value. Unknown equals unknown.
  package func hasSameValue(_ left: TableReader, _ right: TableReader) -> Bool {
    let (left, right) = (reader.read(left), reader.read(right))
    if left.isSame(as: right) { return true }
    guard isFolded, case .text(let left) = left, case .text(let right) = right else {
      return false
    }
    return CaseFolding.withFolded(left) { left in
      CaseFolding.withFolded(right) { ColumnValue.text(left).isSame(as: .text($0)) }
    }
  }
}

extension Collection<IndexColumn> {
  /// The condition that an object has the same values as a row in all columns, on stored values;
  /// nil if one of them is unknown, which equals no other.
  /// - Parameter usesIndex: Whether it is a condition that indexes can answer. Then it is false for
  ///   an object with a value of an enum that this version of the schema does not know.
  package func sameValues(as row: TableReader, usingIndex usesIndex: Bool = false) -> Node? {
    var parts: [Node] = []
    for column in self {
      let type = column.field.type
      guard let value = column.withValue(of: row, { $0.constant(type) }) else { return nil }
      let field = Node.field(usesIndex ? column.reader.field : column.reader.storedField)
      parts.append(
        .comparison(.equal, column.isFolded ? .folded(field) : field, .constant(value, type), type))
    }
    return parts.count > 1 ? .and(NodeParts(parts)) : parts.first
  }
}

extension EntitySchema {
  /// Columns and a row's values in readable form: `author.handle: "ann", title: "One"`.
  package func describe(_ columns: [IndexColumn], of row: TableReader) -> String {
    columns.map { describe($0.reader.read(row), of: $0.reader.field) }.joined(separator: ", ")
  }

  /// The fields of a key or index, given by its table or key column, with the schema's names.
  package func fieldNames(ofIndex table: String) -> String {
    if let index = indexes.first(where: { $0.table == table }) { return name(of: index) }
    if let fullText, fullText.table == table {
      return fullText.columns.map { name(of: $0.field) }.joined(separator: ", ")
    }
    if let index = elementIndexes.first(where: { $0.table == table }) {
      return layout.property(at: index.offset)?.name ?? table
    }
    let place = primaryKey.indices.first { "__pk\($0)" == table }
    return place.map { name(of: primaryKey[$0]) } ?? table
  }

  /// The fields of an index with the schema's names: `likes`, `author.handle, title nocase`.
  package func name(of index: IndexDescriptor) -> String {
    index.columns.map { name(of: $0.reader.field) + ($0.isFolded ? " nocase" : "") }
      .joined(separator: ", ")
  }
}
