// Sections: a result divided by the values of an expression.

/// Consecutive objects of a result that have the same value.
public struct ResultSection<Key: Sendable, Element: Atom>: RandomAccessCollection, Sendable {
  /// The value; nil if it is unknown for these objects.
  public let key: Key?
  /// The objects, with the positions that they have in the whole result.
  public let objects: ArraySlice<Element>

  /// The position of the first object in the whole result.
  public var startIndex: Int { objects.startIndex }
  /// The position behind the last object in the whole result.
  public var endIndex: Int { objects.endIndex }
  /// The object at a position of the whole result.
  public subscript(position: Int) -> Element { objects[position] }
  /// Goes through the objects in order.
  public func makeIterator() -> IndexingIterator<ArraySlice<Element>> { objects.makeIterator() }
}

extension FetchedResult {
  /// The result, divided where the value of an expression changes.
  ///
  /// If the result is in the order of the expression, as `ObjectQuery.sectioned(by:)` gives it,
  /// there is one section for each value. With the `result` of a `LiveQuery` the sections are live.
  /// - Parameter expression: `Issue.state`, for example. It is about the objects themselves: a
  ///   value of a related object, such as `Issue.author.name`, stops the program, where
  ///   `ObjectQuery.sectioned(by:)` throws an error that says what to do.
  public func sectioned<E: QueryExpression>(
    by expression: E
  ) -> [ResultSection<E.Value, Element>] where E.Element == Element {
    let reader = ExpressionReaders([expression.expression])
    let decoder = expression.decoder
    var sections: [ResultSection<E.Value, Element>] = []
    var start = 0
    func end(at place: Int) {
      if place == start { return }
      let key = reader.withValues(of: underlyingArray[start]._row) { decoder($0[0]) }
      sections.append(ResultSection(key: key, objects: underlyingArray[start..<place]))
      start = place
    }
    for place in underlyingArray.indices.dropFirst() {
      let isSame = reader.withValues(of: underlyingArray[place - 1]._row) { last in
        reader.withValues(of: underlyingArray[place]._row) { last[0].isSame(as: $0[0]) }
      }
      if !isSame { end(at: place) }
    }
    end(at: underlyingArray.count)
    return sections
  }
}

extension ObjectQuery {
  /// The objects in the order of a field, and inside of each section in the query's order.
  ///
  ///     let open = dflat.query(Issue.self).where(Issue.state != .closed)
  ///     let ordered = try open.ordered(bySection: Issue.state).fetch()
  ///     for section in ordered.sectioned(by: Issue.state) {
  ///       print(section.key, section.count)
  ///     }
  ///
  /// `fetch()` of this query can be watched, for example by a `LiveQuery`, whose `result` is then
  /// divided by `sectioned(by:)`.
  /// - Parameters:
  ///   - field: The field that makes the sections.
  ///   - isDescending: Whether the greatest value comes first.
  public func ordered<Value: DflatFriendlyValue>(
    bySection field: some FieldExpression<Value, Element>, isDescending: Bool = false
  ) -> Self {
    let key = isDescending ? field.descending : field.ascending
    return orderBy([key] + order.map { OrderBy(term: $0) })
  }

  /// The objects divided by the values of a field: one section for each value, in ascending order
  /// of the values; unknown ones come first. Inside of a section the objects are in the query's
  /// order.
  ///
  /// - Parameter field: The field that makes the sections.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func sectioned<Value: DflatFriendlyValue>(
    by field: some FieldExpression<Value, Element>
  ) throws -> [ResultSection<Value, Element>] {
    if field.expression.node.followsRelations {
      throw QueryError(
        .unsupportedRelation,
        "\(Element._schema.layout.swiftName) was divided into sections by a value of another object",
        "use the field that refers to the other object for the sections, and fetch the other objects separately"
      )
    }
    return try ordered(bySection: field).fetch().sectioned(by: field)
  }
}
