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
  @inlinable
  public func missingKeys(of keys: some Sequence<Element.ID>) throws -> [Element.ID] {
    let keys = Array(keys)
    let values = Element._schema.values(of: keys)
    return keys.distinct(at: try missingPlaces(values), values)
  }

  /// The places of the keys for which the query has no object.
  @usableFromInline
  func missingPlaces(_ keys: KeyList) throws -> [Int] {
    let schema = Element._schema
    return try reading(Query(schema: schema, condition: condition)) { reader in
      guard let condition else {
        let ids = try reader.ids(of: schema, with: keys)
        return keys.indices.filter { ids[$0] == nil }
      }
      return try keys.indices.filter { place in
        guard let key = keys[place] else { return true }
        let query = Query(schema, key)
        let both = query.condition.map { .conjunction($0, condition) } ?? condition
        var isFound = false
        let first = Query(schema: schema, condition: both, limit: 1)
        _ = try reader.scan(.query(first), .bytes) { _ in
          isFound = true
          return false
        }
        return !isFound
      }
    }
  }

  /// The keys of all objects, in the query's order. No object is read.
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

  /// The keys of all objects whose key has several fields, in the query's order. No object is read.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func keys() throws -> [Element.ID] where Element.ID: CompoundQueryValue {
    let fields = Element._schema.primaryKey
    let expressions = fields.map { ValueExpression(node: .field($0), type: $0.type) }
    let query = query
    return try reading(query) { reader in
      var keys: [Element.ID] = []
      try reader.scanValues(of: expressions, query) { values in
        let parts = zip(fields, values).map { field, value in value.constant(field.type) }
        if let key = Element.ID(_stored: parts, fields) { keys.append(key) }
        return true
      }
      return keys
    }
  }
}

/// Several values of an object: a primary key of several fields.
public protocol CompoundQueryValue: Hashable, Sendable {
  /// For Dflat: from stored values and their fields; nil if one of them is unknown.
  init?(_stored values: [Value?], _ fields: [FieldDescriptor])
}

extension CompositeKey: CompoundQueryValue where repeat each Part: QueryValue {
  /// For Dflat.
  public init?(_stored values: [Value?], _ fields: [FieldDescriptor]) {
    var place = -1
    func part<P: QueryValue>(_ type: P.Type) throws -> P {
      place += 1
      let decoder = ValueDecoder<P>(fields[place].form, fields[place].type)
      guard let value = values[place], let part = decoder(value) else { throw Unknown() }
      return part
    }
    do { self.init(repeat try part((each Part).self)) } catch { return nil }
  }
}

/// A part of a key is unknown.
private struct Unknown: Error {}
