// Which keys are stored.

extension ObjectQuery {
  /// The keys for which the query has no object, each once, in the order of the list.
  ///
  ///     let missing = try dflat.query(Article.self).missingKeys(of: idsFromServer)
  ///
  /// There may be any number of keys. Without a condition no object is read.
  ///
  /// - Parameter keys: Primary keys. The query's order, limit and offset are ignored.
  /// - Returns: The keys without an object.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func missingKeys(of keys: some Sequence<Element.ID>) throws -> [Element.ID] {
    let keys = Array(keys)
    let schema = Element._schema
    let values = schema.values(of: keys)
    let missing = try reading(Query(schema: schema, condition: condition)) { reader in
      guard let condition else {
        let ids = try reader.ids(of: schema, with: values)
        return keys.indices.filter { ids[$0] == nil }
      }
      return try keys.indices.filter { place in
        guard let key = values[place] else { return true }
        let query = Query(schema, key)
        let both = query.condition.map { .conjunction($0, condition) } ?? condition
        var isFound = false
        try reader.scan(Query(schema: schema, condition: both, limit: 1)) { _ in
          isFound = true
          return false
        }
        return !isFound
      }
    }
    return keys.distinct(at: missing, values)
  }

  /// The keys of all objects, in the query's order.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func keys() throws -> [Element.ID] where Element.ID: QueryValue {
    let field = Element._schema.primaryKey[0]
    let expression = ValueExpression(node: .field(field), type: field.type)
    let decoder = ValueDecoder<Element.ID>(field.form, field.type)
    let query = query
    return try reading(query) { reader in
      var keys: [Element.ID] = []
      try reader.scanValues(of: [expression], query) { values in
        if let key = decoder(values[0]) { keys.append(key) }
        return true
      }
      return keys
    }
  }
}
