// Changing many objects in one call of `write`.

/// All objects of a type, in place of a condition that names the type.
public struct AllObjects: Sendable {
  /// All objects of the type.
  public static var always: AllObjects { AllObjects() }
}

extension WriteContext {
  /// Changes all objects for which a condition is true.
  ///
  ///     try txn.update(where: Article.feed == feed) { $0.isRead = true }
  ///
  /// No object is made for each row: one draft stands for one row after the other. A row whose
  /// values do not change is not written. Observers are notified once, after the commit.
  ///
  /// - Parameters:
  ///   - condition: Objects for which it is unknown are left out. It is evaluated before `change`
  ///     is called, for thousands of objects at a time.
  ///   - change: Sets fields of the draft, which has the stored values. It is called once for each
  ///     object.
  /// - Returns: How many objects were changed.
  /// - Throws: The errors of `change`; `StorageError`, with `.alreadyExists` if a key or unique
  ///   value belongs to another object; `WorkspaceError`. After an error the transaction cannot be
  ///   committed.
  @discardableResult
  public func update<C: QueryExpression>(
    where condition: C, _ change: (inout C.Element._Draft) throws -> Void
  ) throws -> BulkChange where C.Value == Bool {
    try requireUse(of: C.Element.self)
    return try transaction.updateAll(
      C.Element._Draft.self, Query(schema: C.Element._schema, condition: condition._node), change)
  }

  /// Changes the objects of a query: all of its objects, or, with a limit, the first ones of its
  /// order.
  ///
  /// - Parameters:
  ///   - query: The query. Its workspace must be the one of the transaction.
  ///   - change: Sets fields of the draft, which has the stored values. It is called once for each
  ///     object, in the query's order.
  /// - Returns: How many objects were changed.
  /// - Throws: The same errors as `update(where:)`; `QueryError` for a query of another workspace.
  @discardableResult
  public func update<Element: Atom>(
    _ query: ObjectQuery<Element>, _ change: (inout Element._Draft) throws -> Void
  ) throws -> BulkChange {
    try requireUse(of: Element.self)
    try query.requireUse(in: transaction.core)
    return try transaction.updateAll(Element._Draft.self, query.query, change)
  }

  /// Changes the objects with some keys, for example those that a server has sent.
  ///
  ///     try txn.update(Article.self, keys: ids) { $0.isRead = true }
  ///
  /// There may be any number of keys. Keys that occur several times count once.
  ///
  /// - Parameters:
  ///   - type: One of the transaction's types.
  ///   - keys: The primary keys.
  ///   - change: Sets fields of the draft, which has the stored values. It is called once for each
  ///     object.
  /// - Returns: How many objects were changed, and how many keys have no object.
  /// - Throws: The same errors as `update(where:)`.
  @discardableResult
  public func update<Element: Atom>(
    _ type: Element.Type, keys: some Sequence<Element.ID>,
    _ change: (inout Element._Draft) throws -> Void
  ) throws -> BulkChange {
    try requireUse(of: type)
    let keys = Array(keys)
    let values = Element._schema.values(of: keys)
    var missing: [Int] = []
    var result = try transaction.updateAll(
      Element._Draft.self, Element._schema, keys: values, missing: &missing, change)
    result.missing = keys.distinct(at: missing, values).count
    return result
  }

  /// Changes all objects of a type.
  ///
  ///     try txn.update(Article.self, where: .always) { $0.isRead = true }
  ///
  /// - Parameters:
  ///   - type: One of the transaction's types.
  ///   - objects: `.always`, for all of them.
  ///   - change: Sets fields of the draft, which has the stored values. It is called once for each
  ///     object.
  /// - Returns: How many objects were changed.
  /// - Throws: The same errors as `update(where:)`.
  @discardableResult
  public func update<Element: Atom>(
    _ type: Element.Type, where objects: AllObjects,
    _ change: (inout Element._Draft) throws -> Void
  ) throws -> BulkChange {
    try update(where: Condition<Element>.always, change)
  }

  /// Changes all objects of the type of a draft.
  ///
  ///     try txn.update(where: .always) { (article: inout ArticleChangeRequest) in
  ///       article.isRead = true
  ///     }
  ///
  /// - Parameters:
  ///   - objects: `.always`, for all of them.
  ///   - change: Sets fields of the draft, which has the stored values. It names the type of the
  ///     draft, and is called once for each object.
  /// - Returns: How many objects were changed.
  /// - Throws: The same errors as `update(where:)`.
  @_documentation(visibility: internal)
  @discardableResult
  public func update<Draft: ChangeRequest>(
    where objects: AllObjects, _ change: (inout Draft) throws -> Void
  ) throws -> BulkChange where Draft.Element._Draft == Draft {
    try update(where: Condition<Draft.Element>.always, change)
  }

  /// Deletes all objects for which a condition is true.
  ///
  /// - Parameter condition: Objects for which it is unknown are kept.
  /// - Returns: How many objects were deleted.
  /// - Throws: `StorageError`; `WorkspaceError`. After an error the transaction cannot be
  ///   committed.
  @discardableResult
  public func delete<C: QueryExpression>(
    where condition: C
  ) throws -> BulkChange where C.Value == Bool {
    try requireUse(of: C.Element.self)
    return try transaction.deleteAll(
      Query(schema: C.Element._schema, condition: condition._node))
  }

  /// Deletes all objects of a type.
  ///
  ///     try txn.delete(Article.self, where: .always)
  ///
  /// - Parameters:
  ///   - type: One of the transaction's types.
  ///   - objects: `.always`, for all of them.
  /// - Returns: How many objects were deleted.
  /// - Throws: The same errors as `delete(where:)`.
  @discardableResult
  public func delete<Element: Atom>(
    _ type: Element.Type, where objects: AllObjects
  ) throws -> BulkChange {
    try delete(where: Condition<Element>.always)
  }

  /// Deletes the objects of a query: all of its objects, or, with a limit, the first ones of its
  /// order.
  ///
  /// - Parameter query: The query. Its workspace must be the one of the transaction.
  /// - Returns: How many objects were deleted.
  /// - Throws: The same errors as `delete(where:)`; `QueryError` for a query of another workspace.
  @discardableResult
  public func delete<Element: Atom>(_ query: ObjectQuery<Element>) throws -> BulkChange {
    try requireUse(of: Element.self)
    try query.requireUse(in: transaction.core)
    return try transaction.deleteAll(query.query)
  }

  /// Deletes the objects with some keys. There may be any number of keys.
  ///
  /// - Parameters:
  ///   - type: One of the transaction's types.
  ///   - keys: The primary keys. Keys that occur several times count once.
  /// - Returns: How many objects were deleted, and how many keys have no object.
  /// - Throws: The same errors as `delete(where:)`.
  @discardableResult
  public func delete<Element: Atom>(
    _ type: Element.Type, keys: some Sequence<Element.ID>
  ) throws -> BulkChange {
    try requireUse(of: type)
    let keys = Array(keys)
    let values = Element._schema.values(of: keys)
    var missing: [Int] = []
    var result = try transaction.deleteAll(Element._schema, keys: values, missing: &missing)
    result.missing = keys.distinct(at: missing, values).count
    return result
  }

  /// Stores new objects.
  ///
  /// - Parameter objects: Their fields.
  /// - Returns: How many objects were inserted.
  /// - Throws: `StorageError`, with `.alreadyExists` if another object has a key or a unique value;
  ///   `WorkspaceError`. After an error the transaction cannot be committed: to replace objects
  ///   that are stored, use `upsert(contentsOf:)`.
  @discardableResult
  public func insert<Element: Atom>(
    contentsOf objects: some Sequence<Element>
  ) throws -> BulkChange {
    try requireUse(of: Element.self)
    return try transaction.insertAll(Element._schema, objects.map { $0._row })
  }

  /// Stores the values of objects: each replaces the stored object if there is one, and is inserted
  /// otherwise.
  ///
  /// - Parameter objects: The objects, found by their row ids, or by their primary keys if they
  ///   were not fetched.
  /// - Returns: How many objects were inserted, updated, or had these values already.
  /// - Throws: The same errors as `insert(contentsOf:)`.
  @discardableResult
  public func upsert<Element: Atom>(
    contentsOf objects: some Sequence<Element>
  ) throws -> BulkChange {
    try _upsert(Element.self, objects.map { $0._row })
  }

  /// Stores the values of rows; see `upsert(contentsOf:)`. For libraries that make rows themselves.
  ///
  /// - Parameters:
  ///   - type: One of the transaction's types.
  ///   - rows: Rows of this type.
  /// - Returns: How many objects were inserted, updated, or had these values already.
  /// - Throws: The same errors as `insert(contentsOf:)`.
  @discardableResult
  package func _upsert<Element: Atom>(_ type: Element.Type, _ rows: [DflatRow]) throws -> BulkChange
  {
    try upsert(Element._schema, rows)
  }

  /// Changes the objects with some keys, and inserts those that are not stored.
  ///
  /// - Parameters:
  ///   - type: One of the transaction's types.
  ///   - keys: The primary keys, each once.
  ///   - change: Sets fields of the draft of the object whose key has the given place, the key
  ///     among them. The other fields keep their stored values, or are at their defaults.
  /// - Returns: How many objects were inserted, updated, or had these values already.
  /// - Throws: The same errors as `insert(contentsOf:)`.
  @discardableResult
  package func upsert<Element: Atom>(
    _ type: Element.Type, keys: [KeyValues],
    _ change: (inout Element._Draft, Int) throws -> Void
  ) throws -> BulkChange {
    try requireUse(of: type)
    return try transaction.upsertAll(Element._Draft.self, Element._schema, keys: keys, change)
  }
}

extension Array where Element: PrimaryKey {
  /// The different keys at some places, in the order of these. Strings are compared by their bytes.
  /// - Parameter values: All keys as values.
  @inlinable
  func distinct(at places: [Int], _ values: KeyList) -> [Element] {
    var seenWithoutValues: Set<CompositeKey<Element>> = []
    return values.firstPlaces(among: places).compactMap { place in
      let key = self[place]
      if values[place] == nil, !seenWithoutValues.insert(CompositeKey(key)).inserted { return nil }
      return key
    }
  }
}
