// Records as one value: a type, a query, a key. It can be counted, read, deleted and observed.
//
// A set is bytes, the stretches of sorted keys that it consists of, so what uses it does not depend on the types of a query.

/// Records of a type: all, those of a query, or the one with a key.
///
///     let half = Person.query(city: "Lima", name: .lessThan("M"))
///     let count = try store.count(half)
///     let subscription = try store.subscribe(to: half) { … }
///
/// `@IndexKeyRecord` generates the functions `query(limit:…)`, with the labels of the key and of each index. A set refers to no store. What is
/// wrong with one of its values, as a NUL in a string, is thrown where the set is used.
public struct RecordSet<Record: IndexKeyRecord>: Sendable {
  /// A part of the order.
  @usableFromInline
  struct Stretch: Sendable {
    @usableFromInline let direction: ScanDirection
    @usableFromInline let start: [UInt8]
    @usableFromInline let end: [UInt8]
    /// Whether it is one complete key.
    @usableFromInline let isLookUp: Bool
    /// Whether it is an error if there is no record.
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

  /// In order; or why there are none.
  @usableFromInline let stretches: Result<[Stretch], any Error>
  /// The position of the index whose order it is; nil for that of the key.
  @usableFromInline let index: Int?
  @usableFromInline let limit: Int?

  @usableFromInline
  init(_ stretches: Result<[Stretch], any Error>, index: Int? = nil, limit: Int? = nil) {
    self.stretches = stretches
    self.index = index
    self.limit = limit
  }

  /// All records of the type.
  public static var all: RecordSet {
    let prefix = IndexFile.bytes(Record.keyPrefix)
    return RecordSet(.success([Stretch(.atOrAbove, prefix, prefix)]))
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
          return [Stretch(.atOrAbove, bytes, bytes, isLookUp: true)]
        }
      })
  }

  /// The first records of the set.
  ///
  /// - Parameter limit: At most so many; nil for all.
  /// - Returns: The set.
  public func limited(to limit: Int?) -> RecordSet {
    RecordSet(stretches, index: index, limit: limit)
  }

  /// The records that a query describes. What `@IndexKeyRecord` generates calls it; it compares no types.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - index: The position of an index in the type's `indexTags`; nil if the components are those of the key.
  /// - Returns: The set.
  @inlinable
  public static func _query<each Component: QueryComponent, Last: QueryComponent>(
    _ query: Query<repeat each Component, Last>, index: Int? = nil
  ) -> RecordSet {
    let isComplete = index == nil && query.isComplete(for: Record.self)
    let stretches = Result {
      var stretches: [Stretch] = []
      func append(
        _ direction: ScanDirection, _ start: UnsafeRawBufferPointer, _ end: UnsafeRawBufferPointer
      ) {
        let isLookUp = isComplete && direction == .atOrAbove && start.elementsEqual(end)
        stretches.append(
          Stretch(
            direction, [UInt8](start), [UInt8](end), isLookUp: isLookUp,
            mustExist: isLookUp && query.isList))
      }
      let whole = Query(repeat each query.components, last: query.last)
      if let index {
        let head = IndexFile.head(Record.keyPrefix, Record.indexTags[index])
        try whole.forEachStretch(of: Record.self, .index(index), head: head) {
          (direction, start, end, _) in append(direction, start, end)
        }
      } else {
        try whole.forEachStretch(of: Record.self, .key, head: Record.keyPrefix) {
          (direction, start, end, _) in append(direction, start, end)
        }
      }
      return stretches
    }
    return RecordSet(stretches, index: index, limit: query.limit)
  }

  /// The stretches of keys, lower bound first, outside of which nothing matters.
  func bounds() throws -> [(low: [UInt8], high: [UInt8])] {
    let stretches = try stretches.get()
    if index != nil {
      // What a change does to the index's order is not seen in its key.
      let prefix = IndexFile.bytes(Record.keyPrefix)
      return [(prefix, prefix)]
    }
    return stretches.map { stretch in
      let isAscending = stretch.direction != .below && stretch.direction != .atOrBelow
      // Going up, the end may be above all that begins with it; going down, so may the start.
      return isAscending ? (stretch.start, stretch.end) : (stretch.end, stretch.start)
    }
  }
}

/// An index of a record that conforms by hand, with the types of its components.
///
///     extension Measurement {
///       static var byValue: RecordIndex<Measurement, Int> { RecordIndex(0) }
///     }
///     let high = try store.select(.query(Query(last: .greaterThan(100)), index: Measurement.byValue))
public struct RecordIndex<Record: IndexKeyRecord, each Component: QueryComponent>: Sendable {
  @usableFromInline let position: Int

  /// An index.
  ///
  /// - Parameter position: Its position in the type's `indexTags`.
  @inlinable
  public init(_ position: Int) { self.position = position }
}
