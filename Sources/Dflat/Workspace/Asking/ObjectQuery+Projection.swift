// Projections: a few values of each object instead of the object.

/// A value that is selected for each object: `Post.title.optional`, `Post.likes.required`.
public struct Selection<Selected, Element: Atom>: Sendable {
  let expression: ValueExpression
  let decode: @Sendable (ColumnValue) throws -> Selected
}

extension QueryExpression {
  /// The value of the expression; nil if it is unknown.
  public var optional: Selection<Value?, Element> {
    let decoder = decoder
    return Selection(expression: expression) { decoder($0) }
  }

  /// The value of the expression, not optional: for what every object has, such as numbers with a
  /// default and keys. If it is unknown for an object after all, the query throws `QueryError`.
  public var required: Selection<Value, Element> {
    let (expression, decoder) = (expression, decoder)
    return Selection(expression: expression) { column in
      if let value = decoder(column) { return value }
      throw QueryError(
        .unknownValue,
        "\(expression.text(in: Element._schema)) is unknown for an object that was selected",
        "select it without '.required', or leave such objects out by a condition")
    }
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
  /// - Throws: `StorageError`; `WorkspaceError`.
  public func select<each V: QueryValue>(
    _ fields: repeat Field<each V, Element>
  ) throws -> [(repeat (each V)?)] {
    try select(repeat (each fields).optional)
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
    var results: [(repeat each Selected)] = []
    try forEach(repeat each values) { results.append($0) }
    return results
  }

  /// Calls `body` with a few values of each object, in the query's order. Memory does not depend on
  /// the number of objects, unless these have to be sorted.
  ///
  /// - Parameters:
  ///   - values: Expressions, each `optional` or `required`.
  ///   - body: It must not use the workspace.
  /// - Throws: `QueryError` if a required value is unknown; `StorageError`; `WorkspaceError`; the
  ///   errors of `body`.
  public func forEach<each Selected>(
    _ values: repeat Selection<each Selected, Element>,
    do body: ((repeat each Selected)) throws -> Void
  ) throws {
    let query = query
    var expressions: [ValueExpression] = []
    for selection in repeat each values { expressions.append(selection.expression) }
    try reading(query) { reader in
      try reader.scanValues(of: expressions, query) { columns in
        var index = -1
        func next() -> ColumnValue {
          index &+= 1
          return columns[index]
        }
        try body((repeat try (each values).decode(next())))
        return true
      }
    }
  }
}
