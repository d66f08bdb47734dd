// The requests that a query for objects gives: its objects, one of them, sections, pages and keys.

extension ObjectQuery: Request {
  /// The query as Dflat uses it.
  public var _form: RequestForm<FetchedResult<Element>> {
    let data = query
    return form(fetch: { try fetch() }) { core, handler in
      core.observe(data) { handler(FetchedResult($0, $1)) }
    }
  }

  /// The first object, as a request; nil while there is none.
  ///
  ///     let newest = dflat.query(Post.self).orderBy(Post.date.descending).firstObject
  ///     subscription = dflat.subscribe(newest, on: .main) { post in show(post) }
  ///
  /// It is maintained as the objects of the query are.
  public var firstObject: some Request<Element?> {
    let data = first(1)
    return FormedRequest(
      _form: form(fetch: { try first() }) { core, handler in
        core.observe(data) { rows, _ in handler(rows.first.map { Element(_row: $0) }) }
      })
  }

  /// The objects divided by the values of a field, as a request; see ``sectioned(by:)``.
  ///
  /// It is maintained as the objects of the query are.
  /// - Parameter field: The field that makes the sections, of the objects themselves.
  public func sectioning<Value: DflatFriendlyValue>(
    by field: some FieldExpression<Value, Element>
  ) -> some Request<[ResultSection<Value, Element>]> {
    FormedRequest(
      _form: ordered(bySection: field)._form.map(
        { $0.sectioned(by: field) }, fetch: { try sectioned(by: field) }))
  }

  /// A part of the objects, as a request; see ``page(size:after:)``.
  ///
  /// It is asked again after each transaction that has changed the type, and delivered if its
  /// objects have changed.
  /// - Parameters:
  ///   - size: The largest number of objects, at least 1.
  ///   - cursor: `next` of the page before; nil for the first page.
  public func paging(
    size: Int, after cursor: QueryCursor? = nil
  ) -> some Request<QueryPage<Element>> {
    let data = query
    return FormedRequest(
      _form: form(
        askingAgain: "what is on a page depends on the objects before it",
        fetch: { try page(size: size, after: cursor) }
      ) { core, handler in
        core.follow(
          [data.schema] + data.relatedTypes,
          { core in
            let (rows, next) = try core.page(of: data, size: size, after: cursor)
            return QueryPage(objects: rows.map { Element(_row: $0) }, next: next)
          },
          isSame: { before, now in
            (before.next == nil) == (now.next == nil)
              && before.objects.elementsEqual(now.objects) { $0.isSameState(as: $1) }
          }, handler)
      })
  }

  /// What tells the query from others for the same workspace, but by a hash.
  package var identity: [UInt64] {
    [query.fingerprint, UInt64(bitPattern: Int64(limit ?? -1)), UInt64(bitPattern: Int64(offset))]
  }

  /// The form of a request for this query's objects.
  /// - Parameters:
  ///   - reason: Why it is asked again; nil if the query tells.
  ///   - fetch: Answers the request.
  ///   - follow: Follows it.
  func form<Answer: Sendable>(
    askingAgain reason: String? = nil,
    fetch: @escaping @Sendable () throws -> Answer,
    follow:
      @escaping @Sendable (WorkspaceCore, @escaping RequestForm<Answer>.Handler)
      -> any WorkspaceSubscription
  ) -> RequestForm<Answer> {
    RequestForm(
      core: core, fetch: fetch,
      explain: {
        let explanation = try explain()
        return [reason.map { explanation.askedAgain(because: $0) } ?? explanation]
      },
      follow: follow)
  }
}
