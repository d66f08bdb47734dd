// Rows as JSON and values, without the Swift types that generated code has for them.

/// A row that is encoded with the names of a schema, as generated types are.
package struct EncodableRow: Encodable {
  private let row: Row
  private let schema: EntitySchema

  /// A row of a type.
  package init(_ row: Row, of schema: EntitySchema) {
    self.row = row
    self.schema = schema
  }

  /// Encodes the fields as objects of generated types do.
  package func encode(to encoder: any Encoder) throws {
    try row.read { table in Result { try schema.layout.encode(table, to: encoder) } }.get()
  }
}

extension Node {
  /// Whether its value depends on other objects than the row's.
  package var readsOtherObjects: Bool { followsRelations }

  /// Whether it calls a Swift function, which has no form as text.
  package var callsFunctions: Bool { contains { if case .call = $0 { true } else { false } } }
}

/// Computes the values of expressions for rows.
package struct RowValues: Sendable {
  private let readers: ExpressionReaders

  /// - Parameter expressions: Expressions with the types of their values.
  package init(_ expressions: [(node: Node, type: ValueType)]) {
    readers = ExpressionReaders(
      expressions.map { ValueExpression(node: $0.node, type: $0.node.operandType($0.type)) })
  }

  /// The values for a row; nil for unknown ones.
  package func values(of row: Row, as types: [ValueType]) -> [Value?] {
    readers.withValues(of: row) { values in
      zip(values, types).map { $0.constant($1) }
    }
  }
}
