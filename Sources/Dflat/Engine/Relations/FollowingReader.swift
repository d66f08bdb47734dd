// FollowingReader: a view that answers queries with relations.

import FlatBuffersRuntime

/// A view of the objects of one type that resolves relations before it asks the engine.
final class FollowingReader: StorageReader {
  private let base: any StorageReader
  private let resolver: RelationResolver

  /// - Parameters:
  ///   - base: The view of the type's own objects.
  ///   - resolver: Finds the other objects.
  init(_ base: any StorageReader, _ resolver: RelationResolver) {
    self.base = base
    self.resolver = resolver
  }

  /// All types are in one view.
  convenience init(_ base: any StorageReader) {
    self.init(base, RelationResolver { _ in base })
  }

  func rows(_ request: ReadRequest, mark: ReadMark) throws -> RowBuffer {
    try base.rows(resolver.resolve(request), mark: mark)
  }

  func scan(
    _ request: ReadRequest, _ form: ScanForm, _ body: (ScannedRow) throws -> Bool
  ) throws -> Bool {
    try base.scan(resolver.resolve(request), form, body)
  }

  func count(_ query: Query) throws -> Int? { try base.count(resolver.resolve(query)) }

  func lastID(of schema: EntitySchema) throws -> Int64? { try base.lastID(of: schema) }

  func explain(_ query: Query) throws -> QueryExplanation {
    try base.explain(resolver.resolve(query))
  }

  // MARK: Values

  func scanValuesFollowing(
    _ expressions: [ValueExpression], _ query: Query,
    _ body: (UnsafeBufferPointer<ColumnValue>) throws -> Bool
  ) throws {
    try base.scanValues(
      of: resolver.resolve(expressions, of: query.schema), resolver.resolve(query), body)
  }

  func groupFollowing(_ parts: GroupedParts, _ query: Query) throws -> GroupedValues {
    let expressions = try resolver.resolve(parts.expressions, of: query.schema)
    let keys = Array(expressions.prefix(parts.keys.count))
    let resolved = zip(parts.parts, expressions.dropFirst(keys.count)).map { part, expression in
      AggregatePart(kind: part.kind, expression: expression)
    }
    return try base.group(GroupedParts(keys: keys, parts: resolved), resolver.resolve(query))
  }

  func explainFollowing(
    _ expressions: [ValueExpression], _ query: Query
  ) throws -> QueryExplanation {
    try base.explain(
      resolver.resolve(query), resolver.resolve(expressions, of: query.schema))
  }
}
