// Storing responses.

public import Dflat

extension WriteContext {
  /// Merges every entity of a response, at any depth, into what is stored.
  ///
  ///     let data = try HeroDetailsQuery.response(from: bytes).requireData()
  ///     try await dflat.write(Character.self) { txn in try txn.store(data) }
  ///
  /// Entities are found by their keys, and one that is not stored yet is inserted. Only selected
  /// fields are changed: null clears a field, and a field that `@include` or `@skip` has left out
  /// keeps what is stored.
  ///
  /// Objects without a key are a part of the entity that holds them and merge field by field, at
  /// any depth: two operations that select `avatar { small }` and `avatar { large }` fill one
  /// avatar. An object of an interface or union is merged with the stored one if both have the same
  /// key. One of an object type has no stored key, so it is merged whatever its id is; make it an
  /// entity if it may be another object next time. Lists are replaced as a whole, except those in
  /// `pages`; references to entities are stored as their keys.
  ///
  /// An entity that stands in several places of the response is changed once, with the fields of
  /// all places; a list that several of them have is that of the last one. Observers are notified
  /// once, after the commit, and merging what is stored already writes nothing.
  ///
  /// - Parameters:
  ///   - data: Data of a response, or any part of it.
  ///   - pages: The lists that page; see `store(_:_:_:)`.
  /// - Returns: How many objects were inserted, updated, or had these values already.
  /// - Throws: ``GraphQLKeyError``, and nothing is changed; the errors of `insert(contentsOf:)`,
  ///   after which the transaction cannot be committed.
  @discardableResult
  public func store<Data: GraphQLStorable>(
    _ data: Data, pages: [GraphQLPage<Data>] = []
  ) throws -> BulkChange {
    try store(data, errors: [], pages)
  }

  /// Merges a response, and adds one of its lists to the stored list as a page.
  ///
  ///     try await dflat.write(User.self, Repo.self) { txn in
  ///       try txn.store(data, \.user.repos, .append)
  ///     }
  ///
  /// The path names a list of entities, or of other objects with keys, by the properties of the
  /// data without question marks. It may also name the object that has the list as its `edges` or
  /// `nodes`. No two elements of the list have the same key: an element that is stored keeps its
  /// place and is merged, and the others are added in their order. What `pageInfo` says about
  /// the end to which the page is added is stored, and the other end stays as it is. Both ends stay
  /// if an error is about the list. If nothing is stored in the list, the page is the list. Null
  /// clears a list that pages, too.
  ///
  /// - Parameters:
  ///   - data: Data of a response, or any part of it.
  ///   - list: The list.
  ///   - update: Where the page is added.
  /// - Returns: How many objects were inserted, updated, or had these values already.
  /// - Throws: The errors of `store(_:pages:)`.
  @discardableResult
  public func store<Data: GraphQLStorable, Part>(
    _ data: Data, _ list: KeyPath<GraphQLLists<Data>, GraphQLList<Part>>,
    _ update: GraphQLListUpdate
  ) throws -> BulkChange {
    try store(data, pages: [GraphQLPage(list, update)])
  }

  /// Merges a response that may have errors in some of its fields into what is stored.
  ///
  ///     let response = try HeroDetailsQuery.response(from: bytes)
  ///     try await dflat.write(Character.self) { txn in try txn.store(response) }
  ///
  /// A field whose path is in an error leaves what is stored: its null clears nothing. This holds
  /// for objects, for lists, and for elements of lists, where the stored element at the same
  /// position stays unless the response has it at another one. Everything else is stored as by
  /// `store(_:pages:)`. An error without a path is about no field.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - pages: The lists that page; see `store(_:_:_:)`.
  /// - Returns: How many objects were inserted, updated, or had these values already.
  /// - Throws: ``GraphQLErrors`` if the response has no data, and nothing is changed; otherwise the
  ///   errors of `store(_:pages:)`.
  @discardableResult
  public func store<Data: GraphQLStorable>(
    _ response: GraphQLResponse<Data>, pages: [GraphQLPage<Data>] = []
  ) throws -> BulkChange {
    guard let data = response.data else { throw GraphQLErrors(errors: response.errors) }
    return try store(data, errors: response.errors, pages)
  }

  /// Merges a response that may have errors, and adds one of its lists to the stored list as a
  /// page.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - list: The list; see `store(_:_:_:)`.
  ///   - update: Where the page is added.
  /// - Returns: How many objects were inserted, updated, or had these values already.
  /// - Throws: The errors of `store(_:pages:)` for a response.
  @discardableResult
  public func store<Data: GraphQLStorable, Part>(
    _ response: GraphQLResponse<Data>, _ list: KeyPath<GraphQLLists<Data>, GraphQLList<Part>>,
    _ update: GraphQLListUpdate
  ) throws -> BulkChange {
    try store(response, pages: [GraphQLPage(list, update)])
  }

  /// Merges what a part of a response has brought into what is stored.
  ///
  ///     for try await increment in HeroDetailsQuery.increments(from: chunks, contentType: type) {
  ///       try await dflat.write(Character.self) { txn in try txn.store(increment) }
  ///     }
  ///
  /// The first part is stored as by `store(_:pages:)` for a response. Of a later one, the fields
  /// that it has brought are stored, and the elements that it adds to a streamed list come behind
  /// those that are stored. What earlier parts have brought is not stored again, so changes that
  /// the program has made since then stay. A list that is only on the way to what has come stays,
  /// too: its element is found by its key, or without a key by its position.
  ///
  /// A list that gets longer is written as a whole, as every object is. Parts that come while one
  /// is stored are the next increment, so a fast stream is stored in few transactions.
  ///
  /// - Parameters:
  ///   - increment: What is known after the payload.
  ///   - pages: The lists that page; see `store(_:_:_:)`.
  /// - Returns: How many objects were inserted, updated, or had these values already.
  /// - Throws: The errors of `store(_:pages:)` for a response.
  @discardableResult
  public func store<Data: GraphQLStorable>(
    _ increment: GraphQLIncrement<Data>, pages: [GraphQLPage<Data>] = []
  ) throws -> BulkChange {
    let data = if let part = increment.part { part.data } else { increment.response.data }
    guard let data else { throw GraphQLErrors(errors: increment.errors) }
    return try store(
      data, errors: increment.errors, pages, deliveries: increment.deliveries,
      cuts: increment.part?.cuts ?? [])
  }

  private func store<Data: GraphQLStorable>(
    _ data: Data, errors: [GraphQLError], _ pages: [GraphQLPage<Data>],
    deliveries: [GraphQLDelivery]? = nil, cuts: [ListCut] = []
  ) throws -> BulkChange {
    let merge = GraphQLMerge(
      .root(errors: errors, pages: pages.map(\.place), deliveries: deliveries, cuts: cuts))
    try data._store(in: merge)
    return try merge.carryOut(in: self)
  }
}
