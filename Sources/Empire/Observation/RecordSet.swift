// Records that can be observed: a type, a query, a key.

/// Records of a type: all, those of a query, or the one with a key.
///
///     let half = RecordSet<Person>.query(Query("Lima", last: .lessThan("M")))
public struct RecordSet<Record: IndexKeyRecord & Sendable>: Sendable {
  /// The records in a transaction.
  @usableFromInline let read: @Sendable (TransactionContext) throws -> [Record]
  /// The stretches of keys, lower bound first, outside of which nothing matters.
  @usableFromInline let bounds:
    @Sendable (TransactionContext) throws -> [(low: [UInt8], high: [UInt8])]

  @usableFromInline
  init(
    read: @escaping @Sendable (TransactionContext) throws -> [Record],
    bounds: @escaping @Sendable (TransactionContext) throws -> [(low: [UInt8], high: [UInt8])]
  ) {
    self.read = read
    self.bounds = bounds
  }

  /// All records of the type.
  @inlinable public static var all: RecordSet {
    RecordSet {
      try $0.selectAll(Record.self)
    } bounds: { _ in
      let prefix = IndexFile.bytes(Record.keyPrefix)
      return [(prefix, prefix)]
    }
  }

  /// The records that a query describes.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - index: The position of an index in the type's `indexTags`, if the query's components are not those of the key.
  /// - Returns: The set.
  @inlinable
  public static func query<
    each Component: QueryComponent & Sendable, Last: QueryComponent & Sendable
  >(
    _ query: Query<repeat each Component, Last>, index: Int? = nil
  ) -> RecordSet {
    RecordSet { context in
      if let index { return try context.select(query: query, index: index) }
      return try context.select(query: query)
    } bounds: { context in
      if index != nil {
        // What a change does to the index's order is not seen in its key.
        let prefix = IndexFile.bytes(Record.keyPrefix)
        return [(prefix, prefix)]
      }
      var bounds: [(low: [UInt8], high: [UInt8])] = []
      try context.forEachStretch(of: query.withoutLimit, head: Record.keyPrefix) {
        (direction, start, end, _) in
        let isAscending = direction != .below && direction != .atOrBelow
        // Going up, the end may be above all that begins with it; going down, so may the start.
        let (low, high) = isAscending ? (start, end) : (end, start)
        bounds.append(([UInt8](low), [UInt8](high)))
      }
      return bounds
    }
  }

  /// The record with a key, if there is one.
  ///
  /// - Parameter key: The complete key.
  /// - Returns: The set.
  @inlinable
  public static func key(_ key: Record.IndexKey) -> RecordSet where Record.IndexKey: Sendable {
    RecordSet { context in
      let record: Record? = try context.select(key: key)
      return record.map { [$0] } ?? []
    } bounds: { _ in
      try withKey { writer in
        writer.write(Record.keyPrefix.bigEndian)
        key.serializeKey(to: &writer)
      } body: {
        let bytes = [UInt8]($0)
        return [(bytes, bytes)]
      }
    }
  }
}

extension Query {
  /// The same for all that it describes.
  @usableFromInline var withoutLimit: Self { Self(repeat each components, last: last) }
}
