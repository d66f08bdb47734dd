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

  func rows(_ query: Query, mark: ReadMark) throws -> RowBuffer {
    try base.rows(resolver.resolve(query), mark: mark)
  }

  func scan(_ query: Query, _ body: (_ bytes: UnsafeRawBufferPointer) throws -> Bool) throws {
    try base.scan(resolver.resolve(query), body)
  }

  func scanRows(
    _ query: Query, _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    try base.scanRows(resolver.resolve(query), body)
  }

  func ids(_ query: Query) throws -> [Int64] { try base.ids(resolver.resolve(query)) }

  func scanColumns(
    _ fields: [FieldDescriptor], _ query: Query,
    _ body: (_ values: UnsafeBufferPointer<ColumnValue>) throws -> Bool
  ) throws -> Bool {
    try base.scanColumns(fields, resolver.resolve(query), body)
  }

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

  func count(_ query: Query) throws -> Int? { try base.count(resolver.resolve(query)) }

  func explain(_ query: Query) throws -> QueryExplanation {
    try base.explain(resolver.resolve(query))
  }

  func explainFollowing(
    _ expressions: [ValueExpression], _ query: Query
  ) throws -> QueryExplanation {
    try base.explain(
      resolver.resolve(query), resolver.resolve(expressions, of: query.schema))
  }

  func row(of schema: EntitySchema, id: Int64) throws -> Row? {
    try base.row(of: schema, id: id)
  }

  func row(of schema: EntitySchema, keyOf row: Row) throws -> Row? {
    try base.row(of: schema, keyOf: row)
  }

  func rows(of schema: EntitySchema, after id: Int64, limit: Int) throws -> RowBuffer {
    try base.rows(of: schema, after: id, limit: limit)
  }

  func lastID(of schema: EntitySchema) throws -> Int64? { try base.lastID(of: schema) }

  func id(of schema: EntitySchema, with key: KeyValues) throws -> Int64? {
    try base.id(of: schema, with: key)
  }

  func ids(of schema: EntitySchema, with keys: KeyList) throws -> [Int64?] {
    try base.ids(of: schema, with: keys)
  }

  func rows(of schema: EntitySchema, with keys: [KeyValues]) throws -> [Row?] {
    try base.rows(of: schema, with: keys)
  }

  func row(of schema: EntitySchema, with key: KeyValues) throws -> Row? {
    try base.row(of: schema, with: key)
  }
}
