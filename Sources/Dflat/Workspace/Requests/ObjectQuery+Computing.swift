// The requests for what a query computes, selects or counts, without objects.

extension ObjectQuery {
  /// An aggregate over the objects, as a request.
  ///
  ///     let unread = dflat.query(Article.self).where(!Article.isRead).computing(.count)
  ///     subscription = dflat.subscribe(unread, on: .main) { number in badge.show(number) }
  ///
  /// It is maintained. The objects are read again only if the least or greatest value has left, for
  /// sums of floating-point numbers, and for queries with a limit or an offset.
  /// - Parameter aggregate: What to compute.
  public func computing<Output: Sendable>(
    _ aggregate: Aggregate<Output, Element>
  ) -> some Request<Output> {
    let output = aggregate.output
    return computing([aggregate.part]) { output($0[0]) }
  }

  /// Several aggregates over the objects, computed together, as a request; see
  /// ``computing(_:)-(Aggregate<Output,Element>)``.
  /// - Parameters:
  ///   - first: What to compute.
  ///   - second: What else to compute.
  ///   - more: What to compute besides.
  public func computing<First: Sendable, Second: Sendable, each Output: Sendable>(
    _ first: Aggregate<First, Element>, _ second: Aggregate<Second, Element>,
    _ more: repeat Aggregate<each Output, Element>
  ) -> some Request<(First, Second, repeat each Output)> {
    var parts = [first.part, second.part]
    for aggregate in repeat each more { parts.append(aggregate.part) }
    let (firstOutput, secondOutput) = (first.output, second.output)
    let outputs = (repeat (each more).output)
    return computing(parts) { results in
      var rest = results.dropFirst(2).makeIterator()
      return (
        firstOutput(results[0]), secondOutput(results[1]),
        repeat (each outputs)(rest.next().unsafelyUnwrapped)
      )
    }
  }

  private func computing<Output: Sendable>(
    _ parts: [AggregatePart], _ output: @escaping @Sendable ([AggregateResult]) -> Output
  ) -> FormedRequest<Output> {
    let data = query
    return FormedRequest(
      _form: RequestForm(
        core: core,
        fetch: {
          try reading(data, parts.map(\.expression)) {
            output(try $0.accumulate(parts, data).map(\.result))
          }
        },
        explain: { [try explain(parts.map(\.expression))] },
        follow: { core, handler in core.observe(parts, over: data) { handler(output($0)) } }))
  }

  /// A few values of each object, in the query's order, as a request; see `select`.
  ///
  ///     let titles = posts.selecting(Post.title.required, Post.likes.required)
  ///
  /// It is asked again after each transaction that has changed the type, and delivered if one of
  /// the values has changed.
  /// - Parameters:
  ///   - first: An expression, `optional` or `required`.
  ///   - second: Another one.
  ///   - more: More of them.
  public func selecting<First: Sendable, Second: Sendable, each More: Sendable>(
    _ first: Selection<First, Element>, _ second: Selection<Second, Element>,
    _ more: repeat Selection<each More, Element>
  ) -> some Request<[(First, Second, repeat each More)]> {
    selection(writer(first, second, repeat each more))
      as FormedRequest<[(First, Second, repeat each More)]>
  }

  /// One field of each object, in the query's order, as a request; see `select`.
  /// - Parameter field: A field of the objects or of what they refer to.
  @_documentation(visibility: internal)
  public func selecting<V: QueryValue>(_ field: Field<V, Element>) -> some Request<[V?]> {
    selecting(field.optional)
  }

  /// One value of each object, in the query's order, as a request.
  /// - Parameter value: An expression, `optional` or `required`.
  @_documentation(visibility: internal)
  public func selecting<Selected: Sendable>(
    _ value: Selection<Selected, Element>
  ) -> some Request<[Selected]> {
    selection(writer(value)) as FormedRequest<[Selected]>
  }

  private func selection<Tuple: Sendable>(_ writer: TupleWriter) -> FormedRequest<[Tuple]> {
    let data = query
    let types = [data.schema] + data.relatedTypes(with: writer.expressions)
    return FormedRequest(
      _form: RequestForm(
        askingAgain: core, about: types, because: "it gives values, and no objects",
        fetch: { try tuples(writer) },
        explain: { [try explain(writer.expressions)] },
        read: { try $0.selected(writer, data) as SelectedValues<Tuple> },
        isSame: { $0.isSame(as: $1) }, answer: \.tuples))
  }

  /// The keys of all objects, in the query's order, as a request.
  ///
  /// It is asked again after each transaction that has changed the type. A ``KeySet`` is
  /// maintained.
  public func listingKeys() -> some Request<[Element.ID]> where Element.ID: QueryValue {
    let field = Element._schema.primaryKey[0]
    let decoder = ValueDecoder<Element.ID>(field.form, field.type)
    return keyList({ try keys() }, { $0[0].flatMap { decoder($0) } })
  }

  /// The keys of all objects whose key has several fields, in the query's order, as a request.
  ///
  /// It is asked again after each transaction that has changed the type. A ``KeySet`` is
  /// maintained.
  public func listingKeys() -> some Request<[Element.ID]> where Element.ID: CompoundQueryValue {
    keyList({ try keys() }, { Element.ID(_stored: $0, Element._schema.primaryKey) })
  }

  private func keyList(
    _ fetch: @escaping @Sendable () throws -> [Element.ID],
    _ key: @escaping @Sendable ([Value?]) -> Element.ID?
  ) -> FormedRequest<[Element.ID]> {
    let data = query
    let keys = data.schema.primaryKey.map { ValueExpression(node: .field($0), type: $0.type) }
    return FormedRequest(
      _form: RequestForm(
        askingAgain: core, about: [data.schema] + data.relatedTypes,
        because: "it gives keys, and no objects", fetch: fetch,
        explain: { [try explain(keys)] }, read: { try $0.values(of: keys, data) },
        isSame: { before, now in
          before.elementsEqual(now) { $0.elementsEqual($1, by: isSameValue) }
        },
        answer: { $0.compactMap(key) }))
  }
}

/// Tuples, and the values that they are made of: these are compared by their bytes.
private struct SelectedValues<Tuple: Sendable>: Sendable {
  let tuples: [Tuple]
  let values: [Value?]

  func isSame(as other: SelectedValues) -> Bool {
    values.elementsEqual(other.values, by: isSameValue)
  }
}

/// Whether two stored values are the same; text is compared by its bytes.
private func isSameValue(_ left: Value?, _ right: Value?) -> Bool {
  AggregateResult.value(left).isSame(as: .value(right))
}

extension WorkspaceCore {
  /// The values of expressions for each of a query's objects.
  fileprivate func values(
    of expressions: [ValueExpression], _ query: Query
  ) throws -> [[Value?]] {
    try reading(query, expressions) { reader in
      var rows: [[Value?]] = []
      try reader.scanValues(of: expressions, query) { values in
        rows.append(zip(expressions, values).map { $1.constant($0.type) })
        return true
      }
      return rows
    }
  }

  fileprivate func selected<Tuple>(
    _ writer: TupleWriter, _ query: Query
  ) throws -> SelectedValues<Tuple> {
    let types = writer.expressions.map(\.type)
    return try reading(query, writer.expressions) { reader in
      var values: [Value?] = []
      let tuples: [Tuple] = try reader.tuples(writer, query) { columns in
        for index in columns.indices { values.append(columns[index].constant(types[index])) }
      }
      return SelectedValues(tuples: tuples, values: values)
    }
  }
}
