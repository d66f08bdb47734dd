// Projections: a few values of each object instead of the object.

import Platform

/// A value that is selected for each object: `Post.title.optional`, `Post.likes.required`.
public struct Selection<Selected, Element: Atom>: Sendable {
  let expression: ValueExpression
  let writing: ColumnWriting
}

extension QueryExpression {
  /// The value of the expression; nil if it is unknown.
  public var optional: Selection<Value?, Element> {
    let (expression, decoder) = (expression, decoder)
    return Selection(
      expression: expression,
      writing: decoder.columnType.map { .optional($0) }
        ?? .other { column, place in
          place.assumingMemoryBound(to: Value?.self).initialize(to: decoder(column))
        })
  }

  /// The value of the expression, not optional: for what every object has, such as numbers with a
  /// default and keys. If it is unknown for an object after all, the query throws `QueryError`.
  public var required: Selection<Value, Element> {
    let (expression, decoder) = (expression, decoder)
    return Selection(
      expression: expression,
      writing: decoder.columnType.map { .required($0) }
        ?? .other { column, place in
          guard let value = decoder(column) else {
            throw QueryError.unknown(expression, Element._schema)
          }
          place.assumingMemoryBound(to: Value.self).initialize(to: value)
        })
  }
}

extension QueryError {
  /// A selected value that must be known is unknown.
  fileprivate static func unknown(
    _ expression: ValueExpression, _ schema: EntitySchema
  ) -> QueryError {
    QueryError(
      .unknownValue,
      "\(expression.text(in: schema).shortened) is unknown for an object that was selected",
      "select it without '.required', or leave such objects out by a condition")
  }
}

extension ObjectQuery {
  /// A few fields of each object, in the query's order, without the objects.
  ///
  ///     for (title, likes) in try posts.select(Post.title, Post.likes) { … }
  ///
  /// If one index has all the fields, no object is read.
  /// - Parameter fields: Fields of the objects or of what they refer to.
  /// - Returns: The values of each object; nil for unknown ones.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func select<each V: QueryValue>(
    _ fields: repeat Field<each V, Element>
  ) throws -> [(repeat (each V)?)] {
    try select(repeat (each fields).optional)
  }

  /// One field of each object, in the query's order, without the objects.
  ///
  ///     let titles = try posts.select(Post.title)
  ///
  /// - Parameter field: A field of the objects or of what they refer to.
  /// - Returns: The value for each object; nil if it is unknown.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  @_documentation(visibility: internal)
  public func select<V: QueryValue>(_ field: Field<V, Element>) throws -> [V?] {
    try select(field.optional)
  }

  /// One value of each object, in the query's order, without the objects.
  ///
  ///     let ids = try posts.select(Post.id.required).sorted()
  ///
  /// - Parameter value: An expression, `optional` or `required`.
  /// - Returns: The value for each object.
  /// - Throws: `QueryError` if a required value is unknown; `StorageError`; `WorkspaceError`.
  @_documentation(visibility: internal)
  public func select<Selected>(_ value: Selection<Selected, Element>) throws -> [Selected] {
    try tuples(writer(value))
  }

  /// A few values of each object, in the query's order, without the objects.
  ///
  ///     let rows = try posts.select(Post.id.required, (Post.likes + Post.shares).optional)
  ///
  /// If one index has all the values, no object is read.
  /// - Parameter values: Expressions, each `optional` or `required`.
  /// - Returns: The values of each object.
  /// - Throws: `QueryError` if a required value is unknown; `StorageError`; `WorkspaceError`.
  public func select<each Selected>(
    _ values: repeat Selection<each Selected, Element>
  ) throws -> [(repeat each Selected)] {
    try tuples(writer(repeat each values))
  }

  /// A tuple for each object.
  func tuples<Tuple>(_ writer: TupleWriter) throws -> [Tuple] {
    let query = query
    return try reading(query, writer.expressions) { try $0.tuples(writer, query) { _ in } }
  }

  /// Calls `body` with a value of each object, in the query's order; see `forEach(_:do:)` for
  /// several values. (Closures for a pack of one value crash the compiler of Swift 6.3.)
  /// - Throws: `QueryError` if a required value is unknown; `StorageError`; `WorkspaceError`; the
  ///   errors of `body`.
  public func forEach<Selected>(
    _ value: Selection<Selected, Element>, do body: (Selected) throws -> Void
  ) throws {
    try forEachTuple(writer(value), body)
  }

  /// Calls `body` with a few values of each object, in the query's order. Memory does not depend on
  /// the number of objects, unless these have to be sorted.
  ///
  /// - Parameters:
  ///   - values: Expressions, each `optional` or `required`.
  ///   - body: It must not use the workspace: asking in it throws
  ///     `WorkspaceError.calledByFunction`. It gets each object once.
  /// - Throws: `QueryError` if a required value is unknown; `StorageError`, also if the storage
  ///   interrupts the read after `body` was called, for example because a file that is read without
  ///   locks was changed; `WorkspaceError`; the errors of `body`.
  public func forEach<each Selected>(
    _ values: repeat Selection<each Selected, Element>,
    do body: ((repeat each Selected)) throws -> Void
  ) throws {
    try forEachTuple(writer(repeat each values)) { (tuple: (repeat each Selected)) in
      try body((repeat each tuple))
    }
  }

  /// Calls `body` with each tuple.
  private func forEachTuple<Tuple>(
    _ writer: TupleWriter, _ body: (Tuple) throws -> Void
  ) throws {
    let query = query
    // What the program has got cannot be taken back, so a read that begins again ends here.
    var hasBegun = false
    do {
      try reading(query, writer.expressions) { reader in
        if hasBegun { throw RepeatedRead() }
        try withUnsafeTemporaryAllocation(of: Tuple.self, capacity: 1) { tuple in
          let place = tuple.baseAddress.unsafelyUnwrapped
          try reader.scanValues(of: writer.expressions, query) { columns in
            try writer.write(columns, to: UnsafeMutableRawPointer(place))
            hasBegun = true
            FunctionThread.enter()
            defer { FunctionThread.leave() }
            try body(place.move())
            return true
          }
        }
      }
    } catch is RepeatedRead { throw StorageError(repeated: query.schema) }
  }

  /// Writes the tuples of some selections.
  func writer<each Selected>(
    _ values: repeat Selection<each Selected, Element>
  ) -> TupleWriter {
    var writer = TupleWriter()
    func add<Value>(_ selection: Selection<Value, Element>) {
      let expression = selection.expression
      writer.add(Value.self, expression, selection.writing) {
        QueryError.unknown(expression, Element._schema)
      }
    }
    repeat add(each values)
    precondition(
      writer.end == MemoryLayout<(repeat each Selected)>.size,
      "a tuple has another layout than its elements one behind the other")
    return writer
  }
}

extension StorageReader {
  /// A tuple for each row of a query's result.
  /// - Parameter observe: Also gets the values for each row.
  @inline(__always)
  func tuples<Tuple>(
    _ writer: TupleWriter, _ query: Query,
    _ observe: (UnsafeBufferPointer<ColumnValue>) -> Void
  ) throws -> [Tuple] {
    let tuples = SelectedTuples(of: Tuple.self)
    try scanValues(of: writer.expressions, query) { columns in
      try writer.write(columns, to: tuples.next)
      tuples.append()
      observe(columns)
      return true
    }
    return tuples.take(Tuple.self)
  }
}
