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
  /// avatar. Where such an object has an id, another id is another object. Lists are replaced as a
  /// whole; references to entities are stored as their keys.
  ///
  /// An entity that stands in several places of the response is changed once, with the fields of
  /// all places. Observers are notified once, after the commit, and merging what is stored already
  /// writes nothing.
  ///
  /// - Parameter data: Data of a response, or any part of it.
  /// - Returns: How many objects were inserted, updated, or had these values already.
  /// - Throws: ``GraphQLKeyError``, and nothing is changed; the errors of `insert(contentsOf:)`,
  ///   after which the transaction cannot be committed.
  @discardableResult
  public func store<Data: GraphQLStorable>(_ data: Data) throws -> BulkChange {
    let merge = GraphQLMerge()
    try data._store(in: merge)
    return try merge.carryOut(in: self)
  }
}
