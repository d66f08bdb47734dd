// A set of records as a value: all of a type, those of a query, or the one with a key. It can be
// counted, read, deleted and observed.
//
// A set stores ranges of sorted keys as bytes, so the code that uses it does not depend on the
// types of a query.

/// Records of a type: all, those of a query, or the one with a key.
///
///     let half = Person.query(city: "Lima", name: .lessThan("M"))
///     let count = try store.count(half)
///     let subscription = try store.subscribe(to: half) { … }
///
/// `@IndexKeyRecord` generates the functions `query(limit:…)`, with the labels of the key and of
/// each index. A set does not belong to a store. An invalid value in it, such as a NUL in a string,
/// is reported when the set is used.
public struct RecordSet<Record: IndexKeyRecord>: Sendable {
  /// A range of sorted keys.
  @usableFromInline
  struct KeyRange: Sendable {
    @usableFromInline let direction: ScanDirection
    @usableFromInline let start: [UInt8]
    @usableFromInline let end: [UInt8]
    /// Whether the range is one complete key.
    @usableFromInline let isLookUp: Bool
    /// Whether a missing record is an error.
    @usableFromInline let mustExist: Bool

    @usableFromInline
    init(
      _ direction: ScanDirection, _ start: [UInt8], _ end: [UInt8], isLookUp: Bool = false,
      mustExist: Bool = false
    ) {
      self.direction = direction
      self.start = start
      self.end = end
      self.isLookUp = isLookUp
      self.mustExist = mustExist
    }
  }

  /// The ranges in order, or the reason why the query is invalid.
  @usableFromInline let keyRanges: Result<[KeyRange], any Error>
  /// The position of the index that the ranges belong to; nil for the key.
  @usableFromInline let index: Int?
  @usableFromInline let limit: Int?

  @usableFromInline
  init(_ keyRanges: Result<[KeyRange], any Error>, index: Int? = nil, limit: Int? = nil) {
    self.keyRanges = keyRanges
    self.index = index
    self.limit = limit
  }

  /// All records of the type.
  public static var all: RecordSet {
    let prefix = IndexFile.bytes(Record.keyPrefix)
    return RecordSet(.success([KeyRange(.atOrAbove, prefix, prefix)]))
  }

  /// The record with a key, if there is one.
  ///
  /// - Parameter key: The complete key.
  /// - Returns: The set.
  public static func key(_ key: Record.IndexKey) -> RecordSet {
    RecordSet(
      Result {
        try withKey(of: Record.self, key) {
          let bytes = [UInt8]($0)
          return [KeyRange(.atOrAbove, bytes, bytes, isLookUp: true)]
        }
      })
  }

  /// The first records of the set.
  ///
  /// - Parameter limit: The maximum number of records; nil for all.
  /// - Returns: The set.
  public func limited(to limit: Int?) -> RecordSet {
    RecordSet(keyRanges, index: index, limit: limit)
  }

  /// The records that a query describes. Called by code that `@IndexKeyRecord` generates; it does
  /// not check types.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - index: The position of an index in the type's `indexTags`; nil if the components are those
  ///     of the key.
  /// - Returns: The set.
  @inlinable
  public static func _query<each Component: QueryComponent, Last: QueryComponent>(
    _ query: Query<repeat each Component, Last>, index: Int? = nil
  ) -> RecordSet {
    let isComplete = index == nil && query.isComplete(for: Record.self)
    let keyRanges = Result {
      var keyRanges: [KeyRange] = []
      func append(
        _ direction: ScanDirection, _ start: UnsafeRawBufferPointer, _ end: UnsafeRawBufferPointer
      ) {
        let isLookUp = isComplete && direction == .atOrAbove && start.elementsEqual(end)
        keyRanges.append(
          KeyRange(
            direction, [UInt8](start), [UInt8](end), isLookUp: isLookUp,
            mustExist: isLookUp && query.isList))
      }
      let whole = Query(repeat each query.components, last: query.last)
      if let index {
        let head = IndexFile.head(Record.keyPrefix, Record.indexTags[index])
        try whole.forEachKeyRange(of: Record.self, .index(index), head: head) {
          (direction, start, end, _) in append(direction, start, end)
        }
      } else {
        try whole.forEachKeyRange(of: Record.self, .key, head: Record.keyPrefix) {
          (direction, start, end, _) in append(direction, start, end)
        }
      }
      return keyRanges
    }
    return RecordSet(keyRanges, index: index, limit: query.limit)
  }

  /// The ranges of keys that can affect the set, lower bound first.
  func bounds() throws -> [(low: [UInt8], high: [UInt8])] {
    let keyRanges = try keyRanges.get()
    if index != nil {
      // A record's key does not show whether a change affects the index, so every key of the type
      // counts.
      let prefix = IndexFile.bytes(Record.keyPrefix)
      return [(prefix, prefix)]
    }
    return keyRanges.map { range in
      let isAscending = range.direction != .below && range.direction != .atOrBelow
      // The upper bound includes all keys that begin with it.
      return isAscending ? (range.start, range.end) : (range.end, range.start)
    }
  }
}

/// An index of a record that conforms by hand, with the types of its components.
///
///     extension Measurement {
///       static var byValue: RecordIndex<Measurement, Int> { RecordIndex(0) }
///     }
///     let query = Query(last: .greaterThan(100))
///     let high = try store.select(.query(query, index: Measurement.byValue))
public struct RecordIndex<Record: IndexKeyRecord, each Component: QueryComponent>: Sendable {
  @usableFromInline let position: Int

  /// Creates a reference to an index.
  ///
  /// - Parameter position: The position in the type's `indexTags`.
  @inlinable
  public init(_ position: Int) { self.position = position }
}
