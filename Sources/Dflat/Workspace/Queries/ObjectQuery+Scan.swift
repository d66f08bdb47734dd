// Reading objects where the storage has them.

public import FlatBuffersRuntime

extension ObjectQuery {
  /// Calls a closure with each object in place, in the query's order: nothing is copied, and no
  /// object is made.
  ///
  ///     var total = 0
  ///     try dflat.query(Order.self).where(Order.isOpen).scan { order in
  ///       total += order.scalar(at: 6, default: 0)
  ///     }
  ///
  /// Use it to read many objects into types of your own. The fields are those of the schema, by
  /// their vtable offsets.
  ///
  /// - Parameter body: Reads the fields. The reader is valid during the call only; the closure must
  ///   neither keep it nor use the workspace. Its errors end the scan.
  /// - Throws: The errors of `body`; `StorageError`; `WorkspaceError`; `FunctionError`;
  ///   `CancellationError` in a `read` whose task was cancelled.
  public func scan(_ body: (_ object: TableReader) throws -> Void) throws {
    try scan(query, body)
  }

  /// The same for the objects that also have one of some primary keys, in no particular order.
  /// There may be any number of keys; those without an object are left out. The query's order,
  /// limit and offset are ignored.
  ///
  /// - Parameters:
  ///   - keys: Primary keys of one field, each once.
  ///   - body: Reads the fields; see ``scan(_:)``.
  /// - Throws: The same errors as ``scan(_:)``.
  public func scan(
    keys: [Element.ID], _ body: (_ object: TableReader) throws -> Void
  ) throws where Element.ID: QueryValue {
    let schema = Element._schema
    let field = schema.primaryKey[0]
    var values = schema.values(of: keys).compactMap { $0?.first }[...]
    while !values.isEmpty {
      // As many as engines find by their keys.
      let some = Array(values.prefix(400))
      values = values.dropFirst(400)
      let node = Node.membership(.field(field), some, field.type, negated: false)
      let both = condition.map { .conjunction($0, node) } ?? node
      try scan(Query(schema: schema, condition: both), body)
    }
  }

  private func scan(_ query: Query, _ body: (_ object: TableReader) throws -> Void) throws {
    try reading(query) { reader in
      _ = try reader.scan(.query(query), .bytes) { row in
        guard let table = TableReader(root: row.bytes) else {
          preconditionFailure("a row was verified that cannot be read")
        }
        try body(table)
        return true
      }
    }
  }
}
