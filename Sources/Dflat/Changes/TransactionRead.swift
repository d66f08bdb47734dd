// TransactionRead: a read that can be repeated in another state of the data.

/// What a transaction has asked for.
enum TransactionRead {
  case query(Query)
  case row(EntitySchema, id: Int64)
  case key(EntitySchema, of: Row)

  var schema: EntitySchema {
    switch self {
    case .query(let query): query.schema
    case .row(let schema, _), .key(let schema, _): schema
    }
  }

  /// The result; nil if a row is damaged.
  func rows(_ reader: any StorageReader) throws -> RowBuffer? {
    do {
      switch self {
      case .query(let query):
        return query.followsRelations
          ? try FollowingReader(reader).rows(.query(query), mark: .none)
          : try reader.rows(.query(query), mark: .none)
      case .row(let schema, let id): return try reader.rows(.id(schema, id), mark: .none)
      case .key(let schema, let row): return try reader.rows(.keyOf(schema, row), mark: .none)
      }
    } catch let error as StorageError where error.cause == .corruptRow {
      return nil
    }
  }

  /// Whether a view gives these rows; nil stands for a damaged one.
  func gives(_ rows: [Row]?, in reader: any StorageReader) throws -> Bool {
    let new = try self.rows(reader)
    guard let rows else { return new == nil }
    guard let new else { return false }
    return rows.count == new.count && rows.indices.allSatisfy { isSame(rows[$0], new[$0]) }
  }

  private func isSame(_ left: Row, _ right: Row) -> Bool {
    left.id == right.id && left.equals(right, as: schema.layout)
  }
}
